type Json = Readonly<Record<string, unknown>>;

const call = /\bbegins_with\s*\(\s*([^\s,()]+)\s*,\s*(:\w+)\s*\)/i;

// A sort key is 1,024 bytes at most (ServiceQuotas), and this is its greatest character, of four bytes: no key goes on beyond it.
const greatest = "\u{10ffff}".repeat(256);

const unusedName = (names: object, wanted: string): string => (wanted in names ? unusedName(names, `${wanted}_`) : wanted);

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === "object" && value !== null && "S" in value ? value.S : undefined;
  return typeof text === "string" ? text : undefined;
};

/** The same in the older form of a key condition, `KeyConditions`, which SDKs of every language still send. */
const compareLegacy = (input: Json): Json => {
  const { KeyConditions: conditions } = input;
  if (typeof conditions !== "object" || conditions === null) return input;
  let changed = input;
  for (const [name, condition] of Object.entries(conditions as Json)) {
    const { ComparisonOperator: operator, AttributeValueList: list } = (condition ?? {}) as Json;
    const prefix = Array.isArray(list) && list.length === 1 ? textOf(list[0]) : undefined;
    if (operator !== "BEGINS_WITH" || prefix === undefined) continue;
    const between = { ComparisonOperator: "BETWEEN", AttributeValueList: [{ S: prefix }, { S: `${prefix}${greatest}` }] };
    changed = { ...changed, KeyConditions: { ...(changed["KeyConditions"] as Json), [name]: between } };
  }
  return changed;
};

/**
 * The engine's `begins_with` of a key takes `a` for `A`, and ends a text at U+0000; its BETWEEN compares bytes, as AWS
 * documents of both. A filter's `begins_with` is as documented.
 */
export const compareBytes = (input: Json): Json => {
  const { KeyConditionExpression: asked, ExpressionAttributeValues: given } = input;
  if (typeof asked !== "string" || typeof given !== "object" || given === null) return compareLegacy(input);
  const values = given as Json;
  const [text, path, from = ""] = call.exec(asked) ?? [];
  const prefix = textOf(values[from]);
  if (text === undefined || path === undefined || prefix === undefined) return input;
  const to = unusedName(values, `${from}End`);
  return {
    ...input,
    KeyConditionExpression: asked.replace(text, () => `${path} BETWEEN ${from} AND ${to}`),
    ExpressionAttributeValues: { ...values, [to]: { S: `${prefix}${greatest}` } },
  };
};
