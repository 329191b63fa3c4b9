import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundle, optionalPeersOf, sdkPackages, sizeOf } from "../bundle/bundle.ts";
import type { Size } from "../bundle/bundle.ts";
import { libraryEntry, libraryFiles, libraryFolder, productionEntry } from "../bundle/library.ts";
import type { CandidateName } from "../calls/candidates.ts";
import { filesOfEightCalls } from "./loaded-files.ts";
import { byFolder, minified, partsOf, type Part } from "./modules.ts";

/** The library's files as they ship, each minified by itself, under the condition "production". */
export interface OwnFiles {
  /** What an import loads, before the first call. */
  readonly atOnce: Size;
  /** What has been loaded when each of the eight calls was made. */
  readonly byEightCalls: Size;
  /** The same without the condition: with the checks of models. */
  readonly withChecks: Size;
  /** What the eight calls load, by the library's folders. */
  readonly folders: readonly Part[];
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
  edgetable: productionEntry,
};

/** The size of files, each minified by itself. */
export const sumOf = async (paths: readonly string[]): Promise<Size> => {
  const sizes = await Promise.all(paths.map(async (path) => minified(await readFile(path, "utf8"))));
  return {
    minified: sizes.reduce((sum, size) => sum + size.minified, 0),
    gzip: sizes.reduce((sum, size) => sum + size.gzip, 0),
  };
};

const filesOf = async (): Promise<OwnFiles> => {
  const files = await filesOfEightCalls();
  const checked = [
    ...files.filter((path) => path !== productionEntry),
    libraryEntry,
    ...["checks", "check-operands"].map((name) => join(libraryFolder, `chunks/${name}.js`)),
  ];
  const byEightCalls = await sumOf(files);
  return {
    atOnce: await sumOf([productionEntry, join(libraryFolder, "chunks/core.js")]),
    byEightCalls,
    withChecks: await sumOf(checked),
    folders: byFolder(await partsOf(files, byEightCalls)),
  };
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
