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
  "hand-written": () => import("./candidates/hand-written.ts"),
} satisfies Record<string, () => Promise<Loaded>>;

export type CandidateName = keyof typeof loaders;
export const baseline: CandidateName = "lib-dynamodb";

/** Every candidate there is, the baseline first. */
export const candidateNames = Object.keys(loaders) as readonly CandidateName[];

export const loadCandidate = (name: CandidateName): Promise<Loaded> => loaders[name]();
