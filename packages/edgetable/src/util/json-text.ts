const plain = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;

/** The JSON text of a value that may hold what JSON has no form for: a bigint is written as `5n`, a set as a list; else its type. */
export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value, plain) ?? typeof value;
  } catch {
    // A circle, or a member that will not be read.
    return typeof value;
  }
};
