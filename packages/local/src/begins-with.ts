import type { QueryInput } from "edgetable";

const call = /\bbegins_with\s*\(\s*([^\s,()]+)\s*,\s*(:\w+)\s*\)/i;

// A sort key is 1,024 bytes at most (ServiceQuotas), and this is its greatest character, of four bytes: no key goes on beyond it.
const greatest = "\u{10ffff}".repeat(256);

const unusedName = (names: object, wanted: string): string => (wanted in names ? unusedName(names, `${wanted}_`) : wanted);

/**
 * The engine's `begins_with` of a key takes `a` for `A`, and ends a text at U+0000; its BETWEEN compares bytes, as AWS
 * documents of both. A filter's `begins_with` is as documented.
 */
export const compareBytes = (input: QueryInput): QueryInput => {
  const { KeyConditionExpression: asked, ExpressionAttributeValues: values = {} } = input;
  const [text, path, from = ""] = call.exec(asked) ?? [];
  const prefix = values[from];
  if (text === undefined || path === undefined || prefix === undefined || !("S" in prefix)) return input;
  const to = unusedName(values, `${from}End`);
  return {
    ...input,
    KeyConditionExpression: asked.replace(text, () => `${path} BETWEEN ${from} AND ${to}`),
    ExpressionAttributeValues: { ...values, [to]: { S: `${prefix.S}${greatest}` } },
  };
};
