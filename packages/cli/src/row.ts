/** Attributes by name. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether a value is a plain object: no list, no date, no set. */
export const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
