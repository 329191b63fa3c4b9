import { Writable } from "node:stream";
import type { WriteStream } from "node:tty";
import { describe, expect, test, vi } from "vitest";
import { exampleTable, type System } from "../system.ts";
import { systems } from "../systems.ts";
import { system as education } from "../education/system.ts";
import { expected } from "../education/expected.ts";
import { education as graph } from "../education/model.ts";
import { patterns } from "../education/patterns.ts";
import { load } from "../education/rows.ts";
import { runDemo, type Surroundings } from "./run-demo.ts";

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

const collector = (isTTY = false): { readonly stream: WriteStream; readonly text: () => string } => {
  const chunks: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString());
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 80 }) as unknown as WriteStream, text: () => chunks.join("") };
};

const run = async (given: readonly string[], more: Partial<Surroundings> & { readonly tty?: boolean } = {}): Promise<Ran> => {
  const [output, errors] = [collector(more.tty), collector(more.tty)];
  const signal = new AbortController().signal;
  const code = await runDemo(given, { systems, environment: {}, signal, ...more, output: output.stream, errors: errors.stream });
  return { code, output: output.text(), errors: errors.text() };
};

const columnsOf = (line: string): number => line.length;

describe("the demo", () => {
  test("answers one system's patterns, with the requests, the price and a summary", async () => {
    const { code, output } = await run(["education"]);
    expect(code).toBe(0);
    expect(output).toContain("What are the students of a course called?");
    expect(output).toContain("→ BatchGetItem ('STUDENT#S1', 'METADATA'), ('STUDENT#S2', 'METADATA')");
    expect(output).toContain("✓ eventually consistent · 4 items read · 1.5 RCU predicted, 1.5 consumed");
    expect(output).toMatch(/✓ 9 of 9 patterns answered as expected\nLook at the tables in a browser: npm run demo -- \w+ --studio\n$/);
    expect(output).not.toContain("\u001b");
  });

  test("fills no more columns than the terminal has, with every system", async () => {
    const { code, output } = await run(["all"], { tty: true, environment: { NO_COLOR: "1" } });
    expect(code).toBe(0);
    const lines = output.split("\n");
    expect(Math.max(...lines.map(columnsOf))).toBe(80);
    expect(lines.filter((line) => line.includes("✓") && !/ (ms|s|expected|true|batch)$/.test(line))).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^system +patterns +requests +items +RCU predicted +RCU consumed +time$/));
    expect(output).toContain("… and 292 more");
    expect(output).toContain("✓ 2 of 2 storages gave the grid as expected\n");
  });

  test("without a name, sums everything up first and shows one system in full, in at most 100 columns", async () => {
    // The system with most requests says nothing about this.
    const { code, output } = await run([], { systems: systems.filter(({ name }) => name !== "dependencies") });
    expect(code).toBe(0);
    const lines = output.split("\n");
    expect(lines.length).toBeLessThan(120);
    expect(lines.indexOf("✓ 3 of 3 systems have equal totals by transaction, stream and batch")).toBeLessThan(lines.indexOf("education"));
    expect(output).toContain(
      '   5  What are the students of a course called?\n      namedStudentsOfCourse · courseId = C1\n      db.course(id).in("enrolledIn").entries()\n',
    );
    expect(output).toMatch(/npm run demo -- all\nLook at the tables in a browser: npm run demo -- education --studio\n$/);
    expect(Math.max(...lines.map(columnsOf))).toBe(100);
  });

  test("gives the same as JSON", async () => {
    const { code, output } = await run(["--json", "education"]);
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({
      ok: true,
      systems: [
        {
          name: "education",
          tables: [
            {
              table: "Education",
              patterns: [
                { name: "student", ok: true, requests: [{ operation: "GetItem", readUnits: 0.5 }] },
                ...Array.from({ length: 8 }, () => ({})),
              ],
            },
          ],
        },
      ],
      summary: { patterns: 9, failed: [], predictedUnits: 6.5, consumedUnits: 6.5 },
    });
  });

  test("names the pattern whose answer is wrong, shows what was expected, and ends with 1", async () => {
    const wrong: System = {
      ...education,
      tables: async () => [
        exampleTable({ graph, load, patterns, expected: { ...expected, classSize: { ...expected.classSize, answer: 3 } } }),
      ],
    };
    const { code, output } = await run(["education"], { systems: [wrong] });
    expect(code).toBe(1);
    expect(output).toContain("✗ classSize: expected 3");
    expect(output).toContain("1 of 9 patterns did not answer as expected: education.classSize");
  });

  test("shows the table that changes alone, and as JSON", async () => {
    const { code, output } = await run(["truth"]);
    expect(code).toBe(0);
    expect(output).toContain("by the application, in one transaction: 5 requests");
    expect(output).toMatch(/✓ 5 of 5 changes left every fact true\nLook at the tables in a browser: npm run demo -- truth --studio\n$/);
    const json = await run(["--json", "truth"]);
    expect(JSON.parse(json.output)).toMatchObject({ ok: true, systems: [], truth: [{ name: "renamed", ok: true }, {}, {}, {}, {}] });
    expect(await run(["truth", "more"])).toMatchObject({ code: 2, errors: expect.stringContaining('"truth" takes no argument') });
  });

  test("serves the studio on a system's table until it is interrupted", async () => {
    const interruption = new AbortController();
    const output = collector();
    const surroundings = { systems, environment: {}, signal: interruption.signal, output: output.stream, errors: collector().stream };
    const ended = runDemo(["tracker", "--studio"], surroundings);
    const link = await vi.waitUntil(() => /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(output.text())?.[0], { timeout: 60_000, interval: 50 });
    expect((await fetch(link, { redirect: "manual" })).headers.get("set-cookie")).toContain("HttpOnly");
    interruption.abort(new Error("interrupted"));
    await ended;
    await expect(fetch(link)).rejects.toThrow();
  });

  test("suggests a similar system name, and exits with 2", async () => {
    expect(await run(["treker"])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('There is no system "treker". Did you mean "tracker"?'),
    });
    expect(await run(["--jsn"])).toMatchObject({
      code: 2,
      errors: "There is no option --jsn. The options are --studio, --json and --help.\nSee npm run demo -- --help.\n",
    });
    expect(await run(["tracker", "people"])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('"tracker" takes no argument'),
    });
  });

  test("explains itself", async () => {
    const { code, output } = await run(["--help"]);
    expect(code).toBe(0);
    for (const name of [...systems.map((system) => system.name), "truth", "fields"]) expect(output).toContain(`  ${name}`);
  });

  test("ends with 130 when it is interrupted, without a stack", async () => {
    const interruption = new AbortController();
    const interrupting: System = {
      ...education,
      tables: async () => {
        interruption.abort(new Error("interrupted"));
        return education.tables();
      },
    };
    expect(await run([], { systems: [interrupting], signal: interruption.signal })).toMatchObject({ code: 130, errors: "" });
  });

  test("puts colour on terminals alone, unless told otherwise", async () => {
    const coloured = async (tty: boolean, environment: Surroundings["environment"]): Promise<boolean> =>
      (await run(["education"], { tty, environment })).output.includes("\u001b[1m");
    expect(await coloured(true, {})).toBe(true);
    expect(await coloured(true, { NO_COLOR: "1" })).toBe(false);
    expect(await coloured(true, { TERM: "dumb" })).toBe(false);
    expect(await coloured(false, { FORCE_COLOR: "1" })).toBe(true);
    expect(await coloured(true, { FORCE_COLOR: "0" })).toBe(false);
    expect(await coloured(false, { CI: "true" })).toBe(false);
  });
});
