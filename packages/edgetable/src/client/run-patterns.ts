import {
  addCosts,
  type Call,
  createCall,
  type DriftedItem,
  NO_COST,
  type Report,
  type RunOptions,
  type SentRequest,
} from "../executor/call.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Row } from "../util/row.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { WalkExplanation } from "./walk-explanation.ts";

/** What a pattern's call will do: a read of one hop, or a walk. */
export type Explanation = ReadExplanation | WalkExplanation;

/** A named question that the application asks of its graph. */
export interface Pattern<Connection, Parameters, Answer> {
  /** The question in words. */
  readonly question: string;
  /** Example parameters, for plans and tables. */
  readonly example: Parameters;
  /** Builds the call that answers the question, without making it. */
  readonly ask: (db: Connection, parameters: Parameters) => Call<Answer, Explanation>;
}

/** Any pattern of `definePatterns`, of any graph and with any parameters. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every pattern satisfies
export type AnyPattern = Pattern<any, any, unknown>;

/** One pattern, explained. */
export interface ExplainedPattern {
  readonly name: string;
  readonly question: string;
  readonly explanation: Explanation;
}

/** True for the explanation of a read or a walk. Untyped models can pass writes. */
const explainsRead = ({ kind }: { readonly kind: string }): boolean => kind === "read" || kind === "walk";

/** Explains every pattern; see `explainPatterns`. */
export const explainEach = async (db: unknown, patterns: Readonly<Record<string, AnyPattern>>): Promise<readonly ExplainedPattern[]> => {
  return Promise.all(
    Object.entries(patterns).map(async ([name, { question, example, ask }]) => {
      const call = ask(db, example) as Partial<Call<unknown, Explanation>> | null | undefined;
      if (typeof call?.explain !== "function") {
        // An asynchronous `ask` sends the call. Its promise is not awaited, so its rejection must be caught here.
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

/** One call of several named ones; see `combine`. */
export const combineCalls = <Answer>(
  calls: readonly (readonly [name: string, call: Call<unknown, Explanation>])[],
  join: (answers: Row) => Answer,
): Call<Answer, Explanation> => {
  const make = async (options: RunOptions): Promise<Report<Answer>> => {
    const reports = await Promise.all(calls.map(([, call]) => call.report(options)));
    const answers: Record<string, unknown> = {};
    const requests: SentRequest[] = [];
    const missing: unknown[] = [];
    const first: DriftedItem[] = [];
    let [cost, strays, items] = [NO_COST, 0, 0];
    for (const [at, report] of reports.entries()) {
      answers[calls[at]![0]] = report.value;
      requests.push(...report.requests);
      missing.push(...report.missing);
      cost = addCosts(cost, report.cost);
      strays += report.strays;
      items += report.drifted.items;
      first.push(...report.drifted.first);
    }
    return { value: join(answers), cost, requests, missing, strays, drifted: { items, first } };
  };
  const explain = async (): Promise<Explanation> => {
    const parts = await Promise.all(calls.map(([, call]) => call.explain()));
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
  return createCall(explain, make);
};
