/** The same names with other values. */
export const mapValues = <From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
