import { isEdgetableError } from "../errors/edgetable-error.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import { markerKey } from "../planner/writes/rules/unique-markers.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { sum } from "../ir/capacity.ts";
import { type Catalog, definitionOf, keyAttributes, type Shape } from "../schema/catalog.ts";
import { describeModel } from "../schema/describe-model.ts";
import { isSystemItem, systemKindOf } from "../schema/system-kinds.ts";
import type { Item, TableDescription } from "../transport/operations.ts";
import { wantedKeys } from "./backfill.ts";
import { findOldForms } from "./old-forms.ts";
import type { MigrationStep } from "./migration-steps.ts";
import { costOf, type MigrationPlan, sizeOf } from "./plan-migration.ts";
import { derivePrice, indexPrice, passPrice, reservePrice, reshardPrice, type StepPrice, type TableSize } from "./prices.ts";
import { holdersIn } from "./sampled-holders.ts";
import { type Finding, findStaleKeys } from "./stale-keys.ts";
import { changedItem, derivedAttributes, type PaidIndex, paidIndexes, updateUnits, withOthers } from "./update-units.ts";

/** An item of the sample that the model reads. */
interface SampledRow {
  readonly shape: Shape;
  readonly item: Item;
}

interface Sample {
  readonly items: readonly Item[];
  /** True if these are all items of the table. */
  readonly isWhole: boolean;
}

// Each page is at most 1 MB: "Query and Scan: 1 MB of data" (ServiceQuotas), 128 read units.
const SEGMENTS = 4;
const PAGE = 500;

/** Reads one page from each quarter of the table. Undefined for a program that may not scan. */
const readSample = async (run: Run): Promise<Sample | undefined> => {
  const { session } = run;
  const input = { TableName: session.catalog.table, Limit: PAGE, TotalSegments: SEGMENTS, ReturnConsumedCapacity: "TOTAL" } as const;
  try {
    const pages = await step(run, async (context) =>
      Promise.all(Array.from({ length: SEGMENTS }, async (_, Segment) => session.send("Scan", { ...input, Segment }, context))),
    );
    return { items: pages.flatMap(({ Items = [] }) => Items), isWhole: pages.every((page) => page.LastEvaluatedKey === undefined) };
  } catch (error) {
    if (isEdgetableError(error, "execute.accessDenied")) return undefined;
    throw error;
  }
};

/** Which items a step concerns, and its price by their number; undefined for a step that is not priced by its items. */
interface Counting {
  readonly concerns: (shape: Shape, item: Item) => boolean;
  /** A concerned item after its update; undefined if nothing is written. @default any item may become any other */
  readonly after?: (shape: Shape, item: Item) => Item | undefined;
  /** The indexes that there are when the step is taken. */
  readonly indexes?: readonly PaidIndex[];
  readonly price: (size: TableSize) => StepPrice;
}

const updated = (item: Item, finding: Finding): Item | undefined =>
  finding.kind === "stale" ? changedItem(item, finding.update.changes) : undefined;

const countingOf = (catalog: Catalog, task: MigrationStep, table: TableDescription): Counting | undefined => {
  const { there, all } = paidIndexes(catalog, table);
  switch (task.kind) {
    case "convert":
      return {
        concerns: (_, item) => findOldForms(catalog, item).kind !== "right",
        after: (_, item) => updated(item, findOldForms(catalog, item)),
        indexes: there,
        price: (size) => passPrice(catalog, size, 1),
      };
    case "backfill": {
      const wanted = wantedKeys(catalog, task.entries, { leavesOut: false, final: true });
      // A run may leave out the items that cannot have the keys.
      const leaving = { ...wanted, leavesOut: true };
      return {
        concerns: (_, item) => findStaleKeys(wanted, item).kind !== "right",
        after: (_, item) => updated(item, findStaleKeys(leaving, item)),
        indexes: there,
        price: (size) => passPrice(catalog, size),
      };
    }
    case "createIndex":
    case "reshard": {
      const index = catalog.indexes.find(({ name }) => name === task.index);
      const price = task.kind === "reshard" ? reshardPrice : indexPrice;
      return {
        concerns: ({ keys }) => index !== undefined && keyAttributes(index).every((attribute) => attribute in keys),
        ...(task.kind === "reshard" && { after: (_, item) => withOthers(item, index?.partitionKeys ?? []), indexes: all }),
        price: (size) => price(catalog, size),
      };
    }
    case "reserve": {
      const names = task.attributes.map((name) => name.split(".") as [node: string, field: string]);
      return {
        concerns: (shape, item) =>
          names.some(
            ([node, field]) =>
              shape.definition === node && markerKey(catalog, { node, field }, decodeItem(catalog, shape, item)) !== undefined,
          ),
        price: (size) => reservePrice(catalog, size, names.length),
      };
    }
    case "derive": {
      const owners = new Set(task.facts.map((name) => name.split(".")[0]));
      // A degree counts the edges of nodes: as `likes.outDegree`.
      for (const { name, from, to } of Object.values(catalog.edges))
        if (owners.has(name)) for (const end of [...from, ...to]) owners.add(end);
      return {
        concerns: ({ definition }) => owners.has(definition),
        after: (shape, item) => {
          const definition = definitionOf(catalog, shape);
          const attributes = definition ? derivedAttributes(shape, definition) : [];
          return attributes.length > 0 ? withOthers(item, attributes) : undefined;
        },
        indexes: all,
        price: (size) => derivePrice(catalog, size, describeModel(catalog), task.streamed.length > 0),
      };
    }
    default:
      return undefined;
  }
};

/** Write units of the update of an item, as those that were found show it; undefined if there are none. */
const unitsPerUpdate = ({ after, indexes = [] }: Counting, found: readonly SampledRow[], isWhole: boolean): number | undefined => {
  if (!after || found.length === 0) return undefined;
  const units = found.map(({ shape, item }) => {
    const changed = after(shape, item);
    return changed ? updateUnits(indexes, item, changed) : 0;
  });
  const mean = sum(units) / units.length;
  // Of a sample, two standard errors more.
  const spread = Math.sqrt(sum(units.map((one) => (one - mean) ** 2)));
  return isWhole ? mean : mean + (2 * spread) / units.length;
};

/** A plan whose steps are priced by the items that they concern, as a sample of at most 512 read units shows them. */
export const pricedBySample = async (run: Run, plan: MigrationPlan, table: TableDescription): Promise<MigrationPlan> => {
  const { catalog } = run.session;
  const size = sizeOf({ catalog, table });
  const countings = plan.steps.map((task) => countingOf(catalog, task, table));
  const sample = countings.some((one) => one) ? await readSample(run) : undefined;
  if (!sample) return plan;
  const all = sample.isWhole ? sample.items.length : Math.max(size.items, sample.items.length);
  const rows = sample.items.flatMap((item) => {
    const shape = isSystemItem(catalog, item) ? undefined : shapeOf(catalog, catalog.shapes, item);
    return shape ? [{ shape, item }] : [];
  });
  // Of a sample, a bound that holds for 19 of 20 (two standard deviations; three items where there were none).
  const boundOf = (found: number): number =>
    sample.isWhole ? found : Math.min(all, Math.ceil(((found + 2 * Math.sqrt(found) + 3) / Math.max(1, sample.items.length)) * all));
  const holdersOf = holdersIn(catalog, sample.items, sample.isWhole);
  const kinds = sample.items.map((item) => systemKindOf(catalog, item));
  const memos = kinds.filter((kind) => kind === "memo" || kind === "facts").length;
  const guards = kinds.filter((kind) => kind === "guard").length;
  const steps = plan.steps.map((task, at): MigrationStep => {
    const counting = countings[at];
    if (!counting) return task;
    const found = rows.filter(({ shape, item }) => {
      try {
        return counting.concerns(shape, item);
      } catch (error) {
        // The step itself names an item that cannot be read.
        if (!isEdgetableError(error)) throw error;
        return true;
      }
    });
    const ofKind = (kind: string): readonly SampledRow[] => rows.filter(({ shape }) => shape.definition === kind);
    const counted = {
      concerned: boundOf(found.length),
      perUpdate: unitsPerUpdate(counting, found, sample.isWhole),
      byKind: {
        rowsOf: (kind: string) => boundOf(ofKind(kind).length),
        perUpdate: (kind: string) => unitsPerUpdate(counting, ofKind(kind), sample.isWhole),
        memos: boundOf(memos),
        guards: boundOf(guards),
        holdersOf,
      },
    };
    return { ...task, ...counting.price({ ...size, items: all, ...counted }) };
  });
  const count = sample.items.length.toLocaleString("en-US");
  return {
    ...plan,
    steps,
    counted: sample.isWhole ? `from all ${count} items` : `estimated from a sample of ${count} items`,
    cost: costOf(steps),
  };
};
