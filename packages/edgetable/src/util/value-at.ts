import { own } from "./own.ts";

/** The value at a dotted path of a row, undefined where a step is missing. */
export const valueAt = (row: Readonly<Record<string, unknown>>, path: string): unknown => {
  if (!path.includes(".")) return own(row, path);
  let value: unknown = row;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = own(value as Readonly<Record<string, unknown>>, step);
  }
  return value;
};
