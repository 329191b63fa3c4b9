import fc from "fast-check";
import { hostileTexts, undelimitedTexts } from "../hostile/values.ts";

/** One step of a history, in words of the graph; ids are small, so that steps meet. */
export type Command =
  | {
      readonly kind: "create" | "put";
      readonly type: NodeType;
      readonly id: number;
      readonly name: string;
      readonly handle: number | undefined;
      readonly age: number | undefined;
      /** Of a post: the person to whom its reference leads. */
      readonly author?: number | undefined;
    }
  /** Several nodes by their ids, one of which may come twice. */
  | { readonly kind: "many"; readonly type: NodeType; readonly ids: readonly number[] }
  | { readonly kind: "author"; readonly id: number; readonly author: number | undefined }
  | {
      readonly kind: "update";
      readonly id: number;
      readonly name: string | undefined;
      readonly handle: number | undefined;
      readonly add: number | undefined;
    }
  | { readonly kind: "delete"; readonly type: NodeType; readonly id: number }
  | {
      readonly kind: "link" | "relink" | "unlink";
      readonly edge: EdgeName;
      readonly from: number;
      /** Whether it leaves a tag, where edges of the type may. */
      readonly fromTag?: boolean;
      readonly to: number;
      readonly toTag: boolean;
      readonly text: string;
      readonly number: number;
      readonly role: string;
    }
  | {
      readonly kind: "read";
      readonly edge: EdgeName;
      readonly direction: "out" | "in";
      readonly id: number;
      readonly tag: boolean;
      readonly reverse: boolean;
      readonly ordered: boolean;
      readonly limit: number | undefined;
      readonly where: Bound | undefined;
      /** The node at the other end, where the read asks for that one. */
      readonly far: number | undefined;
      readonly want: "edges" | "entries" | "nodes" | "ids" | "count" | "pages" | "back";
    };

export type NodeType = "person" | "post" | "tag";
export type EdgeName = "follows" | "friend" | "likes" | "worksOn" | "tagged" | "pins" | "knows" | "writtenBy";

/** A comparison of the attribute that edges of the type have. */
export interface Bound {
  readonly operator: "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "between" | "in" | "beginsWith" | "exists";
  readonly text: string;
  readonly number: number;
  readonly other: number;
}

const nodeTypes: readonly NodeType[] = ["person", "post", "tag"];
// The ordered ones twice: they have the most to get wrong. References are written with their source.
const linked: readonly EdgeName[] = ["follows", "follows", "likes", "likes", "friend", "worksOn", "tagged", "pins", "knows"];
const edgeNames: readonly EdgeName[] = [...linked, "writtenBy"];

// Few ids, so that a node gathers edges; the first ones more often.
const id = fc.oneof({ weight: 2, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
// Values that sort near each other, with the characters that composite keys get wrong.
const texts = ["a", "ab", "a b", "a!", "😀", "\uffee"];
const plainText = fc.constantFrom(...texts);
const number = fc.constantFrom(-10, -1.5, 0, 2, 10);

const many = fc.record({
  kind: fc.constant("many" as const),
  type: fc.constantFrom(...nodeTypes),
  ids: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 7 }),
});

const commandsWith = (hostile: readonly string[]): fc.Arbitrary<readonly unknown[]> => {
  const text = fc.oneof({ weight: 3, arbitrary: plainText }, { weight: 1, arbitrary: fc.constantFrom(...hostile) });
  const node = fc.record({
    kind: fc.constantFrom("create", "put"),
    type: fc.constantFrom(...nodeTypes),
    id,
    name: text,
    handle: optional(fc.nat({ max: 2 })),
    age: optional(number),
    author: optional(id),
  });
  const author = fc.record({ kind: fc.constant("author" as const), id, author: optional(id) });
  const update = fc.record({
    kind: fc.constant("update" as const),
    id,
    name: optional(text),
    handle: optional(fc.nat({ max: 2 })),
    add: optional(fc.integer({ min: -3, max: 3 })),
  });
  const remove = fc.record({ kind: fc.constant("delete" as const), type: fc.constantFrom(...nodeTypes), id });
  const edge = fc.record({
    kind: fc.constantFrom("link", "link", "link", "relink", "unlink"),
    edge: fc.constantFrom(...linked),
    from: id,
    fromTag: fc.boolean(),
    to: id,
    toTag: fc.boolean(),
    text,
    number,
    role: fc.constantFrom("x", "y", "x y", ...hostile),
  });
  const bound = fc.record({
    operator: fc.constantFrom("eq", "ne", "lt", "lte", "gt", "gte", "between", "in", "beginsWith", "exists"),
    text,
    number,
    other: number,
  });
  const read = fc.record({
    kind: fc.constant("read" as const),
    edge: fc.constantFrom(...edgeNames),
    direction: fc.constantFrom("out", "in"),
    id,
    tag: fc.boolean(),
    reverse: fc.boolean(),
    ordered: fc.boolean(),
    limit: optional(fc.integer({ min: 1, max: 4 })),
    where: fc.option(bound, { nil: undefined, freq: 3 }),
    far: fc.option(id, { nil: undefined, freq: 1 }),
    want: fc.constantFrom("edges", "entries", "nodes", "ids", "count", "pages", "back"),
  });
  return fc.array(
    fc.oneof(
      { weight: 1, arbitrary: node },
      { weight: 1, arbitrary: author },
      { weight: 1, arbitrary: update },
      { weight: 1, arbitrary: remove },
      { weight: 1, arbitrary: many },
      { weight: 12, arbitrary: edge },
      { weight: 12, arbitrary: read },
    ),
    { minLength: 20, maxLength: 120, size: "max" },
  );
};

const everyNode: readonly Command[] = nodeTypes.flatMap((type) =>
  [0, 1, 2, 3, 4].map((one) => ({ kind: "create", type, id: one, name: "n", handle: undefined, age: undefined }) as const),
);

const historiesWith = (hostile: readonly string[]): fc.Arbitrary<readonly Command[]> =>
  commandsWith(hostile).map((commands) => [...everyNode, ...(commands as readonly Command[])]);

/** Histories that begin with every node there, so that links find their ends. */
export const histories = historiesWith(hostileTexts);

/** The same without texts that hold a delimiter. */
export const undelimitedHistories = historiesWith(undelimitedTexts);
