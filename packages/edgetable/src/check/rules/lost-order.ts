import { keepsOrder, type FieldFormat, type FieldPart } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct, nameOf, placesIn, type IndexPlace } from "../index-places.ts";

const isPlain = (format: FieldFormat): boolean => format.kind === "plain" || (format.kind === "either" && format.formats.some(isPlain));

/** Attributes by which edges of the place are declared to come back, a reference edge's included. */
const orderedBy = (catalog: Catalog, { shape }: IndexPlace): readonly string[] =>
  Object.values(catalog.edges).flatMap((entry) => {
    const mine = entry.name === shape.definition || (entry.definition.stored === "reference" && entry.from.includes(shape.definition));
    return mine && entry.orderBy !== undefined ? [entry.orderBy] : [];
  });

const adviceOn = (catalog: Catalog, place: IndexPlace, field: FieldPart): readonly Advice[] => {
  const { index, shape, sort } = place;
  if (!sort || keepsOrder(sort, field.path) || field.format.kind === "shard") return [];
  const about = { rule: "lostOrder", concern: CONCERNS.keys, definition: shape.definition } as const;
  const where = `${nameOf(index)} sorts "${shape.definition}" by ${sort.source}`;
  if (isPlain(field.format)) {
    return [
      {
        ...about,
        severity: "warning",
        message: `${where}, where {${field.path}} is an unpadded number: 1, 10, 2.`,
        mend: `Pad it, as {${field.path}:6}, and rewrite the items; until then sort in memory.`,
      },
    ];
  }
  if (orderedBy(catalog, place).includes(field.path)) {
    const message = `${where}, which does not keep the order of {${field.path}}: a character below "${sort.delimiter}", such as a space, sorts a longer value before a shorter one.`;
    return [
      {
        ...about,
        severity: "warning",
        message,
        mend: `Use values without such characters, give "${index.sortKey}" a lower delimiter (delimiters), or put {${field.path}} last.`,
      },
    ];
  }
  return [];
};

/** Sort keys that do not sort as their values do. */
export const lostOrder: AdviceRule = (catalog) =>
  [catalog.index, ...catalog.indexes].flatMap((index) =>
    distinct(placesIn(catalog, index), ({ shape, sort }) => `${shape.definition} ${sort?.source}`).flatMap((place) =>
      (place.sort?.parts ?? []).flatMap((part) => (part.kind === "field" ? adviceOn(catalog, place, part) : [])),
    ),
  );
