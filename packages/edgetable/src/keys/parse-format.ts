import { didYouMean } from "../util/did-you-mean.ts";
import type { FieldFormat } from "./field-format.ts";
import { invalidTemplate } from "./invalid-template.ts";

const named: Readonly<Record<string, FieldFormat>> = {
  text: { kind: "text" },
  number: { kind: "number" },
  plain: { kind: "plain" },
  date: { kind: "date" },
  boolean: { kind: "boolean" },
};
const known = [...Object.keys(named), "shard(16)", "6"];
const shardShape = /^shard\((\d+)\)$/;
const maximalWidth = 16; // 2^53 - 1 has 16 digits.
const maximalShards = 65_536;

const parsePadded = (text: string, source: string): FieldFormat => {
  const width = Number(text);
  if (width >= 1 && width <= maximalWidth) return { kind: "padded", width };
  return invalidTemplate(source, `the width ${text} is not between 1 and ${maximalWidth}.`);
};

const parseShard = (text: string, source: string): FieldFormat => {
  const count = Number(text);
  if (count >= 1 && count <= maximalShards) return { kind: "shard", count };
  return invalidTemplate(source, `the shard count ${text} is not between 1 and ${maximalShards}.`);
};

const parseOne = (text: string, source: string): FieldFormat => {
  if (Object.hasOwn(named, text)) return named[text] ?? { kind: "text" };
  if (/^\d+$/.test(text)) return parsePadded(text, source);
  const shard = shardShape.exec(text)?.[1];
  if (shard !== undefined) return parseShard(shard, source);
  return invalidTemplate(source, `"${text}" is not a format.${didYouMean(text, known)}`);
};

/** Parses what stands after a field's colon: `number`, `6`, `shard(16)`, `6|text`. */
export const parseFormat = (text: string, source: string): FieldFormat => {
  if (!text.includes("|")) return parseOne(text, source);
  const formats = text.split("|").map((one) => parseOne(one, source));
  if (formats.some((format) => format.kind === "shard")) {
    return invalidTemplate(source, `"${text}" offers a shard as a choice, but a shard cannot be read back to tell it from the others.`);
  }
  return Object.freeze({ kind: "either", formats: Object.freeze(formats) });
};
