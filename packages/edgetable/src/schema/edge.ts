import type { ItemExpectation } from "./node.ts";
import type { SchemaInput, SchemaOutput, SomeSchema, StandardSchema } from "./standard-schema.ts";

/** How many edges of the type a node may have: `many-to-one` means at most one `to` for each `from`. */
export type Multiplicity = "one-to-one" | "one-to-many" | "many-to-one" | "many-to-many";

/** What happens to the edges when the node at one end is deleted. */
export type OnDelete = "restrict" | "cascade" | "leave";

/** Where an edge lives: one item, an item in each end's partition, or inside its source node's item. */
export type EdgeStorage = "once" | "twice" | "reference";

/** What the model expects of the edges of one type. */
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

/** What the model says of an edge type, beside its ends and schema. */
export interface EdgeSettings<Attribute extends string = string> {
  /**
   * A limit of one that the edge's own key implies, because an adopted layout makes the key of that end
   * alone, takes nothing. Any other is counted, in an item of its own in the node's partition.
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
  /** Attributes that may never change once the edge is there (beside those in `key`). */
  readonly immutable?: readonly Attribute[];
  /** Keeps a `version` number on the edge that every write raises by one. @default false */
  readonly version?: boolean;
  /** The attribute with the expiry time in seconds since 1970, for DynamoDB's TTL. */
  readonly ttl?: Attribute;
  /** Attributes whose values are `Date`s: stored as ISO 8601 text in UTC. */
  readonly dates?: readonly Attribute[];
  /** For `stored: "twice"`: which attributes each copy carries. Without it both carry all. */
  readonly sides?: { readonly from: readonly Attribute[]; readonly to: readonly Attribute[] };
  /** For `stored: "reference"`: the source's attribute for each id field of the target, where the names differ. */
  readonly by?: Readonly<Record<string, string>>;
  /** What predictions assume of the edges. */
  readonly expect?: EdgeExpectation<Attribute>;
}

/** What is inferred of an edge type. Each member is resolved when it is first asked for, and not before. */
export interface EdgeTypes<KeyField, Row, Schema> {
  readonly row: Row;
  readonly input: SchemaInput<Schema>;
  readonly key: { readonly [Field in KeyField & keyof Row]: Row[Field] };
  readonly changes: { readonly [Field in Exclude<keyof Row, KeyField>]?: Row[Field] | undefined };
}

/** An edge type as `edge` gives it. */
export interface EdgeDefinition<
  out From extends string,
  out To extends string,
  out Schema,
  in out KeyField extends string | undefined,
  out Order extends string | undefined,
  out Stored extends EdgeStorage,
> extends EdgeSettings {
  readonly kind: "edge";
  readonly from: From | readonly From[];
  readonly to: To | readonly To[];
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>> | undefined;
  readonly key?: readonly string[];
  readonly symmetric?: boolean;
  readonly orderBy: Order;
  readonly stored: EdgeStorage;
  /** What the types know of where it is stored: a symmetric edge is in both partitions. */
  readonly "~stored": Stored;
  readonly "~from": From;
  readonly "~to": To;
  readonly "~types": EdgeTypes<KeyField, SchemaOutput<Schema>, Schema>;
}

/** Any edge type that `edge` gives: for code that takes whatever the model has. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every edge satisfies
export type AnyEdge = EdgeDefinition<string, string, any, any, string | undefined, EdgeStorage>;

type EmptySchema = StandardSchema<object, object>;
type Attributes<Schema extends SomeSchema> = keyof SchemaOutput<Schema> & string;

/** An attribute to order by: its name when it is text, with its format (`"rank:number"`) when it is not. */
export type OrderOf<Row> = {
  [Field in keyof Row & string]-?: Row[Field] extends string | null | undefined ? Field | `${Field}:text` : `${Field}:${string}`;
}[keyof Row & string];

// An edge declared in place, inside defineGraph, is inferred from what is expected there too: NoInfer and
// this let what is not given have its default and not AnyEdge's.
type Given<Schema> = unknown extends Schema ? EmptySchema : Schema;

/**
 * Declares an edge type.
 *
 * @param options `from` and `to` name one node type or several. `orderBy` names the attribute in whose
 * order neighbours come back, in either direction; one that is not text says its format, as in a key:
 * `"rank:number"`, `"place:6"`, `"at:date"`.
 * @example
 * const enrolledIn = edge({ from: "student", to: "course", schema: z.object({ enrolledAt: z.string() }), orderBy: "enrolledAt" });
 */
export const edge = <
  const From extends string,
  const To extends string,
  Schema extends SomeSchema = EmptySchema,
  const KeyField extends Attributes<Schema> | undefined = undefined,
  const Order extends OrderOf<SchemaOutput<Schema>> | undefined = undefined,
  const Stored extends EdgeStorage = "once",
  const Symmetric extends boolean = false,
>(
  options: EdgeSettings<Attributes<Schema>> & {
    readonly from: From | readonly From[];
    readonly to: To | readonly To[];
    readonly schema?: Schema;
    /** Attributes that tell parallel edges between the same two nodes apart (a term, a role). */
    readonly key?: readonly (KeyField & string)[];
    readonly orderBy?: Order;
    /** @default "once" */
    readonly stored?: Stored;
    /** True when the edge has no direction: it is written in both partitions, always together. @default false */
    readonly symmetric?: Symmetric;
  },
): EdgeDefinition<From, To, Given<Schema>, NoInfer<KeyField>, NoInfer<Order>, Symmetric extends true ? "twice" : NoInfer<Stored>> =>
  Object.freeze({ kind: "edge", schema: undefined, orderBy: undefined, stored: "once", ...options }) as never;
