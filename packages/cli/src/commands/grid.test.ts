import { afterAll, beforeAll, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, run, type Folder, type RunOptions } from "../test-support/lab.ts";

const model = `
import { defineGraph, node } from "edgetable";
import { z } from "zod";

export const tracker = defineGraph({
  table: "Tracker",
  nodes: {
    project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string(), name: z.string() }) }),
    issue: node({
      key: "ISSUE#{issueId}",
      schema: z.object({ issueId: z.string(), projectId: z.string(), num: z.int(), name: z.string() }),
      fields: { of: "project", orderBy: "num:6" },
    }),
  },
});
`;

let folder: Folder;
let engine: LocalEngine;
const edgetable = (argv: readonly string[], options: Partial<RunOptions> = {}) =>
  run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...options });

beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({ "edgetable.ts": model });
  await edgetable(["table", "create"]);
  folder.write("data.json", JSON.stringify({ nodes: { project: [{ projectId: "P1", name: "Bridge" }] } }));
  await edgetable(["load", "data.json"]);
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});

// With a byte order mark, CRLF, quotes, a line break in a cell, an empty line and empty cells.
const file =
  '\uFEFFissueId,num,Title,Cost,Tags,Note\r\ni1,1,"Rust, ""red""",2.5,a;b,\r\ni2,2,"two\r\nlines",,b;a,x\r\n\r\ni3,3,Paint,7,a;b,\r\n';

test("imports CSV: shows the plan, writes, exports the same again", async () => {
  folder.write("issues.csv", file);
  const command = ["grid", "import", "issue", "issues.csv", "P1", "--columns", "Title=name,Note="];
  const plan = await edgetable([...command, "--dry-run"]);
  expect(plan.code).toBe(0);
  expect(plan.out).toMatch(/Title +attribute name/);
  expect(plan.out).toMatch(/Cost +new field Cost \(type inferred\) +number/);
  expect(plan.out).toMatch(/Tags +new field Tags \(type inferred\) +choices: a, b +3 +a;b/);
  expect(plan.out).toMatch(/Note +ignored/);
  expect(plan.out).toContain("issues.csv: 3 rows, 3 new, 0 existing. Nothing was written.\n");
  expect(await edgetable(command)).toMatchObject({ code: 0, out: "issues.csv: 3 rows, 3 new, 0 existing. Written.\n" });
  const exported =
    'issueId,projectId,num,name,Cost,Tags\r\ni1,P1,1,"Rust, ""red""",2.5,a;b\r\ni2,P1,2,"two\r\nlines",,a;b\r\ni3,P1,3,Paint,7,a;b\r\n';
  expect(await edgetable(["grid", "export", "issue", "P1"])).toMatchObject({ code: 0, out: exported });
  folder.write("again.csv", exported);
  expect(await edgetable(["grid", "import", "issue", "again.csv", "P1"])).toMatchObject({
    out: "again.csv: 3 rows, 0 new, 3 existing. Written.\n",
  });
  expect(await edgetable(["grid", "export", "issue", "P1"])).toMatchObject({ out: exported });
  const view = await edgetable([
    "grid",
    "export",
    "issue",
    "P1",
    "--columns",
    "num,field:f1",
    "--where",
    '{"field:f1":{"gt":1}}',
    "--sort",
    "field:f1",
    "--desc",
  ]);
  expect(view).toMatchObject({ code: 0, out: "num,Cost\r\n3,7\r\n1,2.5\r\n" });
});

test("prints rows as JSON, counts rows and not lines, and shows examples on one line", async () => {
  const cost = { type: "number", value: 7 };
  const { code, out, err } = await edgetable(["grid", "export", "issue", "P1", "--where", '{"field:f1":{"gt":5}}', "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject([{ row: { issueId: "i3", num: 3 }, cells: { f1: cost } }]);
  expect(JSON.parse((await edgetable(["grid", "export", "issue", "none", "--json"])).out)).toEqual([]);
  // One of the three has a line break in a cell.
  expect((await edgetable(["grid", "export", "issue", "P1"])).err).toBe("3 rows\n");
  const columns = '"Remarks, if any",issueId,num,name\r\n"one\r\nand two",i9,9,x\r\n';
  const planned = ["grid", "import", "issue", "-", "P1", "--dry-run"];
  expect((await edgetable(planned, { input: columns })).out).toMatch(/text +1 +one and two\n/);
  const ignored = await edgetable([...planned, "--columns", "name=name,Remarks, if any="], { input: columns });
  expect(ignored.out).toMatch(/Remarks, if any +ignored/);
});

test("lists what does not fit, with its record and column, and exits with 1", async () => {
  folder.write("bad.csv", "issueId,num,name,Cost\nb1,1,x,much\nb2,2\nb3,3,x,1,2\n");
  const { code, out, err } = await edgetable(["grid", "import", "issue", "bad.csv", "P1", "--dry-run", "--types", "Cost=number"]);
  expect(code).toBe(1);
  expect(err.split("\n").filter((line) => line.startsWith("bad.csv"))).toEqual([
    expect.stringMatching(/^bad.csv record 1, Cost: "much" is not a value of the number field "Cost"/),
    "bad.csv record 2: it has 2 cells, the header has 4",
    "bad.csv record 3: it has 5 cells, the header has 4",
  ]);
  expect(out).toContain("3 rows do not fit. Nothing was written.");
  expect(await edgetable(["grid", "import", "issue", "bad.csv", "P1"])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/Use --skip-unfit to leave these rows out[^]*grid.unfitRows/),
  });
  folder.write("quotes.csv", 'issueId,num,name\nq1,1,"open\n');
  expect(await edgetable(["grid", "import", "issue", "quotes.csv", "P1"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("grid.invalidCsv"),
  });
});

test("takes standard input, and refuses what is no grid", async () => {
  const input = "issueId;num;name\ns1;9;x\n";
  expect(await edgetable(["grid", "import", "issue", "-", "P1", "--delimiter", ";"], { input })).toMatchObject({ code: 0 });
  expect(await edgetable(["grid", "import", "project", "-", "P1"], { input })).toMatchObject({
    code: 2,
    err: expect.stringContaining("no user-defined fields"),
  });
  expect(await edgetable(["grid", "export", "isue", "P1"])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no node type "isue". Did you mean "issue"?'),
  });
  expect(await edgetable(["grid", "export", "issue"])).toMatchObject({ code: 2, err: expect.stringContaining("lacks projectId") });
  expect(await edgetable(["grid", "import", "issue", "issues.csv", "P1", "--types", "Cost=money"])).toMatchObject({ code: 2 });
});
