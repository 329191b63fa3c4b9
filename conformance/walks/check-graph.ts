import fc from "fast-check";
import { askedOf, type Walked } from "./asked-of-walks.ts";
import { askWalk, type Db } from "./ask.ts";
import { checkParts, checkWhole, cuts, widened, type Asking } from "./check-parts.ts";
import { checkQuestion } from "./check-questions.ts";
import { checkSupernodes } from "./check-supernodes.ts";
import { drawGraph, graphs, type Drawn } from "./graphs.ts";
import { walkNaively } from "../naive/walk.ts";
import { naivePlan, type PlainWalk } from "./plain-walk.ts";
import { questionInScope, questions, type Question } from "./questions.ts";
import { inScope, walks } from "./walks.ts";

/** A graph, and what is asked of it; `pick` chooses among attributes and budgets. */
export interface Case {
  readonly drawn: readonly Drawn[];
  readonly walks: readonly PlainWalk[];
  readonly questions: readonly Question[];
  readonly pick: number;
}

/** Cases over a model with reference edges, or without. */
export const cases = (references: boolean): fc.Arbitrary<Case> =>
  fc.record({
    drawn: graphs(references),
    walks: fc.array(walks(references), { maxLength: 3 }),
    questions: fc.array(questions, { maxLength: 3 }),
    pick: fc.nat({ max: 999 }),
  });

const MAX_PATHS = 2000;

const hopsOf = ({ first, steps }: PlainWalk): number =>
  (first ? 1 : 0) + steps.reduce((sum, step) => sum + (step.kind === "hop" ? Math.min(step.rounds, 20) : 0), 0);

interface Asked {
  readonly askings?: (walked: Walked) => Promise<readonly Asking[]>;
  /** The most parts into which budgets of requests and units cut an answer. */
  readonly parts?: number;
}

export const checkWalk = async (walked: Walked, { askings = askedOf, parts = Number.POSITIVE_INFINITY }: Asked = {}): Promise<void> => {
  const { plain, naive, pick } = walked;
  if (naive.paths.length > MAX_PATHS) return;
  const bounds = { stood: naive.stood, hops: hopsOf(plain) };
  for (const [at, asking] of (await askings(walked)).entries()) {
    const cost = await checkWhole(asking);
    await checkParts(asking, widened(cuts[(pick + at) % cuts.length]!, cost, parts), { ...bounds, requests: cost.requests });
  }
  await checkSupernodes(walked, 1 + (pick % 3));
};

/** Draws a graph, by a connection of its own if `draws` is one, and holds every answer against the naive ones. */
export const checkCase = async (
  db: Db,
  scope: string,
  { drawn, walks: plains, questions: asked, pick }: Case,
  { draws = db, references = true, ...how }: { readonly draws?: Db; readonly persons?: number; readonly references?: boolean } = {},
): Promise<void> => {
  const graph = await drawGraph([draws], scope, drawn, how);
  for (const plain of plains.map((walk) => inScope(scope, walk)))
    await checkWalk({ plain, graph, naive: walkNaively(graph, naivePlan(plain)), walk: askWalk(db, plain), pick, references });
  for (const [at, question] of asked.entries())
    await checkQuestion(db, graph, { question: questionInScope(scope, question), cut: pick + at });
};
