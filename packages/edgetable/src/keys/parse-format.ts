import { didYouMean } from "../util/did-you-mean.ts";
import { MAX_SHARDS, type FieldFormat, type KeyDialect } from "./field-format.ts";
import { invalidTemplate } from "./invalid-template.ts";

const named: Readonly<Record<string, FieldFormat>> = {
  text: { kind: "text" },
  number: { kind: "number" },
  plain: { kind: "plain" },
  date: { kind: "date" },
  boolean: { kind: "boolean" },
};
const known = [...Object.keys(named), "shard(16)", "6"];
const shardShape = /^shard\(([^()]*)\)$/;
const maximalWidth = 16; // 2^53 - 1 has 16 digits.

const parsePadded = (text: string, source: string): FieldFormat => {
  const width = Number(text);
  if (width >= 1 && width <= maximalWidth) return { kind: "padded", width };
  return invalidTemplate(source, `the width ${text} is not between 1 and ${maximalWidth}.`);
};

/** Shardings that a format may name. */
type Shardings = KeyDialect["shardings"];

const parseCount = (text: string, source: string): number => {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_SHARDS) return count;
  return invalidTemplate(source, `the shard count ${text} is not between 1 and ${MAX_SHARDS}.`);
};

const parseShard = (text: string, source: string, shardings: Shardings = {}): FieldFormat => {
  if (Object.hasOwn(shardings, text)) return { kind: "shard", sharding: shardings[text]! };
  if (/^[\d|]*$/.test(text)) return { kind: "shard", sharding: { counts: text.split("|").map((count) => parseCount(count, source)) } };
  return invalidTemplate(
    source,
    `"${text}" is neither a count of shards nor a sharding of the layout.${didYouMean(text, Object.keys(shardings))}`,
  );
};

const parseOne = (text: string, source: string, shardings: Shardings): FieldFormat => {
  if (Object.hasOwn(named, text)) return named[text] ?? { kind: "text" };
  if (/^\d+$/.test(text)) return parsePadded(text, source);
  const shard = shardShape.exec(text)?.[1];
  if (shard !== undefined) return parseShard(shard, source, shardings);
  return invalidTemplate(source, `"${text}" is not a format.${didYouMean(text, known)}`);
};

// What a bar separates, save inside parentheses: `shard(32|8)` is one format.
const choice = /\|(?![^(]*\))/;

/** Parses what stands after a field's colon: `number`, `6`, `shard(16)`, `shard(32|8)`, `6|text`. */
export const parseFormat = (text: string, source: string, shardings?: Shardings): FieldFormat => {
  const choices = text.split(choice);
  if (choices.length === 1) return parseOne(text, source, shardings);
  const formats = choices.map((one) => parseOne(one, source, shardings));
  if (formats.some((format) => format.kind === "shard")) {
    return invalidTemplate(source, `"${text}" offers a shard as a choice, but a shard cannot be read back to tell it from the others.`);
  }
  return Object.freeze({ kind: "either", formats: Object.freeze(formats) });
};
