import type { Bytes } from "./bytes/run.ts";
import type { Standing } from "./calls/ratios.ts";
import type { ColdStart } from "./cold-start/run.ts";
import type { Frontier } from "./graph/frontier/run.ts";
import type { Growth } from "./graph/growth/run.ts";
import type { MixResult } from "./graph/mixes/run.ts";
import type { Scatter } from "./graph/scatter/run.ts";
import type { WalkResult } from "./graph/walks/run.ts";
import type { Load } from "./load/run.ts";
import type { PlanTime } from "./plan/measure.ts";
import type { Environment } from "./results/environment.ts";
import type { Share } from "./share/run.ts";
import type { TypesCost } from "./types/run.ts";

/** Everything that was measured. A section that was not run is empty. */
export interface Report {
  /** Of the last run. */
  readonly environment: Environment;
  /** Of the sections that the last run did not measure. */
  readonly earlier: Readonly<Partial<Record<Section, Environment>>>;
  readonly calls: readonly Standing[];
  /** The same calls, 32 at a time, of a service that answers from memory. */
  readonly recorded: readonly Standing[];
  readonly share: readonly Share[];
  readonly bytes: readonly Bytes[];
  readonly coldStart: readonly ColdStart[];
  readonly types: readonly TypesCost[];
  readonly plan: readonly PlanTime[];
  readonly load: readonly Load[];
  readonly walks: readonly WalkResult[];
  readonly growth: readonly Growth[];
  readonly frontier: readonly Frontier[];
  readonly scatter: readonly Scatter[];
  readonly mixes: readonly MixResult[];
}

export type Section = Exclude<keyof Report, "environment" | "earlier">;

/** The candidate that the budgets are about. */
export const ours = "edgetable";
