import { mapValues, type Row } from "../util/row.ts";

/** A node, and what is kept of it, as an item says it whose key holds only a hash. */
export interface StoredPlace {
  readonly node: string;
  /** What is ranged over: `in.enrolledIn`, `parts.line`. */
  readonly over: string;
  readonly id: Row;
}

// JSON has neither times nor numbers beyond a double.
const storedValue = (value: unknown): unknown => {
  if (value instanceof Date) return { D: value.getTime() };
  return typeof value === "bigint" ? { N: String(value) } : value;
};

const readValue = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  return "D" in value ? new Date(value.D as number) : BigInt((value as { readonly N: string }).N);
};

/** A place as text. */
export const placeText = ({ node, over, id }: StoredPlace): string => JSON.stringify({ node, over, id: mapValues(id, storedValue) });

/** The place that {@link placeText} wrote. */
export const readPlace = (text: string): StoredPlace => {
  const place = JSON.parse(text) as StoredPlace;
  return { ...place, id: mapValues(place.id, readValue) };
};
