import type { Connect } from "./calls.ts";

interface Loaded {
  readonly connect: Connect;
}

/** Each candidate's file, loaded only in the process that measures it. */
const loaders = {
  "lib-dynamodb": () => import("./candidates/lib-dynamodb.ts"),
  electrodb: () => import("./candidates/electrodb.ts"),
  toolbox: () => import("./candidates/toolbox.ts"),
  onetable: () => import("./candidates/onetable.ts"),
  edgetable: () => import("./candidates/edgetable.ts"),
  // The same calls over zod's small form, for the sections that bundle.
  "edgetable-mini": () => import("./candidates/edgetable-mini.ts"),
  "hand-written": () => import("./candidates/hand-written.ts"),
} satisfies Record<string, () => Promise<Loaded>>;

export type CandidateName = keyof typeof loaders;
export const baseline: CandidateName = "lib-dynamodb";

/** Everything that is bundled and started cold, the baseline first. */
export const bundledNames = Object.keys(loaders) as readonly CandidateName[];

/** Everything whose calls are measured. */
export const candidateNames: readonly CandidateName[] = bundledNames.filter((name) => name !== "edgetable-mini");

export const loadCandidate = (name: CandidateName): Promise<Loaded> => loaders[name]();
