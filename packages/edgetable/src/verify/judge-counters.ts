import type { WriteItem } from "../ir/write-plan.ts";
import { holdsAll, totalsOf } from "../executor/facts/roll-up-counters.ts";
import { decimalIn, decodeValue } from "../requests/attribute-value.ts";
import { counterAttributes, counterKeys, type CounterSet, counterSetsOf, RISES } from "../schema/counter-sets.ts";
import { ROLLED, spreadHidden } from "../schema/facts.ts";
import { COUNTER, MEMO_NODE } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { shown } from "../util/check-options.ts";
import { rewrite, sumsOf } from "./judge-counts.ts";
import { isThere } from "./judge-edge.ts";
import type { Finding } from "./finding.ts";
import { asRead, check, deletion, itemAt, type Judging, orphan, put, report, settled, UNSURE, writes } from "./judging.ts";
import { counterSum } from "./read-sums.ts";
import { sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { counterOwner } from "./counter-owner.ts";
import { countedNames } from "./relations.ts";
import type { Seen, SeenRow } from "./see-item.ts";

type Key = ReturnType<typeof counterKeys>[number];

/** One counter, as it is and as its edges make it. */
interface Counter {
  readonly key: Key;
  readonly item: Item | null;
  readonly expected: Item;
  /** False if neither its key nor its text tells the node. */
  readonly isNamed: boolean;
  readonly isRight: boolean;
}

const zero: AttributeValue = { N: "0" };

const countersOf = (judging: Judging, { key: node, row }: SeenRow, set: CounterSet): readonly Counter[] | undefined => {
  const keys = counterKeys(judging.catalog, set, row);
  const found = keys.map((key) => itemAt(judging, key));
  const sums = sumsOf(
    judging,
    { type: set.entry.name, id: Object.fromEntries(set.entry.idFields.map((field) => [field, row[field]])) },
    node,
  );
  if (!sums || found.includes(undefined)) return undefined;
  const names = countedNames(set);
  return keys.map((key, at): Counter => {
    const item = found[at] ?? null;
    const expected = Object.fromEntries(names.map((name) => [name, sums[counterSum(key, name)] ?? zero]));
    const adds = names.every((name) => sameNumbers(item?.[name] ?? zero, decimalIn(expected[name])));
    const isNamed = !item || typeof counterOwner(judging.catalog, item) === "object";
    return { key, item, expected, isNamed, isRight: adds && isNamed };
  });
};

const misnamed = (key: Key | Seen["key"], item: Item | null): Finding => ({
  kind: "drift",
  key,
  attribute: MEMO_NODE,
  stored: item?.[MEMO_NODE] && decodeValue(item[MEMO_NODE]),
  reason: "The counter's key names the node for which it counts; its text names another node, or no node.",
});

/** Judges a counter by its own item: its text names the node that its key tells. */
export const judgeCounterName = (judging: Judging, { key, item }: Pick<Seen, "key" | "item">): void => {
  const { catalog } = judging;
  const owner = counterOwner(catalog, item);
  if (typeof owner !== "object" || owner.isNamed) return;
  const { set, id } = owner;
  const changes = { set: counterAttributes(catalog, set, id), remove: [], add: {}, append: {} };
  const step: WriteItem = { kind: "update", key, terms: asRead(judging, item, undefined), shape: undefined, changes };
  report(judging, { ...misnamed(key, item), definition: set.entry.name, other: owner.key }, writes(step));
};

/**
 * Judges the counters over which a node's aggregates are spread, by the edges that there are. What the node's row shows may be
 * older than its counters and is not compared. All of a set is mended at once, with the node: from then on they hold all that
 * there is to count.
 */
export const judgeCounters = (judging: Judging, seen: SeenRow): void => {
  const { catalog } = judging;
  const { subject, item, key, shape, row } = seen;
  if (subject.kind !== "node") return;
  for (const set of counterSetsOf(catalog, subject.entry)) {
    const counters = countersOf(judging, seen, set);
    const isWhole = holdsAll(set, item);
    if (!counters || (isWhole && counters.every(({ isRight }) => isRight))) continue;
    const before = totalsOf(
      set,
      counters.map((one) => one.item ?? undefined),
    );
    const { set: totals, exact } = totalsOf(
      set,
      counters.map(({ expected }) => expected),
    );
    const unnamed = counters
      .filter(({ isNamed }) => !isNamed)
      .map((one): Finding => ({ ...misnamed(one.key, one.item), definition: shape.definition, other: key }));
    const isTold = isWhole && counters.every(({ isRight, isNamed }) => isRight || !isNamed) && unnamed.length > 0;
    const wrong = isTold ? [] : set.facts;
    const findings = wrong.map(({ attribute }): Finding => {
      const [stored, expected] = [isWhole ? before.set[attribute] : undefined, totals[attribute]];
      const what = isWhole ? `add up to ${shown(stored ?? 0)}` : "were never filled";
      const reason = `The counters of "${attribute}" ${what}; the edges of "${set.edge}" make it ${shown(expected ?? 0)}.`;
      return { kind: "wrongAggregate", key, definition: shape.definition, attribute, stored, expected, reason };
    });
    const [first, ...rest] = [...unnamed, ...findings];
    const values = Object.fromEntries(set.facts.map(({ attribute }) => [attribute, totals[attribute]]));
    const step = rewrite(judging, seen, values, exact);
    if (step.kind !== "update" || !first) continue;
    const spread = Object.fromEntries(set.facts.map(({ attribute }) => [spreadHidden(attribute), { S: set.name }]));
    const rolled = item[ROLLED];
    const revision = { N: String(rolled && "N" in rolled ? Number(rolled.N) + 1 : Math.floor(judging.circumstances.now)) };
    const changes = { ...step.changes, set: { ...step.changes.set, ...spread, [ROLLED]: revision } };
    const unrolled = rolled ? [] : settled([{ kind: "equals", attribute: ROLLED, value: undefined, failure: UNSURE }]);
    const about = counterAttributes(catalog, set, row);
    const steps = counters.map((one): WriteItem => {
      if (one.isRight) return check(judging, one.key, one.item);
      const held = { ...about, ...one.expected };
      if (!one.item) return put(one.key, { ...one.key, ...RISES, ...held }, [{ kind: "absent", failure: UNSURE }]);
      const added = { set: held, remove: [], add: RISES, append: {} };
      return { kind: "update", key: one.key, terms: asRead(judging, one.item, undefined), shape: undefined, changes: added };
    });
    judging.problems.push({
      findings: [first, ...rest],
      mend: writes({ ...step, terms: [...step.terms, ...unrolled], changes }, ...steps),
    });
  }
};

/** Judges a counter by its node. No call reads a counter of other declarations, or of a deleted node without edges. */
export const judgeIdleCounter = (judging: Judging, { key, item }: Seen): void => {
  const owner = counterOwner(judging.catalog, item);
  if (!owner) {
    const reason = "Neither its key nor its text names the node for which it counts. If the node exists, verify checks it as well.";
    return report(judging, { kind: "idleGuard", key, attribute: COUNTER, reason }, orphan(deletion(judging, { key, item })));
  }
  if (owner === "nobody") {
    const reason = "It counts for declarations that the model does not have.";
    return report(judging, { kind: "idleGuard", key, attribute: COUNTER, reason }, writes(deletion(judging, { key, item })));
  }
  const { set, key: node, id } = owner;
  if (isThere(judging, { node: set.entry, key: node, id }) !== false) return;
  const finding: Finding = {
    kind: "idleGuard",
    key,
    definition: set.entry.name,
    other: node,
    reason: `There is no "${set.entry.name}" to count for.`,
  };
  report(judging, finding, writes(deletion(judging, { key, item }), check(judging, node, itemAt(judging, node))));
};
