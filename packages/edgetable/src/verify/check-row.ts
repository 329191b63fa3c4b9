import { isEdgetableError } from "../errors/edgetable-error.ts";
import { validateWrite } from "../executor/run-write.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import { unfitForMarker } from "../planner/writes/rules/unique-markers.ts";
import { renderPartitions } from "../keys/partitions.ts";
import { encodeKeyField, readTemplate, sameValue, type Template } from "../keys/template.ts";
import { decodeValue, encodeValue, keyTextOf, sameAttribute } from "../requests/attribute-value.ts";
import { driftedFields, typeIn } from "../requests/decode-item.ts";
import { encodeField } from "../requests/encode-item.ts";
import { type Catalog, keyAttributes, type Shape } from "../schema/catalog.ts";
import type { Maybe } from "../schema/check-values.ts";
import { derivedNames } from "../schema/facts.ts";
import { timeNames } from "../schema/timestamps.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { own, valueAt } from "../util/row.ts";
import { otherForm } from "../executor/scan/other-forms.ts";
import { withoutEnds } from "../executor/scan/read-item.ts";
import { expectedAttributes, type Unkeyed, whyLeftOut } from "./expected-attributes.ts";
import type { Finding } from "./finding.ts";
import type { SeenRow } from "./see-item.ts";

/** What is wrong with a row's own item, and what mends it. */
export interface RowCheck {
  readonly findings: readonly Finding[];
  readonly set: Item;
  readonly remove: readonly string[];
}

type Placing = "elsewhere" | "oldShard" | "wrongShard";

// While a shard count grows, readers look into the shards of the old counts too.
const placing = ({ row }: SeenRow, template: Template, stored: AttributeValue): Placing => {
  const text = keyTextOf(stored);
  const isSharded = template.parts.some((part) => part.kind === "field" && part.format.kind === "shard");
  if (text === undefined || !isSharded) return "elsewhere";
  try {
    if (renderPartitions(template, row)?.some((partition) => partition.text === text)) return "oldShard";
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
  }
  const fields = readTemplate(template, text);
  const isSame = fields !== undefined && Object.keys(fields).every((path) => sameValue(fields[path], valueAt(row, path)));
  return isSame ? "wrongShard" : "elsewhere";
};

const shown = (value: AttributeValue | undefined): unknown => (value === undefined ? undefined : decodeValue(value));

const REASONS = {
  storedKey: "Edgetable would write the values of the key in another form, so a read by them does not find the item.",
  indexKey: "The index does not show the row, or shows it in the wrong place.",
  wrongShard: "Readers do not read this shard.",
  typeAttribute: "The item does not name its type.",
  drift: "The key contains the value; the attribute that repeats it differs.",
  repetition: "It repeats a value of the row, and differs from it or is missing.",
} as const;

const computedFinding = (seen: SeenRow, why: keyof typeof REASONS, attribute: string, expected: AttributeValue | undefined): Finding => ({
  kind: why === "repetition" ? "drift" : why,
  key: seen.key,
  definition: seen.shape.definition,
  attribute,
  stored: shown(own(seen.item, attribute)),
  expected: shown(expected),
  reason: REASONS[why],
});

const unkeyedFinding = ({ key, shape, item }: SeenRow, { attribute, error }: Unkeyed): Finding => ({
  kind: "invalid",
  key,
  definition: shape.definition,
  attribute,
  stored: shown(own(item, attribute)),
  reason: `The model cannot make this key, and leaves it as it is: ${error.message}`,
});

interface KeySets {
  readonly ofTable: ReadonlySet<string>;
  readonly ofIndexes: ReadonlySet<string>;
}

const knownKeys = new WeakMap<Catalog, KeySets>();

const keySets = (catalog: Catalog): KeySets => {
  let known = knownKeys.get(catalog);
  if (!known) {
    known = { ofTable: new Set(keyAttributes(catalog.index)), ofIndexes: new Set(catalog.indexes.flatMap(keyAttributes)) };
    knownKeys.set(catalog, known);
  }
  return known;
};

const foreignKeys = new WeakMap<Shape, readonly string[]>();

/** Index keys that a shape does not fill. Other applications may fill those of an adopted table. */
const unfilledKeys = (catalog: Catalog, shape: Shape): readonly string[] => {
  let known = foreignKeys.get(shape);
  if (!known) {
    const all = catalog.escapes ? new Set(catalog.indexes.flatMap(keyAttributes)) : [];
    foreignKeys.set(shape, (known = [...all].filter((attribute) => !(attribute in shape.keys))));
  }
  return known;
};

interface Draft {
  readonly findings: Finding[];
  readonly set: Record<string, AttributeValue>;
  readonly remove: string[];
}

const checkComputed = (catalog: Catalog, seen: SeenRow, draft: Draft): void => {
  const { shape, item } = seen;
  const { ofTable, ofIndexes } = keySets(catalog);
  const unkeyed: Unkeyed[] = [];
  const expected = expectedAttributes(catalog, shape, seen, unkeyed);
  for (const one of unkeyed)
    if (!ofTable.has(one.attribute) && own(expected, one.attribute)) draft.findings.push(unkeyedFinding(seen, one));
  const mend = (attribute: string): void => {
    const value = own(expected, attribute);
    if (value) draft.set[attribute] = value;
    else draft.remove.push(attribute);
  };
  // Both halves of an index entry are one finding.
  const find = (finding: Finding): void => {
    const isTold = draft.findings.some(
      ({ kind, attribute: told }) =>
        kind === "indexKey" &&
        finding.kind === kind &&
        catalog.indexes.some(
          (index) => keyAttributes(index).includes(told ?? "") && keyAttributes(index).includes(finding.attribute ?? ""),
        ),
    );
    if (!isTold) draft.findings.push(finding);
  };
  for (const attribute in shape.keys) {
    const [stored, wanted] = [item[attribute], expected[attribute]];
    if (stored === undefined && wanted === undefined) continue;
    if (stored && wanted && (keyTextOf(stored) === keyTextOf(wanted) || sameAttribute(stored, wanted))) continue;
    if (ofTable.has(attribute)) {
      if (wanted) draft.findings.push(computedFinding(seen, "storedKey", attribute, wanted));
      continue;
    }
    const place = stored && wanted ? placing(seen, shape.keys[attribute]!, stored) : "elsewhere";
    if (place === "oldShard") continue;
    find(computedFinding(seen, place === "wrongShard" ? place : ofIndexes.has(attribute) ? "indexKey" : "repetition", attribute, wanted));
    mend(attribute);
  }
  for (const attribute of unfilledKeys(catalog, shape)) {
    if (!Object.hasOwn(item, attribute)) continue;
    find(computedFinding(seen, "indexKey", attribute, undefined));
    mend(attribute);
  }
  const { typeAttribute } = catalog;
  const wanted = typeAttribute === undefined ? undefined : own(expected, typeAttribute);
  if (typeAttribute === undefined || !wanted) return;
  if (Object.hasOwn(item, typeAttribute)) {
    // Reads go by the key where the type is no text.
    if (typeIn(catalog, item) !== undefined) return;
    draft.findings.push(computedFinding(seen, "drift", typeAttribute, wanted));
    return mend(typeAttribute);
  }
  // Items of an adopted table may lack it: then their keys tell the type.
  if (!catalog.escapes) return;
  draft.findings.push(computedFinding(seen, "typeAttribute", typeAttribute, expected[typeAttribute]));
  mend(typeAttribute);
};

/** The renamed and retyped attributes of which all items have been converted: see {@link convertedField}. */
export type Converted = ReadonlySet<string>;

export const convertedField = (shape: Shape, field: string): string => `${shape.id} ${field}`;

const checkForms = ({ shape, item, row, key }: SeenRow, converted: Converted, draft: Draft): void => {
  for (const field in shape.former) {
    if (!converted.has(convertedField(shape, field))) continue;
    try {
      const held = otherForm(shape, item, row, field);
      if (!held) continue;
      const { place, other, stored, wanted, elsewhere } = held;
      const isNamed = elsewhere !== undefined && other !== undefined;
      const attribute = isNamed ? other : place;
      const reason = isNamed
        ? `Since the conversion, items hold it as "${place}": a program with another model wrote this item.`
        : "Since the conversion, items hold it with another type: a program with another model wrote this item.";
      const found = shown(isNamed ? elsewhere : stored);
      draft.findings.push({
        kind: "otherForm",
        key,
        definition: shape.definition,
        attribute,
        stored: found,
        expected: shown(wanted),
        reason,
      });
      draft.set[place] = wanted;
      if (isNamed) draft.remove.push(other);
    } catch (error) {
      // A value that the new form does not take: its schema refuses it, or reads convert it.
      if (!isEdgetableError(error)) throw error;
    }
  }
};

/** Compares a row's own item with what the model computes for the row. Pure, and without garbage where nothing is wrong. */
export const checkRow = (catalog: Catalog, seen: SeenRow, converted?: Converted): RowCheck => {
  const { shape, item, row, key } = seen;
  const draft: Draft = { findings: [], set: {}, remove: [] };
  checkComputed(catalog, seen, draft);
  if (converted && shape.former) checkForms(seen, converted, draft);
  for (const { field, value, copy } of driftedFields(catalog, shape, item, row)) {
    const attribute = shape.stored[field] ?? field;
    draft.findings.push({
      kind: "drift",
      key,
      definition: shape.definition,
      attribute,
      stored: copy,
      expected: value,
      reason: REASONS.drift,
    });
    // A copy may be stored in the key's own notation ("0007" for 7), which it keeps.
    const isNotation = typeof copy === "string" && typeof value !== "string" && !(value instanceof Date);
    const source = isNotation && shape.sources.find(({ template }) => template.carried.includes(field));
    draft.set[attribute] = source ? encodeValue(encodeKeyField(source.template, field, value), field) : encodeField(shape, field, value);
  }
  return draft;
};

const putOf = ({ subject, shape, row: stored }: SeenRow): LogicalWrite | undefined => {
  const guards = {};
  // What follows from other rows, and the times that are kept, are no part of the schema.
  const { definition } = subject.entry;
  const computed = [...derivedNames(definition), ...timeNames(definition)];
  const row = computed.length === 0 ? stored : Object.fromEntries(Object.entries(stored).filter(([field]) => !computed.includes(field)));
  if (subject.kind !== "edge") return { kind: "put", of: subject.kind, name: subject.entry.name, row, guards };
  // A copy that holds only some attributes cannot fit the schema of all.
  if (shape.copied) return undefined;
  const { entry, from, to } = subject;
  return { kind: "putEdge", edge: entry.name, from, to, row: withoutEnds(row), reverse: {} } as LogicalWrite;
};

const invalidFinding = (seen: SeenRow, error: unknown): Finding => {
  if (!isEdgetableError(error)) throw error;
  const issues = error.details["issues"] as readonly { readonly path: string }[] | undefined;
  const attribute = issues?.[0]?.path;
  return {
    kind: "invalid",
    key: seen.key,
    definition: seen.shape.definition,
    attribute: attribute === "" ? undefined : attribute,
    stored: attribute === undefined ? undefined : valueAt(seen.row, attribute),
    reason: error.message,
  };
};

/** A Date or expiry time that another program wrote in a form that cannot be read. */
const untimedFinding = ({ row, key, shape, item, subject }: SeenRow): Finding | undefined => {
  const times = shape.ttl === undefined ? shape.dates : [...shape.dates, shape.ttl];
  for (const field of times) {
    const value = own(row, field);
    // What follows from other rows is compared with these.
    if ((value ?? null) === null || derivedNames(subject.entry.definition).includes(field)) continue;
    try {
      encodeField(shape, field, value);
    } catch (error) {
      if (!isEdgetableError(error)) throw error;
      const attribute = shape.stored[field] ?? field;
      const stored = shown(own(item, attribute));
      return { kind: "invalid", key, definition: shape.definition, attribute, stored, reason: error.message };
    }
  }
  return undefined;
};

/** A derived value for which a row is left out of an index that is not sparse. */
const leftOutFinding = (catalog: Catalog, { row, key, shape, item }: SeenRow): Finding | undefined => {
  for (const attribute in shape.keys) {
    if (attribute in item || shape.sparse.includes(attribute)) continue;
    const error = whyLeftOut(catalog, shape, attribute, row);
    if (!error) continue;
    const { field } = error.details;
    const reason = `The row is left out of the index: ${error.message}`;
    return { kind: "invalid", key, definition: shape.definition, attribute: typeof field === "string" ? field : attribute, reason };
  }
  return undefined;
};

/** A unique value that the schema takes and no marker can hold, such as a text of 3,000 characters. */
const unmarkedFinding = (catalog: Catalog, { subject, row, key, shape }: SeenRow): Finding | undefined => {
  if (subject.kind !== "node") return undefined;
  for (const attribute of subject.entry.definition.unique ?? []) {
    const error = unfitForMarker(catalog, { node: subject.entry.name, field: attribute }, row);
    if (error) return { kind: "invalid", key, definition: shape.definition, attribute, stored: own(row, attribute), reason: error.message };
  }
  return undefined;
};

/** Asks a row's schema; a promise only if the schema is asynchronous. */
export const validateSeen = (catalog: Catalog, seen: SeenRow): Maybe<Finding | undefined> => {
  const unfit = untimedFinding(seen) ?? leftOutFinding(catalog, seen);
  const put = unfit ? undefined : putOf(seen);
  if (!put) return unfit;
  try {
    const valid = validateWrite(catalog, put);
    if (!(valid instanceof Promise)) return unmarkedFinding(catalog, seen);
    return valid.then(
      () => unmarkedFinding(catalog, seen),
      (error: unknown) => invalidFinding(seen, error),
    );
  } catch (error) {
    return invalidFinding(seen, error);
  }
};
