import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker, type WorkerProgram } from "../kill/bundle-worker.ts";
import type { Answers, Orders } from "./worker.ts";

let program: WorkerProgram;
let folder: string;
beforeAll(async () => {
  program = await bundleWorker(new URL("worker.ts", import.meta.url));
  folder = await mkdtemp(join(tmpdir(), "key-file-"));
});
afterAll(async () => {
  await program.remove();
  await rm(folder, { recursive: true });
});

interface Ending {
  readonly signal: string | null;
  readonly said: string;
  readonly errors: string;
}

/** Runs a worker to its end, its files limited to so many KB; with `killed`, only until it is under way. */
const runWorker = (orders: Orders, { limit = "unlimited", killed = false }): Promise<Ending> =>
  new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", `ulimit -f ${limit} && exec "$0" "$@"`, process.execPath, program.path, JSON.stringify(orders)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: folder },
    });
    let [said, errors] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      said += String(chunk);
      if (killed) child.kill("SIGKILL");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors += String(chunk);
    });
    child.once("error", reject);
    child.once("close", (_, signal) => resolve({ signal, said, errors }));
  });

const answersOf = ({ said, errors }: Ending): Answers => {
  expect(errors).toBe("");
  return JSON.parse(said.replace("under way\n", "")) as Answers;
};

// Open files are told by /proc, and limits of files by the shell.
describe.runIf(process.platform === "linux")("the file of a load's keys", () => {
  test("a disk that is full leaves the rest to memory, with the same answers", async () => {
    const orders = { rows: 60_000, pagesInMemory: 2 };
    const all = answersOf(await runWorker(orders, {}));
    expect(all.wrong).toBe(0);
    expect(all.bytes).toBeGreaterThan(1_000_000);
    // Not one page, half a page, and a third of them all.
    for (const limit of ["0", "10", "500"]) {
      const some = answersOf(await runWorker(orders, { limit }));
      expect(some.wrong, limit).toBe(0);
      expect(some.bytes, limit).toBeLessThanOrEqual(Number(limit) * 1024);
    }
  });

  test("kill -9 leaves nothing of it", async () => {
    const { signal, said } = await runWorker({ rows: 1e8, pagesInMemory: 2 }, { killed: true });
    expect([signal, said]).toEqual(["SIGKILL", "under way\n"]);
    expect(await readdir(folder)).toEqual([]);
  });
});
