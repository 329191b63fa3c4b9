import type { EndId } from "../../../ir/logical-write.ts";
import { type Failure, keyId, type Term, type WriteItem } from "../../../ir/write-plan.ts";
import { exactText } from "../../../keys/template.ts";
import { keyIfComplete } from "../../../requests/encode-item.ts";
import type { Catalog, NodeEntry } from "../../../schema/catalog.ts";
import {
  counterAttributes,
  counterKey,
  counterKeys,
  type CounterSet,
  counterSetAt,
  counterSetsOf,
  RISES,
  shardOf,
} from "../../../schema/counter-sets.ts";
import { countHidden, isSpread, sumHidden } from "../../../schema/facts.ts";
import { COUNTER, DELETING } from "../../../schema/system-items.ts";
import type { AttributeValue, Key } from "../../../transport/operations.ts";
import type { Row } from "../../../util/row.ts";
import { isChanged } from "../changed-row.ts";
import {
  type Contribution,
  type EdgeBetween,
  imageOf,
  isGone,
  type ItemRule,
  knownImage,
  presentUnexpired,
  type RowChange,
  type Settled,
  STALE,
  type WorkingSet,
} from "../working-set.ts";
import * as joins from "../join-changes.ts";
import { addTo, type Aggregate, aggregatedNodes, aggregatesOver, counts, lookOfRow, numberIn } from "./aggregates.ts";
import { exactRows, type ExactRow } from "./stored-digits.ts";

/** The effect of one change on one counter of a node. */
export interface CounterDelta extends Contribution {
  readonly kind: "delta";
  readonly set: CounterSet;
  readonly id: Row;
  /** The node's own key. */
  readonly node: Key;
  readonly added: Readonly<Record<string, string>>;
  /** True if the change adds an edge to the node, which must exist. */
  readonly ties: boolean;
}

/** The node of a counter that may not be there yet: then the node itself is checked. */
export interface Witness extends Contribution {
  readonly kind: "witness";
  readonly entry: NodeEntry;
  readonly counter: Key;
  readonly ties: boolean;
}

/** A counter that is deleted with its node. */
export interface Gone extends Contribution {
  readonly kind: "gone";
}

export type Spread = CounterDelta | Witness | Gone;

const NONE: readonly Spread[] = [];

const isConcerned = ({ fact }: Aggregate): boolean => isSpread(fact);

const addends = (aggregate: Aggregate, counted: ExactRow): Readonly<Record<string, string>> => {
  const { attribute, operation, of = "" } = aggregate.fact;
  if (!counted.row || !counts(aggregate, counted.row)) return {};
  if (operation === "count") return { [countHidden(attribute)]: "1" };
  const sum = { [sumHidden(attribute)]: numberIn(counted, of) };
  return operation === "sum" ? sum : { ...sum, [countHidden(attribute)]: "1" };
};

const otherText = (catalog: Catalog, { from, to }: EdgeBetween, end: EndId): string => {
  const other = end === from ? to : from;
  const entry = catalog.nodes[other.type];
  const key = entry && keyIfComplete(catalog, entry.shape, other.id);
  return key ? keyId(key) : exactText([other.type, other.id]);
};

const deltasOf = (catalog: Catalog, subject: EdgeBetween, change: RowChange): readonly Spread[] => {
  const { before, after, changes, related } = change;
  if (before === undefined) return NONE;
  const counted = exactRows(change);
  const spread: Spread[] = [];
  const found = new Map<string, CounterDelta & { readonly added: Record<string, string> }>();
  for (const aggregate of aggregatesOver(catalog, subject).filter(isConcerned)) {
    const { over } = aggregate.fact;
    // Of a change that was planned without a read, neither the row before nor the one after is known whole.
    if (over.kind !== "edge" || (changes && !aggregate.fields.some((field) => isChanged(changes, field)))) continue;
    for (const end of aggregatedNodes(catalog, aggregate, subject, after ?? before ?? {})) {
      const set = counterSetAt(catalog, { node: end.type, edge: over.name, direction: over.direction });
      const node = set && keyIfComplete(catalog, set.entry.shape, end.id);
      if (!set || !node) continue;
      const key = counterKey(catalog, set, end.id, shardOf(set, otherText(catalog, subject, end)));
      let delta = found.get(keyId(key));
      if (!delta) {
        // A new edge needs its node even where ends are unchecked: a node begins with counters of nothing.
        const ties = after !== null && after !== undefined && !changes && (related !== "unchecked" || !before);
        const failure: Failure | undefined = ties
          ? { reason: "endMissing", end: end === subject.to ? "to" : "from", id: end.id }
          : undefined;
        delta = { kind: "delta", rule: counterShards, key, set, id: end.id, node, added: {}, ties, failure };
        found.set(keyId(key), delta);
        spread.push(delta, { kind: "witness", rule: counterShards, key: node, entry: set.entry, counter: key, ties, failure });
      }
      addTo(delta.added, addends(aggregate, counted.before), true);
      addTo(delta.added, addends(aggregate, counted.after));
    }
  }
  return spread;
};

const settleCounter = (working: WorkingSet, [first, ...more]: readonly [CounterDelta, ...CounterDelta[]]): Settled<CounterDelta> => {
  const { key, set, id, node } = first;
  const sums: Record<string, string> = {};
  for (const { added } of [first, ...more]) addTo(sums, added);
  const tying = [first, ...more].find(({ ties }) => ties);
  const add: Record<string, AttributeValue> = {};
  for (const name in sums) if (sums[name] !== "0") add[name] = { N: sums[name]! };
  const changes = Object.keys(add).length > 0;
  if (!changes && !tying) return null;
  const image = knownImage(working, key);
  if (image !== null) {
    const terms: Term[] = [{ kind: "has", attribute: COUNTER, failure: STALE }];
    // The counter stands for its node: a deletion marks and removes both.
    if (tying?.failure) terms.push({ kind: "equals", attribute: DELETING, value: undefined, failure: tying.failure });
    if (!changes) return { kind: "check", key, terms, shape: undefined };
    return { kind: "update", key, terms, shape: undefined, changes: { set: {}, remove: [], add: { ...RISES, ...add }, append: {} } };
  }
  const owner = imageOf(working, { shape: set.entry.shape, key: node }, "it has no such counter yet: it must be there itself");
  if (owner === undefined) return undefined;
  // Removing an edge of a deleted node does not change any counter.
  if (tying && isGone(working, owner)) return { kind: "failure", of: tying };
  if (owner === null) return { kind: "check", key, terms: [{ kind: "absent", failure: STALE }], shape: undefined };
  const item = { ...key, ...counterAttributes(working.catalog, set, id), ...RISES, ...add };
  return { kind: "put", key, item, terms: [{ kind: "absent", failure: STALE }], shape: undefined };
};

const settleWitness = (working: WorkingSet, witnesses: readonly Witness[]): WriteItem | null => {
  const [asked] = witnesses.filter(({ counter }) => knownImage(working, counter) === null);
  const image = asked && knownImage(working, asked.key);
  if (!asked || !image) return null;
  const { key, entry } = asked;
  const failure = witnesses.find(({ ties }) => ties)?.failure ?? STALE;
  const terms: Term[] = [failure === STALE ? { kind: "present", failure } : presentUnexpired(working, entry.shape, failure)];
  if (failure !== STALE) terms.push({ kind: "equals", attribute: DELETING, value: undefined, failure });
  return { kind: "check", key, terms, shape: entry.shape };
};

/**
 * Counts, sums and averages that are spread over counters of their own, so that writers of a hot node do not wait for each
 * other. DynamoDB refuses a transaction whose items are part of another one, checked items included: so a link does not touch
 * the node's own item. Its counter stands for the node. A counter is made by the first edge that needs it, in a transaction
 * that checks the node; a deletion marks all of them with the node and removes them with it.
 */
export const counterShards: ItemRule<Spread> = {
  name: "counter shards",
  shared: true,
  looksAt: (catalog, change) => lookOfRow(catalog, change, isConcerned),
  contributions: (catalog, change) => {
    const { subject, after } = change;
    if (subject.kind === "edge") return deltasOf(catalog, subject, change);
    if (subject.kind === "part" || after !== null || !change.before) return NONE;
    const { before } = change;
    return counterSetsOf(catalog, subject.entry).flatMap((set) =>
      counterKeys(catalog, set, before).map((key): Gone => ({ kind: "gone", rule: counterShards, key })),
    );
  },
  joins,
  settle: (working, [first, ...more]) => {
    if (first.kind === "witness") return settleWitness(working, [first, ...(more as readonly Witness[])]);
    if (first.kind === "gone" || more.some(({ kind }) => kind === "gone"))
      return { kind: "delete", key: first.key, terms: [], shape: undefined };
    return settleCounter(working, [first, ...(more as readonly CounterDelta[])]);
  },
};
