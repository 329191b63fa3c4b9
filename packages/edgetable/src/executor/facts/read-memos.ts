import { sameAttribute } from "../../requests/attribute-value.ts";
import { nameIn } from "../../requests/expression.ts";
import type { Catalog, EdgeEntry, NodeEntry } from "../../schema/catalog.ts";
import { isAdditive } from "../../schema/derived.ts";
import { countHidden, type DerivedFact, sumHidden } from "../../schema/facts.ts";
import { placeText, readPlace, type StoredPlace } from "../../schema/stored-id.ts";
import { CONTRIBUTION, MEMO_NODE, MEMO_SOURCE } from "../../schema/system-items.ts";
import { factKeyItem } from "../../schema/system-key-item.ts";
import { memoOf, memosOver } from "../../schema/system-keys.ts";
import type { AttributeValue, Item, Key, QueryInput } from "../../transport/operations.ts";
import type { CallContext, Session } from "../session.ts";
import { type FactHolder, holderOf, memoKey, overText, type Place } from "./contributions.ts";

const streamed = new WeakMap<NodeEntry | EdgeEntry, readonly DerivedFact[]>();

/** The derived attributes of a node type or edge type that the stream keeps. */
export const streamedFacts = ({ facts }: Catalog, entry: NodeEntry | EdgeEntry): readonly DerivedFact[] => {
  let known = streamed.get(entry);
  if (!known) {
    const all: readonly DerivedFact[] =
      "shapes" in entry
        ? facts.summaries.filter(({ edge }) => edge === entry.name)
        : facts.aggregates.filter(({ node }) => node === entry.name);
    streamed.set(entry, (known = all.filter(({ freshness }) => freshness === "stream")));
  }
  return known;
};

/** True if the values of an aggregate add up, so that the item of the node's facts holds them. */
export const isKeptInFacts = ({ operation }: Pick<DerivedFact, "operation">): boolean => isAdditive(operation);

/** What rows may contribute to an aggregate: the names of the numbers behind it, or its own. */
export const contributedNames = ({ attribute, operation }: Pick<DerivedFact, "attribute" | "operation">): readonly string[] => {
  if (operation === "count") return [countHidden(attribute)];
  if (operation === "sum") return [sumHidden(attribute)];
  return operation === "average" ? [sumHidden(attribute), countHidden(attribute)] : [attribute];
};

/** Those values that are of attributes that the stream keeps: memos and sums keep what a model before contributed. */
export const contributedTo = <T>(facts: readonly DerivedFact[], values: Readonly<Record<string, T>>): Readonly<Record<string, T>> => {
  const names = new Set(facts.flatMap(contributedNames));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
};

/** The place that a memo is of; undefined for another item. */
export const readMemoPlace = (memo: Item): (StoredPlace & { readonly source: Key }) | undefined => {
  const [text, source] = [memo[MEMO_NODE], memo[MEMO_SOURCE]];
  if (!text || !("S" in text) || !source || !("M" in source)) return undefined;
  const place = readPlace(text.S);
  return place && { ...place, source: source.M };
};

/** The place that a memo says it is of; undefined where the model has no such node or edge, or aggregates other rows of it. */
export const placeOfMemo = (catalog: Catalog, memo: Item): Place | undefined => {
  const place = readMemoPlace(memo);
  const holder = place && holderOf(catalog, place.node, place.id);
  if (!holder || !streamedFacts(catalog, holder.entry).some((fact) => overText(fact) === place.over)) return undefined;
  return { holder, over: place.over, source: place.source };
};

const otherKeys = new WeakMap<Item, Key | "own">();

/** The key at which a memo has to lie, if it lies at another one: nothing takes off there what it adds. */
export const otherKeyOfMemo = (catalog: Catalog, memo: Item): Key | undefined => {
  let known = otherKeys.get(memo);
  if (!known) {
    const place = placeOfMemo(catalog, memo);
    const key = place && memoKey(catalog, place);
    known = key && Object.keys(key).some((attribute) => !sameAttribute(memo[attribute], key[attribute])) ? key : "own";
    otherKeys.set(memo, known);
  }
  return known === "own" ? undefined : known;
};

/** True if a memo lies where that of a row at a node or edge does, and names no other node or edge. One that cannot be read names none. */
const isOwnMemo = (catalog: Catalog, memo: Item, place: Place): boolean => {
  const { sortKey = "" } = catalog.index;
  if (!sameAttribute(memo[sortKey], memoKey(catalog, place)[sortKey])) return false;
  const { holder, over } = place;
  const text = memo[MEMO_NODE];
  if (!text || !("S" in text) || text.S === placeText({ node: holder.entry.name, over, id: holder.id })) return true;
  const named = readPlace(text.S);
  return !named || holderOf(catalog, named.node, named.id)?.facts.partition === holder.facts.partition;
};

/** Which memos are read. */
interface MemoReading {
  readonly holder: FactHolder;
  readonly over: string;
  readonly context: CallContext;
}

/**
 * Reads all memos of a node or edge over one kind of rows, strongly consistent, a page at a time: what each contributes, and its row's key.
 * A memo under a key that is not its own is passed over: nothing takes it off.
 */
export const eachMemo = async (
  session: Session,
  { holder, over, context }: MemoReading,
  take: (contribution: Item, source: Key) => void,
): Promise<void> => {
  const { catalog } = session;
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = factKeyItem(catalog, memoOf(holder.facts, over, "-"))[partitionKey] as AttributeValue;
  const names: Record<string, string> = {};
  const [p, s] = [nameIn(names, partitionKey, "#p"), nameIn(names, sortKey, "#s")];
  const [c, k] = [nameIn(names, CONTRIBUTION, "#c"), nameIn(names, MEMO_SOURCE, "#k")];
  const n = nameIn(names, MEMO_NODE, "#n");
  const input: QueryInput = {
    TableName: catalog.table,
    KeyConditionExpression: `${p} = :p AND begins_with(${s}, :s)`,
    ProjectionExpression: `${c}, ${k}, ${s}, ${n}`,
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
      if (!value || !("M" in value) || !source || !("M" in source)) continue;
      if (isOwnMemo(catalog, item, { holder, over, source: source.M })) take(value.M, source.M);
    }
    start = output.LastEvaluatedKey;
  } while (start);
};
