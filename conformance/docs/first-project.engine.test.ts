import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { blocksOf, root } from "./extract.ts";

/**
 * The project of `edgetable init` is the code of README, and runs. `npm run first-project` does the same with installed packages, under
 * several compilers; `npm run typecheck` checks the types of the template.
 */
const template = join(root, "packages/create-edgetable/template");
const program = join(root, "packages/cli/bin/edgetable.js");
const jiti = join(root, "node_modules/jiti/lib");
const readme = readFileSync(join(root, "README.md"), "utf8");

let engine: LocalEngine;
let folder: string;
beforeAll(async () => {
  engine = await startEngine();
  // Inside the workspace, so that the project finds its packages.
  mkdirSync(join(root, ".cache"), { recursive: true });
  folder = join(mkdtempSync(join(root, ".cache/first-project-")), "my-graph");
  await node(program, "init", folder);
});
afterAll(async () => {
  rmSync(join(folder, ".."), { recursive: true, force: true });
  await engine.stop();
});

const node = async (...args: readonly string[]): Promise<string> => {
  const { AWS_REGION: _region, AWS_DEFAULT_REGION: _other, ...inherited } = process.env;
  const env = { ...inherited, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint, NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: args[1] === "init" ? root : folder, env });
  return stdout;
};

test("README shows the project's model and script as they are", () => {
  const files = ["src/model.ts", "src/main.ts"].map((file) => readFileSync(join(template, file), "utf8"));
  expect(blocksOf("README.md").map(({ code }) => code)).toEqual(files);
});

test("the script prints what README shows, and the same when it runs again", async () => {
  const shown = /^```text\n([^]*?)^```/m.exec(readme)?.[1];
  expect(await node(join(jiti, "jiti-cli.mjs"), "src/main.ts")).toBe(shown);
  expect(await node(join(jiti, "jiti-cli.mjs"), "src/main.ts")).toBe(shown);
});

test("the model loads without an engine, and each of its questions has a plan", async () => {
  const patterns = JSON.parse(await node(program, "patterns", "--json")) as readonly {
    readonly name: string;
    readonly requests: unknown;
  }[];
  expect(patterns.map(({ name }) => name)).toEqual(["studentsOfCourse", "classmates", "coursesByName"]);
  for (const { name } of patterns) expect(await node(program, "explain", name)).toContain("predicted");
  expect(await node(program, "check", "--strict")).toContain("0 errors, 0 warnings");
});

test("its own test passes", async () => {
  expect(await node("--import", join(jiti, "jiti-register.mjs"), "--test", "src/model.test.ts")).toMatch(/^# pass 2\n# fail 0$/m);
});

test("its handler answers as an API Gateway wants it", async () => {
  const call = `
    const { createJiti } = await import(${JSON.stringify(join(jiti, "jiti.mjs"))});
    const { handler } = await createJiti(${JSON.stringify(join(folder, "x"))}).import("./src/handler.ts");
    console.log(JSON.stringify([await handler({ pathParameters: { courseId: "C1" } }), await handler({ pathParameters: { courseId: "C9" } }), await handler({})]));
    process.exit();
  `;
  const answers = JSON.parse(await node("--input-type=module", "--eval", call)) as readonly { statusCode: number; body: string }[];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 404, 400]);
  expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({
    course: { credits: 3 },
    students: [{ name: "John Doe" }, { name: "Jane Roe" }],
  });
});
