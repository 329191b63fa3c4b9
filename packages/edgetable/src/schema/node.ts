import type { SchemaInput, SchemaOutput, SomeSchema, StandardSchema } from "./standard-schema.ts";

/** The attribute names inside the braces of a key template: `"A#{x}#{n:6}"` gives `"x" | "n"`. */
export type FieldsOf<Key extends string> = Key extends `${string}{${infer Field}}${infer Rest}`
  ? (Field extends `${infer Name}:${string}` ? Name : Field) | FieldsOf<Rest>
  : never;

/** The key itself, or a sentence for the field that the schema does not have. */
export type KeyOf<Key extends string, Row> =
  FieldsOf<Key> extends keyof Row ? Key : `The key names {${Exclude<FieldsOf<Key>, keyof Row>}}, which is not an attribute of the schema.`;

/** What is inferred of a node or part. Each member is resolved when it is first asked for, and not before. */
export interface NodeTypes<KeyField extends keyof Row, Row, Schema> {
  readonly id: { readonly [Field in KeyField]: Row[Field] };
  readonly row: Row;
  readonly input: SchemaInput<Schema>;
  readonly changes: { readonly [Field in Exclude<keyof Row, KeyField>]?: Row[Field] | undefined };
}

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

/** What the model says of a node type, beside its key and schema. */
export interface NodeSettings<Attribute extends string = string> {
  /** Attributes that no other node of the type may share; each is guarded by a marker item. */
  readonly unique?: readonly Attribute[];
  /** Attributes that may never change after creation (beside those in the key). */
  readonly immutable?: readonly Attribute[];
  /** Keeps a `version` number on the item that every write raises by one. @default false */
  readonly version?: boolean;
  /** The attribute with the expiry time in seconds since 1970, for DynamoDB's TTL. */
  readonly ttl?: Attribute;
  /** Attributes whose values are `Date`s: of the years 0000 to 9999, stored as ISO 8601 text in UTC. */
  readonly dates?: readonly Attribute[];
  /** False for a node that has no item of its own and exists only as the end of edges. @default true */
  readonly stored?: boolean;
  /** True to place the node's own item in the reverse index too, beside its incoming edges. @default false */
  readonly mirror?: boolean;
  /** What predictions assume of its items. */
  readonly expect?: ItemExpectation<Attribute>;
}

/** A node type as `node` gives it. */
export interface NodeDefinition<out Key extends string, out Schema> extends NodeSettings {
  readonly kind: "node";
  readonly key: Key;
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>>;
  readonly "~types": NodeTypes<FieldsOf<Key> & keyof SchemaOutput<Schema>, SchemaOutput<Schema>, Schema>;
}

/** Any node type that `node` gives: for code that takes whatever the model has. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every node satisfies
export type AnyNode = NodeDefinition<string, any>;

/**
 * Declares a node type.
 *
 * @param options `key` is the template of its id, with attributes of the schema in braces, such as
 * `"COURSE#{courseId}"`; `{n:number}`, `{n:6}` (zero-padded), `{at:date}` and `{flag:boolean}` say how
 * an attribute that is not text is written. `schema` is any Standard Schema of an object.
 * @example
 * const course = node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), name: z.string() }) });
 */
export const node = <const Key extends string, Schema extends SomeSchema>(
  options: NodeSettings<keyof SchemaOutput<Schema> & string> & {
    readonly key: KeyOf<Key, SchemaOutput<Schema>>;
    readonly schema: Schema;
  },
): NodeDefinition<Key, Schema> => Object.freeze({ kind: "node", ...options }) as never;
