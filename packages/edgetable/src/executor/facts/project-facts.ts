import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Term, WritePlan, Images } from "../../ir/write-plan.ts";
import { comparePrimary, exactText } from "../../keys/template.ts";
import { changeItem } from "../../planner/writes/rules/computed-attributes.ts";
import { type EdgeCopy, endTerms } from "../../planner/writes/rules/edge-copies.ts";
import { locate, NOT_FOUND, openWorkingSet, settle, stage } from "../../planner/writes/working-set.ts";
import { decodeValue, keyTextOf, decimalIn } from "../../requests/attribute-value.ts";
import { keyIfComplete } from "../../requests/encode-item.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { countHidden, type DerivedFact, STREAMED, sumHidden } from "../../schema/facts.ts";
import { REVISION } from "../../schema/system-items.ts";
import { factKeyItem } from "../../schema/system-key-item.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { readDecimal } from "../../util/decimal.ts";
import { readableValue } from "../../util/time.ts";
import { batchGet } from "../batch.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { runPlanned } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { type FactHolder, overText, placesOf } from "./contributions.ts";
import { eachMemo, isKeptInFacts, streamedFacts } from "./read-memos.ts";
import { rebuildSums } from "./rebuild-facts.ts";
import { type FailedRefresh, isReadable, isStorable, isWrittenOrGone, sumsIn, TRIES } from "./refresh-aggregates.ts";

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
export const orderOf = (value: AttributeValue): string => `${"N" in value ? 0 : 1}${keyTextOf(value) ?? JSON.stringify(ordered(value))}`;

/** What the contributions of rows make of an attribute that does not add up. */
export interface Gathered {
  value: AttributeValue | undefined;
  readonly seen: Set<string>;
}

/** Takes one more value into what was gathered. */
export const gather = ({ operation }: DerivedFact, into: Gathered, value: AttributeValue): void => {
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
  holder: FactHolder,
  facts: readonly DerivedFact[],
  context: CallContext,
): Promise<ReadonlyMap<DerivedFact, Gathered>> => {
  const gathered = new Map(facts.map((fact): [DerivedFact, Gathered] => [fact, { value: undefined, seen: new Set() }]));
  for (const over of new Set(facts.map(overText)))
    await eachMemo(session, { holder, over, context }, (contribution) => {
      for (const fact of facts) {
        const value = contribution[fact.attribute];
        if (value && overText(fact) === over) gather(fact, gathered.get(fact) as Gathered, value);
      }
    });
  return gathered;
};

/** The derived attributes of a node or edge, to be set or removed. */
export interface Projection {
  readonly set: Record<string, unknown>;
  /** The decimals of the numbers in `set` that may have more digits than a double. */
  readonly exact: Record<string, string>;
  readonly remove: string[];
  /** Sums that DynamoDB has no number for, by attribute, as decimals: the attributes are removed. */
  readonly tooLong: Readonly<Record<string, string>>;
}

/** The values of the derived attributes of a node or edge, from its sums and from what was gathered. */
export const projectionOf = (
  { dates }: Pick<Shape, "dates">,
  facts: readonly DerivedFact[],
  item: Item | undefined,
  gathered: ReadonlyMap<DerivedFact, Gathered>,
): Projection => {
  const set: Record<string, unknown> = {};
  const exact: Record<string, string> = {};
  const remove: string[] = [];
  const tooLong: Record<string, string> = {};
  const sums = sumsIn(item);
  for (const fact of facts) {
    const { attribute, operation } = fact;
    const found = gathered.get(fact);
    let value: unknown;
    if (operation === "count") value = readDecimal(sums[countHidden(attribute)] ?? "0");
    else if (operation === "sum") {
      const sum = sums[sumHidden(attribute)] ?? "0";
      if (isStorable(sum)) {
        exact[attribute] = sum;
        value = readDecimal(sum);
      } else tooLong[attribute] = sum;
    } else if (operation === "distinct") value = found?.seen.size ?? 0;
    else if (operation === "average") {
      const number = Number(sums[countHidden(attribute)] ?? "0");
      value = number > 0 ? Number(sums[sumHidden(attribute)] ?? "0") / number : undefined;
    } else {
      value = found?.value && decodeValue(found.value);
      if (found?.value && "N" in found.value) exact[attribute] = found.value.N;
      if (typeof value === "string" && dates.includes(attribute)) value = readableValue(new Date(value));
    }
    if (value === undefined) remove.push(attribute);
    else set[attribute] = value;
  }
  return { set, exact, remove, tooLong };
};

/** How the facts of a node or edge are written into one of its items. */
interface Writing {
  /** The revision of the facts. */
  readonly revision: number;
  /** What the item shows for a revision and what cannot be one: it is overwritten. */
  readonly over: AttributeValue | undefined;
}

/** Writes the derived attributes of an item and the index keys that hold them, if the item is there and holds no newer ones. */
const planProjection = (
  catalog: Catalog,
  { shape, row }: EdgeCopy,
  { set, exact, remove }: Projection,
  { revision, over, images }: Writing & { readonly images: Images },
): WritePlan => {
  const working = openWorkingSet(catalog, images);
  const nothing = { kind: "settled", write: 0, failure: NOT_FOUND } as const;
  const key = locate(working, shape, row);
  // Under a key that names one end alone there may be an edge to another node.
  const ends = key && endTerms(working, { shape, row, key });
  if (key === null || ends === null) return nothing;
  const failure = { reason: "conditionFailed" } as const;
  const older: Term =
    over !== undefined || revision === 0
      ? { kind: "equals", attribute: STREAMED, value: over, failure }
      : // Also over the same revision: a program of an older model may have dropped an attribute that it does not know.
        { kind: "below", attribute: STREAMED, limit: revision + 1, failure };
  const changed =
    key &&
    ends &&
    changeItem(working, {
      shape,
      key,
      known: row,
      changes: {
        set: revision === 0 ? set : { ...set, [STREAMED]: revision },
        remove: revision === 0 && over ? [...remove, STREAMED] : remove,
        add: {},
        append: {},
      },
      exact,
      guards: {},
      terms: [older, ...ends],
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

const readFacts = async (session: Session, { facts }: FactHolder, context: CallContext): Promise<Item | undefined> =>
  (await batchGet(session, { keys: [factKeyItem(session.catalog, facts)], consistent: true }, context))[0];

/**
 * Looks why an item refused the facts of its node or edge. It may show newer ones. Or it shows a revision that its facts never
 * had: they were lost, or the item came from elsewhere. Then the sums are made anew, above that revision. The item is read before
 * the facts, whose revision may rise in between.
 *
 * @returns the facts to write, over what the item shows if that is no revision; undefined if it shows newer ones
 */
const afterRefusal = async (
  session: Session,
  holder: FactHolder,
  { shape, row }: EdgeCopy,
  context: CallContext,
): Promise<{ readonly facts: Item | undefined; readonly over: AttributeValue | undefined } | undefined> => {
  const key = keyIfComplete(session.catalog, shape, row);
  const [item] = key ? await batchGet(session, { keys: [key], consistent: true }, context) : [];
  const shown = item?.[STREAMED];
  if (!shown) return undefined;
  const facts = await readFacts(session, holder, context);
  // Anything else than a revision stands above every number, or compares with none.
  if (!("N" in shown) || !Number.isSafeInteger(Number(shown.N))) return { facts, over: shown };
  if (Number(decimalIn(shown)) <= Number(decimalIn(facts?.[REVISION]))) return undefined;
  await rebuildSums(session, holder, context, decimalIn(shown));
  return { facts: await readFacts(session, holder, context), over: undefined };
};

/**
 * Writes the facts of nodes and edges into their own items. The facts are read before the memos, so that what is written is at
 * least as new as its revision says.
 *
 * @returns the nodes and edges that could not be written
 */
export const projectFacts = async (
  session: Session,
  holders: readonly FactHolder[],
  context: CallContext,
): Promise<readonly FailedRefresh[]> => {
  const { catalog } = session;
  const streaming = holders.filter(({ entry }) => streamedFacts(catalog, entry).length > 0);
  const distinct = [...new Map(streaming.map((holder) => [holder.facts.partition, holder])).values()];
  const keys = distinct.map(({ facts }) => factKeyItem(catalog, facts));
  const items = byIdentity(catalog, await batchGet(session, { keys, consistent: true }, context));
  const failed: FailedRefresh[] = [];
  const project = async (holder: FactHolder, read: Item | undefined): Promise<void> => {
    // A change that adds nothing to a sum is written beside a text in its place, which says nothing of the sum.
    const isWrong = !isReadable(catalog, read);
    if (isWrong) await rebuildSums(session, holder, context);
    const item = isWrong ? await readFacts(session, holder, context) : read;
    const facts = streamedFacts(catalog, holder.entry);
    const inMemos = facts.filter((fact) => !isKeptInFacts(fact));
    const readFrom = async (from: Item | undefined): Promise<ReadonlyMap<DerivedFact, Gathered>> =>
      from && inMemos.length > 0 ? readMemos(session, holder, inMemos, context) : new Map();
    const gathered = await readFrom(item);
    let tooLong: Projection["tooLong"] = {};
    const write = async (place: EdgeCopy): Promise<void> => {
      let [from, values, over]: [Item | undefined, typeof gathered, AttributeValue | undefined] = [item, gathered, undefined];
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const projection = projectionOf(place.shape, facts, from, values);
        ({ tooLong } = projection);
        const writing = { revision: Number(decimalIn(from?.[REVISION])), over };
        const plan = (images: Images): ReturnType<typeof planProjection> =>
          planProjection(catalog, place, projection, { ...writing, images });
        if (await isWrittenOrGone(runPlanned(session, plan, context))) return;
        const again = await afterRefusal(session, holder, place, context);
        if (!again) return;
        ({ facts: from, over } = again);
        values = await readFrom(from);
      }
      throw new EdgetableError("execute.conflict", `Other processes kept changing the facts of a "${holder.entry.name}". Try again.`, {
        retryable: true,
        details: { tries: TRIES },
      });
    };
    await Promise.all(placesOf(holder).map(write));
    // No attribute can hold this sum. Everything else has been written by now.
    const { entry, id } = holder;
    const [attribute] = Object.keys(tooLong);
    if (attribute === undefined) return;
    throw new EdgetableError(
      "execute.rejected",
      `"${attribute}" of the "${entry.name}" ${exactText(id)} is left out: the sum has more than the 38 digits that DynamoDB keeps, or is out of its range. Correct what it adds up.`,
      { details: { definition: entry.name, id, attribute, sum: tooLong[attribute] } },
    );
  };
  await Promise.all(
    distinct.map((holder, at) =>
      project(holder, items.get(identity(catalog, keys[at] as Key))).catch((error: unknown) => {
        failed.push({ holder, error: error as Error });
      }),
    ),
  );
  return failed;
};
