import {
  exactText,
  inKeysCase,
  type OneWayText,
  type Template,
  leadOf,
  renderTemplate,
  sameValue,
  templatesOverlap,
} from "../keys/template.ts";
import type { AnyEdge, AnyNode, AnyPart, End, GraphDefinition } from "./definition.ts";
import type { Retyping, StoredForm } from "./former.ts";
import type { Facts } from "./facts.ts";
import type { IndexLayout, IndexProjection, Layout } from "./layout.ts";
import type { TimeAttributes } from "./timestamps.ts";
import { attributeNames } from "./standard-schema.ts";
import { type Row, valueAt } from "../util/row.ts";

/** The table itself (`name` undefined) or one of its indexes, in which a shape's items can be queried. */
export interface Index {
  readonly name: string | undefined;
  /** The first attribute of the partition key and of the sort key. An index may have keys of several attributes. */
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
  /** All attributes of either key. */
  readonly partitionKeys: readonly string[];
  readonly sortKeys: readonly string[];
  readonly projection: IndexProjection;
}

/** The names of a table's or an index's key attributes, as a layout or a description gives them. */
export type KeyNames = Partial<Pick<Index, "partitionKeys" | "sortKeys">> & {
  readonly partitionKey: string | readonly string[];
  readonly sortKey?: string | readonly string[] | undefined;
};

/** One name or several, as a list. */
export const nameList = (names: string | readonly string[] = []): readonly string[] => (typeof names === "string" ? [names] : names);

/** The key attributes of a table or an index: those of its partition key, then those of its sort key if it has one. */
export const keyAttributes = ({
  partitionKey,
  sortKey,
  partitionKeys = nameList(partitionKey),
  sortKeys = nameList(sortKey),
}: KeyNames): readonly string[] => [...partitionKeys, ...sortKeys];

/** True if an attribute is a key attribute of the table itself. */
export const isTableKey = ({ index }: Pick<Catalog, "index">, attribute: string): boolean =>
  attribute === index.partitionKey || attribute === index.sortKey;

/** An index with its settings filled in. */
export const indexNamed = <Name extends string | undefined>(
  name: Name,
  { partitionKey, sortKey, projection = "ALL" }: IndexLayout,
): Index & { readonly name: Name } => {
  const [partitionKeys, sortKeys] = [nameList(partitionKey), nameList(sortKey)];
  return { name, partitionKey: partitionKeys[0] ?? "", sortKey: sortKeys[0], partitionKeys, sortKeys, projection };
};

/** The table itself. Without a sort key, every item has its own partition. */
export interface TableIndex extends Index {
  readonly name: undefined;
}

/** A computed attribute that fields of a row are read from. */
export interface KeySource {
  readonly attribute: string;
  readonly template: Template;
}

/** An attribute that items of an older model contain under another name, or with values of another type. */
export interface FormerField {
  /** The attributes that contain the two forms; the same if only the type changes. If an item has both, the old form is the newer value. */
  readonly old: string;
  readonly now: string;
  readonly stored: StoredForm;
  readonly retyping: Retyping | undefined;
}

/** The condition on an attribute in the items of a kind: one of `values`, `beginsWith` and `exists`. */
export interface KindMatch {
  readonly field: string;
  readonly attribute: string;
  readonly values?: readonly unknown[];
  readonly beginsWith?: string;
  readonly exists?: boolean;
}

/** A field of index keys that is filled from the first source whose fields a row has. */
export interface Fill {
  readonly field: string;
  readonly sources: readonly { readonly with: string | undefined; readonly template: Template }[];
}

/**
 * One kind of item, fully resolved: a node type, a part, or an edge type between two node types in one place. All code that makes,
 * finds or reads items uses only shapes from the model, so that reader and writer cannot disagree.
 *
 * Rows are plain objects: a node's attributes; a part's attributes with its owner's id fields; an edge's attributes with `from` and
 * `to`. Template fields are paths into the row (`to.courseId`).
 */
export interface Shape {
  /** Unique, such as `student`, `enrolledIn`, `likes(person>post)`, `billed:mirror`. */
  readonly id: string;
  readonly kind: "node" | "edge" | "part";
  /** The name of the node, edge or part in the model. */
  readonly definition: string;
  /** The copy of an edge; `reference` is an edge inside its source's item. */
  readonly role: "own" | "mirror" | "reference";
  /** What an edge's ends are (node types, or parts); `from` of a part is its owner. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** True if the edge's ends may be of several node types, so that rows contain the type. */
  readonly several: boolean;
  readonly typeValue: string | undefined;
  /** Further conditions that an item of the kind satisfies. */
  readonly match: readonly KindMatch[];
  readonly fills: readonly Fill[];
  /** Every computed attribute, the table's own keys first. */
  readonly keys: Readonly<Record<string, Template>>;
  readonly sparse: readonly string[];
  /** Fields of sparse keys that every row has, because the schema requires them. */
  readonly required: readonly string[];
  /** True if one key of an index may be written without the other. */
  readonly halves: boolean;
  /** The stored attribute by row field, for those with different names; `fields` is the inverse. */
  readonly stored: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** The older forms that items may contain, by field; undefined if there are none. */
  readonly former: Readonly<Record<string, FormerField>> | undefined;
  /** Fields that are read from computed attributes and are not stored as attributes. */
  readonly carried: readonly string[];
  readonly sources: readonly KeySource[];
  /** Further keys that a field can be read from if an item, or an index that projects a part, lacks its source. */
  readonly spares: readonly KeySource[];
  readonly dates: readonly string[];
  /** The edge's attributes in this copy, for a copy without all of them and for `reference`; undefined for all. */
  readonly copied: readonly string[] | undefined;
  /** For `reference`: the source node's attribute for each field path of the edge. */
  readonly alias: Readonly<Record<string, string>> | undefined;
  readonly version: boolean;
  /** The times that rows keep. */
  readonly times: TimeAttributes | undefined;
  /** The field with the item's expiry time. */
  readonly ttl: string | undefined;
  /** Id fields of an edge's ends that the table's keys do not carry: another edge may have the same key. */
  readonly unkeyed: readonly string[];
  /** Fields that the table's keys contain only in lower or upper case: values that differ only in case lead to the same item. */
  readonly folded: Readonly<Record<string, OneWayText>>;
  /** Assumed bytes of one item, for predictions. */
  readonly bytes: number;
}

export interface NodeEntry {
  readonly name: string;
  readonly definition: AnyNode;
  readonly shape: Shape;
  /** Field names of the id, in the key's order. */
  readonly idFields: readonly string[];
  /** The key of the partition with the edges that leave it. */
  readonly partition: Template;
}

/**
 * A possible end of edges: a node type, or a part that the model names at an end. A part's id consists of the fields of its node's
 * id and its own. Its item is in its node's partition, and its edges are in a separate one.
 */
export interface EndEntry extends Omit<NodeEntry, "definition"> {
  /** Parts lack the settings that only nodes have. */
  readonly definition: AnyNode | (AnyPart & Partial<Record<"unique" | "derived" | "stored" | "mirror" | "fields", undefined>>);
}

export interface PartEntry {
  readonly name: string;
  readonly definition: AnyPart;
  readonly shape: Shape;
  /** Field names of the part's id within its owner. */
  readonly idFields: readonly string[];
}

export interface EdgeEntry {
  readonly name: string;
  readonly definition: AnyEdge;
  /** What is at each end: names of `ends`. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The copies in sources' partitions or items, one for each pair of node types. */
  readonly shapes: readonly Shape[];
  /** For an edge stored twice: the copies in targets' partitions. */
  readonly mirrors: readonly Shape[];
  /** The attribute to order by, without its format. */
  readonly orderBy: string | undefined;
  readonly key: readonly string[];
}

/** A model with its layout resolved. Planner, executor and tools share this description. */
export interface Catalog {
  readonly table: string;
  readonly index: TableIndex;
  readonly indexes: readonly Index[];
  readonly typeAttribute: string | undefined;
  /** The type of that attribute: a text, or a set that holds the one text. */
  readonly typeForm: "S" | "SS";
  /** The attribute by which DynamoDB removes expired items (TTL). */
  readonly ttl: string | undefined;
  readonly layout: Layout;
  /** True for Edgetable's own layout, whose keys are escaped; false for an adopted one. */
  readonly escapes: boolean;
  readonly nodes: Readonly<Record<string, NodeEntry>>;
  readonly edges: Readonly<Record<string, EdgeEntry>>;
  readonly parts: Readonly<Record<string, PartEntry>>;
  /** All possible ends of edges, by name: the node types, and the parts at ends of edges. */
  readonly ends: Readonly<Record<string, EndEntry>>;
  /** All shapes with items. */
  readonly shapes: readonly Shape[];
  /** All shapes by id, including reference edges. */
  readonly shapesById: Readonly<Record<string, Shape>>;
  /** The derived facts of the model: copies and aggregates. */
  readonly facts: Facts;
  readonly definition: GraphDefinition;
  /** The id fields that a connection of one tenant fixes, and their values; undefined for the whole table. */
  readonly tenant?: Row | undefined;
}

/** The definition behind a shape. */
export const definitionOf = (
  { nodes, edges, parts }: Catalog,
  { kind, definition }: Pick<Shape, "kind" | "definition">,
): AnyNode | AnyEdge | AnyPart | undefined => ({ node: nodes, edge: edges, part: parts })[kind][definition]?.definition;

/** The key attributes of the table, and of an index if one is given. */
export const tableAndIndexKeys = ({ index: table }: Catalog, index: Index | undefined): readonly string[] =>
  index ? [...keyAttributes(table), ...keyAttributes(index)] : keyAttributes(table);

/** The attributes of an item that an index contains; undefined for all. */
export const projectedAttributes = (catalog: Catalog, index: Index): ReadonlySet<string> | undefined => {
  const { projection } = index;
  if (projection === "ALL") return undefined;
  return new Set([...tableAndIndexKeys(catalog, index), ...(projection === "KEYS_ONLY" ? [] : projection)]);
};

const BOTH: readonly End[] = ["from", "to"];

const idFields = (catalog: Catalog, type: string | undefined): readonly string[] => catalog.ends[type ?? ""]?.idFields ?? [];

/** The paths of an edge's row to the id of one of its ends: `to.courseId`. */
export const endPaths = (catalog: Catalog, shape: Shape, end: End): readonly string[] =>
  idFields(catalog, shape[end]).map((field) => `${end}.${field}`);

/**
 * The paths of a row that identify it among its kind.
 *
 * @param ends the ends of an edge that identify it
 */
export const idPaths = (catalog: Catalog, shape: Shape, ends: readonly End[] = BOTH): readonly string[] => {
  if (shape.kind === "node") return idFields(catalog, shape.definition);
  if (shape.kind === "part") return [...idFields(catalog, shape.from), ...(catalog.parts[shape.definition]?.idFields ?? [])];
  return [...ends.flatMap((end) => endPaths(catalog, shape, end)), ...(catalog.edges[shape.definition]?.key ?? [])];
};

/** The key attributes of an index that a shape computes, at least two: an item is in the index only with all of them. */
export type IndexEntry = readonly string[];

const knownEntries = new WeakMap<Shape, { readonly catalog: Catalog; readonly entries: readonly IndexEntry[] }>();

/** The index entries of a shape that consist of several computed attributes. The table's keys are always present and do not count. */
export const indexEntries = (catalog: Catalog, shape: Shape): readonly IndexEntry[] => {
  if (shape.halves) return [];
  const found = knownEntries.get(shape);
  if (found?.catalog === catalog) return found.entries;
  const tableKeys = keyAttributes(catalog.index);
  const entries: IndexEntry[] = [];
  for (const index of catalog.indexes) {
    const entry = keyAttributes(index).filter((attribute) => !tableKeys.includes(attribute));
    if (entry.length > 1 && entry.every((attribute) => attribute in shape.keys)) entries.push(entry);
  }
  knownEntries.set(shape, { catalog, entries });
  return entries;
};

/**
 * True if an attribute is part of an incomplete index entry in every index that it is a key of. False for an attribute that is the
 * only one to contain a field of the row, because the field would be lost. Also false if an adopted layout declares only the
 * missing part sparse, because such items have this attribute alone.
 */
export const isHalfEntry = (catalog: Catalog, shape: Shape, attribute: string, isMissing: (other: string) => boolean): boolean => {
  if (shape.sources.some((source) => source.attribute === attribute)) return false;
  const mayStandAlone = !catalog.escapes && !shape.sparse.includes(attribute);
  let isHalf = false;
  for (const entry of indexEntries(catalog, shape)) {
    if (!entry.includes(attribute)) continue;
    const breaks = (other: string): boolean => other !== attribute && isMissing(other) && !(mayStandAlone && shape.sparse.includes(other));
    if (!entry.some(breaks)) return false;
    isHalf = true;
  }
  return isHalf;
};

/** A name for one computed attribute of a shape. */
export const keyName = ({ id }: Shape, attribute: string): string => `${id} ${attribute}`;

/**
 * One text for one id of a node, or of a part in its node: ids that differ only in case, and that the table's key contains in one
 * case, have the same text.
 */
export const idText = ({ idFields, shape: { folded } }: Pick<PartEntry, "idFields" | "shape">, row: Row): string =>
  exactText(idFields.map((field) => inKeysCase(folded[field], row[field])));

/** True if a field can be read from the computed attribute. */
export const carries =
  (field: string) =>
  ({ template }: KeySource): boolean =>
    template.carried.includes(field);

/** True if every item whose row has the fields of a source also has the source. A sparse source is missing if one of its fields is. */
export const holdsAlways = ({ sparse }: Pick<Shape, "sparse">, { attribute, template }: KeySource): boolean =>
  !sparse.includes(attribute) || template.fields.length === 1;

/** The computed attributes from which a field is read: from the first one that an item has. */
export const sourcesOf = (shape: Pick<Shape, "sources" | "spares" | "sparse">, field: string): readonly KeySource[] => {
  const all = [...shape.sources, ...shape.spares].filter(carries(field));
  return all[0] && holdsAlways(shape, all[0]) ? [all[0]] : all;
};

/**
 * True if the items of a range must be identified by type and keys. In Edgetable's own layout, the key of an end suffices, unless
 * the range contains other items. An adopted table may contain items that the model does not know.
 */
export const needsIdentity = (catalog: Catalog, range: { readonly discards: boolean }): boolean => range.discards || !catalog.escapes;

/** The fields of a source node that contain the target's id of a reference edge; empty for other edges. */
export const targetFields = ({ alias }: Shape): readonly string[] =>
  Object.entries(alias ?? {}).flatMap(([path, field]) => (path.startsWith("to.") ? [field] : []));

/** The fields of a part's row that belong to its owner's id and not to its own schema. */
export const ownerFields = (catalog: Catalog, part: string): readonly string[] => {
  const entry = catalog.parts[part];
  const own = entry && attributeNames(entry.definition.schema);
  return (catalog.nodes[entry?.definition.of ?? ""]?.idFields ?? []).filter((field) => !own?.includes(field));
};

/** A fact that distinguishes the items of a shape from others that may have the same key. */
export type KindMark =
  /** The type attribute has this value, or is missing. */
  | { readonly kind: "type"; readonly attribute: string; readonly value: string }
  /** A computed attribute begins with a text that no rival's begins with. */
  | { readonly kind: "lead"; readonly attribute: string; readonly text: string }
  /** The attributes of the shape's `match` hold what it says. */
  | { readonly kind: "match" };

/** True if the type attribute distinguishes the items of two shapes. */
export const typesDiffer = ({ typeAttribute }: Catalog, { typeValue: a }: Shape, { typeValue: b }: Shape): boolean =>
  typeAttribute !== undefined && a !== undefined && b !== undefined && a !== b;

/** True if no item can have both shapes, because their `match` conditions on one attribute contradict each other. */
export const matchesDiffer = ({ match }: Shape, other: Shape): boolean =>
  match.some((a) =>
    other.match.some((b) => {
      if (a.attribute !== b.attribute) return false;
      if (a.exists === false || b.exists === false) return a.exists !== b.exists;
      if (a.exists || b.exists) return false;
      if (a.values && b.values) return !a.values.some((one) => b.values?.some((another) => sameValue(one, another)));
      const [{ values }, beginning] = a.values ? [a, b.beginsWith] : [b, a.beginsWith];
      if (values) return values.every((value) => typeof value !== "string" || !value.startsWith(beginning ?? ""));
      return !a.beginsWith?.startsWith(b.beginsWith ?? "") && !b.beginsWith?.startsWith(a.beginsWith ?? "");
    }),
  );

const findMarks = (catalog: Catalog, shape: Shape): readonly KindMark[] => {
  const { typeAttribute, index } = catalog;
  const tableKeys = keyAttributes(index);
  const sharesKeys = (other: Shape): boolean =>
    tableKeys.every((attribute) => {
      const [mine, theirs] = [shape.keys[attribute], other.keys[attribute]];
      return mine !== undefined && theirs !== undefined && templatesOverlap(mine, theirs);
    });
  const rivals = catalog.shapes.filter((other) => other.id !== shape.id && sharesKeys(other));
  const marks: KindMark[] = [];
  let rest = rivals.filter((rival) => !typesDiffer(catalog, shape, rival));
  if (rest.length < rivals.length && typeAttribute !== undefined && shape.typeValue !== undefined)
    marks.push({ kind: "type", attribute: typeAttribute, value: shape.typeValue });
  const unmatched = rest.filter((rival) => !matchesDiffer(shape, rival));
  if (unmatched.length < rest.length) marks.push({ kind: "match" });
  rest = unmatched;
  if (rest.length === 0) return marks;
  for (const [attribute, template] of Object.entries(shape.keys)) {
    if (tableKeys.includes(attribute) || shape.sparse.includes(attribute) || template.type !== "S") continue;
    const text = leadOf(template);
    const isOwn = rest.every((rival) => {
      const theirs = rival.keys[attribute];
      return theirs !== undefined && !text.startsWith(leadOf(theirs)) && !leadOf(theirs).startsWith(text);
    });
    if (isOwn) return [...marks, { kind: "lead", attribute, text }];
  }
  return [];
};

const known = new WeakMap<Shape, { readonly catalog: Catalog; readonly marks: readonly KindMark[] }>();
const NO_MARKS: readonly KindMark[] = [];

/**
 * The facts that, in addition to its key, identify an item of the shape. Empty if no other kind can have that key, or if the facts
 * do not distinguish all of these kinds.
 */
export const kindMarks = (catalog: Catalog, shape: Shape): readonly KindMark[] => {
  if (catalog.layout.sharedIds !== true && shape.match.length === 0) return NO_MARKS;
  let found = known.get(shape);
  if (found?.catalog !== catalog) known.set(shape, (found = { catalog, marks: findMarks(catalog, shape) }));
  return found.marks;
};

/** The attribute that may contain a field in the form that the model does not write; undefined if there is none. */
export const otherPlace = ({ former }: Shape, field: string): string | undefined => {
  const { old, now, stored } = (former?.[field] ?? {}) as Partial<FormerField>;
  return old === now ? undefined : stored === "old" ? now : old;
};

/** A row with the fields that its layout fills from other fields. Existing values are replaced. */
export const filledRow = (fills: readonly Fill[], row: Row): Row => {
  if (fills.length === 0) return row;
  const filled: Record<string, unknown> = { ...row };
  for (const { field, sources } of fills) {
    let text: string | undefined;
    for (const source of sources) {
      if (source.with !== undefined && (valueAt(row, source.with) ?? null) === null) continue;
      text = renderTemplate(source.template, row);
      if (text !== undefined) break;
    }
    if (text === undefined) delete filled[field];
    else filled[field] = text;
  }
  return filled;
};

/** The shapes whose items a search for a kind finds. For an edge stored twice, only the source's copy. */
export const kindShapes = (
  catalog: Catalog,
  { of, name }: { readonly of: "node" | "edge" | "part"; readonly name: string },
): readonly Shape[] => {
  if (of === "edge") return catalog.edges[name]?.shapes ?? [];
  const entry = of === "node" ? catalog.nodes[name] : catalog.parts[name];
  return entry ? [entry.shape] : [];
};

/** True if a model declares derived facts. */
export const hasFacts = ({ facts: { aggregates, summaries, copies } }: Catalog): boolean =>
  aggregates.length + summaries.length + copies.length > 0;
