import type { Catalog, StandardSchema } from "edgetable";

/** The schema that types an attribute, and the attribute's name there. */
export interface Typed {
  readonly schema: StandardSchema | undefined;
  readonly field: string;
}

const ofType = (takes: string, accepts: (value: unknown) => boolean): StandardSchema => ({
  "~standard": {
    version: 1,
    vendor: "edgetable",
    validate: (row) => {
      const wrong = Object.entries(row as object).filter(([, value]) => !accepts(value));
      return wrong.length === 0 ? { value: row } : { issues: wrong.map(([name]) => ({ path: [name], message: `Expected ${takes}` })) };
    },
  },
});
const numbers = ofType("a number", (value) => typeof value === "number" || typeof value === "bigint");
const dates = ofType("a date", (value) => value instanceof Date);
const texts = ofType("a text", (value) => typeof value === "string");

// A copy of a value of a copy, and so on.
const DEEPEST = 8;

type Entry = Catalog["nodes"][string] | Catalog["edges"][string] | Catalog["parts"][string];

const entryOf = ({ nodes, edges, parts }: Catalog, name: string): Entry | undefined => nodes[name] ?? edges[name] ?? parts[name];

/** Of a copy: where it is taken from. */
const sourceOf = (catalog: Catalog, { name: owner }: Entry, attribute: string): readonly [node: string, of: string] | undefined => {
  const copy = catalog.facts.copies.find((one) => one.onto.name === owner && one.attribute === attribute);
  if (!copy) return undefined;
  const edge = catalog.edges[owner];
  const node = edge ? edge[copy.end === "to" ? "to" : "from"][0] : catalog.parts[owner]?.definition.of;
  return node === undefined ? undefined : [node, copy.of];
};

/** The names of the times that a definition keeps. */
const timesOf = ({ timestamps }: Entry["definition"]): readonly string[] => {
  if (!timestamps) return [];
  const { created = "created", modified = "modified" } = timestamps === true ? {} : timestamps;
  return [created, modified].filter((name) => name !== false);
};

/** The attributes of a node, edge or part that Edgetable keeps and nobody writes: derived ones, copies, times and the version. */
export const keptAttributes = (catalog: Catalog, name: string): readonly string[] => {
  const definition = entryOf(catalog, name)?.definition;
  if (!definition) return [];
  const { aggregates, summaries, copies } = catalog.facts;
  const facts = [
    ...aggregates.filter(({ node }) => node === name),
    ...summaries.filter(({ edge }) => edge === name),
    ...copies.filter(({ onto }) => onto.name === name),
  ];
  return [...facts.map(({ attribute }) => attribute), ...timesOf(definition), ...(definition.version ? ["version"] : [])];
};

/**
 * Finds the schema that types an attribute of a node, edge or part: its own, or that of the rows from which a derived attribute
 * or a copy takes its values.
 */
export const schemaOf = (catalog: Catalog, name: string, attribute: string, levels: number = DEEPEST): Typed => {
  const entry = entryOf(catalog, name);
  const own: Typed = { schema: entry?.definition.schema, field: attribute };
  if (!entry || levels === 0) return own;
  const { definition } = entry;
  if (definition.version && attribute === "version") return { ...own, schema: numbers };
  if (timesOf(definition).includes(attribute)) {
    const { as = "text" } = typeof definition.timestamps === "object" ? definition.timestamps : {};
    return { ...own, schema: as === "text" ? texts : as === "date" ? dates : numbers };
  }
  const { aggregates, summaries } = catalog.facts;
  const derived =
    aggregates.find((one) => one.node === name && one.attribute === attribute) ??
    summaries.find((one) => one.edge === name && one.attribute === attribute);
  if (derived) {
    const isValue = (derived.operation === "min" || derived.operation === "max") && derived.of !== undefined;
    return isValue ? schemaOf(catalog, derived.over.name, derived.of, levels - 1) : { ...own, schema: numbers };
  }
  const copied = sourceOf(catalog, entry, attribute);
  return copied ? schemaOf(catalog, ...copied, levels - 1) : own;
};
