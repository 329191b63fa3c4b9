import type { StandardSchema } from "edgetable";

type Row = Readonly<Record<string, unknown>>;

const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const isDate = /^\d{4}-\d{2}-\d{2}(?:T|$)/;

const parsed = (text: string): readonly unknown[] => {
  if (!/^[[{"]/.test(text)) return [];
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
};

/** What a text may stand for beside itself, the likeliest first. */
const candidates = (text: string): readonly unknown[] => [
  ...(isNumber.test(text) ? [Number(text)] : []),
  ...(/^[+-]?\d+$/.test(text) ? [BigInt(text)] : []),
  ...(/^(?:true|false)$/i.test(text) ? [text.toLowerCase() === "true"] : []),
  ...(text === "null" ? [null] : []),
  ...(isDate.test(text) ? [new Date(text)] : []),
  ...parsed(text),
];

const refused = async (schema: StandardSchema, row: Row): Promise<ReadonlySet<string>> => {
  const { issues = [] } = await schema["~standard"].validate(row);
  return new Set(
    issues.flatMap(({ path }) => {
      const step = path?.[0];
      return step === undefined ? [] : String(typeof step === "object" ? step.key : step);
    }),
  );
};

/**
 * Gives texts the types that a schema wants. A schema cannot be asked for its types, so a text that it
 * refuses is offered as number, boolean, date and JSON; what it still refuses stays text.
 */
export const fitTexts = async (schema: StandardSchema | undefined, row: Row, texts: ReadonlySet<string>): Promise<Row> => {
  if (!schema || texts.size === 0) return row;
  const fitted: Record<string, unknown> = { ...row };
  for (const field of await refused(schema, row)) {
    const text = row[field];
    if (!texts.has(field) || typeof text !== "string") continue;
    for (const candidate of candidates(text)) {
      if ((await refused(schema, { ...fitted, [field]: candidate })).has(field)) continue;
      fitted[field] = candidate;
      break;
    }
  }
  return fitted;
};
