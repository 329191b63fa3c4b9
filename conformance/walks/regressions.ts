import type { Case } from "./check-graph.ts";
import type { Drawn } from "./graphs.ts";
import type { PlainHop, PlainStep, PlainWalk } from "./plain-walk.ts";
import type { Question } from "./questions.ts";

// A text of two letters is an edge.
const follows = (...pairs: readonly string[]): readonly Drawn[] =>
  pairs.map((pair, at) => {
    const [from = 0, to = 0] = Array.from(pair, (letter) => "abcdef".indexOf(letter));
    return { edge: "follows", from, to, tag: false, number: [2, 10, -1.5][at % 3]!, role: "x" };
  });

const along: PlainHop = { edge: "follows", direction: "out", atLeast: undefined, age: undefined };
const hop: PlainStep = { kind: "hop", rounds: 1, emit: "all", ...along };
const passed: PlainStep = { kind: "except", which: "passed" };

const walk = (...steps: readonly PlainStep[]): PlainWalk => ({ start: "a", first: undefined, steps });
const ask = (kind: Question["kind"], rest: Partial<Question>): Question => ({
  kind,
  start: "a",
  to: "c",
  others: ["b"],
  hop: along,
  depth: undefined,
  most: 1,
  ...rest,
});

const two = follows("ab", "ac", "bd", "cd", "de", "da");

// With the budgets of each number, turn by turn.
const cut = (picks: readonly number[], drawn: readonly Drawn[], walks: readonly PlainWalk[]): readonly Case[] =>
  picks.map((pick) => ({ drawn, walks, questions: [], pick }));

/** Graphs and walks that once failed, shrunk. They run before any random one. */
export const regressions: readonly Case[] = [
  // Behind except("passed"), the second way to a node was taken for a way back to it; ranking found nothing; where nodes were read before it, it left out all.
  ...cut([0], two, [walk(hop, hop, passed, hop), walk(hop, { kind: "age", atLeast: 1 }, passed), walk(hop, hop, passed)]),
  // What was given before the rest of a supernode was read turned out to have been passed.
  ...cut([1, 7], follows("ab", "ac", "bc"), [walk({ ...hop, rounds: 2 }, passed)]),
  // Edges to a few known nodes came in the order of a batch's answer, which is any.
  ...cut([0], follows("ab", "ac", "be", "bd", "cd", "ce"), [
    walk(hop, hop, { kind: "among", nodes: ["f", "e", "d"].map((id) => ({ type: "person", id })) }),
  ]),
  // Two readings of each node: parts of three requests give what they left half read later.
  ...cut([1], follows("ab", "bc", "cd", "de", "ef"), [
    walk({ ...hop, rounds: Number.POSITIVE_INFINITY }, { kind: "except", which: "start" }, { ...hop, direction: "both" }),
  ]),
  // A closure of a circle was counted round and round.
  {
    drawn: follows("ab", "bc", "cb"),
    walks: [walk({ ...hop, rounds: Number.POSITIVE_INFINITY }, { kind: "except", which: "start" })],
    questions: [],
    pick: 2,
  },
  // Where nodes were asked for their age, an edge back to one found before was not counted; and the rest of a supernode found at a later level what belongs to an earlier.
  {
    drawn: follows("ab", "bc", "cb", "ac"),
    walks: [walk({ ...hop, rounds: 3, age: 1 }), walk({ ...hop, rounds: 3 })],
    questions: [ask("subtree", { most: 2 }), ask("subtree", { hop: { ...along, age: 1 } })],
    pick: 1,
  },
  // Searches for paths did not ask nodes for their age.
  {
    drawn: follows("ba", "bc", "ca", "ab"),
    walks: [],
    questions: (["shortestPath", "shortestPaths", "allPaths", "cycle"] as const).map((kind) =>
      ask(kind, { start: "b", to: "a", hop: { ...along, age: 1 } }),
    ),
    pick: 0,
  },
  // Half a unit that was left for the second node was no budget.
  { drawn: follows("ac", "bc"), walks: [], questions: [ask("common", {})], pick: 4 },
  // Searches for paths went on beyond the budget's depth.
  { drawn: two, walks: [], questions: [ask("shortestPaths", { to: "d" })], pick: 5 },
  { drawn: two, walks: [], questions: [ask("allPaths", { to: "d" })], pick: 5 },
  // One path of two was said to be all.
  { drawn: two, walks: [], questions: [ask("shortestPaths", { to: "d" }), ask("allPaths", { to: "d" })], pick: 0 },
];
