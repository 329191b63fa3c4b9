import fc from "fast-check";
import type { NaiveEnd } from "../naive/graph.ts";
import type { PlainFirst, PlainHop, PlainStep, PlainWalk } from "./plain-walk.ts";

interface EdgeType {
  readonly from: string;
  readonly to: readonly string[];
  readonly number: boolean;
}

const edgeTypes: Readonly<Record<string, EdgeType>> = {
  follows: { from: "person", to: ["person"], number: true },
  friend: { from: "person", to: ["person"], number: false },
  likes: { from: "person", to: ["post", "tag"], number: true },
  worksOn: { from: "person", to: ["post"], number: true },
  tagged: { from: "post", to: ["tag"], number: false },
  writtenBy: { from: "post", to: ["person"], number: false },
};

export interface Way {
  readonly edge: string;
  readonly direction: "out" | "in" | "both";
}

/** Where one can go from nodes of these types; along references only if the model has them. */
export const onward = (at: readonly string[], references: boolean): readonly Way[] =>
  Object.entries(edgeTypes).flatMap(([edge, { from, to }]) => {
    if (edge === "writtenBy" && !references) return [];
    const [out, back] = [at.includes(from), at.some((type) => to.includes(type))];
    return [
      ...(out ? [{ edge, direction: "out" as const }] : []),
      ...(back ? [{ edge, direction: "in" as const }] : []),
      ...(out && to.includes(from) ? [{ edge, direction: "both" as const }] : []),
    ];
  });

const farOf = ({ edge, others = [], direction }: Way & Pick<PlainHop, "others">): readonly string[] => [
  ...new Set([edge, ...others].flatMap((name) => (direction === "out" ? edgeTypes[name]!.to : [edgeTypes[name]!.from]))),
];

/** Node types on which a walk of such steps from a person stands. */
export const typesAfter = ({ first, steps }: PlainWalk): readonly string[] => {
  const last = steps.findLast((step) => step.kind === "hop") ?? first;
  return last ? farOf(last) : ["person"];
};

const LETTERS = ["a", "b", "c", "d", "e", "f"];
const firsts: readonly Pick<PlainFirst, "edge" | "direction">[] = [
  { edge: "follows", direction: "out" },
  { edge: "follows", direction: "in" },
  { edge: "friend", direction: "out" },
  { edge: "worksOn", direction: "out" },
];

type Choose = ((count: number) => number) & { readonly references: boolean };

const chooseFirst = (choose: Choose): PlainFirst => {
  const way = firsts[choose(firsts.length)]!;
  const atLeast = edgeTypes[way.edge]!.number && choose(3) === 0 ? 0 : undefined;
  return { ...way, atLeast, reverse: choose(2) === 1, limit: choose(3) === 0 ? undefined : choose(3) + 1 };
};

const chooseHop = (choose: Choose, at: readonly string[], kind: "once" | "repeat" | "closure"): Extract<PlainStep, { kind: "hop" }> => {
  const ways = onward(at, choose.references).filter((way) => kind !== "closure" || way.direction !== "both");
  const first = ways[choose(ways.length)]!;
  const alike = ways.filter(({ edge, direction }) => edge !== first.edge && direction === first.direction);
  const others = choose(3) === 2 ? alike.filter(() => choose(2) === 0).map(({ edge }) => edge) : [];
  const way = others.length > 0 ? { ...first, others } : first;
  const far = farOf(way);
  const repeats = kind === "repeat" && far.some((type) => at.includes(type));
  const rounds = kind === "closure" ? Number.POSITIVE_INFINITY : repeats ? 1 + choose(3) : 1;
  const atLeast = kind !== "closure" && edgeTypes[way.edge]!.number && choose(4) === 0 ? 0 : undefined;
  const age = repeats && far.join() === "person" && choose(3) === 0 ? 1 : undefined;
  return { kind: "hop", ...way, rounds, emit: kind === "closure" || choose(2) === 0 ? "all" : "last", atLeast, age };
};

const chooseFilter = (choose: Choose, at: readonly string[]): PlainStep | undefined => {
  const nodes = (): readonly NaiveEnd[] => {
    const some = LETTERS.filter(() => choose(3) === 0).map((id, place) => ({ type: at[place % at.length]!, id }));
    return choose(2) === 0 ? some : some.toReversed();
  };
  switch (choose(6)) {
    case 0:
      return { kind: "dedupe" };
    case 1:
      return { kind: "except", which: at.join() === "person" && choose(2) === 0 ? "start" : nodes() };
    case 2:
      return { kind: "among", nodes: nodes() };
    case 3:
      return at.join() === "person" ? { kind: "age", atLeast: choose(4) } : undefined;
    default:
      return { kind: "except", which: "passed" };
  }
};

/** Reads a walk from choices, each a number, so that fewer and smaller ones make a simpler walk. It ends after a few hops. */
const walkOf = (numbers: readonly number[], references: boolean): PlainWalk => {
  let next = 0;
  const choose: Choose = Object.assign((count: number) => (numbers[next++] ?? 0) % count, { references });
  const start = LETTERS[choose(LETTERS.length)]!;
  const way = choose(8);
  const first = way === 7 ? chooseFirst(choose) : undefined;
  const steps: PlainStep[] = way === 6 ? [chooseHop(choose, ["person"], "closure"), { kind: "except", which: "start" }] : [];
  let hops = way < 6 ? 0 : 1;
  while (hops < 4 && next < numbers.length) {
    const at = typesAfter({ start, first, steps });
    const kind = choose(10);
    if (kind < 6 || (steps.length === 0 && !first)) {
      const hop = chooseHop(choose, at, kind === 5 ? "repeat" : "once");
      steps.push(hop);
      hops += hop.rounds;
    } else {
      const filter = chooseFilter(choose, at);
      if (filter) steps.push(filter);
    }
  }
  return { start, first, steps };
};

/** Walks from a person over a few hops; with `references` also along edges that lie in their source's item. */
export const walks = (references: boolean): fc.Arbitrary<PlainWalk> =>
  fc.array(fc.nat({ max: 999 }), { minLength: 2, maxLength: 28 }).map((numbers) => walkOf(numbers, references));

const scopedEnd = (scope: string, { type, id }: NaiveEnd): NaiveEnd => ({ type, id: scope + (id as string) });

/** The same walk in a part of the table of its own. */
export const inScope = (scope: string, { start, first, steps }: PlainWalk): PlainWalk => ({
  start: scope + start,
  first,
  steps: steps.map((step): PlainStep => {
    if (step.kind === "among") return { ...step, nodes: step.nodes.map((end) => scopedEnd(scope, end)) };
    if (step.kind === "except" && typeof step.which !== "string") return { ...step, which: step.which.map((end) => scopedEnd(scope, end)) };
    return step;
  }),
});
