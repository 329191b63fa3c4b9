import { compareExpiry, compareTable } from "../requests/table.ts";
import type { TableSettings, ValueStorage } from "../schema/definition.ts";
import { type Catalog, type Index, keyAttributes, type Shape } from "../schema/catalog.ts";
import { attributesOf } from "../schema/facts.ts";
import {
  type DescribedShards,
  describedEntry,
  describeModel,
  descriptionHash,
  type ModelDescription,
  isEither,
  sameEntry,
} from "../schema/describe-model.ts";
import { unkept } from "../executor/administer-table.ts";
import { changedStorage, droppedKinds } from "./changed-definitions.ts";
import type { ModelRecord } from "../executor/model-record.ts";
import type { TableDescription } from "../transport/operations.ts";

/** What a step is predicted to take, at most. */
export interface StepPrice {
  /** Items that it reads or changes, at most: DynamoDB updates the number every six hours. */
  readonly items: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** One step of a migration, in the order in which they are taken. */
export type MigrationStep =
  /** The removal of expired items is switched to the attribute, or off. */
  | { readonly kind: "setExpiry"; readonly attribute: string | undefined; readonly says: string }
  /** Stream, deletion protection and point-in-time recovery are set as the model says. */
  | { readonly kind: "setTable"; readonly settings: TableSettings; readonly says: string }
  /** Renamed and retyped attributes are stored as the model says. Before anything is written, every value is converted once. */
  | ({
      readonly kind: "convert";
      /** As `person.fullName`. */
      readonly attributes: readonly string[];
      readonly says: string;
    } & StepPrice)
  /**
   * Nodes get derived attributes, edges and parts copies, computed from what is stored; the items that count degrees
   * (`likes.outDegree`) count what there is.
   */
  | ({
      readonly kind: "derive";
      readonly facts: readonly string[];
      /** Those that the stream's processor keeps from then on. They are computed with `finish`. */
      readonly streamed: readonly string[];
      readonly says: string;
    } & StepPrice)
  /** Items get the index keys that the model computes. Repeated until a pass finds nothing to change. */
  | ({
      readonly kind: "backfill";
      readonly entries: readonly BackfilledEntry[];
      readonly says: string;
    } & StepPrice)
  /** The values of users' fields move to another storage. Repeated until a pass finds nothing to move. */
  | ({ readonly kind: "moveValues"; readonly node: string; readonly to: ValueStorage; readonly says: string } & StepPrice)
  /** DynamoDB builds the index, from items that all have its keys. */
  | ({ readonly kind: "createIndex"; readonly index: string; readonly says: string } & StepPrice)
  /** Items move to the shards in which the model puts them. */
  | ({ readonly kind: "reshard"; readonly index: string; readonly says: string } & StepPrice)
  /** An index that only the recorded model has. */
  | { readonly kind: "deleteIndex"; readonly index: string; readonly says: string }
  /** The table records the model. */
  | { readonly kind: "record"; readonly says: string };

/** The kinds of items that an index is to find. */
export interface BackfilledEntry {
  readonly index: string;
  /** Ids of shapes: `student`, `likes(person>post)`, `rated:mirror`. */
  readonly shapes: readonly string[];
  /** True if the table has the index already: it finds these items in part until the migration has ended. */
  readonly live: boolean;
}

/** How a table is brought to follow a model. */
export interface MigrationPlan {
  readonly table: string;
  /** The hash of the connection's model. */
  readonly model: string;
  /** The hash of the recorded model; undefined if the table has no record. */
  readonly recorded: string | undefined;
  /** The hash of the model whose migration has begun and not ended. */
  readonly underway: string | undefined;
  readonly steps: readonly MigrationStep[];
  /** What a migration cannot do, each as a sentence with its remedy. A plan with refusals does not run. */
  readonly refusals: readonly string[];
  /** What deserves attention. */
  readonly notes: readonly string[];
  readonly cost: { readonly readUnits: number; readonly writeUnits: number };
}

/** What a plan is made from. */
export interface MigrationGround {
  readonly catalog: Catalog;
  readonly record: ModelRecord;
  readonly table: TableDescription;
  /** The attribute by which the table's items expire. */
  readonly expiry: string | undefined;
  /** The settings that the table does not have as the model says. */
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

const DEFAULT_BYTES = 200;
const PASSES = 2;

/** The bytes of all items, and of one. The service may not have counted them yet. */
const sizeOf = ({ catalog, table }: MigrationGround): { readonly items: number; readonly bytes: number } => {
  const items = table.ItemCount ?? 0;
  const assumed = Math.max(DEFAULT_BYTES, ...catalog.shapes.map(({ bytes }) => bytes));
  return { items, bytes: table.TableSizeBytes && items > 0 ? table.TableSizeBytes / items : assumed };
};

const indexesIn = (table: TableDescription): ReadonlySet<string> =>
  new Set([...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])].map(({ IndexName }) => IndexName ?? ""));

/** The key attributes of an index that a migration can fill: the table's own keys are always right. */
export const filledAttributes = (catalog: Catalog, index: Index): readonly string[] =>
  keyAttributes(index).filter((attribute) => attribute !== catalog.index.partitionKey && attribute !== catalog.index.sortKey);

interface Changes {
  readonly entries: readonly BackfilledEntry[];
  /** Entries of live indexes whose keys change: readers of the recorded model would miss what has moved. */
  readonly rekeyed: readonly string[];
}

/** The entries of the model that the record lacks or has otherwise. Without a record, those of indexes that the table lacks. */
const changedEntries = ({ catalog, record, table }: MigrationGround, model: ModelDescription): Changes => {
  const there = indexesIn(table);
  const entries: BackfilledEntry[] = [];
  const rekeyed: string[] = [];
  for (const index of catalog.indexes) {
    const name = index.name ?? "";
    if (filledAttributes(catalog, index).length === 0 || (!record.current && there.has(name))) continue;
    const shapes: string[] = [];
    // Items of a kind that the model lacks stay as they are: `droppedKinds` says so.
    for (const id of Object.keys(model.items)) {
      const recorded = record.current?.model ?? { ...model, items: {} };
      if (sameEntry(recorded, model, [index, id])) continue;
      shapes.push(id);
      const before = describedEntry(recorded, index, id);
      // After an undone migration, no model takes the index for complete.
      if (before && !isEither(before) && describedEntry(model, index, id) && there.has(name)) rekeyed.push(`"${id}" in "${name}"`);
    }
    if (shapes.length > 0) entries.push({ index: name, shapes, live: there.has(name) });
  }
  return { entries, rekeyed };
};

const countsText = (counts: readonly number[]): string => (counts.length === 1 ? String(counts[0]) : `[${counts.join(", ")}]`);

interface ShardChanges {
  readonly grown: readonly string[];
  readonly refusals: readonly string[];
}

const listsOf = ({ counts, hot = {} }: DescribedShards): ReadonlyMap<string, readonly number[]> =>
  new Map([["", counts], ...Object.entries(hot)]);

/** Indexes whose items have to move to other shards, and counts that readers would no longer look in. */
const changedShards = ({ catalog, record }: MigrationGround, model: ModelDescription): ShardChanges => {
  const grown = new Set<string>();
  const refusals: string[] = [];
  for (const index of catalog.indexes) {
    for (const [id, { shards = {} }] of Object.entries(model.items)) {
      const now = shards[index.partitionKey];
      const old = record.current?.model.items[id]?.shards?.[index.partitionKey];
      if (!now || !old || !describedEntry(model, index, id)) continue;
      const before = listsOf(old);
      for (const [value, counts] of listsOf(now)) {
        // What was written last is in the shards of the writers' count: after a migration that is all items.
        const written = (before.get(value) ?? old.counts)[0] ?? 1;
        if (counts[0] === written) continue;
        if (counts.includes(written)) grown.add(index.name ?? "");
        else
          refusals.push(
            `"${id}" is spread over ${written} shards in "${index.name}", and the model reads ${countsText(counts)}${value === "" ? "" : ` for "${value}"`}: readers would miss items. List the old count until the items have moved: [${[...counts, written].join(", ")}].`,
          );
      }
    }
  }
  return { grown: [...grown], refusals };
};

/** Differences that no migration mends on a live table. */
const impossible = ({ catalog, record, table }: MigrationGround, model: ModelDescription): readonly string[] => {
  const refusals: string[] = [];
  for (const { place, model: wanted, table: found, harmless } of compareTable(catalog, table)) {
    if (harmless || found === "missing") continue;
    const remedy = place.startsWith("index ")
      ? "DynamoDB cannot change an index: give the new one another name."
      : "DynamoDB cannot change it: load the data into a new table.";
    refusals.push(`${place}: the model says ${wanted}, the table ${found}. ${remedy}`);
  }
  for (const [id, { keys, stored = {} }] of Object.entries(record.current?.model.items ?? {})) {
    const after = model.items[id];
    if (!after) continue;
    for (const attribute of keyAttributes(catalog.index))
      if (keys[attribute] !== after.keys[attribute])
        refusals.push(
          `The key of "${id}" changes (${keys[attribute] ?? "none"}, now ${after.keys[attribute] ?? "none"}): its items would not be found. Declare it under another name and copy the rows with db.scan and db.load.`,
        );
    for (const [name, attribute] of Object.entries(stored))
      if (!after.former?.[name] && after.stored?.[name] !== attribute)
        refusals.push(
          `"${name}" of "${id}" is stored as "${attribute}", and the model stores it otherwise. Keep the layout's attribute name.`,
        );
  }
  return refusals;
};

/** Settings of a plan. */
export interface PlanSettings {
  /** Whether keys of live indexes and forms of attributes may change without regard to processes with the recorded model. */
  readonly inPlace: boolean;
}

interface FormChanges {
  /** Attributes whose values may be stored in another form than the model writes, as `person.fullName`. */
  readonly attributes: readonly string[];
  readonly refusals: readonly string[];
}

/** True if the model is one from before a renaming: it has the attribute under its old name, where the items still hold it. */
const goesBack = (
  { nodes, edges, parts }: Catalog,
  definition: string,
  renaming: { readonly to: string; readonly from: string },
): boolean => {
  const known = (nodes[definition] ?? edges[definition] ?? parts[definition])?.definition;
  const names = (known && attributesOf(known)) ?? [];
  return names.includes(renaming.from) && !names.includes(renaming.to);
};

/** Renamed and retyped attributes that the recorded model has otherwise. */
const changedForms = ({ record, catalog }: MigrationGround, model: ModelDescription, { inPlace }: PlanSettings): FormChanges => {
  const attributes = new Set<string>();
  const refusals = new Set<string>();
  for (const [id, { former = {} }] of Object.entries(model.items)) {
    const definition = id.split(/[(:]/)[0] ?? "";
    const before = record.current?.model.items[id];
    if (record.current && !before) continue;
    for (const [name, { stored, name: old }] of Object.entries(former)) {
      if (before?.former?.[name]?.stored === stored) continue;
      attributes.add(`${definition}.${name}`);
      if (stored === "new" && !before?.former?.[name] && !inPlace)
        refusals.add(
          `"${name}" of "${definition}" would be stored ${old === undefined ? "in its new type" : `under its new name, not as "${old}"`}, which processes with the recorded model do not read. Finish a migration with stored: "old" first, or pass inPlace if there is no such process.`,
        );
    }
  }
  for (const [id, { former = {} }] of Object.entries(record.current?.model.items ?? {}))
    for (const [name, { stored, name: old }] of Object.entries(former))
      if (stored !== "new" && model.items[id] && !model.items[id].former?.[name]) {
        const definition = id.split(/[(:]/)[0] ?? "";
        if (stored === "either") {
          const forms = old === undefined ? "in its new type or its old one" : `under its new name or as "${old}"`;
          refusals.add(
            `Items of "${definition}" hold "${name}" ${forms}: a migration from one to the other was undone. Run the migration to the model with ${old === undefined ? "retyped" : "renamed"}, with finish, which stores one form, and migrate to this model then.`,
          );
          continue;
        }
        // Only the caller knows whether a model without the retyping has the old type or the new one.
        if (old === undefined ? inPlace : goesBack(catalog, definition, { from: old, to: name })) continue;
        const back = old === undefined ? " Or pass inPlace if the model has the old type." : "";
        refusals.add(
          `Items of "${definition}" hold "${name}" ${old === undefined ? "in its old type" : `as "${old}"`}. Keep it in ${old === undefined ? "retyped" : "renamed"}, with stored: "new", until a migration has converted them.${back}`,
        );
      }
  return { attributes: [...attributes], refusals: [...refusals] };
};

/** What becomes of rows whose times the recorded model keeps otherwise, or not at all. */
const changedTimes = ({ record, catalog }: MigrationGround, model: ModelDescription): Pick<MigrationPlan, "refusals" | "notes"> => {
  const refusals = new Set<string>();
  const notes = new Set<string>();
  for (const { id, definition, times } of catalog.shapes) {
    const before = record.current?.model.items[id];
    const { times: now } = model.items[id] ?? {};
    if (!before || !times || !now) continue;
    for (const which of ["created", "modified"] as const) {
      const [name, then] = [now[which], before.times];
      if (name === undefined || (then?.[which] === name && isAlike(then.as, now.as))) continue;
      if (then?.[which] === name) {
        refusals.add(
          `Rows of "${definition}" hold "${name}" as ${then.as}, and the model says ${now.as}: both would stand in one attribute. Give the time another name, or leave it as it is.`,
        );
      } else if (which === "created")
        notes.add(
          `Rows of "${definition}" that are there already keep no "${name}", and get none. Declare optional: true in timestamps, so that the type says so.`,
        );
      else notes.add(`Rows of "${definition}" that are there already get "${name}" with their next change.`);
    }
  }
  return { refusals: [...refusals], notes: [...notes] };
};

// A Date is stored as its text.
const isAlike = (one: string, other: string): boolean => (one === "date" ? "text" : one) === (other === "date" ? "text" : other);

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
      `Items expire by "${expiry}" and the model says "${ttl}". Switch the table's time to live off first; DynamoDB takes up to an hour until it can be switched on again.`,
    ],
  };
};

/** Grids whose values are stored otherwise than the record says; without a record, those that are to have documents. */
const movedValues = (
  { catalog, record, table, settings }: MigrationGround,
  model: ModelDescription,
  price: StepPrice,
): Pick<MigrationPlan, "steps" | "refusals"> => {
  const moves: { node: string; to: ValueStorage }[] = [];
  for (const { name: node, definition } of Object.values(catalog.nodes)) {
    const to = model.values?.[node] ?? "items";
    if (definition.fields && to !== (record.current?.model.values?.[node] ?? "items")) moves.push({ node, to });
  }
  const streams = table.StreamSpecification?.StreamEnabled === true || settings.stream === true;
  const refusals = moves
    .filter(({ to }) => to === "document" && !streams)
    .map(({ node }) => `The stream keeps the index of "${node}", and the table has none. Enable it: settings: { stream: true }.`);
  const steps = moves.map(({ node, to }) => {
    const says = `move the values of "${node}" ${to === "document" ? "into one document for each row" : "into items of their own"}`;
    return { kind: "moveValues", node, to, says, ...price } as const;
  });
  return { steps, refusals };
};

const kindsText = (entries: readonly BackfilledEntry[]): string =>
  entries.map(({ index, shapes }) => `${shapes.map((id) => `"${id}"`).join(", ")} in "${index}"`).join("; ");

const notesOf = (
  { record, catalog, table, settings }: MigrationGround,
  entries: readonly BackfilledEntry[],
  more: readonly string[],
): readonly string[] => {
  const notes: string[] = [];
  const kept = settings.stream === true ? undefined : unkept(catalog, table);
  if (kept !== undefined)
    notes.push(
      `The table has no stream, and the model leaves ${kept} to its processor: without one it goes stale. Add settings: { stream: true } to the model, or run edgetable table create --stream.`,
    );
  if (!record.current) notes.push("The table has no record of its model: indexes that it has already are taken as complete.");
  for (const { index, live } of entries)
    if (live) notes.push(`"${index}" is in use already: until the migration has ended, it finds the new kinds in part.`);
  return [...notes, ...more];
};

interface FactChanges {
  readonly all: readonly string[];
  readonly streamed: readonly string[];
  readonly notes: readonly string[];
}

/** Derived attributes, copies and counted degrees that the recorded model lacks or has otherwise. */
const changedFacts = ({ catalog, record: { current } }: MigrationGround, model: ModelDescription): FactChanges => {
  if (!current) return { all: [], streamed: [], notes: [] };
  const { facts = {}, degrees = [] } = current.model;
  const changed = Object.keys(model.facts ?? {}).filter((name) => facts[name] !== model.facts?.[name]);
  const kept = (freshness: "stream" | "batch"): readonly string[] => {
    const { aggregates, summaries, copies } = catalog.facts;
    const names = [
      ...aggregates.map((fact) => [`${fact.node}.${fact.attribute}`, fact] as const),
      ...summaries.map((fact) => [`${fact.edge}.${fact.attribute}`, fact] as const),
      ...copies.map((fact) => [`${fact.onto.name}.${fact.attribute}`, fact] as const),
    ].flatMap(([name, fact]): readonly string[] => (fact.freshness === freshness ? [name] : []));
    return changed.filter((name) => names.includes(name));
  };
  const batch = kept("batch");
  return {
    all: [...changed.filter((name) => !batch.includes(name)), ...(model.degrees ?? []).filter((degree) => !degrees.includes(degree))],
    streamed: kept("stream"),
    notes: batch.map(
      (name) =>
        `"${name}" is computed by a batch job: run it once the migration has ended. Until then rows have no value for it, or the one before.`,
    ),
  };
};

/** Compares model, record and table, and gives the steps from one to the other. */
export const planMigration = (ground: MigrationGround, { inPlace }: PlanSettings): MigrationPlan => {
  const { catalog, record, table } = ground;
  const model = describeModel(catalog);
  const hash = descriptionHash(model);
  const { entries, rekeyed } = changedEntries(ground, model);
  const { grown, refusals: shardRefusals } = changedShards(ground, model);
  const expires = expirySteps(ground);
  const storage = changedStorage(catalog, record.current, model);
  const forms = changedForms(ground, model, { inPlace });
  const { items, bytes } = sizeOf(ground);
  const written = items * Math.max(1, Math.ceil(bytes / 1024));
  const read = Math.ceil((items * bytes) / 4096);
  const there = indexesIn(table);
  const missing = catalog.indexes.filter(({ name }) => !there.has(name ?? ""));
  const steps: MigrationStep[] = [...expires.steps, ...settingSteps(ground)];
  if (forms.attributes.length > 0)
    steps.push({
      kind: "convert",
      attributes: forms.attributes,
      says: `convert ${forms.attributes.map((name) => `"${name}"`).join(", ")}: check that every value converts, then store it as the model says`,
      items,
      readUnits: read * (PASSES + 1),
      writeUnits: written,
    });
  const facts = changedFacts(ground, model);
  if (facts.all.length > 0)
    steps.push({
      kind: "derive",
      facts: facts.all,
      streamed: facts.streamed,
      says: `compute ${facts.all.map((name) => `"${name}"`).join(", ")} of what is stored`,
      items,
      readUnits: read * PASSES,
      writeUnits: written,
    });
  if (entries.length > 0)
    steps.push({
      kind: "backfill",
      entries,
      says: `give items their index keys: ${kindsText(entries)}`,
      items,
      readUnits: read * PASSES,
      writeUnits: written,
    });
  const values = movedValues(ground, model, { items, readUnits: read * PASSES * 2, writeUnits: written * 3 });
  steps.push(...values.steps);
  for (const index of grown)
    steps.push({ kind: "reshard", index, says: `move items to the shards of "${index}"`, items, readUnits: read, writeUnits: written * 3 });
  for (const { name = "" } of missing)
    steps.push({
      kind: "createIndex",
      index: name,
      says: `create the index "${name}"; DynamoDB fills it from items that have its keys`,
      items,
      readUnits: 0,
      writeUnits: written,
    });
  const wanted = new Set(catalog.indexes.map(({ name }) => name));
  for (const name of Object.keys(record.current?.model.indexes ?? {}))
    if (!wanted.has(name) && there.has(name)) steps.push({ kind: "deleteIndex", index: name, says: `delete the index "${name}"` });
  if (record.current?.hash !== hash || record.migration) steps.push({ kind: "record", says: "record the model in the table" });
  const refusals = [
    ...impossible(ground, model),
    ...storage.refusals,
    ...forms.refusals,
    ...changedTimes(ground, model).refusals,
    ...shardRefusals,
    ...expires.refusals,
    ...values.refusals,
    ...(inPlace ? [] : rekeyed.map(rekeyRefusal)),
  ];
  return {
    table: catalog.table,
    model: hash,
    recorded: record.current?.hash,
    underway: record.migration?.hash,
    steps,
    refusals,
    notes: notesOf(ground, entries, [
      ...changedTimes(ground, model).notes,
      ...facts.notes,
      ...storage.notes,
      ...droppedKinds(catalog, record.current, model),
    ]),
    cost: priceOf(steps),
  };
};

const priceOf = (steps: readonly MigrationStep[]): MigrationPlan["cost"] => {
  const priced = steps.filter((step) => "readUnits" in step);
  return {
    readUnits: priced.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: priced.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
  };
};

const rekeyRefusal = (what: string): string =>
  `The keys of ${what} change: processes with the recorded model would miss items that have new keys. Declare the new keys as an index of another name, or pass inPlace if no process with the recorded model reads them.`;

/** The shapes whose attributes an entry concerns, by id: those that the model no longer has are left as they are. */
export const shapesOf = (catalog: Catalog, { shapes }: BackfilledEntry): readonly Shape[] =>
  shapes.flatMap((id) => catalog.shapesById[id] ?? []);
