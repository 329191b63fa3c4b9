/** Attributes by name. */
export type Row = Readonly<Record<string, unknown>>;

/** True for a number or a bigint: DynamoDB stores both as type N. */
export const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** A record's own member. Inherited members, such as `constructor`, are undefined. */
export const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Sets a record's own member. The name `__proto__` sets a member too, never the prototype. */
export const setOwn = (record: Record<string, unknown>, name: string, value: unknown): void => {
  if (name === "__proto__") Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
  else record[name] = value;
};

/** The value at a dotted path of a row; undefined where a step is missing. */
export const valueAt = (row: Row, path: string): unknown => {
  if (!path.includes(".")) return own(row, path);
  let value: unknown = row;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = own(value as Row, step);
  }
  return value;
};

/** A record with the same names and converted values. */
export const mapValues = <From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
