import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Where the library stands as it ships. */
export const libraryFolder = join(process.cwd(), "dist/library");
export const libraryEntry = join(libraryFolder, "index.js");
/** The main entry under the condition "production": without the checks of models. */
export const productionEntry = join(libraryFolder, "production.js");

const modulesFile = "dist/library-modules.json";

let built: Promise<unknown> | undefined;

/** Bundles the library from its sources as its package ships it, once. */
export const buildLibrary = async (): Promise<void> => {
  built ??= mkdir("dist", { recursive: true }).then(() =>
    promisify(execFile)(process.execPath, ["../scripts/bundle-library.mjs", libraryFolder, modulesFile]),
  );
  await built;
};

/** One of the library's sources, as it stands in a shipped file. */
export interface LibraryModule {
  readonly file: string;
  readonly module: string;
  readonly code: string;
}

/** Every source in every shipped file. */
export const libraryModules = async (): Promise<readonly LibraryModule[]> => {
  await buildLibrary();
  return JSON.parse(await readFile(modulesFile, "utf8")) as readonly LibraryModule[];
};

/** The library's files, by their paths. */
export const libraryFiles = async (): Promise<readonly string[]> => {
  await buildLibrary();
  const paths = await readdir(libraryFolder, { recursive: true });
  return paths.filter((path) => path.endsWith(".js")).map((path) => join(libraryFolder, path));
};
