import { type Catalog, idPaths, type PartEntry, type Shape } from "./catalog.ts";
import { hexHashOf } from "../util/hash-text.ts";
import { mapValues, type Row } from "../util/row.ts";

/** A node or edge, and what is kept of it, as an item says it whose key holds only a hash. */
export interface StoredPlace {
  /** The name of the node type or edge type. */
  readonly node: string;
  /** What is ranged over: `in.enrolledIn`, `parts.line`, `along.ordered`. */
  readonly over: string;
  /** Of an edge: its ends and its own key. */
  readonly id: Row;
}

// JSON has neither times nor numbers beyond a double. Whatever is an object is one of these three.
const storedValue = (value: unknown): unknown => {
  if (value instanceof Date) return { D: value.getTime() };
  if (typeof value === "object" && value !== null) return { R: mapValues(value as Row, storedValue) };
  return typeof value === "bigint" ? { N: String(value) } : value;
};

const readValue = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if ("R" in value) return mapValues(value.R as Row, readValue);
  return "D" in value ? new Date(value.D as number) : BigInt((value as { readonly N: string }).N);
};

/** A place as text. */
export const placeText = ({ node, over, id }: StoredPlace): string => JSON.stringify({ node, over, id: mapValues(id, storedValue) });

/** The place that {@link placeText} wrote; undefined for any other text. */
export const readPlace = (text: string): StoredPlace | undefined => {
  try {
    const place = JSON.parse(text) as StoredPlace;
    return { ...place, id: mapValues(place.id, readValue) };
  } catch {
    return undefined;
  }
};

/** What of a row identifies it among its kind. */
export const idIn = (catalog: Catalog, shape: Shape, row: Row): Row => {
  const paths = idPaths(catalog, shape);
  return Object.fromEntries(Object.entries(row).filter(([field]) => paths.some((path) => path.split(".")[0] === field)));
};

// A job's id is part of a sort key: "1 to 1024 bytes" (ServiceQuotas); an escaped character may take three.
const LONGEST_JOB_ID = 200;

/** The id of a job that a text names: the text, cut and told apart by its hash where it is too long. */
export const jobIdFrom = (text: string): string => {
  if (text.length <= LONGEST_JOB_ID) return text;
  const hash = hexHashOf(text);
  return `${text.slice(0, LONGEST_JOB_ID - hash.length - 1)} ${hash}`;
};

/**
 * True if the parts of a kind lie in partitions that their node's id does not tell, so that only an index finds them: it may not
 * show one that was created a moment before.
 */
export const liesApart = ({ index, nodes }: Catalog, { definition, shape }: Pick<PartEntry, "definition" | "shape">): boolean =>
  shape.keys[index.partitionKey]?.fields.some((field) => !nodes[definition.of]?.idFields.includes(field)) === true;
