/**
 * How a time is kept. `text`: ISO 8601 in UTC with milliseconds, such as `2026-01-31T09:30:00.000Z`. `seconds`,
 * `milliseconds`: a whole number since 1970. `date`: stored as `text`, and a `Date` in rows.
 */
export type TimeForm = "text" | "seconds" | "milliseconds" | "date";

/** Which times of a row Edgetable keeps, and how. */
export interface TimestampSettings {
  /** The attribute with the time at which the row was created; false to keep none. @default "created" */
  readonly created?: string | false;
  /** The attribute with the time of the last write of the row; false to keep none. @default "modified" */
  readonly modified?: string | false;
  /** @default "text" */
  readonly as?: TimeForm;
  /** True if the table has rows without times, which were written before the model kept them: the row's type says so. @default false */
  readonly optional?: boolean;
}

/** The times of a row that Edgetable keeps: `created` and `modified` as text, or what the settings say. */
export type Timestamps = boolean | TimestampSettings;

/** The names and the form of a definition's times. */
export interface TimeAttributes {
  readonly created: string | undefined;
  readonly modified: string | undefined;
  readonly as: TimeForm;
}

type NamesOf<Times> = NameOf<Times, "created"> | NameOf<Times, "modified">;
type NameOf<Times, Which extends "created" | "modified"> = Times extends { readonly [One in Which]: infer Name } ? Name & string : Which;
type ValueIn<Times> = Times extends { readonly as: infer Form }
  ? Form extends "text"
    ? string
    : Form extends "date"
      ? Date
      : number
  : string;

/** The times of a row. */
export type TimesOf<Times> = Times extends false | undefined
  ? {}
  : {
      [Name in NamesOf<Times>]: Times extends { readonly optional: true } ? ValueIn<Times> | undefined : ValueIn<Times>;
    };

/** What Edgetable keeps in a row beside its own attributes: its version and its times; unknown for nothing. */
export type KeptIn<Version, Times> = Times extends undefined
  ? Version extends true
    ? { version: number }
    : unknown
  : (Version extends true ? { version: number } : {}) & TimesOf<Times>;

/** The names of the times of a row. */
export type TimeNames<Times> = [Times] extends [undefined] ? never : keyof TimesOf<Times> & string;

/** The times that a definition keeps; undefined if it keeps none. */
export const timesOf = ({ timestamps }: { readonly timestamps?: Timestamps | undefined }): TimeAttributes | undefined => {
  if (timestamps === undefined || timestamps === false) return undefined;
  const { created = "created", modified = "modified", as = "text" } = timestamps === true ? {} : timestamps;
  return { created: created || undefined, modified: modified || undefined, as };
};

/** The names of the times in a definition's rows. */
export const timeNames = (definition: { readonly timestamps?: Timestamps | undefined }): readonly string[] => {
  const { created, modified } = timesOf(definition) ?? {};
  return [created, modified].filter((name) => name !== undefined);
};

/**
 * A time as rows have it.
 *
 * @param now milliseconds since 1970
 */
export const timeIn = (as: TimeForm, now: number): string | number | Date => {
  if (as === "seconds") return Math.floor(now / 1000);
  if (as === "milliseconds") return Math.floor(now);
  return as === "date" ? new Date(now) : new Date(now).toISOString();
};
