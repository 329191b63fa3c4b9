import type { RecordedModel } from "../executor/model-record.ts";
import { type Catalog, keyAttributes } from "../schema/catalog.ts";
import { describeTypes, describeValues } from "../schema/describe-types.ts";
import { requiresValue } from "../schema/standard-schema.ts";
import { own } from "../util/row.ts";
import { changedEdges, changedFacts, goesBack, lackingCopy } from "../schema/compare-models.ts";
import { definitionOf, describedEntry, type ModelDescription } from "../schema/describe-model.ts";

/** The refusals and notes of a plan about changed definitions. */
interface DefinitionChanges {
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
}

interface FormChanges {
  /** Attributes whose values may be stored in another form than the model writes, as `person.fullName`. */
  readonly attributes: readonly string[];
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
}

/** Renamed and retyped attributes that differ in the recorded model. */
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
            `Items of "${definition}" hold "${name}" ${forms}: a migration from one to the other was undone. Run the migration to the model with ${old === undefined ? "retyped" : "renamed"}, with finish, which stores one form. Then migrate to this model.`,
          );
          continue;
        }
        // Only the caller knows whether a model without the retyping uses the old type or the new one.
        if (old === undefined ? inPlace : goesBack(catalog, definition, { from: old, to: name })) continue;
        const back = old === undefined ? " Or pass inPlace if the model has the old type." : "";
        refusals.add(
          `Items of "${definition}" hold "${name}" ${old === undefined ? "in its old type" : `as "${old}"`}. Keep it in ${old === undefined ? "retyped" : "renamed"}, with stored: "new", until a migration has converted them.${back}`,
        );
      }
  const ended = endedForms(catalog, current, model, inPlace);
  return { attributes: [...attributes], refusals: [...refusals, ...ended.refusals], notes: ended.notes };
};

const RENAMED_BACK = (definition: string, to: string, from: string): string =>
  `Items of "${definition}" hold "${from}" as "${to}": it was renamed. To go back, migrate with finish to the model with renamed: { ${to}: "${from}" }, which stores the old name again, and then to this model. Or pass inPlace if "${from}" is now another attribute.`;

/**
 * Attributes that all items have in the new form and whose renaming or retyping the model no longer declares. The model uses the
 * new form, or the old one.
 */
const endedForms = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription, inPlace: boolean): DefinitionChanges => {
  const refusals = new Set<string>();
  const notes = new Set<string>();
  const types = describeTypes(catalog);
  for (const [definition, names] of Object.entries(current?.renamed ?? {}))
    for (const [to, from] of Object.entries(names))
      if (!inPlace && goesBack(catalog, definition, { from, to })) refusals.add(RENAMED_BACK(definition, to, from));
  for (const [id, { former = {} }] of Object.entries(current?.model.items ?? {}))
    for (const [name, { stored, name: old, retyped }] of Object.entries(former)) {
      if (stored !== "new" || !model.items[id] || model.items[id].former?.[name]) continue;
      const definition = definitionOf(id);
      if (old !== undefined && goesBack(catalog, definition, { from: old, to: name })) {
        if (!inPlace) refusals.add(RENAMED_BACK(definition, name, old));
        continue;
      }
      const [was, is] = [current?.types?.[definition]?.[name], types[definition]?.[name]];
      if (retyped && was && is && was !== is && !inPlace)
        refusals.add(
          `Items of "${definition}" hold "${name}" in its new type (${was}), and the model says ${is}. To go back, migrate with finish to the model with ${name} in retyped, which uses back to store the old type again, and then to this model. Or pass inPlace if no item holds the new type.`,
        );
      else
        notes.add(
          `This model does not read the old form of "${name}"${old === undefined ? "" : ` ("${old}")`} of "${definition}". If a program from before the change has written since the last migration, run the migration to the recorded model with again and finish first.`,
        );
    }
  return { refusals: [...refusals], notes: [...notes] };
};

/** A node, edge or part of the model by its name. */
const named = ({ nodes, edges, parts }: Catalog, name: string) => (own(nodes, name) ?? own(edges, name) ?? own(parts, name))!.definition;

/** A note that rows may contain texts that an enumeration does not accept; undefined if all former values fit. */
const changedValues = (definition: string, name: string, allowed: readonly string[], before: readonly string[] | undefined) => {
  const refused = before?.filter((value) => !allowed.includes(value));
  if (refused?.length === 0) return undefined;
  const held = refused ? refused.map((value) => JSON.stringify(value)).join(", ") : "any text";
  return `Rows of "${definition}" may hold ${held} as "${name}", which the schema no longer accepts. edgetable verify names these rows: write other values to them before programs rely on it.`;
};

/** Attributes that existing rows lack or have with another type, as far as the record and the schemas show. No migration changes them. */
export const changedTypes = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const notes: string[] = [];
  const values = describeValues(catalog);
  for (const [definition, now] of Object.entries(describeTypes(catalog))) {
    const before = own(current?.types ?? {}, definition);
    if (!before) continue;
    const formerIn = (items: ModelDescription["items"]): readonly (readonly [string, string | undefined])[] =>
      Object.entries(items).flatMap(([id, { former = {} }]) =>
        definitionOf(id) === definition ? Object.entries(former).map(([name, one]) => [name, one.name] as const) : [],
      );
    const known = new Set(formerIn(model.items).map(([name]) => name));
    const recorded = formerIn(current?.model.items ?? {});
    const { schema } = named(catalog, definition);
    for (const [name, is] of Object.entries(now)) {
      if (known.has(name) || recorded.some((names) => names.includes(name))) continue;
      const was = own(before, name);
      const isOptional = own(current?.optional ?? {}, definition)?.includes(name) === true;
      if (was !== undefined && isOptional && requiresValue(schema, name))
        notes.push(
          `Existing rows of "${definition}" may lack "${name}", which the schema now requires, and the migration does not add it. Write it to these rows before programs rely on it: edgetable verify names them.`,
        );
      if (was === undefined && requiresValue(schema, name))
        notes.push(
          `Existing rows of "${definition}" have no "${name}", which the schema requires, and the migration does not add it. If it is a new name of an attribute, declare renamed; else make it optional, or write it to every row before programs rely on it.`,
        );
      else if (was && is && was !== is)
        notes.push(
          `Rows of "${definition}" hold "${name}" as ${was}, and the model says ${is}: the migration does not convert them. Declare retyped, or write the attribute of every row again.`,
        );
      const allowed = own(own(values, definition) ?? {}, name);
      // A record from before enumerations were recorded does not show whether the attribute was one.
      if (!allowed || was !== "text" || !current?.values) continue;
      const says = changedValues(definition, name, allowed, own(own(current.values, definition) ?? {}, name));
      if (says !== undefined) notes.push(says);
    }
  }
  return notes;
};

/** Notes on rows whose times the recorded model keeps in another way, or not at all. */
export const changedTimes = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): DefinitionChanges => {
  const refusals = new Set<string>();
  const notes = new Set<string>();
  for (const { id, definition, times } of catalog.shapes) {
    const before = current?.model.items[id];
    const { times: now } = model.items[id] ?? {};
    if (!before || !times || !now) continue;
    for (const which of ["created", "modified"] as const) {
      const [name, then] = [now[which], before.times];
      // A Date is stored as its text.
      const isAlike = [then?.as, now.as].every((form) => form === "text" || form === "date") || then?.as === now.as;
      if (name === undefined || (then?.[which] === name && isAlike)) continue;
      if (then?.[which] === name) {
        refusals.add(
          `Rows of "${definition}" hold "${name}" as ${then.as}, and the model says ${now.as}: one attribute would hold both. Give the time another name, or leave it as it is.`,
        );
      } else if (which === "created")
        notes.add(
          `Existing rows of "${definition}" have no "${name}", and do not get it.${mayLack(catalog, definition) ? "" : " Declare optional: true in timestamps, so that the type says so."}`,
        );
      else notes.add(`Existing rows of "${definition}" get "${name}" with their next change.`);
    }
  }
  return { refusals: [...refusals], notes: [...notes] };
};

/** True if, according to the model, rows of the definition may lack their times. */
const mayLack = (catalog: Catalog, name: string): boolean => {
  const { timestamps } = named(catalog, name);
  return typeof timestamps === "object" && timestamps.optional === true;
};

const RECREATE = "Declare it under another name and copy the edges with db.scan and db.load.";

const MEND_COPIES =
  "Run the migration to that model instead. Or end its programs, run edgetable verify --repair --differing mend with this model, and pass inPlace. --differing mend overwrites what an application has written only to second copies (reverse).";

/** Edges that the model stores in another way: reads from their other ends would be empty or incomplete. */
export const changedStorage = (
  catalog: Catalog,
  current: RecordedModel | undefined,
  model: ModelDescription,
  inPlace: boolean,
): DefinitionChanges => {
  const refusals: string[] = [];
  const notes: string[] = [];
  if (!current) return { refusals, notes };
  for (const entry of Object.values(catalog.edges)) {
    const change = changedEdges(current.model, model, entry);
    if (change?.was === "mixed" && change.is === "twice") {
      if (!inPlace) refusals.push(`${change.says}. ${MEND_COPIES}`);
    } else if ((change?.was === "twice" || change?.was === "mixed") && change.is === "once")
      notes.push(
        `The second copies of "${entry.name}" are no longer needed, and stay. Once the migration has ended, edgetable verify --repair --delete-orphans deletes them and everything else that the model does not describe.`,
      );
    else if (change) refusals.push(`${change.says}: reads from one end would miss existing edges. ${RECREATE}`);
    for (const shape of [...entry.shapes, ...entry.mirrors]) {
      const lacking = lackingCopy(current.model, shape);
      if (lacking !== undefined) refusals.push(`${lacking}: sides would lack attributes. ${RECREATE}`);
    }
  }
  return { refusals, notes };
};

/** Counters of degrees and markers of unique values that only the recorded model keeps. Programs of the new model do not read them. */
export const unkeptItems = (recorded: ModelDescription | undefined, model: ModelDescription): readonly string[] => {
  const told = (what: string, before: readonly string[] = [], now: readonly string[] = []): readonly string[] => {
    const gone = before.filter((name) => !now.includes(name)).map((name) => `"${name}"`);
    if (gone.length === 0) return [];
    return [
      `The items that ${what} ${gone.join(", ")} are no longer maintained, and stay. Once the migration has ended, edgetable verify --repair deletes them.`,
    ];
  };
  return [...told("count", recorded?.degrees, model.degrees), ...told("reserve the values of", recorded?.unique, model.unique)];
};

/** Nodes and parts with another name in the model: an item contains the name of its kind, and is only found by this name. */
export const renamedKinds = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const { escapes, index, shapes } = catalog;
  const recorded = current?.model.items ?? {};
  // In an adopted layout, the item's type is configured, so the name may have changed only in the model.
  if (!escapes) return [];
  const isAlike = (id: string, other: string): boolean =>
    keyAttributes(index).every((name) => recorded[id]?.keys[name] === model.items[other]?.keys[name]);
  return Object.keys(recorded).flatMap((id) => {
    const now = model.items[id] ? undefined : shapes.find((one) => one.kind !== "edge" && !recorded[one.id] && isAlike(id, one.id));
    if (!now) return [];
    return [
      `"${now.id}" has the key that "${id}" has in the table: reads would not find the items, because each holds the name of its kind. Keep the name, or give "${now.id}" a key of its own and copy the rows with db.scan and db.load.`,
    ];
  });
};

/** Kinds of items that the model no longer has. Their items stay as they are, because the model does not know them. */
export const droppedKinds = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const wanted = new Set(catalog.indexes.map(({ name }) => name));
  const recorded = current?.model;
  // With more or fewer types at its ends, a kind has another name and the same keys.
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
      `The model has no "${id}": its items stay${keys}. Delete them with a program whose model has it, or with edgetable verify --repair --delete-orphans, which deletes everything that the model does not describe.`,
    ];
  });
};

/**
 * Derived attributes and copies that the model no longer keeps, or keeps in another way, while programs of the recorded model still
 * read them.
 */
export const unkeptFacts = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const { facts = {}, items } = model;
  const others = new Set(current && changedFacts(current.model, model, catalog));
  const changed = Object.entries(current?.model.facts ?? {}).filter(([name, text]) => {
    const { freshness } = JSON.parse(text) as { readonly freshness?: string };
    const isKnown = Object.keys(items).some((id) => definitionOf(id) === definitionOf(name));
    return isKnown && freshness !== "batch" && (facts[name] !== text || others.has(name));
  });
  if (changed.length === 0) return [];
  const names = changed.map(([name]) => `"${name}"`).join(", ");
  return [
    `Programs with this model do not maintain ${names} as the recorded model does: from their first write on, programs with the recorded model read wrong values and counts. Run this migration before you deploy the model, and wait a minute: older programs then count edges instead of reading kept counts. Make sure that no program reads the values. If you only change how the attribute is computed, declare the new one under another name.`,
  ];
};
