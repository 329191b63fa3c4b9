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
