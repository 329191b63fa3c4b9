/** The most shards of a key: Edgetable's own limit, for a slip of the hand that would make every read ask a million partitions. */
export const MAX_SHARDS = 65_536;

/** Into how many shards the items of a key are spread. One definition serves writer and readers (law 10). */
export interface Sharding {
  /** Numbers of shards, 1 to 65,536, each a multiple or a divisor of the others: the first is the writers', readers look in all. */
  readonly counts: readonly number[];
  /** The row's field by whose value the counts differ. */
  readonly per?: { readonly path: string; readonly steps: readonly string[] };
  /** Counts for some values of that field, as texts. */
  readonly hot?: Readonly<Record<string, readonly number[]>>;
}

/** How one field of a key template is written as text and read back. */
export type FieldFormat =
  /** Any well-formed Unicode text. */
  | { readonly kind: "text" }
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
  /** A stable hash of the value modulo a count of shards; one-way. */
  | { readonly kind: "shard"; readonly sharding: Sharding }
  /** The first of several formats that takes the value. */
  | { readonly kind: "either"; readonly formats: readonly FieldFormat[] };

/** What separates the fields of a key, and whether texts are escaped so that they never contain it. */
export interface KeyDialect {
  /** One character that is neither a letter, a digit nor a brace; `!`, `"` or `#` when `escapes`. */
  readonly delimiter: string;
  /** True for the library's own layouts; false for adopted ones, which refuse the delimiter in a value. */
  readonly escapes: boolean;
  /** The type of the attribute: `N` is one number alone. @default "S" */
  readonly type?: "S" | "N" | undefined;
  /** True for the table's keys in an adopted layout: there a key that begins with `~` is one of Edgetable's own items. */
  readonly reserves?: boolean;
  /** Shardings that templates may name: `{orderId:shard(hotStatus)}`. */
  readonly shardings?: Readonly<Record<string, Sharding>> | undefined;
}

/** Why a value cannot be written; the thrower adds the field and the template. */
export interface Refusal {
  readonly kind: "refusal";
  readonly code: "keys.delimiter" | "keys.reserved" | "keys.empty" | "keys.wrongType" | "keys.notEncodable";
  /** Continues "the value ... of {field} ...". */
  readonly problem: string;
  /** A whole sentence: what to do about it. */
  readonly mend: string;
}

/** Makes a {@link Refusal}. */
export const refusal = (code: Refusal["code"], problem: string, mend: string): Refusal => ({ kind: "refusal", code, problem, mend });
