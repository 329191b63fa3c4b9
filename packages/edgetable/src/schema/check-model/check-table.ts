import type { GraphDefinition } from "../definition.ts";
import type { EdgeLayout, IndexLayout, Layout } from "../layout.ts";
import { each, unknownNames, when, type ModelFinding } from "./finding.ts";
import { keyAttributes } from "../shape.ts";

// HowItWorks.NamingRulesDataTypes: tables and indexes, and key attributes.
const tableName = /^[\w.-]{3,255}$/;
const longestAttribute = 255;
const mostIndexes = 20; // ServiceQuotas.

const checkTableName = (place: string, name: string): readonly ModelFinding[] =>
  when(
    typeof name !== "string" || !tableName.test(name),
    "table",
    place,
    `"${name}" is no name that DynamoDB takes: use 3 to 255 of a-z, A-Z, 0-9, "_", "-" and ".".`,
  );

const checkKeys = (place: string, keys: Pick<IndexLayout, "partitionKey" | "sortKey">): readonly ModelFinding[] => [
  ...when(keys.partitionKey === keys.sortKey, "table", place, `"${keys.sortKey}" is both partition and sort key. Name two attributes.`),
  ...[keys.partitionKey, keys.sortKey].flatMap((name) =>
    when(
      name !== undefined && (name === "" || name.length > longestAttribute),
      "table",
      place,
      `"${name}" has ${name?.length} characters; a key attribute has 1 to 255.`,
    ),
  ),
];

const checkLayout = (definition: GraphDefinition, layout: Layout): readonly ModelFinding[] => {
  const { typeAttribute, indexes } = layout;
  const count = Object.keys(indexes ?? {}).length;
  return [
    ...checkKeys("layout", layout),
    ...checkTypes(layout),
    ...when(
      typeAttribute !== undefined && keyAttributes(layout).includes(typeAttribute),
      "table",
      "layout.typeAttribute",
      `"${typeAttribute}" is a key of the table. Leave the type attribute out, or name another.`,
    ),
    ...each(indexes, (name, index) => [...checkTableName(`layout.indexes.${name}`, name), ...checkKeys(`layout.indexes.${name}`, index)]),
    ...when(
      count > mostIndexes,
      "table",
      "layout.indexes",
      `${count} indexes are more than the ${mostIndexes} of a table. Let definitions share some.`,
    ),
    ...(["nodes", "edges", "parts"] as const).flatMap((kind) =>
      unknownNames(`layout.${kind}`, Object.keys(layout[kind] ?? {}), {
        rule: "layout",
        what: `name of the ${kind}`,
        known: Object.keys(definition[kind] ?? {}),
      }),
    ),
  ];
};

const checkTypes = ({
  partitionKey,
  sortKey,
  types,
  indexes = {},
  nodes = {},
  edges = {},
  parts = {},
}: Layout): readonly ModelFinding[] => {
  const keys = [{ partitionKey, sortKey }, ...Object.values(indexes)].flatMap(keyAttributes);
  const items = [nodes, edges, parts].flatMap((kind) => Object.values(kind));
  const computed = items.flatMap((item) => [...Object.keys(item.keys ?? {}), ...Object.keys((item as EdgeLayout).mirror?.keys ?? {})]);
  return each(types as Readonly<Record<string, string>> | undefined, (attribute, type) => [
    ...unknownNames("layout.types", [attribute], {
      rule: "layout",
      what: "computed attribute",
      known: [...new Set([...keys, ...computed])],
    }),
    ...when(
      type !== "S" && type !== "N",
      "table",
      `layout.types.${attribute}`,
      type === "B"
        ? `a key of type B holds bytes, which no template makes. Edgetable finds items by text (S) and numbers (N) alone: leave the index out of the layout, or give the table one of those types.`
        : `"${type}" is no type of a key. Say "S" for text or "N" for a number.`,
    ),
  ]);
};

/** The indexes of Edgetable's own layout, those that the model declares among them. */
const checkDeclared = (definition: GraphDefinition): readonly ModelFinding[] => {
  const names = Object.keys(definition.indexes ?? {});
  const count = names.length + 2;
  return [
    ...names.flatMap((name) => checkTableName(`indexes.${name}`, name)),
    ...when(
      count > mostIndexes,
      "table",
      "indexes",
      `${count} indexes, "reverse" and "ordered" included, are more than the ${mostIndexes} of a table. Let definitions share some.`,
    ),
  ];
};

/** The table's and indexes' names and keys, and for whom the layout speaks. */
export const checkTable = (definition: GraphDefinition): readonly ModelFinding[] => [
  ...checkTableName("table", definition.table),
  ...(definition.layout ? checkLayout(definition, definition.layout) : checkDeclared(definition)),
];
