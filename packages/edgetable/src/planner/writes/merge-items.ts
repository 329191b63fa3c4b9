import { EdgetableError } from "../../errors/edgetable-error.ts";
import { keyId, sameKey, type PlannedItem, type Term, type UpdateStep, type WriteItem } from "../../ir/write-plan.ts";
import { COUNT } from "../../schema/system-items.ts";
import { jsonText } from "../../util/json-text.ts";

const sameTerm = (a: Term, b: Term): boolean => a === b || jsonText(a) === jsonText(b);

const countOf = (item: UpdateStep): number | undefined => {
  const count = item.changes.add[COUNT];
  return item.shape === undefined && count && "N" in count ? Number(count.N) : undefined;
};

// Several edges at one node in one transaction: the guard counts them together, and all must fit.
const sumGuards = (a: UpdateStep, b: UpdateStep): WriteItem | undefined => {
  const [first, second] = [countOf(a), countOf(b)];
  if (first === undefined || second === undefined) return undefined;
  const sum = first + second;
  const term = [...a.terms, ...b.terms].find((one) => one.kind === "below" && one.failure.reason === "degreeExceeded");
  const limit = term?.kind === "below" && term.failure.reason === "degreeExceeded" ? term.failure.limit : undefined;
  const terms: readonly Term[] = term?.kind === "below" && limit !== undefined && sum > 0 ? [{ ...term, limit: limit - sum + 1 }] : [];
  return { ...a, terms, changes: { ...a.changes, add: { [COUNT]: { N: String(sum) } } } };
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
  const change = count.kind === "update" ? countOf(count) : undefined;
  if (guard.kind !== "delete" || guard.shape !== undefined || change === undefined) return undefined;
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
  throw new EdgetableError(
    "plan.unsupported",
    `A transaction writes an item once: calls ${which} both write ${keyId(item.key)}. Join them into one call, or make them one after the other.`,
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
  if (only && lists.length === 1 && only.length <= FEW && allDiffer(only)) return only.map((item) => ({ item, writes: FIRST }));
  const merged = new Map<string, PlannedItem>();
  for (const [write, items] of lists.entries()) {
    for (const item of items) {
      const id = keyId(item.key);
      const before = merged.get(id);
      merged.set(id, before ? joined(before, item, write) : { item, writes: [write] });
    }
  }
  return [...merged.values()];
};
