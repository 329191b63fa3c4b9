import { streamedFacts } from "../executor/facts/project-facts.ts";
import { sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { keyId } from "../ir/write-plan.ts";
import type { EndId } from "../ir/logical-write.ts";
import { decimalIn, decodeValue, sameAttribute } from "../requests/attribute-value.ts";
import type { DerivedFact } from "../schema/facts.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { shown } from "../util/check-options.ts";
import type { Finding } from "./finding.ts";
import { type Judging, readNeed } from "./judging.ts";
import { EXPECTED, KEPT, MEMOS, SUMS, TOO_LONG } from "./read-streamed.ts";
import type { SeenRow } from "./see-item.ts";

/** A stored value in a message, a number with all its digits. */
const digits = (value: AttributeValue | undefined): string => (value && !("N" in value) ? shown(decodeValue(value)) : decimalIn(value));

const attributesIn = (image: Item, name: string): Item => {
  const value = image[name];
  return value && "M" in value ? value.M : {};
};

const isSame = (stored: AttributeValue | undefined, expected: AttributeValue | undefined): boolean =>
  expected && "N" in expected ? sameNumbers(stored, expected.N) : sameAttribute(stored, expected);

/** What the stream keeps wrong for a node or edge. */
interface WrongStreamed {
  readonly findings: readonly Finding[];
  /** Sums that no attribute can hold. Only a change of the rows corrects them. */
  readonly tooLong: readonly Finding[];
  /** The attributes of the item that are wrong. */
  readonly values: Readonly<Record<string, unknown>>;
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
  if (!streamedHolder) return { findings: [], tooLong: [], values: {} };
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
  const [sums, kept] = [attributesIn(image, SUMS), attributesIn(image, KEPT)];
  const wrong = [...new Set([...Object.keys(sums), ...Object.keys(kept)])].filter(
    (one) => !isSame(kept[one] ?? { N: "0" }, sums[one] ?? { N: "0" }),
  );
  const memos = image[MEMOS] && Number(decodeValue(image[MEMOS]));
  // What is behind an attribute tells nothing more if the attribute is wrong as well.
  if (findings.length === 0 && (wrong.length > 0 || memos)) {
    const [first] = wrong;
    const what = first
      ? `"${first}" is ${digits(kept[first])} instead of ${digits(sums[first])}`
      : `${memos} memos differ from their edges and parts`;
    const reason = `The attributes are right, but not what the stream processor adds the next change to: ${what}.`;
    findings.push({ kind: "staleFact", key, definition: shape.definition, attribute: first, reason });
  }
  const long = image[TOO_LONG];
  const tooLong = (long && "L" in long ? long.L : []).map((one): Finding => {
    const attribute = "S" in one ? one.S : "";
    const reason = `"${attribute}" has no value: the sum has more than the 38 digits that DynamoDB keeps, or is out of its range.`;
    return { kind: "staleFact", key, definition: shape.definition, attribute, reason };
  });
  return { findings, tooLong, values };
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
  judging.problems.push({ findings: [first, ...rest], mend: { kind: "rebuild", holder: { type, id } } });
};
