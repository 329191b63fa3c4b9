import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { educationModel } from "../test-support/lab.ts";
import { useEducationTable } from "../test-support/education-table.ts";

const { folder, edgetable, get } = useEducationTable();

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
