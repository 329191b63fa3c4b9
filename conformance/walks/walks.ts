import fc from "fast-check";
import type { NaiveEnd } from "../oracle/naive-graph.ts";
import type { PlainStep } from "./naive-walk.ts";

interface EdgeType {
  readonly from: string;
  readonly to: readonly string[];
  readonly number: boolean;
}

const edges: Readonly<Record<string, EdgeType>> = {
  follows: { from: "person", to: ["person"], number: true },
  friend: { from: "person", to: ["person"], number: false },
  likes: { from: "person", to: ["post", "tag"], number: true },
  worksOn: { from: "person", to: ["post"], number: true },
  tagged: { from: "post", to: ["tag"], number: false },
};

export interface PlainWalk {
  readonly start: number;
  readonly steps: readonly PlainStep[];
}

/** Choices that a walk is read from: one number for each, so that fewer and smaller ones make a simpler walk. */
export const choices: fc.Arbitrary<readonly number[]> = fc.array(fc.nat({ max: 999 }), { minLength: 2, maxLength: 24 });

const onward = (at: readonly string[]): readonly { readonly edge: string; readonly direction: "out" | "in" | "both" }[] =>
  Object.entries(edges).flatMap(([edge, { from, to }]) => {
    const [out, back] = [at.includes(from), at.some((type) => to.includes(type))];
    return [
      ...(out ? [{ edge, direction: "out" as const }] : []),
      ...(back ? [{ edge, direction: "in" as const }] : []),
      ...(out && to.includes(from) ? [{ edge, direction: "both" as const }] : []),
    ];
  });

const farOf = (edge: string, direction: "out" | "in" | "both"): readonly string[] =>
  direction === "out" ? edges[edge]!.to : [edges[edge]!.from];

/** Reads a walk from choices; it always ends after a few hops. */
export const walkOf = (numbers: readonly number[], nodes: readonly string[]): PlainWalk => {
  let next = 0;
  const choose = (most: number): number => (numbers[next++] ?? 0) % most;
  const start = choose(nodes.length);
  const steps: PlainStep[] = [];
  let at: readonly string[] = ["person"];
  const nodesOf = (): readonly NaiveEnd[] => nodes.filter(() => choose(3) === 0).map((id, place) => ({ type: at[place % at.length]!, id }));
  for (let hops = 0; hops < 4 && next < numbers.length;) {
    const kind = choose(10);
    if (kind < 6 || steps.length === 0) {
      const ways = onward(at);
      const { edge, direction } = ways[choose(ways.length)]!;
      const repeats = kind === 5 && farOf(edge, direction).some((type) => at.includes(type));
      const rounds = repeats ? 1 + choose(3) : 1;
      const atLeast = edges[edge]!.number && choose(4) === 0 ? 0 : undefined;
      const far = farOf(edge, direction);
      const age = repeats && far.join() === "person" && choose(3) === 0 ? 1 : undefined;
      steps.push({ kind: "hop", edge, direction, rounds, emit: choose(2) === 0 ? "all" : "last", atLeast, age });
      at = far;
      hops += rounds;
    } else if (kind === 6) steps.push({ kind: "dedupe" });
    else if (kind === 7) steps.push({ kind: "except", which: at.join() === "person" && choose(2) === 0 ? "start" : nodesOf() });
    else if (kind === 8) steps.push({ kind: "among", nodes: nodesOf() });
    else if (at.join() === "person") steps.push({ kind: "age", atLeast: choose(4) });
  }
  return { start, steps };
};
