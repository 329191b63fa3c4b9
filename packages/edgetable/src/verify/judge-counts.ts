import { planCount } from "../planner/writes/rules/degree-guards.ts";
import { keyId, type WriteItem } from "../ir/write-plan.ts";
import { decimalIn, decodeValue, sameAttribute } from "../requests/attribute-value.ts";
import { withDigits } from "../planner/writes/rules/stored-digits.ts";
import { digitsIn, encodeField } from "../requests/encode-item.ts";
import type { EndId } from "../ir/logical-write.ts";
import { type AggregateFact, COPY_REVISION, countHidden, derivedNames, NODE_REVISION, isKeptInNode, sumHidden } from "../schema/facts.ts";
import { COUNT } from "../schema/system-items.ts";
import { readDegreeGuard } from "../schema/system-keys.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { exactText } from "../keys/template.ts";
import { shown } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import { readDecimal } from "../util/decimal.ts";
import { isNumber, own, type Row } from "../util/row.ts";
import { readableValue } from "../util/time.ts";
import { type Catalog, keyAttributes, type Shape } from "../schema/catalog.ts";
import { expectedAttributes, type Unkeyed } from "./expected-attributes.ts";
import { checkRow, type RowCheck } from "./check-row.ts";
import { isThere } from "./judge-edge.ts";
import { wrongStreamed } from "./judge-streamed.ts";
import type { Finding } from "./finding.ts";
import { asRead, check, deletion, itemAt, type Judging, readNeed, report, settled, UNSURE, writes } from "./judging.ts";
import { sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { guardedNode, isKeptGuard } from "./needed-nodes.ts";
import { copiesOf, exactIn } from "./relations.ts";
import { seeItem, type Seen, type SeenRow } from "./see-item.ts";

/** Judges a degree guard by the edges that there are. */
export const judgeGuard = (judging: Judging, { key, item }: Seen): void => {
  const { catalog } = judging;
  const guard = readDegreeGuard(catalog, item);
  if (guard && !isKeptGuard(catalog, item)) {
    const reason = `The model neither limits nor restricts edges of "${guard.edge}" there: nothing maintains the count.`;
    return report(judging, { kind: "idleGuard", key, definition: guard.edge, reason }, writes(deletion(judging, { key, item })));
  }
  const at = guard && guardedNode(catalog, item);
  if (!guard || !at) return;
  const { node, id } = at;
  const edges = { node: { type: node.name, id }, edge: guard.edge, direction: guard.direction };
  // Edges that nothing finds from this end cannot be counted.
  if (!planCount(catalog, edges)) return;
  const counted = readNeed(judging, {
    kind: "count",
    id: `count ${keyId(key)}`,
    ...edges,
    shape: node.shape,
    reason: "its edges are counted",
  });
  if (!counted) return;
  const stored = item[COUNT] && decodeValue(item[COUNT]);
  const expected = counted[COUNT] && decodeValue(counted[COUNT]);
  const terms = asRead(judging, item, undefined);
  if (stored !== expected) {
    const reason = `It counts ${shown(stored)} edges of "${guard.edge}"; there are ${shown(expected)}.`;
    const changes = { set: { [COUNT]: counted[COUNT]! }, remove: [], add: {}, append: {} };
    const step: WriteItem = { kind: "update", key, terms, shape: undefined, changes };
    report(judging, { kind: "wrongCount", key, definition: guard.edge, attribute: COUNT, stored, expected, reason }, writes(step));
    return;
  }
  if (expected !== 0 || node.definition.stored === false) return;
  if (isThere(judging, at) !== false) return;
  const finding: Finding = {
    kind: "idleGuard",
    key,
    definition: guard.edge,
    other: at.key,
    reason: `There is no "${node.name}" and no edge to count.`,
  };
  // A node that is created meanwhile misses nothing: its next edge finds no guard, and counts the edges.
  const absent = at.key ? [check(judging, at.key, judging.images[keyId(at.key)])] : [];
  report(judging, finding, writes({ kind: "delete", key, terms, shape: undefined }, ...absent));
};

/** The decimals that a node's item has to hold for a fact, from what its edges or parts add up to. */
const expectedOf = ({ attribute, operation }: AggregateFact, sums: Item): Readonly<Record<string, string | undefined>> => {
  if (operation !== "average") return { [attribute]: decimalIn(sums[attribute]) };
  const [total, count] = [decimalIn(sums[sumHidden(attribute)]), decimalIn(sums[countHidden(attribute)])];
  const mean = Number(count) === 0 ? undefined : String(Number(total) / Number(count));
  return { [sumHidden(attribute)]: total, [countHidden(attribute)]: count, [attribute]: mean };
};

/** What a node's edges and parts add up to; undefined while they have to be read. */
export const sumsOf = (judging: Judging, node: EndId, key: Key): Item | null | undefined =>
  readNeed(judging, { kind: "sum", id: `sum ${keyId(key)}`, node, key });

/** The computed attributes of a row with other values. A key that cannot hold one of these does not stay as it was before them. */
const computedAfter = (
  catalog: Catalog,
  shape: Shape,
  { row, item }: Pick<SeenRow, "row" | "item">,
  values: Readonly<Record<string, unknown>>,
): Item => {
  const unkeyed: Unkeyed[] = [];
  const computed = expectedAttributes(catalog, shape, { row, item }, unkeyed);
  const outdated = unkeyed.filter(({ attribute, error: { details } }) => {
    const fields = typeof details["field"] === "string" ? [details["field"]] : defined(own(shape.keys, attribute), "key").within;
    return fields.some((field) => field.split(".")[0]! in values);
  });
  if (outdated.length === 0) return computed;
  const kept = Object.entries(item).filter(([name]) => !outdated.some(({ attribute }) => attribute === name));
  return expectedAttributes(catalog, shape, { row, item: Object.fromEntries(kept) });
};

/**
 * The step that gives a row's item other values, with the index keys that follow from them.
 *
 * @param exact the decimals of numbers in `values`
 */
export const rewrite = (
  judging: Judging,
  { key, item, shape, row }: SeenRow,
  values: Readonly<Record<string, unknown>>,
  exact: Readonly<Record<string, string | undefined>> = {},
): WriteItem => {
  const after: Row = { ...row, ...values };
  const set: Record<string, AttributeValue> = {};
  const remove: string[] = [];
  for (const name in values) {
    if (values[name] === undefined) remove.push(name);
    else set[name] = exact[name] === undefined ? encodeField(shape, name, values[name]) : { N: exact[name] };
  }
  const computed = computedAfter(judging.catalog, shape, { row: after, item }, values);
  for (const attribute in shape.keys) {
    const value = computed[attribute];
    // A key that is a number has the digits of its value.
    const isValue = shape.keys[attribute]!.type === "N" && shape.keys[attribute]!.fields.some((field) => field in values);
    if (value && (isValue || !sameAttribute(value, item[attribute]))) set[attribute] = value;
    else if (!value && attribute in item) remove.push(attribute);
  }
  return { kind: "update", key, terms: asRead(judging, item, shape), shape, changes: { set, remove, add: {}, append: {} } };
};

/** What is wrong with the counts, sums and averages in a node's item. */
interface WrongAggregates {
  readonly findings: readonly Finding[];
  /** What the item has to hold, and the decimals of it. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly exact: Readonly<Record<string, string | undefined>>;
}

/** Compares what transactions keep in a node's item with the edges and parts that there are; undefined while they have to be read. */
const wrongAggregates = (judging: Judging, { shape, key, item, subject, row }: SeenRow): WrongAggregates | undefined => {
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  const exact: Record<string, string | undefined> = {};
  if (subject.kind !== "node") return { findings, values, exact };
  const { name, idFields } = subject.entry;
  const facts = judging.catalog.facts.aggregates.filter(({ node, ...fact }) => node === name && isKeptInNode(fact));
  if (facts.length === 0) return { findings, values, exact };
  const node = { type: name, id: Object.fromEntries(idFields.map((field) => [field, row[field]])) };
  const sums = sumsOf(judging, node, key);
  if (!sums) return undefined;
  for (const fact of facts) {
    const expected = expectedOf(fact, sums);
    const wrong = Object.keys(expected).filter((attribute) => !sameNumbers(item[attribute], expected[attribute]));
    // An average begins with its number. A sum of nothing may be missing beside it.
    const isComplete = wrong.every(
      (attribute) => attribute === sumHidden(fact.attribute) && !item[attribute] && !Number(expected[attribute]),
    );
    if (isComplete) continue;
    const { over } = fact;
    // An average may look right while the sum or the number behind it is wrong.
    const attribute = wrong.includes(fact.attribute) ? fact.attribute : wrong[0]!;
    const behind: Readonly<Record<string, string>> = {
      [sumHidden(fact.attribute)]: `the sum behind "${fact.attribute}"`,
      [countHidden(fact.attribute)]: `the number behind "${fact.attribute}"`,
    };
    const stored = item[attribute] && decodeValue(item[attribute]);
    const subject = behind[attribute] ?? `"${attribute}"`;
    const what = `${subject[0]?.toUpperCase()}${subject.slice(1)} ${stored === undefined ? "is missing" : `is ${isNumber(stored) ? decimalIn(item[attribute]) : shown(stored)}`}`;
    const reason = `${what}; the ${over.kind === "edge" ? "edges" : "parts"} of "${over.name}" make it ${expected[attribute] ?? 0}.`;
    const numbers = Object.fromEntries(
      Object.entries(expected).map(([name, text]) => [name, text === undefined ? undefined : readDecimal(text)]),
    );
    findings.push({ kind: "wrongAggregate", key, definition: shape.definition, attribute, stored, expected: numbers[attribute], reason });
    Object.assign(values, numbers);
    Object.assign(exact, expected);
  }
  return { findings, values, exact };
};

/** The attributes of index entries that hold one of these attributes. */
const entriesOf = ({ indexes }: Catalog, { keys }: Shape, values: Readonly<Record<string, unknown>>): ReadonlySet<string> => {
  const holding = Object.keys(keys).filter((attribute) => keys[attribute]?.within.some((field) => field in values));
  const entries = indexes.map(keyAttributes).filter((entry) => entry.some((attribute) => holding.includes(attribute)));
  return new Set([...holding, ...entries.flat()]);
};

/**
 * The index keys that follow from a wrong count, sum, average or copy. They are mended with it: an entry that followed the wrong
 * value first would be written twice. Undefined while the edges and parts have to be read.
 */
export const keysOfWrongFacts = (
  judging: Judging,
  seen: SeenRow,
  { set, remove }: Pick<RowCheck, "set" | "remove">,
): ReadonlySet<string> | undefined => {
  const { catalog } = judging;
  const { shape, subject } = seen;
  const derived = Object.fromEntries(derivedNames(subject.entry.definition).map((name) => [name, true]));
  const entries = entriesOf(catalog, shape, derived);
  if (![...Object.keys(set), ...remove].some((attribute) => entries.has(attribute))) return new Set();
  const wrong = wrongAggregates(judging, seen);
  const streamed = judging.circumstances.streamed ? wrongStreamed(judging, seen) : { values: {} };
  const copies = wrongCopies(judging, seen);
  return wrong && streamed && entriesOf(catalog, shape, { ...wrong.values, ...streamed.values, ...copies.values });
};

/** The index keys that are wrong by what a row holds, and would be if it held other values. One that agrees with either goes with them. */
const wrongKeys = ({ catalog }: Judging, seen: SeenRow, values: Readonly<Record<string, unknown>>): readonly Finding[] => {
  const entries = entriesOf(catalog, seen.shape, values);
  const row = Object.fromEntries(Object.entries({ ...seen.row, ...values }).filter(([, value]) => value !== undefined));
  const stored = new Set(checkRow(catalog, seen).findings.map(({ attribute }) => attribute));
  return checkRow(catalog, { ...seen, row }).findings.filter(
    ({ kind, attribute = "" }) => kind !== "drift" && kind !== "invalid" && entries.has(attribute) && stored.has(attribute),
  );
};

/** Judges the counts, sums and averages that transactions keep in a node's item, by the edges and parts that there are. */
export const judgeAggregates = (judging: Judging, seen: SeenRow): void => {
  const { item } = seen;
  const wrong = wrongAggregates(judging, seen);
  const [first, ...rest] = wrong?.findings ?? [];
  if (!wrong || !first) return;
  const stale = wrongKeys(judging, seen, wrong.values);
  const step = rewrite(judging, seen, wrong.values, wrong.exact);
  // The revision tells apart what is the same again after two changes.
  const unchanged = settled([{ kind: "equals", attribute: NODE_REVISION, value: item[NODE_REVISION], failure: UNSURE }]);
  const changes = step.kind === "update" ? { ...step.changes, add: { [NODE_REVISION]: { N: "1" } } } : undefined;
  if (step.kind !== "update" || !changes) return;
  const terms = NODE_REVISION in item ? step.terms : [...step.terms, ...unchanged];
  judging.problems.push({ findings: [first, ...rest, ...stale], mend: writes({ ...step, terms, changes }) });
};

/** What is wrong with the copies on an edge or part. */
interface WrongCopies {
  readonly findings: readonly Finding[];
  /** What the item has to hold, and the numbers of it as the nodes hold them. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly digits: ReadonlyMap<string, AttributeValue | undefined>;
  /** That the nodes are as they were read. */
  readonly checks: readonly WriteItem[];
}

/** Compares the copies on an edge or part with the nodes, as far as they were read. */
const wrongCopies = (judging: Judging, seen: SeenRow): WrongCopies => {
  const { catalog } = judging;
  const { key, shape, row, item } = seen;
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  const digits = new Map<string, AttributeValue | undefined>();
  const checks = new Map<string, WriteItem>();
  for (const { fact, node, key: source } of copiesOf(catalog, seen)) {
    const found = itemAt(judging, source);
    const origin = found ? seeItem(catalog, found) : undefined;
    if (origin?.kind !== "row" || origin.shape !== node.shape) continue;
    const [stored, expected] = [row[fact.attribute], readableValue(own(origin.row, fact.of))];
    if (exactText(exactIn(seen, fact.attribute)) === exactText(readableValue(exactIn(origin, fact.of)))) continue;
    const [holds, wanted] = [digitsIn(shape, item)(fact.attribute), digitsIn(origin.shape, origin.item)(fact.of)];
    const isRounded = exactText(stored) === exactText(expected);
    const differs = isRounded
      ? "differs in digits that a double does not hold"
      : stored === undefined
        ? "it lacks"
        : "has another value now";
    const reason = `"${fact.attribute}" copies "${fact.of}" of a "${node.name}", which ${differs}.`;
    findings.push({
      kind: "staleCopy",
      key,
      definition: shape.definition,
      attribute: fact.attribute,
      // Rows have both as the same number.
      stored: isRounded && holds && "N" in holds ? holds.N : stored,
      expected: isRounded && wanted && "N" in wanted ? wanted.N : expected,
      other: source,
      reason,
    });
    values[fact.attribute] = expected;
    digits.set(fact.attribute, wanted);
    checks.set(keyId(source), check(judging, source, origin.item, origin.shape));
  }
  return { findings, values, digits, checks: [...checks.values()] };
};

/** Judges the copies of nodes' attributes on an edge or part, by the nodes. */
export const judgeCopies = (judging: Judging, seen: SeenRow): void => {
  const { shape, item } = seen;
  const { findings, values, digits, checks } = wrongCopies(judging, seen);
  const [first, ...others] = findings;
  if (!first) return;
  const rest = [...others, ...wrongKeys(judging, seen, values)];
  const step = withDigits(rewrite(judging, seen, values), shape, (field) => digits.get(field), Object.keys(values));
  // A slow refresh that has read an older source must find another revision.
  const revision = item[COPY_REVISION];
  if (step.kind === "update" && revision && "N" in revision) {
    const set = { ...step.changes.set, [COPY_REVISION]: { N: String(-(Math.abs(Number(revision.N)) + 1)) } };
    judging.problems.push({ findings: [first, ...rest], mend: writes({ ...step, changes: { ...step.changes, set } }, ...checks) });
  } else judging.problems.push({ findings: [first, ...rest], mend: writes(step, ...checks) });
};
