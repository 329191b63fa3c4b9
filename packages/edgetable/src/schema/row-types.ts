import type { DerivedAttribute } from "./derived.ts";
import type { SchemaInput } from "./standard-schema.ts";

/** A row with its derived attributes. Mapped over one type, so that what the schema makes optional stays so, and a row can be put. */
type WithDerived<Row, Derived> = keyof Derived extends never
  ? Row
  : { -readonly [Field in keyof (Row & Derived)]: Field extends keyof Derived ? ValueOf<Derived[Field]> : (Row & Derived)[Field] };

/** A row with its version and times. */
type WithKept<Row, Kept> = { [Field in keyof (Row & Kept)]: (Row & Kept)[Field] };

export type ValueOf<Derived> = Derived extends DerivedAttribute<infer Value> ? Value : never;

/** What stands in place of the values of an attribute that cannot change. Of any model, whose attributes have any name, nothing is known. */
type Unchangeable<Field> = string extends Field ? unknown : `"${Field & string}" is immutable: create a new row in place of this one.`;

/** What a row may be changed to. */
type ChangesOf<Row, KeyField, Fixed> = {
  readonly [Field in keyof Row]?: Field extends KeyField | Fixed ? Unchangeable<Field> : Row[Field] | undefined;
};

/** The types inferred for a node or part. The compiler resolves each member on first use. */
export interface NodeTypes<KeyField extends keyof Row, Row, Schema, Derived = unknown, Fixed = undefined, Kept = unknown> {
  readonly id: { readonly [Field in KeyField]: Row[Field] };
  readonly row: unknown extends Kept ? WithDerived<Row, Derived> : WithKept<WithDerived<Row, Derived>, Kept>;
  readonly input: SchemaInput<Schema>;
  readonly changes: ChangesOf<Row, KeyField, Fixed>;
}

/** The types inferred for an edge type. The compiler resolves each member on first use. */
export interface EdgeTypes<KeyField, Row, Schema, Fixed = undefined, Kept = unknown> {
  readonly row: unknown extends Kept ? Row : WithKept<Row, Kept>;
  readonly input: SchemaInput<Schema>;
  readonly key: { readonly [Field in KeyField & keyof Row]: Row[Field] };
  readonly changes: ChangesOf<Row, KeyField, Fixed>;
}
