import { type FactHolder, holderOf, overText, placesOf } from "../executor/facts/contributions.ts";
import { gather, type Gathered, orderOf, projectionOf } from "../executor/facts/project-facts.ts";
import { isKeptInFacts, otherKeyOfMemo, readMemoPlace, streamedFacts } from "../executor/facts/read-memos.ts";
import { encodeField } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { DerivedFact } from "../schema/facts.ts";
import { CONTRIBUTION } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-key-item.ts";
import type { Key } from "../transport/operations.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import { isShownNowhere, MISSING, shownId } from "./relations.ts";
import type { Seen } from "./see-item.ts";
import type { Tallies } from "./tallies.ts";

/** The memos of one node or edge, as far as a segment has been read. */
interface Fold {
  readonly partition: string | undefined;
  readonly holder: FactHolder;
  readonly facts: Key;
  readonly gathered: ReadonlyMap<DerivedFact, Gathered>;
}

/** Folds the memos of each node and edge into the attributes that do not add up: `min`, `max`, `distinct`. */
export interface Folds {
  /** Takes the items of a segment, in their order. */
  see(segment: number, seen: Seen): void;
  /** Says that a segment has no more items. */
  end(segment: number): void;
  /** Says that the state is saved: whoever resumes knows nothing of the memos so far, so that their nodes have to be judged. */
  breakOff(): void;
}

const NO_FOLDS: Folds = { see: () => undefined, end: () => undefined, breakOff: () => undefined };

/**
 * Opens folds, which tell the tallies what nodes and edges have to show. All memos of one are in one partition, which a scan gives
 * in one piece: a segment needs to hold one fold, of the size of the different values in it. Where a partition does not come in
 * one piece, the tallies differ and its node or edge is judged. With -1, takes back what was told of nodes and edges that are not there.
 */
export const openFolds = (catalog: Catalog, tallies: Tallies, times: 1 | -1 = 1): Folds => {
  const ofAll = [...Object.values(catalog.nodes), ...Object.values(catalog.edges)];
  if (!ofAll.some((entry) => streamedFacts(catalog, entry).some((fact) => !isKeptInFacts(fact)))) return NO_FOLDS;
  const open = new Map<number, Fold>();
  const begin = (place: NonNullable<ReturnType<typeof readMemoPlace>>, partition: string | undefined): Fold | undefined => {
    const holder = holderOf(catalog, place.node, place.id);
    const facts = holder ? streamedFacts(catalog, holder.entry).filter((fact) => !isKeptInFacts(fact)) : [];
    if (!holder || facts.length === 0) return undefined;
    const key = factKeyItem(catalog, holder.facts);
    if (times === -1 && !isShownNowhere(tallies, key)) return undefined;
    const gathered = new Map(facts.map((fact): [DerivedFact, Gathered] => [fact, { value: undefined, seen: new Set() }]));
    return { partition, holder, facts: key, gathered };
  };
  const end = (segment: number): void => {
    const fold = open.get(segment);
    if (!fold) return;
    open.delete(segment);
    const [place] = placesOf(fold.holder);
    if (!place) return;
    const { set, exact } = projectionOf(place.shape, [...fold.gathered.keys()], undefined, fold.gathered);
    for (const { attribute, operation } of fold.gathered.keys()) {
      const value = set[attribute];
      if (value === undefined || (operation === "distinct" && value === 0)) continue;
      const decimal = exact[attribute];
      const shows = decimal === undefined ? encodeField(place.shape, attribute, value) : { N: decimal };
      tallies.add(shownId(fold.facts, attribute), { value: orderOf(shows) }, times);
    }
  };
  return {
    see: (segment, seen) => {
      if (seen.kind !== "memo") return;
      const value = seen.key[catalog.index.partitionKey];
      const partition = value && keyTextOf(value);
      let fold = open.get(segment);
      const place = readMemoPlace(seen.item);
      if (fold?.partition !== partition) {
        end(segment);
        fold = place && begin(place, partition);
        if (fold) open.set(segment, fold);
      }
      const contribution = seen.item[CONTRIBUTION];
      if (!fold || !place || !contribution || !("M" in contribution) || otherKeyOfMemo(catalog, seen.item)) return;
      for (const [fact, into] of fold.gathered) {
        const found = contribution.M[fact.attribute];
        if (found && overText(fact) === place.over) gather(fact, into, found);
      }
    },
    end,
    breakOff: () => {
      for (const { facts, gathered } of open.values())
        for (const { attribute } of gathered.keys()) tallies.add(shownId(facts, attribute), MISSING, 1);
    },
  };
};
