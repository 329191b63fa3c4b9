import { batchGet } from "../executor/batch.ts";
import {
  type Contribution,
  contributionsOf,
  endOf,
  type FactHolder,
  holderOf,
  overText,
  type Place,
  placesOf,
  placeId,
} from "../executor/facts/contributions.ts";
import { gather, type Gathered, projectFacts, projectionOf } from "../executor/facts/project-facts.ts";
import { eachMemo, isKeptInFacts, streamedFacts } from "../executor/facts/read-memos.ts";
import { rebuildSums } from "../executor/facts/rebuild-facts.ts";
import { addDifference, addsUp, refreshAggregates, sameContribution, sumsIn } from "../executor/facts/refresh-aggregates.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import type { CallContext, Session } from "../executor/session.ts";
import type { EndId } from "../ir/logical-write.ts";
import { keyId } from "../ir/write-plan.ts";
import type { EdgeCopy } from "../planner/writes/rules/edge-copies.ts";
import { encodeField } from "../requests/encode-item.ts";
import { REVISION } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-key-item.ts";
import type { DerivedFact } from "../schema/facts.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { StreamNeed } from "./judging.ts";
import { eachPage, planOver, plansBetween, type Source } from "./read-sums.ts";
import { seeItem } from "./see-item.ts";

/** A row that counts at a node, with what it contributes. */
interface Contributed {
  readonly place: Place;
  readonly contribution: Contribution;
}

const holderAt = ({ catalog }: Session, { type, id }: EndId): FactHolder => defined(holderOf(catalog, type, id), type);

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

/** What all rows contribute to a node or edge that the stream keeps facts for, by their places. */
const readContributions = async (session: Session, holder: FactHolder, context: CallContext): Promise<ReadonlyMap<string, Contributed>> => {
  const { catalog } = session;
  const found = new Map<string, Contributed>();
  const { entry, id } = holder;
  const facts = new Map(streamedFacts(catalog, entry).map((fact) => [overText(fact), fact]));
  const sources = [...facts.values()].flatMap((fact): readonly Source[] => {
    if ("node" in fact) return [planOver(catalog, fact, { type: entry.name, id })];
    const [{ shape }] = placesOf(holder) as [EdgeCopy];
    return plansBetween(catalog, fact, [endOf(shape, "from", id["from"] as Row), endOf(shape, "to", id["to"] as Row)]);
  });
  for (const source of sources) {
    const isWhole = source.plan.consistency !== "eventual";
    await eachPage(session, source, context, async (items) => {
      for (const item of await decidingItems(session, { items, isWhole }, context))
        for (const { contribution, ...place } of contributionsOf(catalog, item))
          if (place.holder.facts.partition === holder.facts.partition && Object.keys(contribution).length > 0)
            found.set(placeId(catalog, place), { place, contribution });
    });
  }
  return found;
};

/** The attributes of {@link readStreamed}'s item. */
export const EXPECTED = "expected";
export const SUMS = "sums";
export const KEPT = "kept";
export const MEMOS = "memos";
export const TOO_LONG = "tooLong";
export const REVISED = "revised";

/**
 * What rows make of the attributes that the stream keeps in a node or edge, read as an item: `expected` holds the attributes, `sums`
 * what they add up to and `kept` what the item of the node's facts holds of it, `memos` how many memos differ from their rows,
 * `tooLong` names sums that no attribute can hold, and `revised` is the revision of the facts.
 */
export const readStreamed = async (session: Session, need: StreamNeed, context: CallContext): Promise<Item> => {
  const { catalog } = session;
  const holder = holderAt(session, need.holder);
  const facts = streamedFacts(catalog, holder.entry);
  const contributed = await readContributions(session, holder, context);
  const sums: Record<string, string> = {};
  const gathered = new Map(
    facts.filter((fact) => !isKeptInFacts(fact)).map((fact): [DerivedFact, Gathered] => [fact, { value: undefined, seen: new Set() }]),
  );
  for (const { place, contribution } of contributed.values()) {
    addDifference(sums, {}, contribution);
    for (const [fact, into] of gathered) {
      const value = contribution[fact.attribute];
      if (value && overText(fact) === place.over) gather(fact, into, value);
    }
  }
  const added = Object.fromEntries(Object.entries(sums).map(([name, N]) => [name, { N }]));
  const [{ shape }] = placesOf(holder) as [EdgeCopy];
  const { set, exact, tooLong } = projectionOf(shape, facts, added, gathered);
  const expected: Record<string, AttributeValue> = {};
  for (const name in set) expected[name] = name in exact ? { N: exact[name]! } : encodeField(shape, name, set[name]);
  const [stored = {}] = await batchGet(session, { keys: [factKeyItem(catalog, holder.facts)], consistent: true }, context);
  const kept: Record<string, AttributeValue> = Object.fromEntries(Object.entries(sumsIn(stored)).map(([name, N]) => [name, { N }]));
  for (const name in stored) if (addsUp(name) && name !== REVISION && !("N" in stored[name]!)) kept[name] = stored[name]!;
  // Memos that say something else than their rows, and rows without one.
  const missing = new Set(contributed.keys());
  let differing = 0;
  for (const over of new Set(facts.map(overText)))
    await eachMemo(session, { holder, over, context }, (contribution, source) => {
      const id = placeId(catalog, { holder, over, source });
      missing.delete(id);
      if (!sameContribution(contribution, contributed.get(id)?.contribution)) differing++;
    });
  const long = Object.keys(tooLong).map((attribute) => ({ S: attribute }));
  return {
    [EXPECTED]: { M: expected },
    [TOO_LONG]: { L: long },
    [SUMS]: { M: added },
    [KEPT]: { M: kept },
    [MEMOS]: { N: String(differing + missing.size) },
    ...(stored[REVISION] && { [REVISED]: stored[REVISION] }),
  };
};

/**
 * Computes anew all that the stream keeps for a node or edge: the sums from its memos, the memos from the rows, and its attributes
 * from both. It may run beside processors, at any time and any number of times. The sums come first: nothing can be added to what
 * is no number.
 */
export const rebuildStreamed = async (run: Run, holder: EndId): Promise<void> =>
  step(run, async (context) => {
    const at = holderAt(run.session, holder);
    const contributed = await readContributions(run.session, at, context);
    const places = Array.from(contributed.values(), ({ place }) => place);
    const known = await rebuildSums(run.session, at, context);
    const failed = [...(await refreshAggregates(run.session, [...places, ...known], context))];
    failed.push(...(await projectFacts(run.session, [at], context)));
    if (failed[0]) throw failed[0].error;
  });
