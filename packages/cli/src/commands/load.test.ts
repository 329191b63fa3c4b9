import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { educationData, educationModel } from "../test-support/lab.ts";
import { useEducationTable } from "../test-support/education-table.ts";

const { folder, edgetable, get } = useEducationTable();

describe("JSON", () => {
  test("NDJSON rows say what they are; unreadable and invalid lines are reported", async () => {
    folder.write(
      "data.ndjson",
      [
        '{"node":"student","row":{"studentId":"S1","name":"Ann"}}',
        "{nonsense",
        '{"node":"studnt","row":{}}',
        "",
        '{"node":"term","row":{"year":2024,"starts":"2024-09-01"}}',
        '{"part":"note","owner":{"studentId":"S1"},"row":{"number":1,"text":"late"}}',
        '{"node":"student","row":{"studentId":"S2","name":7}}',
        "[]",
        '{"$bigint":"5"}',
      ].join("\n"),
    );
    const { code, err } = await edgetable(["load", "data.ndjson"]);
    expect(code).toBe(1);
    expect(err).toContain("data.ndjson line 2: it is not valid JSON");
    expect(err).toContain('data.ndjson line 3: There is no node "studnt". Did you mean "student"?');
    expect(err).toContain("data.ndjson line 7: name is 7: Invalid input: expected string, received number");
    expect(err).toContain("data.ndjson line 8: it is not an object: []");
    expect(err).toContain('data.ndjson line 9: it is not an object: {"$bigint":"5"}');
    expect(await get("term", "2024")).toEqual({ year: 2024, starts: "2024-09-01T00:00:00.000Z" });
  });

  test("dates are texts in the ids of an edge's ends and of a part's node too", async () => {
    folder.write(
      "calendar.ts",
      `import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
export const calendar = defineGraph({
  table: "Calendar",
  nodes: {
    day: node({ key: "DAY#{on:date}", schema: z.object({ on: z.date() }) }),
    guest: node({ key: "GUEST#{name}", schema: z.object({ name: z.string() }) }),
  },
  parts: { hour: part({ of: "day", key: "HOUR#{at:2}", schema: z.object({ at: z.int() }) }) },
  edges: { invited: edge({ from: "guest", to: ["day", "guest"] }) },
});`,
    );
    folder.write(
      "calendar.ndjson",
      [
        '{"node":"day","row":{"on":"2026-07-01"}}',
        '{"part":"hour","owner":{"on":"2026-07-01"},"row":{"at":9}}',
        '{"edge":"invited","from":{"name":"Ann"},"to":{"type":"day","on":"2026-07-01"},"attributes":{}}',
      ].join("\n"),
    );
    await edgetable(["table", "create", "--model", "calendar.ts"]);
    expect(await edgetable(["load", "calendar.ndjson", "--model", "calendar.ts"])).toMatchObject({ code: 0, err: "" });
    const { out } = await edgetable(["query", "day", "on=2026-07-01", "--in", "invited", "--model", "calendar.ts", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ items: [{ from: { name: "Ann" }, to: { type: "day" } }] });
  });

  test("an unknown member of a row is reported, with the place for attributes", async () => {
    folder.write(
      "stray.ndjson",
      [
        '{"node":"student","studentId":"S1","name":"Ann"}',
        '{"edge":"enrolledIn","from":{"studentId":"S1"},"to":{"courseId":"C1"},"attributes":{"at":"2024"},"grade":"A"}',
        '{"edge":"enrolledIn","from":{"studentId":"S2"},"to":{"courseId":"C1"},"attributes":{"at":"2024","grade":"A"}}',
      ].join("\n"),
    );
    const { code, out, err } = await edgetable(["load", "stray.ndjson"]);
    expect(code).toBe(1);
    expect(err).toBe(
      [
        'stray.ndjson line 1: "studentId" is not allowed in a row with "node": put attributes in its "row".',
        'stray.ndjson line 2: "grade" is not allowed in a row with "edge": put attributes in its "attributes".',
        "",
      ].join("\n"),
    );
    expect(out).toMatch(/^stray\.ndjson: 3 rows, 1 item written in .*, 2 rows failed\.\n$/);
  });

  test("a JSON file by definitions, and a plain list with --node; standard input too", async () => {
    folder.write("data.json", educationData);
    expect(await edgetable(["load", "data.json"])).toMatchObject({ code: 0, err: "" });
    folder.write("list.json", '[{"studentId":"S7","name":"Gil"},3]');
    expect(await edgetable(["load", "list.json", "--node", "student"])).toMatchObject({
      code: 1,
      err: "list.json [1]: it is not an object: 3\n",
    });
    expect(
      await edgetable(["load", "-", "--node", "student", "--format", "ndjson"], { input: '{"studentId":"S8","name":"Hal"}\n' }),
    ).toMatchObject({ code: 0, out: expect.stringMatching(/^standard input: 1 row, 1 item written/) });
    expect(await get("student", "S7")).toEqual({ studentId: "S7", name: "Gil" });
    expect(await get("student", "S8")).toEqual({ studentId: "S8", name: "Hal" });
  });

  test.each([
    ["broken.json", "{", "It is not valid JSON"],
    ["shape.json", '{"students":[]}', "It must be a list of rows, or"],
  ])("%s is rejected as a whole", async (name, text, message) => {
    folder.write(name, text);
    expect(await edgetable(["load", name])).toMatchObject({ code: 1, out: "", err: expect.stringContaining(message) });
  });
});

test("a service that gives up ends the load, which says how far it came and names a reason once", async () => {
  folder.write("elsewhere.ts", educationModel.replace('"Education"', '"Nowhere"'));
  folder.write(
    "many.ndjson",
    Array.from({ length: 200 }, (_, at) => `{"node":"student","row":{"studentId":"S${at}","name":"N"}}\n`).join(""),
  );
  const { code, out, err } = await edgetable(["load", "many.ndjson", "--model", "elsewhere.ts"]);
  expect({ code, out }).toEqual({ code: 4, out: "" });
  expect(err).toContain("many.ndjson: ended early; nothing was written.\n");
  expect(err.match(/many\.ndjson line/g)).toHaveLength(3);
});

describe("a job", () => {
  const rows = Array.from({ length: 8000 }, (_, at) => `S${at},Student ${at}`).join("\n");

  test("that was interrupted resumes with the same command, but not with another file", async () => {
    folder.write("job.csv", `studentId,name\n${rows}\n`);
    const argv = ["load", "job.csv", "--node", "student", "--job", "students"];
    const controller = new AbortController();
    // The first progress stops it.
    const first = await edgetable(argv, { signal: controller.signal, columns: 80, onErr: () => controller.abort() });
    expect(first).toMatchObject({ code: 130, out: "" });
    expect(first.err).toMatch(/job\.csv: interrupted; .* Run the same command to resume\./);
    expect(await edgetable([...argv, "--delimiter", ";"])).toMatchObject({ code: 1, err: expect.stringContaining("job.mismatch") });
    folder.write("job.csv", `studentId,name\nS0,Other\n`);
    expect(await edgetable(argv)).toMatchObject({ code: 1, err: expect.stringContaining("job.mismatch") });
    folder.write("job.csv", `studentId,name\n${rows}\n`);
    expect(await edgetable(argv)).toMatchObject({ code: 0, out: expect.stringContaining("job.csv: 8,000 rows") });
    expect((await edgetable(["dump"])).out.trim().split("\n")).toHaveLength(8000);
  });
});

describe("files", () => {
  test("that do not exist, or have an unknown format, are rejected", async () => {
    expect(await edgetable(["load", "no.json"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no.json: no such file."),
    });
    expect(await edgetable(["load", "no.xml"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("The format of no.xml is unknown. Pass --format csv, json or ndjson."),
    });
  });

  test.each([
    ["folder.ndjson", "folder.ndjson: it is a folder."],
    ["folder.json", "folder.json: it is a folder."],
    ["folder.csv", "folder.csv: it is a folder."],
    ["edgetable.ts/a.json", "edgetable.ts/a.json: part of its path is not a folder."],
  ])("%s, which does not exist, is reported", async (name, message) => {
    for (const folded of ["folder.ndjson", "folder.json", "folder.csv"]) folder.write(`${folded}/x`, "");
    expect(await edgetable(["load", name, "--node", "student"])).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
  });

  test("in capitals are read as others", async () => {
    folder.write("STUDENTS.TSV", "studentId\tname\nS1\tAnn\n");
    expect(await edgetable(["load", "STUDENTS.TSV", "--node", "student"])).toMatchObject({ code: 0, err: "" });
    expect(await get("student", "S1")).toEqual({ studentId: "S1", name: "Ann" });
  });

  test.each(["", "\n"])("are not divided by %j", async (delimiter) => {
    folder.write("plain.csv", "studentId,name\nS1,Ann\n");
    expect(await edgetable(["load", "plain.csv", "--node", "student", "--delimiter", delimiter])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("--delimiter"),
    });
  });

  test("may contain an invalid special value: it is reported, and the load continues", async () => {
    folder.write(
      "marked.ndjson",
      `{"node":"student","row":{"studentId":{"$set":5}}}\n{"node":"student","row":{"studentId":"S9","name":"Ida"}}\n`,
    );
    expect(await edgetable(["load", "marked.ndjson"])).toMatchObject({
      code: 1,
      err: expect.stringContaining('line 1: {"$set":5} is not a valid $set'),
    });
    expect(await get("student", "S9")).toEqual({ studentId: "S9", name: "Ida" });
  });

  test("report a row that is nested too deeply by its place, and load the others", async () => {
    const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const rows = (name: string): readonly string[] => [
      `{"node":"student","row":{"studentId":"${name}1","name":"Ida"}}`,
      `{"node":"student","row":{"studentId":"${name}2","name":${deep(50_000)}}}`,
      deep(50_000),
      `{"node":"student","row":{"studentId":"${name}4","name":"Kim"}}`,
    ];
    folder.write("deep.ndjson", rows("N").join("\n"));
    folder.write("deep.json", `[${rows("J").join(",")}]`);
    folder.write("deep.csv", `studentId,name,year\nC1,Ida,1\nC2,Bob,"${deep(50_000)}"\nC4,Kim,1\n`);
    const told = "it is nested more than 100 levels deep; DynamoDB allows 32";
    expect(await edgetable(["load", "deep.ndjson"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("4 rows, 2 items written"),
      err: `deep.ndjson line 2: ${told}\ndeep.ndjson line 3: ${told}\n`,
    });
    expect(await edgetable(["load", "deep.json"])).toMatchObject({ code: 1, err: `deep.json [1]: ${told}\ndeep.json [2]: ${told}\n` });
    const csv = await edgetable(["load", "deep.csv", "--node", "student"]);
    expect(csv).toMatchObject({
      code: 1,
      out: expect.stringContaining("3 rows, 2 items written"),
      err: expect.stringContaining("line 3: year is "),
    });
    for (const id of ["N4", "J4", "C4"]) expect(await get("student", id)).toMatchObject({ name: "Kim" });
    folder.write("deep.map.json", `{"node":"student","row":{"studentId":"studentId","name":{"value":${deep(50_000)}}}}`);
    expect(await edgetable(["load", "deep.csv", "--map", "deep.map.json"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("nested"),
    });
    expect(await edgetable(["get", "student", `{"studentId":${deep(50_000)}}`])).toMatchObject({
      code: 2,
      err: expect.stringContaining(told),
    });
  });

  test("with a repeated failure report it a few times", async () => {
    folder.write("same.ndjson", Array.from({ length: 50 }, () => '{"node":"studnt","row":{}}').join("\n"));
    const { code, out, err } = await edgetable(["load", "same.ndjson"]);
    expect(code).toBe(1);
    expect(err.trim().split("\n")).toEqual([
      expect.stringContaining("line 1:"),
      expect.stringContaining("line 2:"),
      expect.stringContaining("line 3:"),
      "Further failures are counted but not shown.",
    ]);
    expect(out).toContain("50 rows failed.");
  });

  test("of many rows show progress on a terminal, on one line, and in a pipe plain lines at most", async () => {
    const rows = Array.from({ length: 5000 }, (_, at) => `S${at},Student ${at},${at % 5}`);
    writeFileSync(join(folder.path, "many.csv"), `studentId,name,year\n${rows.join("\n")}\n`);
    const terminal = await edgetable(["load", "many.csv", "--node", "student"], { columns: 80 });
    expect(terminal.out).toMatch(/5,000 rows, 5,000 items written in/);
    const shown = terminal.err.split("\r\u001b[K").filter((line) => line !== "");
    expect(shown.at(-1)).toMatch(/^100 % {2}5,000 rows, 5,000 items, [\d,]+\/s$/);
    for (const line of shown) expect(line.length).toBeLessThan(80);
    const some = /^ *\d+ % {2}[\d,]+ of (about )?[\d,]+ rows, [\d,]+ items, [\d,]+\/s(, \d+ (s|min) left)?$/;
    for (const line of shown.slice(0, -1)) expect(line).toMatch(some);
    // One for each five seconds, which only a slow machine takes.
    expect((await edgetable(["load", "many.csv", "--node", "student"])).err).not.toMatch(/[\r\u001b]/);
  });
});

test("large numbers survive dump and load; one that does not fit is reported", async () => {
  const model = (type: string): string => `
    import { defineGraph, node } from "edgetable";
    import { z } from "zod";
    const schema = z.object({ id: z.string(), n: z.${type}() });
    export const graph = defineGraph({ table: "Large-${type}", nodes: { thing: node({ key: "THING#{id}", schema }) } });
  `;
  folder.write("number.ts", model("number"));
  folder.write("string.ts", model("string"));
  const one = '{"node":"thing","row":{"id":"1","n":1e21}}\n';
  const dumped = '{"node":"thing","row":{"id":"1","n":{"$bigint":"1000000000000000000000"}}}\n';
  folder.write("one.ndjson", one);
  folder.write("dumped.ndjson", dumped);
  for (const type of ["number", "string"]) await edgetable(["table", "create", "--model", `${type}.ts`]);
  for (const file of ["one.ndjson", "dumped.ndjson"]) {
    expect(await edgetable(["load", file, "--model", "number.ts"])).toMatchObject({ code: 0 });
    expect(await edgetable(["dump", "--model", "number.ts"])).toMatchObject({ code: 0, out: dumped });
  }
  expect(await edgetable(["load", "dumped.ndjson", "--model", "string.ts"])).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'dumped.ndjson line 1: n is {"$bigint":"1000000000000000000000"}: Invalid input: expected string, received bigint',
    ),
  });
});
