/**
 * The value that a template's field finds in a row; undefined where a step is missing or the value is null.
 *
 * @param steps the field's path, split at its dots
 */
export const fieldValue = (row: Readonly<Record<string, unknown>>, steps: readonly string[]): unknown => {
  let value: unknown = row;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value ?? undefined;
};
