import { type Call, deferCall } from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { namesIn } from "../util/check-options.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import type { Transport } from "../transport/transport.ts";
import type { AnyGraph, Graph } from "./define-graph.ts";
import type { Db } from "./db.ts";
import type { Edges, Nodes, Parts } from "./graph-types.ts";
import type { AnyPattern, ExplainedPattern, Explanation, Pattern } from "./run-patterns.ts";

/** Named access patterns of one graph. */
export interface Patterns<Named extends Readonly<Record<string, AnyPattern>> = Readonly<Record<string, AnyPattern>>> {
  readonly kind: "patterns";
  readonly graph: AnyGraph;
  readonly patterns: Named;
}

const loadRun = loadOnce(async () => import("./run-patterns.ts"));

type IsUnion<Type, Whole = Type> = Type extends unknown ? ([Whole] extends [Type] ? false : true) : never;

// A literal in an example stands for all values of its type. A union stays as it is.
type Widened<Value> =
  true extends IsUnion<Value>
    ? Value
    : Value extends string
      ? string
      : Value extends number
        ? number
        : Value extends bigint
          ? bigint
          : Value extends boolean
            ? boolean
            : Value extends readonly (infer Element)[]
              ? readonly Widened<Element>[]
              : Value extends Date | Uint8Array | ReadonlySet<unknown>
                ? Value
                : { readonly [Member in keyof Value]: Widened<Value[Member]> };

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
export const definePatterns = <
  N extends Nodes,
  E extends Edges,
  P extends Parts,
  const Parameters extends Readonly<Record<string, unknown>>,
  Indexed extends string,
>(
  graph: Graph<N, E, P, Indexed>,
  patterns: { readonly [Name in keyof Parameters]: Pattern<Db<N, E, P, Indexed>, Parameters[Name], unknown> },
): Patterns<{ readonly [Name in keyof Parameters]: Pattern<Db<N, E, P, Indexed>, Widened<Parameters[Name]>, unknown> }> => {
  const given = patterns as Readonly<Record<string, Partial<AnyPattern> | null>>;
  const findings: { readonly rule: "setting"; readonly place: string; readonly message: string }[] = [];
  for (const name of namesIn(given, "patterns")) {
    const pattern = given[name];
    const report = (message: string): unknown => findings.push({ rule: "setting", place: name, message });
    if (typeof pattern !== "object" || pattern === null) {
      report("this is not a pattern: write { question, example, ask }.");
      continue;
    }
    if (typeof pattern.question !== "string") report("`question` is missing: write the question in words.");
    if (!("example" in pattern)) report("`example` is missing: give example parameters, or {} if `ask` needs none.");
    if (typeof pattern.ask !== "function") report("`ask` must be a function (db, parameters) that returns a call.");
  }
  if (findings.length > 0) {
    const head = findings.length === 1 ? "The patterns have a mistake" : `The patterns have ${findings.length} mistakes`;
    const list = findings.map(({ place, message }) => `- ${place}: ${message}`).join("\n");
    throw new EdgetableError("schema.invalidModel", `${head}:\n${list}`, { details: { findings } });
  }
  return Object.freeze({ kind: "patterns", graph: graph as AnyGraph, patterns: patterns as never });
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

/**
 * Explains every pattern from its example, without sending a request.
 *
 * @throws {plan.invalidOption} if `ask` does not return a call of a read or a walk
 */
export const explainPatterns = async ({ graph, patterns }: Patterns): Promise<readonly ExplainedPattern[]> =>
  (await loadRun()).explainEach(graph.connect({ transport: offline }), patterns);

type Answers<Calls> = { readonly [Name in keyof Calls]: Calls[Name] extends PromiseLike<infer Answer> ? Answer : never };

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
  const named = Object.entries(calls);
  return deferCall(loadRun, ({ combineCalls }) => combineCalls(named, join as (answers: Row) => Answer));
};
