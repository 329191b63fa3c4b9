import { createHash } from "node:crypto";
import { exactText, parseTemplate, readTemplate, renderTemplate, type Template } from "../keys/template.ts";
import { defined } from "../util/invariant.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import type { Row } from "../util/row.ts";
import type { Layout } from "./layout.ts";

type SystemKeyItem = Record<string, { readonly S: string } | { readonly N: string }>;

/** Where one of Edgetable's own items stands in the table. */
export interface SystemKey {
  readonly partition: string;
  readonly sort: string;
}

// Always escaped, whatever the layout: a value that holds the delimiter must not meet another key.
const template = (source: string): Template => parseTemplate(source, { delimiter: "#", escapes: true });
const render = (parsed: Template, row: Row): string => defined(renderTemplate(parsed, row), `a value of ${parsed.source}`);

const markerTemplates: Readonly<Record<string, Template>> = Object.fromEntries(
  // The type is a part of the key: 5 and "p5005", the text of its key, are two values. No text holds the delimiter, which is escaped.
  ["text", "number", "boolean", "date"].map((format) => [
    format,
    template(`~unique#{node}#{attribute}#${format === "text" ? "" : `${format}#`}{value:${format}}`),
  ]),
);
const degreeTemplate = template("~degree#{edge}#{direction}");
const numberTemplate = template("{value:number}");
const jobTemplate = template("{id}");

const OWN = "#";

/** Type values of system items, where the table has a type attribute. */
export const UNIQUE_TYPE = "~unique";
export const DEGREE_TYPE = "~degree";
/** The attribute of a unique marker that says whose it is. */
export const OWNER = "~owner";
/** The attribute of a degree guard that counts edges. */
export const COUNT = "~count";

/** The attribute of a job's item that says who holds its lease. */
export const HOLDER = "~holder";

const formatOf = (value: unknown): string => {
  if (typeof value === "number" || typeof value === "bigint") return "number";
  if (typeof value === "boolean") return "boolean";
  return value instanceof Date ? "date" : "text";
};

/** The item that reserves one value of a unique attribute. */
export const uniqueMarker = (node: string, attribute: string, value: unknown): SystemKey => ({
  partition: render(defined(markerTemplates[formatOf(value)], "a format"), { node, attribute, value }),
  sort: OWN,
});

// The row may hold a bigint where the same row, as it is read, holds a number: both own one marker.
const ownerValue = (_: string, value: unknown): unknown => {
  if (typeof value !== "bigint" && !(Number.isInteger(value) && !Number.isSafeInteger(value))) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : render(numberTemplate, { value });
};

const mixesTypes = ({ idFields, shape }: NodeEntry): boolean =>
  Object.values(shape.keys).some(({ parts }) =>
    parts.some((part) => part.kind === "field" && part.format.kind === "either" && idFields.includes(part.path)),
  );

/** Who owns a unique marker: the node's id fields in the key's order, as JSON. */
export const ownerText = (entry: NodeEntry, row: Row): string => {
  const id = entry.idFields.map((field) => row[field]);
  // A Date and the text of that date may be two ids of one type; markers of other types keep the form that they always had.
  return mixesTypes(entry) ? exactText(id) : JSON.stringify(id, ownerValue);
};

/** The counter that guards how many edges of a type leave (`out`) or reach (`in`) the node of a partition. */
export const degreeGuard = (partition: string, edge: string, direction: "out" | "in"): SystemKey => ({
  partition,
  sort: render(degreeTemplate, { edge, direction }),
});

/** The partition of all jobs: few and short-lived, so that one Query lists them. */
export const JOBS = "~job";
/** The attribute of a node item that says which job deletes it. */
export const DELETING = "~deleting";

/** The attribute that counts an item's writes. */
export const VERSION = "version";

/** Attributes of a job's item. */
export const KIND = "~kind";
export const UNTIL = "~until";
export const RUNS = "~runs";

/** The state of a resumable job. */
export const jobState = (id: string): SystemKey => ({ partition: JOBS, sort: render(jobTemplate, { id }) });

/** The id of the job whose state has this sort key. */
export const jobIdOf = (sort: string): string => (readTemplate(jobTemplate, sort)?.["id"] as string | undefined) ?? sort;

/** The attribute of a job that holds its facts. */
export const JOB_FACTS = "~facts";
/** The attribute of the cursors' secret that holds it. */
export const SECRET = "~secret";

/** The attribute of a stored cursor that holds a part of the sealed state. */
export const STATE = "~state";
/** The attribute of a stored cursor that says when it expires, in seconds since 1970, where the model has no `ttl`. */
export const EXPIRES = "~expires";

/** Every attribute that Edgetable's own items have beside their keys and type: no attribute of a model may be stored under one. */
export const SYSTEM_ATTRIBUTES: readonly string[] = [OWNER, COUNT, HOLDER, DELETING, KIND, UNTIL, RUNS, JOB_FACTS, SECRET, STATE, EXPIRES];

/** Where the secret lies that seals cursors. */
export const cursorSecret: SystemKey = { partition: "~secret#cursor", sort: OWN };

const CURSORS = "~cursor#";

/** One item of a stored cursor. Each has a partition of its own, so that writing many does not throttle one partition. */
export const storedCursor = (id: string, piece: number): SystemKey => ({ partition: `${CURSORS}${id}#${piece}`, sort: OWN });

/** Whether the table has a sort key that holds text: else system items are told apart by their partition keys alone. */
export const hasTextSort = ({ sortKey, types }: Layout): boolean => sortKey !== undefined && types?.[sortKey] !== "N";

const inOneText = ({ partition, sort }: SystemKey): string => {
  if (sort === OWN) return partition;
  // A degree guard stands in its node's partition: there what says that it is one comes first.
  return partition.startsWith("~") ? `${partition}#${sort}` : `${sort}#${partition}`;
};

// A number of 38 digits with as many zeros behind it as no id has: ids are doubles, of 17 digits, or whole numbers of 38 at most.
const ZEROS = "0".repeat(87);
const isSystemNumber = (value: string): boolean => value.length === 38 + ZEROS.length && value.endsWith(ZEROS);
const numberFor = (text: string): string =>
  `9${String(BigInt(`0x${createHash("sha256").update(text).digest("hex")}`) % 10n ** 37n).padStart(37, "0")}${ZEROS}`;

/** A system key as the table's own key attributes. */
export const systemKeyItem = ({ index, layout }: Catalog, key: SystemKey): SystemKeyItem => {
  const { partitionKey, sortKey } = index;
  const numeric = layout.types?.[partitionKey] === "N";
  if (sortKey !== undefined && hasTextSort(layout) && !numeric) return { [partitionKey]: { S: key.partition }, [sortKey]: { S: key.sort } };
  const text = inOneText(key);
  const item: SystemKeyItem = { [partitionKey]: numeric ? { N: numberFor(text) } : { S: text } };
  if (sortKey !== undefined) item[sortKey] = hasTextSort(layout) ? { S: OWN } : { N: "0" };
  return item;
};

/** The type attribute of a system item, where the table has one. */
export const systemType = (catalog: Catalog, type: string): Record<string, { readonly S: string }> =>
  catalog.typeAttribute === undefined ? {} : { [catalog.typeAttribute]: { S: type } };

const textAt = (item: Attributes, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return typeof value === "object" && value !== null && "S" in value ? String(value.S) : "";
};

type Attributes = Readonly<Record<string, object | undefined>>;

/** Whether an item is one of Edgetable's own: by the form of its key, and by an attribute that no other item has. */
export const isSystemItem = ({ index, layout }: Catalog, item: Attributes): boolean => {
  const held = item[index.partitionKey];
  if (held !== undefined && "N" in held)
    return isSystemNumber(String(held.N)) && [COUNT, OWNER, JOB_FACTS, SECRET, STATE].some((attribute) => attribute in item);
  const partition = textAt(item, index.partitionKey);
  if (COUNT in item) return (hasTextSort(layout) ? textAt(item, index.sortKey) : partition).startsWith("~degree#");
  if (!partition.startsWith("~")) return false;
  if (OWNER in item) return partition.startsWith("~unique#");
  return (
    ((partition === JOBS || partition.startsWith(`${JOBS}#`)) && JOB_FACTS in item) ||
    (partition === cursorSecret.partition && SECRET in item) ||
    (partition.startsWith(CURSORS) && STATE in item)
  );
};
