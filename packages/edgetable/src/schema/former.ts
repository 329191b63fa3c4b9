import type { AnySchema } from "./standard-schema.ts";

/**
 * Which form items are written in. `old`: as programs with the model before write and read it. `new`: as the schema says, once
 * there is no such program; a migration then converts the items. Both forms are read at any time.
 */
export type StoredForm = "old" | "new";

/** The name under which the model before had an attribute. */
export type Renaming =
  | string
  | {
      readonly from: string;
      /** @default "old" */
      readonly stored?: StoredForm;
    };

/** How values of an attribute become what the schema says now. All of it is synchronous. */
export interface Retyping {
  /** The schema of the old values. It must reject every new value, unless the attribute is renamed as well. */
  readonly from: AnySchema;
  /** Makes a new value of an old one, as it is stored: a `Date` of the model before is its ISO text. */
  with(value: unknown): unknown;
  /** Makes an old value of a new one; `with` makes the same value of it again. Needed while `stored` is `old`. */
  back?(value: unknown): unknown;
  /** @default "old" */
  readonly stored?: StoredForm;
}

/** Attributes that the model before had otherwise. */
export interface FormerSettings {
  readonly renamed?: Readonly<Record<string, Renaming | undefined>>;
  readonly retyped?: Readonly<Record<string, Retyping | undefined>>;
}
