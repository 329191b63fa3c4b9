import { templatesOverlap, type Template } from "../../keys/template.ts";
import type { Catalog, Index } from "../../schema/catalog.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { nameOf, placesIn } from "../index-places.ts";

interface Ending {
  readonly definition: string;
  readonly partition: Template;
  readonly sort: Template;
}

const formOf = (template: Template): readonly string[] =>
  template.parts.map((part) => (part.kind === "literal" ? part.text : JSON.stringify(part.format)));

/** Whether the template ends in a value of no fixed length. */
const endsOpen = (template: Template): boolean => {
  const last = template.parts.at(-1);
  return last?.kind === "field" && ["text", "plain", "either"].includes(last.format.kind) && template.parts.length > 1;
};

const continues = (longer: Template, shorter: Template): boolean => {
  const [long, short] = [formOf(longer), formOf(shorter)];
  return long.length > short.length && short.every((part, at) => part === long[at]);
};

// A value such as 42 in place of the last field, and one that begins with it.
const example = (template: Template, value: string): string =>
  template.parts.map((part, at) => (part.kind === "literal" ? part.text : at === template.parts.length - 1 ? value : "…")).join("");

const meets = (sort: Template): string => `begins_with "${example(sort, "42")}" also meets "${example(sort, "420")}"`;
const mend = "In code beside Edgetable compare whole keys by =, or end a prefix with the delimiter. Edgetable does both.";

const hazardsIn = (catalog: Catalog, index: Index): readonly Advice[] => {
  const endings = placesIn(catalog, index).flatMap(({ shape, partition, sort }): readonly Ending[] =>
    sort ? [{ definition: shape.definition, partition, sort }] : [],
  );
  const open = endings.filter(({ sort }) => endsOpen(sort));
  const about = { rule: "prefixHazard", concern: CONCERNS.keys, mend } as const;
  const pairs = open.flatMap((short) =>
    endings
      .filter((long) => continues(long.sort, short.sort) && templatesOverlap(long.partition, short.partition))
      .map((long): Advice => ({
        ...about,
        definition: short.definition,
        severity: "warning",
        message: `in ${nameOf(index)} "${short.definition}" (${short.sort.source}) ends where "${long.definition}" (${long.sort.source}) goes on: ${meets(short.sort)}, and every "${long.definition}" of "${example(short.sort, "42")}".`,
      })),
  );
  const told = new Set(pairs.map((pair) => pair.definition));
  const rest = open.filter(({ definition }) => !told.has(definition));
  const [first] = rest;
  if (!first) return pairs;
  const names = [...new Set(rest.map(({ definition }) => `"${definition}"`))].join(", ");
  return [
    ...pairs,
    {
      ...about,
      definition: first.definition,
      severity: "note",
      message: `in ${nameOf(index)} keys of ${names} end in a value of no fixed length: ${meets(first.sort)}.`,
    },
  ];
};

/** Sort keys of an adopted layout of which one value's is the beginning of another's. */
export const prefixHazard: AdviceRule = (catalog) =>
  catalog.escapes ? [] : [catalog.index, ...catalog.indexes].flatMap((index) => hazardsIn(catalog, index));
