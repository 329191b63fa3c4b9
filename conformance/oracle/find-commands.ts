import fc from "fast-check";
import { hostileTexts } from "../hostile/values.ts";

export type Kind = "person" | "place" | "task" | "bornIn" | "hasSkill" | "note";

/** One search, in words of the graph. */
export interface Search {
  readonly kind: "find";
  readonly kinds: readonly Kind[];
  /** How many leading levels are given by equality. */
  readonly levels: number;
  /** What the next level is compared by. */
  readonly operator: "gte" | "lt" | "between" | "beginsWith" | undefined;
  readonly texts: readonly [string, string, string];
  readonly number: number;
  /** A condition that no key takes. */
  readonly filter: boolean;
  readonly status: "open" | "done" | undefined;
  /** Whether the last level that is given is one of a list, in which a value comes twice. */
  readonly list?: boolean | undefined;
  readonly reverse: boolean;
  readonly want: "rows" | "count" | "first" | "pages" | "ends" | "walk";
  readonly limit: number;
  /** What happens between two pages. */
  readonly between: "nothing" | "grow" | "reshard" | "both";
  /** The page after which it goes back to the beginning, and forth again; undefined for never. */
  readonly turn: number | undefined;
}

/** One step of a history; ids are small, so that steps meet. */
export type FindCommand =
  | {
      readonly kind: "put";
      readonly what: Kind;
      readonly id: number;
      readonly other: number;
      readonly texts: readonly [string, string, string];
      readonly number: number;
      readonly more: boolean;
    }
  | { readonly kind: "delete"; readonly what: Kind; readonly id: number; readonly other: number }
  | {
      readonly kind: "update";
      readonly id: number;
      readonly text: string;
      readonly status: "open" | "done";
      readonly number: number | undefined;
    }
  | { readonly kind: "grow" }
  /** From here on the model is one of before its newest indexes, and has them. */
  | { readonly kind: "young" | "mature" }
  | { readonly kind: "reshard"; readonly settle: boolean }
  | Search;

const id = fc.nat({ max: 11 });
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "ab", "a b", "a!", "a#", "😀", "\uffee", "b") },
  { weight: 1, arbitrary: fc.constantFrom(...hostileTexts) },
);
const texts = fc.tuple(text, text, text);
const number = fc.constantFrom(-10, -1.5, 0, 2, 10);
const kinds: readonly Kind[] = ["person", "place", "task", "bornIn", "hasSkill", "note"];
const what = fc.constantFrom(...kinds);

const put = fc.record({ kind: fc.constant("put" as const), what, id, other: id, texts, number, more: fc.boolean() });
const remove = fc.record({ kind: fc.constant("delete" as const), what, id, other: id });
const update = fc.record({
  kind: fc.constant("update" as const),
  id,
  text,
  status: fc.constantFrom("open", "done"),
  number: fc.option(number, { nil: undefined }),
});
const find = fc.record({
  kind: fc.constant("find" as const),
  kinds: fc.oneof(
    what.map((one) => [one]),
    fc.constant<readonly Kind[]>(["place", "bornIn"]),
  ),
  levels: fc.nat({ max: 3 }),
  operator: fc.constantFrom("gte", "lt", "between", "beginsWith", undefined),
  texts,
  number,
  filter: fc.boolean(),
  status: fc.constantFrom("open", "done", undefined),
  list: fc.boolean(),
  reverse: fc.boolean(),
  want: fc.constantFrom("rows", "count", "first", "pages", "pages", "ends", "walk"),
  limit: fc.integer({ min: 1, max: 6 }),
  between: fc.constantFrom("nothing", "nothing", "grow", "reshard", "both"),
  turn: fc.option(fc.integer({ min: 2, max: 5 }), { nil: undefined }),
});

/** Histories that begin with some of everything. */
export const findHistories: fc.Arbitrary<readonly FindCommand[]> = fc
  .tuple(
    fc.boolean(),
    fc.array(put, { minLength: 20, maxLength: 60, size: "max" }),
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: put },
        { weight: 1, arbitrary: remove },
        { weight: 2, arbitrary: update },
        { weight: 1, arbitrary: fc.constant({ kind: "grow" } as const) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("reshard" as const), settle: fc.boolean() }) },
        { weight: 10, arbitrary: find },
      ),
      { minLength: 10, maxLength: 50, size: "max" },
    ),
  )
  .map(([young, before, commands]) => [
    ...(young ? [{ kind: "young" } as const, ...before, { kind: "mature" } as const] : before),
    ...(commands as readonly FindCommand[]),
  ]);
