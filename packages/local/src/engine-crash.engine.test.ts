import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampled } from "../../../conformance/engines/property-runs.ts";
import { startEngine } from "./index.ts";

/** Real parents in real processes: however one ends, neither its engine nor the watchdog stays. */
const folder = mkdtempSync(join(tmpdir(), "edgetable-crash-"));
afterAll(() => rmSync(folder, { recursive: true }));

// What a parent does once its engine answers, by the name it is started with.
const parent = `
import { startEngine } from ${JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)))};
const [how, file] = process.argv.slice(2);
process.stdout.write("starting\\n");
const engine = await startEngine({ file });
process.stdout.write(engine.pid + "\\n");
const ends = {
  stay: () => setInterval(() => undefined, 1000),
  exit: () => process.exit(7),
  throw: () => setTimeout(() => { throw new Error("uncaught"); }, 1),
  return: () => undefined,
  stop: () => engine.stop(),
};
await ends[how]();
if (how === "stop") process.stdout.write("stopped\\n");
`;

beforeAll(async () => {
  writeFileSync(join(folder, "parent.ts"), parent);
  // Node 20 runs no TypeScript: the parent is bundled, with the library's source, into one file.
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: { conditions: ["edgetable-source"] },
    ssr: {
      noExternal: true,
      external: ["@aws-sdk/client-dynamodb", "@aws-sdk/credential-provider-node"],
      resolve: { conditions: ["edgetable-source"] },
    },
    build: {
      ssr: join(folder, "parent.ts"),
      outDir: folder,
      emptyOutDir: false,
      target: "node20",
      rolldownOptions: { output: { entryFileNames: "parent.mjs" } },
    },
  });
});

interface Row {
  readonly pid: number;
  readonly state: string;
  readonly command: string;
}

const processes = (): readonly Row[] =>
  execFileSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((found) => found !== null)
    // A zombie runs nothing: it waits for a process 1 that collects it.
    .map(([, pid, state, command]) => ({ pid: Number(pid), state: state ?? "", command: command ?? "" }))
    .filter(({ state }) => !state.startsWith("Z"));

/** The engine and the watchdog of a database file: both have its path among their arguments. */
const of = (file: string): readonly Row[] => processes().filter(({ command }) => command.includes(`--db-path ${file}`));

const untilGone = async (file: string): Promise<readonly Row[]> => {
  for (let wait = 0; wait < 500 && of(file).length > 0; wait++) await sleep(20);
  return of(file);
};

let files = 0;
const start = (how: string): { readonly child: ChildProcess; readonly file: string } => {
  const file = join(folder, `${++files}.db`);
  return { child: spawn(process.execPath, [join(folder, "parent.mjs"), how, file], { stdio: ["ignore", "pipe", "ignore"] }), file };
};
const lines = (child: ChildProcess): AsyncIterator<string> =>
  createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
const untilStarting = async (child: ChildProcess): Promise<void> => expect((await lines(child).next()).value).toBe("starting");
const untilStarted = async (child: ChildProcess): Promise<number> => {
  const written = lines(child);
  await written.next();
  return Number((await written.next()).value);
};

describe.skipIf(process.platform === "win32")("no orphan (skipped on Windows, whose job objects do this)", () => {
  test.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const)("%s of the parent ends the engine and the watchdog", async (signal) => {
    const { child, file } = start("stay");
    const pid = await untilStarted(child);
    expect(of(file).map((row) => row.pid)).toContain(pid);
    expect(of(file)).toHaveLength(2);
    child.kill(signal);
    expect(await untilGone(file)).toEqual([]);
  });

  test.each([
    ["exit", 7],
    ["throw", 1],
    ["return", 0],
    ["stop", 0],
  ])("a parent that ends by %s leaves nothing, and ends by itself", async (how, code) => {
    const { child, file } = start(how);
    expect(await once(child, "exit")).toEqual([code, null]);
    expect(await untilGone(file)).toEqual([]);
  });

  test("kill -9 of the parent at any moment of the start, a millisecond apart", async () => {
    for (const after of sampled([...Array(30).keys()], 6)) {
      const { child, file } = start("stay");
      await untilStarting(child);
      await sleep(after);
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(await untilGone(file)).toEqual([]);
    }
  });

  test("the file of a killed parent can be opened at once", async () => {
    const { child, file } = start("stay");
    await untilStarted(child);
    child.kill("SIGKILL");
    const engine = await startEngine({ file });
    await engine.stop();
  });

  test("an engine that dies by itself takes its watchdog along", async () => {
    const file = join(folder, "dies.db");
    const engine = await startEngine({ file });
    process.kill(engine.pid, "SIGKILL");
    expect(await untilGone(file)).toEqual([]);
  });

  test("Ctrl-C in the parent's terminal does not reach the engine", async () => {
    const engine = await startEngine();
    const [parentGroup, engineGroup] = [process.pid, engine.pid].map((pid) =>
      execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" }).trim(),
    );
    expect(engineGroup).not.toBe(parentGroup);
    await engine.stop();
  });
});
