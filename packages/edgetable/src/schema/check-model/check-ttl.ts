import { attributeSchemas } from "../attribute-schemas.ts";
import { definitionOf, type Catalog } from "../catalog.ts";
import { degreeLimit } from "../degree-limit.ts";
import type { Shape } from "../shape.ts";
import type { AnySchema } from "../standard-schema.ts";
import { finding, when, type ModelFinding } from "./finding.ts";

// Times that lie ahead, in every form in which one may be given, and what such a schema would refuse.
const TIMES: readonly unknown[] = [4_102_444_800, 1_893_456_000, 4_102_444_800n, new Date("2100-01-01")];
const TEXTS = ["2100-01-01T00:00:00Z", "4102444800", "x"];

const passes = (schema: AnySchema, value: unknown): boolean => {
  try {
    const result = schema["~standard"].validate(value);
    return "then" in result || !result.issues;
  } catch {
    // A schema that fails says nothing of what it takes.
    return true;
  }
};

/** Whether the schema takes texts and no time: all others may be right. */
const isText = (schema: AnySchema | undefined): boolean =>
  schema !== undefined && TEXTS.some((text) => passes(schema, text)) && !TIMES.some((time) => passes(schema, time));

/** What would be left behind when DynamoDB removes the item by itself. */
const leftBehind = (catalog: Catalog, shape: Shape): readonly string[] => {
  const edge = catalog.edges[shape.definition]?.definition;
  const unique = catalog.nodes[shape.definition]?.definition.unique ?? [];
  if (shape.kind === "node") return unique.length > 0 ? ["the marker of its unique value, which nobody could use again"] : [];
  if (!edge) return [];
  const isCounted = (limit: number | undefined): boolean => limit !== undefined && (catalog.escapes || limit > 1);
  const counts = (["from", "to"] as const).some((end) => isCounted(degreeLimit(edge, end)) || edge.onDelete?.[end] === "restrict");
  if (shape.holds?.includes(shape.ttl ?? "") === false) return ["the edge's other copy, which does not hold this attribute"];
  return counts ? ["the count of the edges at its ends"] : [];
};

/** The attribute by which items expire: one in a table, a time, and in items that leave nothing behind. */
export const checkTtl = (catalog: Catalog): readonly ModelFinding[] => {
  const storedOf = ({ ttl = "", stored }: Shape): string => stored[ttl] ?? ttl;
  const expiring = catalog.shapes.filter(({ ttl }) => ttl !== undefined);
  return expiring.flatMap((shape) => {
    const { ttl = "" } = shape;
    const place = `${shape.kind}s.${shape.definition}.ttl`;
    const definition = definitionOf(catalog, shape);
    return [
      ...when(
        storedOf(shape) !== catalog.ttl,
        "setting",
        place,
        `a table has one such attribute, and another definition stores it as "${catalog.ttl}". Name one attribute in all of them.`,
      ),
      ...when(
        shape.carried.includes(ttl),
        "setting",
        place,
        `"${ttl}" is in a key and has no attribute of its own. Leave it out of the key.`,
      ),
      ...when(
        isText(definition?.schema && attributeSchemas(definition.schema)?.each[ttl]),
        "setting",
        place,
        `the schema of "${ttl}" takes text. Declare a number: whole seconds since 1970; or a Date, and name it in \`dates\`.`,
      ),
      ...leftBehind(catalog, shape).map((what) =>
        finding(
          "setting",
          place,
          `DynamoDB removes an expired item by itself and would leave ${what}. Leave out ttl, or what depends on it.`,
        ),
      ),
    ];
  });
};
