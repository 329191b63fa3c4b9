import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, type Item, type Transport } from "edgetable";
import { createFolder, educationData, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
let transport: Transport;
const edgetable = (...argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path });
const storedItems = async (): Promise<readonly Item[]> => {
  const { Items: items = [] } = await transport.send("Scan", { TableName: "Education", Limit: 1000 });
  return items.toSorted((a, b) => (JSON.stringify([a["pk"], a["sk"]]) < JSON.stringify([b["pk"], b["sk"]]) ? -1 : 1));
};
const json = async (...argv: readonly string[]): Promise<unknown> => JSON.parse((await edgetable(...argv, "--json")).out);

beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  folder = createFolder({ "edgetable.ts": educationModel, "data.json": educationData });
  expect((await edgetable("table", "create")).code).toBe(0);
  expect((await edgetable("load", "data.json")).err).toBe("");
});
afterAll(async () => {
  folder.remove();
  await transport.close();
  await engine.stop();
});

describe("get", () => {
  test("shows a node, ids first", async () => {
    expect(await edgetable("get", "student", "studentId=S1")).toMatchObject({
      code: 0,
      out: "studentId  S1\nname       Ann\nyear       3\n",
      err: "1 request, 0.5 RCU\n",
    });
  });

  test("accepts an id bare, as JSON, with several fields, and in its schema's type", async () => {
    expect(await json("get", "student", "S2")).toEqual({ studentId: "S2", name: "Bob" });
    expect(await json("get", "student", '{"studentId":"S3"}')).toEqual({ studentId: "S3", name: "Cy" });
    expect(await json("get", "home", "country=US", "city=Seattle")).toEqual({ country: "US", city: "Seattle" });
    expect(await json("get", "term", "year=2024")).toEqual({ year: 2024, starts: "2024-09-01T00:00:00.000Z" });
  });

  test("shows the fields of an id in the key's order", async () => {
    expect((await edgetable("get", "home", "city=Seattle", "country=US")).out).toBe("country  US\ncity     Seattle\n");
  });

  test("shows a part by its node's id and its own, and an edge by those of its ends", async () => {
    expect((await edgetable("get", "note", "studentId=S1", "number=1")).out).toBe("studentId  S1\nnumber     1\ntext       late\n");
    expect(await json("get", "enrolledIn", "from.studentId=S1", "to.courseId=C1")).toEqual({
      from: { studentId: "S1" },
      to: { courseId: "C1" },
      at: "2024-01-10",
      grade: "A",
    });
    expect(await json("get", "livesIn", '{"from":{"studentId":"S1"},"to":{"country":"US","city":"Seattle"}}')).toMatchObject({
      to: { city: "Seattle" },
    });
    expect(await edgetable("get", "enrolledIn", "from.studentId=S1", "to.courseId=C9")).toEqual({
      code: 1,
      out: "",
      err: "There is no enrolledIn with from.studentId=S1 to.courseId=C9.\n",
    });
    expect((await edgetable("get", "enrolledIn", "from.studentId=S1", "to.courseId=C1", "--explain")).out).toContain("GetItem");
  });

  test("exits with 1 if the node does not exist", async () => {
    expect(await edgetable("get", "student", "S9")).toEqual({ code: 1, out: "", err: "There is no student with studentId=S9.\n" });
    expect(await edgetable("get", "student", "S9", "--json")).toEqual({ code: 1, out: "null\n", err: "" });
  });

  test.each([
    [["home", "US"], 'The id "US" is not of the form name=value: use country=… city=….'],
    [["home", "country=US"], 'The id of "home" lacks city: edgetable get home country=… city=…'],
    [["note", "studentId=S1"], 'The id of "note" lacks number: edgetable get note studentId=… number=…'],
    [["enrolledIn", "S1"], 'The id "S1" is not of the form name=value: use from.studentId=… to.courseId=….'],
    [["enrolledIn", "from.student=S1"], 'The id of "enrolledIn" has no field "from.student". Did you mean "from.studentId"?'],
    [["student", "studenId=S1"], 'The id of "student" has no field "studenId". Did you mean "studentId"?'],
    [["student", "studentId="], "Give at least one character"],
    [["term", "year=soon"], '"soon"'],
  ])("rejects %j", async (argv, message) => {
    expect(await edgetable("get", ...argv)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
  });

  test("asks for the type of an end that may be of several types", async () => {
    const model = educationModel.replace(/edges: \{/, 'edges: { about: edge({ from: ["student", "term"], to: ["student", "home"] }),');
    const several = createFolder({ "edgetable.ts": model });
    const get = async (...id: readonly string[]) => (await run(["get", "about", ...id, "--explain"], { cwd: several.path })).err;
    const types = 'to.type of "about" is one of student, home: give it too.';
    expect(await get("from.type=term", "from.year=2024", "to.studentId=S1")).toContain(types);
    expect(await get('{"from":{"type":"term","year":2024},"to":{"studentId":"S1"}}')).toContain(types);
    expect(await get("from.year=2024", "to.studentId=S1")).toContain('from.type of "about" is one of student, term: give it too.');
    expect(await get("from.type=term", "from.yea=2024", "to.type=student", "to.studentId=S1")).toContain('has no field "from.yea".');
    several.remove();
  });

  test("--explain needs neither region nor endpoint", async () => {
    const env = { AWS_REGION: "", AWS_CONFIG_FILE: "/none" };
    for (const argv of [
      ["get", "student", "S1"],
      ["query", "student", "S1", "--out", "enrolledIn"],
    ])
      expect(await run([...argv, "--explain"], { cwd: folder.path, env })).toMatchObject({ code: 0, err: "" });
  });

  test("--explain sends nothing", async () => {
    const { out } = await run(["get", "student", "S1", "--explain", "--endpoint", "http://127.0.0.1:1"], { cwd: folder.path });
    expect(out).toContain('key    pk = "STUDENT#S1", sk = "#"');
  });
});

describe("query", () => {
  test("gives edges in their order, either way", async () => {
    const { code, out, err } = await edgetable("query", "course", "C1", "--in", "enrolledIn");
    expect({ code, out }).toEqual({
      code: 0,
      out: "from.studentId  to.courseId  at          grade\nS1              C1           2024-01-10  A\nS2              C1           2024-01-11\nS3              C1           2024-01-12\n",
    });
    expect(err).toBe("3 rows; 1 request, 0.5 RCU\n");
    expect(await json("query", "student", "S1", "--out", "enrolledIn", "--reverse")).toMatchObject({
      items: [{ at: "2024-01-10" }, { at: "2023-09-01" }],
    });
  });

  test("gives nodes, entries, ids and the count", async () => {
    const of = ["query", "student", "S1", "--out", "enrolledIn"];
    expect(await json(...of, "--nodes")).toMatchObject({ items: [{ name: "Arts" }, { name: "Advanced Mathematics" }] });
    expect(await json(...of, "--ids")).toMatchObject({ items: [{ courseId: "C2" }, { courseId: "C1" }] });
    expect(await json(...of, "--count")).toBe(2);
    expect((await edgetable(...of, "--entries")).out.split("\n")[0]?.split(/ +/)).toEqual([
      "from.studentId",
      "to.courseId",
      "at",
      "grade",
      "node.courseId",
      "node.name",
    ]);
  });

  test("filters with JSON and with name=value", async () => {
    const of = ["query", "course", "C1", "--in", "enrolledIn", "--ids"];
    expect(await json(...of, "--where", '{"at":{"gte":"2024-01-11"}}')).toMatchObject({
      items: [{ studentId: "S2" }, { studentId: "S3" }],
    });
    expect(await json(...of, "--where", "grade=A")).toMatchObject({ items: [{ studentId: "S1" }] });
  });

  test("pages with a cursor, and writes nothing to the table for it", async () => {
    const of = ["query", "course", "C1", "--in", "enrolledIn", "--ids", "--limit", "2"];
    const first = (await json(...of)) as { readonly items: unknown; readonly next: string };
    expect(first.items).toEqual([{ studentId: "S1" }, { studentId: "S2" }]);
    expect((await edgetable(...of)).err).toMatch(/^2 rows; [^\n]*\nMore: run the command again with --cursor \S+ --limit 2\n$/);
    // A terminal of 60 columns wraps the cursor by itself, so that it can be copied.
    const narrow = await run([...of, "--endpoint", engine.endpoint], { cwd: folder.path, columns: 60 });
    expect(narrow.err).toMatch(/More: run the command again with --cursor [\w-]{60,} --limit 2\b/);
    expect(await json(...of, "--cursor", first.next)).toMatchObject({ items: [{ studentId: "S3" }] });
    expect(await edgetable("query", "course", "C2", "--in", "enrolledIn", "--cursor", first.next)).toMatchObject({
      code: 2,
      err: expect.stringContaining("cursor.invalid"),
    });
    expect(JSON.stringify(await storedItems())).not.toContain("secret");
  });

  test("without an edge gives the node with its edges and parts", async () => {
    const { out, err } = await edgetable("query", "student", "S1");
    expect(err).toBe("5 rows; 1 request, 0.5 RCU\n");
    expect((await edgetable("query", "student", "S9")).err).toBe("Nothing found; 1 request, 0.5 RCU\n");
    expect(out).toContain("node\nstudentId  name  year\nS1         Ann      3\n");
    expect(out).toContain("\nnote\n");
    // As with --out: the ids of the other end in its key's order, too.
    expect(out).toContain((await edgetable("query", "student", "S1", "--out", "livesIn")).out);
    expect(out).toContain("livesIn\nfrom.studentId  to.country  to.city\n");
    expect(await json("query", "student", "S1")).toMatchObject({
      node: { name: "Ann" },
      edges: { enrolledIn: [{}, {}], livesIn: [{}] },
      parts: { note: [{ text: "late" }] },
    });
  });

  test("of a part takes one of its edges, and says so without one", async () => {
    folder.write(
      "rota.ts",
      `import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
export const rota = defineGraph({
  table: "Rota",
  nodes: { ward: node({ key: "WARD#{number:3}", schema: z.object({ number: z.int() }) }) },
  parts: {
    shift: part({ of: "ward", key: "SHIFT#{slot:2}", schema: z.object({ slot: z.int() }) }),
    note: part({ of: "ward", key: "NOTE#{at}", schema: z.object({ at: z.string() }) }),
  },
  edges: { follows: edge({ from: "shift", to: "shift" }), leadsTo: edge({ from: "ward", to: "shift" }), near: edge({ from: "ward", to: "ward" }) },
});`,
    );
    const query = (...argv: readonly string[]) => edgetable("query", "shift", "number=7", "slot=2", "--model", "rota.ts", ...argv);
    await edgetable("table", "create", "--model", "rota.ts");
    expect(await query("--in", "leadsTo")).toMatchObject({ code: 0, err: "Nothing found; 1 request, 0.5 RCU\n" });
    expect(await query()).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        '"shift" is a part: name one of its edges (follows, leadsTo) with --out, --in or --both, or read its row: edgetable get shift number=… slot=…',
      ),
    });
    expect(await edgetable("query", "note", "number=7", "at=x", "--model", "rota.ts")).toMatchObject({ code: 2 });
  });

  test("of the leading levels of an id asks for all nodes below them, which takes an index that is keyed by them", async () => {
    const ran = await edgetable("query", "home", "country=US", "--in", "livesIn", "--explain");
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("none has a partition key made only of to.country") });
  });

  test.each([
    [["student", "S1", "--out", "enroledIn"], 'There is no edge "enroledIn". Did you mean "enrolledIn"?'],
    [["student", "S1", "--out", "enrolledIn", "--where", "grad=A"], '"grad" is not an attribute'],
    [["student", "S1", "--out", "enrolledIn", "--in", "enrolledIn"], "Use only one of --out, --in, --both"],
    [["student", "S1", "--out", "enrolledIn", "--nodes", "--count"], "you gave --nodes and --count"],
    [["student", "S1", "--out", "enrolledIn", "--using", "ordred"], 'There is no index "ordred". Did you mean "ordered"?'],
    [["course", "C1", "--in", "enrolledIn", "--consistent"], "consistent"],
    [["student", "S1", "--out", "enrolledIn", "--consistent"], "On the command line, omit --consistent or add --unordered"],
    [["home", "country=US"], "lacks city"],
    [["student", "S1", "--where", "grade=A"], "--where applies to edges of one type: name it with --out"],
    [["student", "S1", "--nodes"], "--nodes applies to edges"],
    [["student", "S1", "--out", "enrolledIn", "--count", "--cursor", "x"], "omit --count"],
  ])("rejects %j", async (argv, message) => {
    expect(await edgetable("query", ...argv)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
  });
});

describe("dump", () => {
  const lines = async (...argv: readonly string[]): Promise<readonly string[]> =>
    (await edgetable("dump", ...argv)).out.trim().split("\n").toSorted();

  test("gives every node, edge and part as a row of load, one a line", async () => {
    const { code, out, err } = await edgetable("dump");
    expect(code).toBe(0);
    expect(out.trim().split("\n")).toHaveLength(13);
    expect(out).toContain('{"node":"term","row":{"starts":{"$date":"2024-09-01T00:00:00.000Z"},"year":2024}}\n');
    expect(out).toContain('{"part":"note","owner":{"studentId":"S1"},"row":{"number":1,"text":"late"}}\n');
    expect(out).toContain('{"edge":"livesIn","from":{"studentId":"S1"},"to":{"city":"Seattle","country":"US"},"attributes":{}}\n');
    expect(err).toMatch(/^13 rows, [\d.]+ RCU\n$/);
  });

  test("returns the same with several segments, and only the named types with --only", async () => {
    expect(await lines("--segments", "4", "--consistent")).toEqual(await lines());
    expect(await lines("--only", "home,course")).toHaveLength(3);
    expect(await edgetable("dump", "--only", "hom")).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "home"?') });
    expect(await edgetable("dump", "--segments", "0")).toMatchObject({ code: 2 });
  });

  test("a dump loads back byte for byte", async () => {
    const before = await storedItems();
    folder.write("backup.ndjson", (await edgetable("dump")).out);
    await edgetable("table", "delete", "--yes");
    await edgetable("table", "create");
    expect(await edgetable("load", "backup.ndjson")).toMatchObject({ code: 0, err: "" });
    expect(await storedItems()).toEqual(before);
  });

  test("keeps attributes that the model does not know, and omits them with --unknown hide", async () => {
    const key = { pk: { S: "STUDENT#S7" }, sk: { S: "#" } };
    const known = { studentId: "S7", name: "Gil" };
    folder.write("gil.ndjson", `${JSON.stringify({ node: "student", row: known })}\n`);
    expect(await edgetable("load", "gil.ndjson")).toMatchObject({ code: 0, err: "" });
    const { Item: stored } = await transport.send("GetItem", { TableName: "Education", Key: key });
    await transport.send("PutItem", { TableName: "Education", Item: { ...stored, nick: { S: "G" }, tags: { SS: ["a"] } } });
    try {
      const hidden = '{"node":"student","row":{"name":"Gil","studentId":"S7"}}';
      const shown = '{"node":"student","row":{"name":"Gil","nick":"G","studentId":"S7","tags":{"$set":["a"]}}}';
      for (const argv of [[], ["--unknown", "show"]]) expect(await lines(...argv)).toContain(shown);
      expect(await lines("--unknown", "hide")).toContain(hidden);
      expect(await edgetable("dump", "--unknown", "drop")).toMatchObject({ code: 2, err: expect.stringContaining("show, hide") });

      folder.write("all.ndjson", `${shown}\n`);
      const hint = 'If this file is a dump, add such attributes to the model, or omit them with "edgetable dump --unknown hide".';
      const reason = `all.ndjson line 1: "nick" is not an attribute of "student". Known: studentId, name, year, active.`;
      for (const argv of [[], ["--strict"]]) {
        const refused = await edgetable("load", "all.ndjson", ...argv);
        expect(refused.code).toBeGreaterThan(0);
        expect(refused.err).toContain(hint);
        if (argv.length === 0) expect(refused.err).toContain(`${reason} ${hint}`);
      }
      // The refused load changed nothing; a dump without the attributes loads.
      const { Item: kept } = await transport.send("GetItem", { TableName: "Education", Key: key });
      expect(kept).toMatchObject({ nick: { S: "G" } });
      folder.write("known.ndjson", (await edgetable("dump", "--unknown", "hide")).out);
      expect(await edgetable("load", "known.ndjson")).toMatchObject({ code: 0, err: "" });

      // With the attributes in the model, the whole dump loads.
      const wider = educationModel.replace(
        "name: z.string(), year",
        "name: z.string(), nick: z.string().optional(), tags: z.set(z.string()).optional(), year",
      );
      folder.write("wider.ts", wider);
      expect(await edgetable("load", "all.ndjson", "--model", "wider.ts")).toMatchObject({ code: 0, err: "" });
      const { Item: restored } = await transport.send("GetItem", { TableName: "Education", Key: key });
      expect(restored).toEqual({ ...stored, nick: { S: "G" }, tags: { SS: ["a"] } });
    } finally {
      await transport.send("DeleteItem", { TableName: "Education", Key: key });
    }
  });

  test("reports and saves a stray item, and exits with 1", async () => {
    const item = { pk: { S: "ELSE" }, sk: { S: "#" }, what: { B: "AP8=" } };
    await transport.send("PutItem", { TableName: "Education", Item: item });
    try {
      const { code, out, err } = await edgetable("dump", "--strays", "strays.ndjson");
      expect(code).toBe(1);
      expect(out.trim().split("\n")).toHaveLength(13);
      expect(err).toContain('Skipped the item (ELSE, #): it is nearest to "student", but "pk" is "ELSE", not STUDENT#{studentId}.\n');
      expect(err).toContain("13 rows, 1 item skipped, ");
      expect(JSON.parse(readFileSync(join(folder.path, "strays.ndjson"), "utf8"))).toMatchObject({ item });
      for (const [path, problem] of [
        ["/dev/full", "the disk is full"],
        ["nowhere/strays.ndjson", "no such file"],
        ["edgetable.ts/strays.ndjson", "part of its path is not a folder"],
      ] as const) {
        const failed = await edgetable("dump", "--strays", path);
        expect(failed).toMatchObject({ code: 74, err: expect.stringContaining(`${path} cannot be written: ${problem}.`) });
        expect(failed.err).toContain("cli.output");
      }
    } finally {
      await transport.send("DeleteItem", { TableName: "Education", Key: { pk: item.pk, sk: item.sk } });
    }
  });
});

describe("a part at an end of an edge", () => {
  test("has neighbours, and an id of two parts in its edges", async () => {
    const model = `
import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
export const college = defineGraph({
  table: "Lectures",
  nodes: {
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string() }) }),
    teacher: node({ key: "TEACHER#{teacherId}", schema: z.object({ teacherId: z.string() }) }),
  },
  parts: { lecture: part({ of: "course", key: "LECTURE#{number:2}", schema: z.object({ number: z.int(), topic: z.string() }) }) },
  edges: { gives: edge({ from: "teacher", to: "lecture" }) },
});
`;
    const data = JSON.stringify({
      nodes: { course: [{ courseId: "C1" }], teacher: [{ teacherId: "T1" }] },
      parts: { lecture: [{ owner: { courseId: "C1" }, number: 1, topic: "Proofs" }] },
      edges: { gives: [{ from: { teacherId: "T1" }, to: { courseId: "C1", number: 1 } }] },
    });
    const lectures = createFolder({ "edgetable.ts": model, "data.json": data });
    const call = (...argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: lectures.path });
    await call("table", "create");
    expect((await call("load", "data.json")).code).toBe(0);
    const lecture = ["lecture", "courseId=C1", "number=1"];
    expect(JSON.parse((await call("query", ...lecture, "--in", "gives", "--ids", "--json")).out)).toMatchObject({
      items: [{ teacherId: "T1" }],
    });
    expect((await call("get", "gives", "from.teacherId=T1", "to.courseId=C1", "to.number=1")).code).toBe(0);
    lectures.remove();
  });
});
