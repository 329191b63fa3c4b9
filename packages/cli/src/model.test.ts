import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "./test-support/lab.ts";

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.remove());

const patterns = (...argv: readonly string[]) => run(["patterns", ...argv], { cwd: folder.path });

const graph = (name: string, table: string): string =>
  `export const ${name} = defineGraph({ table: "${table}", nodes: { thing: node({ key: "T#{id}", schema: z.object({ id: z.string() }) }) } });\n`;
const imports = `import { defineGraph, node } from "edgetable";\nimport { z } from "zod";\n`;

describe("finds", () => {
  test.each(["edgetable.ts", "edgetable.config.ts", "model.ts", "src/edgetable.ts", "src/model.ts", "model.mts"])("%s", async (name) => {
    folder.write(name, educationModel);
    expect(await patterns()).toMatchObject({ code: 0, out: expect.stringContaining("studentsOfCourse") });
  });

  test("a named file, TypeScript or JavaScript", async () => {
    folder.write("deep/graph.ts", educationModel);
    folder.write("graph.js", educationModel);
    expect((await patterns("--model", "deep/graph.ts")).code).toBe(0);
    expect((await patterns("--model", "graph.js")).code).toBe(0);
  });

  test("CommonJS, and reports an invalid model", async () => {
    const text = (table: string): string =>
      `const { defineGraph, node } = require("edgetable");\nconst { z } = require("zod");\nmodule.exports = defineGraph({ table: "${table}", nodes: { thing: node({ key: "T#{id}", schema: z.object({ id: z.string() }) }) } });\n`;
    folder.write("good.cjs", text("Things"));
    folder.write("bad.cjs", text("T"));
    expect(await patterns("--model", "good.cjs")).toMatchObject({ code: 0, err: expect.stringContaining("good.cjs exports no patterns") });
    expect(await patterns("--model", "bad.cjs")).toMatchObject({
      code: 3,
      err: expect.stringContaining('"T" is not a valid DynamoDB name'),
    });
  });

  test("models over several files", async () => {
    folder.write(
      "nodes.ts",
      `${imports}export const thing = node({ key: "T#{id}", schema: z.object({ id: z.string() as z.ZodType<string> }) });`,
    );
    folder.write(
      "model.ts",
      `import { defineGraph } from "edgetable";\nimport { thing } from "./nodes.ts";\nexport default defineGraph({ table: "Things", nodes: { thing } });`,
    );
    expect(await patterns()).toMatchObject({ code: 0, err: expect.stringContaining("model.ts exports no patterns") });
  });
});

describe("several graphs", () => {
  beforeEach(() => folder.write("model.ts", imports + graph("first", "One") + graph("second", "Two")));

  test("are all checked", async () => {
    expect((await run(["check"], { cwd: folder.path })).code).toBe(0);
  });

  test("one is chosen with file#export", async () => {
    const diff = ["table", "diff", "--endpoint", "http://127.0.0.1:1"];
    expect((await run(diff, { cwd: folder.path })).err).toContain(
      "model.ts exports several graphs (first, second). Choose one, such as --model model.ts#first.",
    );
    expect((await run([...diff, "--model", "model.ts#secnd"], { cwd: folder.path })).err).toContain(
      'model.ts has no export "secnd". Did you mean "second"?',
    );
    expect((await run([...diff, "--model", "model.ts#second"], { cwd: folder.path })).code).toBe(4);
  });
});

describe("rejects with exit code 3", () => {
  const refused = async (name: string, text: string): Promise<string> => {
    folder.write(name, text);
    const { code, out, err } = await patterns("--model", name);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    return err;
  };

  test("no model at all", async () => {
    const { code, err } = await patterns();
    expect(code).toBe(3);
    expect(err).toContain("Looked for edgetable.ts, edgetable.config.ts and model.ts");
    expect(err).toContain("cli.modelUnreadable");
  });

  test("a named file that is not there", async () => {
    expect(await patterns("--model", "no.ts")).toMatchObject({ code: 3, err: expect.stringContaining("There is no model file no.ts.") });
  });

  test("a syntax error, with file, line and column", async () => {
    expect(await refused("bad.ts", `${imports}export const x = {{ ;`)).toContain("bad.ts:3:18 cannot be read: Unexpected token.");
  });

  test("a syntax error in an imported file", async () => {
    folder.write("nodes.ts", "export const x = ;");
    expect(await refused("bad.ts", 'export * from "./nodes.ts";')).toMatch(
      /bad\.ts cannot be read: Unexpected token \(\S+nodes\.ts:1:17\)\./,
    );
  });

  test("a model that throws, with its line", async () => {
    expect(await refused("bad.ts", `${imports}\nnope.call();`)).toContain("bad.ts:4 cannot be read: nope is not defined.");
  });

  test("a package that is not installed, with the command that installs it", async () => {
    expect(await refused("bad.ts", '\nimport "not-there";')).toContain(
      'bad.ts:2 imports "not-there", which cannot be found. Install it: npm install not-there',
    );
  });

  test("a file that exports no graph", async () => {
    expect(await refused("bad.ts", "export const graph = 1;")).toContain("bad.ts exports no graph");
  });

  test("an invalid model, with every mistake and the line of defineGraph", async () => {
    const text = `${imports}export const shop = defineGraph({ table: "Things", nodes: { thing: node({ key: "T#{nope}" as "T#{id}", schema: z.object({ id: z.string() }) }) } });`;
    const err = await refused("bad.ts", text);
    expect(err).toMatch(/bad\.ts:3: .*nope/s);
    expect(err).toContain("schema.invalidModel");
  });
});
