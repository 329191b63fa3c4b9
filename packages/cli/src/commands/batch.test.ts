import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeanTransport } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFolder, educationData, educationModel, run, type Folder, type Ran } from "../test-support/lab.ts";

let engine: LocalEngine;
let folder: Folder;
const batch = (...argv: readonly string[]): Promise<Ran> =>
  run(["batch", ...argv], { cwd: folder.path, env: { AWS_ENDPOINT_URL: engine.endpoint } });
const lake = mkdtempSync(join(tmpdir(), "batch-"));

beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({ "model.ts": educationModel, "data.json": educationData });
  const options = { cwd: folder.path, env: { AWS_ENDPOINT_URL: engine.endpoint } };
  expect((await run(["table", "create"], options)).code).toBe(0);
  expect((await run(["load", "data.json"], options)).code).toBe(0);
});
afterAll(async () => {
  await engine.stop();
  folder.remove();
  rmSync(lake, { recursive: true, force: true });
});

const at = ["--lake", join(lake, "education")];

test("extracts the table, lists its columns, and answers SQL", async () => {
  const extracted = await batch("extract", ...at, "--segments", "2");
  expect(extracted).toMatchObject({ code: 0, err: expect.stringMatching(/RCU/) });
  expect(extracted.out).toMatch(/student +node +3/);
  expect(extracted.out).toMatch(/enrolled_in +edge +4/);
  expect((await batch("tables", ...at)).out).toMatch(/term +1 +node +text[^]*starts +timestamp +starts/);
  const { out } = await batch("sql", "select name, year from student where year is not null", ...at);
  expect(out).toMatch(/name +year\nAnn +3\n/);
  expect(JSON.parse((await batch("sql", "select starts from term", ...at, "--json")).out)).toEqual([
    { starts: "2024-09-01T00:00:00.000Z" },
  ]);
});

test("prints integers as JSON has them, and says that there are no rows", async () => {
  const counted = await batch("sql", "select count(*) as n, 9007199254740993::bigint as wide from student", ...at, "--json");
  expect(JSON.parse(counted.out)).toEqual([{ n: 3, wide: { $bigint: "9007199254740993" } }]);
  expect(await batch("sql", "select * from student where false", ...at)).toMatchObject({ code: 0, out: "", err: "No rows.\n" });
});

test("writes bulk files of other databases, and prints how to load them", async () => {
  const into = join(lake, "neo4j");
  const { code, out, err } = await batch("bulk", "neo4j", "--into", into, ...at);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("nodes/student.csv: 3 rows\n") });
  expect(err).toContain(`--nodes='${join(into, "nodes/student.csv")}'`);
  expect(readFileSync(join(into, "edges/enrolled_in.csv"), "utf8")).toMatch(/^:START_ID,:END_ID,:TYPE,/);
  expect(await batch("bulk", "neo4j", "--into", into, ...at)).toMatchObject({ code: 2, err: expect.stringContaining("holds files") });
  expect(await batch("bulk", "neo5j", ...at)).toMatchObject({ code: 2, err: expect.stringContaining("The formats: neptune-gremlin") });
});

test("writes a report page, and compares the next one with it", async () => {
  const into = join(lake, "report");
  const first = await batch("report", "--into", into, ...at);
  expect(first).toMatchObject({
    code: 0,
    out: `${join(into, "index.html")}\n`,
    err: expect.stringContaining("the first report in its folder"),
  });
  expect(readFileSync(join(into, "index.html"), "utf8")).toContain("<title>The graph in Education</title>");
  const again = JSON.parse((await batch("report", "--into", into, "--top", "3", "--json", ...at)).out) as { readonly comparedWith: string };
  expect(again.comparedWith).toMatch(/^\d{4}-/);
  expect(await batch("report", "--into", into, "--edges", "enroledIn", ...at)).toMatchObject({
    code: 2,
    err: expect.stringContaining("enrolledIn"),
  });
});

describe("jobs", () => {
  test("run, and describe their result", async () => {
    const { code, out, err } = await batch("run", "recommend", "--edges", "enrolledIn", "--at-least", "1", ...at);
    expect(code).toBe(0);
    expect(out).toMatch(/node +recommended +shared +jaccard +place\ncourse:C1 +course:C2 +1 +0.33/);
    expect(err).toContain("For each target the 10 others that share most sources with it");
  });

  test("write their results onto nodes, and say what they wrote", async () => {
    const years = ["run", "degrees", "--edges", "enrolledIn", "--set", "student.year=out_degree", "--units", "1000", ...at];
    const { code, out, err } = await batch(...years);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/results?, \d+ changes?; \d+ WCU/) });
    expect(out).toMatch(/^\d+ items? written, 0 already up to date, 0 skipped\n$/);
    const again = JSON.parse((await batch(...years, "--json")).out) as { changes: number; written: number; already: number };
    expect(again).toMatchObject({ written: 0, already: again.changes });
  });

  test("write their results to a file", async () => {
    const { out } = await batch("run", "degrees", "--out", join(lake, "degrees.csv"), ...at);
    expect(out).toMatch(/^\d+ rows written to .*degrees.csv\n$/);
    expect(readFileSync(join(lake, "degrees.csv"), "utf8")).toMatch(/^node,out_degree,in_degree,degree\n/);
    const file = join(lake, "degrees.jsonl");
    expect(JSON.parse((await batch("run", "degrees", "--out", file, "--json", ...at)).out)).toEqual({
      file,
      rows: expect.any(Number) as unknown,
    });
  });

  test("record their last runs beside the lake", async () => {
    const record = (job: string): unknown => JSON.parse(readFileSync(join(lake, "education.results", `${job}.json`), "utf8"));
    await batch("run", "degrees", "--edges", "enrolledIn", ...at);
    expect(record("degrees")).toMatchObject({
      record: "edgetable batch",
      options: "--edges enrolledIn",
      engine: "duckdb",
      milliseconds: expect.any(Number) as unknown,
      result: {
        kind: "rows",
        count: 5,
        rows: expect.arrayContaining([{ node: "student:S1", out_degree: 2, in_degree: 0, degree: 2 }]) as unknown,
      },
    });
    await batch("run", "degrees", "--out", join(lake, "degrees.csv"), ...at);
    expect(record("degrees")).toMatchObject({ options: "", result: { kind: "file", file: join(lake, "degrees.csv") } });
    await batch("run", "degrees", "--set", "student.year=out_degree", ...at);
    expect(record("degrees")).toMatchObject({ result: { kind: "written", report: { written: expect.any(Number) as unknown } } });
    await batch("validate", ...at);
    expect(record("validate")).toMatchObject({ result: { kind: "validation", report: { clean: true } } });
    await batch("derive", ...at);
    expect(record("derive")).toMatchObject({ result: { kind: "written" } });
  });

  test("are printed as the program for Spark", async () => {
    expect(JSON.parse((await batch("program", "degrees", ...at)).out)).toMatchObject({
      job: "degrees",
      steps: [{ kind: "table", name: "ends" }, {}],
    });
  });

  test.each([
    [["run"], "Name a job. The jobs: degrees, page-rank,"],
    [["run", "page-rnk"], 'There is no job "page-rnk". Did you mean "page-rank"?'],
    [["run", "constructor"], 'There is no job "constructor".'],
    [["run", "k-core"], "The job k-core needs --k."],
    [["run", "degrees", "--rounds", "3"], "The job degrees does not take --rounds. It takes --edges."],
    [["run", "page-rank", "--edges", "enroledIn"], 'The lake has no edge "enroledIn". Did you mean "enrolledIn"?'],
    [["run", "degrees", "--set", "student"], "--set needs an attribute of a node, edge or part"],
    [["run", "degrees", "--set", "student.yaer=degree"], 'has no attribute "yaer". Did you mean "year"?'],
    [["run", "degrees", "--set", "student.year=degree", "--out", "x.csv"], "Give either --set or --out."],
    [["sql", "copy student to '/none/students.csv'"], "DuckDB refused the statement: IO Error: Cannot open file"],
    [["sql", "select nme from student"], "The lake's tables: student, course, home, term, enrolled_in, lives_in, note."],
  ])("%j is rejected", async (argv, message) => {
    const { code, err } = await batch(...argv, ...at);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  test("validate what the table keeps", async () => {
    const { code, out, err } = await batch("validate", ...at);
    expect({ code, out, err }).toEqual({ code: 0, out: "", err: expect.stringMatching(/^\d+ rows: nothing is wrong\n$/) });
    expect(JSON.parse((await batch("validate", ...at, "--json")).out)).toMatchObject({ clean: true, kinds: [] });
  });

  test("derive writes nothing where the model has no such attribute", async () => {
    expect(await batch("derive", ...at)).toMatchObject({ code: 0, out: "0 items written, 0 already up to date, 0 skipped\n" });
  });

  test("that follow from the model are run, and printed for Spark", async () => {
    expect(await batch("run", "validation", ...at)).toMatchObject({ code: 0, err: expect.stringContaining("No rows.") });
    expect(JSON.parse((await batch("program", "derived", ...at)).out)).toMatchObject({ job: "derived", result: { table: "derived" } });
    expect(await batch("run", "validation", "--k", "2", ...at)).toMatchObject({
      code: 2,
      err: expect.stringContaining("The job validation does not take --k. It takes no options."),
    });
  });

  test("need a lake", async () => {
    const { code, err } = await batch("run", "degrees", "--lake", join(lake, "none"));
    expect(code).toBe(2);
    expect(err).toContain("There is no lake in");
    expect(err).toContain("On the command line: edgetable batch extract.");
  });
});

test("items of another program end an extraction, or are left out and counted", async () => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const Item = { pk: { S: "CRAWLER#1" }, sk: { S: "state" } };
  await transport.send("PutItem", { TableName: "Education", Item });
  expect(await batch("extract", ...at)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/CRAWLER#1, state[^]*on the command line --stray skip/),
  });
  const { code, err } = await batch("extract", "--stray", "skip", ...at);
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("1 item left out, which the model does not describe") });
});
