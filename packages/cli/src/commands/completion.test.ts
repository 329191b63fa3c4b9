import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": educationModel });
});
afterAll(() => folder.remove());

const complete = async (...words: readonly string[]): Promise<readonly string[]> =>
  (await run(["__complete", "--", ...words], { cwd: folder.path })).out.split("\n").slice(0, -1);

test.each([
  [["pa"], ["patterns"]],
  [
    ["table", ""],
    ["create", "diff", "delete"],
  ],
  [
    ["--json", "table", "d"],
    ["diff", "delete"],
  ],
  [
    ["explain", ""],
    ["studentsOfCourse", "recentCourses"],
  ],
  [["get", "st"], ["student"]],
  [
    ["get", "home", ""],
    ["country=", "city="],
  ],
  [["get", "home", "country=US", ""], ["city="]],
  [
    ["get", "enrolledIn", ""],
    ["from.studentId=", "to.courseId="],
  ],
  [
    ["query", "student", "studentId=S1", "--out", ""],
    ["enrolledIn", "livesIn"],
  ],
  [["query", "course", "C1", "--out", ""], []],
  [["query", "course", "C1", "--in", ""], ["enrolledIn"]],
  [["query", "student", "S1", "--both", ""], []],
  [
    ["explain", "recentCourses", "--param", ""],
    ["studentId=", "since=", "most="],
  ],
  [
    ["query", "student", "S1", "--using", ""],
    ["reverse", "ordered"],
  ],
  [
    ["query", "student", "S1", "--co"],
    ["--count", "--consistent"],
  ],
  [["load", "--node", "c"], ["course"]],
  [["load", "--part", ""], ["note"]],
  [["dump", "--only", "e"], ["enrolledIn"]],
  [
    ["load", "--format", ""],
    ["csv", "json", "ndjson"],
  ],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["patterns", "--model", ""], []],
  [["load", ""], []],
])("%j may become %j", async (words, expected) => {
  expect([...(await complete(...words))].toSorted()).toEqual([...expected].toSorted());
});

test("completes commands and options without a readable model", async () => {
  folder.write("bad.ts", "{");
  expect(await complete("explain", "--model", "bad.ts", "")).toEqual([]);
  expect(await complete("explain", "--model", "bad.ts", "--js")).toEqual(["--json"]);
});

describe("the script", () => {
  test.each(["bash", "zsh", "fish"])("for %s is printed", async (shell) => {
    expect(await run(["completion", shell], { cwd: folder.path })).toMatchObject({
      code: 0,
      out: expect.stringContaining("edgetable __complete --"),
      err: "",
    });
  });

  test("for bash is one that bash can read", async () => {
    const { out } = await run(["completion", "bash"], { cwd: folder.path });
    expect(spawnSync("bash", ["-n"], { input: out }).status).toBe(0);
  });
});
