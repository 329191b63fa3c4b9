import { readFile } from "node:fs/promises";
import { transform } from "esbuild";
import { bundle, optionalPeersOf, sdkPackages, sizeOf } from "../bundle/bundle.ts";
import type { Size } from "../bundle/bundle.ts";
import { libraryEntry, libraryFiles } from "../bundle/library.ts";
import type { CandidateName } from "../calls/candidates.ts";
import { filesOfEightCalls } from "./loaded-files.ts";

/** The library's files as they ship, each minified by itself. */
export interface OwnFiles {
  /** What an import loads, before the first call. */
  readonly atOnce: Size;
  /** What has been loaded when each of the eight calls was made. */
  readonly byEightCalls: Size;
}

export interface Bytes {
  readonly candidate: CandidateName;
  /** Everything that the library's main entry exports, SDK outside; none for clients that are no library. */
  readonly whole: Size | undefined;
  /** What the eight calls use of it, with their own code, SDK outside. */
  readonly used: Size;
  /** The same with the SDK inside, where the candidate needs it. */
  readonly withSdk: Size;
  /** Ours alone. */
  readonly files: OwnFiles | undefined;
}

const packageOf: Partial<Record<CandidateName, string>> = {
  electrodb: "electrodb",
  toolbox: "dynamodb-toolbox",
  onetable: "dynamodb-onetable",
  edgetable: libraryEntry,
};

const minified = async (path: string): Promise<Size> => {
  const { code } = await transform(await readFile(path, "utf8"), { minify: true, target: "node20", format: "esm", legalComments: "none" });
  return sizeOf(Buffer.from(code));
};

const sumOf = async (paths: readonly string[]): Promise<Size> => {
  const sizes = await Promise.all(paths.map(minified));
  return {
    minified: sizes.reduce((sum, size) => sum + size.minified, 0),
    gzip: sizes.reduce((sum, size) => sum + size.gzip, 0),
  };
};

const atOnce = /\/(?:index|chunks\/core)[.]js$/;

const filesOf = async (): Promise<OwnFiles> => {
  const first = (await libraryFiles()).filter((path) => atOnce.test(path) && !/\/(?:sdk|check)\//.test(path));
  return { atOnce: await sumOf(first), byEightCalls: await sumOf(await filesOfEightCalls()) };
};

const bytesOf = async (candidate: CandidateName): Promise<Bytes> => {
  const library = packageOf[candidate];
  const used = `export * from "./calls/candidates/${candidate}.ts";`;
  return {
    candidate,
    whole: library === undefined ? undefined : sizeOf(await bundle(`export * from "${library}";`, { external: sdkPackages })),
    used: sizeOf(await bundle(used, { external: sdkPackages })),
    withSdk: sizeOf(await bundle(used, { external: optionalPeersOf(candidate) })),
    files: candidate === "edgetable" ? await filesOf() : undefined,
  };
};

export const runBytes = async (candidates: readonly CandidateName[]): Promise<readonly Bytes[]> => {
  await libraryFiles();
  return Promise.all(candidates.map(bytesOf));
};
