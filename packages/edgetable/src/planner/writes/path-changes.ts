import { EdgetableError } from "../../errors/edgetable-error.ts";
import { pathText } from "../../schema/attribute-path.ts";
import type { PathChange } from "../../schema/check-operands.ts";
import type { AttributePathChange, Term } from "../../ir/write-plan.ts";
import { sameValue } from "../../keys/template.ts";
import { decodeValue, encodeValue, keepDigits } from "../../requests/attribute-value.ts";
import { attributeOf } from "../../requests/encode-item.ts";
import type { AttributeValue } from "../../transport/operations.ts";
import { addDecimals } from "../../util/decimal.ts";
import { isNumber, mapValues, own, setOwn } from "../../util/row.ts";
import { added, haveOneType, type PathRules, rejectOperand } from "./changed-row.ts";
import { STALE } from "./working-set.ts";

type Step = string | number;
type Held = Record<string, unknown> | unknown[];

const noParent = ({ path, steps, verb }: PathChange, depth: number, found: unknown): EdgetableError => {
  const parent = pathText(steps.slice(0, depth));
  const needed = typeof steps[depth] === "number" ? "a list" : "an object";
  // Messages show no stored values.
  const state = found === undefined ? `the item has no "${parent}"` : `"${parent}" is not ${needed}`;
  return new EdgetableError(
    "execute.rejected",
    `"${path}" cannot be changed (${verb}): ${state}. DynamoDB does not create the parents of a path: set the whole "${parent}", to ${needed}.`,
    { details: { path, parent, verb } },
  );
};

/** A stored number, or a set of them, with all its digits. */
class Digits {
  readonly stored: AttributeValue;

  constructor(stored: AttributeValue) {
    this.stored = stored;
  }
}

const LEAVES = [Set, Uint8Array, Digits] as const;
const isLeaf = (value: unknown): boolean => typeof value !== "object" || value === null || LEAVES.some((type) => value instanceof type);

const memberOf = (held: Held, step: Step): unknown =>
  Array.isArray(held) ? held[step as number] : Object.hasOwn(held, step) ? held[step as string] : undefined;

const changedValue = ({ verb, path, value }: PathChange, before: unknown): unknown => {
  switch (verb) {
    case "set":
      return value;
    case "remove":
      return undefined;
    case "append":
      if (before !== undefined && !Array.isArray(before)) return rejectOperand(path);
      return [...((before as readonly unknown[] | undefined) ?? []), ...(value as readonly unknown[])];
    case "add":
      return added(path, before, value);
    case "delete": {
      if (before !== undefined && !haveOneType(before, value)) return rejectOperand(path);
      const taken = [...(value as ReadonlySet<unknown>)];
      const isSame = (one: unknown, member: unknown): boolean =>
        one instanceof Uint8Array ? member instanceof Uint8Array && Buffer.compare(one, member) === 0 : sameValue(one, member);
      const members = [...((before as ReadonlySet<unknown> | undefined) ?? [])];
      const left = members.filter((member) => !taken.some((one) => isSame(one, member)));
      return left.length > 0 ? new Set(left) : undefined;
    }
  }
};

/** What a change makes of a stored value. */
const changedExactly = (change: PathChange, before: unknown): unknown => {
  if (!(before instanceof Digits)) return changedValue(change, before);
  const { stored } = before;
  if (change.verb === "add" && "N" in stored && isNumber(change.value))
    return new Digits({ N: addDecimals(stored.N, String(change.value)) });
  const value = changedValue(change, decodeValue(stored));
  if (!("NS" in stored) || !(value instanceof Set)) return value;
  const made = encodeValue(value, change.path);
  if (!("NS" in made)) return value;
  const keep = (member: AttributeValue): AttributeValue =>
    stored.NS.map((N) => keepDigits(member, { N })).find((kept) => kept !== member) ?? member;
  return new Digits({ NS: made.NS.flatMap((N) => Object.values(keep({ N }))) });
};

const decodeExactly = (value: AttributeValue): unknown => {
  if ("N" in value || "NS" in value) return new Digits(value);
  if ("L" in value) return value.L.map(decodeExactly);
  return "M" in value ? mapValues(value.M, decodeExactly) : decodeValue(value);
};

const encodeExactly = (value: unknown, path: string): AttributeValue => {
  if (value instanceof Digits) return value.stored;
  if (Array.isArray(value)) return { L: value.map((one) => encodeExactly(one, path)) };
  if (isLeaf(value)) return encodeValue(value, path);
  const members = Object.entries(value as Readonly<Record<string, unknown>>).filter(([, member]) => member !== undefined);
  return { M: Object.fromEntries(members.map(([name, member]) => [name, encodeExactly(member, path)])) };
};

type Change = (change: PathChange, before: unknown) => unknown;

const applyOne = (row: Record<string, unknown>, change: PathChange, changed: Change, lists: Set<unknown[]>): void => {
  const { steps } = change;
  let held: Held = row;
  for (const [at, step] of steps.slice(0, -1).entries()) {
    const next = memberOf(held, step);
    const isParent = !isLeaf(next) && Array.isArray(next) === (typeof steps[at + 1] === "number");
    if (!isParent) throw noParent(change, at + 1, next);
    held = next as Held;
  }
  const last = steps.at(-1)!;
  const value = changed(change, memberOf(held, last));
  if (Array.isArray(held)) {
    lists.add(held);
    held[last as number] = value;
  } else if (value === undefined) delete held[last as string];
  else setOwn(held, last as string, value);
};

const applyAll = (row: Record<string, unknown>, changes: readonly PathChange[], changed: Change): Record<string, unknown> => {
  const lists = new Set<unknown[]>();
  for (const change of changes) applyOne(row, change, changed, lists);
  // A list closes up behind what is removed; what is set behind its end comes next.
  for (const list of lists) list.splice(0, list.length, ...list.filter((one) => one !== undefined));
  return row;
};

/**
 * Removals of a list's elements from its end. To DynamoDB every position is one before the update; dynoxide removes one element
 * after the other, from a list that has closed up.
 */
const fromTheEnd = (changes: readonly PathChange[]): readonly PathChange[] =>
  changes.toSorted((a, b) => {
    if (a.verb !== "remove" || b.verb !== "remove") return Number(a.verb === "remove") - Number(b.verb === "remove");
    const at = a.steps.findIndex((step, depth) => step !== b.steps[depth]);
    const [one, other] = [a.steps[at], b.steps[at]];
    return typeof one === "number" && typeof other === "number" ? other - one : String(one) < String(other) ? -1 : 1;
  });

/** How changes within attributes are planned; loaded by the first of them. */
export const pathRules: PathRules = {
  apply: (before, changes) => {
    const row: Record<string, unknown> = { ...before };
    for (const { steps } of changes) if (own(row, steps[0]) !== undefined) setOwn(row, steps[0], structuredClone(row[steps[0]]));
    return applyAll(row, changes, changedValue);
  },
  keepDigits: (shape, set, { paths, image }) => {
    for (const field of new Set(paths.map(({ steps }) => steps[0]))) {
      const former = shape.former?.[field];
      const attribute = former?.retyping ? undefined : attributeOf(shape, field);
      // Of a renamed attribute, the item may hold either form, and the old one is newer.
      const places = former ? [former.old, former.now] : [attribute ?? field];
      const stored = own(image, places.find((name) => Object.hasOwn(image, name)) ?? "");
      if (attribute === undefined || !stored || !(attribute in set)) continue;
      const mine = paths.filter(({ steps }) => steps[0] === field);
      const value = applyAll({ [field]: decodeExactly(stored) }, mine, changedExactly)[field];
      // A set goes with its last member.
      if (value === undefined) delete set[attribute];
      else set[attribute] = encodeExactly(value, field);
    }
  },
  encode: (changes, attributeOf) =>
    fromTheEnd(changes).flatMap(({ verb, path, steps: [field, ...within], value }): AttributePathChange[] => {
      const attribute = attributeOf(field);
      if (attribute === undefined) return [];
      return [{ verb, attribute, within, ...(value !== undefined && { value: encodeValue(value, path, within.length + 1) }) }];
    }),
  terms: (changes) => {
    const terms: Term[] = [];
    for (const { attribute, within } of changes) {
      if (within.length === 0) continue;
      const type = typeof within.at(-1) === "number" ? "L" : "M";
      terms.push({ kind: "parent", attribute, within: within.slice(0, -1), type, failure: STALE });
    }
    return terms;
  },
};
