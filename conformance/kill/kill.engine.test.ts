import { spawn } from "node:child_process";
import { seededRandom, type Random } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { openLab, type KillLab } from "./open-lab.ts";
import { connect, connectBefore, scenarios, workUntilDone } from "./scenarios.ts";
import { tableContent } from "./table-content.ts";
import type { Death, Orders } from "./worker.ts";

const kills = testRuns(8);
const seed = testSeed();
const kinds = Object.keys(scenarios);
const MOST_IN_A_ROW = 6;

let lab: KillLab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

interface Ending {
  readonly killed: boolean;
  readonly code: number | null;
  readonly errors: string;
}

/** Runs a worker to its end; with `after`, kills it so many milliseconds after it began. */
const runWorker = (orders: Orders, after: number | undefined): Promise<Ending> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [lab.program, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors += String(chunk);
    });
    child.stdout.once("data", () => {
      if (after !== undefined) setTimeout(() => child.kill("SIGKILL"), after);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ killed: signal === "SIGKILL", code, errors }));
  });

const prepared = async (kind: string): Promise<string> => {
  const table = lab.engine.freshTableName(`kill-${kind}`);
  const db = connect(table, { transport: lab.engine.transport });
  await db.table.create();
  await scenarios[kind]!.prepare(db, connectBefore(table, { transport: lab.engine.transport }));
  return table;
};

const undisturbed = async (kind: string): Promise<readonly string[]> => {
  const table = await prepared(kind);
  await workUntilDone(scenarios[kind]!, connect(table, { transport: lab.engine.transport }));
  const items = await tableContent(lab.engine.transport, table);
  scenarios[kind]!.check(items);
  expect(items.filter((item) => item.includes('{"S":"~job"}'))).toEqual([]);
  await lab.engine.transport.send("DeleteTable", { TableName: table });
  return items;
};

const phases = ["before", "during", "after"] as const;

// Early requests are the likelier: a run that goes on has fewer left. A saved state must be true at once.
const drawDeath = (random: Random, kind: string): Death => {
  if (!["batch", "upserts", "grid"].includes(kind) && random() < 0.4) return { request: Math.floor(random() * 6), phase: "saved" };
  return {
    request: Math.floor(random() ** 2 * scenarios[kind]!.requests),
    phase: phases[Math.floor(random() * phases.length)] ?? "before",
  };
};

const kill = async (orders: Omit<Orders, "death">, random: Random): Promise<Ending> => {
  if (random() < 0.8) return runWorker({ ...orders, death: drawDeath(random, orders.scenario) }, undefined);
  return runWorker({ ...orders, death: undefined }, random() * 300);
};

/** Kills workers at one job in a new table, lets the last one finish, and gives how many died and what the table holds. */
const disturbed = async (
  kind: string,
  random: Random,
  most: number,
): Promise<{ readonly died: number; readonly items: readonly string[] }> => {
  const table = await prepared(kind);
  const orders = { endpoint: lab.engine.endpoint, table, scenario: kind, seed: Math.floor(random() * 2 ** 32) };
  const wanted = Math.min(most, 1 + Math.floor(random() * MOST_IN_A_ROW));
  let died = 0;
  for (let turn = 0; died < wanted && turn < wanted * 2; turn++) if ((await kill(orders, random)).killed) died++;
  const { code, errors } = await runWorker({ ...orders, death: undefined }, undefined);
  expect(errors).toBe("");
  expect(code).toBe(0);
  const items = await tableContent(lab.engine.transport, table);
  await lab.engine.transport.send("DeleteTable", { TableName: table });
  return { died, items };
};

test.each(kinds)(
  "%s: killed at random points, resumed, finished, and the table is as if nothing had happened",
  async (kind) => {
    const expected = await undisturbed(kind);
    let died = 0;
    for (let round = 0; died < kills; round++) {
      const roundSeed = seed + round * 1000 + kinds.indexOf(kind);
      const result = await disturbed(kind, seededRandom(roundSeed), kills - died);
      died += result.died;
      expect(result.items, `seed ${roundSeed}`).toEqual(expected);
    }
    expect(died).toBeGreaterThanOrEqual(kills);
  },
  300_000 + kills * 30_000,
);
