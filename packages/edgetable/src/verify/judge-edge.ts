import { isEdgetableError } from "../errors/edgetable-error.ts";
import { joinCopies, withoutEnds } from "../executor/scan/read-item.ts";
import { keyId, sameKey, type WriteItem } from "../ir/write-plan.ts";
import { removalOf } from "../planner/writes/plan-deletion.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import type { EdgeCopy } from "../planner/writes/rules/edge-copies.ts";
import { isOfShape } from "../requests/decode-item.ts";
import { exactText } from "../keys/template.ts";
import { putStep } from "../planner/writes/plan-item.ts";
import { findNeed } from "../planner/writes/working-set.ts";
import { attributeOf, digitsIn } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import { otherPlace } from "../schema/catalog.ts";
import { countHidden, derivedNames, sumHidden } from "../schema/facts.ts";
import { VERSION } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { Finding, FindingKind, Mend } from "./finding.ts";
import { asRead, check, deletion, itemAt, type Judging, none, orphan, put, readNeed, report, settled, UNSURE, writes } from "./judging.ts";
import { derivedOf, exactIn } from "./relations.ts";
import type { NeededEnd, NeededNode } from "./needed-nodes.ts";
import { type OtherCopy, seeItem, type SeenRow } from "./see-item.ts";

/** Encodes a copy, with the digits of the one that it follows. A copy that follows from an old row only is not written. */
const encodedOr = (catalog: Catalog, { shape, row }: EdgeCopy, lead: SeenRow, then: (item: Item) => Mend): Mend => {
  try {
    return then(putStep(catalog, { shape, row, digits: digitsIn(lead.shape, lead.item) }, []).item);
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return none(error.message);
  }
};

const restoring = (judging: Judging, seen: SeenRow, other: OtherCopy, own: WriteItem): Mend =>
  encodedOr(judging.catalog, other, seen, (item) => writes(put(other.key, item, [{ kind: "absent", failure: UNSURE }]), own));

// The second copy keeps what the first one does not hold, and what the model does not know.
const following = (judging: Judging, { seen, theirs }: { readonly seen: SeenRow; readonly theirs: SeenRow }, own: WriteItem): Mend =>
  encodedOr(judging.catalog, defined(seen.other, "the other copy"), seen, (encoded) => {
    const { copied } = seen.shape;
    const item: Record<string, AttributeValue> = { ...theirs.item, ...encoded };
    for (const field in theirs.row) {
      const attribute = attributeOf(theirs.shape, field);
      const other = otherPlace(theirs.shape, field);
      if (other !== undefined) delete item[other];
      const isFollowed = !copied || copied.includes(field) || field in theirs.shape.keys;
      if (attribute !== undefined && isFollowed && !(field in seen.row)) delete item[attribute];
    }
    for (const attribute in theirs.shape.keys) if (!Object.hasOwn(encoded, attribute)) delete item[attribute];
    return writes(put(theirs.key, item, asRead(judging, theirs.item, theirs.shape)), own);
  });

const FIELDS = 5;

/** Judges the copy of an edge that decides, by the other one. */
export const judgeLead = (judging: Judging, seen: SeenRow & { readonly other: NonNullable<SeenRow["other"]> }): void => {
  const { catalog, circumstances } = judging;
  const { key, item, shape, row, other } = seen;
  const found = itemAt(judging, other.key);
  if (found === undefined) return;
  const definition = shape.definition;
  const own = check(judging, key, item, shape);
  if (found === null) {
    const reason = "Its second copy is missing: reads from the other end miss the edge.";
    const finding: Finding = { kind: "oneSided", key, definition, other: other.key, reason };
    return report(judging, finding, restoring(judging, seen, other, own));
  }
  const theirs = seeItem(catalog, found);
  // What is wrong with an item that is no edge is found there.
  if (theirs.kind !== "row" || !theirs.other) return;
  const copyOf = (one: SeenRow, leads: boolean) => {
    const entry = defined(catalog.edges[definition], definition);
    return { entry, shape: one.shape, item: one.item, row: one.row, leads, id: keyId(key), key: one.key, otherKey: other.key };
  };
  const joined = joinCopies(copyOf(seen, true), copyOf(theirs, false));
  const derived = derivedNames(seen.subject.entry.definition);
  const mine = withoutEnds(row);
  const reverse = (joined.row["reverse"] as Row | undefined) ?? {};
  // Rows have numbers as doubles: what is the same there may be stored with other digits.
  const isRounded = (field: string): boolean =>
    field !== VERSION && field in theirs.row && exactText(exactIn(seen, field)) !== exactText(exactIn(theirs, field));
  const differences = Object.keys({ ...reverse, ...mine }).filter(
    (field) => !derived.includes(field) && (field in reverse || isRounded(field)),
  );
  const counts = circumstances.differing !== "keep" ? differences.length > 0 || joined.uneven : joined.uneven;
  if (!counts) return;
  const lacking = Object.keys(mine).filter((field) => !(field in theirs.row));
  const fields = [...differences, ...lacking].slice(0, FIELDS);
  const shownIn = (from: SeenRow, field: string): unknown => {
    const stored = field in reverse ? undefined : digitsIn(from.shape, from.item)(field);
    return stored && "N" in stored ? stored.N : from.row[field];
  };
  const pick = (from: SeenRow): unknown => Object.fromEntries(fields.map((field) => [field, shownIn(from, field)]));
  const reason = `The copies differ in ${fields.map((field) => `"${field}"`).join(", ") || "their version"}.`;
  const finding: Finding = {
    kind: "differing",
    key,
    definition,
    attribute: fields[0],
    stored: pick(theirs),
    expected: pick(seen),
    other: other.key,
    reason,
  };
  const mends = circumstances.differing === "mend" || differences.length === 0;
  const advice =
    'If it was written with `reverse`, it differs on purpose: pass differing: "keep". Pass "mend" to make the second copy equal to the first.';
  report(judging, finding, mends ? following(judging, { seen, theirs }, own) : none(advice));
};

/** Judges the copy of an edge that follows: the one that decides must be there. */
export const judgeSecond = (judging: Judging, seen: SeenRow & { readonly other: NonNullable<SeenRow["other"]> }): void => {
  const { catalog } = judging;
  const { key, item, shape, other } = seen;
  const found = itemAt(judging, other.key);
  if (found !== null) return;
  const entry = defined(catalog.edges[shape.definition], shape.definition);
  const finding: Finding = {
    kind: "oneSided",
    key,
    definition: shape.definition,
    other: other.key,
    reason: "Its first copy is missing: reads from the other end miss the edge.",
  };
  if (!entry.definition.symmetric) {
    // The first copy decides: without it there is no edge.
    const steps = [deletion(judging, { key, item, shape }), check(judging, other.key, null)];
    return report(judging, finding, writes(...steps));
  }
  // Neither copy of an edge without a direction comes before the other: the one that is there tells the other.
  report(judging, finding, restoring(judging, seen, other, check(judging, key, item, shape)));
};

/** Whether there is a needed node; undefined while it has to be read. */
export const isThere = (judging: Judging, { node, key, id }: NeededNode): boolean | undefined => {
  if (!key) {
    const found = readNeed(judging, { ...findNeed(judging, node.shape, id), any: true });
    return found === undefined ? undefined : found !== null;
  }
  const found = itemAt(judging, key);
  return found === undefined ? undefined : found !== null && isOfShape(judging.catalog, node.shape, found);
};

const removal = (judging: Judging, seen: SeenRow, { key: missing, node: { name } }: NeededNode): Mend => {
  // No write can require that a Query finds nothing.
  if (!missing) return none(`Create the "${name}", or remove this item.`);
  const { catalog, images } = judging;
  const { key, item, shape, row } = seen;
  const absent = check(judging, missing, judging.images[keyId(missing)]);
  if (seen.subject.kind === "part") return orphan(deletion(judging, { key, item, shape }), absent);
  const { counters, counts } = derivedOf(catalog, seen);
  for (const counter of counters) itemAt(judging, counter.key);
  // A guard that is not there counts nothing, and is not made for this: the next link counts the edges.
  const lost = new Set(counts.filter((count) => itemAt(judging, count.key) === null).map((count) => keyId(count.key)));
  const known = Object.fromEntries(Object.entries(images).filter(([id]) => !lost.has(id)));
  const plan = planWrites(catalog, [removalOf(shape, row)], known);
  if (plan.kind === "needs") for (const need of plan.reads) readNeed(judging, need);
  if (plan.kind !== "ready") return none("Unlink the edge.");
  const steps = plan.items.map(({ item: step }) => {
    if (lost.has(keyId(step.key))) return check(judging, step.key, null);
    return { ...step, terms: sameKey(step.key, key) ? asRead(judging, item, shape) : settled(step.terms) };
  });
  return orphan(...(steps.some((step) => sameKey(step.key, missing)) ? steps : [...steps, absent]));
};

/** The aggregates of a node that is not there to which an edge belongs, now or later, or to which a part adds something. */
const uncountedAt = ({ catalog }: Judging, seen: SeenRow, { node, key, end }: NeededEnd): Pick<Finding, "uncounted"> => {
  const { subject } = seen;
  if (subject.kind === "node") return {};
  const { deltas } = derivedOf(catalog, seen);
  const added = deltas.find((delta) => key && sameKey(delta.key, key))?.added ?? {};
  const uncounted = catalog.facts.aggregates.flatMap(({ node: of, over, freshness, attribute }) => {
    if (of !== node.name || freshness !== "transaction" || over.kind !== subject.kind || over.name !== subject.entry.name) return [];
    const isSide =
      over.kind === "part" ||
      (subject.kind === "edge" && subject.entry.definition.symmetric) ||
      (over.direction === "out") === (end === "from");
    const adds = subject.kind === "edge" || [attribute, sumHidden(attribute)].some((name) => Number(added[name] ?? 0) !== 0);
    return isSide && (adds || Number(added[countHidden(attribute)] ?? 0) !== 0) ? [`${of}.${attribute}`] : [];
  });
  return uncounted.length > 0 ? { uncounted } : {};
};

/** Judges an edge or part by the nodes that it needs. */
export const judgeNodes = (judging: Judging, seen: SeenRow): void => {
  const { subject, key, shape } = seen;
  const told = new Set<string>();
  for (const needed of derivedOf(judging.catalog, seen).nodes) {
    const { node, key: other } = needed;
    const end = needed.end === "to" ? "to" : "from";
    // Of a part at an end that is missing with its node, one finding says it.
    if (isThere(judging, needed) !== false || told.has(end)) continue;
    told.add(end);
    const base = { key, definition: shape.definition, other, ...uncountedAt(judging, seen, { ...needed, end }) };
    if (subject.kind === "edge") {
      const { onDelete, symmetric } = subject.entry.definition;
      const leaves = (onDelete?.[end] ?? "leave") === "leave" && !(symmetric && (onDelete?.from ?? onDelete?.to ?? "leave") !== "leave");
      const kind: FindingKind = leaves ? "leftEdge" : "dangling";
      const reason = `There is no "${node.name}" at its end "${end}".`;
      report(judging, { ...base, kind, attribute: end, reason }, removal(judging, seen, needed));
    } else if (subject.kind === "part") {
      report(
        judging,
        { ...base, kind: "orphanedPart", reason: `There is no "${node.name}" that it is part of.` },
        removal(judging, seen, needed),
      );
    }
  }
};
