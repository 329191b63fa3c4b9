import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, educationData, educationModel, run, type Folder, type Ran } from "../test-support/lab.ts";

let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": educationModel, "data.json": educationData });
});
afterAll(() => folder.remove());

interface Started {
  readonly endpoint: string;
  readonly text: string;
  /** Settles when the command ends by itself. */
  readonly ended: Promise<Ran>;
  readonly stop: () => Promise<Ran>;
}

const dev = async (...argv: readonly string[]): Promise<Started> => {
  const controller = new AbortController();
  let ready: (text: string) => void = () => undefined;
  const announced = new Promise<string>((resolve) => (ready = resolve));
  const ended = run(["dev", ...argv], { cwd: folder.path, signal: controller.signal, onOut: (text) => ready(text) });
  const text = await Promise.race([announced, ended.then(({ err }) => err)]);
  const endpoint = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "";
  return {
    endpoint,
    text,
    ended,
    stop: () => {
      controller.abort();
      return ended;
    },
  };
};

const name = async (endpoint: string): Promise<string> =>
  (await run(["get", "student", "S1", "--endpoint", endpoint], { cwd: folder.path })).out;

test("starts an engine, creates the table, loads the data, prints the endpoint, and stops cleanly", async () => {
  const { endpoint, text, stop } = await dev("--memory", "--data", "data.json");
  for (const words of [
    "in memory",
    "Education (created)",
    "data.json: 13 rows, 13 items written",
    `graph.connect({ endpoint: "${endpoint}" })`,
    `export AWS_ENDPOINT_URL_DYNAMODB=${endpoint}`,
  ])
    expect(text).toContain(words);
  expect(await name(endpoint)).toContain("Ann");
  expect(await stop()).toMatchObject({ code: 0, err: "Press Ctrl-C to stop the engine.\nStopped. The data was in memory and is gone.\n" });
  expect((await run(["get", "student", "S1", "--endpoint", endpoint], { cwd: folder.path })).code).toBe(4);
});

test("keeps its data in .edgetable/data.db", async () => {
  const first = await dev("--data", "data.json");
  expect(first.text).toContain("data      .edgetable/data.db");
  await first.stop();
  expect(existsSync(join(folder.path, ".edgetable/data.db"))).toBe(true);
  const second = await dev("--json");
  expect(JSON.parse(second.text)).toMatchObject({
    endpoint: second.endpoint,
    file: join(folder.path, ".edgetable/data.db"),
    tables: [{ table: "Education", created: false }],
  });
  expect(await name(second.endpoint)).toContain("Ann");
  const third = await run(["dev"], { cwd: folder.path });
  expect(third).toMatchObject({ code: 4, err: expect.stringContaining(`is in use by engine`) });
  expect((await second.stop()).code).toBe(0);
});

test("starts beside a table that the model has outgrown, and says how to migrate it", async () => {
  const own = createFolder({ "edgetable.ts": educationModel });
  const at = { cwd: own.path };
  const first = await dev("--model", join(own.path, "edgetable.ts"), "--file", join(own.path, "data.db"), "--data", "data.json");
  await first.stop();
  own.write("edgetable.ts", educationModel.replace("parts: {", 'indexes: { byName: { entries: { student: "name" } } },\n  parts: {'));
  const { endpoint, text, stop } = await dev("--model", join(own.path, "edgetable.ts"), "--file", join(own.path, "data.db"));
  expect(text).toContain("tables    Education (does not fit the model)\n");
  const there = ["--endpoint", endpoint];
  const diff = await run(["table", "diff", ...there], at);
  expect(diff).toMatchObject({ code: 1, out: expect.stringContaining("edgetable migrate run --finish") });
  expect(diff.out).not.toContain("another table");
  expect(await run(["migrate", "run", "--finish", ...there], at)).toMatchObject({ code: 0 });
  expect(await run(["find", "student", "--where", "name=Ann", ...there], at)).toMatchObject({
    code: 0,
    out: expect.stringContaining("S1"),
  });
  expect(await run(["table", "create", ...there], at)).toMatchObject({ code: 0 });
  expect((await stop()).err).toContain("edgetable migrate run --finish");
  own.remove();
});

test("starts without a model, and says so", async () => {
  const empty = createFolder();
  const controller = new AbortController();
  let out = "";
  const ended = run(["dev", "--memory"], {
    cwd: empty.path,
    signal: controller.signal,
    onOut: (text) => (out += text),
    onErr: () => controller.abort(),
  });
  expect(await ended).toMatchObject({ code: 0 });
  expect(out).toContain("tables    none created: no model found (use --model, or create one with edgetable init)\n");
  expect(await run(["dev", "--memory", "--data", "x.json"], { cwd: empty.path })).toMatchObject({
    code: 2,
    err: expect.stringContaining("--data needs a model"),
  });
  empty.remove();
});

test("a model that cannot be read is an error, and no engine without tables", async () => {
  const broken = createFolder({ "edgetable.ts": "export const" });
  expect(await run(["dev", "--memory"], { cwd: broken.path })).toMatchObject({
    code: 3,
    err: expect.stringContaining("cli.modelUnreadable"),
  });
  broken.remove();
});

test("web pages of an origin that is named may connect, others not", async () => {
  const { endpoint, stop } = await dev("--memory", "--allow-origin", "http://localhost:5173", "--allow-origin", "http://localhost:3000");
  const preflight = async (origin: string): Promise<number> =>
    (await fetch(endpoint, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } })).status;
  expect(await Promise.all(["http://localhost:5173", "http://localhost:3000", "http://localhost:9"].map(preflight))).toEqual([
    204, 204, 403,
  ]);
  await stop();
});

test("ends with the engine's last words when the engine ends", async () => {
  const { text, ended } = await dev("--memory", "--json");
  process.kill((JSON.parse(text) as { readonly pid: number }).pid, "SIGKILL");
  const { code, err } = await ended;
  expect({ code, err }).toEqual({ code: 4, err: expect.stringMatching(/The engine .* was ended by SIGKILL\. /) });
  expect(err).toContain("local.engineFailed");
});

test("ends when its file is removed, because later writes would be lost", async () => {
  const { ended } = await dev("--file", "vanishing/data.db", "--json");
  rmSync(join(folder.path, "vanishing"), { recursive: true });
  const { code, err } = await ended;
  expect(code).toBe(4);
  expect(err).toContain("data.db was removed or replaced, and its data is lost.");
  expect(err).toContain("local.engineFailed");
});

test("uses a free port if the default one is in use, and fails if a given port is in use", async () => {
  const first = await dev("--memory");
  const second = await dev("--memory");
  expect(second.endpoint).not.toBe(first.endpoint);
  expect(second.text).toContain(`endpoint  ${second.endpoint}  (port 8000 is in use)\n`);
  const port = new URL(first.endpoint).port;
  expect(await run(["dev", "--memory", "--port", port], { cwd: folder.path })).toMatchObject({
    code: 4,
    err: expect.stringContaining("local.engineFailed"),
  });
  await Promise.all([first.stop(), second.stop()]);
});

test.each([
  [["--memory", "--file", "x.db"], 2, "Use only one of --file and --memory."],
  [["--engine", "dynamodb-local", "--file", "x.db"], 2, "DynamoDB Local runs in memory: omit --file."],
  [["--engine", "dynalite"], 2, "dynamodb-local"],
  [["--memory", "--jar", "x.jar"], 2, 'give engine "dynamodb-local" with it'],
  [["--memory", "--allow-origin", "localhost:5173"], 2, "give scheme, host and port only"],
  [["--port", "70000"], 2, "from 1 to 65,535"],
  [["--memory", "--data", "rows.csv"], 2, "--data accepts JSON or NDJSON"],
  [["--memory", "--data", "no.json"], 2, "no such file"],
  [["--memory", "--model", "no.ts"], 3, "There is no model file no.ts."],
])("%j exits with %i", async (argv, code, message) => {
  expect(await run(["dev", ...argv], { cwd: folder.path })).toMatchObject({ code, out: "", err: expect.stringContaining(message) });
});

test("serves the studio beside the engine", async () => {
  const { text, stop } = await dev("--memory", "--data", "data.json", "--studio", "--json");
  const { studio } = JSON.parse(text) as { readonly studio: string };
  expect((await fetch(studio, { redirect: "manual" })).headers.get("set-cookie")).toContain("HttpOnly");
  expect((await fetch(new URL(studio).origin)).status).toBe(401);
  expect((await stop()).code).toBe(0);
  await expect(fetch(studio)).rejects.toThrow();
  expect(await run(["dev", "--memory", "--open"], { cwd: folder.path })).toMatchObject({
    code: 2,
    err: expect.stringContaining("--open needs --studio"),
  });
});
