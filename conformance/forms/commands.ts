import fc from "fast-check";
import { edgeTypes, nodeTypes, type EdgeName, type NodeType } from "./vocabulary.ts";

/** A comparison of one attribute, by small numbers. */
export interface Bound {
  readonly operator: "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "between" | "beginsWith" | "in" | "exists";
  /** Which attribute, and which of its values. */
  readonly field: number;
  readonly low: number;
  readonly more: number;
  /** How the comparison stands within `or` and `not`; plainly where it is missing. */
  readonly group?: "or" | "not" | "neither" | "both" | undefined;
}

/** Which edge: its type, its ends by small numbers. */
interface Pointed {
  readonly edge: EdgeName;
  readonly from: number;
  readonly to: number;
  readonly role: number;
}

export interface Read extends Pointed {
  readonly kind: "read";
  readonly direction: "out" | "in" | "both";
  readonly reverse: boolean;
  readonly ordered: boolean;
  readonly limit: number | undefined;
  readonly where: Bound | undefined;
  readonly far: boolean;
  readonly select: number | undefined;
  readonly want: "edges" | "entries" | "nodes" | "ids" | "count" | "first" | "range" | "pages" | "nodePages" | "each";
}

export interface Find {
  readonly kind: "find";
  readonly entry: number;
  readonly levels: number;
  readonly where: Bound;
  readonly filter: Bound | undefined;
  readonly using: boolean;
  readonly reverse: boolean;
  readonly limit: number | undefined;
  readonly select: number | undefined;
  readonly want: "rows" | "count" | "first" | "pages" | "ends" | "each";
}

export interface Write {
  readonly kind: "create" | "put" | "update";
  readonly type: NodeType;
  readonly id: number;
  readonly text: number;
  readonly value: number;
  /** Undefined leaves it out, or removes it. */
  readonly size: number | undefined;
  /** What the node refers to; undefined for nothing, half for a part of an id. */
  readonly refers: number | undefined;
  readonly half: boolean;
}

export type Command =
  | Write
  | { readonly kind: "delete"; readonly type: NodeType; readonly id: number }
  | (Pointed & { readonly kind: "link" | "put edge" | "relink" | "unlink"; readonly value: number; readonly km: number | undefined })
  | (Pointed & { readonly kind: "point" })
  | Read
  | Find
  | { readonly kind: "walk"; readonly numbers: readonly number[] };

// Few ids, so that a node gathers edges; the first ones more often.
const id = fc.oneof({ weight: 2, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.nat({ max: 9 }) });
const small = fc.nat({ max: 9 });
const maybe = (freq: number): fc.Arbitrary<number | undefined> => fc.option(small, { nil: undefined, freq });
const names = Object.keys(edgeTypes) as readonly EdgeName[];
const pointed = { edge: fc.constantFrom(...names), from: id, to: id, role: fc.nat({ max: 3 }) };

const bound: fc.Arbitrary<Bound> = fc.record({
  operator: fc.constantFrom("eq", "ne", "lt", "lte", "gt", "gte", "between", "beginsWith", "in", "exists"),
  field: small,
  low: small,
  more: small,
  group: fc.option(fc.constantFrom("or", "not", "neither", "both"), { nil: undefined, freq: 2 }),
});
const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom("create", "put", "update", "update"),
  type: fc.constantFrom(...nodeTypes, "doc", "visit"),
  id,
  text: small,
  value: small,
  size: maybe(2),
  refers: fc.option(id, { nil: undefined, freq: 3 }),
  half: fc.nat({ max: 5 }).map((one) => one === 0),
});
const remove = fc.record({ kind: fc.constant("delete" as const), type: fc.constantFrom(...nodeTypes), id });
const edge = fc.record({
  kind: fc.constantFrom("link", "link", "link", "link", "put edge", "relink", "unlink"),
  ...pointed,
  value: small,
  km: maybe(2),
});
const point = fc.record({ kind: fc.constant("point" as const), ...pointed });
const read: fc.Arbitrary<Read> = fc.record({
  kind: fc.constant("read" as const),
  ...pointed,
  direction: fc.constantFrom("out", "in", "both"),
  reverse: fc.boolean(),
  ordered: fc.nat({ max: 2 }).map((one) => one > 0),
  limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  where: fc.option(bound, { nil: undefined, freq: 2 }),
  far: fc.nat({ max: 4 }).map((one) => one === 0),
  select: fc.option(small, { nil: undefined, freq: 1 }),
  want: fc.constantFrom("edges", "entries", "nodes", "ids", "count", "first", "range", "pages", "pages", "nodePages", "each"),
});
const find: fc.Arbitrary<Find> = fc.record({
  kind: fc.constant("find" as const),
  entry: fc.nat({ max: 99 }),
  levels: fc.nat({ max: 2 }),
  where: bound,
  filter: fc.option(bound, { nil: undefined, freq: 1 }),
  using: fc.boolean(),
  reverse: fc.boolean(),
  limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  select: fc.option(small, { nil: undefined, freq: 1 }),
  want: fc.constantFrom("rows", "count", "first", "pages", "ends", "each"),
});
const walk = fc.record({
  kind: fc.constant("walk" as const),
  numbers: fc.array(fc.nat({ max: 999 }), { minLength: 8, maxLength: 30, size: "max" }),
});

const everyNode: readonly Command[] = nodeTypes.flatMap((type) =>
  [0, 1, 2, 3].map((one): Command => ({
    kind: "create",
    type,
    id: one,
    text: one,
    value: one,
    size: undefined,
    refers: undefined,
    half: false,
  })),
);

/** Histories that begin with nearly every node there, so that links find their ends. */
export const histories: fc.Arbitrary<readonly Command[]> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: write },
      { weight: 1, arbitrary: remove },
      { weight: 12, arbitrary: edge },
      { weight: 1, arbitrary: point },
      { weight: 9, arbitrary: read },
      { weight: 6, arbitrary: find },
      { weight: 8, arbitrary: walk },
    ),
    { minLength: 1, maxLength: 140, size: "max" },
  )
  .map((commands) => [...everyNode, ...(commands as readonly Command[])]);
