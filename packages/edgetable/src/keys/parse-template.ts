import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { MAX_SHARDS, type FieldFormat, type KeyDialect, type FieldPart, type Template, type TemplatePart } from "./key-template.ts";
import { isWellFormed } from "./value-text.ts";

/** Refuses a template's source text with a sentence that says what is wrong with it. */
const invalidTemplate = (source: string, sentence: string): never => {
  throw new EdgetableError("schema.invalidModel", `key template ${JSON.stringify(source)}: ${sentence}`, { details: { template: source } });
};

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
const parseFormat = (text: string, source: string, shardings?: Shardings): FieldFormat => {
  const choices = text.split(choice);
  if (choices.length === 1) return parseOne(text, source, shardings);
  const formats = choices.map((one) => parseOne(one, source, shardings));
  if (formats.some((format) => format.kind === "shard")) {
    return invalidTemplate(source, `"${text}" offers a shard as a choice, but a shard cannot be read back to tell it from the others.`);
  }
  return Object.freeze({ kind: "either", formats: Object.freeze(formats) });
};

const adoptedDelimiter = /^[^\p{L}\p{N}{}\p{Surrogate}]$/u;
const escapingDelimiter = /^[!"#]$/;
const stepShape = /^[^\s{}:|]+$/;

const checkDelimiter = (source: string, { delimiter, escapes }: KeyDialect): void => {
  const given = JSON.stringify(delimiter);
  // The classes of Unicode take half a millisecond to compile: a model in Edgetable's own layout never asks for them.
  if (escapingDelimiter.test(delimiter)) return;
  if (escapes) {
    // Fields are escaped up to "$"; only what sorts below that ends a field before any longer one.
    invalidTemplate(source, `the delimiter ${given} cannot be escaped in order; use "#", "!" or '"', or a layout without escapes.`);
  }
  if (delimiter.length !== 1 || !adoptedDelimiter.test(delimiter)) {
    invalidTemplate(source, `the delimiter ${given} must be one character that is neither a letter, a digit nor a brace.`);
  }
};

const checkSteps = (source: string, path: string, steps: readonly string[]): void => {
  for (const step of steps) {
    if (step === "")
      invalidTemplate(source, path === "" ? "a field has no name; write {name}." : `the field {${path}} has an empty name beside a dot.`);
    if (!stepShape.test(step) || !isWellFormed(step)) invalidTemplate(source, `"${path}" is not a field's name.`);
    // Such a name would find the prototype's value in a row that has none of its own.
    if (step in Object.prototype) invalidTemplate(source, `"${step}" cannot be a field's name, every JavaScript object has it.`);
  }
};

const containsAlways = (format: FieldFormat, delimiter: string): boolean => {
  if (format.kind === "either") return format.formats.some((one) => containsAlways(one, delimiter));
  return format.kind === "date" && "-:.".includes(delimiter);
};

const parseField = (body: string, source: string, { delimiter, shardings, leads }: KeyDialect & { readonly leads: boolean }): FieldPart => {
  if (body.includes("{")) invalidTemplate(source, `the brace before "${body.slice(0, body.indexOf("{"))}" is never closed.`);
  const colon = body.indexOf(":");
  const path = (colon === -1 ? body : body.slice(0, colon)).trim();
  const steps = path.split(".");
  checkSteps(source, path, steps);
  const format = colon === -1 ? ({ kind: "text" } as const) : parseFormat(body.slice(colon + 1).trim(), source, shardings);
  if (containsAlways(format, delimiter)) {
    invalidTemplate(
      source,
      `{${path}} is a date, whose text contains the delimiter "${delimiter}"; use another delimiter or keep the date as a number.`,
    );
  }
  const part = { kind: "field", path, format: Object.freeze(format), steps: Object.freeze(steps) } as const;
  return Object.freeze(leads ? { ...part, leads } : part);
};

const checkLiteral = (text: string, source: string): void => {
  if (text.includes("}")) invalidTemplate(source, `the brace after "${text.slice(0, text.indexOf("}"))}" was never opened.`);
  if (!isWellFormed(text)) invalidTemplate(source, "its text holds half of a surrogate pair.");
};

const parseParts = (source: string, dialect: KeyDialect): TemplatePart[] => {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{", at);
    const text = source.slice(at, open === -1 ? source.length : open);
    checkLiteral(text, source);
    if (text !== "") parts.push(Object.freeze({ kind: "literal", text }));
    if (open === -1) return parts;
    const close = source.indexOf("}", open);
    if (close === -1) invalidTemplate(source, `the brace before "${source.slice(open + 1)}" is never closed.`);
    parts.push(parseField(source.slice(open + 1, close), source, { ...dialect, leads: open === 0 }));
    at = close + 1;
  }
  return parts;
};

const checkNeighbours = (source: string, delimiter: string, parts: readonly TemplatePart[]): void => {
  for (const [index, part] of parts.entries()) {
    const before = parts[index - 1];
    if (before?.kind !== "field") continue;
    if (part.kind === "field")
      invalidTemplate(source, `nothing stands between {${before.path}} and {${part.path}}; put "${delimiter}" there.`);
    if (part.kind === "literal" && !part.text.startsWith(delimiter)) {
      invalidTemplate(
        source,
        `"${part.text}" follows {${before.path}} but does not begin with the delimiter "${delimiter}", so nothing ends the field.`,
      );
    }
  }
};

const checkNumber = (source: string, parts: readonly TemplatePart[]): void => {
  const [only, ...others] = parts;
  if (only?.kind === "field" && only.format.kind === "number" && others.length === 0) return;
  invalidTemplate(source, "its attribute is a number (layout.types), which holds one number and no text; write {field:number}.");
};

/**
 * Parses a key template such as `TEACHER#{to.teacherId}#CLASS#{class}`. A field is `{path}` or
 * `{path:format}`, the format one of `text` (the default), `number`, `plain`, `date`, `boolean`, a
 * width such as `6`, `shard(16)`, or a choice such as `6|text`.
 *
 * @throws {schema.invalidModel} when the source or the delimiter is malformed
 * @example
 * ```ts
 * const key = parseTemplate("STUDENT#{studentId}", { delimiter: "#", escapes: true });
 * renderTemplate(key, { studentId: "S1" }); // "STUDENT#S1"
 * ```
 */
export const parseTemplate = (source: string, options: KeyDialect): Template => {
  const { delimiter, escapes, reserves = false, type = "S" } = options;
  checkDelimiter(source, options);
  if (source === "") invalidTemplate(source, "it is empty; a key needs at least one character.");
  const parts = parseParts(source, options);
  checkNeighbours(source, delimiter, parts);
  if (options.type === "N") checkNumber(source, parts);
  const places = parts.filter((part) => part.kind === "field");
  const optional = places.flatMap(({ format }) => (format.kind === "shard" && format.sharding.per ? [format.sharding.per.path] : []));
  const fields = Object.freeze([...new Set([...places.map((place) => place.path), ...optional])]);
  const readable = places.filter((place) => place.format.kind !== "shard").map((place) => place.path);
  const repeats = new Set(readable).size < readable.length;
  const dialect = { delimiter, escapes, reserves, type } as const;
  return Object.freeze({ kind: "template", source, ...dialect, parts: Object.freeze(parts), fields, optional, repeats });
};
