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
import { contributedTo, eachMemo, isKeptInFacts, streamedFacts } from "../executor/facts/read-memos.ts";
import { rebuildSums } from "../executor/facts/rebuild-facts.ts";
import {
  addDifference,
  addsUp,
  type FailedRefresh,
  isReadable,
  refreshAggregates,
  sameContribution,
  sumsIn,
} from "../executor/facts/refresh-aggregates.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import { byIdentity, identity } from "../executor/read-rows.ts";
import type { CallContext, Session } from "../executor/session.ts";
import type { EndId } from "../ir/logical-write.ts";
import { keyId } from "../ir/write-plan.ts";
import type { EdgeCopy } from "../planner/writes/rules/edge-copies.ts";
import { encodeField } from "../requests/encode-item.ts";
import { REVISION } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-key-item.ts";
import type { DerivedFact } from "../schema/facts.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { sameDecimals } from "../util/decimal.ts";
import { defined } from "../util/invariant.ts";
import { mapValues, type Row } from "../util/row.ts";
import { sideBySide } from "../util/side-by-side.ts";
import type { Rebuild } from "./finding.ts";
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

/** What is wrong in what the stream keeps for a node or edge. */
interface Wrong {
  readonly holder: FactHolder;
  /** Where a memo differs from its row, or is missing. */
  readonly places: readonly Place[];
  /** False where the sums are not what the memos add up to, or cannot be read. */
  readonly addedUp: boolean;
}

/** Compares the memos of a node or edge with its rows, and the sums with the memos. */
const compareKept = async (session: Session, holder: FactHolder, stored: Item | undefined, context: CallContext) => {
  const { catalog } = session;
  const contributed = await readContributions(session, holder, context);
  const missing = new Map(contributed);
  const places: Place[] = [];
  const sums: Record<string, string> = {};
  const facts = streamedFacts(catalog, holder.entry);
  for (const over of new Set(facts.map(overText)))
    await eachMemo(session, { holder, over, context }, (all, source) => {
      const contribution = contributedTo(facts, all);
      const place = { holder, over, source };
      const id = placeId(catalog, place);
      missing.delete(id);
      addDifference(sums, {}, contribution);
      if (!sameContribution(contribution, contributed.get(id)?.contribution)) places.push(place);
    });
  for (const { place } of missing.values()) places.push(place);
  const kept = contributedTo(facts, sumsIn(stored));
  const isKept = (name: string): boolean => sameDecimals(kept[name] ?? "0", sums[name] ?? "0");
  const addedUp = isReadable(catalog, stored) && Object.keys({ ...kept, ...sums }).every(isKept);
  const wrong: Wrong = { holder, places, addedUp };
  return { contributed, wrong };
};

/** What was wrong when an image was read, if it is little: all of it is kept for a repair. */
const known = new WeakMap<Item, Wrong>();
const LITTLE = 100;

/**
 * What rows make of the attributes that the stream keeps in a node or edge, read as an item: `expected` holds the attributes, `sums`
 * what they add up to and `kept` what the item of the node's facts holds of it, `memos` how many memos differ from their rows,
 * `tooLong` names sums that no attribute can hold, and `revised` is the revision of the facts.
 *
 * @param stored the item of the facts
 */
const asImage = async (session: Session, holder: FactHolder, stored: Item | undefined, context: CallContext): Promise<Item> => {
  const { catalog } = session;
  const facts = streamedFacts(catalog, holder.entry);
  const { contributed, wrong } = await compareKept(session, holder, stored, context);
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
  const kept: Record<string, AttributeValue> = mapValues(contributedTo(facts, sumsIn(stored)), (N) => ({ N }));
  for (const name in stored) if (addsUp(name) && name !== REVISION && !("N" in stored[name]!)) kept[name] = stored[name]!;
  const image: Item = {
    [EXPECTED]: { M: expected },
    [TOO_LONG]: { L: Object.keys(tooLong).map((attribute) => ({ S: attribute })) },
    [SUMS]: { M: added },
    [KEPT]: { M: kept },
    [MEMOS]: { N: String(wrong.places.length) },
    ...(stored?.[REVISION] && { [REVISED]: stored[REVISION] }),
  };
  if (wrong.places.length <= LITTLE) known.set(image, wrong);
  return image;
};

const WIDTH = 8;

/** The items of the facts of nodes and edges, in the order of these. */
const factsItems = async (run: Run, holders: readonly FactHolder[]): Promise<readonly (Item | undefined)[]> => {
  const { catalog } = run.session;
  const keys = holders.map(({ facts }) => factKeyItem(catalog, facts));
  const distinct = [...byIdentity(catalog, keys).values()];
  const items = await step(run, (context) => batchGet(run.session, { keys: distinct, consistent: true }, context));
  const found = byIdentity(catalog, items);
  return keys.map((key) => found.get(identity(catalog, key)));
};

/** Reads what the stream keeps for nodes and edges, and what rows make of it: see `asImage`. By the ids of the needs. */
export const readStreamed = async (run: Run, needs: readonly StreamNeed[]): Promise<Readonly<Record<string, Item>>> => {
  const holders = needs.map((need) => holderAt(run.session, need.holder));
  const stored = await factsItems(run, holders);
  const images: Record<string, Item> = {};
  await sideBySide(needs, WIDTH, async ({ id }, at) => {
    images[id] = await step(run, (context) => asImage(run.session, holders[at] as FactHolder, stored[at], context));
  });
  return images;
};

const HOLDERS = 25;
/** Memos that are read with their rows, and written, in one step. */
const PLACES = 400;

/**
 * Computes anew all that the stream keeps for nodes and edges: the sums from the memos, the memos from the rows, and the attributes
 * from both. It may run beside processors, at any time and any number of times. The sums come first: nothing can be added to what
 * is no number.
 */
export const rebuildStreamed = async (run: Run, rebuilds: readonly Pick<Rebuild, "holder" | "read">[]): Promise<void> => {
  const { session } = run;
  for (let from = 0; from < rebuilds.length; from += HOLDERS) {
    const holders: FactHolder[] = [];
    const places: Place[] = [];
    await sideBySide(rebuilds.slice(from, from + HOLDERS), WIDTH, async ({ holder: end, read = {} }) => {
      const holder = holderAt(session, end);
      let wrong = known.get(read);
      if (!wrong) {
        const [stored] = await factsItems(run, [holder]);
        ({ wrong } = await step(run, (context) => compareKept(session, holder, stored, context)));
      }
      if (!wrong.addedUp) await step(run, (context) => rebuildSums(session, holder, context));
      holders.push(holder);
      for (const place of wrong.places) places.push(place);
    });
    const failed: FailedRefresh[] = [];
    for (let at = 0; at < places.length; at += PLACES)
      failed.push(...(await step(run, (context) => refreshAggregates(session, places.slice(at, at + PLACES), context))));
    failed.push(...(await step(run, (context) => projectFacts(session, holders, context))));
    if (failed[0]) throw failed[0].error;
  }
};
