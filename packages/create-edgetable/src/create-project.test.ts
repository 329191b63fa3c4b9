import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProject, version } from "./create-project.ts";
import { main } from "./main.ts";

const template = fileURLToPath(new URL("../template", import.meta.url));
const files = [
  ".gitignore",
  ".oxlintrc.json",
  "README.md",
  "package.json",
  "src/handler.ts",
  "src/main.ts",
  "src/model.test.ts",
  "src/model.ts",
  "tsconfig.json",
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "create-edgetable-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");
const listed = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .toSorted();

const run = (...argv: readonly string[]) => {
  const written = { out: "", err: "" };
  const code = main(argv, {
    cwd: folder,
    out: { write: (text) => (written.out += text) },
    err: { write: (text) => (written.err += text) },
  });
  return { code, ...written };
};

describe("a project", () => {
  test.each([
    ["in a new folder", "graphs/my-graph", "my-graph"],
    ["in a folder that exists", ".", undefined],
  ])("%s has the template's files", (_, name, packageName) => {
    const project = createProject(name, folder);
    expect(project).toEqual({ created: true, folder: join(folder, name), files: expect.arrayContaining(files), inTheWay: [] });
    expect(listed(join(folder, name))).toEqual(files);
    for (const file of files.filter((one) => one !== "package.json"))
      expect(read(name, file)).toBe(readFileSync(join(template, file.replace(/^\.(gitignore|oxlintrc\.json)$/, "$1")), "utf8"));
    const manifest = JSON.parse(read(name, "package.json")) as { readonly name: string };
    expect(manifest).toEqual({
      ...(JSON.parse(readFileSync(join(template, "package.json"), "utf8")) as object),
      name: packageName ?? expect.stringMatching(/^create-edgetable-\w+$/i),
    });
  });

  test("depends on this version of Edgetable, and on the versions that this repository tests with", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(template, "package.json"), "utf8")) as Record<
      string,
      Record<string, string>
    >;
    const workspace = JSON.parse(readFileSync(join(template, "../../../package.json"), "utf8")) as {
      readonly devDependencies: Record<string, string>;
    };
    const own = ["@edgetable/cli", "@edgetable/eslint-plugin", "@edgetable/local"].map((name) => devDependencies?.[name]);
    expect([dependencies?.["edgetable"], ...own]).toEqual(Array.from({ length: 4 }, () => `^${version}`));
    expect(devDependencies?.["oxlint"]).toBe(workspace.devDependencies["oxlint"]);
    expect(dependencies?.["zod"]).toBe(workspace.devDependencies["zod"]);
    expect(devDependencies?.["@types/node"]).toBe(workspace.devDependencies["@types/node"]);
    expect(`npm:typescript@${devDependencies?.["typescript"]}`).toBe(workspace.devDependencies["typescript7"]);
  });

  test.each([
    ["My Graph!", "my-graph"],
    [".hidden", "hidden"],
    ["日本", "graph"],
    ["node_modules", "graph"],
  ])("in %j is the package %s", (name, expected) => {
    createProject(name, folder);
    expect((JSON.parse(read(name, "package.json")) as { readonly name: string }).name).toBe(expected);
  });
});

describe("never overwrites", () => {
  test("a file: it lists all files in the way, and writes nothing", () => {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/model.ts"), "mine");
    writeFileSync(join(folder, "package.json"), "mine");
    expect(createProject(".", folder)).toMatchObject({ created: false, inTheWay: ["package.json", "src/model.ts"] });
    expect(listed(folder)).toEqual(["package.json", "src/model.ts"]);
    expect(read("package.json")).toBe("mine");
    expect(run()).toEqual({
      code: 2,
      out: "",
      err: "error: This folder already has package.json, src/model.ts. Nothing was written. Give the name of another folder.\n",
    });
  });

  test.skipIf(process.platform === "win32")("the target of a link, or a dangling link (skipped on Windows)", () => {
    symlinkSync(join(folder, "nowhere"), join(folder, "tsconfig.json"));
    expect(createProject(".", folder)).toMatchObject({ created: false, inTheWay: ["tsconfig.json"] });
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });

  test("a file in place of a folder", () => {
    writeFileSync(join(folder, "src"), "mine");
    expect(createProject(".", folder)).toMatchObject({ created: false, inTheWay: ["src"] });
    expect(run("src")).toMatchObject({
      code: 2,
      err: "error: src is not a folder. Nothing was written. Give the name of another folder.\n",
    });
  });

  test("and leaves other files alone", () => {
    writeFileSync(join(folder, "LICENSE"), "mine");
    expect(createProject(".", folder).created).toBe(true);
    expect(read("LICENSE")).toBe("mine");
  });
});

describe("create-edgetable", () => {
  test("prints the created files and the next steps", () => {
    const { code, out, err } = run("my graph");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("Created a project in my graph:\n\n  src/model.ts        the graph");
    expect(out).toContain("\n  cd 'my graph'\n  npm install\n  npm test ");
    for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(run().out).not.toContain("  cd ");
  });

  test("has help with examples, and a version", () => {
    expect(run("--help")).toMatchObject({ code: 0, out: expect.stringContaining("Examples:\n  $ npm create edgetable my-graph") });
    expect(run("-v")).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  test.each([[["a", "b"]], [["--frobnicate"]]])("rejects %j", (argv) => {
    expect(run(...argv)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/^error: .+/) });
    expect(listed(folder)).toEqual([]);
  });

  test("escapes control characters", () => {
    expect(run("a\u001b[2J").out).toContain(String.raw`a\u{1b}[2J`);
  });
});
