import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { isOneWay } from "./render-template.ts";
import { MAX_SHARDS, type FieldFormat, type KeyDialect, type FieldPart, type Template, type TemplatePart } from "./key-template.ts";
import { isWellFormed } from "./value-text.ts";

/** Throws an error about a template's source text, with a message that says what is wrong. */
const invalidTemplate = (source: string, sentence: string): never => {
  throw new EdgetableError("schema.invalidModel", `key template ${JSON.stringify(source)}: ${sentence}`, { details: { template: source } });
};

const NAMED: Readonly<Record<string, FieldFormat>> = {
  text: { kind: "text" },
  digits: { kind: "digits" },
  letters: { kind: "letters" },
  number: { kind: "number" },
  plain: { kind: "plain" },
  date: { kind: "date" },
  boolean: { kind: "boolean" },
  lower: { kind: "lower" },
  upper: { kind: "upper" },
  written: { kind: "written" },
};
const KNOWN = [...Object.keys(NAMED), "shard(16)", "6"];
const MAX_WIDTH = 16; // 2^53 - 1 has 16 digits.

/** Shardings that a format may name. */
type Shardings = KeyDialect["shardings"];

const parseShard = (text: string, source: string, shardings: Shardings = {}): FieldFormat => {
  if (Object.hasOwn(shardings, text)) return { kind: "shard", sharding: shardings[text]! };
  if (!/^[\d|]*$/.test(text)) {
    const suggestion = didYouMean(text, Object.keys(shardings));
    return invalidTemplate(source, `"${text}" is neither a count of shards nor a sharding of the layout.${suggestion}`);
  }
  const counts = text.split("|").map((count) => {
    const number = /^\d+$/.test(count) ? Number(count) : 0;
    if (number >= 1 && number <= MAX_SHARDS) return number;
    return invalidTemplate(source, `the shard count ${count} is not between 1 and ${MAX_SHARDS}.`);
  });
  return { kind: "shard", sharding: { counts } };
};

const parseOne = (text: string, source: string, shardings: Shardings): FieldFormat => {
  if (Object.hasOwn(NAMED, text)) return NAMED[text] ?? { kind: "text" };
  if (/^\d+$/.test(text)) {
    const width = Number(text);
    if (width >= 1 && width <= MAX_WIDTH) return { kind: "padded", width };
    return invalidTemplate(source, `the width ${text} is not between 1 and ${MAX_WIDTH}.`);
  }
  const written = /^written\((\d+)\)$/.exec(text)?.[1];
  if (written !== undefined) {
    const padded = parseOne(written, source, shardings);
    return padded.kind === "padded" ? { kind: "written", width: padded.width } : padded;
  }
  const shard = /^shard\(([^()]*)\)$/.exec(text)?.[1];
  if (shard !== undefined) return parseShard(shard, source, shardings);
  return invalidTemplate(source, `"${text}" is not a format.${didYouMean(text, KNOWN)}`);
};

// A bar outside parentheses: `shard(32|8)` is one format.
const CHOICE = /\|(?![^(]*\))/;

/** Parses the text after a field's colon: `number`, `6`, `shard(16)`, `shard(32|8)`, `6|text`. */
const parseFormat = (text: string, source: string, shardings?: Shardings): FieldFormat => {
  const choices = text.split(CHOICE);
  if (choices.length === 1) return parseOne(text, source, shardings);
  const formats = choices.map((one) => parseOne(one, source, shardings));
  const oneWay = formats.find(isOneWay);
  if (oneWay)
    return invalidTemplate(
      source,
      `"${text}" offers ${oneWay.kind === "shard" ? "a shard" : `"${oneWay.kind}"`} as a choice, which cannot be read back to tell it from the others.`,
    );
  return Object.freeze({ kind: "either", formats: Object.freeze(formats) });
};

const ADOPTED_DELIMITER = /^[^\p{L}\p{N}{}\p{Surrogate}]$/u;
const ESCAPING_DELIMITER = /^[!"#]$/;
const STEP = /^[^\s{}:|]+$/;

const checkDelimiter = (source: string, { delimiter, escapes }: KeyDialect): void => {
  const given = JSON.stringify(delimiter);
  // Compiling Unicode classes takes half a millisecond, and models in Edgetable's own layout never need them.
  if (ESCAPING_DELIMITER.test(delimiter)) return;
  if (escapes) {
    // Fields are escaped up to "$". A delimiter must sort below it, so that a field sorts before any longer one.
    invalidTemplate(source, `the delimiter ${given} cannot be escaped in order; use "#", "!" or '"', or a layout without escapes.`);
  }
  if (delimiter.length !== 1 || !ADOPTED_DELIMITER.test(delimiter)) {
    invalidTemplate(source, `the delimiter ${given} must be one character that is neither a letter, a digit nor a brace.`);
  }
};

const alwaysContains = (format: FieldFormat, delimiter: string): boolean => {
  if (format.kind === "either") return format.formats.some((one) => alwaysContains(one, delimiter));
  return format.kind === "date" && "-:.".includes(delimiter);
};

const parseField = (body: string, source: string, dialect: KeyDialect & { readonly leads: boolean }): FieldPart => {
  const { delimiter, escapes, reserves = false, shardings, leads, ends } = dialect;
  if (body.includes("{")) invalidTemplate(source, `the brace before "${body.slice(0, body.indexOf("{"))}" is never closed.`);
  const colon = body.indexOf(":");
  const named = (colon === -1 ? body : body.slice(0, colon)).trim();
  const mayEnd = named.endsWith("?");
  const path = mayEnd ? named.slice(0, -1) : named;
  const steps = path.split(".");
  for (const step of steps) {
    if (step === "")
      invalidTemplate(source, path === "" ? "a field has no name; write {name}." : `the field {${path}} has an empty name beside a dot.`);
    if (!STEP.test(step) || !isWellFormed(step)) invalidTemplate(source, `"${path}" is not a field name.`);
    // In a row without this attribute, the name would find the prototype's member.
    if (step in Object.prototype) invalidTemplate(source, `"${step}" cannot be a field name: every JavaScript object has such a member.`);
  }
  const format = colon === -1 ? ({ kind: "text" } as const) : parseFormat(body.slice(colon + 1).trim(), source, shardings);
  if (alwaysContains(format, delimiter)) {
    invalidTemplate(
      source,
      `{${path}} is a date, whose text contains the delimiter "${delimiter}"; use another delimiter or keep the date as a number.`,
    );
  }
  if (escapes && isOneWay(format) && format.kind !== "shard") {
    invalidTemplate(
      source,
      `"${format.kind}" is a format of a layout of your own: Edgetable's layout reads every value back from its key.`,
    );
  }
  if (mayEnd && (!isOneWay(format) || format.kind === "shard" || reserves)) {
    const why = reserves ? "a key of the table is always whole" : `only "lower", "upper" and "written" may be missing`;
    invalidTemplate(source, `{${path}?} says that the key ends where the field is missing, but ${why}.`);
  }
  const [within = path] = steps;
  const isWithin = steps.length > 1 && ends !== undefined && !ends.includes(within);
  const part = { kind: "field", path, format: Object.freeze(format), steps: Object.freeze(steps) } as const;
  return Object.freeze({ ...part, ...(isWithin ? { within } : {}), ...(leads ? { leads } : {}), ...(mayEnd ? { mayEnd } : {}) });
};

const parseParts = (source: string, dialect: KeyDialect): TemplatePart[] => {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf("{", at);
    const text = source.slice(at, open === -1 ? source.length : open);
    if (text.includes("}")) invalidTemplate(source, `the brace after "${text.slice(0, text.indexOf("}"))}" was never opened.`);
    if (!isWellFormed(text)) invalidTemplate(source, "its text contains half of a surrogate pair.");
    if (text !== "") parts.push(Object.freeze({ kind: "literal", text }));
    if (open === -1) return parts;
    const close = source.indexOf("}", open);
    if (close === -1) invalidTemplate(source, `the brace before "${source.slice(open + 1)}" is never closed.`);
    parts.push(parseField(source.slice(open + 1, close), source, { ...dialect, leads: open === 0 }));
    at = close + 1;
  }
  return parts;
};

/** Returns true if a part follows a field without a delimiter. This is only allowed if the field is never read back. */
const checkNeighbours = (source: string, { delimiter, reserves }: KeyDialect, parts: readonly TemplatePart[]): boolean => {
  let joined = false;
  for (const [index, part] of parts.entries()) {
    const before = parts[index - 1];
    if (before?.kind !== "field" || (part.kind === "literal" && part.text.startsWith(delimiter))) continue;
    joined = true;
    if (isOneWay(before.format) && before.format.kind !== "shard" && !reserves) continue;
    if (part.kind === "field")
      invalidTemplate(source, `nothing stands between {${before.path}} and {${part.path}}; put "${delimiter}" there.`);
    else {
      invalidTemplate(
        source,
        `"${part.text}" follows {${before.path}} but does not begin with the delimiter "${delimiter}", so nothing ends the field.`,
      );
    }
  }
  return joined;
};

/**
 * Parses a key template such as `TEACHER#{to.teacherId}#CLASS#{class}`. A field is `{path}` or `{path:format}`, the format one of
 * `text` (the default), `digits`, `letters`, `number`, `plain`, `date`, `boolean`, `lower`, `upper`, `written`, a width such as
 * `6`, `shard(16)`, or a choice such as `6|text`.
 *
 * @throws {schema.invalidModel} if the source or the delimiter is malformed
 * @example
 * ```ts
 * const key = parseTemplate("STUDENT#{studentId}", { delimiter: "#", escapes: true });
 * renderTemplate(key, { studentId: "S1" }); // "STUDENT#S1"
 * ```
 */
export const parseTemplate = (source: string, options: KeyDialect): Template => {
  const { delimiter, escapes, reserves = false, beside = false, type = "S", when } = options;
  checkDelimiter(source, options);
  if (source === "") invalidTemplate(source, "it is empty; a key needs at least one character.");
  const parts = parseParts(source, options);
  const joined = checkNeighbours(source, options, parts);
  const [only, ...others] = parts;
  const isNumber = only?.kind === "field" && only.format.kind === "number" && others.length === 0;
  if (type === "N" && !isNumber)
    invalidTemplate(source, "its attribute is a number (layout.types), which holds one number and no text; write {field:number}.");
  const places = parts.filter((part) => part.kind === "field");
  const deciding = places.flatMap(({ format }) => (format.kind === "shard" && format.sharding.per ? [format.sharding.per.path] : []));
  // A key that begins with the field, or contains it elsewhere as well, does not exist without it.
  const isNeeded = (path: string): boolean => places.some((place) => place.path === path && (!place.mayEnd || place.leads));
  const optional = [...deciding, ...places.flatMap(({ path, mayEnd }) => (mayEnd && !isNeeded(path) ? [path] : []))];
  const fields = Object.freeze([...new Set([...places.map((place) => place.path), ...deciding])]);
  const within = Object.freeze([
    ...new Set([...places.map((place) => place.within ?? place.path), ...deciding, ...(when?.map(({ path }) => path) ?? [])]),
  ]);
  // Fields after the possible end of a key are missing in some keys, so they have attributes of their own.
  const end = places.findIndex(({ mayEnd }) => mayEnd);
  const readable = (end === -1 ? places : places.slice(0, end))
    .filter(({ format, within: outer }) => !joined && !when && !isOneWay(format) && outer === undefined)
    .map(({ path }) => path);
  const carried = Object.freeze([...new Set(readable)]);
  const isText = ({ format }: FieldPart): boolean =>
    format.kind === "lower" || format.kind === "upper" || (format.kind === "written" && format.width === undefined);
  const loose = !escapes && !reserves && carried.length === 0 && places.some(isText);
  const verbatim = beside && parts.length === 1 && only?.kind === "field" && !isOneWay(only.format);
  const repeats = carried.length < readable.length;
  const dialect = { delimiter, escapes, reserves, type } as const;
  return Object.freeze({
    kind: "template",
    source,
    ...dialect,
    parts: Object.freeze(parts),
    fields,
    optional,
    within,
    carried,
    loose,
    verbatim,
    joined,
    repeats,
    when,
  });
};
