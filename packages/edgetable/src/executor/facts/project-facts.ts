import type { Term, WritePlan, Images } from "../../ir/write-plan.ts";
import { comparePrimary } from "../../keys/value-text.ts";
import { changeItem } from "../../planner/writes/rules/computed-attributes.ts";
import { locate, NOT_FOUND, openWorkingSet, settle, stage } from "../../planner/writes/working-set.ts";
import { decodeValue, keyTextOf } from "../../requests/attribute-value.ts";
import { nameIn } from "../../requests/expression.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { type AggregateFact, countHidden, STREAMED, sumHidden } from "../../schema/facts.ts";
import { CONTRIBUTION, MEMO_SOURCE, REVISION } from "../../schema/system-items.ts";
import { factKeyItem, memoOf, memosOver } from "../../schema/system-keys.ts";
import type { AttributeValue, Item, Key, QueryInput } from "../../transport/operations.ts";
import { batchGet } from "../batch.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { runPlanned } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { type FactNode, overText } from "./contributions.ts";
import type { FailedRefresh } from "./refresh-aggregates.ts";

const streamed = new WeakMap<NodeEntry, readonly AggregateFact[]>();

/** The aggregates of a node type that the stream keeps. */
export const streamedAggregates = ({ facts }: Catalog, entry: NodeEntry): readonly AggregateFact[] => {
  let known = streamed.get(entry);
  if (!known)
    streamed.set(entry, (known = facts.aggregates.filter(({ node, freshness }) => node === entry.name && freshness === "stream")));
  return known;
};

/** True if the values of an aggregate add up, so that the item of the node's facts holds them. */
export const isKeptInFacts = ({ operation }: AggregateFact): boolean =>
  operation === "count" || operation === "sum" || operation === "average";

/** Reads all memos of a node over one kind of rows, strongly consistent, a page at a time: what each contributes, and its row's key. */
export const eachMemo = async (
  session: Session,
  { node, over, context }: { readonly node: FactNode; readonly over: string; readonly context: CallContext },
  take: (contribution: Item, source: Key) => void,
): Promise<void> => {
  const { catalog } = session;
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = factKeyItem(catalog, memoOf(node.facts, over, "-"))[partitionKey] as AttributeValue;
  const names: Record<string, string> = {};
  const [p, s] = [nameIn(names, partitionKey, "#p"), nameIn(names, sortKey, "#s")];
  const [c, k] = [nameIn(names, CONTRIBUTION, "#c"), nameIn(names, MEMO_SOURCE, "#k")];
  const input: QueryInput = {
    TableName: catalog.table,
    KeyConditionExpression: `${p} = :p AND begins_with(${s}, :s)`,
    ProjectionExpression: `${c}, ${k}`,
    ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
    ExpressionAttributeValues: { ":p": partition, ":s": { S: memosOver(over) } },
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
  };
  let start: Key | undefined;
  do {
    const output = await session.send("Query", start ? { ...input, ExclusiveStartKey: start } : input, context);
    for (const item of output.Items ?? []) {
      const [value, source] = [item[CONTRIBUTION], item[MEMO_SOURCE]];
      if (value && "M" in value && source && "M" in source) take(value.M, source.M);
    }
    start = output.LastEvaluatedKey;
  } while (start);
};

/** A value whose sets and maps have one order. */
const ordered = (value: AttributeValue): unknown => {
  if ("SS" in value) return { SS: value.SS.toSorted() };
  if ("NS" in value) return { NS: value.NS.map((number) => keyTextOf({ N: number })).toSorted() };
  if ("BS" in value) return { BS: value.BS.toSorted() };
  if ("L" in value) return { L: value.L.map(ordered) };
  if (!("M" in value)) return value;
  return {
    M: Object.fromEntries(
      Object.keys(value.M)
        .toSorted()
        .map((name) => [name, ordered(value.M[name]!)]),
    ),
  };
};

/** What sorts and tells apart stored values: numbers before texts. */
const orderOf = (value: AttributeValue): string => `${"N" in value ? 0 : 1}${keyTextOf(value) ?? JSON.stringify(ordered(value))}`;

/** What the contributions of rows make of an attribute that does not add up. */
export interface Gathered {
  value: AttributeValue | undefined;
  readonly seen: Set<string>;
}

/** Takes one more value into what was gathered. */
export const gather = ({ operation }: AggregateFact, into: Gathered, value: AttributeValue): void => {
  if (operation === "distinct") into.seen.add(orderOf(value));
  else if (into.value === undefined) into.value = value;
  else {
    const order = comparePrimary(orderOf(value), orderOf(into.value));
    if (operation === "min" ? order < 0 : order > 0) into.value = value;
  }
};

/** The values of those aggregates that only all memos together tell. */
const readMemos = async (
  session: Session,
  node: FactNode,
  facts: readonly AggregateFact[],
  context: CallContext,
): Promise<ReadonlyMap<AggregateFact, Gathered>> => {
  const gathered = new Map(facts.map((fact): [AggregateFact, Gathered] => [fact, { value: undefined, seen: new Set() }]));
  for (const over of new Set(facts.map(overText)))
    await eachMemo(session, { node, over, context }, (contribution) => {
      for (const fact of facts) {
        const value = contribution[fact.attribute];
        if (value && overText(fact) === over) gather(fact, gathered.get(fact) as Gathered, value);
      }
    });
  return gathered;
};

const numberIn = (facts: Item | undefined, name: string): number | bigint => {
  const value = facts?.[name];
  return value && "N" in value ? (decodeValue(value) as number | bigint) : 0;
};

/** The derived attributes of a node, to be set or removed. */
export interface Projection {
  readonly set: Record<string, unknown>;
  readonly remove: string[];
}

/** The values of a node's derived attributes, from its sums and from what was gathered. */
export const projectionOf = (
  { shape }: NodeEntry,
  facts: readonly AggregateFact[],
  item: Item | undefined,
  gathered: ReadonlyMap<AggregateFact, Gathered>,
): Projection => {
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  for (const fact of facts) {
    const { attribute, operation } = fact;
    const found = gathered.get(fact);
    let value: unknown;
    if (operation === "count") value = numberIn(item, countHidden(attribute));
    else if (operation === "sum") value = numberIn(item, sumHidden(attribute));
    else if (operation === "distinct") value = found?.seen.size ?? 0;
    else if (operation === "average") {
      const number = Number(numberIn(item, countHidden(attribute)));
      value = number > 0 ? Number(numberIn(item, sumHidden(attribute))) / number : undefined;
    } else {
      value = found?.value && decodeValue(found.value);
      if (typeof value === "string" && shape.dates.includes(attribute)) value = new Date(value);
    }
    if (value === undefined) remove.push(attribute);
    else set[attribute] = value;
  }
  return { set, remove };
};

/** Writes a node's derived attributes and the index keys that hold them, if the node is there and holds no newer ones. */
const planProjection = (
  catalog: Catalog,
  { entry, id }: FactNode,
  { set, remove }: Projection,
  { revision, images }: { readonly revision: number; readonly images: Images },
): WritePlan => {
  const working = openWorkingSet(catalog, images);
  const { shape } = entry;
  const nothing = { kind: "settled", write: 0, failure: NOT_FOUND } as const;
  const key = locate(working, shape, id);
  if (key === null) return nothing;
  const failure = { reason: "conditionFailed" } as const;
  const older: Term =
    revision === 0
      ? { kind: "equals", attribute: STREAMED, value: undefined, failure }
      : // Also over the same revision: a program of an older model may have dropped an attribute that it does not know.
        { kind: "below", attribute: STREAMED, limit: revision + 1, failure };
  const changed =
    key &&
    changeItem(working, {
      shape,
      key,
      known: id,
      changes: { set: revision === 0 ? set : { ...set, [STREAMED]: revision }, remove, add: {}, append: {} },
      guards: {},
      terms: [older],
      keepsVersion: true,
    });
  if (changed === null) return nothing;
  for (const item of changed?.items ?? []) stage(working, item);
  const items = settle(working);
  if (working.needs.length > 0) return { kind: "needs", reads: working.needs };
  if ("failure" in items) return { kind: "settled", ...items };
  const atomic = items.length > 1 ? ({ kind: "transaction", items: items.length } as const) : ({ kind: "item" } as const);
  return { kind: "ready", items, rows: [undefined], atomic, repeatable: true };
};

/**
 * Writes the facts of nodes into the nodes' own items. The facts are read before the memos, so that what is written is at
 * least as new as its revision says.
 *
 * @returns the nodes that could not be written
 */
export const projectFacts = async (
  session: Session,
  nodes: readonly FactNode[],
  context: CallContext,
): Promise<readonly FailedRefresh[]> => {
  const { catalog } = session;
  const streaming = nodes.filter(({ entry }) => streamedAggregates(catalog, entry).length > 0);
  const distinct = [...new Map(streaming.map((node) => [node.facts.partition, node])).values()];
  const keys = distinct.map(({ facts }) => factKeyItem(catalog, facts));
  const items = byIdentity(catalog, await batchGet(session, { keys, consistent: true }, context));
  const failed: FailedRefresh[] = [];
  const project = async (node: FactNode, item: Item | undefined): Promise<void> => {
    const facts = streamedAggregates(catalog, node.entry);
    const inMemos = facts.filter((fact) => !isKeptInFacts(fact));
    const gathered = item && inMemos.length > 0 ? await readMemos(session, node, inMemos, context) : new Map<AggregateFact, Gathered>();
    const projection = projectionOf(node.entry, facts, item, gathered);
    const revision = Number(numberIn(item, REVISION));
    await runPlanned(session, (images) => planProjection(catalog, node, projection, { revision, images }), context);
  };
  await Promise.all(
    distinct.map((node, at) =>
      project(node, items.get(identity(catalog, keys[at] as Key))).catch((error: unknown) => {
        failed.push({ node, error: error as Error });
      }),
    ),
  );
  return failed;
};
