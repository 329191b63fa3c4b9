import { createHash } from "node:crypto";
import {
  exactText,
  inKeysCase,
  isOneWay,
  parseTemplate,
  readExactText,
  readTemplate,
  renderTemplate,
  type Template,
} from "../keys/template.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { Catalog, EndEntry, NodeEntry } from "./catalog.ts";
import { type Attributes, DEAD_LETTERS, hasTextSort, JOBS, textAt } from "./system-items.ts";
import { OWN, type SystemKey } from "./system-key-item.ts";

// Always escaped, whatever the layout: a value with the delimiter must not make another item's key.
const template = (source: string): Template => parseTemplate(source, { delimiter: "#", escapes: true });
const render = (parsed: Template, row: Row): string => defined(renderTemplate(parsed, row), `a value of ${parsed.source}`);

const markerTemplates: Readonly<Record<string, Template>> = Object.fromEntries(
  // The key contains the type: 5 and its key text "p5005" are two values. Escaped texts contain no delimiter.
  ["text", "number", "boolean", "date"].map((format) => [
    format,
    template(`~unique#{node}#{attribute}#${format === "text" ? "" : `${format}#`}{value:${format}}`),
  ]),
);
const degreeTemplate = template("~degree#{edge}#{direction}");
const numberTemplate = template("{value:number}");
const jobTemplate = template("{id}");

/**
 * The item that reserves one value of a unique attribute.
 *
 * @throws {keys.empty} for an empty text
 */
export const uniqueMarker = (node: string, attribute: string, value: unknown): SystemKey => {
  if (value === "") {
    const message = `"${attribute}" of "${node}" is unique, and its value is empty. Give at least one character, or leave the attribute out.`;
    throw new EdgetableError("keys.empty", message, { details: { of: node, field: attribute } });
  }
  const type = typeof value;
  const format = type === "number" || type === "bigint" ? "number" : type === "boolean" ? type : value instanceof Date ? "date" : "text";
  return { partition: render(defined(markerTemplates[format], "a format"), { node, attribute, value }), sort: OWN };
};

// A row may contain a bigint where the same row, when read, contains a number: both own one marker.
const ownerValue = (_: string, value: unknown): unknown => {
  if (typeof value !== "bigint" && !(Number.isInteger(value) && !Number.isSafeInteger(value))) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : render(numberTemplate, { value });
};

const mixesTypes = ({ idFields, shape }: EndEntry): boolean =>
  Object.values(shape.keys).some(({ parts }) =>
    parts.some((part) => part.kind === "field" && part.format.kind === "either" && idFields.includes(part.path)),
  );

/** The owner of a unique marker: the node's id fields in the key's order, as JSON. */
export const ownerText = (entry: EndEntry, row: Row): string => {
  const id = entry.idFields.map((field) => inKeysCase(entry.shape.folded[field], row[field]));
  // In such a key a Date and its text may be two ids. Markers of other types keep their original form.
  return mixesTypes(entry) ? exactText(id) : JSON.stringify(id, ownerValue);
};

// JSON holds a date, and an integer that no double holds, as text.
const idValue = (entry: NodeEntry, field: string, value: unknown): unknown => {
  if (typeof value !== "string") return value;
  for (const { parts } of Object.values(entry.shape.keys))
    for (const part of parts) {
      if (part.kind !== "field" || part.path !== field || isOneWay(part.format)) continue;
      if (part.format.kind === "date") return new Date(value);
      return part.format.kind === "text" ? value : (readTemplate(numberTemplate, value)?.["value"] ?? value);
    }
  return value;
};

/** The id of a marker's owner, from its {@link ownerText}; undefined if the text is not the id of such a node. */
export const ownerId = (entry: NodeEntry, text: string): Row | undefined => {
  // An exact text tells types apart: a text that reads as a number is a text there.
  const isExact = mixesTypes(entry);
  let values: readonly unknown[];
  try {
    values = isExact ? readExactText(text) : (JSON.parse(text) as readonly unknown[]);
  } catch {
    return undefined;
  }
  if (!Array.isArray(values) || values.length !== entry.idFields.length) return undefined;
  return Object.fromEntries(entry.idFields.map((field, at) => [field, isExact ? values[at] : idValue(entry, field, values[at])]));
};

/** The counter that guards how many edges of a type leave (`out`) or reach (`in`) the node of a partition. */
export const degreeGuard = (partition: string, edge: string, direction: "out" | "in"): SystemKey => ({
  partition,
  sort: render(degreeTemplate, { edge, direction }),
});

/** The state of a resumable job. */
export const jobState = (id: string): SystemKey => ({ partition: JOBS, sort: render(jobTemplate, { id }) });

/** The id of the job whose state has this sort key. */
export const jobIdOf = (sort: string): string => (readTemplate(jobTemplate, sort)?.["id"] as string | undefined) ?? sort;

/** A record of the stream that was put aside. */
export const deadLetter = (id: string): SystemKey => ({ partition: DEAD_LETTERS, sort: render(jobTemplate, { id }) });

const factsTemplate = template("~facts#{node}#{key}");
const memoTemplate = template("{over}#{source}");
const memosTemplate = template("{over}#");

// "Partition key: 1 to 2048 bytes" (ServiceQuotas); an escaped character may take six.
const LONGEST_KEY = 300;

/**
 * The item with what the stream keeps for a node or edge. It has a partition of its own, which outlives the node: no read of
 * the node's edges meets it.
 *
 * @param node the name of the node type or edge type
 * @param key the table key of the node or edge as one text
 */
export const factsOfNode = (node: string, key: string): SystemKey => ({
  partition: render(factsTemplate, { node, key: key.length > LONGEST_KEY ? createHash("sha256").update(key).digest("base64url") : key }),
  sort: OWN,
});

const counterTemplate = template("~counter#{node}#{key}#{set}#{shard}");

/**
 * One of the counters over which an aggregate of a node is spread. Each has its own partition, so that they do not share the
 * 1,000 write units a second of one.
 *
 * @param owner the node's id as {@link ownerText} writes it
 * @param set names what is counted, and how many counters there are
 */
export const counterOf = (node: string, owner: string, set: string, shard: number): SystemKey => {
  const key = owner.length > LONGEST_KEY ? createHash("sha256").update(owner).digest("base64url") : owner;
  return { partition: render(counterTemplate, { node, key, set, shard: String(shard) }), sort: OWN };
};

/** What a counter's partition says; undefined for another text. The owner of a long id is a hash. */
export const readCounterKey = (partition: string): { readonly node: string; readonly owner: string; readonly set: string } | undefined => {
  const read = readTemplate(counterTemplate, partition);
  return read && { node: String(read["node"]), owner: String(read["key"]), set: String(read["set"]) };
};

/** What the partitions of all counters of a node begin with. */
export const countersOf = (partition: string): string => partition.split("#").slice(0, 3).join("#");

/** The memo of what one row contributes to a node, in the partition of the node's facts. */
export const memoOf = ({ partition }: SystemKey, over: string, source: string): SystemKey => ({
  partition,
  sort: render(memoTemplate, { over, source }),
});

/** What the sort keys of all memos of a node over one kind of rows begin with. */
export const memosOver = (over: string): string => render(memosTemplate, { over });

/** A degree guard, as its key tells it. */
export interface GuardKey {
  readonly partition: string;
  readonly edge: string;
  readonly direction: "out" | "in";
}

/** What a degree guard counts; undefined in a table whose partition keys are numbers, which hold a hash of it. */
export const readDegreeGuard = ({ index, layout }: Catalog, item: Attributes): GuardKey | undefined => {
  let partition = textAt(item, index.partitionKey);
  let sort = textAt(item, index.sortKey);
  if (!hasTextSort(layout)) {
    const [, edge = "", direction = ""] = partition.split("#");
    sort = ["~degree", edge, direction].join("#");
    partition = partition.slice(sort.length + 1);
  }
  const read = readTemplate(degreeTemplate, sort);
  if (!read || partition === "") return undefined;
  return { partition, edge: String(read["edge"]), direction: read["direction"] === "in" ? "in" : "out" };
};
