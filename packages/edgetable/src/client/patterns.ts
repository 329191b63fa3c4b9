import { createCall, type Call, type Report, type RunOptions } from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Transport } from "../transport/transport.ts";
import type { AnyGraph, Graph } from "./define-graph.ts";
import type { Db } from "./db.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { WalkExplanation } from "./walk-explanation.ts";
import type { Edges, Nodes, Parts } from "./graph-types.ts";

/** What a pattern's call will do: a read of one hop, or a walk. */
export type Explanation = ReadExplanation | WalkExplanation;

/** One question that the application asks of its graph, by name. */
export interface Pattern<Connection, Parameters, Answer> {
  /** The question in words. */
  readonly question: string;
  /** Parameters that stand for any others, for plans and tables. */
  readonly example: Parameters;
  /** Builds the call that answers it; makes none. */
  readonly ask: (db: Connection, parameters: Parameters) => Call<Answer, Explanation>;
}

/** Any pattern that `definePatterns` gives, whatever its graph and what it asks. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every pattern satisfies
export type AnyPattern = Pattern<any, any, unknown>;

/** Named access patterns of one graph. */
export interface Patterns<Named extends Readonly<Record<string, AnyPattern>> = Readonly<Record<string, AnyPattern>>> {
  readonly kind: "patterns";
  readonly graph: AnyGraph;
  readonly patterns: Named;
}

/** One pattern, explained. */
export interface ExplainedPattern {
  readonly name: string;
  readonly question: string;
  readonly explanation: Explanation;
}

/**
 * Names the questions that the application asks, so that their plans and prices can be listed.
 *
 * @example
 * export const patterns = definePatterns(education, {
 *   studentsOfCourse: {
 *     question: "Which students take a course?",
 *     example: { courseId: "C1" },
 *     ask: (db, id) => db.course(id).in("enrolledIn").entries(),
 *   },
 * });
 */
export const definePatterns = <N extends Nodes, E extends Edges, P extends Parts, Parameters extends Readonly<Record<string, unknown>>>(
  graph: Graph<N, E, P>,
  patterns: { readonly [Name in keyof Parameters]: Pattern<Db<N, E, P>, Parameters[Name], unknown> },
): Patterns<{ readonly [Name in keyof Parameters]: Pattern<Db<N, E, P>, Parameters[Name], unknown> }> =>
  Object.freeze({ kind: "patterns", graph: graph as AnyGraph, patterns });

/** A transport that answers nothing: for connections that only explain. */
export const offline: Transport = {
  send: async (operation) => {
    throw new EdgetableError(
      "execute.connection",
      `${operation} was not sent: this connection only explains. Connect with an endpoint or a region.`,
    );
  },
  close: () => undefined,
};

/** Explains every pattern from its example, without sending a request. */
export const explainPatterns = async ({ graph, patterns }: Patterns): Promise<readonly ExplainedPattern[]> => {
  const db: unknown = graph.connect({ transport: offline });
  return Promise.all(
    Object.entries(patterns).map(async ([name, { question, example, ask }]) => ({
      name,
      question,
      explanation: await ask(db, example).explain(),
    })),
  );
};

type Answers<Calls> = { readonly [Name in keyof Calls]: Calls[Name] extends PromiseLike<infer Answer> ? Answer : never };

const joinExplanations = (parts: readonly Explanation[]): Explanation => {
  const [first] = parts;
  if (!first) throw new EdgetableError("plan.invalidOption", "combine() needs at least one call.");
  return {
    ...first,
    requests: parts.flatMap((part) => part.requests),
    consistency: parts.every((part) => part.consistency === "strong") ? "strong" : "eventual",
    cost: {
      requests: parts.reduce((sum, part) => sum + part.cost.requests, 0),
      readUnits: parts.reduce((sum, part) => sum + part.cost.readUnits, 0),
    },
    notes: parts.flatMap((part) => part.notes),
  };
};

/**
 * Several reads as one: they run side by side, and their answers are put together.
 *
 * @example
 * combine({ all: db.project(id).in("inProject").ids(), dated: db.field(start).in("value").ids() }, ({ all, dated }) => difference(all, dated));
 */
export const combine = <const Calls extends Readonly<Record<string, Call<unknown, Explanation>>>, Answer>(
  calls: Calls,
  join: (answers: Answers<Calls>) => Answer,
): Call<Answer, Explanation> => {
  const names = Object.keys(calls);
  const list = Object.values(calls);
  const make = async (options: RunOptions): Promise<Report<Answer>> => {
    const reports = await Promise.all(list.map((call) => call.report(options)));
    const answers = Object.fromEntries(reports.map((report, at) => [names[at], report.value])) as unknown as Answers<Calls>;
    const sum = (pick: (report: Report<unknown>) => number): number => reports.reduce((total, report) => total + pick(report), 0);
    return {
      value: join(answers),
      cost: {
        requests: sum((one) => one.cost.requests),
        readUnits: sum((one) => one.cost.readUnits),
        writeUnits: sum((one) => one.cost.writeUnits),
      },
      requests: reports.flatMap((report) => report.requests),
      missing: reports.flatMap((report) => report.missing),
      strays: sum((one) => one.strays),
      drifted: { items: sum((one) => one.drifted.items), first: reports.flatMap((report) => report.drifted.first) },
    };
  };
  return createCall(async () => joinExplanations(await Promise.all(list.map((call) => call.explain()))), make);
};
