import { streamedAggregates } from "../executor/facts/project-facts.ts";
import { sameNumbers } from "../executor/facts/refresh-aggregates.ts";
import { keyId } from "../ir/write-plan.ts";
import { decodeValue, sameAttribute } from "../requests/attribute-value.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { shown } from "../util/check-options.ts";
import { isNumber } from "../util/json-text.ts";
import type { Finding } from "./finding.ts";
import { type Judging, readNeed } from "./judging.ts";
import { EXPECTED, KEPT, MEMOS, SUMS } from "./read-streamed.ts";
import type { SeenRow } from "./see-item.ts";

const attributesIn = (image: Item, name: string): Item => {
  const value = image[name];
  return value && "M" in value ? value.M : {};
};

const isSame = (stored: AttributeValue | undefined, expected: AttributeValue | undefined): boolean => {
  const number = expected && decodeValue(expected);
  return isNumber(number) ? sameNumbers(stored, number) : sameAttribute(stored, expected);
};

/** What the stream keeps wrong for a node. */
interface WrongStreamed {
  readonly findings: readonly Finding[];
  /** The attributes of the node's item that are wrong. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Compares what the stream keeps for a node with its edges and parts; undefined while they have to be read. */
export const wrongStreamed = (judging: Judging, { key, item, row, shape, subject }: SeenRow): WrongStreamed | undefined => {
  const facts = subject.kind === "node" ? streamedAggregates(judging.catalog, subject.entry) : [];
  if (subject.kind !== "node" || facts.length === 0) return { findings: [], values: {} };
  const { name, idFields } = subject.entry;
  const node = { type: name, id: Object.fromEntries(idFields.map((field) => [field, row[field]])) };
  const image = readNeed(judging, { kind: "stream", id: `stream ${keyId(key)}`, node });
  if (!image) return undefined;
  const findings: Finding[] = [];
  const values: Record<string, unknown> = {};
  const expected = attributesIn(image, EXPECTED);
  for (const { attribute, over } of facts) {
    const [is, should] = [item[attribute], expected[attribute]];
    if (isSame(is, should)) continue;
    const stored = is && decodeValue(is);
    values[attribute] = should && decodeValue(should);
    const what = stored === undefined ? "is missing" : `is ${shown(stored)}`;
    const rows = `${over.kind === "edge" ? "edges" : "parts"} of "${over.name}"`;
    const make = should ? `make it ${shown(values[attribute])}` : "have no value for it";
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
      ? `"${first}" is ${shown(kept[first] ? decodeValue(kept[first]) : 0)} instead of ${shown(sums[first] ? decodeValue(sums[first]) : 0)}`
      : `${memos} memos differ from their edges and parts`;
    const reason = `The node's attributes are right, but not what the stream processor adds the next change to: ${what}.`;
    findings.push({ kind: "staleFact", key, definition: shape.definition, attribute: first, reason });
  }
  return { findings, values };
};

/** Judges what the stream keeps for a node by the edges and parts that there are. */
export const judgeStreamed = (judging: Judging, seen: SeenRow): void => {
  const { subject, row } = seen;
  const [first, ...rest] = wrongStreamed(judging, seen)?.findings ?? [];
  if (!first || subject.kind !== "node") return;
  const { name, idFields } = subject.entry;
  const node = { type: name, id: Object.fromEntries(idFields.map((field) => [field, row[field]])) };
  judging.problems.push({ findings: [first, ...rest], mend: { kind: "rebuild", node } });
};
