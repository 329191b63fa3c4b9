import type { Catalog } from "../../schema/catalog.ts";
import type { Index } from "../../schema/shape.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { LAWS, type Advice, type AdviceRule } from "../advice.ts";
import { attributesOf, distinct, nameOf, placesIn, type IndexPlace } from "../index-places.ts";

const WRITE_UNIT = 1024;
const READ_UNIT = 4096;
const about = { rule: "costlyProjection", law: LAWS.budgets } as const;

const projectedOf = (catalog: Catalog, index: Index): readonly string[] => [
  ...[catalog.index.partitionKey, catalog.index.sortKey, index.partitionKey, index.sortKey].filter((name) => name !== undefined),
  ...(typeof index.projection === "string" ? [] : index.projection),
];

/** Attributes of the schema that a row read from the index would lack. */
const lackingIn = (catalog: Catalog, { index, shape }: IndexPlace): readonly string[] => {
  const projected = projectedOf(catalog, index);
  const carried = shape.sources.flatMap(({ attribute, template }) => (projected.includes(attribute) ? template.fields : []));
  return attributesOf(catalog, shape).filter((name) => !carried.includes(name) && !projected.includes(shape.stored[name] ?? name));
};

const adviceOnPart = (catalog: Catalog, place: IndexPlace): readonly Advice[] => {
  const { index, shape } = place;
  const lacking = lackingIn(catalog, place);
  if (lacking.length === 0) return [];
  const inVain = shape.bytes <= WRITE_UNIT;
  const price = inVain ? ` It saves nothing: ${shape.bytes} bytes cost one write unit in the index either way.` : "";
  return [
    {
      ...about,
      definition: shape.definition,
      severity: inVain ? "warning" : "note",
      message: `${nameOf(index)} leaves ${lacking.join(", ")} out of "${shape.definition}": whoever needs them reads each item once more from the table.${price}`,
      mend: inVain ? 'Project "ALL".' : 'Name what reads need in the projection, or project "ALL".',
    },
  ];
};

const adviceOnWhole = ({ index, shape }: IndexPlace): readonly Advice[] => {
  if (shape.bytes <= READ_UNIT) return [];
  const units = Math.ceil(shape.bytes / WRITE_UNIT);
  const message = `${nameOf(index)} copies all ${shape.bytes} bytes of "${shape.definition}": each write costs ${units} write units more, and a list of 20 reads ${Math.ceil((20 * shape.bytes) / READ_UNIT / 2)} read units.`;
  return [{ ...about, definition: shape.definition, severity: "note", message, mend: 'If reads by it want ids or few attributes, project "KEYS_ONLY" or name those.' }];
};

const adviceOnNames = (catalog: Catalog, index: Index): readonly Advice[] => {
  if (typeof index.projection === "string") return [];
  const stored = catalog.shapes.flatMap((shape) => [...Object.keys(shape.keys), ...attributesOf(catalog, shape).map((name) => shape.stored[name] ?? name)]);
  return index.projection
    .filter((name) => !stored.includes(name) && name !== catalog.typeAttribute)
    .map((name) => ({
      ...about,
      definition: index.name ?? "",
      severity: "warning" as const,
      message: `${nameOf(index)} projects "${name}", which no item stores.${didYouMean(name, [...new Set(stored)])}`,
      mend: "Name attributes as they are stored, or leave it out.",
    }));
};

/** Index projections that cost more than they save. */
export const costlyProjection: AdviceRule = (catalog) =>
  catalog.indexes.flatMap((index) => {
    const places = distinct(placesIn(catalog, index), ({ shape }) => shape.definition);
    return [...adviceOnNames(catalog, index), ...places.flatMap((place) => (index.projection === "ALL" ? adviceOnWhole(place) : adviceOnPart(catalog, place)))];
  });
