type Id = Readonly<Record<string, unknown>>;

const fieldText = (value: unknown): string => {
  if (value instanceof Date) return `=@${value.toISOString()}`;
  if (typeof value !== "string") return `=${String(value)}`;
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no percent-encoding; JSON escapes it.
    return `=${JSON.stringify(value)}`;
  }
};

/**
 * One text for one node, across all node types: `student:S1`, `place:US/TX/Austin`. Text is percent-encoded and what is
 * not text begins with `=`, so that two nodes never share one.
 */
export const nodeText = (type: string, fields: readonly string[], id: Id): string =>
  `${type}:${fields.map((field) => fieldText(id[field])).join("/")}`;
