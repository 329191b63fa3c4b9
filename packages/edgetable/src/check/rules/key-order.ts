import { isOneWay, keepsOrder, templatesOverlap, type FieldFormat, type Template } from "../../keys/template.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct, isFixed, nameOf, placesIn } from "../index-places.ts";

const isUnpadded = (format: FieldFormat): boolean =>
  format.kind === "plain" || (format.kind === "either" && format.formats.some(isUnpadded));

/** Sort keys that do not sort as their values do. */
export const lostOrder: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  const indexes = [catalog.index, ...catalog.indexes];
  const places = indexes.flatMap((index) =>
    index.sortKeys.flatMap((attribute) => {
      const all = placesIn(catalog, index).map((place) => ({ ...place, attribute, sort: place.shape.keys[attribute] }));
      return distinct(all, ({ shape, sort }) => `${shape.definition} ${sort?.source}`);
    }),
  );
  for (const { index, shape, sort, attribute } of places) {
    // Edges are ordered as items of their own, and as references in the items of their sources.
    const orders = Object.values(catalog.edges)
      .filter(
        ({ name, definition, from }) => name === shape.definition || (definition.stored === "reference" && from.includes(shape.definition)),
      )
      .map(({ orderBy }) => orderBy);
    for (const part of sort?.parts ?? []) {
      if (!sort || part.kind !== "field" || isOneWay(part.format) || keepsOrder(sort, part.path)) continue;
      const about = { rule: "lostOrder", concern: CONCERNS.keys, definition: shape.definition, severity: "warning" } as const;
      const sorts = `${nameOf(index)} sorts "${shape.definition}" by ${sort.source}`;
      if (isUnpadded(part.format)) {
        advice.push({
          ...about,
          message: `${sorts}, where {${part.path}} is an unpadded number: 1, 10, 2.`,
          mend: `Pad it, as {${part.path}:6}, and rewrite the items; until then sort in memory.`,
        });
      } else if (orders.includes(part.path)) {
        advice.push({
          ...about,
          message: `${sorts}, which does not keep the order of {${part.path}}: a character below "${sort.delimiter}", such as a space, sorts a longer value before a shorter one.`,
          mend: `Use values without such characters, give "${attribute}" a lower delimiter (delimiters), or put {${part.path}} last.`,
        });
      }
    }
  }
  return advice;
};

interface SortKey {
  readonly definition: string;
  readonly partition: Template;
  readonly sort: Template;
}

/** True if the template ends in a value without a fixed length. */
const endsOpen = ({ sort }: SortKey): boolean => {
  const last = sort.parts.at(-1);
  return last?.kind === "field" && ["text", "plain", "either"].includes(last.format.kind) && sort.parts.length > 1;
};

/** True if the longer template begins with all parts of the shorter one. */
const extendsTemplate = (longer: Template, shorter: Template): boolean =>
  longer.parts.length > shorter.parts.length &&
  shorter.parts.every((part, at) => {
    const other = longer.parts[at];
    if (part.kind === "literal") return other?.kind === "literal" && other.text === part.text;
    return other?.kind === "field" && JSON.stringify(other.format) === JSON.stringify(part.format);
  });

// A key with a value such as 42 in its last field.
const example = ({ parts }: Template, value: string): string =>
  parts.map((part, at) => (part.kind === "literal" ? part.text : at === parts.length - 1 ? value : "…")).join("");

/** Sort keys of an adopted layout where one value's key is a prefix of another's. */
export const prefixHazard: AdviceRule = (catalog) => {
  const all: Advice[] = [];
  const mend = "In code outside Edgetable compare whole keys by =, or end a prefix with the delimiter. Edgetable does both.";
  const about = { rule: "prefixHazard", concern: CONCERNS.keys, mend } as const;
  const meets = (sort: Template): string => `begins_with "${example(sort, "42")}" also meets "${example(sort, "420")}"`;
  for (const index of catalog.escapes ? [] : [catalog.index, ...catalog.indexes]) {
    const advice: Advice[] = [];
    const keys = placesIn(catalog, index).flatMap(({ shape: { definition }, partition, sort }) =>
      sort ? [{ definition, partition, sort }] : [],
    );
    const open = keys.filter(endsOpen);
    for (const short of open) {
      for (const long of keys) {
        if (!extendsTemplate(long.sort, short.sort) || !templatesOverlap(long.partition, short.partition)) continue;
        advice.push({
          ...about,
          definition: short.definition,
          severity: "warning",
          message: `in ${nameOf(index)} "${short.definition}" (${short.sort.source}) ends where "${long.definition}" (${long.sort.source}) goes on: ${meets(short.sort)}, and every "${long.definition}" of "${example(short.sort, "42")}".`,
        });
      }
    }
    const rest = open.filter(({ definition }) => advice.every((one) => one.definition !== definition));
    if (rest[0]) {
      const names = [...new Set(rest.map(({ definition }) => `"${definition}"`))].join(", ");
      advice.push({
        ...about,
        definition: rest[0].definition,
        severity: "note",
        message: `in ${nameOf(index)} keys of ${names} end in a value without a fixed length: ${meets(rest[0].sort)}.`,
      });
    }
    all.push(...advice);
  }
  return all;
};

/** Delimiters of an adopted layout that sort above digits or letters. */
export const highDelimiter: AdviceRule = (catalog) => {
  if (catalog.escapes) return [];
  const sortKeys = new Set([catalog.index, ...catalog.indexes].flatMap((index) => index.sortKeys));
  const advice = new Map<string, Advice>();
  for (const shape of catalog.shapes) {
    for (const [attribute, { delimiter, parts, source }] of Object.entries(shape.keys)) {
      // The delimiter decides the order of two keys only behind a field that something follows.
      const isDivided = parts.slice(0, -1).some((part) => part.kind === "field");
      if (!sortKeys.has(attribute) || !isDivided || delimiter <= "/" || advice.has(delimiter + attribute)) continue;
      advice.set(delimiter + attribute, {
        rule: "highDelimiter",
        concern: CONCERNS.keys,
        definition: shape.definition,
        severity: "note",
        message: `the delimiter "${delimiter}" of "${attribute}" sorts above digits: what follows "12" comes before what follows "1" (${source}).`,
        mend: `Do not rely on the order of ids in "${attribute}"; for a new table use "#".`,
      });
    }
  }
  return [...advice.values()];
};

const COMMON_CHARACTERS = "-.,:/'&() _";

/** Texts of an adopted layout that are refused for a delimiter which their key does not need. */
export const refusedValues: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  if (catalog.escapes) return advice;
  for (const shape of catalog.shapes) {
    for (const [attribute, { delimiter, parts }] of Object.entries(shape.keys)) {
      const [field] = parts;
      if (parts.length !== 1 || field?.kind !== "field" || field.format.kind !== "text") continue;
      if (!COMMON_CHARACTERS.includes(delimiter) || isFixed(catalog, shape, field.path)) continue;
      advice.push({
        rule: "refusedValues",
        concern: CONCERNS.keys,
        definition: shape.definition,
        severity: "note",
        message: `a {${field.path}} that contains "${delimiter}" is refused: "${attribute}" of "${shape.definition}" has that delimiter, though nothing follows the value.`,
        mend: `Give it a delimiter that no value contains: delimiters: { ${JSON.stringify(attribute)}: "\\u0001" }.`,
      });
    }
  }
  return advice;
};
