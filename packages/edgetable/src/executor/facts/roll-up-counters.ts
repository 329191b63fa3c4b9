import { EdgetableError } from "../../errors/edgetable-error.ts";
import { keyId, type Term, type WritePlan } from "../../ir/write-plan.ts";
import { changeItem } from "../../planner/writes/rules/computed-attributes.ts";
import { openWorkingSet, present, settle, stage } from "../../planner/writes/working-set.ts";
import { decimalIn } from "../../requests/attribute-value.ts";
import { keyIfComplete } from "../../requests/encode-item.ts";
import { type CounterSet, counterKeys, counterSetsOf } from "../../schema/counter-sets.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { countHidden, ROLLED, spreadHidden, sumHidden } from "../../schema/facts.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { addDecimals, readDecimal } from "../../util/decimal.ts";
import type { Row } from "../../util/row.ts";
import { batchGet } from "../batch.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { runOnce } from "../run-write.ts";
import { backOff, type CallContext, type Session } from "../session.ts";
import type { FactHolder } from "./contributions.ts";
import type { FailedRefresh } from "./refresh-aggregates.ts";

const TRIES = 30;
const PAUSES = { baseDelay: 10, maxDelay: 1000 };

/** A node whose aggregates are spread over counters. */
export interface CountedNode {
  readonly entry: NodeEntry;
  readonly id: Row;
}

/** What the counters of a node make of its attributes. */
export interface Totals {
  readonly set: Readonly<Record<string, number | bigint>>;
  /** The decimals of the sums in `set`. */
  readonly exact: Readonly<Record<string, string>>;
  /** Averages of nothing. */
  readonly remove: readonly string[];
}

/** What a set of counters makes of its attributes. */
export const totalsOf = ({ facts }: CounterSet, counters: readonly (Item | undefined)[]): Totals => {
  const set: Record<string, number | bigint> = {};
  const exact: Record<string, string> = {};
  const remove: string[] = [];
  for (const { attribute, operation } of facts) {
    const total = (name: string): string => counters.reduce((sum, item) => addDecimals(sum, decimalIn(item?.[name])), "0");
    if (operation === "count") set[attribute] = readDecimal(total(countHidden(attribute)));
    else if (operation === "sum") {
      exact[attribute] = total(sumHidden(attribute));
      set[attribute] = readDecimal(exact[attribute]);
    } else {
      const number = Number(total(countHidden(attribute)));
      if (number > 0) set[attribute] = Number(total(sumHidden(attribute))) / number;
      else remove.push(attribute);
    }
  }
  return { set, exact, remove };
};

/** True if the counters of a set hold all that there is to count: not before a migration has filled those of an older node. */
export const holdsAll = ({ facts, name }: CounterSet, item: Item): boolean =>
  facts.every(({ attribute }) => {
    const stored = item[spreadHidden(attribute)];
    return stored !== undefined && "S" in stored && stored.S === name;
  });

/** Reads the counters of a node, strongly consistent: one read unit for each. Attributes that they do not hold yet are left out. */
export const readCounters = async (session: Session, { entry, id }: CountedNode, node: Item, context: CallContext): Promise<Totals> => {
  const { catalog } = session;
  const sets = counterSetsOf(catalog, entry).filter((set) => holdsAll(set, node));
  const keys = sets.map((set) => counterKeys(catalog, set, id));
  const items = byIdentity(catalog, await batchGet(session, { keys: keys.flat(), consistent: true }, context));
  const totals = sets.map((set, at) =>
    totalsOf(
      set,
      (keys[at] ?? []).map((key) => items.get(identity(catalog, key))),
    ),
  );
  return {
    set: Object.assign({}, ...totals.map(({ set }) => set)) as Totals["set"],
    exact: Object.assign({}, ...totals.map(({ exact }) => exact)) as Totals["exact"],
    remove: totals.flatMap(({ remove }) => remove),
  };
};

/**
 * Writes the totals and the index keys that hold them. The node is read before its counters, and must still be at the revision
 * that was read: a slower sum fails. Also writes where nothing changes, for the same reason.
 */
const planTotals = (
  { catalog, effects }: Session,
  { entry, id }: CountedNode,
  { key, node, totals }: { readonly key: Key; readonly node: Item; readonly totals: Totals },
): WritePlan => {
  const working = openWorkingSet(catalog, { [keyId(key)]: node });
  const read = node[ROLLED];
  const changes = {
    set: { ...totals.set, [ROLLED]: read && "N" in read ? Number(read.N) + 1 : Math.floor(effects.now()) },
    remove: totals.remove,
    add: {},
    append: {},
  };
  const terms: readonly Term[] = [{ kind: "equals", attribute: ROLLED, value: node[ROLLED], failure: { reason: "conditionFailed" } }];
  const changed = changeItem(working, {
    shape: entry.shape,
    key,
    known: id,
    changes,
    exact: totals.exact,
    guards: {},
    there: present,
    terms,
    keepsVersion: true,
  });
  for (const item of changed?.items ?? []) stage(working, item);
  const items = settle(working);
  if ("failure" in items) return { kind: "settled", ...items };
  const atomic = items.length > 1 ? ({ kind: "transaction", items: items.length } as const) : ({ kind: "item" } as const);
  return { kind: "ready", items, rows: [undefined], atomic, repeatable: true };
};

/**
 * Sums the counters of a node into its row. Exact however often, late or in whatever order it is asked for: the last one that
 * ends has read the counters after every change that it was asked for.
 *
 * @returns the totals; undefined if the node is not there
 */
export const rollUpNode = async (session: Session, counted: CountedNode, context: CallContext): Promise<Totals | undefined> => {
  const { catalog } = session;
  const key = keyIfComplete(catalog, counted.entry.shape, counted.id);
  if (!key) return undefined;
  for (let attempt = 0; ; attempt++) {
    const [node] = await batchGet(session, { keys: [key], consistent: true }, context);
    if (!node) return undefined;
    const totals = await readCounters(session, counted, node, context);
    if (Object.keys(totals.set).length + totals.remove.length === 0) return totals;
    const result = await runOnce(session, () => planTotals(session, counted, { key, node, totals }), context);
    if (result.ok) return totals;
    if (result.failed.every(({ failure }) => failure.reason === "notFound")) return undefined;
    if (attempt + 1 < TRIES && (await backOff(session.effects, PAUSES, attempt, context))) continue;
    throw new EdgetableError("execute.conflict", "Others changed the node between reading and writing, every time. Try again.", {
      retryable: true,
      details: { tries: attempt + 1 },
    });
  }
};

/**
 * Sums the counters of nodes into their rows.
 *
 * @returns the nodes that could not be written
 */
export const rollUpNodes = async (
  session: Session,
  holders: readonly FactHolder[],
  context: CallContext,
): Promise<readonly FailedRefresh[]> => {
  const failed: FailedRefresh[] = [];
  await Promise.all(
    [...new Map(holders.map((holder) => [holder.facts.partition, holder])).values()].map(async (holder) => {
      const { entry, id } = holder;
      if ("shapes" in entry || !hasCounters(session.catalog, entry)) return;
      try {
        await rollUpNode(session, { entry, id }, context);
      } catch (error) {
        failed.push({ holder, error: error as Error });
      }
    }),
  );
  return failed;
};

/** True if nodes of a type have counters. */
export const hasCounters = (catalog: Catalog, entry: NodeEntry): boolean => counterSetsOf(catalog, entry).length > 0;
