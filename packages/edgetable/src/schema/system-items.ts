import { parseTemplate, readTemplate, renderTemplate, type Template } from "../keys/template.ts";
import { defined } from "../util/invariant.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import type { Row } from "../util/row.ts";

/** Where one of Edgetable's own items stands in the table. */
export interface SystemKey {
  readonly partition: string;
  readonly sort: string;
}

// Always escaped, whatever the layout: a value that holds the delimiter must not meet another key.
const template = (source: string): Template => parseTemplate(source, { delimiter: "#", escapes: true });
const render = (parsed: Template, row: Row): string => defined(renderTemplate(parsed, row), `a value of ${parsed.source}`);

const markerTemplates: Readonly<Record<string, Template>> = Object.fromEntries(
  ["text", "number", "boolean", "date"].map((format) => [format, template(`~unique#{node}#{attribute}#{value:${format}}`)]),
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

/** Who owns a unique marker: the node's id fields in the key's order, as JSON. */
export const ownerText = (entry: NodeEntry, row: Row): string =>
  JSON.stringify(
    entry.idFields.map((field) => row[field]),
    ownerValue,
  );

/** The counter that guards how many edges of a type leave (`out`) or reach (`in`) the node of a partition. */
export const degreeGuard = (partition: string, edge: string, direction: "out" | "in"): SystemKey => ({
  partition,
  sort: render(degreeTemplate, { edge, direction }),
});

/** The partition of all jobs: few and short-lived, so that one Query lists them. */
export const JOBS = "~job";
/** The attribute of a node item that says which job deletes it. */
export const DELETING = "~deleting";

/** The state of a resumable job. */
export const jobState = (id: string): SystemKey => ({ partition: JOBS, sort: render(jobTemplate, { id }) });

/** The id of the job whose state has this sort key. */
export const jobIdOf = (sort: string): string => (readTemplate(jobTemplate, sort)?.["id"] as string | undefined) ?? sort;

/** The attribute of a job that holds its facts. */
export const JOB_FACTS = "~facts";
/** The attribute of the cursors' secret that holds it. */
export const SECRET = "~secret";

/** Where the secret lies that seals cursors. */
export const cursorSecret: SystemKey = { partition: "~secret#cursor", sort: OWN };

/** A system key as the table's own key attributes. */
export const systemKeyItem = (catalog: Catalog, key: SystemKey): Record<string, { readonly S: string }> => ({
  [catalog.index.partitionKey]: { S: key.partition },
  [catalog.index.sortKey]: { S: key.sort },
});

/** The type attribute of a system item, where the table has one. */
export const systemType = (catalog: Catalog, type: string): Record<string, { readonly S: string }> =>
  catalog.typeAttribute === undefined ? {} : { [catalog.typeAttribute]: { S: type } };

const textAt = (item: Attributes, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return typeof value === "object" && value !== null && "S" in value ? String(value.S) : "";
};

type Attributes = Readonly<Record<string, object | undefined>>;

/** Whether an item is one of Edgetable's own: by the form of its key, and by an attribute that no other item has. */
export const isSystemItem = ({ index }: Catalog, item: Attributes): boolean => {
  const partition = textAt(item, index.partitionKey);
  if (COUNT in item) return textAt(item, index.sortKey).startsWith("~degree#");
  if (!partition.startsWith("~")) return false;
  if (OWNER in item) return partition.startsWith("~unique#");
  return (partition === JOBS && JOB_FACTS in item) || (partition === cursorSecret.partition && SECRET in item);
};
