import type { Explanation, Report } from "edgetable";
import type { BoundPattern } from "../system.ts";
import { requestTerms } from "./request-line.ts";
import type { PatternResult, RequestResult } from "./results.ts";
import { sameAnswer } from "./same-answer.ts";

const requestsOf = (report: Report<unknown>): readonly RequestResult[] =>
  report.requests.map((request) => ({
    operation: request.operation,
    index: request.index,
    terms: requestTerms(request),
    itemsRead: request.itemsRead,
    readUnits: request.readUnits,
  }));

type Timed = readonly [report: Report<unknown>, milliseconds: number];

const timed = async (make: () => Promise<Report<unknown>>): Promise<Timed> => {
  const start = performance.now();
  const report = await make();
  return [report, performance.now() - start];
};

const answered = (pattern: BoundPattern, explanation: Explanation, [report, milliseconds]: Timed): PatternResult => ({
  name: pattern.name,
  question: pattern.question,
  example: pattern.example,
  answer: report.value,
  ok: sameAnswer(report.value, pattern.expected),
  expected: pattern.expected.answer,
  error: undefined,
  requests: requestsOf(report),
  consistency: explanation.consistency,
  itemsRead: report.requests.reduce((sum, request) => sum + request.itemsRead, 0),
  predictedUnits: explanation.cost.readUnits,
  consumedUnits: report.cost.readUnits,
  milliseconds,
});

const failed = (pattern: BoundPattern, error: unknown): PatternResult => ({
  name: pattern.name,
  question: pattern.question,
  example: pattern.example,
  answer: undefined,
  ok: false,
  expected: pattern.expected.answer,
  error: error instanceof Error ? error.message : String(error),
  requests: [],
  consistency: "",
  itemsRead: 0,
  predictedUnits: 0,
  consumedUnits: 0,
  milliseconds: 0,
});

/** Asks a pattern its example, and checks the answer. The prediction is made before anything is read. */
export const runPattern = async (pattern: BoundPattern, signal: AbortSignal): Promise<PatternResult> => {
  try {
    const explanation = await pattern.call.explain();
    return answered(pattern, explanation, await timed(() => pattern.call.report({ signal })));
  } catch (error) {
    if (signal.aborted) throw error;
    return failed(pattern, error);
  }
};
