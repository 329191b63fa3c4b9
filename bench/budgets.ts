import { readFileSync } from "node:fs";
import { ours } from "./report.ts";
import type { Report, Section } from "./report.ts";

/** One line of thresholds.json. */
export interface Threshold {
  readonly id: BudgetName;
  readonly what: string;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly reason: string;
  /** What is held where the budget is not reached yet: the other side of it, so that it can only get better. */
  readonly ceiling?: number;
  readonly missedBecause?: string;
}

export interface Verdict extends Threshold {
  /** Undefined when the run did not measure it; that counts as failed. */
  readonly measured: number | undefined;
  readonly held: boolean;
  /** Missed, but within the ceiling that is held meanwhile. */
  readonly tolerated: boolean;
}

const ownCalls = (report: Report, concurrency: number) =>
  report.calls.find((standing) => standing.candidate === ours && standing.concurrency === concurrency);
const types = (report: Report, project: string) =>
  report.types.find((cost) => cost.project === project && cost.count === 50 && cost.compiler === "typescript");
const ratio = (numerator: number | undefined, denominator: number | undefined): number | undefined =>
  numerator === undefined || denominator === undefined ? undefined : numerator / denominator;
const difference = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? undefined : left - right;
const imported = (report: Report, candidate: string): number | undefined =>
  report.coldStart.find((each) => each.candidate === candidate)?.imported;
const answered = (report: Report, candidate: string): number | undefined =>
  report.coldStart.find((each) => each.candidate === candidate)?.answered;
const answeredSplit = (report: Report, candidate: string): number | undefined =>
  report.coldStart.find((each) => each.candidate === candidate)?.answeredSplit;
const installed = (report: Report, candidate: string): number | undefined =>
  report.coldStart.find((each) => each.candidate === candidate)?.installed;
const ownBytes = (report: Report) => report.bytes.find(({ candidate }) => candidate === ours);
const ownLoad = (report: Report) => report.load.find(({ side }) => side === (ours as string));

// The worst of what was measured; undefined where nothing was.
const worst = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : Math.max(...values));
const ownWalks = (report: Report) => report.walks.filter(({ side }) => side === ours);
const requestsBeyond = ({ walks }: Report) =>
  walks
    .filter(({ side }) => side === ours)
    .map(({ graph, direction, depth, requests }) => {
      const other = walks.find(
        (walk) => walk.side === "hand-written" && walk.graph === graph && walk.direction === direction && walk.depth === depth,
      );
      return requests - (other?.requests ?? Number.NaN);
    });
const halfMillion = 500_000;

interface Budget {
  readonly section: Section;
  readonly measure: (report: Report) => number | undefined;
}

// How each figure of thresholds.json is read off a report.
const budgets = {
  cpuAlone: { section: "calls", measure: (report) => ownCalls(report, 1)?.cpuRatio },
  cpuTogether: { section: "calls", measure: (report) => ownCalls(report, 32)?.cpuRatio },
  rate: { section: "calls", measure: (report) => ownCalls(report, 32)?.rateRatio },
  rateRecorded: { section: "recorded", measure: ({ recorded }) => recorded.find(({ candidate }) => candidate === ours)?.rateRatio },
  instantiations: {
    section: "types",
    measure: (report) => difference(types(report, "edgetable")?.instantiations, types(report, "edgetableSchemas")?.instantiations),
  },
  misspelt: {
    section: "types",
    measure: (report) => ratio(types(report, "edgetableMisspelt")?.instantiations, types(report, "edgetable")?.instantiations),
  },
  declarations: { section: "types", measure: (report) => ratio(types(report, "edgetable")?.declarations, 100) },
  gzip: { section: "bytes", measure: (report) => ratio(ownBytes(report)?.files?.byEightCalls.gzip, 1000) },
  gzipEverything: { section: "bytes", measure: (report) => ratio(ownBytes(report)?.whole?.gzip, 1000) },
  import: { section: "coldStart", measure: (report) => ratio(imported(report, "edgetable-mini"), imported(report, "electrodb")) },
  firstAnswer: { section: "coldStart", measure: (report) => ratio(answered(report, "edgetable-mini"), answered(report, "electrodb")) },
  firstAnswerSplit: {
    section: "coldStart",
    measure: (report) => ratio(answeredSplit(report, "edgetable-mini"), answered(report, "electrodb")),
  },
  importInstalled: {
    section: "coldStart",
    measure: (report) => ratio(installed(report, "edgetable-mini"), installed(report, "electrodb")),
  },
  plan: {
    section: "plan",
    measure: ({ plan }) => worst(plan.filter(({ form }) => form === "known").map(({ marshallings }) => marshallings)),
  },
  planNew: {
    section: "plan",
    measure: ({ plan }) => worst(plan.filter(({ form }) => form === "new").map(({ marshallings }) => marshallings)),
  },
  loadRate: { section: "load", measure: (report) => ownLoad(report)?.rateRatio },
  loadHeap: { section: "load", measure: (report) => ownLoad(report)?.heapGrowth },
  walkTime: { section: "walks", measure: (report) => worst(ownWalks(report).map(({ ratio }) => ratio)) },
  walkRequests: { section: "walks", measure: (report) => worst(requestsBeyond(report)) },
  growth: {
    section: "growth",
    measure: ({ growth }) => worst(growth.filter(({ side }) => side === ours).map(({ ratio }) => ratio)),
  },
  frontier: {
    section: "frontier",
    measure: ({ frontier }) => worst(frontier.filter(({ side }) => side === ours).map(({ live, ids }) => (live * halfMillion) / ids)),
  },
  scatter: {
    section: "scatter",
    measure: ({ scatter }) => worst(scatter.filter(({ latency }) => latency > 0).map(({ ratio }) => ratio)),
  },
} as const satisfies Record<string, Budget>;
export type BudgetName = keyof typeof budgets;

/** One threshold against what was measured. */
export const judge = (threshold: Threshold, report: Report): Verdict => {
  const budget: Budget = budgets[threshold.id];
  const measured = budget.measure(report);
  const held = measured !== undefined && measured <= (threshold.atMost ?? Infinity) && measured >= (threshold.atLeast ?? -Infinity);
  const { ceiling } = threshold;
  const tolerated =
    !held &&
    measured !== undefined &&
    ceiling !== undefined &&
    (threshold.atMost === undefined ? measured >= ceiling : measured <= ceiling);
  return { ...threshold, measured, held, tolerated };
};

/** Every threshold against what was measured. */
export const judgeAll = (report: Report): readonly Verdict[] => {
  const { thresholds } = JSON.parse(readFileSync("thresholds.json", "utf8")) as { readonly thresholds: readonly Threshold[] };
  return thresholds.map((threshold) => judge(threshold, report));
};

/** The sections that measure these thresholds. */
export const sectionsOf = (thresholds: readonly Pick<Threshold, "id">[]): readonly Section[] => [
  ...new Set(thresholds.map(({ id }) => budgets[id].section)),
];

/** A budget as text: `<= 0.20`, `>= 3.00`. */
export const limitOf = ({ atMost, atLeast }: Threshold): string => (atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`);
