import { contributionsOf, memoKey, placesOf } from "../executor/facts/contributions.ts";
import { otherKeyOfMemo, placeOfMemo, readMemoPlace, streamedFacts } from "../executor/facts/read-memos.ts";
import { sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { keyId } from "../ir/write-plan.ts";
import type { EndId } from "../ir/logical-write.ts";
import type { EdgeCopy } from "../planner/writes/rules/edge-copies.ts";
import { decimalIn, decodeValue, keyTextOf, sameAttribute } from "../requests/attribute-value.ts";
import { keyIfComplete } from "../requests/encode-item.ts";
import { type Catalog, keyAttributes } from "../schema/catalog.ts";
import { type DerivedFact, STREAMED } from "../schema/facts.ts";
import { placeText } from "../schema/stored-id.ts";
import { MEMO_NODE, MEMO_SOURCE } from "../schema/system-items.ts";
import { factKeyItem } from "../schema/system-key-item.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { shown } from "../util/check-options.ts";
import type { Finding } from "./finding.ts";
import { asRead, deletion, itemAt, type Judging, readNeed, report, writes } from "./judging.ts";
import { EXPECTED, KEPT, MEMOS, REVISED, SUMS, TOO_LONG } from "./read-streamed.ts";
import { contributedHolders } from "./relations.ts";
import type { Seen, SeenRow } from "./see-item.ts";

/** A stored value in a message, a number with all its digits. */
const digits = (value: AttributeValue | undefined): string => (value && !("N" in value) ? shown(decodeValue(value)) : decimalIn(value));

const attributesIn = (image: Item, name: string): Item => {
  const value = image[name];
  return value && "M" in value ? value.M : {};
};

const isSame = (stored: AttributeValue | undefined, expected: AttributeValue | undefined): boolean =>
  expected && "N" in expected ? sameNumbers(stored, expected.N) : sameAttribute(stored, expected);

/**
 * What is wrong in the sums and memos that attributes by the stream follow from, and in their revision.
 *
 * @param shown the revision of the facts that an item shows
 */
const wrongBehind = (
  image: Item,
  shown: AttributeValue | undefined,
): { readonly attribute: string | undefined; readonly what: string } | undefined => {
  const [sums, sumsKept] = [attributesIn(image, SUMS), attributesIn(image, KEPT)];
  const attribute = [...new Set([...Object.keys(sums), ...Object.keys(sumsKept)])].find(
    (one) => !isSame(sumsKept[one] ?? { N: "0" }, sums[one] ?? { N: "0" }),
  );
  if (attribute !== undefined)
    return { attribute, what: `"${attribute}" is ${digits(sumsKept[attribute])} instead of ${digits(sums[attribute])}` };
  const memos = image[MEMOS] && Number(decodeValue(image[MEMOS]));
  if (memos) return { attribute, what: `${memos} memos differ from their edges and parts` };
  const kept = image[REVISED];
  if (kept && !("N" in kept)) return { attribute, what: `the revision of the facts is ${digits(kept)}` };
  if (!shown || ("N" in shown && Number(shown.N) <= Number(decimalIn(kept)))) return undefined;
  return { attribute: STREAMED, what: `the item shows revision ${digits(shown)} of facts that are at ${decimalIn(kept)}` };
};

/** What the stream keeps wrong for a node or edge. */
interface WrongStreamed {
  readonly findings: readonly Finding[];
  /** Sums that no attribute can hold. Only a change of the rows corrects them. */
  readonly tooLong: readonly Finding[];
  /** The attributes of the item that are wrong. */
  readonly values: Readonly<Record<string, unknown>>;
  /** What it was judged by; undefined where the stream keeps nothing. */
  readonly read: Item | undefined;
}

/** The node or edge of an item that the stream keeps attributes of; undefined for other items. */
const holderOf = ({ catalog }: Judging, { row, subject }: SeenRow): (EndId & { readonly facts: readonly DerivedFact[] }) | undefined => {
  const facts = subject.kind === "part" ? [] : streamedFacts(catalog, subject.entry);
  if (subject.kind === "part" || facts.length === 0) return undefined;
  const { name } = subject.entry;
  const fields = subject.kind === "node" ? subject.entry.idFields : ["from", "to", ...subject.entry.key];
  return { type: name, id: Object.fromEntries(fields.map((field) => [field, row[field]])), facts };
};

/** Compares what the stream keeps for a node or edge with the rows that there are; undefined while they have to be read. */
export const wrongStreamed = (judging: Judging, seen: SeenRow): WrongStreamed | undefined => {
  const { key, item, shape } = seen;
  const streamedHolder = holderOf(judging, seen);
  if (!streamedHolder) return { findings: [], tooLong: [], values: {}, read: undefined };
  const { facts, ...holder } = streamedHolder;
  const image = readNeed(judging, { kind: "stream", id: `stream ${keyId(key)}`, holder });
  if (!image) return undefined;
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  const expected = attributesIn(image, EXPECTED);
  for (const { attribute, over } of facts) {
    const [is, should] = [item[attribute], expected[attribute]];
    if (isSame(is, should)) continue;
    const stored = is && decodeValue(is);
    values[attribute] = should && decodeValue(should);
    const what = stored === undefined ? "is missing" : `is ${digits(is)}`;
    const rows = `${over.kind === "edge" ? "edges" : "parts"} of "${over.name}"`;
    const make = should ? `make it ${digits(should)}` : "have no value for it";
    const reason = `"${attribute}" ${what}; the ${rows} ${make}. The stream processor is behind, or missed a change.`;
    findings.push({ kind: "staleFact", key, definition: shape.definition, attribute, stored, expected: values[attribute], reason });
  }
  const behind = wrongBehind(image, item[STREAMED]);
  // What is behind an attribute tells nothing more if the attribute is wrong as well.
  if (findings.length === 0 && behind) {
    const { attribute, what } = behind;
    const reason = `The attributes are right, but the sums to which the stream processor adds the next change are not: ${what}.`;
    findings.push({ kind: "staleFact", key, definition: shape.definition, attribute, reason });
  }
  const long = image[TOO_LONG];
  const tooLong = (long && "L" in long ? long.L : []).map((one): Finding => {
    const attribute = "S" in one ? one.S : "";
    const reason = `"${attribute}" has no value: the sum has more than the 38 digits that DynamoDB keeps, or is out of its range.`;
    return { kind: "staleFact", key, definition: shape.definition, attribute, reason };
  });
  return { findings, tooLong, values, read: image };
};

/** Judges what the stream keeps for a node or edge by the edges and parts that there are. */
export const judgeStreamed = (judging: Judging, seen: SeenRow): void => {
  const wrong = wrongStreamed(judging, seen);
  for (const one of wrong?.tooLong ?? [])
    judging.problems.push({ findings: [one], mend: { kind: "none", advice: "Correct the attributes that are added up." } });
  const [first, ...rest] = wrong?.findings ?? [];
  const streamedHolder = holderOf(judging, seen);
  if (!first || !streamedHolder) return;
  const { type, id } = streamedHolder;
  judging.problems.push({ findings: [first, ...rest], mend: { kind: "rebuild", holder: { type, id }, read: wrong?.read } });
};

const isKey = ({ index }: Catalog, item: Item): boolean => {
  const names = keyAttributes(index);
  return Object.keys(item).length === names.length && names.every((name) => keyTextOf(item[name]));
};

/**
 * Judges a memo that does not say of which row or node it is. The row at its key tells, if there is one; else nothing takes it
 * off any more, and the facts that it was added to differ from the rows.
 */
const judgeUnreadableMemo = (judging: Judging, { key, item }: Pick<Seen, "key" | "item">): void => {
  const { catalog } = judging;
  const source = item[MEMO_SOURCE];
  const row = source && "M" in source && isKey(catalog, source.M) ? itemAt(judging, source.M) : null;
  if (row === undefined) return;
  const place = contributionsOf(catalog, row).find((one) => keyId(memoKey(catalog, one)) === keyId(key));
  const attribute = source && "M" in source ? MEMO_NODE : MEMO_SOURCE;
  const stored = item[attribute] && decodeValue(item[attribute]);
  const reason = "A memo does not name its edge or part, or its node.";
  const finding: Finding = { kind: "unreadable", key, definition: place?.holder.entry.name, attribute, stored, reason };
  if (!place || !row) return report(judging, finding, writes(deletion(judging, { key, item })));
  const { entry, id } = place.holder;
  const set = { [MEMO_NODE]: { S: placeText({ node: entry.name, over: place.over, id }) } };
  const step = { kind: "update", key, terms: asRead(judging, item, undefined), shape: undefined } as const;
  report(judging, finding, writes({ ...step, changes: { set, remove: [], add: {}, append: {} } }));
};

/** Judges a memo by its own key: nothing that counts later finds it under another one. */
export const judgeMemo = (judging: Judging, { key, item }: Pick<Seen, "key" | "item">): void => {
  const { catalog } = judging;
  if (!readMemoPlace(item)) return judgeUnreadableMemo(judging, { key, item });
  const other = otherKeyOfMemo(catalog, item);
  const place = other && placeOfMemo(catalog, item);
  if (!place) return;
  const { entry, id } = place.holder;
  const reason = `A memo has the wrong key: what it counts of an edge or part of the "${entry.name}" is never subtracted.`;
  const mend = { kind: "rebuild", holder: { type: entry.name, id }, before: deletion(judging, { key, item }) } as const;
  report(judging, { kind: "staleFact", key, definition: entry.name, other, reason }, mend);
};

/** Judges what the stream keeps for nodes and edges that are not there, by the rows that there are. */
export const judgeUnshown = (judging: Judging, seen: Seen): void => {
  const { catalog, circumstances } = judging;
  const flagged = circumstances.unshown.get(keyId(seen.key));
  for (const holder of flagged ? contributedHolders(catalog, seen) : []) {
    const facts = factKeyItem(catalog, holder.facts);
    if (!flagged?.has(keyId(facts))) continue;
    const { name } = holder.entry;
    const [{ shape, row }] = placesOf(holder) as [EdgeCopy];
    const key = keyIfComplete(catalog, shape, row);
    // What is there by now is judged by its own item.
    if (!key || itemAt(judging, key) !== null) continue;
    const end = { type: name, id: holder.id };
    const image = readNeed(judging, { kind: "stream", id: `stream ${keyId(facts)}`, holder: end });
    const behind = image && wrongBehind(image, undefined);
    if (!behind) continue;
    const reason = `This "${name}" does not exist, and what the stream processor stores for it is wrong: ${behind.what}.`;
    const finding = { kind: "staleFact", key: facts, definition: name, attribute: behind.attribute, other: key, reason } as const;
    report(judging, finding, { kind: "rebuild", holder: end, read: image });
  }
};
