import { bundle, optionalPeersOf, sdkPackages, sizeOf } from "../bundle/bundle.ts";
import type { Size } from "../bundle/bundle.ts";
import type { CandidateName } from "../calls/candidates.ts";

export interface Bytes {
  readonly candidate: CandidateName;
  /** Everything that the library's main entry exports, SDK outside; none for clients that are no library. */
  readonly whole: Size | undefined;
  /** What the eight calls use of it, with their own code, SDK outside. */
  readonly used: Size;
  /** The same with the SDK inside, where the candidate needs it. */
  readonly withSdk: Size;
}

const packageOf: Partial<Record<CandidateName, string>> = {
  electrodb: "electrodb",
  toolbox: "dynamodb-toolbox",
  onetable: "dynamodb-onetable",
  edgetable: "edgetable",
};

const bytesOf = async (candidate: CandidateName): Promise<Bytes> => {
  const library = packageOf[candidate];
  const used = `export * from "./calls/candidates/${candidate}.ts";`;
  return {
    candidate,
    whole: library === undefined ? undefined : sizeOf(await bundle(`export * from "${library}";`, { external: sdkPackages })),
    used: sizeOf(await bundle(used, { external: sdkPackages })),
    withSdk: sizeOf(await bundle(used, { external: optionalPeersOf(candidate) })),
  };
};

export const runBytes = async (candidates: readonly CandidateName[]): Promise<readonly Bytes[]> => Promise.all(candidates.map(bytesOf));
