const only = <T>(all: Readonly<Record<string, T>> | undefined, used: ReadonlySet<string>): Readonly<Record<string, T>> | undefined => {
  const kept = Object.entries(all ?? {}).filter(([name]) => used.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
};

interface Placeholders<V> {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, V>>;
}

/** Those names and values that the expressions use: the service refuses a request that carries others. */
export const usedPlaceholders = <V>(expressions: readonly string[], given: Placeholders<V>): Placeholders<V> => {
  const used = new Set(expressions.flatMap((text) => text.match(/[:#][\w-]+/g) ?? []));
  const names = only(given.ExpressionAttributeNames, used);
  const values = only(given.ExpressionAttributeValues, used);
  return { ...(names && { ExpressionAttributeNames: names }), ...(values && { ExpressionAttributeValues: values }) };
};
