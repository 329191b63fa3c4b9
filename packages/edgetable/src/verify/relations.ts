import { type Claim, unfitForMarker, uniqueMarkers } from "../planner/writes/rules/unique-markers.ts";
import { type RequiredNode, requiredNodes } from "../planner/writes/rules/required-nodes.ts";
import { aggregates, type Delta } from "../planner/writes/rules/aggregates.ts";
import { type Count, degreeGuards } from "../planner/writes/rules/degree-guards.ts";
import { derive } from "../planner/writes/rules/index.ts";
import { exactValue } from "../planner/writes/rules/stored-digits.ts";
import { digitsIn, keyIfComplete, keyOfItem, VERSION } from "../requests/encode-item.ts";
import { decimalIn, decodeValue } from "../requests/attribute-value.ts";
import { decimalText, exactText } from "../keys/template.ts";
import { type ContributedPlace, contributionsOf, factEdge, type FactHolder, factNode, holderOf } from "../executor/facts/contributions.ts";
import { orderOf } from "../executor/facts/project-facts.ts";
import {
  contributedNames,
  contributedTo,
  isKeptInFacts,
  otherKeyOfMemo,
  readMemoPlace,
  streamedFacts,
} from "../executor/facts/read-memos.ts";
import { addsUp, sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { holdsAll } from "../executor/facts/roll-up-counters.ts";
import { type CounterDelta, counterShards, type Spread } from "../planner/writes/rules/counter-shards.ts";
import { counterKeys, type CounterSet, counterSetsOf } from "../schema/counter-sets.ts";
import { type CopyFact, countHidden, derivedNames, isKeptInNode, STREAMED, sumHidden } from "../schema/facts.ts";
import type { Failure } from "../ir/write-plan.ts";
import type { Catalog, EdgeEntry, EndEntry, NodeEntry, Shape } from "../schema/catalog.ts";
import { documentOwner } from "../schema/grid-parts.ts";
import { CONTRIBUTION, COUNT, DELETING, OWNER, REVISION, textAt } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-key-item.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { negateDecimal } from "../util/decimal.ts";
import { isNumber, own } from "../util/row.ts";
import { readableValue } from "../util/time.ts";
import { counterOwner } from "./counter-owner.ts";
import { idOf, isKeptGuard, guardedNode, type NeededEnd, neededBy, neededByGuard, nodeId } from "./needed-nodes.ts";
import type { Seen, SeenRow } from "./see-item.ts";
import type { Contents, FactId, Tallies } from "./tallies.ts";

/** Which differences between the copies of an edge count. */
export type Differing = "report" | "keep" | "mend";

/** What is compared beside what always is. */
export interface Comparing {
  readonly differing: Differing;
  /** Whether derived attributes that the stream keeps are compared with what edges and parts make. */
  readonly streamed: boolean;
}

/** What has to be there for a row besides its own item: what the writers' rules derive from it. */
export interface Derived {
  readonly claims: readonly Claim[];
  readonly counts: readonly Count[];
  readonly nodes: readonly NeededEnd[];
  readonly deltas: readonly Delta[];
  readonly counters: readonly CounterDelta[];
}

const NOTHING: Derived = { claims: [], counts: [], nodes: [], deltas: [], counters: [] };

/** Asks the rules of writes what has to be there for a row. */
export const derivedOf = (catalog: Catalog, { subject, row, leads, shape, item }: SeenRow): Derived => {
  if (!leads) return NOTHING;
  const claims: Claim[] = [];
  const counts: Count[] = [];
  const deltas: Delta[] = [];
  const counters: CounterDelta[] = [];
  const nodes: NeededEnd[] = [];
  const need = (node: EndEntry, key: Key, failure: Failure | undefined): void => {
    if (failure?.reason === "endMissing") nodes.push({ node, key, id: failure.id, end: failure.end });
  };
  const digits = digitsIn(shape, item);
  const unique = subject.kind === "node" ? (subject.entry.definition.unique ?? []) : [];
  // Unique values that no marker can hold: `validateSeen` reports them.
  const unfit = unique.filter((field) => unfitForMarker(catalog, { node: subject.entry.name, field }, row));
  const after = unfit.length === 0 ? row : Object.fromEntries(Object.entries(row).filter(([field]) => !unfit.includes(field)));
  for (const one of derive(catalog, { subject, before: null, after, digits })) {
    // By name: some loaders make two instances of a module that is both imported and loaded late.
    const { name } = one.rule;
    if (name === uniqueMarkers.name) claims.push(one as Claim);
    else if (name === degreeGuards.name) counts.push(one as Count);
    else if (name === aggregates.name) deltas.push(one as Delta);
    else if (name === requiredNodes.name) need((one as RequiredNode).node, one.key, one.failure);
    else if (name === counterShards.name) {
      const spread = one as Spread;
      if (spread.kind === "delta") counters.push(spread);
      // Its counter stands for the node in writes; the node has to be there all the same.
      else if (spread.kind === "witness") need(spread.entry, spread.key, spread.failure);
    }
  }
  return { claims, counts, nodes: neededBy(catalog, { subject, row }, nodes), deltas, counters };
};

const stores = ({ copied }: Shape, field: string): boolean => !copied || copied.includes(field);

/** A value as it tells apart what is stored: most are what their row has. */
const contentIn = (seen: SeenRow, field: string): unknown => {
  const value = seen.row[field];
  return (typeof value === "number" && !Number.isInteger(value)) || typeof value === "object" ? exactIn(seen, field) : value;
};

const contentsOf = (seen: SeenRow, other: Shape, differing: Differing): Contents => {
  const { row, shape: one, subject } = seen;
  const contents: Record<string, unknown> = {};
  const derived = derivedNames(subject.entry.definition);
  for (const field in row) {
    // What is copied onto an edge is compared with its source.
    if (derived.length > 0 && derived.includes(field)) continue;
    if (field === "from" || field === "to" || !stores(one, field) || !stores(other, field)) continue;
    contents[field] = differing === "keep" && field !== VERSION ? true : contentIn(seen, field);
  }
  return contents;
};

const pairId = ({ key, other, leads }: SeenRow): FactId => (leads || !other ? idOf(key) : idOf(other.key));

/** The number that an attribute holds; 0 if it holds none. */
export const storedNumber = (item: Item, attribute: string): number => {
  const value = item[attribute];
  return value && "N" in value ? Number(value.N) : 0;
};

const NO_CONTENTS: Contents = {};
export const MISSING: Contents = { missing: true };

/** A copy of a node's attribute on an edge or part, and the node. */
export interface SourcedCopy {
  readonly fact: CopyFact;
  readonly node: NodeEntry;
  readonly key: Key;
}

const NO_COPIES: readonly SourcedCopy[] = [];

/** The copies of nodes' attributes that a row's item holds. */
export const copiesOf = (catalog: Catalog, { subject, shape, row }: SeenRow): readonly SourcedCopy[] => {
  if (subject.kind === "node" || catalog.facts.copies.length === 0) return NO_COPIES;
  return catalog.facts.copies.flatMap((fact): readonly SourcedCopy[] => {
    if (fact.onto.kind !== subject.kind || fact.onto.name !== subject.entry.name || !stores(shape, fact.attribute)) return [];
    const type = subject.kind === "edge" ? subject[fact.end].type : subject.entry.definition.of;
    const node = catalog.nodes[type];
    const id = subject.kind === "edge" ? subject[fact.end].id : row;
    const key = node && keyIfComplete(catalog, node.shape, id);
    return node && key ? [{ fact, node, key }] : [];
  });
};

/** The value of a field of a row, with all digits of its numbers, in a form that compares. */
export const exactIn = ({ row, shape, item }: SeenRow, field: string): unknown => exactValue(own(row, field), digitsIn(shape, item)(field));

const sourceId = (key: Key, { of }: CopyFact, value: unknown): FactId => ["copy", ...idOf(key), of, exactText(value)];

const ZERO: AttributeValue = { N: "0" };
const sumId = (key: Key, attribute: string): FactId => ["sum", ...idOf(key), attribute];

/** The names of what a counter counts. */
export const countedNames = ({ facts }: CounterSet): readonly string[] => facts.flatMap(contributedNames);

/** What a node's item says of the facts that its edges and parts make, or take from it. */
const nodeSayings = (catalog: Catalog, seen: SeenRow, sayings: Saying[]): void => {
  const { key, item, row, shape } = seen;
  const { aggregates: facts, copies } = catalog.facts;
  const say = (name: string, times: number | string, contents = NO_CONTENTS, of = key): void =>
    void sayings.push({ kind: "sum", id: sumId(of, name), contents, times, isOwn: true });
  const entry = catalog.nodes[shape.definition];
  // The node speaks for all its counters: one that is not there says nothing of what it does not count.
  for (const set of entry ? counterSetsOf(catalog, entry) : []) {
    if (!holdsAll(set, item)) say(set.name, 1, MISSING);
    for (const counter of counterKeys(catalog, set, row)) for (const name of countedNames(set)) say(name, 0, NO_CONTENTS, counter);
  }
  for (const { node, attribute, operation, ...fact } of facts) {
    if (node !== shape.definition || !isKeptInNode(fact)) continue;
    const names = operation === "average" ? [sumHidden(attribute), countHidden(attribute)] : [attribute];
    const values = names.map((name) => item[name]);
    // An item that is older than the declaration has no such attribute. Nothing takes this off, nor what is no number.
    let isWrong = !values[0] || !("N" in values[0]);
    if (operation === "average") {
      const [sum = ZERO, number] = values;
      const average =
        "N" in sum && number && "N" in number && Number(number.N) !== 0 ? String(Number(sum.N) / Number(number.N)) : undefined;
      isWrong = !("N" in sum && number && "N" in number && sameNumbers(item[attribute], average));
    }
    if (isWrong) say(attribute, 1, MISSING);
    for (const [at, name] of names.entries()) say(name, negateDecimal(decimalIn(values[at])));
  }
  for (const fact of copies) {
    const { onto, end } = fact;
    const sources = onto.kind === "part" ? [catalog.parts[onto.name]?.definition.of] : catalog.edges[onto.name]?.[end];
    if (sources?.includes(shape.definition))
      sayings.push({ kind: "there", id: sourceId(key, fact, readableValue(exactIn(seen, fact.of))) });
  }
};

const hasStreamedFacts = (catalog: Catalog, entry: NodeEntry | EdgeEntry): boolean => streamedFacts(catalog, entry).length > 0;

const SHOWN = "shown";
const factsId = (partition: Key, name: string): FactId => ["facts", ...idOf(partition), name];
/** What is said of an attribute that the stream keeps: by what its node or edge shows, and by what that follows from. */
export const shownId = (partition: Key, name: string): FactId => [SHOWN, ...idOf(partition), name];
const showsId = (partition: Key): FactId => ["shows", ...idOf(partition)];
const memosId = (partition: Key): FactId => ["memos", ...idOf(partition)];
// Once everything is written, a node or edge shows the last revision of its facts.
const revisionId = (partition: Key, revision: AttributeValue | undefined): FactId => [
  "revision",
  ...idOf(partition),
  revision && "N" in revision ? decimalText(revision.N) : "no number",
];
const memoSaying = (catalog: Catalog, { holder, over, source, contribution }: ContributedPlace, times: number): Saying => ({
  kind: "sum",
  id: memosId(factKeyItem(catalog, holder.facts)),
  // A memo may give the attributes of its row's key in another order.
  contents: { over, source: idOf(keyOfItem(catalog, source)), contribution },
  times,
  isOwn: false,
});

/** What an edge or part contributes to nodes and edges by the stream: the memos say the same. */
const contributionSayings = (catalog: Catalog, item: Item, sayings: Saying[]): void => {
  for (const place of contributionsOf(catalog, item)) {
    const { holder, contribution } = place;
    if (!hasStreamedFacts(catalog, holder.entry) || Object.keys(contribution).length === 0) continue;
    const facts = factKeyItem(catalog, holder.facts);
    sayings.push(memoSaying(catalog, place, 1));
    for (const name of Object.keys(contribution).filter(addsUp))
      sayings.push({
        kind: "sum",
        id: factsId(facts, name),
        contents: NO_CONTENTS,
        times: decimalIn(contribution[name]),
        isOwn: false,
      });
  }
};

const memoSayings = (catalog: Catalog, item: Item): readonly Saying[] => {
  const place = readMemoPlace(item);
  const holder = place && holderOf(catalog, place.node, place.id);
  const contribution = item[CONTRIBUTION];
  if (!holder || !contribution || !("M" in contribution)) return [];
  const known = contributedTo(streamedFacts(catalog, holder.entry), contribution.M);
  if (Object.keys(known).length === 0) return [];
  return [memoSaying(catalog, { ...place, holder, contribution: known }, -1)];
};

/** What the item of a node's facts says: the sums of all memos, which the node shows. */
const factsSayings = (key: Key, item: Item): readonly Saying[] => {
  const sayings: Saying[] = [];
  const say = (id: FactId, times: number | string, contents = NO_CONTENTS): void =>
    void sayings.push({ kind: "sum", id, contents, times, isOwn: false });
  // Nothing takes this off.
  if (!("N" in (item[REVISION] ?? {}))) say(memosId(key), 1, MISSING);
  else sayings.push({ kind: "there", id: revisionId(key, item[REVISION]) });
  for (const name in item) {
    if (!addsUp(name) || name === REVISION) continue;
    const value = decimalIn(item[name]);
    say(factsId(key, name), negateDecimal(value));
    // Nothing takes this off: nothing can be added to what is no number.
    if (!("N" in item[name]!)) say(factsId(key, name), 1, MISSING);
    const attribute = name.slice(name.indexOf("#") + 1);
    const [sum, number] = [item[sumHidden(attribute)], item[countHidden(attribute)]];
    if (!sum || !number) say(shownId(key, attribute), value);
    else if (name === sumHidden(attribute) && Number(decodeValue(number)) !== 0)
      say(shownId(key, attribute), 1, { mean: Number(decodeValue(sum)) / Number(decodeValue(number)) });
  }
  return sayings;
};

/** What a node or edge shows of its facts by the stream. The second copy of an edge is compared with the first one. */
const shownSayings = (catalog: Catalog, seen: SeenRow, sayings: Saying[]): void => {
  const { item, row, subject, other, leads } = seen;
  if (subject.kind === "part" || !hasStreamedFacts(catalog, subject.entry)) return;
  const { entry } = subject;
  const holder = subject.kind === "node" ? factNode(catalog, subject.entry, row) : factEdge(catalog, subject.entry, { ...subject, row });
  if (!holder) return;
  const facts = factKeyItem(catalog, holder.facts);
  if (item[STREAMED]) sayings.push({ kind: "needed", id: revisionId(facts, item[STREAMED]) });
  if (subject.kind === "edge" && other && !subject.entry.definition.symmetric) {
    const held = Object.fromEntries(streamedFacts(catalog, entry).map(({ attribute }) => [attribute, row[attribute]]));
    sayings.push({ kind: "sum", id: ["held", ...pairId(seen)], contents: held, times: leads ? 1 : -1, isOwn: true });
    if (!leads) return;
  }
  const own = (id: FactId, times: number | string, contents = NO_CONTENTS): void =>
    void sayings.push({ kind: "sum", id, contents, times, isOwn: true });
  own(memosId(facts), 0);
  sayings.push({ kind: "there", id: showsId(facts) });
  for (const { attribute, operation } of streamedFacts(catalog, entry)) {
    const value = item[attribute] && decodeValue(item[attribute]);
    if (!isKeptInFacts({ operation })) {
      // What all memos of a node make of it: see `fold-memos`. No memo is no extreme, and no different values.
      const isNone = operation === "distinct" ? value === 0 : value === undefined;
      if (value === undefined && !isNone) own(shownId(facts, attribute), 1, MISSING);
      else own(shownId(facts, attribute), isNone ? 0 : -1, item[attribute] && { value: orderOf(item[attribute]) });
      continue;
    }
    for (const name of contributedNames({ attribute, operation })) own(factsId(facts, name), 0);
    // A node that is older than the declaration has no such attribute. Nothing takes this off. An average of nothing is left out.
    if (operation === "average") own(shownId(facts, attribute), value === undefined ? 0 : -1, { mean: value });
    else if (isNumber(value)) own(shownId(facts, attribute), negateDecimal(decimalIn(item[attribute])));
    else own(shownId(facts, attribute), 1, MISSING);
  }
};

/** One thing that an item says about others. */
type Saying =
  | { readonly kind: "sum"; readonly id: FactId; readonly contents: Contents; readonly times: number | string; readonly isOwn: boolean }
  | { readonly kind: "needed" | "there"; readonly id: FactId };

const rowSayings = (catalog: Catalog, seen: SeenRow, { differing, streamed }: Comparing): readonly Saying[] => {
  const sayings: Saying[] = [];
  const { shape, other, leads } = seen;
  // A node, or a part at which edges end: what `derivedOf` needs to be there.
  const node = shape.kind === "edge" ? undefined : catalog.ends[shape.definition];
  if (node) sayings.push({ kind: "there", id: nodeId(catalog, { node, id: seen.row, key: seen.key }) });
  if (other)
    sayings.push({
      kind: "sum",
      id: pairId(seen),
      contents: contentsOf(seen, other.shape, differing),
      times: leads ? 1 : -1,
      isOwn: true,
    });
  if (shape.kind === "node") nodeSayings(catalog, seen, sayings);
  if (streamed) {
    shownSayings(catalog, seen, sayings);
    contributionSayings(catalog, seen.item, sayings);
  }
  for (const { fact, key } of copiesOf(catalog, seen))
    sayings.push({ kind: "needed", id: sourceId(key, fact, exactIn(seen, fact.attribute)) });
  if (!leads) return sayings;
  const { claims, counts, nodes, deltas, counters } = derivedOf(catalog, seen);
  for (const { key, owner } of claims) sayings.push({ kind: "sum", id: idOf(key), contents: { owner }, times: 1, isOwn: true });
  // What a guard counts wrong is the guard's fault, not that of each of its edges.
  for (const { key } of counts) sayings.push({ kind: "sum", id: idOf(key), contents: NO_CONTENTS, times: 1, isOwn: false });
  for (const { key, added } of [...deltas, ...counters])
    for (const name in added) sayings.push({ kind: "sum", id: sumId(key, name), contents: NO_CONTENTS, times: added[name]!, isOwn: false });
  for (const one of nodes) sayings.push({ kind: "needed", id: nodeId(catalog, one) });
  return sayings;
};

/** What an item says about others, and others about it. */
const sayingsOf = (catalog: Catalog, seen: Seen, comparing: Comparing): readonly Saying[] => {
  switch (seen.kind) {
    case "row":
      return rowSayings(catalog, seen, comparing);
    case "memo":
      return comparing.streamed ? memoSayings(catalog, seen.item) : [];
    case "facts":
      return comparing.streamed ? factsSayings(seen.key, seen.item) : [];
    case "marker":
      return [{ kind: "sum", id: idOf(seen.key), contents: { owner: textAt(seen.item, OWNER) }, times: -1, isOwn: true }];
    case "guard": {
      const sum: Saying = { kind: "sum", id: idOf(seen.key), contents: NO_CONTENTS, times: -storedNumber(seen.item, COUNT), isOwn: true };
      if (!isKeptGuard(catalog, seen.item)) return [{ kind: "needed", id: ["a guard that nobody keeps"] }];
      const node = guardedNode(catalog, seen.item);
      return node ? [sum, ...neededByGuard(catalog, node).map((one): Saying => ({ kind: "needed", id: nodeId(catalog, one) }))] : [sum];
    }
    case "counter": {
      const owner = counterOwner(catalog, seen.item);
      // Nothing takes this off: the node whose counter it is, if there is one, does not find itself named.
      if (owner === undefined)
        return Object.keys(seen.item)
          .filter(addsUp)
          .map((name): Saying => ({ kind: "sum", id: sumId(seen.key, name), contents: MISSING, times: 1, isOwn: true }));
      if (owner === "nobody") return [{ kind: "needed", id: ["a counter that nobody reads"] }];
      const { set, key } = owner;
      const sums = countedNames(set).map((name): Saying => {
        const times = negateDecimal(decimalIn(seen.item[name]));
        return { kind: "sum", id: sumId(seen.key, name), contents: NO_CONTENTS, times, isOwn: false };
      });
      return [...sums, { kind: "needed", id: nodeId(catalog, { node: set.entry, id: owner.id, key }) }];
    }
    default:
      return [];
  }
};

/** Adds to the tallies what an item says about others. */
export const tally = (tallies: Tallies, catalog: Catalog, seen: Seen, comparing: Comparing): void => {
  for (const one of sayingsOf(catalog, seen, comparing)) {
    if (one.kind === "sum") tallies.add(one.id, one.contents, one.times);
    else tallies.note(one.kind, one.id);
  }
};

/** True if the stream keeps attributes of some node or edge. */
export const keepsByStream = (catalog: Catalog): boolean =>
  [...Object.values(catalog.nodes), ...Object.values(catalog.edges)].some((entry) => hasStreamedFacts(catalog, entry));

/** True if the node or edge is surely not there whose facts lie at this key. */
export const isShownNowhere = (tallies: Tallies, facts: Key): boolean => tallies.lacks(showsId(facts));

/** The nodes and edges with facts by the stream that a row contributes to, or that a memo is of. */
export const contributedHolders = (catalog: Catalog, seen: Seen): readonly FactHolder[] => {
  const holders: (FactHolder | undefined)[] = [];
  if (seen.kind === "row") holders.push(...contributionsOf(catalog, seen.item).map(({ holder }) => holder));
  const place = seen.kind === "memo" ? readMemoPlace(seen.item) : undefined;
  if (place) holders.push(holderOf(catalog, place.node, place.id));
  return holders.filter((holder) => holder !== undefined && hasStreamedFacts(catalog, holder.entry)) as readonly FactHolder[];
};

/**
 * The facts that are kept for nodes and edges that are not there, and that differ from what rows contribute: an edge that nobody has
 * linked has no item to judge.
 */
export const differingUnshown = (tallies: Tallies, catalog: Catalog, seen: Seen): readonly Key[] =>
  contributedHolders(catalog, seen).flatMap((holder) => {
    const facts = factKeyItem(catalog, holder.facts);
    const names = streamedFacts(catalog, holder.entry).filter(isKeptInFacts).flatMap(contributedNames);
    const differs = [memosId(facts), ...names.map((name) => factsId(facts, name))].some((id) => tallies.differs(id));
    return differs && isShownNowhere(tallies, facts) ? [facts] : [];
  });

/** Takes back what an item of facts says of the attributes of a node or edge that is not there: nothing shows them. */
export const takeBackShown = (tallies: Tallies, { kind, key, item }: Seen): void => {
  if (kind !== "facts" || !isShownNowhere(tallies, key)) return;
  for (const one of factsSayings(key, item))
    if (one.kind === "sum" && one.id[0] === SHOWN) tallies.add(one.id, one.contents, negateDecimal(String(one.times)));
};

/** Whether an item has to be judged by its relations to others, as the finished tallies tell. */
export const isSuspect = (tallies: Tallies, catalog: Catalog, seen: Seen, comparing: Comparing): boolean =>
  sayingsOf(catalog, seen, comparing).some((one) => {
    if (one.kind === "sum") return one.isOwn && tallies.differs(one.id);
    return one.kind === "needed" && tallies.lacks(one.id);
  });

/** True for the document of a grid's row, which the items of the index follow. */
export const isDocument = ({ nodes }: Catalog, { shape }: Pick<SeenRow, "shape">): boolean =>
  shape.kind === "part" && documentOwner(nodes, shape.definition) !== undefined;

/** Whether an item has to be judged whatever the tallies tell: there are few of these. */
export const isAlwaysJudged = (catalog: Catalog, seen: Seen, { streamed }: Comparing): boolean =>
  (streamed && seen.kind === "row" && isDocument(catalog, seen)) ||
  (streamed && seen.kind === "memo" && (!readMemoPlace(seen.item) || otherKeyOfMemo(catalog, seen.item) !== undefined)) ||
  seen.kind === "unclaimed" ||
  seen.kind === "job" ||
  seen.kind === "cursor" ||
  ((seen.kind === "row" || seen.kind === "counter") && DELETING in seen.item) ||
  (seen.kind === "counter" && isMisnamed(counterOwner(catalog, seen.item)));

const isMisnamed = (owner: ReturnType<typeof counterOwner>): boolean => typeof owner === "object" && !owner.isNamed;
