/** A member of a record by a name that may be any text: what every object inherits, such as `constructor`, is none. */
export const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Sets a member of a record by a name that may be any text: `__proto__` becomes a member, and no prototype. */
export const setOwn = (record: Record<string, unknown>, name: string, value: unknown): void => {
  if (name === "__proto__") Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
  else record[name] = value;
};
