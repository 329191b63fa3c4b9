import type { AttributeValue } from "edgetable";
import type { Texts } from "./columns.ts";
import { distinct } from "./sample.ts";

/** What a field of the keys contains; `either` is a number or a bigint. */
export interface KeyField {
  readonly type: "text" | "number" | "date" | "bigint" | "either";
  /** True if some items lack it. */
  readonly optional: boolean;
}

const LARGE = Number.MAX_SAFE_INTEGER;

// A whole number that a double cannot hold is read as a bigint.
const isLarge = (number: string): boolean => /^-?\d+$/.test(number) && Math.abs(Number(number)) > LARGE;

/** The types of the fields of keys as zod writes them. */
export const zodOfField: Readonly<Record<KeyField["type"], string>> = {
  text: "z.string()",
  number: "z.number()",
  date: "z.date()",
  bigint: "z.bigint()",
  either: "z.union([z.bigint(), z.number()])",
};

/** The fields of keys, those of numbers by what their values are read as. */
export const withDigits = (fields: ReadonlyMap<string, KeyField>, texts: ReadonlyMap<string, Texts>): ReadonlyMap<string, KeyField> =>
  new Map(
    [...fields].map(([name, field]) => {
      const values = (texts.get(name) ?? []).filter((text) => text !== undefined);
      if (field.type !== "number" || !values.some(isLarge)) return [name, field];
      return [name, { ...field, type: values.every(isLarge) ? "bigint" : "either" }];
    }),
  );

const typeOf = (value: AttributeValue): string => {
  if ("S" in value) return "z.string()";
  if ("N" in value) return isLarge(value.N) ? "z.bigint()" : "z.number()";
  if ("BOOL" in value) return "z.boolean()";
  if ("NULL" in value) return "z.null()";
  if ("B" in value) return "z.instanceof(Uint8Array)";
  if ("SS" in value) return "z.set(z.string())";
  if ("NS" in value) return `z.set(${value.NS.every(isLarge) ? "z.bigint()" : value.NS.some(isLarge) ? zodOfField.either : "z.number()"})`;
  if ("BS" in value) return "z.set(z.instanceof(Uint8Array))";
  if ("L" in value) {
    const members = distinct(value.L.map(typeOf));
    return members.length === 1 && !members[0]?.includes("unknown") ? `z.array(${members[0] ?? ""})` : "z.array(z.unknown())";
  }
  return "z.record(z.string(), z.unknown())";
};

/** The type of an attribute by its values in the items of a kind, as zod writes it; undefined stands for an item without it. */
export const typeText = (values: readonly (AttributeValue | undefined)[]): string => {
  const present = values.filter((value) => value !== undefined);
  const types = distinct(present.map(typeOf)).toSorted();
  const some = types.filter((type) => type !== "z.null()");
  const lists = some.filter((type) => type.startsWith("z.array("));
  const plain = lists.length > 1 ? [...some.filter((type) => !type.startsWith("z.array(")), "z.array(z.unknown())"] : some;
  const one = plain.length === 0 ? "z.null()" : plain.length === 1 ? (plain[0] ?? "") : `z.union([${plain.join(", ")}])`;
  const nullable = some.length > 0 && some.length < types.length ? `${one}.nullable()` : one;
  return present.length < values.length ? `${nullable}.optional()` : nullable;
};
