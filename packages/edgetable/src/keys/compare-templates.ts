import { unreachable } from "../util/invariant.ts";
import { decodeFormat, isOneWay, mostShards, leadOf } from "./render-template.ts";
import type { FieldFormat, Template } from "./key-template.ts";

// True if texts of the format, each followed by the delimiter, sort as their values do.
const ordersWithDelimiter = (format: FieldFormat, template: Template): boolean => {
  switch (format.kind) {
    case "either":
      return format.formats.every((one) => ordersWithDelimiter(one, template));
    case "padded":
    case "date":
    case "boolean":
      return true;
    case "number":
    case "digits":
      return template.delimiter < "0";
    case "letters":
      return template.delimiter < "A";
    case "text":
      // Unescaped, "a b" sorts before "a#": a space is less than the delimiter that ends the shorter text.
      return template.escapes;
    default:
      return false;
  }
};

const ordersAlone = (format: FieldFormat): boolean =>
  format.kind === "either" ? format.formats.every(ordersAlone) : format.kind !== "plain" && !isOneWay(format);

/**
 * True if keys that share everything before a field sort by that field's value, so that a range of values is a range of keys. With
 * escapes this is true for every format except `plain` and the one-way formats. In an adopted layout, a text or number that is
 * followed by another part may sort differently. Under a choice of formats (`6|text`), values of different types may mix.
 */
export const keepsOrder = (template: Template, path: string): boolean => {
  const index = template.parts.findIndex((part) => part.kind === "field" && part.path === path);
  const part = template.parts[index];
  if (part?.kind !== "field") return false;
  return index === template.parts.length - 1 ? ordersAlone(part.format) : ordersWithDelimiter(part.format, template);
};

/** The text between two delimiters: a fixed text, then at most one field. */
interface Segment {
  readonly fixed: string;
  readonly format: FieldFormat | undefined;
}

/** The alphabet of a format's texts, and their shortest and longest length. */
interface Outline {
  readonly alphabet: "any" | "digits" | "letters" | "number" | "boolean" | "date";
  readonly shortest: number;
  readonly longest: number;
}

const segmentsOf = (template: Template): Segment[] => {
  const segments: Segment[] = [];
  let fixed = "";
  let format: FieldFormat | undefined;
  for (const part of template.parts) {
    if (part.kind === "field") {
      format = part.format;
      continue;
    }
    const pieces = part.text.split(template.delimiter);
    fixed += pieces[0] ?? "";
    for (const piece of pieces.slice(1)) {
      segments.push({ fixed, format });
      fixed = piece;
      format = undefined;
    }
  }
  return [...segments, { fixed, format }];
};

const outlineOf = (format: Exclude<FieldFormat, { kind: "either" }>): Outline => {
  switch (format.kind) {
    case "text":
    case "lower":
    case "upper":
    case "written":
      if ("width" in format && format.width !== undefined) return { alphabet: "digits", shortest: format.width, longest: format.width };
      return { alphabet: "any", shortest: 1, longest: Infinity };
    case "number":
      return { alphabet: "number", shortest: 1, longest: Infinity };
    case "padded":
      return { alphabet: "digits", shortest: format.width, longest: format.width };
    case "letters":
      return { alphabet: "letters", shortest: 1, longest: Infinity };
    case "digits":
    case "plain":
      return { alphabet: "digits", shortest: 1, longest: Infinity };
    case "date":
      return { alphabet: "date", shortest: 24, longest: 24 };
    case "boolean":
      return { alphabet: "boolean", shortest: 4, longest: 5 };
    case "shard":
      return { alphabet: "digits", shortest: 1, longest: String(mostShards(format.sharding) - 1).length };
    default:
      return unreachable(format);
  }
};

const formatsOverlap = (a: FieldFormat, b: FieldFormat): boolean => {
  if (a.kind === "either") return a.formats.some((one) => formatsOverlap(one, b));
  if (b.kind === "either") return b.formats.some((one) => formatsOverlap(a, one));
  const left = outlineOf(a);
  const right = outlineOf(b);
  if (left.shortest > right.longest || right.shortest > left.longest) return false;
  const alphabets = [left.alphabet, right.alphabet];
  if (left.alphabet === right.alphabet || alphabets.includes("any")) return true;
  // "true" and "false" are letters, and so is "o", the text of the number 0.
  return alphabets.includes("letters") && (alphabets.includes("boolean") || alphabets.includes("number"));
};

const PREFIXES: Readonly<Record<Outline["alphabet"], RegExp>> = {
  any: /^/,
  digits: /^-?\d*$/,
  letters: /^[A-Za-z]*$/,
  number: /^(?:o|[np]\d*z?)$/,
  boolean: /^(?:t|tr|tru|true|f|fa|fal|fals|false)$/,
  date: /^[\d:.TZ-]+$/,
};

/** True if a text of the format may begin with this one. */
const mayBegin = (format: FieldFormat, text: string): boolean => {
  if (format.kind === "either") return format.formats.some((one) => mayBegin(one, text));
  const outline = outlineOf(format);
  return text.length <= outline.longest && PREFIXES[outline.alphabet].test(text);
};

const segmentsOverlap = (a: Segment, b: Segment, dialect: Template): boolean => {
  const [long, short] = a.fixed.length >= b.fixed.length ? [a, b] : [b, a];
  if (!long.fixed.startsWith(short.fixed)) return false;
  const rest = long.fixed.slice(short.fixed.length);
  if (short.format === undefined) return rest === "" && long.format === undefined;
  if (long.format === undefined) return rest !== "" && decodeFormat(short.format, rest, dialect) !== undefined;
  return rest === "" ? formatsOverlap(long.format, short.format) : mayBegin(short.format, rest);
};

// Different delimiters, and values that contain one, divide keys in different places, so only the beginnings can be compared.
const beginningsOverlap = (a: Template, b: Template): boolean => {
  const [long, short] = leadOf(a).length >= leadOf(b).length ? [a, b] : [b, a];
  if (!leadOf(long).startsWith(leadOf(short))) return false;
  const rest = leadOf(long).slice(leadOf(short).length);
  const at = short.parts.findIndex((part) => part.kind === "field");
  const field = short.parts[at];
  if (rest === "" || field?.kind !== "field") return true;
  const isLast = at === short.parts.length - 1;
  return mayBegin(field.format, isLast ? rest : rest.slice(0, `${rest}${short.delimiter}`.indexOf(short.delimiter)));
};

/**
 * True if both templates could make the same key. Exact for fixed texts and for fields of different alphabets or widths;
 * true if unsure.
 */
export const templatesOverlap = (a: Template, b: Template): boolean => {
  if (a.delimiter !== b.delimiter || a.escapes !== b.escapes || a.loose || b.loose) return beginningsOverlap(a, b);
  const left = segmentsOf(a);
  const right = segmentsOf(b);
  return left.length === right.length && left.every((segment, index) => segmentsOverlap(segment, right[index] ?? segment, a));
};
