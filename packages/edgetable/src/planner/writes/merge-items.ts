import { EdgetableError } from "../../errors/edgetable-error.ts";
import { keyId, sameKey, type PlannedItem, type Term, type UpdateStep, type WriteItem } from "../../ir/write-plan.ts";
import { exactText } from "../../keys/template.ts";
import { COUNT } from "../../schema/system-items.ts";
import { STALE } from "./planning.ts";

const textOf = (term: Term): string => exactText(term.kind === "where" ? { ...term, shape: term.shape.id } : term);
const sameTerm = (a: Term, b: Term): boolean => a === b || textOf(a) === textOf(b);

const countOf = (item: UpdateStep): number | undefined => {
  const count = item.changes.add[COUNT];
  return item.shape === undefined && count && "N" in count ? Number(count.N) : undefined;
};

const leastOf = (terms: readonly Term[]): number => terms.reduce((sum, term) => sum + (term.kind === "atLeast" ? term.least : 0), 0);

// A guard that counts fewer edges than are taken away was not kept by every writer: it goes, and the next link counts anew.
const believed = (item: WriteItem): WriteItem => {
  if (item.kind !== "update" || item.counted === undefined || leastOf(item.terms) <= item.counted) return item;
  const unchanged: Term = { kind: "equals", attribute: COUNT, value: { N: String(item.counted) }, failure: STALE };
  return { kind: "delete", key: item.key, terms: [unchanged, ...item.terms.filter(({ kind }) => kind === "below")], shape: undefined };
};

// Several edges at one node in one transaction: the guard counts them together, and all must fit.
const sumGuards = (a: UpdateStep, b: UpdateStep): WriteItem | undefined => {
  const [first, second] = [countOf(a), countOf(b)];
  if (first === undefined || second === undefined) return undefined;
  const begins = a.begins ?? 0;
  const sum = first + second - begins;
  const terms = [...a.terms, ...b.terms];
  const least = leastOf(terms);
  const all = terms.filter(
    ({ kind }, at) => kind !== "below" && kind !== "atLeast" && terms.findIndex((other) => sameTerm(other, terms[at]!)) === at,
  );
  if (least > 0) all.push({ kind: "atLeast", attribute: COUNT, least, failure: STALE });
  const below = terms.find((one) => one.kind === "below" && one.failure.reason === "degreeExceeded");
  if (below?.kind === "below" && below.failure.reason === "degreeExceeded" && sum > begins)
    all.push({ ...below, limit: below.failure.limit - sum + 1 });
  return { ...a, terms: all, changes: { ...a.changes, add: { [COUNT]: { N: String(a.begins === undefined ? sum : Math.max(sum, 0)) } } } };
};

// What a check asks of an item that the same transaction writes becomes the write's own condition; an
// item that is there afterwards satisfies a check that it is there.
const withCheck = (written: WriteItem, check: WriteItem): WriteItem | undefined => {
  if (written.kind === "delete") return undefined;
  const leavesItem = written.kind === "put" || written.kind === "update";
  const terms = check.terms.filter((term) => !(leavesItem && term.kind === "present") && !written.terms.some((own) => sameTerm(own, term)));
  return { ...written, terms: [...written.terms, ...terms] };
};

// Edges that go in the same transaction no longer hold their node back.
const releaseGuard = (guard: WriteItem, count: WriteItem): WriteItem | undefined => {
  const counted = count.kind === "update" ? countOf(count) : undefined;
  if (guard.kind !== "delete" || guard.shape !== undefined || counted === undefined || count.kind !== "update") return undefined;
  const change = counted - (count.begins ?? 0);
  return { ...guard, terms: guard.terms.map((term) => (term.kind === "below" ? { ...term, limit: term.limit - change } : term)) };
};

const mergeTwo = (a: WriteItem, b: WriteItem): WriteItem | undefined => {
  if (a.kind === "check") return withCheck(b, a);
  if (b.kind === "check") return withCheck(a, b);
  if (a.kind === "delete" || b.kind === "delete") return releaseGuard(a, b) ?? releaseGuard(b, a);
  return a.kind === "update" && b.kind === "update" ? sumGuards(a, b) : undefined;
};

type Asked = NonNullable<PlannedItem["asked"]>[number];
const asks = (write: number, { terms }: WriteItem): Asked => ({ write, failures: terms.map(({ failure }) => failure) });

// A condition that fails is told to the calls that set it, not to those that only need the same item.
const joined = (before: PlannedItem, item: WriteItem, write: number): PlannedItem => {
  const writes = [...before.writes, write];
  const asked = before.asked ?? before.writes.map((one) => asks(one, before.item));
  return { item: mergeTwo(before.item, item) ?? refuse(item, writes), writes, asked: [...asked, asks(write, item)] };
};

const refuse = (item: WriteItem, writes: readonly number[]): never => {
  const which = [...new Set(writes)].map((at) => at + 1).join(" and ");
  const key = Object.values(item.key).map((value) => ("S" in value ? value.S : "N" in value ? value.N : ""));
  throw new EdgetableError(
    "plan.unsupported",
    `A transaction writes an item once: calls ${which} both write ${key.join(" / ")}. Join them into one call, or make them one after the other.`,
    {
      details: { key: item.key, writes },
    },
  );
};

const allDiffer = (items: readonly WriteItem[]): boolean =>
  items.every((item, at) => items.findIndex((other) => sameKey(other.key, item.key)) === at);

// Above this, remembering keys is cheaper than comparing each with each.
const FEW = 8;
const FIRST: readonly number[] = [0];

/** The items of several writes as one transaction takes them: each key once. */
export const mergeItems = (lists: readonly (readonly WriteItem[])[]): readonly PlannedItem[] => {
  const [only] = lists;
  if (only && lists.length === 1 && only.length <= FEW && allDiffer(only))
    return only.map((item) => ({ item: believed(item), writes: FIRST }));
  const merged = new Map<string, PlannedItem>();
  for (const [write, items] of lists.entries()) {
    for (const item of items) {
      const id = keyId(item.key);
      const before = merged.get(id);
      merged.set(id, before ? joined(before, item, write) : { item, writes: [write] });
    }
  }
  return Array.from(merged.values(), (planned) => ({ ...planned, item: believed(planned.item) }));
};
