import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, educationData, educationModel, run, type Folder, type RunOptions } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
const edgetable = (argv: readonly string[], options: Partial<RunOptions> = {}) =>
  run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...options });
const get = async (node: string, ...id: readonly string[]): Promise<unknown> =>
  JSON.parse((await edgetable(["get", node, ...id, "--json"])).out);

beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({ "edgetable.ts": educationModel });
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});
beforeEach(async () => {
  await edgetable(["table", "delete", "--yes"]);
  await edgetable(["table", "create"]);
});

describe("CSV", () => {
  const students = 'ID,Full name,Year,Active\nS1,Ann,3,true\nS2,Bob,abc,\nS3,"Cy\nril",1,\nS4\n\nS5,,2,\nS6,Eve,,FALSE\n';
  const columns = ["--node", "student", "--columns", "studentId=ID,name=Full name", "--columns", "year=Year,active=Active"];

  test("reports invalid rows by line, column and value, and continues", async () => {
    folder.write("students.csv", students);
    const { code, out, err } = await edgetable(["load", "students.csv", ...columns]);
    expect(code).toBe(1);
    expect(err.trim().split("\n").toSorted()).toEqual([
      'students.csv line 3: Year is "abc": Invalid input: expected number, received string',
      "students.csv line 6: it has 1 cell, the header has 4",
      "students.csv line 8: Full name is missing: Invalid input: expected string, received undefined",
    ]);
    expect(out).toMatch(/^students\.csv: 6 rows, 3 items written in .*, 3 rows failed\.\n$/);
    expect(await get("student", "S1")).toEqual({ studentId: "S1", name: "Ann", year: 3, active: true });
    expect(await get("student", "S3")).toEqual({ studentId: "S3", name: "Cy\nril", year: 1 });
    expect(await get("student", "S6")).toEqual({ studentId: "S6", name: "Eve", active: false });
    expect(await get("student", "S2")).toBeNull();
  });

  // A double holds the powers of 2; the fewest digits that name it are other ones.
  test.each(["12345678901234567891", String(2n ** 60n), String(2n ** 70n), "1152921504606847000", String(10n ** 21n)])(
    "the whole number %s keeps all its digits, in a dump that is loaded again too",
    async (digits) => {
      const schema = "year: z.number(), years: z.array(z.number()).optional()";
      folder.write("numbers.ts", educationModel.replace("year: z.int()", schema));
      folder.write("numbers.csv", `studentId,name,year\nD1,Ann,${digits}\nD2,Bob,5\n`);
      const row = (id: string, number: string): string =>
        `{"node":"student","row":{"studentId":"${id}","name":"Cy","year":${number},"years":[${number},1]}}\n`;
      folder.write("numbers.ndjson", row("D3", digits) + row("D4", `{"$bigint":"${digits}"}`));
      const model = ["--model", "numbers.ts"];
      expect(await edgetable(["load", "numbers.csv", "--node", "student", ...model])).toMatchObject({ code: 0, err: "" });
      const expected = [
        { year: { $bigint: digits } },
        { year: 5 },
        { year: { $bigint: digits }, years: [{ $bigint: digits }, 1] },
        { year: { $bigint: digits }, years: [{ $bigint: digits }, 1] },
      ];
      const stored = () => Promise.all(["D1", "D2", "D3", "D4"].map((id) => get("student", id, ...model)));
      expect(await edgetable(["load", "numbers.ndjson", ...model])).toMatchObject({ code: 0, err: "" });
      expect(await stored()).toMatchObject(expected);
      folder.write("dump.ndjson", (await edgetable(["dump", ...model])).out);
      expect(await edgetable(["load", "dump.ndjson", ...model])).toMatchObject({ code: 0 });
      expect(await stored()).toMatchObject(expected);
    },
  );

  test("--missing names cells that mean no value", async () => {
    folder.write("na.csv", "studentId,name,year\nM1,Ann,NA\nM2,NA,2\nM3,NAN,\\N\n");
    const { code, err } = await edgetable(["load", "na.csv", "--node", "student", "--missing", "NA", "--missing", "\\N"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("na.csv line 3: name is missing") });
    expect(await get("student", "M1")).toEqual({ studentId: "M1", name: "Ann" });
    expect(await get("student", "M3")).toEqual({ studentId: "M3", name: "NAN" });
  });

  test("an empty cell is null where the schema requires the attribute and accepts null", async () => {
    const model = `import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
export const air = defineGraph({
  table: "Air",
  nodes: {
    plane: node({ key: "PLANE#{tail}", schema: z.object({ tail: z.string(), speed: z.int().nullable(), note: z.string().nullish(), name: z.string() }) }),
  },
  parts: { check: part({ of: "plane", key: "CHECK#{number:3}", schema: z.object({ number: z.int(), at: z.date().nullable() }), dates: ["at"] }) },
  edges: { follows: edge({ from: "plane", to: "plane", schema: z.object({ delay: z.number().nullable() }) }) },
});`;
    folder.write("air.ts", model);
    await edgetable(["table", "create", "--model", "air.ts"]);
    const load = (name: string, text: string, ...argv: readonly string[]) => {
      folder.write(name, text);
      return edgetable(["load", name, "--model", "air.ts", "--missing", "NA", ...argv]);
    };
    const row = async (...argv: readonly string[]): Promise<unknown> =>
      JSON.parse((await edgetable(["get", ...argv, "--model", "air.ts", "--json"])).out);
    const planes = await load("planes.csv", "tail,speed,note,name\nN1,NA,,a\nN2,105,x,b\nN3,NA,y,NA\nN4,,,null\n", "--node", "plane");
    expect(planes).toMatchObject({ code: 1, err: expect.stringContaining("planes.csv line 4: name is missing") });
    expect(await row("plane", "N1")).toEqual({ tail: "N1", speed: null, name: "a" });
    expect(await row("plane", "N2")).toEqual({ tail: "N2", speed: 105, note: "x", name: "b" });
    expect(await row("plane", "N4")).toEqual({ tail: "N4", speed: null, name: "null" });
    // A column that the file does not have stays missing.
    const without = await load("without.csv", "tail,name\nN5,e\n", "--node", "plane");
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining("without.csv line 2: speed is missing") });
    const columns = ["--columns", "owner.tail=plane,number=no,at=when"];
    expect(await load("checks.csv", "plane,no,when\nN1,1,NA\nN1,2,2024-01-02\n", "--part", "check", ...columns)).toMatchObject({ code: 0 });
    expect(await row("check", "tail=N1", "number=1")).toEqual({ tail: "N1", number: 1, at: null });
    folder.write("follows.map.json", '{"edge":"follows","from":{"tail":"a"},"to":{"tail":"b"},"attributes":{"delay":"late"}}');
    expect(await load("follows.csv", "a,b,late\nN1,N2,NA\n", "--map", "follows.map.json")).toMatchObject({ code: 0 });
    expect(await row("follows", "from.tail=N1", "to.tail=N2")).toEqual({ from: { tail: "N1" }, to: { tail: "N2" }, delay: null });
  });

  test("an empty cell is no null of which the schema makes a value", async () => {
    const schema = "z.object({ tail: z.string(), speed: z.coerce.number(), built: z.coerce.date(), late: z.int().nullable() })";
    const model = `import { defineGraph, node } from "edgetable";
import { z } from "zod";
export const air = defineGraph({ table: "Coerced", nodes: { plane: node({ key: "PLANE#{tail}", schema: ${schema}, dates: ["built"] }) } });`;
    folder.write("coerced.ts", model);
    await edgetable(["table", "create", "--model", "coerced.ts"]);
    folder.write("coerced.csv", "tail,speed,built,late\nN1,,2024-01-02,\nN2,105,,\nN3,105,2024-01-02,\n");
    const { code, err } = await edgetable(["load", "coerced.csv", "--node", "plane", "--model", "coerced.ts"]);
    expect({ code, lines: err.trim().split("\n").toSorted() }).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(/^coerced\.csv line 2: speed is missing/),
        expect.stringMatching(/^coerced\.csv line 3: built is missing/),
      ],
    });
    const stored = await Promise.all(
      ["N1", "N2", "N3"].map((tail) => edgetable(["get", "plane", tail, "--model", "coerced.ts", "--json"])),
    );
    expect(stored.map(({ out }) => JSON.parse(out) as unknown)).toMatchObject([null, null, { speed: 105, late: null }]);
  });

  test("a file in another encoding is refused, whatever its format", async () => {
    const files = { "latin.csv": "studentId,name\nS1,Zoé\n", "latin.ndjson": '{"node":"student","row":{"studentId":"S1","name":"Zoé"}}\n' };
    for (const [name, text] of Object.entries({ ...files, "latin.json": `[${files["latin.ndjson"]}]` })) {
      writeFileSync(join(folder.path, name), Buffer.from(text, "latin1"));
      const { code, err } = await edgetable(["load", name, ...(name.endsWith("csv") ? ["--node", "student"] : [])]);
      expect([name, code, err]).toEqual([name, 1, expect.stringMatching(/It is not UTF-8 \(line \d or after\)\. Save it as UTF-8/)]);
      expect(await get("student", "S1")).toBeNull();
    }
    // Far behind what is read first.
    const rows = Array.from({ length: 5000 }, (_, at) => `{"node":"student","row":{"studentId":"L${at}","name":"Ann"}}\n`).join("");
    writeFileSync(join(folder.path, "late.ndjson"), Buffer.from(`${rows}${files["latin.ndjson"]}`, "latin1"));
    expect(await edgetable(["load", "late.ndjson"])).toMatchObject({ code: 1, err: expect.stringContaining("It is not UTF-8 (line ") });
    // Cut within a character.
    writeFileSync(join(folder.path, "cut.csv"), Buffer.from("studentId,name\nS1,Zoé", "utf8").subarray(0, -1));
    expect(await edgetable(["load", "cut.csv", "--node", "student"])).toMatchObject({ code: 1, err: expect.stringContaining("not UTF-8") });
  });

  test("--strict stops at the first of them", async () => {
    folder.write("students.csv", students);
    const { code, err } = await edgetable(["load", "students.csv", ...columns, "--strict"]);
    expect(code).toBe(1);
    expect(err).toContain('line 3: Year is "abc": Invalid input: expected number, received string.');
    expect(err).toContain("load.invalidRow");
    expect(await get("student", "S6")).toBeNull();
    folder.write("short.csv", "studentId,name\nS1\n");
    expect(await edgetable(["load", "short.csv", "--node", "student", "--strict"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 2: it has 1 cell, the header has 2"),
    });
  });

  test("as JSON gives the counts and the failures, and nothing else", async () => {
    folder.write("students.csv", students);
    const { out } = await edgetable(["load", "students.csv", ...columns, "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      file: "students.csv",
      items: 3,
      failed: 3,
      failures: expect.arrayContaining([
        {
          place: "line 3",
          code: "schema.invalidValue",
          message: expect.any(String),
          columns: [{ column: "Year", value: "abc", problem: expect.any(String) }],
        },
      ]),
    });
  });

  test("edges take their ends from the columns named like the ids", async () => {
    folder.write("enrolments.csv", "\uFEFFstudentId;courseId;at;grade\nS1;C1;2024-01-01;A\nS1;C2;2024-01-02;\n");
    expect(await edgetable(["load", "enrolments.csv", "--edge", "enrolledIn"])).toMatchObject({
      code: 1,
      err: expect.stringContaining('If the delimiter is ";", pass it with --delimiter.'),
    });
    expect(await edgetable(["load", "enrolments.csv", "--edge", "enrolledIn", "--delimiter", ";"])).toMatchObject({ code: 0, err: "" });
    const { out } = await edgetable(["query", "student", "S1", "--out", "enrolledIn"]);
    expect(
      out
        .split("\n")
        .slice(1, 3)
        .map((line) => line.split(/ +/)),
    ).toEqual([
      ["S1", "C1", "2024-01-01", "A"],
      ["S1", "C2", "2024-01-02"],
    ]);
  });

  test("--columns gives ids of ends by their names alone or behind the end", async () => {
    const forms = ["studentId=Who,courseId=What", "from.studentId=Who,to.courseId=What", "studentId=Who,to.courseId=What"];
    for (const [at, ids] of forms.entries()) {
      folder.write("courses.csv", `Who,What,at\nS1,C${at},2024-01-01\n`);
      expect(await edgetable(["load", "courses.csv", "--edge", "enrolledIn", "--columns", `${ids},at`])).toMatchObject({
        code: 0,
        err: "",
      });
      expect([ids, await get("enrolledIn", "from.studentId=S1", `to.courseId=C${at}`)]).toMatchObject([ids, { at: "2024-01-01" }]);
    }
    folder.write("notes.csv", "Who,No,text\nS1,1,late\n");
    for (const [id, column] of Object.entries({ studentId: "No", "owner.studentId": "Who" })) {
      expect(await edgetable(["load", "notes.csv", "--part", "note", "--columns", `${id}=${column},number=No,text`])).toMatchObject({
        code: 0,
      });
      const owner = column === "No" ? "1" : "S1";
      expect(await get("note", `studentId=${owner}`, "number=1")).toMatchObject({ number: 1, text: "late" });
    }
    // Of an id with several fields, those that are not named have columns of their own names.
    folder.write("homes.csv", "studentId,Land,city\nS1,US,Austin\n");
    expect(await edgetable(["load", "homes.csv", "--edge", "livesIn", "--columns", "country=Land,studentId"])).toMatchObject({ code: 0 });
    expect(await get("livesIn", "from.studentId=S1", "to.country=US", "to.city=Austin")).toMatchObject({ to: { city: "Austin" } });
    folder.write("friends.ts", educationModel.replace("livesIn:", 'knows: edge({ from: "student", to: "student" }), livesIn:'));
    const both = await edgetable(["load", "notes.csv", "--edge", "knows", "--columns", "studentId=Who", "--model", "friends.ts"]);
    expect(both).toMatchObject({
      code: 2,
      err: expect.stringContaining('"studentId" is in the id of both ends: give from.studentId and to.studentId.'),
    });
  });

  test("a mapping makes several rows of one record", async () => {
    folder.write("wide.csv", "Student,Name,Course,When\nS1,Ann,C1,2024-01-01\nS1,Ann,C2,2024-01-02\nS2,Bob,,\n");
    folder.write(
      "map.json",
      JSON.stringify([
        { node: "student", row: { studentId: "Student", name: "Name", year: { value: 1 } } },
        { edge: "enrolledIn", from: { studentId: "Student" }, to: { courseId: "Course" }, attributes: { at: "When" }, when: "Course" },
      ]),
    );
    const { code, out } = await edgetable(["load", "wide.csv", "--map", "map.json"]);
    expect(code).toBe(0);
    expect(out).toContain("1 row gave an item again that an earlier row had given, 0 of them with different values");
    expect(await get("student", "S1")).toEqual({ studentId: "S1", name: "Ann", year: 1 });
    expect(JSON.parse((await edgetable(["query", "student", "S1", "--out", "enrolledIn", "--count", "--json"])).out)).toBe(2);
  });

  test("an edge of a mapping has the attributes that are said there, and no others", async () => {
    folder.write("homes.csv", "Student,Full name,Country,City\nS1,Ann,US,Reno\n");
    const livesIn = { edge: "livesIn", from: { studentId: "Student" }, to: { country: "Country", city: "City" } };
    folder.write("map.json", JSON.stringify([{ node: "student", row: { studentId: "Student", name: "Full name" } }, livesIn]));
    expect(await edgetable(["load", "homes.csv", "--map", "map.json"])).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse((await edgetable(["query", "student", "S1", "--out", "livesIn", "--json"])).out)).toMatchObject({
      items: [{ from: { studentId: "S1" }, to: { country: "US", city: "Reno" } }],
    });
  });

  test.each([
    ['{"nod":"student"}', 'map.json needs "node", "part" or "edge"'],
    ['{"node":"studnt"}', 'There is no node "studnt". Did you mean "student"?'],
    ['[{"node":"student"},{"node":"student","rows":{}}]', 'map.json[1] has an unknown field "rows". Did you mean "row"?'],
    ['{"node":"student","row":{"name":3}}', '"row" must give a column for each attribute'],
    ["{", "is not valid JSON"],
  ])("rejects the mapping %s", async (map, message) => {
    folder.write("map.json", map);
    folder.write("x.csv", "a\n1\n");
    expect(await edgetable(["load", "x.csv", "--map", "map.json"])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });

  test("a column that the header lacks is rejected at once", async () => {
    folder.write("x.csv", "ID,Name,Course\nS1,Ann,C1\n");
    const refusal = { code: 1, out: "", err: expect.stringContaining('The header has no column "Nmae". Did you mean "Name"?') };
    expect(await edgetable(["load", "x.csv", "--node", "student", "--columns", "studentId=ID,name=Nmae"])).toMatchObject(refusal);
    folder.write("map.json", '{"node":"student","row":{"studentId":"ID"},"when":"Nmae"}');
    expect(await edgetable(["load", "x.csv", "--map", "map.json"])).toMatchObject(refusal);
  });

  test("is rejected without --node, --edge, --part or --map", async () => {
    folder.write("x.csv", "a\n1\n");
    expect(await edgetable(["load", "x.csv"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Say what a row of x.csv is: --node NAME"),
    });
  });
});

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
