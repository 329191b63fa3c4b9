/** Attributes by name. */
export type Row = Readonly<Record<string, unknown>>;
