import type { FieldsOf, ItemExpectation, KeyOf, NodeSettings, NodeTypes } from "./node.ts";
import type { SchemaInput, SchemaOutput, SomeSchema, StandardSchema } from "./standard-schema.ts";

/** What the model says of a part, beside its node, key and schema. */
export interface PartSettings<Attribute extends string = string> extends Pick<
  NodeSettings<Attribute>,
  "immutable" | "version" | "ttl" | "dates"
> {
  /** What predictions assume of its items; `perNode`: how many a node has, above 0 (@default 10). */
  readonly expect?: ItemExpectation<Attribute> & { readonly perNode?: number };
  /**
   * Whether creating or putting a part checks, in the same transaction, that its node exists. It then
   * takes four times the units; unchecked, a part written while its node is deleted may outlive it.
   * @default "unchecked"
   */
  readonly owner?: "checked" | "unchecked";
}

/** A part as `part` gives it. */
export interface PartDefinition<out Of extends string, out Key extends string, out Schema> extends PartSettings {
  readonly kind: "part";
  readonly of: Of;
  readonly key: Key;
  readonly schema: StandardSchema<SchemaInput<Schema>, SchemaOutput<Schema>>;
  readonly "~types": NodeTypes<FieldsOf<Key> & keyof SchemaOutput<Schema>, SchemaOutput<Schema>, Schema>;
}

/** Any part that `part` gives: for code that takes whatever the model has. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every part satisfies
export type AnyPart = PartDefinition<string, string, any>;

/**
 * Declares a contained item that lives in its node's partition and dies with it.
 *
 * @param options `of` names the node type, `key` is the template of the part's id within its node.
 * @example
 * const line = part({ of: "order", key: "LINE#{line:4}", schema: z.object({ line: z.int(), sku: z.string() }) });
 */
export const part = <const Of extends string, const Key extends string, Schema extends SomeSchema>(
  options: PartSettings<keyof SchemaOutput<Schema> & string> & {
    readonly of: Of;
    readonly key: KeyOf<Key, SchemaOutput<Schema>>;
    readonly schema: Schema;
  },
): PartDefinition<Of, Key, Schema> => Object.freeze({ kind: "part", ...options }) as never;
