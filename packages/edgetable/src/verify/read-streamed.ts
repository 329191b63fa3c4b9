import { batchGet } from "../executor/batch.ts";
import {
  type Contribution,
  contributionsOf,
  factNode,
  type FactNode,
  overText,
  type Place,
  placeId,
} from "../executor/facts/contributions.ts";
import { eachMemo, gather, type Gathered, isKeptInFacts, projectionOf, streamedAggregates } from "../executor/facts/project-facts.ts";
import { rebuildFacts } from "../executor/facts/rebuild-facts.ts";
import { addDifference, addsUp, type Numeric } from "../executor/facts/refresh-aggregates.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import type { CallContext, Session } from "../executor/session.ts";
import type { EndId } from "../ir/logical-write.ts";
import { keyId } from "../ir/write-plan.ts";
import { encodeValue, sameItem } from "../requests/attribute-value.ts";
import { encodeField } from "../requests/encode-item.ts";
import { REVISION } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-keys.ts";
import type { AggregateFact } from "../schema/facts.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { StreamNeed } from "./judging.ts";
import { eachPage, planOver } from "./read-sums.ts";
import { seeItem } from "./see-item.ts";

/** A row that counts at a node, with what it contributes. */
interface Contributed {
  readonly place: Place;
  readonly contribution: Contribution;
}

const nodeOf = ({ catalog }: Session, { type, id }: EndId): FactNode => factNode(catalog, defined(catalog.nodes[type], type), id);

/** The items that decide what the rows that were found contribute, strongly consistent: read again where a copy or an index was found. */
const decidingItems = async (
  session: Session,
  { items, isWhole }: { readonly items: readonly Item[]; readonly isWhole: boolean },
  context: CallContext,
): Promise<readonly Item[]> => {
  const deciding: Item[] = [];
  const keys = new Map<string, Key>();
  for (const item of items) {
    const seen = seeItem(session.catalog, item);
    if (seen.kind !== "row") continue;
    const key = seen.shape.role === "mirror" && seen.other ? seen.other.key : seen.key;
    if (isWhole && key === seen.key) deciding.push(item);
    else keys.set(keyId(key), key);
  }
  if (keys.size > 0) deciding.push(...(await batchGet(session, { keys: [...keys.values()], consistent: true }, context)));
  return deciding;
};

/** What all rows contribute to a node that the stream keeps facts for, by their places. */
const readContributions = async (session: Session, node: FactNode, context: CallContext): Promise<ReadonlyMap<string, Contributed>> => {
  const { catalog } = session;
  const found = new Map<string, Contributed>();
  const overs = new Map(streamedAggregates(catalog, node.entry).map((fact): [string, AggregateFact] => [overText(fact), fact]));
  for (const fact of overs.values()) {
    const source = planOver(catalog, fact, { type: node.entry.name, id: node.id });
    const isWhole = source.plan.consistency !== "eventual";
    await eachPage(session, source, context, async (items) => {
      for (const item of await decidingItems(session, { items, isWhole }, context))
        for (const { contribution, ...place } of contributionsOf(catalog, item))
          if (place.node.facts.partition === node.facts.partition && Object.keys(contribution).length > 0)
            found.set(placeId(catalog, place), { place, contribution });
    });
  }
  return found;
};

/** The number of memos that say something else than their rows. */
const differingMemos = async (
  session: Session,
  node: FactNode,
  contributed: ReadonlyMap<string, Contributed>,
  context: CallContext,
): Promise<number> => {
  const missing = new Set(contributed.keys());
  let differing = 0;
  for (const over of new Set(streamedAggregates(session.catalog, node.entry).map(overText)))
    await eachMemo(session, { node, over, context }, (contribution, source) => {
      const id = placeId(session.catalog, { node, over, source });
      missing.delete(id);
      if (!sameItem(contribution, contributed.get(id)?.contribution ?? {})) differing++;
    });
  return differing + missing.size;
};

/** The attributes of {@link readStreamed}'s item. */
export const EXPECTED = "expected";
export const SUMS = "sums";
export const KEPT = "kept";
export const MEMOS = "memos";

/**
 * What rows make of the attributes that the stream keeps in a node, read as an item: `expected` holds the attributes, `sums`
 * what they add up to and `kept` what the item of the node's facts holds of it, `memos` how many memos differ from their rows.
 */
export const readStreamed = async (session: Session, need: StreamNeed, context: CallContext): Promise<Item> => {
  const { catalog } = session;
  const node = nodeOf(session, need.node);
  const facts = streamedAggregates(catalog, node.entry);
  const contributed = await readContributions(session, node, context);
  const sums: Record<string, Numeric> = {};
  const gathered = new Map(
    facts.filter((fact) => !isKeptInFacts(fact)).map((fact): [AggregateFact, Gathered] => [fact, { value: undefined, seen: new Set() }]),
  );
  for (const { place, contribution } of contributed.values()) {
    addDifference(sums, {}, contribution);
    for (const [fact, into] of gathered) {
      const value = contribution[fact.attribute];
      if (value && overText(fact) === place.over) gather(fact, into, value);
    }
  }
  const added = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, encodeValue(value, name)]));
  const { set } = projectionOf(node.entry, facts, added, gathered);
  const expected: Record<string, AttributeValue> = {};
  for (const name in set) expected[name] = encodeField(node.entry.shape, name, set[name]);
  const [stored = {}] = await batchGet(session, { keys: [factKeyItem(catalog, node.facts)], consistent: true }, context);
  const kept = Object.fromEntries(Object.entries(stored).filter(([name]) => addsUp(name) && name !== REVISION));
  const memos = await differingMemos(session, node, contributed, context);
  return { [EXPECTED]: { M: expected }, [SUMS]: { M: added }, [KEPT]: { M: kept }, [MEMOS]: { N: String(memos) } };
};

/** Computes anew what the stream keeps for a node. */
export const rebuildStreamed = async (run: Run, node: EndId): Promise<void> =>
  step(run, async (context) => {
    const at = nodeOf(run.session, node);
    const contributed = await readContributions(run.session, at, context);
    const places = Array.from(contributed.values(), ({ place }) => place);
    await rebuildFacts(run.session, at, places, context);
  });
