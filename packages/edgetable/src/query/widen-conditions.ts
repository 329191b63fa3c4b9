import type { Condition, Conditions } from "../ir/condition.ts";
import { compareValues } from "../ir/holds.ts";
import type { Catalog } from "../schema/catalog.ts";
import { comparePrimary, type FieldFormat, keyBytes } from "../keys/template.ts";
import { isNumber } from "../util/row.ts";
import { impliedKeys, storedShapes } from "./implied-keys.ts";
import type { SearchKind } from "./search.ts";
import type { WalkState } from "./walk.ts";

/**
 * The bytes of a derived text by which its rows are found in an index: as many a key holds in any case, beside ids and other
 * attributes of up to about 800 bytes. A key has room for 1,024 (ServiceQuotas), and holds of a longer text what fits.
 */
const FOUND_BYTES = 128;

/** Lies behind every text that begins as one does. */
const LAST = "\u{10FFFF}".repeat(4);

/** The beginning of a text by which a key is found. */
const beginning = (text: string): string => {
  let [start, bytes] = ["", 0];
  for (const character of text)
    if ((bytes += keyBytes(character)) <= FOUND_BYTES) start += character;
    else break;
  return start;
};

// A UTF-16 unit takes one to three bytes.
const isLong = (text: string): boolean => text.length > FOUND_BYTES || (text.length * 3 > FOUND_BYTES && keyBytes(text) > FOUND_BYTES);

/** Derived attributes whose texts the sort keys of indexes may hold in part. A partition key holds them whole. */
const cutIn = ({ escapes, facts, indexes, shapes }: Catalog, kinds: readonly SearchKind[]): ReadonlySet<string> => {
  const names = new Set<string>();
  if (!escapes) return names;
  const derived = [
    ...facts.copies.map(({ onto: { kind, name }, attribute }) => ({ kind, name, attribute })),
    ...facts.aggregates.map(({ node, attribute }) => ({ kind: "node", name: node, attribute })),
    ...facts.summaries.map(({ edge, attribute }) => ({ kind: "edge", name: edge, attribute })),
  ];
  for (const { kind, name, attribute } of derived) {
    if (!kinds.some((one) => one.of === kind && one.name === name)) continue;
    const isIn = (keys: readonly string[]): boolean =>
      shapes.some(
        (shape) =>
          shape.kind === kind && shape.definition === name && keys.some((key) => shape.keys[key]?.fields.includes(attribute) ?? false),
      );
    if (isIn(indexes.flatMap(({ sortKeys }) => sortKeys)) && !isIn(indexes.flatMap(({ partitionKeys }) => partitionKeys)))
      names.add(attribute);
  }
  return names;
};

type Comparison = readonly [operator: Condition["operator"], value: unknown];

/** A wider comparison, which a key decides, for one that it does not; undefined if it does. */
const widened = (operator: Condition["operator"], value: unknown): Comparison | undefined => {
  if (operator === "in" || operator === "between") {
    const members = value as readonly unknown[];
    if (!members.every((one) => typeof one === "string")) return undefined;
    if (!members.some((one) => isLong(one) || (operator === "in" && one === ""))) return undefined;
    const sorted = operator === "in" ? members.toSorted(comparePrimary) : members;
    const [low, high] = [sorted.at(0) ?? "", sorted.at(-1) ?? ""];
    return ["between", [isLong(low) ? beginning(low) : low, isLong(high) ? beginning(high) + LAST : high]];
  }
  if (typeof value !== "string") return undefined;
  // No text is less than the empty one, which is no value of a key alone.
  if (operator === "eq" && value === "") return ["lte", ""];
  if (!isLong(value)) return undefined;
  const start = beginning(value);
  if (operator === "eq" || operator === "beginsWith") return ["beginsWith", start];
  if (operator === "gt" || operator === "gte") return ["gte", start];
  return operator === "lt" || operator === "lte" ? ["lte", start + LAST] : undefined;
};

/**
 * Conditions on derived texts that the keys of indexes may hold in part, as conditions that find all of their rows by such a key
 * and compare the attributes of what was read. Others stay as they are.
 *
 * @param kinds what the rows are of
 * @returns the conditions, and the values with more behind them
 */
export const widenConditions = (catalog: Catalog, kinds: readonly SearchKind[], { conditions, values }: Conditions): Conditions => {
  let names: ReadonlySet<string> | undefined;
  const more: unknown[] = [];
  const wider = conditions.flatMap((condition): readonly Condition[] => {
    // Few calls compare with a long text: the others ask nothing of the model.
    const found = widened(condition.operator, values[condition.slot]);
    if (!found || !(names ??= cutIn(catalog, kinds)).has(condition.path)) return [condition];
    const slot = values.length + more.length;
    more.push(found[1], "or");
    // Within `or`, no condition becomes one of a key.
    return [
      { path: condition.path, operator: found[0], slot },
      { path: "", operator: "or", slot: slot + 1, of: [[condition]] },
    ];
  });
  return more.length > 0 ? { conditions: wider, values: [...values, ...more] } : { conditions, values };
};

/** The formats in which keys sort values like this one as they compare. */
const formatsFor = (value: unknown): readonly FieldFormat["kind"][] => {
  if (typeof value === "string") return ["text", "digits", "letters"];
  if (isNumber(value)) return ["number", "padded"];
  return value instanceof Date ? ["date"] : [];
};

/** True if sort keys of some kinds hold the field, and all that do sort values like this one. */
const isSorted = (catalog: Catalog, kinds: readonly SearchKind[], { path, value }: { readonly path: string; readonly value: unknown }) => {
  const sortKeys = [catalog.index, ...catalog.indexes].flatMap((index) => index.sortKeys);
  const formats = kinds.flatMap((kind) =>
    storedShapes(catalog, kind).flatMap(({ keys, alias = {} }) =>
      sortKeys.flatMap((key) =>
        (keys[key]?.parts ?? []).flatMap((part) =>
          part.kind === "field" && part.path === (alias[path] ?? path) ? [part.format.kind] : [],
        ),
      ),
    ),
  );
  const suiting = formatsFor(value);
  return formats.length > 0 && formats.every((kind) => suiting.includes(kind));
};

/** The least and the greatest value of a list, if its values have an order. */
const endsOf = (members: readonly unknown[]): readonly [unknown, unknown] | undefined => {
  let [low] = members;
  let [high] = members;
  for (const member of members) {
    const [toLow, toHigh] = [compareValues(member, low), compareValues(member, high)];
    if (toLow === undefined || toHigh === undefined || (typeof member === "string" && isLong(member))) return undefined;
    if (toLow < 0) low = member;
    if (toHigh > 0) high = member;
  }
  return [low, high];
};

/**
 * Conditions with a range, from the least value to the greatest, beside each list of values that sort keys may hold: one Query then
 * reads what lies between.
 *
 * @param kinds what the rows are of
 */
export const withRanges = (catalog: Catalog, kinds: readonly SearchKind[], { conditions, values }: Conditions): Conditions => {
  const more: unknown[] = [];
  const ranges = conditions.flatMap(({ path, steps, operator, slot }): readonly Condition[] => {
    const ends = operator === "in" && !steps ? endsOf(values[slot] as readonly unknown[]) : undefined;
    if (!ends || !isSorted(catalog, kinds, { path, value: ends[0] })) return [];
    more.push(ends);
    return [{ path, operator: "between", slot: values.length + more.length - 1 }];
  });
  return ranges.length > 0 ? { conditions: [...conditions, ...ranges], values: [...values, ...more] } : { conditions, values };
};

/** Conditions on edges or parts of a node that find them by their keys, and say which index keys they imply. */
export const conditionsForKeys = (catalog: Catalog, kinds: readonly SearchKind[], given: Conditions): Conditions => {
  const { conditions, values } = withRanges(catalog, kinds, widenConditions(catalog, kinds, given));
  const implies = impliedKeys(catalog, kinds, given);
  const [first, ...others] = conditions;
  return { conditions: first && implies.length > 0 ? [{ ...first, implies }, ...others] : conditions, values };
};

/** The state of a walk, with {@link conditionsForKeys} of its hops. */
export const widenWalk = (catalog: Catalog, state: WalkState): WalkState => {
  let { values } = state;
  const steps = state.steps.map((step) => {
    if (step.kind !== "hop" || step.conditions.length === 0) return step;
    const kinds = step.edges.map((name) => ({ of: "edge", name }) as const);
    const wider = conditionsForKeys(catalog, kinds, { conditions: step.conditions, values });
    ({ values } = wider);
    return { ...step, conditions: wider.conditions };
  });
  return steps.every((step, at) => step === state.steps[at]) ? state : { ...state, steps, values };
};
