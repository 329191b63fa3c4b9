import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, educationData, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
const edgetable = (...argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path });
const json = async (...argv: readonly string[]): Promise<unknown> => JSON.parse((await edgetable(...argv, "--json")).out);

const indexes = `indexes: { byValue: { entries: { student: "name", course: "name", enrolledIn: "at" }, shards: 2 } },`;

beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({ "edgetable.ts": educationModel.replace("  nodes: {", `${indexes}\n  nodes: {`), "data.json": educationData });
  expect((await edgetable("table", "create")).code).toBe(0);
  expect((await edgetable("load", "data.json")).err).toBe("");
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});

test("finds by a value and by a range, over all shards", async () => {
  expect(await edgetable("find", "student", "--where", "name=Bob")).toEqual({
    code: 0,
    out: "studentId  name\nS2         Bob\n",
    err: "1 row; 2 requests, 1 RCU\n",
  });
  expect(await json("find", "enrolledIn", "--where", '{"at":{"gte":"2024-01-11"}}', "--reverse")).toMatchObject({
    items: [{ at: "2024-01-12" }, { at: "2024-01-11" }],
  });
});

test("gives the nodes at an edge's ends, the count, and pages", async () => {
  expect(await json("find", "enrolledIn", "--where", "at=2024-01-10", "--sources")).toEqual([{ studentId: "S1", name: "Ann", year: 3 }]);
  expect(await json("find", "enrolledIn", "--where", "at=2024-01-10", "--targets")).toMatchObject([{ courseId: "C1" }]);
  expect((await edgetable("find", "enrolledIn", "--count")).out).toBe("4\n");
  const first = await edgetable("find", "student", "--limit", "2");
  const cursor = /--cursor (\S+)/.exec(first.err)?.[1] ?? "";
  expect((await edgetable("find", "student", "--limit", "2", "--cursor", cursor)).out).toBe("studentId  name\nS3         Cy\n");
});

test("gives several kinds in one order, each row with its kind", async () => {
  const { out } = await edgetable("find", "student", "course", "--where", '{"name":{"beginsWith":"A"}}');
  expect(out.split("\n").map((line) => line.split(/\s+/).filter((word) => word !== ""))).toEqual([
    ["kind", "studentId", "courseId", "year", "name"],
    ["course", "C1", "Advanced", "Mathematics"],
    ["student", "S1", "3", "Ann"],
    ["course", "C2", "Arts"],
    [],
  ]);
});

const clinicModel = `import { average, count, defineGraph, edge, max, node, part, sum } from "edgetable";
import { z } from "zod";

const text = z.string();
const cascade = { onDelete: { from: "cascade", to: "cascade" } } as const;
export const clinic = defineGraph({
  table: "Clinic",
  nodes: {
    patient: node({
      key: "PATIENT#{patientId}",
      schema: z.object({ patientId: text, name: text }),
      derived: { visits: count({ in: "visitOf" }), owed: sum({ in: "visitOf", of: "fee" }), last: max<Date>({ in: "visitOf", of: "at" }) },
      timestamps: { as: "seconds" },
    }),
    visit: node({ key: "VISIT#{visitId}", schema: z.object({ visitId: text, at: z.date(), urgent: z.boolean() }), dates: ["at"], version: true }),
  },
  parts: { note: part({ of: "visit", key: "NOTE#{number:3}", schema: z.object({ number: z.int() }), copies: ["urgent"] }) },
  edges: {
    visitOf: edge({ from: "visit", to: "patient", schema: z.object({ fee: z.number() }), copies: { from: ["at"] }, orderBy: "at:date", ...cascade }),
  },
  indexes: { byName: { entries: { patient: "name", visit: "at:date", note: { by: "urgent:boolean", sparse: true } } }, byOwed: { entries: { patient: "owed:number" } } },
});
`;

test("texts become the type of what is derived, copied or kept too", async () => {
  folder.write("clinic.ts", clinicModel);
  const clinic = (...argv: readonly string[]) => edgetable(...argv, "--model", "clinic.ts");
  await clinic("table", "create");
  const rows = [
    { node: "patient", row: { patientId: "P", name: "Ann" } },
    ...[1, 2].flatMap((day) => [
      { node: "visit", row: { visitId: `V${day}`, at: `2026-01-0${day}`, urgent: day === 2 } },
      { edge: "visitOf", from: { visitId: `V${day}` }, to: { patientId: "P" }, attributes: { fee: 1.5 } },
    ]),
  ];
  folder.write("clinic.ndjson", rows.map((row) => JSON.stringify(row)).join("\n"));
  folder.write("notes.ndjson", JSON.stringify({ part: "note", owner: { visitId: "V2" }, row: { number: 1 } }));
  for (const file of ["clinic.ndjson", "notes.ndjson"]) expect((await clinic("load", file)).err).toBe("");
  for (const where of [
    ["name=Ann", "visits=2"],
    ["owed=3"],
    ['{"owed":{"between":[1,3]}}'],
    ["name=Ann", '{"or":[{"last":{"gte":"2026-01-01"}},{"visits":2}]}'],
    ["name=Ann", '{"not":{"visits":3}}'],
    ['{"name":"Ann","created":{"gte":1}}'],
  ])
    expect((await clinic("find", "patient", ...where.flatMap((one) => ["--where", one]), "--count")).out, where.join()).toBe("1\n");
  expect((await clinic("find", "note", "--where", "urgent=true", "--count")).out).toBe("1\n");
  const visits = (where: string) => clinic("query", "patient", "P", "--in", "visitOf", "--where", where, "--count");
  expect((await visits("at=2026-01-02")).out).toBe("1\n");
  expect((await visits('{"at":{"gte":"2026-01-01"}}')).out).toBe("2\n");
  expect((await clinic("find", "patient", "--where", "name=Ann", "--where", "visits=many")).err).toContain("No row can have visits=many");
});

test("a date is a text in a comparison too", async () => {
  folder.write(
    "dated.ts",
    educationModel
      .replace('"Education"', '"Dated"')
      .replace("  nodes: {", `  indexes: { byStart: { entries: { term: "starts:date" } } },\n  nodes: {`),
  );
  const dated = (...argv: readonly string[]) => edgetable(...argv, "--model", "dated.ts");
  await dated("table", "create");
  folder.write("terms.csv", "year,starts\n2023,2023-09-01\n2024,2024-09-01\n");
  await dated("load", "terms.csv", "--node", "term");
  for (const starts of ['{"gte":"2024-01-01"}', '{"between":["2024-01-01","2024-12-31"]}', '{"in":["2024-09-01"]}', '"2024-09-01"'])
    expect(await dated("find", "term", "--using", "byStart", "--where", `{"starts":${starts}}`)).toMatchObject({
      err: "1 row; 1 request, 0.5 RCU\n",
      out: "year  starts\n2024  2024-09-01T00:00:00.000Z\n",
    });
  expect((await dated("find", "term", "--where", '{"starts":{"gte":"2024-01-01"}}', "--count")).out).toBe("1\n");
  const short = await dated("find", "term", "--where", '{"starts":{"gte":"2024-01"}}');
  expect(short).toMatchObject({
    code: 2,
    err: expect.stringContaining("On the command line, write all of it as ISO 8601: 2026-05-01, or"),
  });
});

test("notes a condition that no row can meet", async () => {
  expect(await edgetable("find", "student", "--where", "name=Ann", "--where", "year=soon")).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringMatching(/^No row can have year=soon: .*expected number.*\nNothing found; /),
  });
});

test("--explain names every partition, and sends nothing", async () => {
  const { out } = await edgetable("find", "student", "--where", "name=Ann", "--explain");
  expect(out).toContain("Query × 2");
  expect(out).toContain("student#0, student#1");
});

test.each([
  [["persn"], 2, "There is no node, edge or part"],
  [["student", "--where", "year>=3"], 2, `Write a comparison as JSON, such as '{"year":{"gte":3}}'`],
  [["student", "--where", "name>=A"], 2, `Write a comparison as JSON, such as '{"name":{"gte":"A"}}'`],
  [["student", "--where", 'name={"beginsWith":"A"}'], 2, `Write a comparison as JSON, such as '{"name":{"beginsWith":"A"}}'`],
  [["student", "--where", "nam=x"], 2, '"nam" is not an attribute of the node "student"'],
  [["home"], 2, 'No index finds "home"'],
  [["student", "--sources"], 2, "has no ends"],
  [["enrolledIn", "--sources", "--targets"], 2, "Use only one of --sources"],
  [["enrolledIn", "--sources", "--cursor", "x"], 2, "omit --sources"],
  [["enrolledIn", "--count", "--limit", "1"], 2, "omit --count"],
])("rejects %j", async (argv, code, message) => {
  expect(await edgetable("find", ...argv)).toMatchObject({ code, out: "", err: expect.stringContaining(message) });
});

test("reshard moves the items of a raised count once", async () => {
  folder.write("grown.ts", educationModel.replace("  nodes: {", `${indexes.replace("shards: 2", "shards: [8, 2]")}\n  nodes: {`));
  const first = await edgetable("reshard", "--model", "grown.ts", "--rate", "1000", "--json");
  expect(JSON.parse(first.out)).toMatchObject({ partitions: { done: 6, all: 6 } });
  expect(await edgetable("reshard", "--model", "grown.ts")).toMatchObject({ code: 0, out: expect.stringMatching(/^0 items moved/) });
  expect(await edgetable("reshard")).toEqual({ code: 0, out: "", err: "No shard count was raised; there is nothing to move.\n" });
  expect((await edgetable("find", "student", "--model", "grown.ts", "--count")).out).toBe("3\n");
});
