import { readAggregate } from "../../planner/writes/rules/aggregates.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { CopyFact, DerivedFact } from "../../schema/facts.ts";
import type { Item } from "../../transport/operations.ts";
import { identity } from "../read-rows.ts";
import type { CallContext, Session } from "../session.ts";
import type { FactHolder, Place } from "./contributions.ts";
import { mendUnreadable, rebuildAllSums } from "./rebuild-facts.ts";
import { projectFacts } from "./project-facts.ts";
import { placeOfMemo, readMemoPlace, streamedFacts } from "./read-memos.ts";
import { type FailedRefresh, isOfOneItem, refreshAggregates } from "./refresh-aggregates.ts";
import { type FailedCopies, refreshCopies, refreshFanOut } from "./refresh-copies.ts";
import { hasCounters, rollUpNodes } from "./roll-up-counters.ts";
import { allOf, type Triggered } from "./triggers.ts";

/** The first error of what one cause needed. */
export interface FailedCause<Cause> {
  readonly cause: Cause;
  readonly error: Error;
}

/** What has to be looked at, and why. */
export interface Caused<Cause> extends Triggered {
  readonly cause: Cause;
}

/** Refreshes what rows contribute. Where nothing can be added to the facts of a node, they are made anew, and it is tried again. */
const refreshPlaces = async (session: Session, places: readonly Place[], context: CallContext): Promise<readonly FailedRefresh[]> => {
  const failed = await refreshAggregates(session, places, context);
  const refused = failed.filter(({ error }) => isOfOneItem(error));
  if (refused.length === 0) return failed;
  const mended = await mendUnreadable(
    session,
    refused.map(({ holder }) => holder),
    context,
  );
  const isMended = ({ holder }: Pick<Place, "holder">): boolean => mended.has(holder.facts.partition);
  return [...failed.filter((one) => !isMended(one)), ...(await refreshAggregates(session, places.filter(isMended), context))];
};

/** Refreshes everything that has to be looked at: aggregates, the nodes that hold them, and copies. */
export const refreshTriggered = async <Cause>(
  session: Session,
  all: readonly Caused<Cause>[],
  context: CallContext,
): Promise<readonly FailedCause<Cause>[]> => {
  const { catalog } = session;
  const failed = new Map<Cause, Error>();
  const note = (concerned: (one: Caused<Cause>) => boolean, error: Error): void => {
    for (const one of all) if (!failed.has(one.cause) && concerned(one)) failed.set(one.cause, error);
  };
  const isAt = ({ facts }: FactHolder, one: Caused<Cause>): boolean =>
    one.places.some(({ holder }) => holder.facts.partition === facts.partition) ||
    one.holders.some((holder) => holder.facts.partition === facts.partition);
  const places = all.flatMap((one): readonly Place[] => one.places);
  for (const { holder, error } of await refreshPlaces(session, places, context)) note((one) => isAt(holder, one), error);
  const holders = [...places.map(({ holder }) => holder), ...all.flatMap((one) => one.holders)];
  for (const { holder, error } of await projectFacts(session, holders, context)) note((one) => isAt(holder, one), error);
  const concerned = all.flatMap((one) => one.holders);
  for (const { holder, error } of await rollUpNodes(session, concerned, context)) note((one) => isAt(holder, one), error);
  const copies = await refreshCopies(
    session,
    all.flatMap((one) => one.copies),
    context,
  );
  const isOf = ({ key }: FailedCopies, one: Caused<Cause>): boolean =>
    one.copies.some((other) => identity(catalog, other) === identity(catalog, key));
  for (const one of copies) note((caused) => isOf(one, caused), one.error);
  for (const caused of all)
    for (const fanOut of caused.fanOuts)
      try {
        const [first] = await refreshFanOut(session, fanOut, context);
        if (first) note((one) => one === caused, first.error);
      } catch (error) {
        note((one) => one === caused, error as Error);
      }
  return Array.from(failed, ([cause, error]) => ({ cause, error }));
};

const ofMemo = (session: Session, item: Item): Triggered | undefined => {
  if (!readMemoPlace(item)) return undefined;
  // The model has no such node or edge any more, or aggregates other rows of it: what was counted stays as it is. Taking it off
  // would make sums wrong that were added up from the memos over the rows that the model names.
  const place = placeOfMemo(session.catalog, item);
  return { places: place ? [place] : [], holders: [], copies: [], fanOuts: [] };
};

/** How many items a refresh looked at. */
export interface Refreshed {
  /** Contributions of rows to nodes, nodes and copies that were written. */
  readonly places: number;
  readonly nodes: number;
  readonly copies: number;
  readonly failed: readonly { readonly key: Item; readonly error: Error }[];
}

/**
 * Refreshes the facts with freshness "stream" that follow from items, as a scan finds them: rows, nodes, and memos (a lost
 * deletion shows in a memo alone). The same function that the stream's processor calls: it may run beside it, at any time and
 * any number of times.
 *
 * The memos of each node are added up again, so that a sum which somebody has changed by hand is right again.
 *
 * Costs for each edge or part and node that it counts at: 1 read unit for the memo and the row each, and 4 write units, of
 * which rows of one node that are given together share 2; 1 read unit and 1 write unit for each node, and 1 read unit for about
 * 12 of its memos; 1 read unit and the item's write units for each edge or part with copies.
 */
export const refreshItems = async (session: Session, items: readonly Item[], context: CallContext): Promise<Refreshed> => {
  const failed: { key: Item; error: Error }[] = [];
  const all: Caused<Item>[] = [];
  for (const item of items) {
    try {
      all.push({ cause: item, ...(ofMemo(session, item) ?? allOf(session.catalog, item)) });
    } catch (error) {
      failed.push({ key: item, error: error as Error });
    }
  }
  const holders = all.flatMap((one) => one.holders);
  for (const { holder, error } of await rebuildAllSums(session, holders, context)) {
    const item = all.find((one) => one.holders.includes(holder));
    if (item) failed.push({ key: item.cause, error });
  }
  for (const { cause, error } of await refreshTriggered(session, all, context)) failed.push({ key: cause, error });
  const numberOf = (count: (one: Triggered) => number): number => all.reduce((sum, one) => sum + count(one), 0);
  return {
    places: numberOf(({ places }) => places.length),
    nodes: numberOf(({ holders: one }) => one.length),
    copies: numberOf(({ copies }) => copies.length),
    failed,
  };
};

/** How often everything has to be refreshed for what follows from it by way of copied facts and edges. None without such facts. */
export const passesOf = (catalog: Catalog): number => {
  if (!hasStreamFacts({ catalog })) return 0;
  const { aggregates, summaries, copies } = catalog.facts;
  const facts: readonly DerivedFact[] = [...aggregates, ...summaries];
  const isUsed = (name: string, attribute: string): boolean =>
    facts.some((fact) => fact.over.name === name && readAggregate(fact).fields.includes(attribute));
  const streamed = copies.filter(({ freshness }) => freshness === "stream");
  const isDerived = ({ of }: CopyFact): boolean => aggregates.some((fact) => fact.attribute === of);
  const chained = streamed.filter(isDerived);
  const over = summaries.filter(({ edge, attribute }) => isUsed(edge, attribute));
  // What adds up copies is computed before them.
  const isBehind = streamed.some((copy) => !isDerived(copy) && isUsed(copy.onto.name, copy.attribute));
  return 1 + 2 * new Set(chained.map(({ of }) => of)).size + over.length + (isBehind ? 1 : 0);
};

/** True if a model has facts that the stream keeps. */
export const hasStreamFacts = ({ catalog }: Pick<Session, "catalog">): boolean =>
  Object.values(catalog.nodes).some((entry) => streamedFacts(catalog, entry).length > 0 || hasCounters(catalog, entry)) ||
  [...catalog.facts.copies, ...catalog.facts.summaries].some(({ freshness }) => freshness === "stream");
