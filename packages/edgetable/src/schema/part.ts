import type { FieldsOf, KeyCheck, NodeSettings } from "./node.ts";
import type { AnySchema, SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";

export interface PartSettings<Attribute extends string = string> extends Pick<
  NodeSettings<Attribute>,
  "immutable" | "version" | "ttl" | "dates" | "expect"
> {
  /**
   * Whether creating or putting a part checks, in the same transaction, that its node exists. It then
   * takes four times the units; unchecked, a part written while its node is deleted may outlive it.
   * @default "unchecked"
   */
  readonly owner?: "checked" | "unchecked";
}

export interface PartDefinition<Of extends string, Key extends string, Row, Input> extends PartSettings {
  readonly kind: "part";
  readonly of: Of;
  readonly key: Key;
  readonly schema: StandardSchema<Input, Row>;
  readonly "~types": {
    readonly id: { readonly [Field in FieldsOf<Key> & keyof Row]: Row[Field] };
    readonly row: Row;
    readonly input: Input;
    readonly changes: { readonly [Field in Exclude<keyof Row, FieldsOf<Key>>]?: Row[Field] | undefined };
  };
}
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every part satisfies
export type AnyPart = PartDefinition<string, string, any, any>;

/**
 * Declares a contained item that lives in its node's partition and dies with it.
 *
 * @param options `of` names the node type, `key` is the template of the part's id within its node.
 * @example
 * const line = part({ of: "order", key: "LINE#{line:4}", schema: z.object({ line: z.int(), sku: z.string() }) });
 */
export const part = <const Of extends string, const Key extends string, Schema extends AnySchema>(
  options: PartSettings<keyof SchemaOutput<Schema> & string> & {
    readonly of: Of;
    readonly key: Key;
    readonly schema: Schema;
  } & KeyCheck<Key, SchemaOutput<Schema>>,
): PartDefinition<Of, Key, SchemaOutput<Schema>, SchemaInput<Schema>> => Object.freeze({ kind: "part", ...options }) as never;
