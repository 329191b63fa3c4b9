import { Meter } from "../executor/call.ts";
import type { Run } from "../executor/jobs/run-job.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { openCollector } from "./collect.ts";
import type { Finding, FindingKind } from "./finding.ts";
import { costOf, runVerification, type Verification, type VerifyProgress } from "./run-verify.ts";
import { bitsFor, openTallies } from "./tallies.ts";

/** How facts are mended. */
export interface MendSettings {
  /** The kinds of findings that are mended. */
  readonly only: ReadonlySet<FindingKind>;
  /** Items that the table holds, roughly. */
  readonly items: number;
  /** Read units a second that the scans may take. */
  readonly units: number;
  /** Milliseconds between two readings that must agree. */
  readonly settle: number;
  readonly dryRun: boolean;
  /** The counts, sums and averages of which edges and parts without their node are told, as `post.likes`. */
  readonly counting?: readonly string[];
  /** Whether what the stream keeps is judged as well. It is not mended, but refreshed as its processor does. */
  readonly streamed: boolean;
  readonly onProgress: (progress: VerifyProgress) => void;
}

/** What was wrong with the facts that a model declares. */
export interface MendedFacts {
  readonly found: number;
  readonly repaired: number;
  /** Items that writers kept changing. */
  readonly unsettled: number;
  /** Values that several nodes have: their number, and the first ones. */
  readonly duplicates: { readonly count: number; readonly examples: readonly Finding[] };
  /** Edges and parts without their node, for which it would not count: their number, and the first ones. */
  readonly uncounted: { readonly count: number; readonly examples: readonly Finding[] };
}

/** What is wrong with derived attributes, copies and counted degrees. */
export const FACTS: ReadonlySet<FindingKind> = new Set(["wrongAggregate", "staleCopy", "wrongCount", "staleFact"]);

/** What is wrong with the markers of unique values. */
export const MARKERS: ReadonlySet<FindingKind> = new Set(["missingMarker", "foreignMarker", "orphanedMarker"]);

const EXAMPLES = 100;
const CONCURRENCY = 4;

/**
 * Verifies a table and mends what is asked for, and nothing else: derived attributes, copies and counted degrees, or the markers
 * of unique values, for a model that has come to declare them.
 * Every write requires that what it was computed from is as it was read.
 */
export const mendFacts = async (
  run: Run,
  { only, items, units, settle, dryRun, streamed, counting = [], onProgress }: MendSettings,
): Promise<MendedFacts> => {
  const { session } = run;
  await loadRules(session.catalog);
  const collector = openCollector(EXAMPLES);
  const alone: Finding[] = [];
  let uncounted = 0;
  const onFinding = (finding: Finding): void => {
    if (!finding.uncounted?.some((name) => counting.includes(name))) return;
    uncounted++;
    if (alone.length < EXAMPLES) alone.push(finding);
  };
  const verification: Verification = {
    run,
    settings: {
      segments: CONCURRENCY,
      concurrency: CONCURRENCY,
      units,
      differing: "keep",
      streamed,
      alone: undefined,
      documents: undefined,
      rebuild: undefined,
      settle,
      trustsIndexes: true,
      staleAfter: settle,
      limit: undefined,
      repair: { mode: dryRun ? "dryRun" : "repair", deletesOrphans: false, rejudges: false, only, onMend: undefined },
      onFinding,
      onProgress,
      progressEvery: 1000,
    },
    tallies: openTallies({ seed: Math.floor(session.effects.random() * 2 ** 32), bits: bitsFor(items) }),
    collector,
    pass: 1,
    scans: 0,
    items: 0,
    seen: 0,
    unsettled: 0,
    meter: new Meter(0),
    reported: session.effects.now(),
    position: undefined,
    save: undefined,
    saveEvery: 0,
  };
  await runVerification(verification);
  run.cost = costOf(verification);
  const mended = collector.kinds.filter(({ kind }) => only.has(kind));
  const { count = 0, examples = [] } = collector.kinds.find(({ kind }) => kind === "duplicate") ?? {};
  return {
    found: mended.reduce((sum, { count }) => sum + count, 0),
    repaired: mended.reduce((sum, { repaired }) => sum + repaired, 0),
    unsettled: verification.unsettled,
    duplicates: { count, examples },
    uncounted: { count: uncounted, examples: alone },
  };
};
