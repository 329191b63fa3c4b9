import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": educationModel });
});
afterAll(() => folder.remove());

const at = (columns: number | undefined, ...argv: readonly string[]) =>
  run(argv, { cwd: folder.path, ...(columns === undefined ? {} : { columns }) });

describe("patterns", () => {
  test("lists each pattern in one line where nothing limits the width", async () => {
    const { code, out } = await at(undefined, "patterns");
    expect(code).toBe(0);
    const [head, first, second] = out.split("\n");
    expect(head?.split(/ {2,}/)).toEqual(["name", "question", "requests", "index", "consistency", "cost"]);
    expect(first?.split(/ {2,}/)).toEqual([
      "studentsOfCourse",
      "Which students take a course, in the order in which they enrolled?",
      "Query, BatchGetItem",
      "reverse, table",
      "eventual",
      "5.5 RCU",
    ]);
    expect(second?.split(/ {2,}/)).toEqual(["recentCourses", "The latest courses of a student", "Query", "ordered", "eventual", "0.5 RCU"]);
  });

  test.each([60, 80, 100])("fits %i columns, with nothing lost", async (columns) => {
    const { out } = await at(columns, "patterns");
    for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
    for (const word of ["enrolled?", "BatchGetItem", "reverse", "5.5 RCU", "0.5 RCU"]) expect(out.replaceAll(/\s+/g, " ")).toContain(word);
  });

  test("as JSON", async () => {
    const { code, out } = await at(undefined, "patterns", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject([
      { name: "studentsOfCourse", indexes: ["reverse", "table"], consistency: "eventual", cost: { requests: 2, readUnits: 5.5 } },
      { name: "recentCourses", requests: [{ operation: "Query", times: 1 }] },
    ]);
  });
});

describe("patterns of several exports", () => {
  const more = `${educationModel}
export const others = definePatterns(education, {
  recentCourses: { question: "Those of another name", example: {}, ask: (db) => db.student({ studentId: "S1" }).out("enrolledIn").edges() },
  unanswerable: { question: "Who lives in a country?", example: {}, ask: (db) => db.home.within({ country: "US" }).in("livesIn").edges() },
});`;

  test("are listed apart, and one without a plan does not hide the others", async () => {
    folder.write("more.ts", more);
    const { code, out } = await at(80, "patterns", "--model", "more.ts");
    expect(code).toBe(1);
    expect(out).toContain("patterns (table Education)\n");
    expect(out).toContain("others (table Education)\n");
    expect(out).toMatch(/unanswerable: No table or index key can answer/);
    const json = JSON.parse((await at(undefined, "patterns", "--model", "more.ts", "--json")).out) as unknown;
    expect(json).toContainEqual(
      expect.objectContaining({ name: "unanswerable", export: "others", error: { code: "plan.noIndex", message: expect.any(String) } }),
    );
  });

  test("with the same name are distinguished by file#export", async () => {
    folder.write("more.ts", more);
    expect((await at(undefined, "explain", "recentCourses", "--model", "more.ts")).err).toContain(
      'There are several patterns "recentCourses" (in others, patterns). Choose one, such as --model more.ts#others.',
    );
    expect((await at(undefined, "explain", "recentCourses", "--model", "more.ts#others")).out).toContain("Those of another name");
  });
});

test("patterns that write or await their call are refused by name in every command", async () => {
  folder.write(
    "broken.ts",
    educationModel.replace(
      "export const patterns = definePatterns(education, {",
      `$&
  add: { question: "Add", example: { courseId: "C1", name: "A" }, ask: (db: any, course: any) => db.course.create(course) },
  awaited: { question: "Await", example: { courseId: "C1" }, ask: async (db: any, id: any) => await db.course.get(id) },`,
    ),
  );
  const writes = 'Pattern "add": `ask` must return a read or a walk; this call writes.';
  const awaits = 'Pattern "awaited": `ask` must return a call without awaiting it.';
  for (const [name, message] of [
    ["add", writes],
    ["awaited", awaits],
  ] as const)
    expect(await at(undefined, "explain", name, "--model", "broken.ts")).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  for (const command of ["patterns", "check"]) {
    const { code, out } = await at(undefined, command, "--model", "broken.ts");
    expect({ command, code }).toEqual({ command, code: 1 });
    expect(out).toContain(writes);
    expect(out).toContain(awaits);
  }
});

describe("explain", () => {
  test("hints only at options that it has", async () => {
    folder.write(
      "hints.ts",
      educationModel
        .replace(
          "export const patterns = definePatterns(education, {",
          `$&
  sparse: { question: "Sparse", example: {}, ask: (db: any) => db.find("student").where({ name: "A" }).rows() },`,
        )
        .replace(
          'table: "Education"',
          'table: "Education", indexes: { named: { entries: { student: { by: ["name", "year:number"], sparse: true } } } }',
        ),
    );
    const { code, err } = await at(undefined, "explain", "sparse", "--model", "hints.ts");
    expect(err).toContain("is sparse");
    expect(code).toBe(2);
    expect(err).not.toContain("--using");
    const found = await at(undefined, "find", "student", "--where", "name=A", "--explain", "--model", "hints.ts");
    expect(found.err).toContain("On the command line, pass --using INDEX.");
  });

  test("an example may contain values that JSON lacks", async () => {
    folder.write(
      "large.ts",
      `
      import { defineGraph, definePatterns, node } from "edgetable";
      import { z } from "zod";
      const thing = node({ key: "THING#{id:number}", schema: z.object({ id: z.bigint() }) });
      const graph = defineGraph({ table: "Large", nodes: { thing } });
      export const patterns = definePatterns(graph, {
        one: { question: "One", example: { id: 5n }, ask: (db, id) => db.thing.get(id) },
        nested: { question: "Nested", example: { of: { id: 5n } }, ask: (db, { of }) => db.thing.get(of) },
        bare: { question: "Bare", example: 5n, ask: (db, id) => db.thing.get({ id }) },
      });
    `,
    );
    for (const name of ["one", "nested", "bare"]) {
      const { code, out } = await at(undefined, "explain", name, "--model", "large.ts");
      expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('{"$bigint":"5"}') });
      expect(await at(undefined, "explain", name, "--model", "large.ts", "--json")).toMatchObject({ code: 0 });
      expect(await at(undefined, "patterns", "--model", "large.ts")).toMatchObject({ code: 0 });
    }
  });

  test("shows the request with the example's values filled in", async () => {
    const { code, out } = await at(undefined, "explain", "recentCourses");
    expect(code).toBe(0);
    expect(out).toBe(`recentCourses: The latest courses of a student
studentId = "S1", since = "2024-01", most = 10  (the example)

1  Query  0.5 RCU
   table  Education
   index  ordered
   key    gsi2pk = "STUDENT#S1" AND gsi2sk BETWEEN "enrolledIn#2024-01" AND "enrolledIn$"
   order  descending
   Limit  10

consistency  eventual
predicted    1 request, 0.5 RCU
`);
  });

  test("reads dates, and rejects other text for a date", async () => {
    folder.write(
      "dated.ts",
      educationModel.replace(
        'example: { studentId: "S1", since: "2024-01", most: 10 },\n    ask: (db, { studentId, since, most }) =>',
        'example: { studentId: "S1", day: new Date(0), most: 10 },\n    ask: (db, { studentId, day, most, since = day.toISOString() }) =>',
      ),
    );
    const given = (day: string) => at(undefined, "explain", "recentCourses", "--model", "dated.ts", "--param", `day=${day}`);
    expect(await given("2024-05-06")).toMatchObject({ code: 0, out: expect.stringContaining("2024-05-06T00:00:00.000Z") });
    for (const day of ["sometime", "2024-02-30"])
      expect(await given(day)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`The parameter "day" must be a date, as in the example ("1970-01-01T00:00:00.000Z"); it is "${day}".`),
      });
  });

  test("takes one value where the example is one, a date too", async () => {
    folder.write(
      "since.ts",
      educationModel.replace(
        'example: { studentId: "S1", since: "2024-01", most: 10 },\n    ask: (db, { studentId, since, most }) =>',
        'example: new Date(0),\n    ask: (db, day, studentId = "S1", most = 10, since = day.toISOString()) =>',
      ),
    );
    const { code, out } = await at(undefined, "explain", "recentCourses", "--model", "since.ts", "--param", "2024-05-06");
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("2024-05-06T00:00:00.000Z") });
  });

  test("takes parameters as name=value, in the example's types, and as JSON", async () => {
    const named = await at(undefined, "explain", "recentCourses", "--param", "most=3", "-p", "studentId=S 7");
    expect(named.out).toContain("Limit  3");
    expect(named.out).toContain('studentId = "S 7"');
    const json = await at(undefined, "explain", "recentCourses", "--param", '{"studentId":"S9","most":4}', "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      name: "recentCourses",
      parameters: { studentId: "S9", since: "2024-01", most: 4 },
      requests: [{ operation: "Query", input: { Limit: 4 } }],
    });
  });

  test.each([
    [["--param", "mots=3"], 'The pattern has no parameter "mots". Did you mean "most"?'],
    [["--param", "most=many"], 'The parameter "most" must be a number, as in the example (10); it is "many".'],
    [["--param", "most"], '--param "most" is not of the form name=value.'],
    [["--param", "{most:1}"], "--param is not valid JSON"],
  ])("rejects %j", async (argv, message) => {
    expect(await at(undefined, "explain", "recentCourses", ...argv)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(message),
    });
  });

  test("of a walk lists its assumptions", async () => {
    const walk = `classmates: { question: "Who are the classmates of a student?", example: { studentId: "S1" }, ask: (db, id) => db.student(id).out("enrolledIn").in("enrolledIn").ids() },`;
    folder.write("walks.ts", educationModel.replace("  studentsOfCourse: {", `  ${walk}\n  studentsOfCourse: {`));
    const { out } = await at(undefined, "explain", "classmates", "--model", "walks.ts");
    expect(out).toMatch(/predicted {4}11 requests, 5\.5 RCU\nassuming {5}10 edges "enrolledIn" leave a node: an assumption, /);
    expect(out).toContain('\n             10 edges "enrolledIn" reach a node: an assumption, ');
  });

  test("fits 80 columns", async () => {
    const { out } = await at(80, "explain", "studentsOfCourse");
    for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(out).toContain("BatchGetItem, after:");
  });
});

describe("check", () => {
  const shop = (layout: string): string => `import { defineGraph, node } from "edgetable";\nimport { z } from "zod";
export const shop = defineGraph({ table: "Shop", nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), name: z.string() }) }) }, layout: { partitionKey: "PK", sortKey: "SK", ${layout} } });`;

  test("reports a pattern without a plan, and checks the others", async () => {
    const lost = `lost: { question: "Who is called so?", example: { name: "Ann" }, ask: (db, { name }) => db.find("student").where({ name }).rows() },`;
    folder.write("lost.ts", educationModel.replace("  studentsOfCourse: {", `  ${lost}\n  studentsOfCourse: {`));
    const { code, out, err } = await at(undefined, "check", "--model", "lost.ts");
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain('error  lost  plan.noIndex\n  No index finds "student" by "name". Declare an index');
    expect(out).toContain("note  studentsOfCourse  patternRequests");
    const json = await at(undefined, "check", "--model", "lost.ts", "--json");
    expect(JSON.parse(json.out)).toContainEqual(
      expect.objectContaining({ severity: "error", definition: "lost", rule: "plan.noIndex", table: "Education" }),
    );
  });

  test("prints each finding with concern and remedy, and exits with 0 without errors", async () => {
    const { code, out } = await at(80, "check");
    expect(code).toBe(0);
    expect(out).toContain("note  enrolledIn  unboundedCollection · cost\n");
    expect(out).toMatch(/edgetable\.ts: 0 errors, 0 warnings, \d+ notes\n$/);
    for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  test("warnings exit with 1 only under --strict", async () => {
    folder.write(
      "shop.ts",
      shop('indexes: { gsi: { partitionKey: "G1", sortKey: "G2" } }, nodes: { user: { keys: { G1: "USERS", G2: "{name}" } } }'),
    );
    const argv = ["check", "--model", "shop.ts"];
    expect(await at(undefined, ...argv)).toMatchObject({ code: 0, out: expect.stringContaining("warning  user  hotIndexPartition") });
    const strict = await at(undefined, ...argv, "--strict", "--json");
    expect(strict.code).toBe(1);
    expect(JSON.parse(strict.out)).toContainEqual(
      expect.objectContaining({ severity: "warning", definition: "user", table: "Shop", mend: expect.any(String) }),
    );
  });
});
