import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lockFile } from "./file-lock.ts";

const root = mkdtempSync(join(tmpdir(), "edgetable-lock-"));
afterAll(() => rmSync(root, { recursive: true }));

const dead = JSON.stringify({
  parent: 2 ** 22 + 1,
  since: 1,
  engine: { pid: 2 ** 22 + 2, bare: { host: "127.0.0.1", port: 1 }, endpoint: "" },
});

const contend = async (name: string): Promise<number> => {
  const file = join(root, name);
  writeFileSync(`${file}.lock`, dead);
  const results = await Promise.allSettled(Array.from({ length: 24 }, () => lockFile(file)));
  const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  for (const lock of won) await lock.release();
  return won.length;
};

test("of many that find the same stale lock, one gets it, however they come between each other", async () => {
  const winners = await Promise.all(Array.from({ length: 60 }, (_, at) => contend(`stale-${at}.db`)));
  expect(winners.filter((count) => count !== 1)).toEqual([]);
  expect(readdirSync(root)).toEqual([]);
});

test("what a dead process of the same id left on its way to the lock is not taken for one's own", async () => {
  const file = join(root, "left.db");
  for (let use = 1; use < 500; use++) writeFileSync(`${file}.lock.${process.pid}-${use}`, "left");
  writeFileSync(`${file}.lock`, dead);
  const lock = await lockFile(file);
  expect(JSON.parse(readFileSync(`${file}.lock`, "utf8"))).toMatchObject({ parent: process.pid });
  await lock.release();
  for (const name of readdirSync(root)) rmSync(join(root, name));
});

test("a claim whose claimant died does not keep the lock for ever", async () => {
  const file = join(root, "claimed.db");
  writeFileSync(`${file}.lock`, dead);
  const lock = await lockFile(file);
  await lock.release();
  writeFileSync(`${file}.lock`, dead);
  writeFileSync(`${file}.lock.${createHash("sha256").update(dead).digest("hex").slice(0, 16)}`, String(2 ** 22 + 1));
  await (await lockFile(file)).release();
  expect(readdirSync(root)).toEqual([]);
});
