import { PAGE_BYTES } from "../../ir/capacity.ts";
import { keyAttributes, projectedAttributes, type Catalog, type EdgeEntry, type Index, type Shape } from "../../schema/catalog.ts";
import { degreeLimit } from "../../schema/definition.ts";
import { columnIndex, gridNames } from "../../schema/grid-parts.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { CONCERNS, type Advice, type AdviceRule, type CheckedPattern } from "../advice.ts";
import { attributesOf, distinct, nameOf, placesIn, type IndexPlace } from "../index-places.ts";

const WRITE_UNIT = 1024;
const READ_UNIT = 4096;

/** What reads by an index miss that projects a part of the items. */
const partialProjection = (
  catalog: Catalog,
  { index, shape }: IndexPlace,
  patterns: readonly CheckedPattern[],
): Partial<Advice> | undefined => {
  const projected = projectedAttributes(catalog, index);
  if (!projected) return undefined;
  const carried = shape.sources.flatMap(({ attribute, template }) => (projected.has(attribute) ? template.carried : []));
  const missing = attributesOf(catalog, shape).filter((name) => !carried.includes(name) && !projected.has(shape.stored[name] ?? name));
  if (missing.length === 0) return undefined;
  // Patterns that find such items by the index and then read the same items from the table.
  const twice = patterns.filter(({ explanation }) => {
    const { sources = [], hydrate } = explanation.plan ?? {};
    const readsAgain = hydrate && hydrate.by !== "none" && hydrate.nodes.includes(shape.definition);
    return readsAgain && sources.some((source) => source.kind === "query" && source.index === index.name);
  });
  const consequence =
    twice.length > 0
      ? `${twice.map(({ name }) => `"${name}"`).join(", ")} therefore reads each item once more from the table.`
      : "rows found by this index lack them, and a search that filters by or selects one fails with plan.noIndex.";
  const price =
    shape.bytes <= WRITE_UNIT
      ? ` An item of ${shape.bytes} bytes costs one write unit in the index in any case; the projection only saves that write when these attributes alone change.`
      : "";
  return {
    severity: twice.length > 0 ? "warning" : "note",
    message: `${nameOf(index)} leaves ${missing.join(", ")} out of "${shape.definition}": ${consequence}${price}`,
    mend: 'Name what reads need in the projection, or project "ALL".',
  };
};

/** Projected names that no item stores. */
const unknownProjected = (catalog: Catalog, { name: index = "", projection }: Index): readonly Partial<Advice>[] => {
  if (typeof projection === "string") return [];
  const stored = new Set<string>();
  for (const shape of catalog.shapes) {
    for (const attribute of Object.keys(shape.keys)) stored.add(attribute);
    for (const name of attributesOf(catalog, shape)) stored.add(shape.stored[name] ?? name);
  }
  const unknown = projection.filter((name) => !stored.has(name) && name !== catalog.typeAttribute);
  return unknown.map((name) => ({
    definition: index,
    severity: "warning",
    message: `the index "${index}" projects "${name}", which no item stores.${didYouMean(name, [...stored])}`,
    mend: "Use the name under which the attribute is stored, or leave it out.",
  }));
};

/** True for an index that orders the rows of a grid. */
const isGridIndex = ({ nodes }: Catalog, { name }: Index): boolean =>
  Object.values(nodes).some(({ name: node, definition: { fields } }) => {
    const columns = (fields?.sortable ?? []).map((column) => columnIndex(node, column));
    return fields !== undefined && [gridNames(node).index, ...columns].includes(name ?? "");
  });

/** Index projections that cost more than they save. */
export const costlyProjection: AdviceRule = (catalog, patterns) => {
  const found: Partial<Advice>[] = [];
  for (const index of catalog.indexes) {
    found.push(...unknownProjected(catalog, index));
    // A grid reads its rows whole: its indexes only propose them, and no model can name their projection.
    if (isGridIndex(catalog, index)) continue;
    for (const place of distinct(placesIn(catalog, index), ({ shape }) => shape.definition)) {
      const { bytes, definition } = place.shape;
      const partial = index.projection === "ALL" ? undefined : partialProjection(catalog, place, patterns);
      if (partial) found.push({ definition, ...partial });
      if (index.projection !== "ALL" || bytes <= READ_UNIT) continue;
      found.push({
        definition,
        severity: "note",
        message: `${nameOf(index)} copies all ${bytes} bytes of "${definition}": each write costs ${Math.ceil(bytes / WRITE_UNIT)} write units more, and a list of 20 reads ${Math.ceil((20 * bytes) / READ_UNIT / 2)} read units.`,
        mend: 'If reads by this index need only ids or few attributes, project "KEYS_ONLY" or name those.',
      });
    }
  }
  return found.map((one) => ({ rule: "costlyProjection", concern: CONCERNS.budgets, ...one }) as Advice);
};

/** The indexes that hold a kind of items whole. */
const wholeEntries = (catalog: Catalog, definition: string): readonly IndexPlace[] =>
  catalog.indexes
    .filter(({ projection }) => projection === "ALL")
    .flatMap((index) => placesIn(catalog, index))
    .filter(({ shape }) => shape.definition === definition);

/** Counts and other derived attributes whose every change writes index entries that hold the whole node. */
export const countedEntries: AdviceRule = (catalog) =>
  Object.keys(catalog.nodes).flatMap((definition): readonly Advice[] => {
    const facts = catalog.facts.aggregates.filter(
      ({ node, freshness, shards }) =>
        node === definition && (freshness === "stream" || (freshness === "transaction" && shards === undefined)),
    );
    const places = wholeEntries(catalog, definition);
    // An index by one of them is written by the others too.
    const besides = places.map(({ index, shape }) =>
      facts.filter(({ attribute }) => !keyAttributes(index).some((key) => shape.keys[key]?.within.includes(attribute))),
    );
    const namesOf = (counted: typeof facts): string => counted.map(({ attribute }) => `"${attribute}"`).join(", ");
    return [...new Set(besides.map(namesOf))].flatMap((names): readonly Advice[] => {
      const alike = places.filter((_, at) => namesOf(besides[at] ?? []) === names);
      const [first] = alike;
      if (names === "" || !first) return [];
      const { bytes } = first.shape;
      const units = alike.length * Math.ceil(bytes / WRITE_UNIT);
      const indexes = alike.map(({ index }) => `"${index.name ?? ""}"`).join(", ");
      const slow = namesOf((besides[places.indexOf(first)] ?? []).filter(({ freshness }) => freshness === "transaction"));
      return [
        {
          rule: "countedEntries",
          concern: CONCERNS.budgets,
          definition,
          severity: "note",
          message: `each change of ${names} writes the entry of the "${definition}" in ${indexes} too, which ${alike.length === 1 ? "projects" : "project"} all attributes: ${units} write unit${units === 1 ? "" : "s"} beside those of the item, for items of ${bytes} bytes.`,
          mend: `Project what reads by the index need (projection: "KEYS_ONLY", or the names of attributes)${slow === "" ? "" : `, or let the stream keep ${slow} (freshness: "stream"): it writes a node once for the changes of a batch`}.`,
        },
      ];
    });
  });

const unboundedAdvice = (entry: EdgeEntry, end: "from" | "to", [shape, ...others]: readonly [Shape, ...Shape[]]): Advice => {
  const nodes = [...new Set([shape, ...others].map((one) => `"${one[end]}"`))].join(" or ");
  const bytes = (entry.definition.expect?.[end] ?? 0) * shape.bytes;
  const isLarge = bytes > PAGE_BYTES;
  const size = isLarge ? ` By its expectations that is ${Math.ceil(bytes / PAGE_BYTES)} requests of 1 MB.` : "";
  return {
    rule: "unboundedCollection",
    concern: CONCERNS.budgets,
    definition: entry.name,
    severity: isLarge ? "warning" : "note",
    message: `collection() of ${nodes} reads all its "${entry.name}" edges, and nothing bounds their number.${size}`,
    mend: `Set maxDegree: { ${end}: … }, or read them by ${end === "from" || entry.definition.symmetric ? "out" : "in"}("${entry.name}").page().`,
  };
};

/** Edges in a node's partition whose number is not limited: `collection()` reads them all. */
export const unboundedCollection: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const entry of Object.values(catalog.edges)) {
    const { definition, shapes, mirrors } = entry;
    if (definition.stored === "reference") continue;
    const isOpen = { from: degreeLimit(definition, "from") === undefined, to: degreeLimit(definition, "to") === undefined };
    // The edges of a part are not in its node's partition.
    const [out, ...moreOut] = shapes.filter(({ from }) => catalog.nodes[from ?? ""]);
    const [into, ...moreIn] = mirrors.filter(({ to }) => catalog.nodes[to ?? ""]);
    // A symmetric edge is in both partitions, so that a limit at either end bounds both.
    if (out && isOpen.from && (isOpen.to || !definition.symmetric)) advice.push(unboundedAdvice(entry, "from", [out, ...moreOut]));
    if (into && isOpen.to) advice.push(unboundedAdvice(entry, "to", [into, ...moreIn]));
  }
  return advice;
};

const fewerRequests = ({ explanation: { plan, requests } }: CheckedPattern): string => {
  if (plan?.kind === "walk")
    return "A walk reads each node of its frontier once. Give it a budget, and declare expect.from and expect.to to replace the assumed degrees.";
  if (requests.some(({ partitions }) => partitions !== undefined))
    return "The search queries each shard: declare no more of them than recommendShards gives, or narrow the search to one partition by `split`.";
  const dependent = requests.find((request) => request.after !== undefined);
  if (dependent?.operation === "Query")
    return "Pass the fields that the nodes' keys need besides their ids as { given }, so that one BatchGetItem reads them.";
  if (dependent) return "Ask for edges() or ids() where the nodes' attributes are not needed, or copy immutable ones to the edge.";
  return "Put what is read together into one partition, or into one index under one key.";
};

/** Patterns that need more than one request, or a Scan. */
export const patternRequests: AdviceRule = (_, patterns) => {
  const advice: Advice[] = [];
  for (const pattern of patterns) {
    const { name: definition, explanation } = pattern;
    const { requests, cost } = explanation;
    if (requests.some(({ operation }) => operation === "Scan")) {
      advice.push({
        rule: "patternRequests",
        concern: CONCERNS.noScan,
        definition,
        severity: "error",
        message: `the pattern "${definition}" scans the whole table.`,
        mend: "Give the layout an index that answers it.",
      });
    } else if (cost.requests > 1) {
      const list = requests.map(({ operation, times = 1 }) => (times === 1 ? operation : `${operation} × ${times}`)).join(", ");
      advice.push({
        rule: "patternRequests",
        concern: CONCERNS.budgets,
        definition,
        severity: "note",
        message: `the pattern "${definition}" needs ${cost.requests} requests: ${list}.`,
        mend: fewerRequests(pattern),
      });
    }
  }
  return advice;
};
