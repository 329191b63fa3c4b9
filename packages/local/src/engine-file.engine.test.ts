import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { findEngineBinary } from "./binary.ts";
import { startEngine, type LocalEngine } from "./index.ts";
import { createLeanTransport, type Transport } from "edgetable";

const root = mkdtempSync(join(tmpdir(), "edgetable-file-"));
afterAll(() => rmSync(root, { recursive: true }));
let file: string;
beforeEach(() => {
  file = join(mkdtempSync(join(root, "db-")), "dev.db");
});

const failed = (message: string | RegExp): object => ({ code: "local.engineFailed", message: expect.stringMatching(message) as string });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const createTable = (transport: Transport): Promise<unknown> =>
  transport.send("CreateTable", {
    TableName: "Things",
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  });

const put = (transport: Transport, id: number, filling = ""): Promise<unknown> =>
  transport.send("PutItem", { TableName: "Things", Item: { id: { S: String(id) }, filling: { S: filling } } });

const count = async (engine: LocalEngine): Promise<number> => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const { Count } = await transport.send("Scan", { TableName: "Things", Select: "COUNT" } as never);
  await transport.close();
  return Count ?? 0;
};

/** Eight writers until the engine is killed under them; gives how many writes were acknowledged. */
const writeUntilKilled = async (engine: LocalEngine): Promise<number> => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  await createTable(transport);
  let acknowledged = 0;
  const writer = async (offset: number): Promise<void> => {
    for (let id = offset; ; id += 8) {
      await put(transport, id);
      if (++acknowledged === 400) process.kill(engine.pid, "SIGKILL");
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, (_, offset) => writer(offset)));
  await transport.close();
  await engine.stop();
  return acknowledged;
};

describe("an engine on a file", () => {
  test("keeps its data over a stop, in a folder that it makes", async () => {
    file = join(root, "new", "folder", "dev.db");
    const first = await startEngine({ file });
    const transport = createLeanTransport({ endpoint: first.endpoint });
    await createTable(transport);
    await put(transport, 1);
    await first.stop();
    await transport.close();
    const second = await startEngine({ file });
    expect(await count(second)).toBe(1);
    await second.stop();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test("loses no acknowledged write to a kill -9 of the engine", async () => {
    const acknowledged = await writeUntilKilled(await startEngine({ file }));
    expect(acknowledged).toBeGreaterThanOrEqual(400);
    const engine = await startEngine({ file });
    expect(await count(engine)).toBeGreaterThanOrEqual(acknowledged);
    await engine.stop();
  });

  test("refuses a file that is no database, and leaves it as it was", async () => {
    writeFileSync(file, "my only copy of the thesis");
    await expect(startEngine({ file })).rejects.toMatchObject(failed("not a valid SQLite database"));
    expect(readFileSync(file, "utf8")).toBe("my only copy of the thesis");
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test("refuses a folder, and a place that cannot be written to", async () => {
    mkdirSync(file);
    await expect(startEngine({ file })).rejects.toMatchObject(failed("unable to open database file"));
    await expect(startEngine({ file: "/dev/null/dev.db" })).rejects.toMatchObject(
      failed(/lock \/dev\/null\/dev\.db\.lock cannot be written/),
    );
  });
});

test.skipIf(process.platform === "win32")(
  "the file, what SQLite writes beside it, the lock and the new folder are for this account alone",
  async () => {
    const folder = join(dirname(file), "made", "here");
    const before = process.umask(0o022);
    const engine = await startEngine({ file: join(folder, "dev.db") });
    const transport = createLeanTransport({ endpoint: engine.endpoint });
    await createTable(transport);
    await put(transport, 1);
    const names = readdirSync(folder);
    expect(names.toSorted()).toEqual(["dev.db", "dev.db-shm", "dev.db-wal", "dev.db.lock"]);
    const modes = names.map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
    expect(modes).toEqual(["600", "600", "600", "600"]);
    expect(["made", "made/here"].map((name) => (statSync(join(dirname(file), name)).mode & 0o777).toString(8))).toEqual(["700", "700"]);
    await transport.close();
    await engine.stop();
    process.umask(before);
  },
);

describe("two engines on one file", () => {
  test("the second is refused and told where the first answers", async () => {
    const first = await startEngine({ file });
    await expect(startEngine({ file })).rejects.toMatchObject(failed(`${file} is in use by engine ${first.pid} at ${first.endpoint}`));
    await first.stop();
    await (await startEngine({ file })).stop();
  });

  test("of eight at once one wins, on a fresh file and on a stale lock", async () => {
    for (const stale of [
      undefined,
      JSON.stringify({ parent: 2 ** 22 + 1, since: 1, engine: { pid: 2 ** 22 + 2, bare: { host: "127.0.0.1", port: 1 }, endpoint: "" } }),
    ]) {
      if (stale !== undefined) writeFileSync(`${file}.lock`, stale);
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => startEngine({ file })));
      const won = results.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      expect(results.filter((result) => result.status === "rejected").every(({ reason }) => /is in use by/.test(String(reason)))).toBe(
        true,
      );
      await won[0]?.value.stop();
    }
  });

  test("the lock of a killed engine, of a pid used again, and half a lock are stale", async () => {
    const killed = await startEngine({ file });
    const left = readFileSync(`${file}.lock`, "utf8");
    process.kill(killed.pid, "SIGKILL");
    await killed.stop();
    const locks = [
      left,
      JSON.stringify({ parent: 1, since: 1 }),
      // Of a clock that was set back since.
      JSON.stringify({ parent: process.pid, since: Date.now() + 3_600_000 }),
      JSON.stringify({ parent: process.pid, since: 1, engine: { pid: process.pid, bare: { host: "127.0.0.1", port: 1 }, endpoint: "" } }),
      // Of a version that wrote less.
      JSON.stringify({ parent: process.pid, since: 1, engine: { pid: process.pid, port: 1 } }),
    ];
    for (const text of locks) {
      writeFileSync(`${file}.lock`, text);
      await (await startEngine({ file })).stop();
    }
    writeFileSync(`${file}.lock`, '{"parent":');
    await (await startEngine({ file })).stop();
  });
});

/** Aborts as soon as the engine that starts is about to be written down. */
const abortAtRecord = async (controller: AbortController, starting: Promise<unknown>): Promise<void> => {
  const start = { isOver: false };
  const end = (): void => void (start.isOver = true);
  void starting.then(end, end);
  // The new lock is a file of its own before it becomes the lock.
  while (!start.isOver && readdirSync(dirname(file)).filter((name) => name.startsWith("dev.db.lock")).length < 2)
    await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
};

test("an abort after the engine's first answer, and before the start is over, leaves no engine", async () => {
  const left: number[] = [];
  for (let run = 0; run < 8; run++) {
    const controller = new AbortController();
    const starting = startEngine({ file, signal: controller.signal });
    await abortAtRecord(controller, starting);
    const started = await starting.catch((error: unknown) => error);
    if (!(started instanceof Error)) {
      const engine = started as LocalEngine;
      await sleep(200);
      if (isAlive(engine.pid)) left.push(engine.pid);
      await engine.stop();
    } else expect(started).toMatchObject({ code: "execute.aborted" });
  }
  expect(left).toEqual([]);
});

test("a lock that can be neither read nor replaced is an error, not a wait without end", async () => {
  mkdirSync(`${file}.lock`);
  await expect(startEngine({ file })).rejects.toMatchObject(failed("can be neither read nor replaced"));
});

const mountSmallDisk = (folder: string): boolean => {
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const disk = join(root, "disk");
const mounted = mountSmallDisk(disk);
afterAll(() => {
  if (mounted) execFileSync("umount", ["-l", disk]);
});

describe.skipIf(!mounted)("a full disk (skipped where this user cannot mount one)", () => {
  test("a write is refused as an error, nothing acknowledged is lost, and the engine goes on", async () => {
    file = join(disk, "dev.db");
    const engine = await startEngine({ file });
    const transport = createLeanTransport({ endpoint: engine.endpoint });
    await createTable(transport);
    let acknowledged = 0;
    const fill = async (): Promise<void> => {
      for (; acknowledged < 1_000; acknowledged++) await put(transport, acknowledged, "x".repeat(20_000));
    };
    await expect(fill()).rejects.toMatchObject({ code: "execute.unavailable", retryable: true });
    expect(acknowledged).toBeGreaterThan(5);
    expect(await count(engine)).toBe(acknowledged);
    await transport.close();
    await engine.stop();
  });

  test("a start that cannot write down its engine says so, and leaves nothing", async () => {
    file = join(disk, "late.db");
    const binary = join(mkdtempSync(join(root, "stand-in-")), "engine");
    // Fills the disk between taking the lock and naming the engine in it.
    const fill = `cat /dev/zero > ${join(disk, "filling")} 2>/dev/null`;
    writeFileSync(binary, `#!/bin/sh\n${fill}\nexec ${findEngineBinary().path} serve --host "$3" --port "$5"\n`, { mode: 0o755 });
    await expect(startEngine({ file, binary })).rejects.toMatchObject(failed(/late\.db\.lock cannot be written: ENOSPC.*space left/));
    expect(readdirSync(disk).filter((name) => name.startsWith("late.db"))).toEqual([]);
    rmSync(join(disk, "filling"));
  });

  test("a start says so", async () => {
    file = join(disk, "other.db");
    execFileSync("sh", ["-c", `cat /dev/zero > ${join(disk, "filling")} || true`], { stdio: "ignore" });
    await expect(startEngine({ file })).rejects.toMatchObject(failed(/no space left|disk is full/i));
  });
});
