import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { UpdateStep } from "../../ir/write-plan.ts";
import { decimalIn, sameAttribute } from "../../requests/attribute-value.ts";
import { encodeTransaction } from "../../requests/encode-write.ts";
import { CONTRIBUTION, EXPIRES, FACTS_TYPE, MEMO_NODE, MEMO_SOURCE, MEMO_TYPE, REVISION } from "../../schema/system-items.ts";
import { placeText } from "../../schema/stored-id.ts";
import { factKeyItem, systemType } from "../../schema/system-key-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { addDecimals, negateDecimal, parseDecimal, sameDecimals } from "../../util/decimal.ts";
import { sideBySide } from "../../util/side-by-side.ts";
import { batchGet } from "../batch.ts";
import { cancellationReasons } from "../failed-term.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { newToken, type WriteResult } from "../run-write.ts";
import { backOff, type CallContext, type Session } from "../session.ts";
import { type Contribution, contributionsOf, type FactHolder, memoKey, type Place, placeId } from "./contributions.ts";

/** "TransactWriteItems: 100 items" (ServiceQuotas): the memos of a node, and the item that holds its facts. */
const ITEMS_AT_ONCE = 100;
/** Nodes share a transaction up to so many items. A larger one meets other writers more often, and is then tried node by node. */
const ITEMS_TOGETHER = 50;
/** So many places are read together: what was read is soon written. */
const PLACES_AT_ONCE = 400;
export const TRIES = 30;
export const PAUSES = { baseDelay: 10, maxDelay: 1000 };

/**
 * For how long a memo outlives its row, in seconds. No refresh may take longer: it must meet the memo whose revision it has
 * read.
 */
const MEMO_LIFE = 7 * 24 * 60 * 60;

/** What could not be refreshed, and why. */
export interface FailedRefresh {
  readonly holder: FactHolder;
  readonly error: Error;
}

/** The names of sums and numbers, to which the facts of a node add up; other contributions are values of the memos alone. */
export const addsUp = (name: string): boolean => name.startsWith("~");

/** True if an item of facts has numbers where it should: nothing can be added to anything else. */
export const isReadable = ({ typeAttribute }: Catalog, facts: Item | undefined): boolean =>
  Object.entries(facts ?? {}).every(([name, value]) => !addsUp(name) || name === typeAttribute || "N" in value);

/** Adds to sums what a row contributes beyond what it did before. */
export const addDifference = (sums: Record<string, string>, have: Contribution, want: Contribution): void => {
  for (const name of new Set([...Object.keys(have), ...Object.keys(want)])) {
    if (!addsUp(name)) continue;
    const difference = addDecimals(decimalIn(want[name]), negateDecimal(decimalIn(have[name])));
    sums[name] = addDecimals(sums[name] ?? "0", difference);
  }
};

/** Digits of a part of a decimal. DynamoDB keeps 38, so 10^18 parts add up before one has too many. */
const PART_DIGITS = 20;
const PART = 10n ** BigInt(PART_DIGITS);

/**
 * Cuts a decimal of any length into whole numbers of up to 20 digits: part 2 counts 10^40, part -1 counts 10^-20. The parts of
 * several decimals may be added up one by one.
 */
export const decimalParts = (text: string): ReadonlyMap<number, string> => {
  const { units, exponent } = parseDecimal(text);
  let at = Math.floor(exponent / PART_DIGITS);
  const parts = new Map<number, string>();
  for (let left = units * 10n ** BigInt(exponent - at * PART_DIGITS); left !== 0n; left /= PART, at++)
    if (left % PART !== 0n) parts.set(at, String(left % PART));
  return parts;
};

/** True if DynamoDB can hold a number: 38 digits, and magnitudes of 1E-130 to 9.9999999999999999999999999999999999999E+125. */
export const isStorable = (text: string): boolean => {
  const { units, exponent } = parseDecimal(text);
  const digits = String(units < 0n ? -units : units);
  const highest = digits.length - 1 + exponent;
  return units === 0n || (digits.replace(/0+$/, "").length <= 38 && highest <= 125 && highest >= -130);
};

// A sum that has more digits than a number of DynamoDB is kept in parts beside the number, which add up without a limit.
const PART_NAME = /^~part#(-?\d+)#(.+)$/;

/** What an item of facts holds in all of each sum: the number, and the parts of what did not fit into it. */
export const sumsIn = (facts: Item | undefined): Readonly<Record<string, string>> => {
  const sums: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts ?? {})) {
    if (!addsUp(name) || name === REVISION) continue;
    const [, at, of = name] = PART_NAME.exec(name) ?? [];
    // A part stands for a decimal: see `decimalParts`.
    const number = at === undefined ? decimalIn(value) : `${decimalIn(value)}e${Number(at) * PART_DIGITS}`;
    sums[of] = addDecimals(sums[of] ?? "0", number);
  }
  return sums;
};

/** A decimal as the parts of a sum, by the attributes that hold them. */
export const sumParts = (name: string, decimal: string): Readonly<Record<string, AttributeValue>> =>
  Object.fromEntries(Array.from(decimalParts(decimal), ([at, part]) => [`~part#${at}#${name}`, { N: part }]));

/** The attributes of a facts' item that hold parts of a sum. */
export const partsIn = (facts: Item | undefined, sum: string): readonly string[] =>
  Object.keys(facts ?? {}).filter((name) => PART_NAME.exec(name)?.[2] === sum);

/** True if a stored number is the expected decimal, digit by digit. */
export const sameNumbers = (stored: AttributeValue | undefined, expected: string | undefined): boolean =>
  stored === undefined || expected === undefined ? stored === expected : "N" in stored && sameDecimals(stored.N, expected);

/** True if two stored values are the same, numbers digit by digit: rows hold doubles, sums all digits. */
export const sameStored = (a: AttributeValue | undefined, b: AttributeValue | undefined): boolean =>
  b && "N" in b ? sameNumbers(a, b.N) : sameAttribute(a, b);

/** True if two rows contribute the same. */
export const sameContribution = (a: Contribution = {}, b: Contribution = {}): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => sameStored(a[name], b[name]));

/** A place with its memo and its row's item as they were read, in this order. */
interface ReadPlace {
  readonly place: Place;
  readonly memo: Item | undefined;
  readonly want: Contribution;
}

/**
 * Reads the memos and then the rows. In the other order a row that changes in between would be taken for what it was, under
 * the memo's newer revision.
 */
const readPlaces = async (session: Session, places: readonly Place[], context: CallContext): Promise<readonly ReadPlace[]> => {
  const { catalog } = session;
  const memoKeys = places.map((place) => memoKey(catalog, place));
  const memos = byIdentity(catalog, await batchGet(session, { keys: memoKeys, consistent: true }, context));
  const sources = new Map(places.map(({ source }) => [identity(catalog, source), source]));
  const rows = byIdentity(catalog, await batchGet(session, { keys: [...sources.values()], consistent: true }, context));
  return places.map((place, at) => {
    const id = placeId(catalog, place);
    const item = rows.get(identity(catalog, place.source));
    const want = contributionsOf(catalog, item).find((one) => placeId(catalog, one) === id)?.contribution ?? {};
    return { place, memo: memos.get(identity(catalog, memoKeys[at] as Key)), want };
  });
};

/** Writes a memo, also if nothing changes: a slower refresh that has read an older row must find another revision. */
const memoStep = (session: Session, { place, memo, want }: ReadPlace): UpdateStep => {
  const { catalog, effects } = session;
  const read = memo?.[REVISION];
  // A memo that expired is forgotten with its revision: a new one starts at the clock, never where an old one was.
  const revision = read && "N" in read ? Number(read.N) + 1 : Math.floor(effects.now());
  const expires = catalog.ttl ?? EXPIRES;
  const isGone = Object.keys(want).length === 0;
  const set: Record<string, AttributeValue> = {
    ...systemType(catalog, MEMO_TYPE),
    [REVISION]: { N: String(revision) },
    [CONTRIBUTION]: { M: want },
    [MEMO_SOURCE]: { M: place.source },
    [MEMO_NODE]: { S: placeText({ node: place.holder.entry.name, over: place.over, id: place.holder.id }) },
    ...(isGone ? { [expires]: { N: String(Math.floor(effects.now() / 1000) + MEMO_LIFE) } } : {}),
  };
  return {
    kind: "update",
    key: memoKey(catalog, place),
    terms: [{ kind: "equals", attribute: REVISION, value: read, failure: { reason: "staleRead" } }],
    shape: undefined,
    changes: { set, remove: isGone ? [] : [expires], add: {}, append: {} },
  };
};

/** @param inParts adds to the parts of each sum, where a number would have too many digits */
const factsStep = ({ catalog }: Session, { facts }: FactHolder, places: readonly ReadPlace[], inParts: boolean): UpdateStep => {
  const sums: Record<string, string> = {};
  for (const { memo, want } of places) {
    const had = memo?.[CONTRIBUTION];
    addDifference(sums, had && "M" in had ? had.M : {}, want);
  }
  const add: Record<string, AttributeValue> = { [REVISION]: { N: "1" } };
  for (const name in sums)
    if (inParts) Object.assign(add, sumParts(name, sums[name]!));
    else if (sums[name] !== "0") add[name] = { N: sums[name]! };
  const changes = { set: systemType(catalog, FACTS_TYPE), remove: [], add, append: {} };
  return { kind: "update", key: factKeyItem(catalog, facts), terms: [], shape: undefined, changes };
};

/** True if one item of a transaction may be the reason, and the others could be written. */
export const isOfOneItem = (error: unknown): boolean =>
  isEdgetableError(error) && ["TransactionCanceledException", "ValidationException"].includes(String(error.details["fault"]));

/** True if another writer changed what was read: read it again. */
export const isConflict = (error: unknown): boolean =>
  cancellationReasons(error).some(({ Code }) => Code === "ConditionalCheckFailed" || Code === "TransactionConflict");

/** Places of one node or edge. */
type NodePlaces = readonly ReadPlace[];

const holderIn = (places: NodePlaces): FactHolder => (places[0] as ReadPlace).place.holder;

/** Writes the memos of nodes together with the nodes' facts. Returns false if another writer changed one of them in between. */
const writeTogether = async (
  session: Session,
  { nodes, inParts }: { readonly nodes: readonly NodePlaces[]; readonly inParts: boolean },
  context: CallContext,
): Promise<boolean> => {
  const { catalog } = session;
  const steps = nodes.flatMap((places) => [
    factsStep(session, holderIn(places), places, inParts),
    ...places.map((place) => memoStep(session, place)),
  ]);
  const target = { table: catalog.table, partitionKey: catalog.index.partitionKey };
  try {
    await session.send("TransactWriteItems", encodeTransaction(target, steps, newToken(session)).input as never, context);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
};

/** Places by their node, in lists that one transaction takes. */
const byNode = (places: readonly ReadPlace[]): readonly NodePlaces[] => {
  const nodes = new Map<string, ReadPlace[]>();
  for (const one of places) {
    const { partition } = one.place.holder.facts;
    const same = nodes.get(partition);
    if (same) same.push(one);
    else nodes.set(partition, [one]);
  }
  const lists: NodePlaces[] = [];
  for (const all of nodes.values())
    for (let at = 0; at < all.length; at += ITEMS_AT_ONCE - 1) lists.push(all.slice(at, at + ITEMS_AT_ONCE - 1));
  return lists;
};

/** Fills transactions with the places of several nodes: a tenth of the requests where each node has few changes. */
const groupPlaces = (nodes: readonly NodePlaces[]): readonly (readonly NodePlaces[])[] => {
  const groups: NodePlaces[][] = [];
  let items = ITEMS_AT_ONCE;
  for (const places of nodes) {
    items += places.length + 1;
    if (items > ITEMS_TOGETHER) groups.push([]);
    if (items > ITEMS_TOGETHER) items = places.length + 1;
    groups.at(-1)?.push(places);
  }
  return groups;
};

/**
 * True if a write was made, or what it changes is not there. A write that was refused after its answer had been lost was made if the
 * item is as it would have left it, whoever made it; else the item has to be read again.
 */
export const isWrittenOrGone = async (writing: Promise<WriteResult>): Promise<boolean> => {
  try {
    const result = await writing;
    return result.ok || result.failed.every(({ failure }) => failure.reason === "notFound");
  } catch (error) {
    if (!isEdgetableError(error, "execute.ambiguous")) throw error;
    return error.details["found"] === "asWritten";
  }
};

const refreshSome = async (session: Session, places: readonly Place[], context: CallContext, failed: FailedRefresh[]): Promise<void> => {
  let left = places;
  for (let attempt = 0; left.length > 0; attempt++) {
    const again: Place[] = [];
    const nodes = byNode(await readPlaces(session, left, context));
    await sideBySide(attempt === 0 ? groupPlaces(nodes) : nodes.map((places) => [places]), session.concurrency, async (group) => {
      try {
        const written = await writeTogether(session, { nodes: group, inParts: false }, context).catch(async (error: unknown) => {
          if (group.length > 1 || !isOfOneItem(error)) throw error;
          const key = factKeyItem(session.catalog, holderIn(group[0]!).facts);
          const [facts] = await batchGet(session, { keys: [key], consistent: true }, context);
          if (!isReadable(session.catalog, facts)) throw error;
          // The sums of this node may have more digits than a number.
          return writeTogether(session, { nodes: group, inParts: true }, context);
        });
        if (written) return;
      } catch (error) {
        if (group.length === 1 || !isOfOneItem(error)) {
          for (const places of group) failed.push({ holder: holderIn(places), error: error as Error });
          return;
        }
      }
      // What one of several nodes met does not hold up the others: the next attempt writes each by itself.
      again.push(...group.flat().map(({ place }) => place));
    });
    left = again;
    if (left.length === 0) return;
    if (attempt + 1 < TRIES && (await backOff(session.effects, PAUSES, attempt, context))) continue;
    const error = new EdgetableError("execute.conflict", "Other processors refreshed the same facts, every time. Try again.", {
      retryable: true,
      details: { tries: attempt + 1 },
    });
    for (const { holder } of left) failed.push({ holder, error });
    return;
  }
};

/**
 * Brings what rows contribute to nodes and edges up to date: reads each memo, then its row, and in one transaction writes the memo on
 * condition of its revision and adds the difference to the facts of the node or edge. Exact however often, late or in whatever order it
 * is asked for.
 *
 * @returns the nodes and edges of which something could not be refreshed
 */
export const refreshAggregates = async (
  session: Session,
  places: readonly Place[],
  context: CallContext,
): Promise<readonly FailedRefresh[]> => {
  const distinct = [...new Map(places.map((place) => [placeId(session.catalog, place), place])).values()];
  const failed: FailedRefresh[] = [];
  for (let at = 0; at < distinct.length; at += PLACES_AT_ONCE)
    await refreshSome(session, distinct.slice(at, at + PLACES_AT_ONCE), context, failed);
  return failed;
};
