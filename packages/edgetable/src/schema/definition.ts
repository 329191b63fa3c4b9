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

/** The key, or an error message, as a type, for a field that the schema does not have. */
export type KeyOf<Key extends string, Row> =
  FieldsOf<Key> extends keyof Row ? Key : `The key names {${Exclude<FieldsOf<Key>, keyof Row>}}, which is not an attribute of the schema.`;

/**
 * Expected sizes and numbers of the items of one kind. The planner uses them to predict prices and to choose the cheapest of
 * several indexes for a search.
 */
export interface ItemExpectation<Attribute extends string = string> {
  /** Size of one item in bytes, 1 to 409,600. @default 200 */
  readonly bytes?: number;
  /** Total number of items, 1 or more. @default unknown; a search for all of them is assumed to find 100 */
  readonly count?: number;
  /**
   * Number of items that share one value of an attribute, 1 or more. For a level of a hierarchy: that share its value and the
   * values of the levels above it. @default 10
   */
  readonly rowsPerValue?: { readonly [Name in Attribute]?: number };
  /**
   * Number of items that a range of an attribute finds (`gte`, `between`, `beginsWith` and so on), 1 or more. @default a third of the
   * items that share the values given with it
   */
  readonly rowsPerRange?: { readonly [Name in Attribute]?: number };
}

/** Fields that users define at run time for the nodes of a type, and the grid that shows them. Only in Edgetable's own layout. */
export interface FieldSettings<Of extends string = string> {
  /**
   * The node type to whose nodes the definitions belong, such as the project of an issue. A row refers to its parent by attributes
   * with the names of the parent's id fields.
   */
  readonly of: Of;
  /**
   * The attribute that determines the default order of a parent's rows, and the order of rows with equal values; with its format if
   * it is not text (`"num:6"`). Like the parent, it cannot change. @default the order of the rows' keys
   */
  readonly orderBy?: string;
  /** Attributes of the schema by which a grid can be sorted, with formats. Each takes an index (of 20 for a table). @default none */
  readonly sortable?: readonly string[];
  /** Maximum number of fields of one parent, 1 to 400. @default 400 */
  readonly most?: number;
  /** Number of partitions over which the rows of a parent, and the values of a field, are spread. @default 1 */
  readonly shards?: ShardCounts;
  /**
   * How the values of a row are stored. `items`: each as a separate item, which an index shows immediately. `document`: all in one
   * item of at most 400 KB, which is written as a whole; the stream processor writes its index entries. Parents that already have
   * fields keep their storage until a migration changes it. @default "items"
   */
  readonly storage?: ValueStorage;
}

/** How the values of users' fields are stored. */
export type ValueStorage = "items" | "document";

/**
 * A list of names that is inferred from an option and checked against the known names there. A constraint on the type parameter
 * would be resolved for every definition, even without the option. In generic code, `Names` accepts values known to be one of the
 * names.
 */
type ListOf<Name, Names> = readonly ((Name & Names) | Names)[];

/** Settings that nodes, parts and edge types share. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any schema, whose attributes have any name
export interface ItemSettings<Schema = any, Fixed = string, Version = boolean, Times = Timestamps> {
  /** Attributes, in addition to those in the key, that cannot change after creation. */
  readonly immutable?: ListOf<Fixed, keyof SchemaOutput<Schema> & string>;
  /** Keeps a `version` number on the item. Every write increments it by one. @default false */
  readonly version?: Version;
  /**
   * What the schema validates in an update: the changed attributes, or the whole row after the change. Use `"row"` for a schema
   * with rules across attributes (zod's `refine`, valibot's `check`, arktype's `narrow`), and for limits on the results of `add`
   * and `append`. An update then reads the row, validates it with the changes, and writes on condition that the row is unchanged.
   * The schema must accept its own output. `create`, `put` and `link` always validate the whole row. @default "attributes"
   */
  readonly validate?: "attributes" | "row";
  /**
   * How reads return rows: as stored, or parsed by the schema, with its defaults for missing attributes and its transforms.
   * `"parsed"` requires a synchronous schema that accepts its own output. Conditions, orders, counts and sums use the stored
   * values. A row that does not fit the schema is a stray (see `onStray`). Parsing costs some microseconds for each row. @default
   * "stored"
   */
  readonly reads?: "stored" | "parsed";
  /** Stores the times of the row's creation and of its last write in attributes that callers cannot set. @default none */
  readonly timestamps?: Times;
  /** The attribute with the expiry time in seconds since 1970, for DynamoDB's TTL. */
  readonly ttl?: keyof SchemaOutput<Schema> & string;
  /** Attributes whose values are `Date`s, of the years 0000 to 9999. They are stored as ISO 8601 text in UTC. */
  readonly dates?: readonly (keyof SchemaOutput<Schema> & string)[];
  /** Renamed attributes: the former name, by the new name. See docs/migrations.md. */
  readonly renamed?: { readonly [Name in keyof SchemaOutput<Schema> & string]?: Renaming };
  /** Attributes whose values had another type in the former model. */
  readonly retyped?: { readonly [Name in keyof SchemaOutput<Schema> & string]?: Retyping };
}

/** Settings that only node types have. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface NodeSettings<Schema = any> {
  /** False for a node without an item, which exists only as the end of edges. @default true */
  readonly stored?: boolean;
  /** True to put the node's item into the reverse index as well, next to its incoming edges. @default false */
  readonly mirror?: boolean;
  /** Expected sizes and numbers of its items, for predictions. */
  readonly expect?: ItemExpectation<keyof SchemaOutput<Schema> & string>;
}

/** A node type, made by `node`. */
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

/** Any node type, for code that accepts any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every node satisfies
export type AnyNode = NodeDefinition<string, any, any, string | undefined, unknown, any, any>;

/**
 * Declares a node type.
 *
 * @param options `key` is the template of its id, with attributes of the schema in braces, such as `"COURSE#{courseId}"`;
 * `{n:number}`, `{n:6}` (zero-padded), `{at:date}` and `{flag:boolean}` give the format of an attribute that is not text. `schema`
 * is any Standard Schema of an object.
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
      /** Attributes whose values are unique among the nodes of the type; each value has a marker item. `by` reads a node by one. */
      readonly unique?: ListOf<Unique, keyof SchemaOutput<Schema> & string>;
      /**
       * Attributes that Edgetable computes from the node's edges or parts and keeps up to date, made by `count`, `sum`, `average`,
       * `min`, `max` and `distinct`. They are read-only attributes of the row, and `indexes` may name them.
       */
      readonly derived?: Derived;
      /** Fields that users define at run time, for each node of another type: see `db.<node>.grid`. */
      readonly fields?: FieldSettings<Of>;
    },
): NodeDefinition<Key, Schema, NoInfer<Derived>, NoInfer<Unique>, NoInfer<Of>, NoInfer<Fixed>, KeptIn<Version, Times>> =>
  Object.freeze({ kind: "node", ...options }) as never;

/** How many edges of the type a node may have. `many-to-one`: each `from` has at most one `to`. */
export type Multiplicity = "one-to-one" | "one-to-many" | "many-to-one" | "many-to-many";

/** What happens to the edges when the node at one end is deleted. */
export type OnDelete = "restrict" | "cascade" | "leave";

/** Where an edge is stored: in one item, in an item in each end's partition, or in its source node's item. */
export type EdgeStorage = "once" | "twice" | "reference";

/** Expected sizes and numbers of the edges of one type. */
export interface EdgeExpectation<Attribute extends string = string> extends ItemExpectation<Attribute> {
  /** Average number of outgoing edges of a node, above 0. @default 10 */
  readonly from?: number;
  /** Average number of incoming edges of a node, above 0. @default 10 */
  readonly to?: number;
  /**
   * The average for nodes that a walk reaches along an edge, if a few nodes have most of the edges: the sum of the squared degrees
   * divided by the sum of the degrees. @default as `from` and `to`, for nodes with about equal degrees
   */
  readonly reached?: { readonly from?: number; readonly to?: number };
}

/** Settings that only edge types have. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface EdgeSettings<Schema = any> {
  /**
   * Which ends have at most one edge of the type: sources with `"many-to-one"`, targets with `"one-to-many"`, both with
   * `"one-to-one"`. A counter, a separate item in the node's partition, enforces each limit, unless an adopted layout makes the
   * edge's key from only that end.
   *
   * @default "many-to-many"
   */
  readonly multiplicity?: Multiplicity;
  /** Maximum number of edges of the type at one node, 1 to 1,000,000; `from` limits sources, `to` targets. */
  readonly maxDegree?: { readonly from?: number; readonly to?: number };
  /**
   * What deleting the source (`from`) or the target (`to`) does to the edge. A reference is deleted with its source; deleting its
   * target does not change it. @default "leave"
   */
  readonly onDelete?: { readonly from?: OnDelete; readonly to?: OnDelete };
  /**
   * Whether linking checks, in the same transaction, that both ends exist. An end of a node type without items is never checked.
   * @default "checked"
   */
  readonly ends?: "checked" | "unchecked";
  /** For `stored: "twice"`: the attributes of each copy. By default, both copies have all attributes. */
  readonly sides?: {
    readonly from: readonly (keyof SchemaOutput<Schema> & string)[];
    readonly to: readonly (keyof SchemaOutput<Schema> & string)[];
  };
  /** For `stored: "reference"`: the source's attribute for each id field of the target, if the names differ. */
  readonly by?: Readonly<Record<string, string>>;
  /** Expected sizes and numbers of the edges, for predictions. */
  readonly expect?: EdgeExpectation<keyof SchemaOutput<Schema> & string>;
}

/** An edge type, made by `edge`. */
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
  /** The types of its copies, by `from` and `to`, and of its derived attributes, by name. */
  readonly "~added": Added;
  /** The storage as a type. A symmetric edge is in both partitions. */
  readonly "~stored": Stored;
  readonly "~from": From;
  readonly "~to": To;
  readonly "~disorder": Disorder<Order, SchemaOutput<Schema> & Kept>;
  readonly "~types": EdgeTypes<KeyField, SchemaOutput<Schema>, Schema, Fixed, Kept>;
}

/** Any edge type, for code that accepts any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every edge satisfies
export type AnyEdge = EdgeDefinition<string, string, any, any, string | undefined, EdgeStorage, any, any, any>;

type EmptySchema = StandardSchema<object, object>;
type Attributes<Schema extends SomeSchema> = keyof SchemaOutput<Schema> & string;

/** An attribute to order by: its name if it is text, else its name and format (`"rank:number"`). */
export type OrderOf<Row> = {
  [Field in keyof Row & string]-?: Row[Field] extends string | null | undefined ? Field | `${Field}:text` : `${Field}:${string}`;
}[keyof Row & string];

/** The names of the copies in a list. */
export type CopyNames<List> = List extends readonly (infer Name extends string)[] ? Name : keyof List & string;

/** The names of an edge type's copies, of either end. */
type CopiesOf<Copies> = keyof Copies extends never ? never : CopyNames<Copies[keyof Copies]>;

/** The values of `orderBy`: an attribute or a copy, with its format. {@link Disorder} checks whether it needs one. */
type OrderName<Names extends string> = Names | `${Names}:${string}`;

/**
 * `never`, or an error message for an order that is not text and lacks its format. Only `defineGraph` resolves it. A name with a
 * format is itself an attribute's name only if the schema accepts any attribute.
 */
type Disorder<Order, Row> = Row[Order & keyof Row] extends string | null | undefined
  ? never
  : Order extends `${string}:${string}`
    ? never
    : `orderBy names "${Order & string}", which is not text: add its format, such as "${Order & string}:number", "${Order & string}:6" or "${Order & string}:date".`;

// An edge that is declared inside the call of defineGraph is also inferred from the expected type. NoInfer and this type make
// missing settings have their own defaults instead of those of AnyEdge.
type Given<Schema> = unknown extends Schema ? EmptySchema : Schema;

/**
 * Declares an edge type.
 *
 * @param options `from` and `to` name one or more node types or parts; parts are then addressed by their id and that of their node.
 * `orderBy` names the attribute by which neighbours are sorted, in either direction; if it is not text, add its format, as in a
 * key: `"rank:number"`, `"place:6"`, `"at:date"`.
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
      /** Attributes that distinguish parallel edges between the same two nodes, such as a term or a role. */
      readonly key?: ListOf<KeyField, Attributes<Schema>>;
      readonly orderBy?: Order;
      /**
       * Attributes of the nodes at its ends that are copied onto the edge and kept up to date: a list of names, or an object with
       * the copies' names, the node's attribute for each, and its freshness. A copy is a read-only attribute of the edge; `orderBy`
       * and `indexes` may name it. Linking reads the nodes that are copied from.
       */
      readonly copies?: Copies;
      /** @default "once" */
      readonly stored?: Stored;
      /** True if the edge has no direction. It is stored in both partitions, which are always written together. @default false */
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

/** An order by a derived attribute: its name if it is text, else its name and format. */
type OrderByDerived<Derived> = (keyof Derived & string) | `${keyof Derived & string}:${string}`;

/**
 * Adds derived attributes to an edge type: aggregates of the edges of another type between the same two nodes. The stream processor
 * maintains them on each existing edge. They are read-only attributes of its row, which results and filters include and `indexes`
 * may name.
 *
 * @param of the edge type, from `edge`, not stored as a reference. Attributes of its `key` must also exist on the summarized edges:
 * each of these counts for the edge with the same values
 * @param derived made by `count`, `sum`, `average`, `min`, `max` and `distinct`, over the edges of a type `along` the edge (from
 * its source to its target), `against` it, or `between` its ends in either direction
 * @param options `orderBy` names one of them, with its format if it is not text (`"spent:number"`): the order of neighbours, in
 * place of the edge type's own order
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

/** Settings that only parts have. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface PartSettings<Schema = any> {
  /** Expected sizes and numbers of its items, for predictions. `perNode`: number of parts of a node, above 0 (@default 10). */
  readonly expect?: ItemExpectation<keyof SchemaOutput<Schema> & string> & { readonly perNode?: number };
  /**
   * Whether creating or putting a part checks, in the same transaction, that its node exists. It then costs four times the units.
   * An unchecked part that is written while its node is deleted may remain.
   * @default "unchecked"
   */
  readonly owner?: "checked" | "unchecked";
}

/** A part, made by `part`. */
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

/** Any part, for code that accepts any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every part satisfies
export type AnyPart = PartDefinition<string, string, any, any, any, any>;

/**
 * Declares a contained item, which is stored in its node's partition and deleted with the node.
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

/** Settings of the table other than its keys and indexes. A new table gets them, and a migration changes an existing one. */
export interface TableSettings {
  /** Whether the table has a stream, with old and new images. @default unchanged */
  readonly stream?: boolean;
  /** Whether DynamoDB refuses to delete the table. @default unchanged */
  readonly deletionProtection?: boolean;
  /** Whether the table can be restored to any second of the last 35 days. @default unchanged */
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
  /** The layout of an existing, adopted table. @default Edgetable's own */
  readonly layout?: Layout;
  /** Stream, deletion protection and point-in-time recovery: a new table gets them, a migration changes them. @default unchanged */
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
