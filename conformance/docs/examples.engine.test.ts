import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { blocksOf, countExamples, examplesIn, root, type Block } from "./extract.ts";
import { openLab, type Lab } from "./lab.ts";

/** Code in the documentation is code: it is typechecked as it stands, and runs on an engine. */
const sources = "packages/edgetable/src";
const folders = [sources, "packages/testing/src"];
const examples = folders.flatMap(examplesIn);

/** Needs a job that a process left behind; its own tests run it. */
const isTypecheckedOnly = ({ file }: Block): boolean => file.endsWith("client/jobs.ts");
const packageReadme = blocksOf("packages/edgetable/README.md");
/** Pages of docs/ whose code is a whole program. */
const pages = [
  "docs/guide.md",
  "docs/indexes.md",
  "docs/grids.md",
  "docs/migrations.md",
  "docs/tenancy.md",
  "docs/web.md",
  "docs/walks.md",
  "docs/observability.md",
  "docs/expiry.md",
  "docs/testing.md",
  "packages/testing/README.md",
  "packages/opentelemetry/README.md",
]
  .flatMap(blocksOf)
  .concat(blocksOf("docs/layout.md").filter(({ code }) => code.includes(".connect(")));
const cache = join(root, ".cache");

let engine: TestEngine;
let folder: string;
let lab: Lab;

/** Internal functions stand in the examples of their own file without an import. */
const ownImports = ({ file }: Block): string =>
  file.endsWith("keys/parse-template.ts") ? `import { parseTemplate, renderTemplate } from "../../${sources}/keys/template.ts";\n` : "";

const split = (code: string): { readonly imports: string; readonly body: string } => {
  const lines = code.split("\n");
  return {
    imports: lines.filter((line) => line.startsWith("import ")).join("\n"),
    body: lines.filter((line) => !line.startsWith("import ")).join("\n"),
  };
};

/** A module around an example: the lab's names stand outside, so that the example may declare its own. */
const exampleModule = (block: Block): string => {
  const names = Object.keys(lab)
    .filter((name) => name !== "jobId" && !(name === "id" && isTypecheckedOnly(block)))
    .concat(isTypecheckedOnly(block) ? "jobId: id" : "jobId")
    .join(", ");
  const body = block.code.replaceAll(/^export /gm, "");
  return `import type { Lab } from "${relative(folder, join(root, "conformance/docs/lab.ts"))}";\n${ownImports(block)}export const run = async ({ ${names} }: Lab): Promise<void> => {\n  {\n${body}\n  }\n};\n`;
};

/** A module around a whole program of a README: only its endpoint and its table's name are others. */
const programModule = (block: Block, table: string): string => {
  const { imports, body } = split(block.code);
  const adapted = body
    .replaceAll('"http://127.0.0.1:8000"', JSON.stringify(engine.endpoint))
    .replace(/table: "\w+"/, `table: ${JSON.stringify(table)}`);
  return `${imports}\nexport const run = async () => {\n${adapted}\nreturn { db };\n};\n`;
};

const write = (name: string, source: string): string => {
  const path = join(folder, name);
  writeFileSync(path, source);
  return path;
};

const load = async (path: string): Promise<{ run(given?: unknown): Promise<unknown> }> =>
  (await import(/* @vite-ignore */ pathToFileURL(path).href)) as never;

beforeAll(async () => {
  engine = await openEngine();
  lab = await openLab(engine.transport, engine.freshTableName("docs"));
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "docs-"));
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  write("tsconfig.json", JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["./*.ts"], exclude: [] }));
  for (const [at, block] of examples.entries()) write(`example-${at}.ts`, exampleModule(block));
  for (const [at, block] of packageReadme.entries()) write(`readme-${at}.ts`, programModule(block, engine.freshTableName("readme")));
  for (const [at, block] of pages.entries()) write(`page-${at}.ts`, programModule(block, engine.freshTableName("page")));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await engine.close();
});

test("no @example is overlooked", () => {
  expect(examples.length).toBeGreaterThan(10);
  for (const name of folders) expect(examplesIn(name)).toHaveLength(countExamples(name));
});

test("every example and README is free of type errors", async () => {
  const places = [
    ...examples.map(({ place }, at) => `example-${at}.ts is ${place}`),
    ...packageReadme.map(({ place }, at) => `readme-${at}.ts is ${place}`),
    ...pages.map(({ place }, at) => `page-${at}.ts is ${place}`),
  ];
  const tsc = join(root, "node_modules/typescript7/bin/tsc");
  const errors = await promisify(execFile)(process.execPath, [tsc, "--noEmit", "--pretty", "false", "-p", join(folder, "tsconfig.json")], {
    cwd: folder,
  }).then(
    () => "",
    (failure: { readonly stdout: string }) => `${failure.stdout}\n${places.join("\n")}`,
  );
  expect(errors).toBe("");
});

test.each(examples.flatMap((block, at) => (isTypecheckedOnly(block) ? [] : [[block.place, at] as const])))("%s runs", async (_, at) => {
  await (await load(join(folder, `example-${at}.ts`))).run(lab);
});

test.each(pages.map(({ place }, at) => [place, at] as const))("%s runs on an engine", async (_, at) => {
  const { db } = (await (await load(join(folder, `page-${at}.ts`))).run()) as { readonly db: Pick<Lab["db"], "close"> };
  await db.close();
});

interface Program {
  readonly db: Pick<Lab["db"], "student" | "course" | "close">;
}

test.each(packageReadme.map(({ place }, at) => [place, at] as const))(
  "%s runs on an engine, in the requests that its comments promise",
  async (_, at) => {
    const { db } = (await (await load(join(folder, `readme-${at}.ts`))).run()) as Program;
    const { value, requests } = await db.course({ courseId: "C1" }).in("enrolledIn").entries().report();
    expect(value).toEqual([
      {
        edge: expect.objectContaining({ enrolledAt: "2024-03-31T10:00:00", grade: "A" }) as object,
        node: expect.objectContaining({ studentId: "S1", name: "John Doe" }) as object,
      },
    ]);
    expect(requests.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
    const collection = await db.student({ studentId: "S1" }).collection().report();
    expect(collection.requests.map(({ operation }) => operation)).toEqual(["Query"]);
    expect(collection.value).toMatchObject({ node: { name: "John Doe" }, edges: { enrolledIn: [{ to: { courseId: "C1" } }] } });
    await db.close();
  },
);
