import { createHash } from "node:crypto";
import { exactText, parseTemplate, readTemplate, renderTemplate, type Template } from "../keys/template.ts";
import { defined } from "../util/invariant.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import type { Row } from "../util/row.ts";
import type { Layout } from "./layout.ts";

type SystemKeyItem = Record<string, { readonly S: string } | { readonly N: string }>;

/** The key of one of Edgetable's own items. */
export interface SystemKey {
  readonly partition: string;
  readonly sort: string;
}

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

const OWN = "#";

/** Type values of system items, where the table has a type attribute. */
export const UNIQUE_TYPE = "~unique";
export const DEGREE_TYPE = "~degree";
/** The attribute of a unique marker with its owner. */
export const OWNER = "~owner";
/** The attribute of a degree guard that counts edges. */
export const COUNT = "~count";

/** The attribute of a job's item with the holder of its lease. */
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

// A row may contain a bigint where the same row, when read, contains a number: both own one marker.
const ownerValue = (_: string, value: unknown): unknown => {
  if (typeof value !== "bigint" && !(Number.isInteger(value) && !Number.isSafeInteger(value))) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : render(numberTemplate, { value });
};

const mixesTypes = ({ idFields, shape }: NodeEntry): boolean =>
  Object.values(shape.keys).some(({ parts }) =>
    parts.some((part) => part.kind === "field" && part.format.kind === "either" && idFields.includes(part.path)),
  );

/** The owner of a unique marker: the node's id fields in the key's order, as JSON. */
export const ownerText = (entry: NodeEntry, row: Row): string => {
  const id = entry.idFields.map((field) => row[field]);
  // In such a key a Date and its text may be two ids. Markers of other types keep their original form.
  return mixesTypes(entry) ? exactText(id) : JSON.stringify(id, ownerValue);
};

/** The counter that guards how many edges of a type leave (`out`) or reach (`in`) the node of a partition. */
export const degreeGuard = (partition: string, edge: string, direction: "out" | "in"): SystemKey => ({
  partition,
  sort: render(degreeTemplate, { edge, direction }),
});

/** The partition of all jobs. Jobs are few and short-lived, and one Query lists them. */
export const JOBS = "~job";
/** The attribute of a node item with the job that deletes it. */
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

/** The attribute of a job with its facts. */
export const JOB_FACTS = "~facts";
/** The attribute of the cursor secret's item with the secret. */
export const SECRET = "~secret";

/** The attribute of a stored cursor with a piece of the sealed state. */
export const STATE = "~state";
/** The attribute of a stored cursor with its expiry time in seconds since 1970, if the model has no `ttl`. */
export const EXPIRES = "~expires";

/** The attributes of Edgetable's own items beside keys and type. No attribute of a model may be stored under these names. */
export const SYSTEM_ATTRIBUTES: readonly string[] = [OWNER, COUNT, HOLDER, DELETING, KIND, UNTIL, RUNS, JOB_FACTS, SECRET, STATE, EXPIRES];

/** The key of the secret that seals cursors. */
export const cursorSecret: SystemKey = { partition: "~secret#cursor", sort: OWN };

const CURSORS = "~cursor#";

/** The key of one piece of a stored cursor. Each has its own partition, so that many writes do not throttle one partition. */
export const storedCursor = (id: string, piece: number): SystemKey => ({ partition: `${CURSORS}${id}#${piece}`, sort: OWN });

/** True if the table has a sort key of type text. Otherwise partition keys alone identify system items. */
export const hasTextSort = ({ sortKey, types }: Layout): boolean => sortKey !== undefined && types?.[sortKey] !== "N";

const inOneText = ({ partition, sort }: SystemKey): string => {
  if (sort === OWN) return partition;
  // A degree guard is in its node's partition, so its distinguishing text comes first.
  return partition.startsWith("~") ? `${partition}#${sort}` : `${sort}#${partition}`;
};

// 38 digits followed by more zeros than any id has: ids are doubles (17 digits) or integers of at most 38 digits.
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

/** The type attribute of a system item, if the table has one. */
export const systemType = (catalog: Catalog, type: string): Record<string, { readonly S: string }> =>
  catalog.typeAttribute === undefined ? {} : { [catalog.typeAttribute]: { S: type } };

const textAt = (item: Attributes, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return typeof value === "object" && value !== null && "S" in value ? String(value.S) : "";
};

type Attributes = Readonly<Record<string, object | undefined>>;

/** True if an item is one of Edgetable's own, by the form of its key and an attribute that no other item has. */
export const isSystemItem = ({ index, layout }: Catalog, item: Attributes): boolean => {
  const key = item[index.partitionKey];
  if (key !== undefined && "N" in key)
    return isSystemNumber(String(key.N)) && [COUNT, OWNER, JOB_FACTS, SECRET, STATE].some((attribute) => attribute in item);
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
