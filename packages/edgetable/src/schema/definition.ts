import type { CopyList, DerivedAttributes, EdgeCopyLists } from "./derived.ts";
import type { EdgeTypes, NodeTypes } from "./row-types.ts";
import type { Renaming, Retyping } from "./former.ts";
import type { Layout, ShardCounts, ValueIndex } from "./layout.ts";
import type { SchemaInput, SchemaOutput, SomeSchema, StandardSchema } from "./standard-schema.ts";
import type { KeptIn, Timestamps, TimeNames } from "./timestamps.ts";

/** The attribute names inside the braces of a key template: `"A#{x}#{n:6}"` gives `"x" | "n"`. */
export type FieldsOf<Key extends string> = Key extends `${string}{${infer Field}}${infer Rest}`
  ? (Field extends `${infer Name}:${string}` ? Name : Field) | FieldsOf<Rest>
  : never;

/** The key, or a sentence for a field that the schema does not have. */
export type KeyOf<Key extends string, Row> =
  FieldsOf<Key> extends keyof Row ? Key : `The key names {${Exclude<FieldsOf<Key>, keyof Row>}}, which is not an attribute of the schema.`;

/**
 * What the model expects of the items of one kind. The planner predicts prices by it, and of several indexes that
 * serve a search it reads the cheapest.
 */
export interface ItemExpectation<Attribute extends string = string> {
  /** Bytes of one item, 1 to 409,600. @default 200 */
  readonly bytes?: number;
  /** How many items there are in all, 1 or more. @default unknown; a search for all of them is assumed to find 100 */
  readonly count?: number;
  /**
   * How many items share one value of an attribute, 1 or more; of a level of a hierarchy, how many share its value
   * and those of the levels above it. @default 10
   */
  readonly rowsPerValue?: { readonly [Name in Attribute]?: number };
  /** How many items a range of an attribute finds, 1 or more: of `gte`, `between`, `beginsWith` and so on. @default a third of what there is to range over */
  readonly rowsPerRange?: { readonly [Name in Attribute]?: number };
}

/** Fields that users define at run time for the nodes of a type, and the grid that shows them. In Edgetable's own layout. */
export interface FieldSettings<Of extends string = string> {
  /** The node type whose nodes have the definitions: the project of an issue. A row names its parent by attributes that are called as the parent's id fields. */
  readonly of: Of;
  /**
   * The attribute that gives a parent's rows their own order, and orders rows with equal values; with its format if it is
   * not text (`"num:6"`). Like the parent, it cannot change. @default the order of the rows' keys
   */
  readonly orderBy?: string;
  /** Attributes of the schema that a grid sorts by, with their formats. Each takes an index (a table has 20 at most). @default none */
  readonly sortable?: readonly string[];
  /** The most fields of one parent, 1 to 400. @default 400 */
  readonly most?: number;
  /** Over how many partitions the rows of a parent, and the values of a field, are spread. @default 1 */
  readonly shards?: ShardCounts;
  /**
   * How the values of a row are stored: each as an item of its own, which an index shows at once, or all in one item of at
   * most 400 KB, which is written as a whole and which the stream's processor brings into the index. Parents that have
   * fields keep their storage until a migration changes it. @default "items"
   */
  readonly storage?: ValueStorage;
}

/** How the values of users' fields are stored. */
export type ValueStorage = "items" | "document";

/**
 * A list whose names are inferred where an option gives it, and compared there with the names that there are. A constraint of
 * the type parameter would be resolved for every definition, also for those without the option. In generic code `Names` takes
 * what is known to be one of them.
 */
type ListOf<Name, Names> = readonly ((Name & Names) | Names)[];

/** Settings that nodes, parts and edge types share. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any schema, whose attributes have any name
export interface ItemSettings<Schema = any, Fixed = string, Version = boolean, Times = Timestamps> {
  /** Attributes that may never change after creation (beside those in the key). */
  readonly immutable?: ListOf<Fixed, keyof SchemaOutput<Schema> & string>;
  /** Keeps a `version` number on the item. Every write increments it by one. @default false */
  readonly version?: Version;
  /**
   * What the schema checks of an update: the changed attributes, or the row as it will be. `"row"` is for a schema with rules
   * across attributes (zod's `refine`, valibot's `check`, arktype's `narrow`), and for limits of what `add` and `append` make: an
   * update then reads the row, validates it as changed, and writes on condition that what it read is unchanged. The schema has to
   * accept its own output. Whole rows (`create`, `put`, `link`) are always checked whole. @default "attributes"
   */
  readonly validate?: "attributes" | "row";
  /**
   * How reads give rows: as they are stored, or as the schema makes them, with its defaults for attributes that are missing and
   * its transforms. `"parsed"` is for a schema that accepts its own output, and answers at once. Conditions, orders, counts and
   * sums go by what is stored; a row that does not fit the schema is a stray (see `onStray`). Costs the schema's time for each
   * row: some microseconds. @default "stored"
   */
  readonly reads?: "stored" | "parsed";
  /** Keeps the times of the row's creation and of its last write, in attributes that cannot be set. @default none */
  readonly timestamps?: Times;
  /** The attribute with the expiry time in seconds since 1970, for DynamoDB's TTL. */
  readonly ttl?: keyof SchemaOutput<Schema> & string;
  /** Attributes whose values are `Date`s: of the years 0000 to 9999, stored as ISO 8601 text in UTC. */
  readonly dates?: readonly (keyof SchemaOutput<Schema> & string)[];
  /** Attributes that had another name in the model before, by the new name: see docs/migrations.md. */
  readonly renamed?: { readonly [Name in keyof SchemaOutput<Schema> & string]?: Renaming };
  /** Attributes whose values were of another type in the model before. */
  readonly retyped?: { readonly [Name in keyof SchemaOutput<Schema> & string]?: Retyping };
}

/** Settings of node types alone. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface NodeSettings<Schema = any> {
  /** False for a node without an item, which exists only as the end of edges. @default true */
  readonly stored?: boolean;
  /** True to put the node's item into the reverse index too, beside its incoming edges. @default false */
  readonly mirror?: boolean;
  /** Expected sizes and numbers of its items, for predictions. */
  readonly expect?: ItemExpectation<keyof SchemaOutput<Schema> & string>;
}

/** A node type, from `node`. */
export interface NodeDefinition<
  out Key extends string,
  out Schema,
  in out Derived = unknown,
  out Unique extends string | undefined = undefined,
  out Of = unknown,
  in out Fixed extends string | undefined = undefined,
  in out Kept = unknown,
>
  extends ItemSettings, NodeSettings {
  readonly kind: "node";
  readonly fields?: FieldSettings;
  /** The node type that its fields belong to. */
  readonly "~of": Of;
  readonly key: Key;
  readonly unique?: readonly string[];
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>>;
  readonly derived?: DerivedAttributes;
  readonly "~unique": Unique;
  readonly "~types": NodeTypes<FieldsOf<Key> & keyof SchemaOutput<Schema>, SchemaOutput<Schema>, Schema, Derived, Fixed, Kept>;
}

/** Any node type: for code that takes any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every node satisfies
export type AnyNode = NodeDefinition<string, any, any, string | undefined, unknown, any, any>;

/**
 * Declares a node type.
 *
 * @param options `key` is the template of its id, with attributes of the schema in braces, such as
 * `"COURSE#{courseId}"`; `{n:number}`, `{n:6}` (zero-padded), `{at:date}` and `{flag:boolean}` say how
 * an attribute that is not text is written. `schema` is any Standard Schema of an object.
 * @example
 * const course = node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), name: z.string() }) });
 */
export const node = <
  const Key extends string,
  Schema extends SomeSchema,
  const Derived extends DerivedAttributes = {},
  const Unique extends string | undefined = undefined,
  const Of extends string = never,
  const Fixed extends string | undefined = undefined,
  const Version extends boolean = false,
  const Times extends Timestamps | undefined = undefined,
>(
  options: ItemSettings<Schema, Fixed, Version, Times> &
    NodeSettings<Schema> & {
      readonly key: KeyOf<Key, SchemaOutput<Schema>>;
      readonly schema: Schema;
      /** Attributes that no other node of the type may share; each is guarded by a marker item. `by` reads a node by one. */
      readonly unique?: ListOf<Unique, keyof SchemaOutput<Schema> & string>;
      /**
       * Attributes that Edgetable computes from the node's edges or parts and keeps true, made by `count`, `sum`, `average`,
       * `min`, `max` and `distinct`. They are read-only attributes of the row, and `indexes` may name them.
       */
      readonly derived?: Derived;
      /** Fields that users define at run time, for each node of another type: see `db.<node>.grid`. */
      readonly fields?: FieldSettings<Of>;
    },
): NodeDefinition<Key, Schema, NoInfer<Derived>, NoInfer<Unique>, NoInfer<Of>, NoInfer<Fixed>, KeptIn<Version, Times>> =>
  Object.freeze({ kind: "node", ...options }) as never;

/** How many edges of the type a node may have: `many-to-one` means at most one `to` for each `from`. */
export type Multiplicity = "one-to-one" | "one-to-many" | "many-to-one" | "many-to-many";

/** What happens to the edges when the node at one end is deleted. */
export type OnDelete = "restrict" | "cascade" | "leave";

/** Where an edge lives: one item, an item in each end's partition, or inside its source node's item. */
export type EdgeStorage = "once" | "twice" | "reference";

/** Expected sizes and numbers of the edges of one type. */
export interface EdgeExpectation<Attribute extends string = string> extends ItemExpectation<Attribute> {
  /** Edges that leave a node, on average, above 0. @default 10 */
  readonly from?: number;
  /** Edges that reach a node, on average, above 0. @default 10 */
  readonly to?: number;
  /**
   * The same of a node to which a walk has come along an edge, where a few nodes have most of the edges: the sum of the
   * degrees' squares by their sum. @default as `from` and `to`: all nodes have about as many
   */
  readonly reached?: { readonly from?: number; readonly to?: number };
}

/** Settings of edge types alone. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface EdgeSettings<Schema = any> {
  /**
   * At which ends a node has at most one edge of the type: a source with `"many-to-one"`, a target with `"one-to-many"`, both
   * with `"one-to-one"`. Each limit is kept by a counter, an item of its own in the node's partition, unless the edge's own key
   * implies it, because an adopted layout makes the key of that end alone.
   *
   * @default "many-to-many"
   */
  readonly multiplicity?: Multiplicity;
  /** The most edges of the type at one node, 1 to 1,000,000; `from` limits a source, `to` a target. */
  readonly maxDegree?: { readonly from?: number; readonly to?: number };
  /** What deleting the source (`from`) or the target (`to`) does to the edge; a reference goes with its source, and its target leaves it. @default "leave" */
  readonly onDelete?: { readonly from?: OnDelete; readonly to?: OnDelete };
  /**
   * Whether linking checks, in the same transaction, that both ends exist. An end without an item of
   * its own is never checked. @default "checked"
   */
  readonly ends?: "checked" | "unchecked";
  /** For `stored: "twice"`: which attributes each copy carries. Without it both carry all. */
  readonly sides?: {
    readonly from: readonly (keyof SchemaOutput<Schema> & string)[];
    readonly to: readonly (keyof SchemaOutput<Schema> & string)[];
  };
  /** For `stored: "reference"`: the source's attribute for each id field of the target, where the names differ. */
  readonly by?: Readonly<Record<string, string>>;
  /** Expected sizes and numbers of the edges, for predictions. */
  readonly expect?: EdgeExpectation<keyof SchemaOutput<Schema> & string>;
}

/** An edge type, from `edge`. */
export interface EdgeDefinition<
  out From extends string,
  out To extends string,
  out Schema,
  in out KeyField extends string | undefined,
  out Order extends string | undefined,
  out Stored extends EdgeStorage,
  out Added = unknown,
  in out Fixed extends string | undefined = undefined,
  in out Kept = unknown,
>
  extends ItemSettings, EdgeSettings {
  readonly kind: "edge";
  readonly from: From | readonly From[];
  readonly to: To | readonly To[];
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>> | undefined;
  readonly key?: readonly string[];
  readonly symmetric?: boolean;
  readonly orderBy: Order;
  readonly copies?: EdgeCopyLists;
  /** Attributes that are computed from other edges between its ends: see `summarize`. */
  readonly derived?: DerivedAttributes;
  readonly stored: EdgeStorage;
  /** What the types know of its copies, by `from` and `to`, and of its derived attributes, by their names. */
  readonly "~added": Added;
  /** The storage as the types know it: a symmetric edge is in both partitions. */
  readonly "~stored": Stored;
  readonly "~from": From;
  readonly "~to": To;
  readonly "~disorder": Disorder<Order, SchemaOutput<Schema> & Kept>;
  readonly "~types": EdgeTypes<KeyField, SchemaOutput<Schema>, Schema, Fixed, Kept>;
}

/** Any edge type: for code that takes any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every edge satisfies
export type AnyEdge = EdgeDefinition<string, string, any, any, string | undefined, EdgeStorage, any, any, any>;

type EmptySchema = StandardSchema<object, object>;
type Attributes<Schema extends SomeSchema> = keyof SchemaOutput<Schema> & string;

/** An attribute to order by: its name when it is text, with its format (`"rank:number"`) when it is not. */
export type OrderOf<Row> = {
  [Field in keyof Row & string]-?: Row[Field] extends string | null | undefined ? Field | `${Field}:text` : `${Field}:${string}`;
}[keyof Row & string];

/** The names of the copies in a list. */
export type CopyNames<List> = List extends readonly (infer Name extends string)[] ? Name : keyof List & string;

/** The names of an edge type's copies, of either end. */
type CopiesOf<Copies> = keyof Copies extends never ? never : CopyNames<Copies[keyof Copies]>;

/** What an edge may be ordered by: an attribute or a copy, with its format. Whether it needs one is in {@link Disorder}. */
type OrderName<Names extends string> = Names | `${Names}:${string}`;

/**
 * Never, or a sentence for an order that is not text and lacks its format. Only `defineGraph` asks for it, and resolves it.
 * An order that has its format is an attribute's name only where the schema takes any attribute.
 */
type Disorder<Order, Row> = Row[Order & keyof Row] extends string | null | undefined
  ? never
  : Order extends `${string}:${string}`
    ? never
    : `orderBy names "${Order & string}", which is not text: add its format, such as "${Order & string}:number", "${Order & string}:6" or "${Order & string}:date".`;

// An edge declared in place, inside defineGraph, is inferred from what is expected there too: NoInfer and
// this let what is not given have its default and not AnyEdge's.
type Given<Schema> = unknown extends Schema ? EmptySchema : Schema;

/**
 * Declares an edge type.
 *
 * @param options `from` and `to` name one node type or several; also parts, which are then addressed by
 * their id with that of their node. `orderBy` names the attribute in whose
 * order neighbours come back, in either direction; one that is not text says its format, as in a key:
 * `"rank:number"`, `"place:6"`, `"at:date"`.
 * @example
 * const enrolledIn = edge({ from: "student", to: "course", schema: z.object({ enrolledAt: z.string() }), orderBy: "enrolledAt" });
 */
export const edge = <
  const From extends string,
  const To extends string,
  Schema extends SomeSchema = EmptySchema,
  const KeyField extends string | undefined = undefined,
  const Copies extends EdgeCopyLists = {},
  const Version extends boolean = false,
  const Times extends Timestamps | undefined = undefined,
  const Order extends OrderName<Attributes<Schema> | CopiesOf<Copies> | TimeNames<Times>> | undefined = undefined,
  const Stored extends EdgeStorage = "once",
  const Symmetric extends boolean = false,
  const Fixed extends string | undefined = undefined,
>(
  options: ItemSettings<Schema, Fixed, Version, Times> &
    EdgeSettings<Schema> & {
      readonly from: From | readonly From[];
      readonly to: To | readonly To[];
      readonly schema?: Schema;
      /** Attributes that tell parallel edges between the same two nodes apart (a term, a role). */
      readonly key?: ListOf<KeyField, Attributes<Schema>>;
      readonly orderBy?: Order;
      /**
       * Attributes of the nodes at its ends that are copied onto the edge and kept fresh: a list of names, or by the copy's
       * name the node's attribute, with its freshness. A copy is a read-only attribute of the edge; `orderBy` and `indexes`
       * may name it. Linking reads the nodes that are copied from.
       */
      readonly copies?: Copies;
      /** @default "once" */
      readonly stored?: Stored;
      /** True when the edge has no direction: it is written in both partitions, always together. @default false */
      readonly symmetric?: Symmetric;
    },
): EdgeDefinition<
  From,
  To,
  Given<Schema>,
  NoInfer<KeyField>,
  NoInfer<Order>,
  Symmetric extends true ? "twice" : NoInfer<Stored>,
  NoInfer<Copies>,
  NoInfer<Fixed>,
  KeptIn<Version, Times>
> => Object.freeze({ kind: "edge", schema: undefined, orderBy: undefined, stored: "once", ...options }) as never;

/** An order by a derived attribute: its name when it is text, with its format when it is not. */
type OrderByDerived<Derived> = (keyof Derived & string) | `${keyof Derived & string}:${string}`;

/**
 * Adds derived attributes to an edge type: aggregates of the edges of another type between the same two nodes. The stream
 * keeps them on each edge that is there, and they are read-only attributes of its row: in results and filters, and `indexes`
 * may name them.
 *
 * @param of the edge type, from `edge`, not stored as a reference. Attributes of its `key` are taken from the edges that are
 * summarized: each edge counts for the one that has the same values
 * @param derived made by `count`, `sum`, `average`, `min`, `max` and `distinct`, over the edges of a type `along` the edge (from
 * its source to its target), `against` it, or `between` its ends in either direction
 * @param options `orderBy` names one of them, with its format if it is not text (`"spent:number"`): the order in which
 * neighbours come back, in place of the edge type's own
 * @example
 * const buys = summarize(
 *   edge({ from: "customer", to: "product" }),
 *   { orders: count({ along: "ordered" }), spent: sum({ along: "ordered", of: "amount" }) },
 *   { orderBy: "spent:number" },
 * );
 */
export const summarize = <
  From extends string,
  To extends string,
  Schema,
  KeyField extends string | undefined,
  Order extends string | undefined,
  Stored extends EdgeStorage,
  Copies,
  Kept,
  const Derived extends DerivedAttributes,
  const By extends OrderByDerived<Derived> | undefined = undefined,
  Fixed extends string | undefined = undefined,
>(
  of: EdgeDefinition<From, To, Schema, KeyField, Order, Stored, Copies, Fixed, Kept>,
  derived: Derived,
  options: { readonly orderBy?: By } = {},
): EdgeDefinition<From, To, Schema, KeyField, By extends string ? By : Order, Stored, Copies & Derived, Fixed, Kept> =>
  Object.freeze({ ...of, ...options, derived }) as never;

/** Settings of parts alone. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface PartSettings<Schema = any> {
  /** What predictions assume of its items; `perNode`: how many a node has, above 0 (@default 10). */
  readonly expect?: ItemExpectation<keyof SchemaOutput<Schema> & string> & { readonly perNode?: number };
  /**
   * Whether creating or putting a part checks, in the same transaction, that its node exists. It then
   * takes four times the units; unchecked, a part written while its node is deleted may outlive it.
   * @default "unchecked"
   */
  readonly owner?: "checked" | "unchecked";
}

/** A part, from `part`. */
export interface PartDefinition<
  out Of extends string,
  out Key extends string,
  out Schema,
  out Copies = unknown,
  in out Fixed extends string | undefined = undefined,
  in out Kept = unknown,
>
  extends ItemSettings, PartSettings {
  readonly kind: "part";
  readonly of: Of;
  readonly key: Key;
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>>;
  readonly copies?: CopyList;
  readonly "~copies": Copies;
  readonly "~types": NodeTypes<FieldsOf<Key> & keyof SchemaOutput<Schema>, SchemaOutput<Schema>, Schema, {}, Fixed, Kept>;
}

/** Any part: for code that takes any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every part satisfies
export type AnyPart = PartDefinition<string, string, any, any, any, any>;

/**
 * Declares a contained item that lives in its node's partition and dies with it.
 *
 * @param options `of` names the node type, `key` is the template of the part's id within its node.
 * @example
 * const line = part({ of: "order", key: "LINE#{line:4}", schema: z.object({ line: z.int(), sku: z.string() }) });
 */
export const part = <
  const Of extends string,
  const Key extends string,
  Schema extends SomeSchema,
  const Copies extends CopyList = {},
  const Fixed extends string | undefined = undefined,
  const Version extends boolean = false,
  const Times extends Timestamps | undefined = undefined,
>(
  options: ItemSettings<Schema, Fixed, Version, Times> &
    PartSettings<Schema> & {
      readonly of: Of;
      readonly key: KeyOf<Key, SchemaOutput<Schema>>;
      readonly schema: Schema;
      /** Attributes of the node that are copied onto the part, as for an edge. Creating a part reads its node. */
      readonly copies?: Copies;
    },
): PartDefinition<Of, Key, Schema, NoInfer<Copies>, NoInfer<Fixed>, KeptIn<Version, Times>> =>
  Object.freeze({ kind: "part", ...options }) as never;

/** Settings of the table beside its keys and indexes. A new table has them; a migration brings one that exists to have them. */
export interface TableSettings {
  /** Whether the table records its changes, with the item before and after each. @default left as it is */
  readonly stream?: boolean;
  /** Whether DynamoDB refuses to delete the table. @default left as it is */
  readonly deletionProtection?: boolean;
  /** Whether the table can be restored to any second of the last 35 days. @default left as it is */
  readonly pointInTimeRecovery?: boolean;
}

/** A model as declared, without its static types. */
export interface GraphDefinition {
  /** The table's name: 3 to 255 characters of a-z, A-Z, 0-9, `_`, `-` and `.` (HowItWorks.NamingRulesDataTypes). */
  readonly table: string;
  readonly nodes: Readonly<Record<string, AnyNode>>;
  readonly edges?: Readonly<Record<string, AnyEdge>>;
  readonly parts?: Readonly<Record<string, AnyPart>>;
  /** Indexes by value, in Edgetable's own layout. */
  readonly indexes?: Readonly<Record<string, ValueIndex>>;
  /** The layout of an existing table. @default Edgetable's own */
  readonly layout?: Layout;
  /** Stream, deletion protection and point-in-time recovery of the table: a new table has them, a migration sets them. @default left as they are */
  readonly settings?: TableSettings;
}

/** The node types at one end of an edge, as an array. */
export const endTypes = (end: string | readonly string[]): readonly string[] => (typeof end === "string" ? [end] : end);

/** An end of an edge. */
export type End = "from" | "to";

/** True if an edge type's multiplicity allows only one edge for a node at that end. */
export const isSingle = ({ multiplicity }: Pick<AnyEdge, "multiplicity">, end: End): boolean =>
  multiplicity === "one-to-one" || multiplicity === (end === "from" ? "many-to-one" : "one-to-many");

/** The maximum number of edges for a node at that end, by multiplicity and maxDegree; undefined for no limit. */
export const degreeLimit = (edge: Pick<AnyEdge, "multiplicity" | "maxDegree">, end: End): number | undefined =>
  isSingle(edge, end) ? 1 : edge.maxDegree?.[end];
