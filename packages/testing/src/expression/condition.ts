import type { AttributeValue, Item } from "edgetable";
import type { Path } from "./path.ts";

/** What a comparison looks at. */
export type Operand =
  | { readonly kind: "path"; readonly path: Path }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "size"; readonly path: Path };

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";
export type TestName = "attribute_exists" | "attribute_not_exists" | "attribute_type" | "begins_with" | "contains";

/** A key condition or filter, read. */
export type Condition =
  | { readonly kind: "and" | "or"; readonly all: readonly Condition[] }
  | { readonly kind: "not"; readonly inner: Condition }
  | { readonly kind: "compare"; readonly comparator: Comparator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "between"; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "test"; readonly name: TestName; readonly path: Path; readonly argument?: Operand };

/** An expression with what its placeholders stand for, as requests carry it. */
export interface Expression {
  readonly text: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}
