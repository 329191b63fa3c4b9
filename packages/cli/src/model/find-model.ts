import { existsSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { EdgetableError } from "edgetable";

const folders = ["", "src/"];
const bases = ["edgetable", "edgetable.config", "model"];
const extensions = [".ts", ".mts", ".js", ".mjs"];

/** Where a model is looked for when none is named, first to last. */
const defaultModels: readonly string[] = folders.flatMap((folder) =>
  bases.flatMap((base) => extensions.map((extension) => `${folder}${base}${extension}`)),
);

/** A model file, and the export to take of it. */
export interface ModelPlace {
  readonly path: string;
  readonly exported: string | undefined;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

const missing = (message: string, path: string): EdgetableError =>
  new EdgetableError("cli.modelUnreadable", message, { details: { path } });

const named = (text: string, cwd: string): ModelPlace => {
  // `model.ts#billing` names an export, unless a file is called so.
  const [, file = text, exported] = isFile(resolve(cwd, text)) ? [] : (/^(.+)#([\w$]+)$/.exec(text) ?? []);
  const path = resolve(cwd, file);
  if (!isFile(path)) throw missing(`There is no model file ${relative(cwd, path) || path}.`, path);
  return { path, exported };
};

/**
 * The model file that is named, else the first of {@link defaultModels} that is there.
 *
 * @throws {cli.modelUnreadable} when there is none.
 */
export const findModel = (text: string | undefined, cwd: string): ModelPlace => {
  if (text !== undefined) return named(text, cwd);
  const found = defaultModels.find((name) => isFile(resolve(cwd, name)));
  if (found !== undefined) return { path: resolve(cwd, found), exported: undefined };
  throw missing(
    "There is no model here: looked for edgetable.ts, edgetable.config.ts and model.ts (also .mts, .js, .mjs) in this folder and in src/. Name it with --model FILE.",
    cwd,
  );
};
