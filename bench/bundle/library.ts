import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Where the library stands as it ships. */
export const libraryFolder = join(process.cwd(), "dist/library");
export const libraryEntry = join(libraryFolder, "index.js");

let built: Promise<unknown> | undefined;

/** Bundles the library from its sources as its package ships it, once. */
export const buildLibrary = async (): Promise<void> => {
  built ??= promisify(execFile)(process.execPath, ["../scripts/bundle-library.mjs", libraryFolder]);
  await built;
};

/** The library's files, by their paths. */
export const libraryFiles = async (): Promise<readonly string[]> => {
  await buildLibrary();
  const paths = await readdir(libraryFolder, { recursive: true });
  return paths.filter((path) => path.endsWith(".js")).map((path) => join(libraryFolder, path));
};
