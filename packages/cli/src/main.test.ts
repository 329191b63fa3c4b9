import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "./test-support/lab.ts";

let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": educationModel });
});
afterAll(() => folder.remove());

const edgetable = (...argv: readonly string[]) => run(argv, { cwd: folder.path });
const commands = [
  "init",
  "dev",
  "patterns",
  "explain",
  "check",
  "table",
  "load",
  "get",
  "query",
  "find",
  "dump",
  "jobs",
  "reshard",
  "completion",
];

describe("help", () => {
  test("names every command and every exit code, and fits the terminal", async () => {
    for (const columns of [80, 100]) {
      const { code, out } = await run(["--help"], { cwd: folder.path, columns });
      expect(code).toBe(0);
      for (const name of commands) expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
      for (const exit of ["0 ", "1 ", "2 ", "3 ", "4 ", "70 ", "130 "]) expect(out).toContain(`\n  ${exit}`);
      for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
      expect(out.match(/--region/g), "each option once").toHaveLength(1);
    }
  });

  test.each([...commands, "table create", "table diff", "table delete"])("of %s gives examples and the common options", async (name) => {
    const { code, out } = await edgetable(...name.split(" "), "--help");
    expect(code).toBe(0);
    expect(out).toContain(`Examples:\n  $ `);
    for (const option of ["--model", "--endpoint", "--region", "--profile", "--json"]) expect(out).toContain(option);
    expect(out).not.toContain("__complete");
  });

  test("of a command breaks its lines in a narrow terminal", async () => {
    const { out } = await run(["find", "--help"], { cwd: folder.path, columns: 60 });
    for (const line of out.slice(0, out.indexOf("Examples:")).split("\n")) expect(line.length, line).toBeLessThanOrEqual(60);
  });

  test("is a command, too", async () => {
    expect(await edgetable("help")).toEqual(await edgetable("--help"));
    expect(await edgetable("help", "load")).toEqual(await edgetable("load", "--help"));
    expect(await edgetable("help", "migrate", "run")).toEqual(await edgetable("migrate", "run", "--help"));
    expect(await edgetable("table", "help", "diff")).toEqual(await edgetable("table", "diff", "--help"));
  });

  test("without a command goes to standard error with exit code 2", async () => {
    const { code, out, err } = await edgetable();
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("Usage: edgetable");
  });

  test("--version prints the version alone", async () => {
    expect(await edgetable("--version")).toMatchObject({ code: 0, out: "0.1.0\n" });
  });
});

describe("wrong usage", () => {
  test.each([
    [["patern"], 'Unknown command "patern". Did you mean patterns?'],
    [["foo"], 'Unknown command "foo". To list the commands: edgetable --help'],
    [["help", "foo"], 'Unknown command "foo". To list the commands: edgetable --help'],
    [["get", "student", "studentId=S1", "studentId=S2"], 'The id names "studentId" twice. Give one value.'],
    [["table", "foo"], 'Unknown command "foo". To list the commands: edgetable table --help'],
    [["patterns", "--jsom"], 'Unknown option "--jsom". Did you mean --json?'],
    [["explain"], 'Missing required argument "pattern". Usage: edgetable explain [options] <pattern>'],
    [["get"], 'Missing required argument "kind". Usage: edgetable get [options] <kind> [id...]'],
    [["batch", "sql"], 'Missing required argument "statement". Usage: edgetable batch sql [options] <statement>'],
    [["patterns", "x"], "Too many arguments"],
    [["explain", "studentOfCourse"], 'There is no pattern "studentOfCourse". Did you mean "studentsOfCourse"?'],
    [["get", "studnet", "S1"], 'There is no node, edge or part "studnet". Did you mean "student"?'],
    [["query", "student", "S1", "--limit", "0"], "from 1 to 10,000"],
    [["load", "x.csv", "--collisions", "maybe"], "Allowed choices are report, refuse, ignore."],
    [["completion", "fishy"], 'There is no completion for "fishy". Did you mean "fish"?'],
  ])("%j: %s", async (argv, message) => {
    const { code, out, err } = await edgetable(...argv, "--endpoint", "http://127.0.0.1:1");
    expect(err).toContain(message);
    expect(err).toContain("cli.usage · docs/errors.md#cliusage");
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test("with --json is JSON on standard error, and standard output stays empty", async () => {
    const { code, out, err } = await edgetable("explain", "nothing", "--json");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err)).toMatchObject({ error: { code: "cli.usage", docs: "docs/errors.md#cliusage" } });
  });

  test("shows a stack only when EDGETABLE_DEBUG asks for it", async () => {
    expect((await edgetable("explain", "nothing")).err).not.toContain("    at ");
    expect((await run(["explain", "nothing"], { cwd: folder.path, env: { EDGETABLE_DEBUG: "1" } })).err).toContain("    at ");
  });
});

describe("colour", () => {
  const escape = "\u001b[";
  test.each([
    ["none where the output is no terminal", { NO_COLOR: "" }, undefined, false],
    ["on a terminal", { NO_COLOR: "" }, 80, true],
    ["none on a terminal under NO_COLOR", { NO_COLOR: "1" }, 80, false],
    ["none on a dumb terminal", { NO_COLOR: "", TERM: "dumb" }, 80, false],
    ["everywhere under FORCE_COLOR", { NO_COLOR: "", FORCE_COLOR: "1" }, undefined, true],
    ["nowhere under FORCE_COLOR=0", { NO_COLOR: "", FORCE_COLOR: "0" }, 80, false],
  ])("%s", async (...[, env, columns, expected]) => {
    const { out } = await run(["patterns"], { cwd: folder.path, env, ...(columns === undefined ? {} : { columns }) });
    expect(out.includes(escape)).toBe(expected);
  });
});
