import { runBytes } from "./bytes/run.ts";
import { bundledNames, candidateNames } from "./calls/candidates.ts";
import type { CandidateName } from "./calls/candidates.ts";
import { standingsOf } from "./calls/ratios.ts";
import { runCalls } from "./calls/run.ts";
import { runColdStart } from "./cold-start/run.ts";
import { runFrontier } from "./graph/frontier/run.ts";
import { runGrowth } from "./graph/growth/run.ts";
import { runMixes } from "./graph/mixes/run.ts";
import { runScatter } from "./graph/scatter/run.ts";
import { runWalks } from "./graph/walks/run.ts";
import { walkSides } from "./graph/walks/sides.ts";
import type { WalkSide } from "./graph/walks/sides.ts";
import { runPlan } from "./plan/run.ts";
import { runLoad } from "./load/run.ts";
import { sides } from "./load/sides.ts";
import type { Report, Section } from "./report.ts";
import { runShare } from "./share/run.ts";
import { generators, runTypes } from "./types/run.ts";
import type { TypedProject } from "./types/run.ts";

export type Runners = { readonly [Name in Section]: () => Promise<Report[Name]> };
type Log = (line: string) => void;

const seed = Number(process.env.EDGETABLE_BENCH_SEED ?? 20_261_121);
const projects = Object.keys(generators) as readonly TypedProject[];
const ourProjects = projects.filter((project) => project.startsWith("edgetable"));

/** What RESULTS.md is made of: about half an hour on two quiet cores, ten minutes of it for the load. */
export const fullRun = (log: Log): Runners => ({
  calls: async () =>
    standingsOf(
      await runCalls({ candidates: candidateNames, rounds: 9, blocks: { 1: 200, 32: 512 }, warmUp: 1500, seed, service: "engine" }, log),
    ),
  recorded: async () =>
    standingsOf(
      await runCalls({ candidates: candidateNames, rounds: 9, blocks: { 32: 512 }, warmUp: 1500, seed, service: "recorded" }, log),
    ),
  share: () => runShare({ candidates: candidateNames, rounds: 9, count: 500, seed }, log),
  bytes: () => runBytes(bundledNames),
  coldStart: () => runColdStart({ candidates: bundledNames, processes: 21, seed }),
  types: () => runTypes({ projects, counts: [10, 50, 100], compilers: ["typescript", "typescript7"] }, log),
  plan: () => runPlan({ rounds: 15 }),
  load: () => runLoad({ sides, items: 1_000_000, segment: 25_000, seed }, log),
  walks: () =>
    runWalks({ nodes: 100_000, edges: 1_000_000, seed, warmUp: 20_000, starts: 5, rounds: 12, longest: 3000, sides: walkSides }, log),
  growth: () => runGrowth({ edges: [10_000, 100_000, 1_000_000], seed, rounds: 30, walks: 10 }, log),
  frontier: () => runFrontier({ ids: 500_000 }, log),
  scatter: () => runScatter({ tasks: 50_000, seed, rounds: 20, pages: 20 }, log),
  mixes: () => runMixes({ nodes: 100_000, seed, count: 100_000, warmUp: 10_000, requesters: [1, 16] }, log),
});

const ownAndBaseline: readonly CandidateName[] = ["lib-dynamodb", "edgetable"];
const ownAndElectro: readonly CandidateName[] = ["electrodb", "edgetable-mini"];

const ownWalks: readonly WalkSide[] = ["hand-written", "edgetable"];

/** Measures what has a budget, within four minutes. */
export const reducedRun = (log: Log): Runners => ({
  calls: async () =>
    standingsOf(
      await runCalls({ candidates: ownAndBaseline, rounds: 5, blocks: { 1: 150, 32: 320 }, warmUp: 1000, seed, service: "engine" }, log),
    ),
  recorded: async () =>
    standingsOf(
      await runCalls({ candidates: ownAndBaseline, rounds: 5, blocks: { 32: 320 }, warmUp: 1000, seed, service: "recorded" }, log),
    ),
  share: async () => [],
  bytes: () => runBytes(["edgetable"]),
  coldStart: () => runColdStart({ candidates: ownAndElectro, processes: 11, seed }),
  types: () => runTypes({ projects: ourProjects, counts: [50], compilers: ["typescript"] }, log),
  plan: () => runPlan({ rounds: 7 }),
  load: () => runLoad({ sides, items: 60_000, segment: 6000, seed }, log),
  walks: () => runWalks({ nodes: 10_000, edges: 50_000, seed, warmUp: 10_000, starts: 4, rounds: 7, longest: 600, sides: ownWalks }, log),
  growth: () => runGrowth({ edges: [10_000, 100_000], seed, rounds: 20, walks: 5 }, log),
  frontier: () => runFrontier({ ids: 100_000 }, log),
  scatter: () => runScatter({ tasks: 20_000, seed, rounds: 12, pages: 10 }, log),
  mixes: async () => [],
});
