import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
const edgetable = (argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path });
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

describe("no row of a file is passed over", () => {
  test.each([
    ['{"nodes":{"student":[{"studentId":"G1","name":"Ann"}]},"edge":{"livesIn":[]}}', 'It has "edge". Did you mean "edges"?'],
    ['{"nodes":[{"node":"student","row":{"studentId":"G1","name":"Ann"}}]}', 'Its "nodes" is not an object with a list for each name.'],
    ['{"node":"student","row":{"studentId":"G1","name":"Ann"}}', 'It has "node".'],
    ["{}", "It must be a list of rows"],
  ])("a JSON file of another form is refused whole: %s", async (text, told) => {
    folder.write("groups.json", text);
    expect(await edgetable(["load", "groups.json"])).toMatchObject({ code: 1, err: expect.stringContaining(told) });
    expect(await get("student", "G1")).toBeNull();
  });

  test("a CSV file whose header cannot be read is refused, and no record becomes its header", async () => {
    folder.write("header.csv", 'studentId,"na"me\nH1,Ann\nH2,Bob\n');
    const { code, err } = await edgetable(["load", "header.csv", "--node", "student"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("The header cannot be read: Invalid Closing Quote") });
  });

  test("a CSV file may have line ends of several kinds: none of them becomes part of a value", async () => {
    folder.write("ends.csv", 'studentId,name\nE1,Ann\r\nE2,"Bo\r\nb"\nE3,Cy\rE4,Di\r\n');
    expect(await edgetable(["load", "ends.csv", "--node", "student"])).toMatchObject({ code: 0, err: "" });
    expect(await Promise.all(["E1", "E2", "E3", "E4"].map((id) => get("student", id)))).toMatchObject(
      ["Ann", "Bo\r\nb", "Cy", "Di"].map((name) => ({ name })),
    );
  });

  test("a line of NDJSON ends with LF or CR LF alone: a value may hold other separators", async () => {
    const name = "a\u2028b\u2029c\u0085d";
    folder.write(
      "lines.ndjson",
      ["L1", "L2"].map((studentId) => JSON.stringify({ node: "student", row: { studentId, name } })).join("\r\n"),
    );
    expect(await edgetable(["load", "lines.ndjson"])).toMatchObject({ code: 0, err: "" });
    expect(await Promise.all(["L1", "L2"].map((id) => get("student", id)))).toMatchObject([{ name }, { name }]);
  });

  test("the column of `when` may be within another, as every column of a mapping", async () => {
    const mapping = { node: "student", row: { studentId: "id", name: "of.name" }, when: "of.name" };
    folder.write("when.map.json", JSON.stringify(mapping));
    folder.write("when.ndjson", '{"id":"W1","of":{"name":"Ann"}}\n{"id":"W2","of":{}}\n');
    expect(await edgetable(["load", "when.ndjson", "--map", "when.map.json"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/1 row, 1 item/),
    });
    expect(await get("student", "W1")).toMatchObject({ name: "Ann" });
    folder.write("when.map.json", JSON.stringify({ ...mapping, when: 5 }));
    expect(await edgetable(["load", "when.ndjson", "--map", "when.map.json"])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"when" must name a column'),
    });
  });

  test("constants of a mapping keep all digits, and may be dates", async () => {
    folder.write("terms.csv", "year\n2031\n");
    folder.write("terms.map.json", '{"node":"term","row":{"year":"year","starts":{"value":{"$date":"2031-09-01T00:00:00.000Z"}}}}');
    expect(await edgetable(["load", "terms.csv", "--map", "terms.map.json", "--job", "terms"])).toMatchObject({ code: 0, err: "" });
    expect(await get("term", "2031")).toEqual({ year: 2031, starts: "2031-09-01T00:00:00.000Z" });
    folder.write("digits.ts", educationModel.replace("year: z.int()", "year: z.number()"));
    folder.write("digits.map.json", '{"node":"student","row":{"studentId":"year","name":"year","year":{"value":12345678901234567891}}}');
    expect(await edgetable(["load", "terms.csv", "--map", "digits.map.json", "--model", "digits.ts", "--job", "d"])).toMatchObject({
      code: 0,
    });
    expect(await get("student", "2031")).toMatchObject({ year: { $bigint: "12345678901234567891" } });
  });

  test("a column of an end that the row has not is not left out unsaid", async () => {
    folder.write("ends.csv", "id,name,other\nX1,Ann,a\n");
    const columns = "studentId=id,name=name,from.studentId=other";
    expect(await edgetable(["load", "ends.csv", "--node", "student", "--columns", columns])).toMatchObject({
      code: 1,
      err: expect.stringContaining("from.studentId"),
    });
  });
});
