import fc from "fast-check";
import type { PlainHop } from "./plain-walk.ts";

export type QuestionKind = "neighbourhood" | "subtree" | "common" | "suggest" | "cycle" | "shortestPath" | "shortestPaths" | "allPaths";

/** A question that has a name, from one person. */
export interface Question {
  readonly kind: QuestionKind;
  readonly start: string;
  readonly to: string;
  readonly others: readonly string[];
  readonly hop: PlainHop;
  readonly depth: number | undefined;
  readonly most: number;
}

const letter = fc.constantFrom("a", "b", "c", "d", "e", "f");
const atLeast = fc.constantFrom(undefined, undefined, 0);

// Along these one comes from persons to persons, so that one may go on.
const amongPersons = fc.oneof(
  fc.record({ edge: fc.constant("follows"), direction: fc.constantFrom("out", "in", "both"), atLeast }),
  fc.record({ edge: fc.constant("friend"), direction: fc.constant("both" as const), atLeast: fc.constant(undefined) }),
);
const fromPersons = fc.oneof(
  amongPersons,
  fc.record({ edge: fc.constantFrom("likes", "worksOn"), direction: fc.constant("out" as const), atLeast }),
);
const age = fc.constantFrom(undefined, undefined, 1);

const goesOn = ["neighbourhood", "suggest", "cycle", "shortestPath", "shortestPaths", "allPaths"] as const;
const mayEnd = ["subtree", "common"] as const;

const rest = { start: letter, to: letter, others: fc.array(letter, { minLength: 1, maxLength: 3 }), most: fc.integer({ min: 1, max: 4 }) };
const depth = fc.constantFrom(undefined, 1, 2, 3);

/** Questions by name. */
export const questions: fc.Arbitrary<Question> = fc
  .oneof(
    fc.record({ kind: fc.constantFrom(...goesOn), hop: amongPersons, age, depth, ...rest }),
    fc.record({ kind: fc.constantFrom(...mayEnd), hop: fromPersons, age, depth, ...rest }),
  )
  .map(({ hop, age: least, ...question }) => ({
    ...question,
    hop: { ...hop, age: hop.edge === "follows" || hop.edge === "friend" ? least : undefined } as PlainHop,
  }));

/** The same question in a part of the table of its own. */
export const questionInScope = (scope: string, question: Question): Question => ({
  ...question,
  start: scope + question.start,
  to: scope + question.to,
  others: question.others.map((id) => scope + id),
});
