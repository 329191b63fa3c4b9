const toJson = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;

/** A value's JSON text, with bigints as `5n` and sets as arrays; the name of its type where it has no JSON text. */
export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value, toJson) ?? typeof value;
  } catch {
    // A circular value, or a getter that throws.
    return typeof value;
  }
};
