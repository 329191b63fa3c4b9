import { mostShards, templatesOverlap, type FieldPart, type Template } from "../../keys/template.ts";
import { nameList, type Shape } from "../../schema/catalog.ts";
import { type IndexExpectation, fullEntry } from "../../schema/layout.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct, nameOf, placesIn } from "../index-places.ts";
import { recommendShards } from "../recommend-shards.ts";

/** Two node types that may share a partition: a collection of one contains the other's items. */
export const sharedPartition: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  if (catalog.layout.sharedIds) return advice;
  const nodes = placesIn(catalog, catalog.index).filter(({ shape }) => shape.kind === "node");
  for (const [at, b] of nodes.entries()) {
    for (const a of nodes.slice(0, at)) {
      if (!templatesOverlap(a.partition, b.partition)) continue;
      advice.push({
        rule: "sharedPartition",
        concern: CONCERNS.keys,
        definition: b.shape.definition,
        severity: "warning",
        message: `"${a.shape.definition}" (${a.partition.source}) and "${b.shape.definition}" (${b.partition.source}) can share a partition: collection() of one reads the other's edges and parts.`,
        mend: "Begin their keys differently, or set layout.sharedIds if ids are unique across all node types.",
      });
    }
  }
  return advice;
};

// "1,000 write units and 3,000 read units a second for one partition key value", bp-partition-key-design.
const LIMIT = "One key value takes 1,000 writes a second, and a throttled index throttles the table's writes";

const FEW_VALUES =
  /^(?:active|category|class|country|currency|day|deleted|gender|grade|kind|language|level|month|priority|region|role|severity|stage|state|status|type|year)$/i;

const hasFewValues = ({ format, steps }: FieldPart): boolean => {
  if (format.kind === "boolean") return true;
  if (format.kind === "shard") return mostShards(format.sharding) === 1;
  return FEW_VALUES.test(steps.at(-1) ?? "");
};

/** Says that fields take few values. A single shard takes one, and says nothing about the items. */
const takeFewValues = (fields: readonly FieldPart[]): string => {
  const paths = fields.flatMap(({ path, format }) => (format.kind === "shard" ? [] : [`{${path}}`]));
  return paths.length === 1 ? `${paths[0]} takes few values` : `${paths.join(" and ")} take few values`;
};

/** Index partitions that are hot by construction: all items of a definition under one key, or under few. */
export const hotIndexPartition: AdviceRule = (catalog) => {
  const advice: Advice[] = [];
  for (const index of catalog.indexes) {
    const templatesOf = ({ keys }: Shape): readonly (Template | undefined)[] => index.partitionKeys.map((attribute) => keys[attribute]);
    const sourcesOf = (shape: Shape): string =>
      templatesOf(shape)
        .map((template) => template?.source)
        .join(" ");
    for (const { shape } of distinct(placesIn(catalog, index), (place) => `${place.shape.definition} ${sourcesOf(place.shape)}`)) {
      const fields = templatesOf(shape).flatMap((template) => template?.parts.filter((part) => part.kind === "field") ?? []);
      if (!fields.every(hasFewValues)) continue;
      const about = { rule: "hotIndexPartition", concern: CONCERNS.batch, definition: shape.definition } as const;
      if (fields.length === 0)
        advice.push({
          ...about,
          severity: "warning",
          message: `every "${shape.definition}" is in one partition of ${nameOf(index)}: "${index.partitionKey}" is always "${shape.keys[index.partitionKey]?.source}". ${LIMIT}.`,
          mend: [catalog.index.partitionKey, catalog.index.sortKey].includes(index.partitionKey)
            ? "Give the index key attributes of its own, and leave them out of these items."
            : "Leave the index keys out of these items if no read needs them, or spread them with {id:shard(16)} in the key.",
        });
      else if (fields.every(({ format }) => format.kind === "shard"))
        advice.push({
          ...about,
          severity: "note",
          message: `every "${shape.definition}" is in one partition of ${nameOf(index)}, which has one shard. ${LIMIT}.`,
          mend: "If it may be written more often, declare shards: 8. You can also raise the count later.",
        });
      else
        advice.push({
          ...about,
          severity: "note",
          message: `"${shape.definition}" has few partitions in ${nameOf(index)}: ${takeFewValues(fields)}. ${LIMIT}.`,
          mend: catalog.escapes
            ? "If it may be written more often, declare shards: 8 for the entry, or let `split` include a level of many values."
            : "Add a field of many values, or {id:shard(16)}, to the index's partition key.",
        });
    }
  }
  return advice;
};

/** Shards are too many from this multiple of the needed number on: every search queries each of them. */
const TOO_MANY = 4;

/** The rates that a model expects of one entry of an index. */
interface Expected {
  readonly index: string;
  readonly attributes: readonly string[];
  readonly definition: string;
  readonly expect: IndexExpectation;
  readonly shapes: readonly Shape[];
}

const shardAdvice = ({ index, attributes, definition, expect, shapes }: Expected): readonly Advice[] => {
  const about = { rule: "fewShards", concern: CONCERNS.batch, definition } as const;
  const { shards, searches } = recommendShards({ itemBytes: Math.max(...shapes.map(({ bytes }) => bytes), 1), ...expect });
  const parts = shapes.flatMap(({ keys }) => attributes.flatMap((attribute) => keys[attribute]?.parts ?? []));
  const counts = parts.map((part) => (part.kind === "field" && part.format.kind === "shard" ? mostShards(part.format.sharding) : 1));
  const declared = Math.max(1, ...counts);
  const rates: string[] = [];
  if (expect.writesPerSecond !== undefined) rates.push(`${expect.writesPerSecond.toLocaleString("en-US")} writes`);
  if (expect.readsPerSecond !== undefined) rates.push(`${expect.readsPerSecond.toLocaleString("en-US")} rows read`);
  const expects = `the index "${index}" is expected to take ${rates.join(" and ")} a second`;
  const advice: Advice[] = [];
  if (declared < shards) {
    const multiple = Math.ceil(shards / declared) * declared;
    advice.push({
      ...about,
      severity: "warning",
      message: `${expects}, more than its ${declared === 1 ? "one shard takes" : `${declared} shards take`}: a partition takes 1,000 writes or 3,000 reads, and a throttled index throttles the table's writes.`,
      mend: `Raise the shards to ${multiple}: [${multiple}, ${declared}] first, then edgetable reshard, then ${multiple}.`,
    });
  } else if (declared >= shards * TOO_MANY) {
    advice.push({
      ...about,
      severity: "note",
      message: `${expects}, for which ${shards} would do; each search queries all ${declared} shards, at half a unit or more each.`,
      mend: `Declare ${shards} in the next table. Reducing the shards of an existing table means moving their items.`,
    });
  }
  if (searches && searches.asked > searches.most) {
    const asked = Math.round(searches.asked).toLocaleString("en-US");
    advice.push({
      ...about,
      concern: CONCERNS.budgets,
      severity: "warning",
      message: `the index "${index}" is expected to take ${asked} searches a second. Each queries every shard, and a shard answers ${searches.most.toLocaleString("en-US")} at most, however many shards there are.`,
      mend: "Let a value that the search knows name the partition (split), or use larger pages.",
    });
  }
  return advice;
};

/** From this degree on, links to one node are likely to meet. */
const MANY_EDGES = 10_000;

/** Counters in one item that many edges of one node are expected to share. */
export const hotCounter: AdviceRule = ({ facts, edges }) => {
  const advice: Advice[] = [];
  for (const { node, attribute, over, freshness, shards } of facts.aggregates) {
    if (freshness !== "transaction" || over.kind !== "edge") continue;
    const { expect } = edges[over.name]?.definition ?? {};
    const end = over.direction === "in" ? "to" : "from";
    const degree = Math.max(expect?.[end] ?? 0, expect?.reached?.[end] ?? 0);
    if (degree < MANY_EDGES) continue;
    const about = { rule: "hotCounter", concern: CONCERNS.batch, definition: node } as const;
    const expects = `a "${node}" is expected to have ${degree.toLocaleString("en-US")} edges of "${over.name}"`;
    if (shards === undefined)
      advice.push({
        ...about,
        severity: "warning",
        message: `${expects}, and each of them adds to "${attribute}" in the node's one item. DynamoDB refuses a transaction while another one holds the item: some 50 to 100 a second succeed.`,
        mend: 'Spread it over counters (shards: 8), or let the stream count (freshness: "stream").',
      });
    else
      advice.push({
        ...about,
        severity: "note",
        message: `${expects}. "${attribute}" has ${shards} counters, and the index that finds these edges has one partition for the node: ${LIMIT}.`,
        mend: "DynamoDB splits such a partition under lasting load; before a launch, spread the edges over several nodes.",
      });
  }
  return advice;
};

/** Shards that are too few, or far too many, for the expected rates. */
export const fewShards: AdviceRule = (catalog) => {
  const all: Expected[] = [];
  for (const [index, declared] of Object.entries(catalog.definition.indexes ?? {})) {
    const attributes = catalog.indexes.find(({ name }) => name === index)?.partitionKeys ?? [];
    for (const [definition, entry] of Object.entries(declared.entries)) {
      const { expect } = fullEntry(declared, entry);
      const shapes = catalog.shapes.filter((shape) => shape.definition === definition && attributes.every((name) => name in shape.keys));
      if (expect) all.push({ index, attributes, definition, expect, shapes });
    }
  }
  for (const [index, { partitionKey, expect }] of Object.entries(catalog.layout.indexes ?? {})) {
    const attributes = nameList(partitionKey);
    const shapes = catalog.shapes.filter((shape) => attributes.every((name) => name in shape.keys));
    if (expect) all.push({ index, attributes, definition: index, expect, shapes });
  }
  return all.flatMap(shardAdvice);
};
