/** Maximum number of shards: Edgetable's own limit, so that a typing error does not make every read query a million partitions. */
export const MAX_SHARDS = 65_536;

/** The number of shards that the items of a key are spread over. Writers and readers share this definition. */
export interface Sharding {
  /** Numbers of shards, 1 to 65,536, each a multiple or divisor of the others. Writers use the first, readers query all. */
  readonly counts: readonly number[];
  /** The field of the row whose value determines the count. */
  readonly per?: { readonly path: string; readonly steps: readonly string[] };
  /** Counts for some values of that field, by the value's text. */
  readonly hot?: Readonly<Record<string, readonly number[]>>;
}

/** Formats whose text is computed from the value and never read back: different values may have one text. */
export type OneWayText = "lower" | "upper" | "written";

/** Texts of one kind of characters. */
export type Alphabet = "digits" | "letters";

/** How one field of a key template is written as text and read back. */
export type FieldFormat =
  /** Any well-formed Unicode text. */
  | { readonly kind: "text" }
  /** A text of only the digits 0 to 9, or only the letters A to Z and a to z, which distinguishes two kinds of ids. */
  | { readonly kind: Alphabet }
  /** Any finite number, and bigints of up to 38 digits, in an order-preserving decimal. */
  | { readonly kind: "number" }
  /** Integers from 0 to the safe limit, zero padded to `width` digits (1 to 16). */
  | { readonly kind: "padded"; readonly width: number }
  /** Integers as plain decimals: reversible, but `10` sorts before `9`. */
  | { readonly kind: "plain" }
  /** A `Date` of the years 0000 to 9999, as ISO 8601 in UTC with milliseconds. */
  | { readonly kind: "date" }
  /** `false` before `true`. */
  | { readonly kind: "boolean" }
  /** A text, number or boolean as text, in lower case, upper case or unchanged; with `width`, an integer of that many digits. One-way. */
  | { readonly kind: OneWayText; readonly width?: number }
  /** A stable hash of the value modulo a count of shards; one-way. */
  | { readonly kind: "shard"; readonly sharding: Sharding }
  /** The first of several formats that accepts the value. */
  | { readonly kind: "either"; readonly formats: readonly FieldFormat[] };

/** The delimiter between the fields of a key, and whether texts are escaped so that they never contain it. */
export interface KeyDialect {
  /** One character that is neither a letter, a digit nor a brace; `!`, `"` or `#` when `escapes`. */
  readonly delimiter: string;
  /** True for the library's own layouts; false for adopted ones, which refuse the delimiter in a value. */
  readonly escapes: boolean;
  /** The type of the attribute: `N` for a single number. @default "S" */
  readonly type?: "S" | "N" | undefined;
  /** True for the table's keys in an adopted layout, where keys that begin with `~` belong to Edgetable's own items. */
  readonly reserves?: boolean;
  /** True for an attribute of an adopted layout that is not a key of the table or of an index. */
  readonly beside?: boolean;
  /** Shardings that templates may name: `{orderId:shard(hotStatus)}`. */
  readonly shardings?: Readonly<Record<string, Sharding>> | undefined;
  /**
   * The heads of dotted paths that can be read back, such as `from`; other dotted paths lead into an attribute that has another
   * source. @default all
   */
  readonly ends?: readonly string[];
  /** The condition under which a row has the key. Such a key is never read back. */
  readonly when?: readonly When[] | undefined;
}

/** Why a value cannot be written. The code that throws the error adds the field and the template. */
export interface Refusal {
  readonly kind: "refusal";
  readonly code: "keys.delimiter" | "keys.reserved" | "keys.empty" | "keys.wrongType" | "keys.notEncodable";
  /** Continues "the value ... of {field} ...". */
  readonly problem: string;
  /** What to do about it, as a whole sentence. */
  readonly mend: string;
}

/** Makes a {@link Refusal}. */
export const refusal = (code: Refusal["code"], problem: string, mend: string): Refusal => ({ kind: "refusal", code, problem, mend });

/** The values of a field in rows that have a key. */
export interface When {
  readonly path: string;
  /** The possible values; `[undefined]` if rows lack the field. Undefined for any value. */
  readonly values: readonly unknown[] | undefined;
}

/** A fixed text of a template. */
export interface LiteralPart {
  readonly kind: "literal";
  readonly text: string;
}

/** A field of a template, filled from a row. */
export interface FieldPart {
  readonly kind: "field";
  /** The path of the value in the row: `studentId`, `to.courseId`. */
  readonly path: string;
  readonly format: FieldFormat;
  /** `path`, split at its dots. */
  readonly steps: readonly string[];
  /** The attribute within which the field lies: `address` of `address.city`. */
  readonly within?: string;
  /** True if the key ends before the field if the row lacks it. */
  readonly mayEnd?: true;
  /** True if every key begins with the field. */
  readonly leads?: true;
}

/** One piece of a template. A literal that follows a field always begins with the delimiter. */
export type TemplatePart = LiteralPart | FieldPart;

/** A parsed key template: data only, frozen. */
export interface Template extends KeyDialect {
  readonly kind: "template";
  readonly type: "S" | "N";
  /** What it was parsed from, such as `STUDENT#{studentId}`. */
  readonly source: string;
  readonly parts: readonly TemplatePart[];
  /** The distinct paths of its fields, in order of appearance. */
  readonly fields: readonly string[];
  /** The paths that may be missing, because they determine the number of shards or end the key. */
  readonly optional: readonly string[];
  /** The distinct members of a row that the fields are or lie within. */
  readonly within: readonly string[];
  /** The distinct paths whose values can be read from a key. */
  readonly carried: readonly string[];
  /**
   * True for the key of an index from which nothing is read: its values may contain the delimiter or be empty, because rows with
   * equal keys are distinguished by their own attributes.
   */
  readonly loose: boolean;
  /** True for an attribute that is not a key and contains one field unchanged, which may be an empty text or null. */
  readonly verbatim: boolean;
  /** True if a part follows a field without a delimiter. Then no field can be read. */
  readonly joined: boolean;
  /** True if a path appears in several readable places, which must then agree. */
  readonly repeats: boolean;
  /** A row has the key if it has one of these; undefined for every row. */
  readonly any?: readonly string[];
}
