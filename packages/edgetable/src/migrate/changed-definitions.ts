import type { RecordedModel } from "../executor/model-record.ts";
import { type Catalog, keyAttributes } from "../schema/catalog.ts";
import { changedEdges, describedEntry, goesBack, lackingCopy, type ModelDescription } from "../schema/describe-model.ts";

/** What a plan says of changes of definitions. */
interface DefinitionChanges {
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
}

interface FormChanges {
  /** Attributes whose values may be stored in another form than the model writes, as `person.fullName`. */
  readonly attributes: readonly string[];
  readonly refusals: readonly string[];
}

/** Renamed and retyped attributes that the recorded model has otherwise. */
export const changedForms = (
  catalog: Catalog,
  current: RecordedModel | undefined,
  model: ModelDescription,
  { inPlace, again }: { readonly inPlace: boolean; readonly again: boolean },
): FormChanges => {
  const attributes = new Set<string>();
  const refusals = new Set<string>();
  for (const [id, { former = {} }] of Object.entries(model.items)) {
    const definition = id.split(/[(:]/)[0] ?? "";
    const before = current?.model.items[id];
    if (current && !before) continue;
    for (const [name, { stored, name: old }] of Object.entries(former)) {
      if (before?.former?.[name]?.stored === stored && !again) continue;
      attributes.add(`${definition}.${name}`);
      if (stored === "new" && !before?.former?.[name] && !inPlace)
        refusals.add(
          `"${name}" of "${definition}" would be stored ${old === undefined ? "in its new type" : `under its new name, not as "${old}"`}, which processes with the recorded model do not read. Finish a migration with stored: "old" first, or pass inPlace if there is no such process.`,
        );
    }
  }
  for (const [id, { former = {} }] of Object.entries(current?.model.items ?? {}))
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
export const changedTimes = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): DefinitionChanges => {
  const refusals = new Set<string>();
  const notes = new Set<string>();
  for (const { id, definition, times } of catalog.shapes) {
    const before = current?.model.items[id];
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

const RECREATE = "Declare it under another name and copy the edges with db.scan and db.load.";

interface StorageChanges extends DefinitionChanges {
  /** True if second copies are not read any more, but an index that the first ones have to come to. */
  readonly dropsCopies: boolean;
}

/** Edges whose items the model stores otherwise: their other ends would read empty, or in part. */
export const changedStorage = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): StorageChanges => {
  const refusals: string[] = [];
  const notes: string[] = [];
  if (!current) return { refusals, notes, dropsCopies: false };
  for (const entry of Object.values(catalog.edges)) {
    const change = changedEdges(current.model, model, entry);
    if (change?.was === "twice" && change.is === "once")
      notes.push(
        `The second copies of "${entry.name}" are not needed any more and stay. Once the migration has ended, edgetable verify --repair --delete-orphans deletes them, as it does whatever else the model does not describe.`,
      );
    else if (change) refusals.push(`${change.says}: reads from one end would miss those that are there. ${RECREATE}`);
    for (const shape of [...entry.shapes, ...entry.mirrors]) {
      const lacking = lackingCopy(current.model, shape);
      if (lacking !== undefined) refusals.push(`${lacking}: sides would lack attributes. ${RECREATE}`);
    }
  }
  return { refusals, notes, dropsCopies: notes.length > 0 };
};

/** Counters of degrees and markers of unique values that only the recorded model keeps. Nothing of the model reads them. */
export const unkeptItems = (recorded: ModelDescription | undefined, model: ModelDescription): readonly string[] => {
  const told = (what: string, before: readonly string[] = [], now: readonly string[] = []): readonly string[] => {
    const gone = before.filter((name) => !now.includes(name)).map((name) => `"${name}"`);
    if (gone.length === 0) return [];
    return [
      `The items that ${what} ${gone.join(", ")} are not kept any more and stay. Once the migration has ended, edgetable verify --repair deletes them.`,
    ];
  };
  return [...told("count", recorded?.degrees, model.degrees), ...told("reserve the values of", recorded?.unique, model.unique)];
};

/** Kinds of items that the model no longer has. It cannot judge their items, so that nothing happens to them. */
export const droppedKinds = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const wanted = new Set(catalog.indexes.map(({ name }) => name));
  const recorded = current?.model;
  // With more or fewer ends, a kind goes by another name and has the same keys.
  const keysOf = ({ keys }: ModelDescription["items"][string]): string =>
    keyAttributes(catalog.index)
      .map((name) => keys[name])
      .join("\n");
  const claimed = new Set(Object.values(model.items).map(keysOf));
  return Object.keys(recorded?.items ?? {}).flatMap((id): readonly string[] => {
    if (
      !recorded ||
      model.items[id] ||
      id.endsWith(":mirror") ||
      Object.hasOwn(model.edges ?? {}, id) ||
      claimed.has(keysOf(recorded.items[id]!))
    )
      return [];
    const indexes = Object.entries(recorded.indexes).flatMap(([name, index]) =>
      wanted.has(name) && describedEntry(recorded, index, id) ? [`"${name}"`] : [],
    );
    const keys = indexes.length > 0 ? `, with their keys in ${indexes.join(", ")}` : "";
    return [
      `The model has no "${id}": items of it stay${keys}. Delete them by a program of the model that has it, or by edgetable verify --repair --delete-orphans, which deletes whatever the model does not describe.`,
    ];
  });
};
