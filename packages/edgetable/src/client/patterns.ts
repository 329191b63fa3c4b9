import {
  addCosts,
  createCall,
  NO_COST,
  type Call,
  type DriftedItem,
  type Report,
  type RunOptions,
  type SentRequest,
} from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { namesIn } from "../util/check-options.ts";
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
  /** Example parameters, for plans and tables. */
  readonly example: Parameters;
  /** Builds the call that answers it, without making it. */
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

const checkPatterns = (patterns: Readonly<Record<string, Partial<AnyPattern> | null>>): void => {
  const findings: { readonly rule: "setting"; readonly place: string; readonly message: string }[] = [];
  for (const name of namesIn(patterns, "patterns")) {
    const pattern = patterns[name];
    const report = (message: string): unknown => findings.push({ rule: "setting", place: name, message });
    if (typeof pattern !== "object" || pattern === null) {
      report("this is not a pattern: write { question, example, ask }.");
      continue;
    }
    if (typeof pattern.question !== "string") report("`question` is missing: write the question in words.");
    if (!("example" in pattern)) report("`example` is missing: give example parameters, or {} if `ask` needs none.");
    if (typeof pattern.ask !== "function") report("`ask` must be a function (db, parameters) that returns a call.");
  }
  if (findings.length === 0) return;
  const head = findings.length === 1 ? "The patterns have a mistake" : `The patterns have ${findings.length} mistakes`;
  const list = findings.map(({ place, message }) => `- ${place}: ${message}`).join("\n");
  throw new EdgetableError("schema.invalidModel", `${head}:\n${list}`, { details: { findings } });
};

/**
 * Names the questions that the application asks, so that their plans and prices can be listed.
 *
 * @throws {schema.invalidModel} for patterns without `question`, `example` or `ask`, with every mistake at once
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
): Patterns<{ readonly [Name in keyof Parameters]: Pattern<Db<N, E, P>, Parameters[Name], unknown> }> => {
  checkPatterns(patterns);
  return Object.freeze({ kind: "patterns", graph: graph as AnyGraph, patterns });
};

/** A transport for connections that only explain: it rejects every request. */
export const offline: Transport = {
  send: async (operation) => {
    throw new EdgetableError(
      "execute.connection",
      `${operation} was not sent: this connection only explains. Connect with an endpoint or a region.`,
    );
  },
  close: () => undefined,
};

/** True for the explanation of a read or a walk. Untyped models can pass writes. */
const explainsRead = ({ kind }: { readonly kind: string }): boolean => kind === "read" || kind === "walk";

/**
 * Explains every pattern from its example, without sending a request.
 *
 * @throws {plan.invalidOption} if `ask` returns no call, or a call that is not a read or a walk
 */
export const explainPatterns = async ({ graph, patterns }: Patterns): Promise<readonly ExplainedPattern[]> => {
  const db: unknown = graph.connect({ transport: offline });
  return Promise.all(
    Object.entries(patterns).map(async ([name, { question, example, ask }]) => {
      const call = ask(db, example) as Partial<Call<unknown, Explanation>> | null | undefined;
      if (typeof call?.explain !== "function") {
        // An asynchronous `ask` sends the call. Nobody awaits its promise, so its rejection must be caught here.
        if (call instanceof Promise) call.catch(() => undefined);
        throw new EdgetableError("plan.invalidOption", `Pattern "${name}": \`ask\` must return a call without awaiting it.`, {
          details: { pattern: name },
        });
      }
      const explanation = await call.explain();
      if (explainsRead(explanation)) return { name, question, explanation };
      throw new EdgetableError("plan.invalidOption", `Pattern "${name}": \`ask\` must return a read or a walk; this call writes.`, {
        details: { pattern: name },
      });
    }),
  );
};

type Answers<Calls> = { readonly [Name in keyof Calls]: Calls[Name] extends PromiseLike<infer Answer> ? Answer : never };

const joinExplanations = (parts: readonly Explanation[]): Explanation => {
  const [first] = parts;
  if (!first) throw new EdgetableError("plan.invalidOption", "combine() needs at least one call.");
  const requests: Explanation["requests"][number][] = [];
  const notes: string[] = [];
  const cost = { requests: 0, readUnits: 0 };
  let consistency: Explanation["consistency"] = "strong";
  for (const part of parts) {
    if (!explainsRead(part)) throw new EdgetableError("plan.invalidOption", "combine() takes reads and walks; one of its calls writes.");
    requests.push(...part.requests);
    notes.push(...part.notes);
    cost.requests += part.cost.requests;
    cost.readUnits += part.cost.readUnits;
    if (part.consistency !== "strong") consistency = "eventual";
  }
  return { ...first, requests, consistency, cost, notes };
};

/**
 * Combines several reads into one call: they run in parallel, and a function joins their answers.
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
    const answers: Record<string, unknown> = {};
    const requests: SentRequest[] = [];
    const missing: unknown[] = [];
    const first: DriftedItem[] = [];
    let [cost, strays, items] = [NO_COST, 0, 0];
    for (const [at, report] of reports.entries()) {
      answers[names[at]!] = report.value;
      requests.push(...report.requests);
      missing.push(...report.missing);
      cost = addCosts(cost, report.cost);
      strays += report.strays;
      items += report.drifted.items;
      first.push(...report.drifted.first);
    }
    return { value: join(answers as Answers<Calls>), cost, requests, missing, strays, drifted: { items, first } };
  };
  return createCall(async () => joinExplanations(await Promise.all(list.map((call) => call.explain()))), make);
};
