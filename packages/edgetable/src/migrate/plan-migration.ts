import { compareExpiry, compareTable } from "../requests/table.ts";
import type { TableSettings, ValueStorage } from "../schema/definition.ts";
import { type Catalog, type Index, keyAttributes, type Shape } from "../schema/catalog.ts";
import type { CopyFreshness, Freshness } from "../schema/derived.ts";
import { isEither, isLeft } from "../schema/between-models.ts";
import { changedCounts, changedFacts, sameEntry, underOurNames } from "../schema/compare-models.ts";
import { describedEntry, describedShards, describeModel, descriptionHash, type ModelDescription } from "../schema/describe-model.ts";
import { unkept } from "../executor/administer-table.ts";
import { derivePrice, indexPrice, movePrice, passPrice, recordPrice, reservePrice, reshardPrice, type TableSize } from "./prices.ts";
import {
  changedForms,
  changedStorage,
  changedTimes,
  changedTypes,
  droppedKinds,
  renamedKinds,
  unkeptFacts,
  unkeptItems,
} from "./changed-definitions.ts";
import { changedPlaces } from "./changed-places.ts";
import type { ModelRecord } from "../executor/model-record.ts";
import type { BackfilledEntry, MigrationStep } from "./migration-steps.ts";
import { backfillText, orderSteps } from "./order-steps.ts";
import type { TableDescription } from "../transport/operations.ts";

type CreateIndex = Extract<MigrationStep, { readonly kind: "createIndex" }>;

/** The plan that brings a table in line with a model. */
export interface MigrationPlan {
  readonly table: string;
  /** The hash of the connection's model. */
  readonly model: string;
  /** The hash of the recorded model; undefined if the table has no record. */
  readonly recorded: string | undefined;
  /** The hash of the model to which a migration is in progress. */
  readonly underway: string | undefined;
  readonly steps: readonly MigrationStep[];
  /** Changes that a migration does not support, each as a sentence with its remedy. A plan with refusals does not run. */
  readonly refusals: readonly string[];
  /** Notes that deserve attention. */
  readonly notes: readonly string[];
  readonly cost: { readonly readUnits: number; readonly writeUnits: number };
  /**
   * How the items to change were counted: `from all 240 items`, `estimated from a sample of 2,000 items`. Undefined if the plan
   * assumes that every item changes, like the plan of a run.
   */
  readonly counted?: string | undefined;
}

/** The input of a plan. */
export interface MigrationGround {
  readonly catalog: Catalog;
  readonly record: ModelRecord;
  readonly table: TableDescription;
  /** The attribute with the expiry time of the table's items. */
  readonly expiry: string | undefined;
  /** The settings in which the table differs from the model. */
  readonly settings: TableSettings;
}

const SETTINGS = {
  stream: "the stream",
  deletionProtection: "deletion protection",
  pointInTimeRecovery: "point-in-time recovery",
} as const;

const settingSteps = ({ settings }: MigrationGround): readonly MigrationStep[] => {
  const changes = Object.entries(SETTINGS).flatMap(([name, what]) => {
    const wanted = settings[name as keyof TableSettings];
    return wanted === undefined ? [] : [`switch ${what} ${wanted ? "on" : "off"}`];
  });
  return changes.length === 0 ? [] : [{ kind: "setTable", settings, says: changes.join(", ") }];
};

/** The size of all items, and of one item, in bytes. The service may not have counted them yet. */
export const sizeOf = ({ catalog, table }: Pick<MigrationGround, "catalog" | "table">): TableSize => {
  const items = table.ItemCount ?? 0;
  const assumed = Math.max(200, ...catalog.shapes.map(({ bytes }) => bytes));
  return { items, bytes: table.TableSizeBytes && items > 0 ? table.TableSizeBytes / items : assumed };
};

/** The names of a table's indexes, or of those that DynamoDB has built. */
const indexesIn = ({ GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] }: TableDescription, built = false): ReadonlySet<string> =>
  new Set(
    [...GlobalSecondaryIndexes, ...LocalSecondaryIndexes]
      .filter(({ IndexStatus }) => !built || IndexStatus !== "CREATING")
      .map(({ IndexName }) => IndexName ?? ""),
  );

/** The key attributes of an index that a migration can fill. The table's own keys are always right. */
export const filledAttributes = (catalog: Catalog, index: Index): readonly string[] =>
  keyAttributes(index).filter((attribute) => attribute !== catalog.index.partitionKey && attribute !== catalog.index.sortKey);

interface Changes {
  readonly entries: readonly BackfilledEntry[];
  /** The entries that differ in the record, or that it lacks, as `index shape`. */
  readonly changed: ReadonlySet<string>;
  /** Entries of indexes in use whose keys change. Readers with the recorded model would miss moved items. */
  readonly rekeyed: readonly string[];
}

/** The entries of the model that the record lacks, or that differ there. Without a record, those of indexes that the table lacks. */
const changedEntries = ({ catalog, record, table }: MigrationGround, model: ModelDescription, again: boolean): Changes => {
  const there = indexesIn(table, true);
  const entries: BackfilledEntry[] = [];
  const rekeyed: string[] = [];
  const changed = new Set<string>();
  for (const index of catalog.indexes) {
    const name = index.name ?? "";
    if (filledAttributes(catalog, index).length === 0 || (!record.current && !again && there.has(name))) continue;
    const shapes: string[] = [];
    // Items of a kind that the model lacks stay as they are: `droppedKinds` says so.
    for (const id of Object.keys(model.items)) {
      const recorded = record.current?.model ?? { ...model, items: {} };
      const isSame = sameEntry(recorded, model, [index, id]);
      // In Edgetable's own layout index keys are attributes of their own: those of a kind that left the index are removed.
      const isAgain = again && (catalog.escapes || describedEntry(model, index, id) !== undefined);
      if (isSame && !isAgain) continue;
      shapes.push(id);
      if (isSame) continue;
      changed.add(`${name} ${id}`);
      const before = describedEntry(recorded, index, id);
      // After an undone migration, no model takes the index for complete.
      if (before && !isEither(before) && describedEntry(model, index, id) && there.has(name)) rekeyed.push(`"${id}" in "${name}"`);
    }
    if (shapes.length > 0) entries.push({ index: name, shapes, live: there.has(name) });
  }
  return { entries, changed, rekeyed };
};

interface ShardChanges {
  readonly grown: readonly string[];
  readonly refusals: readonly string[];
}

/** Indexes whose items have to move to other shards, and shard counts that readers would no longer query. */
const changedShards = ({ catalog, record }: MigrationGround, model: ModelDescription): ShardChanges => {
  const grown = new Set<string>();
  const refusals: string[] = [];
  for (const index of catalog.indexes) {
    for (const id of Object.keys(model.items)) {
      const now = describedShards(model, index, id);
      const old = record.current && describedShards(record.current.model, index, id);
      if (!now || !old || !describedEntry(model, index, id)) continue;
      // New items are in the shards of the writers' count. After a migration, all items are.
      for (const { value, written, counts } of changedCounts(old, now)) {
        if (counts.includes(written)) grown.add(index.name ?? "");
        else
          refusals.push(
            `"${id}" is spread over ${written} shards in "${index.name}", and the model reads ${counts.length === 1 ? String(counts[0]) : `[${counts.join(", ")}]`}${value === "" ? "" : ` for "${value}"`}: readers would miss items. List the old count until the items have moved: [${[...counts, written].join(", ")}].`,
          );
      }
    }
  }
  return { grown: [...grown], refusals };
};

/** Differences that a migration cannot correct on a table in use. */
const impossible = ({ catalog, record, table }: MigrationGround, model: ModelDescription): readonly string[] => {
  const refusals: string[] = [];
  for (const { place, model: wanted, table: found, harmless } of compareTable(catalog, table)) {
    if (harmless || found === "missing") continue;
    const remedy = place.startsWith("index ")
      ? "DynamoDB cannot change an index: give the new one another name."
      : "DynamoDB cannot change it: load the data into a new table.";
    refusals.push(`${place}: the model says ${wanted}, the table ${found}. ${remedy}`);
  }
  for (const [id, { keys }] of Object.entries(record.current?.model.items ?? {})) {
    const after = model.items[id];
    if (!after) continue;
    for (const attribute of keyAttributes(catalog.index))
      if (keys[attribute] !== after.keys[attribute])
        refusals.push(
          `The key of "${id}" changes (${keys[attribute] ?? "none"}, now ${after.keys[attribute] ?? "none"}): reads would not find its items. Declare it under another name and copy the rows with db.scan and db.load.`,
        );
  }
  return refusals;
};

/** Indexes of the model that some kinds leave. Programs of the recorded model read these kinds there until they end. */
const leftIndexes = ({ record: { current } }: MigrationGround, model: ModelDescription): readonly string[] =>
  Object.entries(current?.model.indexes ?? {}).flatMap(([name, index]) => {
    const left = Object.keys(model.items).filter((id) => {
      const before = current && describedEntry(current.model, index, id);
      return before && !isLeft(before) && !describedEntry(model, index, id);
    });
    if (left.length === 0) return [];
    const kinds = left.map((id) => `"${id}"`).join(", ");
    return [
      `Programs with this model do not write the keys of ${kinds} in "${name}": from their first write on, programs with the recorded model that search by it miss new rows and find changed rows under their old values. Stop those searches before you deploy this model; connections that are opened once the migration has begun refuse them (plan.indexIncomplete).`,
    ];
  });

/** Settings of a plan. */
export interface PlanSettings {
  /** True if keys of indexes in use and forms of attributes may change although processes with the recorded model are running. */
  readonly inPlace: boolean;
  /** True to check everything that follows from rows again, although the table follows the model. */
  readonly again: boolean;
}

const expirySteps = ({ catalog, record, expiry }: MigrationGround): Pick<MigrationPlan, "steps" | "refusals"> => {
  const [difference] = compareExpiry(catalog, expiry);
  if (!difference) return { steps: [], refusals: [] };
  const { ttl } = catalog;
  if (ttl !== undefined && expiry === undefined)
    return { steps: [{ kind: "setExpiry", attribute: ttl, says: `remove expired items by "${ttl}"` }], refusals: [] };
  if (ttl === undefined && record.current?.model.ttl === expiry)
    return { steps: [{ kind: "setExpiry", attribute: undefined, says: `stop removing items by "${expiry}"` }], refusals: [] };
  if (ttl === undefined) return { steps: [], refusals: [] };
  return {
    steps: [],
    refusals: [
      `Items expire by "${expiry}" and the model says "${ttl}". First switch off the table's time to live; DynamoDB may take an hour before you can switch it on again.`,
    ],
  };
};

/** Grids whose values are stored in another way than recorded; without a record, those with `storage: "document"`. */
const movedValues = (
  { catalog, record, table, settings }: MigrationGround,
  model: ModelDescription,
  size: TableSize,
): Pick<MigrationPlan, "steps" | "refusals"> => {
  const moves: { node: string; to: ValueStorage }[] = [];
  for (const { name: node, definition } of Object.values(catalog.nodes)) {
    const to = model.values?.[node] ?? "items";
    if (definition.fields && to !== (record.current?.model.values?.[node] ?? "items")) moves.push({ node, to });
  }
  const streams = table.StreamSpecification?.StreamEnabled === true || settings.stream === true;
  const refusals = moves
    .filter(({ to }) => to === "document" && !streams)
    .map(({ node }) => `The stream maintains the index of "${node}", and the table has no stream. Enable it: settings: { stream: true }.`);
  const steps = moves.map(({ node, to }) => {
    const says = `move the values of "${node}" ${to === "document" ? "into one document for each row" : "into items of their own"}`;
    return { kind: "moveValues", node, to, says, ...movePrice(catalog, size) } as const;
  });
  return { steps, refusals };
};

const notesOf = (
  { record, catalog, table, settings }: MigrationGround,
  entries: readonly BackfilledEntry[],
  more: readonly string[],
): readonly string[] => {
  const notes: string[] = [];
  if (record.migration && record.migration.hash !== descriptionHash(describeModel(catalog)))
    notes.push(
      `A migration to another model (${record.migration.hash}) has been in progress since ${new Date(record.migration.since).toISOString()}: this one is refused until that one has ended or is undone (db.migrations.undo() or edgetable migrate undo).`,
    );
  const kept = settings.stream === true ? undefined : unkept(catalog, table);
  if (kept !== undefined)
    notes.push(
      `The table has no stream, and the model leaves ${kept} to its processor: without a stream it goes stale. Add settings: { stream: true } to the model, or run edgetable table create --stream.`,
    );
  if (!record.current) notes.push("The table has no record of its model: its existing indexes are assumed to be complete.");
  for (const { index, shapes, live } of entries)
    if (live) {
      const kinds = shapes.map((id) => `"${id}"`).join(", ");
      notes.push(`"${index}" is already in use: until the migration has ended, it does not find all of ${kinds}.`);
    }
  return [...notes, ...more];
};

/**
 * The derived facts that existing rows lack: derived attributes, copies, counted degrees, markers of unique values. In a table
 * without a record, rows may lack all of them, because other programs may have written them.
 */
const computedSteps = (
  { catalog, record: { current } }: MigrationGround,
  model: ModelDescription,
  { size, again }: { readonly size: TableSize; readonly again: boolean },
): Pick<MigrationPlan, "steps" | "notes"> => {
  const steps: MigrationStep[] = [];
  const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
  const recorded: Partial<ModelDescription> = current?.model ?? {};
  const { aggregates, summaries, copies } = catalog.facts;
  const freshnessOf = new Map<string, Freshness | CopyFreshness>([
    ...aggregates.map((fact) => [`${fact.node}.${fact.attribute}`, fact.freshness] as const),
    ...summaries.map((fact) => [`${fact.edge}.${fact.attribute}`, fact.freshness] as const),
    ...copies.map((fact) => [`${fact.onto.name}.${fact.attribute}`, fact.freshness] as const),
  ]);
  const all = Object.keys(model.facts ?? {});
  const changed = current ? changedFacts(current.model, model, catalog) : all;
  const computed = again ? all : changed;
  const streamed = computed.filter((name) => freshnessOf.get(name) === "stream");
  const facts = [
    ...computed.filter((name) => freshnessOf.get(name) !== "batch"),
    ...(model.degrees ?? []).filter((degree) => again || !recorded.degrees?.includes(degree)),
  ];
  if (facts.length > 0)
    steps.push({
      kind: "derive",
      facts,
      streamed,
      says: `compute ${listed(facts)} from stored rows`,
      ...derivePrice(catalog, size, model, streamed.length > 0),
    });
  const unique = (model.unique ?? []).filter((name) => again || !recorded.unique?.includes(name));
  if (unique.length > 0)
    steps.push({
      kind: "reserve",
      attributes: unique,
      says: `reserve the values of ${listed(unique)}, each for its node`,
      ...reservePrice(catalog, size, unique.length),
    });
  const untended = changed.filter((name) => freshnessOf.get(name) === "stream");
  const processed =
    untended.length === 0
      ? []
      : [
          `A stream processor maintains ${listed(untended)}: run one with this model (createStreamConsumer, or a Lambda function on the stream) before and after the migration. Without one, the first change makes the values stale.`,
        ];
  const batch = changed
    .filter((name) => freshnessOf.get(name) === "batch")
    .map(
      (name) =>
        `"${name}" is computed by a batch job: run it once the migration has ended. Until then rows have no value for it, or the previous one.`,
    );
  return { steps, notes: [...processed, ...batch] };
};

/** The units of all steps. */
export const costOf = (steps: readonly MigrationStep[]): MigrationPlan["cost"] => {
  const priced = steps.filter((step) => "readUnits" in step);
  return {
    readUnits: priced.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: priced.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
  };
};

const recordStep = ({ current }: ModelRecord, model: ModelDescription): MigrationStep => ({
  kind: "record",
  says: "record the model in the table",
  ...recordPrice(current?.model, model),
});

/** Indexes that DynamoDB has not built yet, and those that only the recorded model has. */
const indexSteps = (
  { catalog, record, table }: MigrationGround,
  size: TableSize,
): { readonly created: readonly CreateIndex[]; readonly deleted: readonly MigrationStep[] } => {
  const [there, built] = [indexesIn(table), indexesIn(table, true)];
  const wanted = catalog.indexes.map(({ name = "" }) => name);
  const created = wanted
    .filter((name) => !built.has(name))
    .map((name): CreateIndex => {
      const says = there.has(name)
        ? `wait until DynamoDB has built the index "${name}"`
        : `create the index "${name}"; DynamoDB fills it from items that have its keys`;
      return { kind: "createIndex", index: name, ...(there.has(name) && { begun: true }), says, ...indexPrice(catalog, size) };
    });
  const unwanted = Object.keys(record.current?.model.indexes ?? {}).filter((name) => !wanted.includes(name) && there.has(name));
  return { created, deleted: unwanted.map((index) => ({ kind: "deleteIndex", index, says: `delete the index "${index}"` })) };
};

/** Compares model, record and table, and returns the steps that bring the table in line with the model. */
export const planMigration = (given: MigrationGround, { inPlace, again }: PlanSettings): MigrationPlan => {
  const { catalog } = given;
  const model = describeModel(catalog);
  const hash = descriptionHash(model);
  const { current } = given.record;
  const record = { ...given.record, current: current && { ...current, model: underOurNames(current.model, model, catalog) } };
  const ground = { ...given, record };
  const { entries, changed, rekeyed } = changedEntries(ground, model, again);
  const { grown, refusals: shardRefusals } = changedShards(ground, model);
  const expires = expirySteps(ground);
  const storage = changedStorage(catalog, record.current, model, inPlace);
  const forms = changedForms(catalog, record.current, model, { inPlace, again });
  const size = sizeOf(ground);
  const steps: MigrationStep[] = [...expires.steps, ...settingSteps(ground)];
  if (forms.attributes.length > 0)
    steps.push({
      kind: "convert",
      attributes: forms.attributes,
      says: `convert ${forms.attributes.map((name) => `"${name}"`).join(", ")}: check that every value converts, then store it as the model says`,
      ...passPrice(catalog, size, 1),
    });
  const computed = computedSteps(ground, model, { size, again });
  const backfill =
    entries.length > 0 ? ({ kind: "backfill", entries, says: backfillText(entries), ...passPrice(catalog, size) } as const) : undefined;
  const values = movedValues(ground, model, size);
  const reshard = grown.map(
    (index) => ({ kind: "reshard", index, says: `move items to the shards of "${index}"`, ...reshardPrice(catalog, size) }) as const,
  );
  const { created, deleted } = indexSteps(ground, size);
  const others = [...values.steps, ...reshard];
  steps.push(...orderSteps(catalog, model, { computed: computed.steps, backfill, created, others }, changed), ...deleted);
  if (record.current?.hash !== hash || record.migration || again) steps.push(recordStep(record, model));
  const refusals = [
    ...impossible(ground, model),
    ...changedPlaces(ground, model, inPlace),
    ...renamedKinds(catalog, record.current, model),
    ...storage.refusals,
    ...forms.refusals,
    ...changedTimes(catalog, record.current, model).refusals,
    ...shardRefusals,
    ...expires.refusals,
    ...values.refusals,
    ...(inPlace
      ? []
      : rekeyed.map(
          (what) =>
            `The keys of ${what} change: processes with the recorded model would miss items that have new keys. Declare them in an index with another name, or declare the kind under another name; or pass inPlace if no process with the recorded model reads them.`,
        )),
  ];
  return {
    table: catalog.table,
    model: hash,
    recorded: record.current?.hash,
    underway: record.migration?.hash,
    steps,
    refusals,
    notes: notesOf(
      ground,
      entries.filter(({ index, shapes }) => shapes.some((id) => changed.has(`${index} ${id}`))),
      [
        ...changedTimes(catalog, record.current, model).notes,
        ...changedTypes(catalog, record.current, model),
        ...forms.notes,
        ...computed.notes,
        ...storage.notes,
        ...unkeptFacts(catalog, record.current, model),
        ...unkeptItems(record.current?.model, model),
        ...droppedKinds(catalog, record.current, model),
        ...leftIndexes(ground, model),
      ],
    ),
    cost: costOf(steps),
  };
};

/** The shapes whose attributes an entry concerns, by id: those that the model no longer has are left as they are. */
export const shapesOf = (catalog: Catalog, { shapes }: BackfilledEntry): readonly Shape[] =>
  shapes.flatMap((id) => catalog.shapesById[id] ?? []);
