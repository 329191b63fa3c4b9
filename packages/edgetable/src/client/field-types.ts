/** The types of fields. */
export type FieldType = "text" | "number" | "date" | "boolean" | "choice" | "choices" | "reference";

/** What every field has. */
interface AnyField {
  /** Unique among the fields of its parent, and never reused. */
  readonly fieldId: string;
  /** Unique among the fields of its parent. */
  readonly name: string;
  /** True if a row that is written as a whole must have a value. */
  readonly required: boolean;
  /** Incremented when the field's type changes. Each value belongs to one generation. */
  readonly generation: number;
  /** While the field's type is being changed: `checking` until all values are known to convert, then `converting`. */
  readonly state?: "checking" | "converting" | "deleting";
}

/** A text. An empty text counts as no value. */
export interface TextField extends AnyField {
  readonly type: "text";
  readonly default?: string;
  /** How texts are ordered: by their bytes, or by their letters without case and accents. */
  readonly order: "bytes" | "letters";
}

/** A number, without NaN and the infinities. */
export interface NumberField extends AnyField {
  readonly type: "number";
  readonly default?: number;
}

/** A day (`2023-05-01`), or a moment in UTC (`2023-05-01T10:00:00.000Z`). */
export interface DateField extends AnyField {
  readonly type: "date";
  readonly default?: string;
}

/** True or false; false sorts first. */
export interface BooleanField extends AnyField {
  readonly type: "boolean";
  readonly default?: boolean;
}

/** One of a list of choices, in the order of the list. */
export interface ChoiceField extends AnyField {
  readonly type: "choice";
  readonly choices: readonly string[];
  readonly default?: string;
}

/** Several of a list of choices, each once. Values are ordered by their first choice in the list, then by the next. */
export interface ChoicesField extends AnyField {
  readonly type: "choices";
  readonly choices: readonly string[];
  readonly default?: readonly string[];
}

/** The id of a node, such as a person; ordered by its key. */
export interface ReferenceField extends AnyField {
  readonly type: "reference";
  /** The type of node. */
  readonly node: string;
  readonly default?: NodeId;
}

/** The id of a node that a field refers to. */
export type NodeId = Readonly<Record<string, string | number | boolean>>;

/** A field that a user has defined; `type` tells which kind. */
export type Field = TextField | NumberField | DateField | BooleanField | ChoiceField | ChoicesField | ReferenceField;

type Definable<F extends AnyField> = Omit<F, "fieldId" | "required" | "generation" | "state" | "order"> & {
  /** @default false */
  readonly required?: boolean;
  /** 1 to 64 letters, digits, `-` and `_`. @default a new one */
  readonly fieldId?: string;
};

/** The definition of a new field. */
export type NewField =
  | (Definable<TextField> & { /** @default "bytes" */ readonly order?: TextField["order"] })
  | Definable<NumberField>
  | Definable<DateField>
  | Definable<BooleanField>
  | Definable<ChoiceField>
  | Definable<ChoicesField>
  | Definable<ReferenceField>;

type NewType<F extends AnyField> = Omit<F, "fieldId" | "name" | "required" | "generation" | "state" | "order" | "default">;

/** The type that a field is changed to. */
export type NewFieldType =
  | (NewType<TextField> & { readonly order?: TextField["order"] })
  | NewType<NumberField>
  | NewType<DateField>
  | NewType<BooleanField>
  | NewType<ChoiceField>
  | NewType<ChoicesField>
  | NewType<ReferenceField>;

/** The value of a field in a row; `type` tells which kind. */
export type FieldValue =
  | { readonly type: "text" | "date" | "choice"; readonly value: string }
  | { readonly type: "number"; readonly value: number }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "choices"; readonly value: readonly string[] }
  | { readonly type: "reference"; readonly value: NodeId };

/** A value as callers pass it; null removes the field's value. */
export type FieldInput = FieldValue["value"] | null;

/** The values of a row, by the field's id. A field without a value is absent. */
export type Cells = Readonly<Record<string, FieldValue>>;
