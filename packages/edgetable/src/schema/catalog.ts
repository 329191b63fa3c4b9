import { type Template, leadOf, templatesOverlap } from "../keys/template.ts";
import type { GraphDefinition, AnyEdge, AnyNode, AnyPart } from "./definition.ts";
import type { IndexProjection, Layout } from "./layout.ts";
import { attributeNames } from "./standard-schema.ts";

/** Where a shape's items can be queried: the table itself (`name` undefined) or one of its indexes. */
export interface Index {
  readonly name: string | undefined;
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
  readonly projection: IndexProjection;
}

/** The attributes of a table's or an index's key: its partition key, and its sort key where it has one. */
export const keyAttributes = ({
  partitionKey,
  sortKey,
}: {
  readonly partitionKey: string;
  readonly sortKey?: string | undefined;
}): readonly string[] => (sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]);

/** The table itself as such a place. Without a sort key every item has a partition of its own. */
export interface TableIndex extends Index {
  readonly name: undefined;
}

/** A computed attribute that has to be read to give a row's carried fields back. */
export interface KeySource {
  readonly attribute: string;
  readonly template: Template;
}

/**
 * One kind of item, fully resolved: a node type, a part, or an edge type between two node types as it
 * is written in one place. Everything that makes, finds or reads items looks at shapes and at nothing
 * else of the model, so that reader and writer cannot disagree.
 *
 * Rows are plain objects: a node's attributes; a part's attributes with its owner's id fields; an
 * edge's attributes with `from` and `to`. Template fields are paths into the row (`to.courseId`).
 */
export interface Shape {
  /** Unique, such as `student`, `enrolledIn`, `likes(person>post)`, `billed:mirror`. */
  readonly id: string;
  readonly kind: "node" | "edge" | "part";
  /** The name of the node, edge or part in the model. */
  readonly definition: string;
  /** For an edge, which copy this is; `reference` is an edge that lives inside its source's own item. */
  readonly role: "own" | "mirror" | "reference";
  /** Node types of an edge's ends; `from` of a part is its owner. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether the edge's ends may be of several node types, so that rows say which. */
  readonly several: boolean;
  readonly typeValue: string | undefined;
  /** Every computed attribute, the table's own keys first. */
  readonly keys: Readonly<Record<string, Template>>;
  readonly sparse: readonly string[];
  /** Row field to stored attribute, where they differ, and back. */
  readonly stored: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that are read back from computed attributes and have no attribute of their own. */
  readonly carried: readonly string[];
  readonly sources: readonly KeySource[];
  /** Keys of indexes that hold a part of their items, by which a field can be read where its source is not held. */
  readonly spares: readonly KeySource[];
  readonly dates: readonly string[];
  /** For a copy that does not hold all of an edge's attributes, and for `reference`: the edge's attributes in it. */
  readonly copied: readonly string[] | undefined;
  /** For `reference`: the source node's attribute for each field path of the edge. */
  readonly alias: Readonly<Record<string, string>> | undefined;
  readonly version: boolean;
  /** The field that holds when an item expires. */
  readonly ttl: string | undefined;
  /** Id fields of an edge's ends that the table's keys do not carry: another edge may lie under the same key. */
  readonly unkeyed: readonly string[];
  /** Assumed bytes of one item, for predictions. */
  readonly bytes: number;
}

export interface NodeEntry {
  readonly name: string;
  readonly definition: AnyNode;
  readonly shape: Shape;
  /** Field names of the id, in the key's order. */
  readonly idFields: readonly string[];
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
  /** Node types at each end. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The copies in sources' partitions (or inside sources' items), one for each pair of node types. */
  readonly shapes: readonly Shape[];
  /** For an edge stored twice: the copies in targets' partitions. */
  readonly mirrors: readonly Shape[];
  /** The attribute to order by, without its format. */
  readonly orderBy: string | undefined;
  readonly key: readonly string[];
}

/** A model with its layout resolved: the one description that planner, executor and tools share. */
export interface Catalog {
  readonly table: string;
  readonly index: TableIndex;
  readonly indexes: readonly Index[];
  readonly typeAttribute: string | undefined;
  /** The attribute by which DynamoDB removes expired items (TTL). */
  readonly ttl: string | undefined;
  readonly layout: Layout;
  /** True for Edgetable's own layout, whose keys are escaped; false for an adopted one. */
  readonly escapes: boolean;
  readonly nodes: Readonly<Record<string, NodeEntry>>;
  readonly edges: Readonly<Record<string, EdgeEntry>>;
  readonly parts: Readonly<Record<string, PartEntry>>;
  /** Every shape that has items of its own. */
  readonly shapes: readonly Shape[];
  /** Every shape by its id, reference edges included. */
  readonly shapesById: Readonly<Record<string, Shape>>;
  readonly definition: GraphDefinition;
}

/** The definition behind a shape. */
export const definitionOf = ({ nodes, edges, parts }: Catalog, { kind, definition }: Shape): AnyNode | AnyEdge | AnyPart | undefined =>
  ({ node: nodes, edge: edges, part: parts })[kind][definition]?.definition;

/** The key attributes of the table, and of the index beside it where one is read. */
export const tableAndIndexKeys = ({ index: table }: Catalog, index: Index | undefined): readonly string[] =>
  [table.partitionKey, table.sortKey, index?.partitionKey, index?.sortKey].filter((name) => name !== undefined);

/** The attributes of an item that an index holds; undefined: all. */
export const projectedAttributes = (catalog: Catalog, index: Index): ReadonlySet<string> | undefined => {
  const { projection } = index;
  if (projection === "ALL") return undefined;
  return new Set([...tableAndIndexKeys(catalog, index), ...(projection === "KEYS_ONLY" ? [] : projection)]);
};

type End = "from" | "to";

const BOTH: readonly End[] = ["from", "to"];

const idFields = (catalog: Catalog, type: string | undefined): readonly string[] => catalog.nodes[type ?? ""]?.idFields ?? [];

/** The paths of an edge's row to the id of one of its ends: `to.courseId`. */
export const endPaths = (catalog: Catalog, shape: Shape, end: End): readonly string[] =>
  idFields(catalog, shape[end]).map((field) => `${end}.${field}`);

/**
 * The paths of a row that tell it from others of its kind.
 *
 * @param ends of an edge, the ends that do
 */
export const idPaths = (catalog: Catalog, shape: Shape, ends: readonly End[] = BOTH): readonly string[] => {
  if (shape.kind === "node") return idFields(catalog, shape.definition);
  if (shape.kind === "part") return [...idFields(catalog, shape.from), ...(catalog.parts[shape.definition]?.idFields ?? [])];
  return [...ends.flatMap((end) => endPaths(catalog, shape, end)), ...(catalog.edges[shape.definition]?.key ?? [])];
};

/** The key attributes of one index of which a shape computes more than one: the item is in the index with both, and in no other case. */
export type IndexEntry = readonly [string, string];

const known = new WeakMap<Shape, { readonly catalog: Catalog; readonly entries: readonly IndexEntry[] }>();

/** The index entries of a shape that two computed attributes make; the table's own keys always stand and need no care. */
export const indexEntries = (catalog: Catalog, shape: Shape): readonly IndexEntry[] => {
  const found = known.get(shape);
  if (found?.catalog === catalog) return found.entries;
  const isPart = (attribute: string | undefined): attribute is string =>
    attribute !== undefined && attribute !== catalog.index.partitionKey && attribute !== catalog.index.sortKey && attribute in shape.keys;
  const entries = catalog.indexes.flatMap(({ partitionKey, sortKey }): readonly IndexEntry[] =>
    isPart(partitionKey) && isPart(sortKey) ? [[partitionKey, sortKey]] : [],
  );
  known.set(shape, { catalog, entries });
  return entries;
};

/**
 * Whether an attribute would be one half of an entry whose other half is missing, in every index that it is a key of.
 * An attribute that alone carries a field of the row stays: without it the field would be lost. So does one of an adopted
 * layout that declares only the other half sparse: the table has such items, and they keep it.
 */
export const isHalfEntry = (catalog: Catalog, shape: Shape, attribute: string, isMissing: (other: string) => boolean): boolean => {
  const own = indexEntries(catalog, shape).filter((entry) => entry.includes(attribute));
  const standsAlone = (other: string): boolean => !catalog.escapes && shape.sparse.includes(other) && !shape.sparse.includes(attribute);
  const lacksOther = ([one, two]: IndexEntry): boolean => {
    const other = one === attribute ? two : one;
    return isMissing(other) && !standsAlone(other);
  };
  return own.length > 0 && own.every(lacksOther) && !shape.sources.some((source) => source.attribute === attribute);
};

/**
 * The computed attributes from which alone the id of an edge's end can be read, or undefined where
 * that takes more of the item.
 */
export const endSources = (catalog: Catalog, shape: Shape, end: "from" | "to"): readonly KeySource[] | undefined => {
  if (shape.role === "reference") return undefined;
  const fields = endPaths(catalog, shape, end);
  const one = shape.sources.find(({ template }) => fields.every((field) => template.fields.includes(field)));
  if (one) return [one];
  const all = shape.sources.filter(({ template }) => fields.some((field) => template.fields.includes(field)));
  return fields.every((field) => all.some(({ template }) => template.fields.includes(field))) ? all : undefined;
};

/**
 * Whether the items of a range must each be told apart by type and keys. In Edgetable's own layout an
 * end's key says it all, unless other items lie in the range; in an adopted table there may be items
 * that the model does not know.
 */
export const needsIdentity = (catalog: Catalog, range: { readonly discards: boolean }): boolean => range.discards || !catalog.escapes;

/** Of an edge that lies in its source's own item, the fields of that node that say where it leads; of others none. */
export const targetFields = ({ alias }: Shape): readonly string[] =>
  Object.entries(alias ?? {}).flatMap(([path, field]) => (path.startsWith("to.") ? [field] : []));

/** Fields of a part's row that are its owner's id, and none of its own schema's. */
export const ownerFields = (catalog: Catalog, part: string): readonly string[] => {
  const entry = catalog.parts[part];
  const own = entry && attributeNames(entry.definition.schema);
  return (catalog.nodes[entry?.definition.of ?? ""]?.idFields ?? []).filter((field) => !own?.includes(field));
};

/** What tells the items of a shape from others that may lie under the same key. */
export type KindMark =
  /** The type attribute has this value, or is not there. */
  | { readonly kind: "type"; readonly attribute: string; readonly value: string }
  /** A computed attribute begins with what no rival's does. */
  | { readonly kind: "lead"; readonly attribute: string; readonly text: string };

/** The shapes whose items may have the table key of an item of this one: only where ids are shared does a model allow any. */
const rivalsOf = (catalog: Catalog, shape: Shape): readonly Shape[] =>
  catalog.shapes.filter(
    (other) =>
      other.id !== shape.id &&
      keyAttributes(catalog.index).every((attribute) => {
        const [mine, theirs] = [shape.keys[attribute], other.keys[attribute]];
        return mine !== undefined && theirs !== undefined && templatesOverlap(mine, theirs);
      }),
  );

const apart = (mine: Template, theirs: Template | undefined): boolean => {
  const [a, b] = [leadOf(mine), leadOf(theirs)];
  return theirs !== undefined && mine.type === "S" && !a.startsWith(b) && !b.startsWith(a);
};

const markOf = (catalog: Catalog, shape: Shape): KindMark | undefined => {
  const rivals = rivalsOf(catalog, shape);
  if (rivals.length === 0) return undefined;
  const { typeAttribute } = catalog;
  if (typeAttribute !== undefined && shape.typeValue !== undefined && rivals.every(({ typeValue }) => typeValue !== shape.typeValue))
    return { kind: "type", attribute: typeAttribute, value: shape.typeValue };
  const tableKeys = keyAttributes(catalog.index);
  const computed = Object.entries(shape.keys).filter(([attribute]) => !tableKeys.includes(attribute) && !shape.sparse.includes(attribute));
  const telling = computed.find(([attribute, template]) => rivals.every((rival) => apart(template, rival.keys[attribute])));
  return telling && { kind: "lead", attribute: telling[0], text: leadOf(telling[1]) };
};

const marks = new WeakMap<Shape, { readonly catalog: Catalog; readonly mark: KindMark | undefined }>();

/**
 * What must hold of an item for it to be of the shape, beside its key: undefined where no other kind can lie
 * under that key, or where nothing in an item tells the kinds apart.
 */
export const kindMark = (catalog: Catalog, shape: Shape): KindMark | undefined => {
  if (catalog.layout.sharedIds !== true) return undefined;
  let known = marks.get(shape);
  if (known?.catalog !== catalog) marks.set(shape, (known = { catalog, mark: markOf(catalog, shape) }));
  return known.mark;
};
