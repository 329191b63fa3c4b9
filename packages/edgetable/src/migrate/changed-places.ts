import type { RecordedModel } from "../executor/model-record.ts";
import { type Catalog, keyAttributes, type Shape } from "../schema/catalog.ts";
import { describeTypes } from "../schema/describe-types.ts";
import { definitionOf, type DescribedItem, type ModelDescription } from "../schema/describe-model.ts";
import type { TableDescription } from "../transport/operations.ts";
import { own } from "../util/row.ts";

const FIELD = /\{([^}:?]+)(\??)(?::([^}]*))?\}/g;
/** Formats that are written and never read back. */
const WRITTEN = /^(?:lower|upper|written|shard)/;

/** The attributes whose recorded templates hold a field from which rows read it. */
const keysOf = ({ keys }: DescribedItem, field: string): readonly string[] =>
  Object.entries(keys).flatMap(([attribute, text]) => {
    // Nothing is read from a key under a condition.
    if (text.includes(" when ")) return [];
    const carries = [...text.matchAll(FIELD)].some(([, path, mayLack, format = ""]) => path === field && !mayLack && !WRITTEN.test(format));
    return carries ? [attribute] : [];
  });

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(" and ");

/** One attribute of a kind of items: where the recorded model stores it, and where the model reads it. */
interface Place {
  readonly id: string;
  readonly field: string;
  readonly was: DescribedItem;
  readonly is: DescribedItem;
  /** The key from which rows of the model have it; undefined if it is stored as it is. */
  readonly source: string | undefined;
}

const storedAs = ({ stored }: DescribedItem, field: string): string => own(stored ?? {}, field) ?? field;

const sourceOf = ({ sources }: Shape, field: string): string | undefined =>
  sources.find(({ template }) => template.carried.includes(field))?.attribute;

/** The mend: what a layout says to store an attribute beside a key, and to read it there. */
const verbatimOf = (id: string, field: string): string => `verbatim: [${JSON.stringify(field)}] in the layout of "${definitionOf(id)}"`;

/** An attribute that items hold, and that the model reads from a key, which only it writes. */
const intoKeys = ({ id, field, was, source }: Place): string | undefined =>
  keysOf(was, field).length > 0 || source === undefined || source === storedAs(was, field)
    ? undefined
    : `"${field}" of "${id}" is stored as "${storedAs(was, field)}", and the model would read it from "${source}": changes by programs with the recorded model would be lost, and they may miss changes by this model. Store it in both: ${verbatimOf(id, field)}. Or pass inPlace if no such program is left.`;

/** An attribute that items hold in keys, none of which the model reads. */
const outOfKeys = ({ id, field, was, is, source }: Place): string | undefined => {
  const before = keysOf(was, field);
  const now = source ?? storedAs(is, field);
  if (before.length === 0 || before.includes(now)) return undefined;
  const behind = `keys: { ${JSON.stringify(now)}: "{${field}}" } after the others`;
  const mend = before.some((attribute) => Object.hasOwn(is.keys, attribute))
    ? `Declare it after the key (${behind}), so that rows still have it from there. To read it from "${now}", first migrate to that model, and write every row again with db.scan and db.load.`
    : `Keep the key. Or first compute the attribute, too (${behind}), write every row again with db.scan and db.load, and then migrate to this model.`;
  return `Items of "${id}" hold "${field}" only in ${listed(before)}, and the model reads it from "${now}": rows would lack it. ${mend}`;
};

const ONE_FIELD = /^(?:number )?\{[^{}]*\}$/;

/** An attribute that repeats a field beside a key of an index, and that the model does not write: the recorded one may read it there. */
const outOfCopy = ({ id, field, was, is, source }: Place, tableKeys: readonly string[]): string | undefined => {
  const before = keysOf(was, field);
  if (source === undefined || before.some((attribute) => tableKeys.includes(attribute))) return undefined;
  const copy = before.find((attribute) => ONE_FIELD.test(was.keys[attribute] ?? "") && !Object.hasOwn(is.keys, attribute));
  return copy === undefined || copy === source
    ? undefined
    : `Items of "${id}" hold "${field}" in "${copy}" beside "${source}", and the model does not write it there: programs with the recorded model that read it there would miss changes by this model. Keep it: verbatim in the layout of "${definitionOf(id)}". Or pass inPlace if no such program is left.`;
};

/** Attributes with a stored name of their own that the model does not store there. */
const fromStoredName = (id: string, was: DescribedItem, is: DescribedItem): readonly string[] =>
  Object.entries(was.stored ?? {}).flatMap(([name, attribute]) =>
    is.former?.[name] || is.stored?.[name] === attribute
      ? []
      : [
          `"${name}" of "${id}" is stored as "${attribute}", and the model stores it elsewhere. Keep the layout's attribute name. Or pass inPlace if no item holds it there.`,
        ],
  );

/** An attribute that gets a stored name of its own. */
const underOtherName = ({ id, field, was, is }: Place): string | undefined => {
  const isPlain = own(was.stored ?? {}, field) === undefined && keysOf(was, field).length === 0 && !was.former?.[field];
  if (!isPlain || own(is.stored ?? {}, field) === undefined || is.former?.[field]) return undefined;
  return `"${field}" of "${id}" is stored as "${field}", and the model stores it as "${storedAs(is, field)}": rows would lack it. Keep the stored name. Or pass inPlace if the table has always held "${storedAs(is, field)}".`;
};

/** Items with another type, or with one where the kind has none, are not found. */
const otherType = (id: string, { type: was }: DescribedItem, { type: is }: DescribedItem): string | undefined =>
  was === undefined || was === is
    ? undefined
    : `Items of "${id}" are of the type "${was}", and the model looks for ${is === undefined ? "none" : `"${is}"`}: reads would not find them. Keep the layout's type. Or pass inPlace if the table has always held ${is === undefined ? "none" : `"${is}"`}.`;

/** Items that say their type elsewhere are taken for any kind whose keys they have. */
const otherTypeAttribute = (was: string | undefined, is: string): string | undefined =>
  was === undefined || was === is
    ? undefined
    : `Items hold their type in "${was}", and the model looks in "${is}": reads could not tell apart kinds whose keys have the same form. Keep the layout's typeAttribute. Or pass inPlace if the table has always held it in "${is}".`;

/**
 * Attributes that an index which the table lacks would hold alone: without a record, nothing tells whether items have them. Those of
 * the table's key, and of an index that is there, they have.
 */
const unrecorded = (catalog: Catalog, table: TableDescription): readonly string[] => {
  const there = new Set(
    [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])].map(({ IndexName }) => IndexName),
  );
  const written = new Set(keyAttributes(catalog.index));
  const filling = new Set<string>();
  for (const index of catalog.indexes)
    for (const attribute of keyAttributes(index)) (there.has(index.name) ? written : filling).add(attribute);
  const types = describeTypes(catalog);
  const lone = (shape: Shape): readonly string[] =>
    Object.keys(own(types, shape.definition) ?? {}).flatMap((field) => {
      const source = sourceOf(shape, field);
      if (
        source === undefined ||
        !filling.has(source) ||
        written.has(source) ||
        source === field ||
        shape.fills.some((one) => one.field === field)
      )
        return [];
      return [
        `"${field}" of "${shape.id}" would be read from "${source}", which items do not have yet: changes by programs that do not know the key would be lost, and they may miss changes by this model. Store it in both: ${verbatimOf(shape.id, field)}. Or pass inPlace if no other program is left.`,
      ];
    });
  return catalog.shapes.flatMap(lone);
};

interface PlacesGround {
  readonly catalog: Catalog;
  readonly table: TableDescription;
  readonly record: { readonly current: RecordedModel | undefined };
}

/** What a plan is told of attributes that a layout stores in other places than the recorded model: no migration moves them. */
export const changedPlaces = (
  { catalog, table, record: { current } }: PlacesGround,
  model: ModelDescription,
  inPlace: boolean,
): readonly string[] => {
  // In Edgetable's own layout index keys follow from attributes, and nothing is read from them.
  if (!current && !catalog.escapes) return inPlace ? [] : unrecorded(catalog, table);
  const types = describeTypes(catalog);
  const refusals = new Set<string>();
  const note = (says: string | undefined): void => void (says === undefined || refusals.add(says));
  const { typeAttribute } = model;
  if (!inPlace && typeAttribute !== undefined) note(otherTypeAttribute(current?.model.typeAttribute, typeAttribute));
  for (const [id, was] of Object.entries(current?.model.items ?? {})) {
    const [is, shape] = [model.items[id], catalog.shapesById[id]];
    if (!is || !shape) continue;
    if (!inPlace) for (const says of fromStoredName(id, was, is)) note(says);
    if (catalog.escapes) continue;
    if (!inPlace && typeAttribute !== undefined && typeAttribute === current?.model.typeAttribute) note(otherType(id, was, is));
    const [before = {}, now = {}] = [own(current?.types ?? {}, definitionOf(id)), own(types, definitionOf(id))];
    for (const field of Object.keys(before).filter((name) => Object.hasOwn(now, name))) {
      const place = { id, field, was, is, source: sourceOf(shape, field) };
      note(outOfKeys(place));
      if (!inPlace) note(intoKeys(place) ?? underOtherName(place) ?? outOfCopy(place, keyAttributes(catalog.index)));
    }
  }
  return [...refusals];
};
