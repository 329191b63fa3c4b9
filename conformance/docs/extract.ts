import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** A block of code out of the documentation. */
export interface Block {
  /** File and line, such as `packages/edgetable/src/schema/edge.ts:83`. */
  readonly place: string;
  readonly file: string;
  readonly code: string;
}

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const lineOf = (text: string, at: number): number => text.slice(0, at).split("\n").length;

const sourcesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/\.test/.test(path) && !path.includes("test-support/"))
    .map((path) => join(folder, path))
    .toSorted();

/** The text of a comment's `@example`, which ends at the next tag or with the comment. */
const exampleIn = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .filter((line) => !line.startsWith("```"))
    .join("\n")
    .trim();

/** Every `@example` of the doc comments below a folder. */
export const examplesIn = (folder: string): readonly Block[] =>
  sourcesIn(folder).flatMap((file) => {
    const source = read(file);
    return [...source.matchAll(/^\s*\* @example\n((?:(?!\s*\*\/|\s*\* @).*\n)+)/gm)].map((found) => ({
      place: `${file}:${lineOf(source, found.index)}`,
      file,
      code: exampleIn(found[1] ?? ""),
    }));
  });

/** How many `@example` tags there are, however they are written. */
export const countExamples = (folder: string): number =>
  sourcesIn(folder).reduce((sum, file) => sum + (read(file).match(/@example\b/g)?.length ?? 0), 0);

/** The ts blocks of a Markdown file. */
export const blocksOf = (file: string): readonly Block[] => {
  const source = read(file);
  return [...source.matchAll(/^```ts\n([^]*?)^```/gm)].map((found) => ({
    place: `${file}:${lineOf(source, found.index)}`,
    file,
    code: found[1] ?? "",
  }));
};

/** The programs of a Markdown file: ts blocks with a name after the language. */
export const programsOf = (file: string): readonly { readonly name: string; readonly code: string }[] =>
  [...read(file).matchAll(/^```ts ([\w-]+)\n([^]*?)^```/gm)].map(([, name = "", code = ""]) => ({ name, code }));
