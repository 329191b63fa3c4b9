import { relative } from "node:path";
import { transform } from "esbuild";
import { sizeOf, type Size } from "../bundle/bundle.ts";
import { libraryFolder, libraryModules } from "../bundle/library.ts";

/** Code minified as in a bundle for production. */
export const minified = async (code: string): Promise<Size> =>
  sizeOf(Buffer.from((await transform(code, { minify: true, target: "node20", format: "esm", legalComments: "none" })).code));

/** What one source of the library, or a folder of them, takes of the shipped files that contain it. */
export interface Part {
  readonly name: string;
  readonly files: number;
  readonly minified: number;
  /** Compressed alone a source takes more than as a part of a file: the parts are scaled to add up to the files. */
  readonly gzip: number;
}

/** What each source takes of the given files, the largest first. */
export const partsOf = async (files: readonly string[], total: Size): Promise<readonly Part[]> => {
  const names = new Set(files.map((file) => relative(libraryFolder, file)));
  const modules = (await libraryModules()).filter(({ file, code }) => names.has(file) && code.trim() !== "");
  const parts: Part[] = [];
  for (const { module, code } of modules) parts.push({ name: module, files: 1, ...(await minified(code)) });
  const alone = parts.reduce((sum, { gzip }) => sum + gzip, 0);
  return parts.map((part) => ({ ...part, gzip: (part.gzip * total.gzip) / alone })).toSorted((a, b) => b.gzip - a.gzip);
};

/** The same by folder. */
export const byFolder = (parts: readonly Part[]): readonly Part[] => {
  const folders = new Map<string, Part>();
  for (const part of parts) {
    const name = part.name.includes("/") ? part.name.slice(0, part.name.lastIndexOf("/")) : ".";
    const sum = folders.get(name) ?? { name, files: 0, minified: 0, gzip: 0 };
    folders.set(name, { name, files: sum.files + 1, minified: sum.minified + part.minified, gzip: sum.gzip + part.gzip });
  }
  return [...folders.values()].toSorted((a, b) => b.gzip - a.gzip);
};
