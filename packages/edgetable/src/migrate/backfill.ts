import { encodeSingle } from "../requests/encode-write.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import { keyType } from "../schema/layout.ts";
import type { Item, Key, UpdateItemInput } from "../transport/operations.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { isFailedCondition } from "../executor/failed-term.ts";
import { keepRate, type Rate, type Run, step } from "../executor/jobs/run-job.ts";
import type { CallContext, Session } from "../executor/session.ts";
import type { BackfilledEntry } from "./migration-steps.ts";
import { filledAttributes, shapesOf } from "./plan-migration.ts";
import type { Finding, UnfitItem, WantedKeys } from "./stale-keys.ts";

/** The progress of the passes over a table. */
export interface PassState {
  /** The task of the pass. */
  task: "convert" | "refresh" | "backfill";
  /** True if a run with `finish` has computed the attributes that the stream maintains. */
  refreshed: boolean;
  /** The number of the current pass, from 1. */
  pass: number;
  /** True if the pass began after the last writer with an older model had ended. */
  final: boolean;
  /** The key after which the pass continues. */
  start: Key | undefined;
  /** Number of items that the pass has read. */
  seen: number;
  /** Number of items that it changed, or could not change because another writer changed them. */
  stale: number;
  /** Number of items that cannot have the keys. */
  unfit: number;
  /** Number of items changed by all passes. */
  changed: number;
}

/**
 * Maximum number of passes while writers with an older model are at work: they may undo changes forever. The final passes find
 * these items.
 */
export const MOST_PASSES = 3;

/** The state before the first pass. */
export const newPasses = (): PassState => ({
  task: "backfill",
  refreshed: false,
  pass: 1,
  final: false,
  start: undefined,
  seen: 0,
  stale: 0,
  unfit: 0,
  changed: 0,
});

/** Begins the next pass, or the same one again. */
export const beginPass = (state: PassState, final: boolean, pass: number = state.pass + 1): void => {
  Object.assign(state, { pass, final, start: undefined, seen: 0, stale: 0, unfit: 0 });
};

/** Continues a task where an earlier run stopped, or begins it. */
export const beginTask = (state: PassState, task: PassState["task"], finish: boolean): void => {
  if (state.task !== task) beginPass(state, finish, 1);
  // An earlier run beside writers with an older model proves nothing, and the items that it named are not saved.
  else if (state.final !== finish || state.unfit > 0) beginPass(state, finish, state.pass);
  state.task = task;
};

/** A pass over a table. */
export interface Pass {
  /** Compares an item with the model. */
  readonly find: (item: Item) => Finding;
  readonly state: PassState;
  readonly rate: Rate;
  /** True to change nothing. */
  readonly dryRun: boolean;
  /** The first items that cannot have the keys. */
  readonly named: UnfitItem[];
  /** Called after each page. */
  readonly onPage: () => void;
}

/**
 * The keys that a backfill of these entries corrects. Kinds that leave an index lose their keys only in a final pass, because
 * programs with the former model still search for them.
 */
export const wantedKeys = (
  catalog: Catalog,
  entries: readonly BackfilledEntry[],
  { leavesOut, final }: { readonly leavesOut: boolean; readonly final: boolean },
): WantedKeys => {
  const attributes = new Map<Shape, string[]>();
  const types = new Map<string, "S" | "N">();
  for (const entry of entries) {
    const index = catalog.indexes.find(({ name }) => name === entry.index);
    const filled = index ? filledAttributes(catalog, index) : [];
    for (const attribute of filled) types.set(attribute, keyType(catalog.layout, attribute));
    const concerned = shapesOf(catalog, entry);
    // An earlier index of this name may have left its keys in items of other kinds.
    const others = catalog.escapes && !entry.live ? catalog.shapes.filter(({ keys }) => filled.every((name) => !(name in keys))) : [];
    for (const shape of new Set([...concerned, ...others]))
      if (final || filled.every((attribute) => attribute in shape.keys))
        attributes.set(shape, [...new Set([...(attributes.get(shape) ?? []), ...filled])]);
  }
  return { catalog, attributes, types, leavesOut };
};

// The page size: a page is repeated if its process dies, and its writes are one burst.
const PAGE = 200;
const WRITTEN_AT_ONCE = 16;
const NAMED = 100;

type WriteResult = { readonly kind: "written" | "raced" } | { readonly kind: "refused"; readonly says: string };

/** Writes the keys of an item, unless it has changed since it was read. Returns why it cannot have them. */
const write = async (session: Session, update: Parameters<typeof encodeSingle>[1], context: CallContext): Promise<WriteResult> => {
  const { table, index } = session.catalog;
  const { input } = encodeSingle({ table, partitionKey: index.partitionKey }, update);
  try {
    await session.send("UpdateItem", input as UpdateItemInput, context);
    return { kind: "written" };
  } catch (error) {
    if (isFailedCondition(error)) return { kind: "raced" };
    // The item would exceed 400 KB, or the service rejects the value as a key.
    if (isEdgetableError(error, "execute.rejected")) return { kind: "refused", says: error.message };
    throw error;
  }
};

/** Reads the table, strongly consistent, from the saved position to its end, no faster than the rate. */
export const readTable = async (
  run: Run,
  { state, rate, limit, onPage }: Pick<Pass, "state" | "rate" | "onPage"> & { readonly limit: number },
  use: (items: readonly Item[], context: CallContext) => Promise<void>,
): Promise<void> => {
  const { session } = run;
  do {
    const before = run.cost;
    await step(run, async (context) => {
      const start = state.start ? { ExclusiveStartKey: state.start } : {};
      const input = {
        TableName: session.catalog.table,
        Limit: limit,
        ConsistentRead: true,
        ...start,
        ReturnConsumedCapacity: "TOTAL",
      } as const;
      const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context);
      await use(Items, context);
      state.seen += Items.length;
      state.start = LastEvaluatedKey;
    });
    onPage();
    await keepRate(run, before, rate);
  } while (state.start);
};

/**
 * Reads the table once, from the saved position, and corrects each item according to the model. A change is only made if the item
 * exists and its inputs are as they were read. So concurrent writes are never undone, and the next pass finds the item again.
 */
export const runPass = async (run: Run, pass: Pass): Promise<void> => {
  const { session } = run;
  const { state, named } = pass;
  const unfit = (one: UnfitItem): void => {
    state.unfit++;
    if (named.length < NAMED) named.push(one);
  };
  await readTable(run, { ...pass, limit: PAGE }, async (items, context) => {
    const stale: Extract<Finding, { readonly kind: "stale" }>[] = [];
    for (const item of items) {
      if (isSystemItem(session.catalog, item)) continue;
      const finding = pass.find(item);
      if (finding.kind === "unfit") unfit(finding.unfit);
      else if (finding.kind === "stale") stale.push(finding);
    }
    state.stale += stale.length;
    if (pass.dryRun) return;
    for (let at = 0; at < stale.length; at += WRITTEN_AT_ONCE) {
      const some = stale.slice(at, at + WRITTEN_AT_ONCE);
      const written = await Promise.all(some.map(async ({ update }) => write(session, update, context)));
      for (const [position, result] of written.entries()) {
        if (result.kind === "written") state.changed++;
        else if (result.kind === "refused") {
          const { update } = some[position]!;
          const [attribute = ""] = Object.keys(update.changes.set);
          unfit({ key: update.key, definition: undefined, attribute, problem: "invalid", says: result.says });
        }
      }
    }
  });
};
