import { type Conditions, factWhere, pathsOf } from "../../../ir/condition.ts";
import { holds } from "../../../ir/holds.ts";
import type { EndId } from "../../../ir/logical-write.ts";
import { type Failure, keyId, type PutStep, sameKey, type Term, type WriteItem } from "../../../ir/write-plan.ts";
import { digitsIn, keyIfComplete } from "../../../requests/encode-item.ts";
import { decodeItem } from "../../../requests/decode-item.ts";
import { decimalIn, decodeValue, encodeValue, keepDigits } from "../../../requests/attribute-value.ts";
import type { Catalog, EdgeEntry, NodeEntry, PartEntry, Shape } from "../../../schema/catalog.ts";
import {
  type AggregateFact,
  countHidden,
  NODE_REVISION,
  type DerivedFact,
  hiddenNames,
  isKeptInNode,
  spreadHidden,
  sumHidden,
  type SummaryFact,
} from "../../../schema/facts.ts";
import { counterSetsOf } from "../../../schema/counter-sets.ts";
import { startsAtZero } from "../../../schema/derived.ts";
import { DELETING } from "../../../schema/system-items.ts";
import type { AttributeValue, Item } from "../../../transport/operations.ts";
import { addDecimals, negateDecimal, readDecimal } from "../../../util/decimal.ts";
import { isNumber, own, type Row, valueAt } from "../../../util/row.ts";
import { isChanged } from "../changed-row.ts";
import {
  type Contribution,
  type ItemRule,
  knownImage,
  type Look,
  presentUnexpired,
  type RowChange,
  STALE,
  type Subject,
  type WorkingSet,
} from "../working-set.ts";
import * as joins from "../join-changes.ts";
import { changeItem } from "./computed-attributes.ts";
import { isSameNode, shapeBetween } from "./edge-copies.ts";
import { exactRows, type ExactRow, storedAt } from "./stored-digits.ts";
import { cascades } from "./required-nodes.ts";

/** An aggregate with its conditions read, and the fields of the edge or part that it depends on. */
export interface Aggregate<Fact extends DerivedFact = AggregateFact> {
  readonly fact: Fact;
  readonly where: Conditions | undefined;
  readonly fields: readonly string[];
}

/** The same of an attribute of an edge. */
export type Summary = Aggregate<SummaryFact>;

const known = new WeakMap<EdgeEntry | PartEntry, readonly Aggregate[]>();
const knownSummaries = new WeakMap<EdgeEntry | PartEntry, readonly Summary[]>();

/** A fact with its conditions read. */
export const readAggregate = <Fact extends DerivedFact>(fact: Fact): Aggregate<Fact> => {
  const where = factWhere(fact);
  const ofEnd = (path: string): boolean => fact.over.kind === "edge" && (path.startsWith("from.") || path.startsWith("to."));
  const compared = pathsOf(where?.conditions ?? []).filter((path) => !ofEnd(path));
  const paths = fact.of === undefined ? compared : [fact.of, ...compared];
  return { fact, where, fields: [...new Set(paths.map((path) => path.split(".")[0]!))] };
};

/** The aggregates over the edges of a type, or the parts of a kind. */
export const aggregatesOver = (catalog: Catalog, subject: Exclude<Subject, { readonly kind: "node" }>): readonly Aggregate[] => {
  const { entry, kind } = subject;
  let found = known.get(entry);
  if (found) return found;
  found = catalog.facts.aggregates.filter(({ over }) => over.kind === kind && over.name === entry.name).map(readAggregate);
  known.set(entry, found);
  return found;
};

/** The attributes of other edges that summarize the edges of a type. */
export const summariesOver = (catalog: Catalog, { entry }: Exclude<Subject, { readonly kind: "node" }>): readonly Summary[] => {
  let found = knownSummaries.get(entry);
  if (!found)
    knownSummaries.set(entry, (found = catalog.facts.summaries.filter(({ over }) => over.name === entry.name).map(readAggregate)));
  return found;
};

/** True if a row counts towards an aggregate: a sum or an average needs a number, others any value. */
export const counts = ({ fact, where }: Pick<Aggregate<DerivedFact>, "fact" | "where">, row: Row): boolean => {
  if (where && !where.conditions.every((condition) => holds(condition, row, where.values))) return false;
  const { of, operation } = fact;
  if (of === undefined) return true;
  const value = valueAt(row, of) ?? null;
  return operation === "sum" || operation === "average" ? isNumber(value) : value !== null;
};

/** The nodes whose aggregate a row counts towards. For a symmetric edge, both ends. */
export const aggregatedNodes = (
  catalog: Catalog,
  { fact }: Aggregate,
  subject: Exclude<Subject, { readonly kind: "node" }>,
  row: Row,
): readonly EndId[] => {
  if (subject.kind === "part") {
    const { idFields = [] } = catalog.nodes[fact.node] ?? {};
    return [{ type: fact.node, id: Object.fromEntries(idFields.map((field) => [field, row[field]])) }];
  }
  const { from, to, entry } = subject;
  // A symmetric edge from a node to itself is one edge at one node.
  const both = isSameNode(entry, from, to) ? [from] : [from, to];
  const ends = entry.definition.symmetric ? both : [fact.over.kind === "edge" && fact.over.direction === "in" ? to : from];
  return ends.filter(({ type }) => type === fact.node);
};

/** What one change adds to the derived attributes of one node. */
export interface Delta extends Contribution {
  readonly node: NodeEntry;
  readonly id: Row;
  readonly added: Readonly<Record<string, string>>;
  /** True if the change adds an edge or part to the node, which must exist and must not be marked for deletion. */
  readonly ties: boolean;
  /** True of a new edge whose ends nothing else checks: it may begin to count, so the node must be there whatever is added. */
  readonly always: boolean;
}

const NONE: readonly Delta[] = [];

/** The decimal of a row's number in a field; 0 if it has none. */
export const numberIn = ({ row, digits }: ExactRow, field: string): string => {
  const value = valueAt(row ?? {}, field);
  return isNumber(value) ? decimalIn(keepDigits({ N: String(value) }, storedAt(digits, field))) : "0";
};

/** What a row adds to the attributes of an aggregate that is kept in transactions. */
const addends = (aggregate: Aggregate, counted: ExactRow): Readonly<Record<string, string>> => {
  const { attribute, operation, of = "" } = aggregate.fact;
  if (!counted.row || !counts(aggregate, counted.row)) return {};
  if (operation === "count") return { [attribute]: "1" };
  if (operation === "sum") return { [attribute]: numberIn(counted, of) };
  return { [sumHidden(attribute)]: numberIn(counted, of), [countHidden(attribute)]: "1" };
};

/** Adds decimals to sums by name, or subtracts them. */
export const addTo = (sums: Record<string, string>, added: Readonly<Record<string, string>>, negates = false): void => {
  for (const name in added) sums[name] = addDecimals(sums[name] ?? "0", negates ? negateDecimal(added[name]!) : added[name]!);
};

const isNothing = (added: Readonly<Record<string, string>>): boolean => Object.values(added).every((decimal) => Number(decimal) === 0);

const isTransactional = ({ fact }: Aggregate): boolean => isKeptInNode(fact);

const fieldsOf = (aggregates: readonly Aggregate[]): readonly string[] => [...new Set(aggregates.flatMap(({ fields }) => fields))];

/** The values that an item stores for its derived attributes in addition to its row. */
const hiddenIn = (definition: Pick<NodeEntry["definition"], "derived">, image: Item): Row => {
  const row: Record<string, unknown> = {};
  for (const name of [...hiddenNames(definition), NODE_REVISION]) {
    const stored = image[name];
    if (stored) row[name] = decodeValue(stored);
  }
  return row;
};

/** The averages that transactions keep in a node's item, computed from the stored sum and number. */
const keptAverages = ({ definition: { derived = {} } }: NodeEntry): readonly string[] =>
  Object.keys(derived).filter((name) => derived[name]!.operation === "average" && isKeptInNode(derived[name]!));

/** The derived attributes of a row that is written as a whole: those of the item before, else those of a node without edges and parts. */
const derivedAttributes = (
  catalog: Catalog,
  { definition, shape }: Pick<NodeEntry | EdgeEntry, "definition"> & { readonly shape: Shape },
  image: Item | null | undefined,
): Row => {
  const row: Record<string, unknown> = {};
  const before: Row | undefined = image ? { ...decodeItem(catalog, shape, image) } : undefined;
  for (const [name, { operation, freshness }] of Object.entries(definition.derived ?? {})) {
    // A program with an older model may have removed attributes of the stream, which the stream processor writes again.
    const starts = startsAtZero(operation) && (before ? freshness === "stream" : freshness !== "batch");
    const value = (before && own(before, name)) ?? (starts ? 0 : undefined);
    if (value !== undefined) row[name] = value;
  }
  // The counters of a new node are complete.
  const node = image || shape.kind !== "node" ? undefined : catalog.nodes[shape.definition];
  if (node) {
    for (const { facts, name } of counterSetsOf(catalog, node)) for (const { attribute } of facts) row[spreadHidden(attribute)] = name;
    for (const name of keptAverages(node)) row[countHidden(name)] = 0;
  }
  return Object.assign(row, image && hiddenIn(definition, image));
};

/** What must be known of an edge or part before it changes, for the aggregates over it that are kept in one way. */
export const lookOfRow = (
  catalog: Catalog,
  { subject, before, after, changes }: RowChange,
  isConcerned: (aggregate: Aggregate) => boolean,
): Look | undefined => {
  if (subject.kind === "node") return undefined;
  const all = aggregatesOver(catalog, subject).filter(isConcerned);
  if (all.length === 0) return undefined;
  const reason = "what it counted for before is taken back";
  if (before === undefined && after) return { fields: fieldsOf(all), reason };
  const concerned = changes ? all.filter(({ fields }) => fields.some((field) => isChanged(changes, field))) : after === null ? all : [];
  const fields = fieldsOf(concerned);
  return fields.length > 0 ? { fields, reason } : undefined;
};

const deltasOf = (catalog: Catalog, change: RowChange): readonly Delta[] => {
  const { subject, before, after, changes, related } = change;
  if (subject.kind === "node" || before === undefined) return NONE;
  const all = aggregatesOver(catalog, subject);
  if (all.length === 0) return NONE;
  const isUnchecked = subject.kind === "edge" && related === "unchecked";
  const deltas = new Map<string, Delta & { readonly added: Record<string, string> }>();
  const counted = exactRows(change);
  for (const aggregate of all) {
    if (!isTransactional(aggregate) || (changes && !aggregate.fields.some((field) => isChanged(changes, field)))) continue;
    const row = after ?? before ?? {};
    for (const { type, id } of aggregatedNodes(catalog, aggregate, subject, row)) {
      const node = catalog.nodes[type];
      const key = node && keyIfComplete(catalog, node.shape, id);
      if (!key) continue;
      const text = keyId(key);
      let delta = deltas.get(text);
      const [less, more] = [addends(aggregate, counted.before), addends(aggregate, counted.after)];
      const ties = !before && after !== null;
      // An uncounted part may exist without its node. The node would not count it when it is created.
      const begins = subject.kind === "part" && isNothing(less) && !isNothing(more);
      const end = subject.kind === "part" ? "owner" : subject.kind === "edge" && subject.to.id === id ? "to" : "from";
      const failure: Failure | undefined = ties || begins ? { reason: "endMissing", end, id } : delta?.failure;
      if (!delta || failure !== delta.failure)
        deltas.set(
          text,
          (delta = { rule: aggregates, key, node, id, added: delta?.added ?? {}, ties, always: ties && isUnchecked, failure }),
        );
      addTo(delta.added, less, true);
      addTo(delta.added, more);
    }
  }
  return [...deltas.values()].filter(({ added, always }) => always || Object.keys(added).length > 0);
};

/** An average, computed from the sum and the number that are stored with it. */
const averages = (node: NodeEntry, image: Item, added: Readonly<Record<string, string>>) => {
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  const total = (name: string): number => {
    return Number(addDecimals(decimalIn(image[name]), added[name] ?? "0"));
  };
  for (const name of keptAverages(node)) {
    if (!(countHidden(name) in added) || !Object.hasOwn(image, countHidden(name))) continue;
    const number = total(countHidden(name));
    if (number > 0) set[name] = total(sumHidden(name)) / number;
    else if (Object.hasOwn(image, name)) remove.push(name);
  }
  return { set, remove };
};

const settleNode = (
  working: WorkingSet,
  [first, ...more]: readonly [Delta, ...Delta[]],
): WriteItem | { readonly kind: "failure"; readonly of: Delta } | null | undefined => {
  const { catalog } = working;
  const { key, node, id } = first;
  const { shape, definition } = node;
  const sums: Record<string, string> = {};
  for (const { added } of [first, ...more]) addTo(sums, added);
  const tying = [first, ...more].find(({ ties }) => ties);
  const needing = tying ?? [first, ...more].find(({ failure }) => failure);
  const marked: readonly Term[] =
    tying?.failure && cascades(catalog, node.name)
      ? // The node's deletion would not see what is tied to it now, and leave it behind.
        [{ kind: "equals", attribute: DELETING, value: undefined, failure: tying.failure }]
      : [];
  const changed = Object.keys(sums).filter((name) => sums[name] !== "0");
  if (changed.length === 0 && ![first, ...more].some(({ always }) => always)) return null;
  const numbers = new Map(
    keptAverages(node).flatMap((name) => [sumHidden(name), countHidden(name)].map((hidden) => [hidden, countHidden(name)])),
  );
  const behind = [...numbers.keys()];
  // Until a migration computes it, a node that is older than the declaration lacks the attribute, and its average lacks a number.
  const isKeptIn = (item: Item, name: string): boolean => Object.hasOwn(item, numbers.get(name) ?? name);
  // If the same call writes the whole node, the additions become part of its item.
  const put = working.staged.find(({ item, key: of }) => item?.kind === "put" && sameKey(of, key))?.item as PutStep | undefined;
  if (put) {
    const { set, remove } = averages(node, put.item, sums);
    const kept = changed.filter((name) => isKeptIn(put.item, name));
    const add = Object.fromEntries(kept.map((name): [string, AttributeValue] => [name, { N: sums[name]! }]));
    const shown = Object.fromEntries(Object.entries(set).map(([name, value]) => [name, encodeValue(value, name)]));
    return { kind: "update", key, terms: [], shape, changes: { set: shown, remove, add, append: {} } };
  }
  const there = needing?.failure ? presentUnexpired(working, shape, needing.failure) : ({ kind: "present", failure: STALE } as const);
  const image = knownImage(working, key);
  if (image !== null && changed.length === 0) return { kind: "check", key, terms: [there, ...marked], shape };
  if (image === null) {
    // The counts of a deleted node are gone, so removing its edges changes nothing there.
    return needing ? { kind: "failure", of: needing } : { kind: "check", key, terms: [{ kind: "absent", failure: STALE }], shape };
  }
  const showsAverage = changed.some((name) => behind.includes(name));
  const look: Look | undefined = showsAverage ? { fields: behind, reason: "the average follows from its sum" } : undefined;
  const exact: Record<string, string> = { [NODE_REVISION]: "1" };
  const terms: Term[] = [...marked];
  for (const name of changed) {
    const isKept = image === undefined || isKeptIn(image, name);
    if (isKept) exact[name] = sums[name]!;
    if (behind.includes(name)) continue;
    terms.push(
      isKept ? { kind: "has", attribute: name, failure: STALE } : { kind: "equals", attribute: name, value: undefined, failure: STALE },
    );
  }
  const { set, remove } = image && showsAverage ? averages(node, image, sums) : { set: {}, remove: [] };
  const add = Object.fromEntries(Object.entries(exact).map(([name, sum]) => [name, readDecimal(sum)]));
  const changes = { set, remove, add, append: {} };
  const update = changeItem(working, {
    shape,
    key,
    known: image ? { ...id, ...hiddenIn(definition, image) } : id,
    changes,
    exact,
    guards: {},
    there,
    terms,
    look,
    keepsVersion: true,
  });
  return update === null ? null : update?.items[0];
};

/**
 * Counts, sums and averages that are kept in the transaction of the write: the node's own item takes the difference. A revision
 * (`~derived`) increases with each change, so that a verification can tell that nothing changed while it read.
 */
export const aggregates: ItemRule<Delta> = {
  name: "aggregates",
  shared: true,
  looksAt: (catalog, change) => {
    const look = lookOfRow(catalog, change, isTransactional);
    const { subject, before, after } = change;
    if (subject.kind === "part" || before !== undefined || !after || !subject.entry.definition.derived) return look;
    // A put keeps the derived attributes of the row that it replaces.
    const { definition } = subject.entry;
    const kept = [...Object.keys(definition.derived ?? {}), ...hiddenNames(definition), NODE_REVISION];
    if (!look) return { fields: kept, reason: "its derived attributes are kept" };
    return { fields: [...kept, ...look.fields], reason: look.reason };
  },
  fill: ({ catalog }, subject, filled, image) => {
    if (subject.kind === "part" || !subject.entry.definition.derived) return filled;
    const shape = subject.kind === "node" ? subject.entry.shape : shapeBetween(subject.entry.shapes, subject.from, subject.to);
    if (!shape) return filled;
    const { row, digits } = filled;
    const { definition } = subject.entry;
    const kept = new Set([...Object.keys(definition.derived ?? {}), ...hiddenNames(definition)]);
    return {
      kind: "row",
      row: { ...row, ...derivedAttributes(catalog, { definition, shape }, image) },
      digits: image ? (field) => (kept.has(field) ? digitsIn(shape, image)(field) : digits?.(field)) : digits,
    };
  },
  contributions: deltasOf,
  joins,
  settle: settleNode,
};
