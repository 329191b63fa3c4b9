import { type Catalog, heldBy, type Index } from "../../schema/catalog.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { CONCERNS, type Advice, type AdviceRule, type CheckedPattern } from "../advice.ts";
import { attributesOf, distinct, nameOf, placesIn, type IndexPlace } from "../index-places.ts";

const WRITE_UNIT = 1024;
const READ_UNIT = 4096;
const about = { rule: "costlyProjection", concern: CONCERNS.budgets } as const;

/** Attributes of the schema that a row read from the index would lack. */
const lackingIn = (catalog: Catalog, { index, shape }: IndexPlace): readonly string[] => {
  const held = heldBy(catalog, index);
  if (!held) return [];
  const carried = new Set(shape.sources.flatMap(({ attribute, template }) => (held.has(attribute) ? template.fields : [])));
  return attributesOf(catalog, shape).filter((name) => !carried.has(name) && !held.has(shape.stored[name] ?? name));
};

/** Patterns that find items of the shape by the index and then read the same items from the table. */
const readTwice = ({ index, shape }: IndexPlace, patterns: readonly CheckedPattern[]): readonly string[] =>
  patterns.flatMap(({ name, explanation: { plan } }) => {
    const finds = plan?.sources?.some((source) => source.kind === "query" && source.index === index.name);
    return finds && plan?.hydrate && plan.hydrate.by !== "none" && plan.hydrate.nodes.includes(shape.definition) ? [`"${name}"`] : [];
  });

const adviceOnPart = (catalog: Catalog, place: IndexPlace, patterns: readonly CheckedPattern[]): readonly Advice[] => {
  const { index, shape } = place;
  const lacking = lackingIn(catalog, place);
  if (lacking.length === 0) return [];
  const twice = readTwice(place, patterns);
  const who =
    twice.length > 0
      ? `${twice.join(", ")} therefore reads each item once more from the table.`
      : "whoever needs them reads each item once more from the table.";
  const price =
    shape.bytes <= WRITE_UNIT
      ? ` An item of ${shape.bytes} bytes costs one write unit there in any case; what is saved is the write when these alone change.`
      : "";
  return [
    {
      ...about,
      definition: shape.definition,
      severity: twice.length > 0 ? "warning" : "note",
      message: `${nameOf(index)} leaves ${lacking.join(", ")} out of "${shape.definition}": ${who}${price}`,
      mend: 'Name what reads need in the projection, or project "ALL".',
    },
  ];
};

const adviceOnWhole = ({ index, shape }: IndexPlace): readonly Advice[] => {
  if (shape.bytes <= READ_UNIT) return [];
  const units = Math.ceil(shape.bytes / WRITE_UNIT);
  const message = `${nameOf(index)} copies all ${shape.bytes} bytes of "${shape.definition}": each write costs ${units} write units more, and a list of 20 reads ${Math.ceil((20 * shape.bytes) / READ_UNIT / 2)} read units.`;
  return [
    {
      ...about,
      definition: shape.definition,
      severity: "note",
      message,
      mend: 'If reads by it want ids or few attributes, project "KEYS_ONLY" or name those.',
    },
  ];
};

const adviceOnNames = (catalog: Catalog, index: Index): readonly Advice[] => {
  if (typeof index.projection === "string") return [];
  const stored = new Set(
    catalog.shapes.flatMap((shape) => [
      ...Object.keys(shape.keys),
      ...attributesOf(catalog, shape).map((name) => shape.stored[name] ?? name),
    ]),
  );
  return index.projection
    .filter((name) => !stored.has(name) && name !== catalog.typeAttribute)
    .map((name) => ({
      ...about,
      definition: index.name ?? "",
      severity: "warning" as const,
      message: `${nameOf(index)} projects "${name}", which no item stores.${didYouMean(name, [...stored])}`,
      mend: "Name attributes as they are stored, or leave it out.",
    }));
};

/** Index projections that cost more than they save. */
export const costlyProjection: AdviceRule = (catalog, patterns) =>
  catalog.indexes.flatMap((index) => {
    const places = distinct(placesIn(catalog, index), ({ shape }) => shape.definition);
    return [
      ...adviceOnNames(catalog, index),
      ...places.flatMap((place) => (index.projection === "ALL" ? adviceOnWhole(place) : adviceOnPart(catalog, place, patterns))),
    ];
  });
