import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, run, type Folder, type RunOptions } from "../test-support/lab.ts";

const modelWith = (handlers: string, table = "Shop"): string => `
import { count, defineGraph, edge, node } from "edgetable";
import { z } from "zod";

const id = z.string();
export const shop = defineGraph({
  table: ${JSON.stringify(table)},
  nodes: {
    user: node({ key: "USER#{id}", schema: z.object({ id }) }),
    team: node({ key: "TEAM#{id}", schema: z.object({ id }), derived: { users: count({ in: "joined", freshness: "stream" }) } }),
  },
  edges: { joined: edge({ from: "user", to: "team" }) },
});
${handlers}
`;
const failing = `export const streamHandlers = { mail: { on: "user", created: ({ after }) => { if (after.id === "2") throw new Error("no such mailbox"); } } };`;
const working = `export const streamHandlers = { mail: { on: "user", created: () => undefined } };`;
const data = {
  nodes: { user: [{ id: "1" }, { id: "2" }, { id: "3" }], team: [{ id: "a" }] },
  edges: { joined: [{ from: { id: "1" }, to: { id: "a" } }] },
};

let folder: Folder;
let engine: LocalEngine;
const command = (argv: readonly string[], options: Partial<RunOptions> = {}) =>
  run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...options });

beforeAll(async () => {
  folder = createFolder({ "data.json": JSON.stringify(data) });
});
afterAll(() => folder.remove());
beforeEach(async () => {
  engine = await startEngine();
  return () => engine.stop();
});
const createTable = async (): Promise<void> => {
  folder.write("edgetable.ts", modelWith(failing));
  await command(["table", "create", "--stream"]);
  expect(await command(["load", "data.json"])).toMatchObject({ code: 0 });
};

test("keeps facts, calls handlers, puts aside what fails, and replays it", async () => {
  await createTable();
  const streamed = await command(["stream", "--idle", "1"]);
  expect(streamed.err).toContain('Shop: keeps 1 derived attribute and calls "mail". Stop with Ctrl-C.');
  expect(streamed).toMatchObject({ code: 0, out: expect.stringMatching(/^Shop: stopped after \d+ records, .* 1 dead letter\n$/) });
  expect(JSON.parse((await command(["get", "team", "a", "--json"])).out)).toEqual({ id: "a", users: 1 });

  const listed = await command(["stream", "dead-letters", "list"]);
  expect(listed).toMatchObject({ code: 1, out: expect.stringContaining("Error: no such mailbox") });
  expect(listed.out.trimEnd().split("\n").at(-1)).toBe("Shop: 1 dead letter");
  expect(await command(["stream", "dead-letters", "replay", "--all"])).toMatchObject({
    code: 1,
    out: expect.stringContaining("0 dead letters replayed, 1 failed"),
  });
  folder.write("edgetable.ts", modelWith(working));
  expect(await command(["stream", "dead-letters", "replay", "--all"])).toMatchObject({
    code: 0,
    out: "Shop: 1 dead letter replayed, 0 failed\n",
  });
  expect(await command(["stream", "dead-letters", "list"])).toMatchObject({ code: 0, out: "Shop: 0 dead letters\n" });
});

test("discards dead letters by their ids", async () => {
  await createTable();
  await command(["stream", "--idle", "1"]);
  const { letters } = JSON.parse((await command(["stream", "dead-letters", "list", "--json"])).out) as { letters: { id: string }[] };
  const ids = letters.map(({ id }) => id);
  expect(await command(["stream", "dead-letters", "discard", ...ids])).toMatchObject({ code: 0, out: "Shop: 1 dead letter deleted\n" });
  expect(await command(["stream", "dead-letters", "discard", ...ids])).toMatchObject({ code: 1, out: "Shop: 0 dead letters deleted\n" });
  expect(await command(["stream", "dead-letters", "replay"])).toMatchObject({ code: 2, err: expect.stringContaining("or --all") });
});

test("shows a live line, and stops tidily at Ctrl-C", async () => {
  await createTable();
  const stop = new AbortController();
  const ran = await command(["stream"], {
    signal: stop.signal,
    columns: 120,
    onErr: (text) => {
      if (/\d+ records, .*1 shard/.test(text)) stop.abort();
    },
  });
  expect(ran.err).toMatch(/\d+ records, [\d.]+\/s, /);
  expect(ran.out).toContain("Shop: stopped after");
  const jobs = await command(["stream", "--idle", "1", "--json"]);
  expect(JSON.parse(jobs.out.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({ gaps: 0 });
});

test("keeps grids that are stored in documents, where a model has nothing else to keep", async () => {
  folder.write(
    "edgetable.ts",
    `import { defineGraph, node } from "edgetable"; import { z } from "zod"; const t = z.string();
     const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: t }) });
     const issue = node({ key: "ISSUE#{issueId}", schema: z.object({ issueId: t, projectId: t }), fields: { of: "project", storage: "document" } });
     export const tracker = defineGraph({ table: "Tracker", nodes: { project, issue } });`,
  );
  await command(["table", "create", "--stream"]);
  folder.write("project.json", '{"nodes":{"project":[{"projectId":"p"}]}}');
  await command(["load", "project.json"]);
  folder.write("issues.csv", "issueId,Size\na,2\nb,1\n");
  await command(["grid", "import", "issue", "issues.csv", "p"]);
  const sorted = ["grid", "export", "issue", "p", "--sort", "field:f1", "--empties", "without", "--columns", "issueId"];
  expect((await command(sorted)).out).toBe("issueId\r\n");
  expect(await command(["stream", "--idle", "1"])).toMatchObject({ code: 0, err: expect.stringContaining('keeps the grid of "issue"') });
  expect((await command(sorted)).out).toBe("issueId\r\nb\r\na\r\n");
});

test("says what to do about a table without a stream, and a model without work", async () => {
  folder.write("edgetable.ts", modelWith(working));
  await command(["table", "create"]);
  expect(await command(["stream"])).toMatchObject({ code: 1, err: expect.stringContaining("edgetable table create --stream") });
  folder.write(
    "edgetable.ts",
    `import { defineGraph, node } from "edgetable"; import { z } from "zod";
     export const shop = defineGraph({ table: "Shop", nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string() }) }) } });`,
  );
  expect(await command(["stream"])).toMatchObject({ code: 0, err: expect.stringContaining("There is nothing to do") });
});
