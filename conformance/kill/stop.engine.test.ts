import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { seededRandom } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { openLab, type KillLab } from "./open-lab.ts";
import { connect, connectBefore, LEASE, scenarios, workUntilDone } from "./scenarios.ts";
import { tableContent } from "./table-content.ts";
import type { Orders } from "./worker.ts";

const stops = testRuns(2);
const seed = testSeed();

let lab: KillLab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.close());

interface Stopped {
  readonly child: ChildProcess;
  /** What the worker says, line by line. */
  readonly says: AsyncIterator<string>;
}

/** Starts a worker; undefined when it ended before its stop came. */
const stopAt = async (orders: Orders): Promise<Stopped | undefined> => {
  const child = spawn(process.execPath, [lab.program, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "inherit"] });
  const says = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await says.next()).value).toBe("begun");
  if ((await says.next()).value === "stopped") return { child, says };
  await once(child, "exit");
  return undefined;
};

interface Woken {
  /** How its work ended: an error's code, or "done". */
  readonly ended: string;
  /** Writes that it sent since it was stopped. */
  readonly sent: number;
}

/** Wakes a stopped worker. */
const wake = async ({ child, says }: Stopped): Promise<Woken> => {
  const exit = once(child, "exit");
  child.kill("SIGCONT");
  const { value } = await says.next();
  expect(await exit).toEqual([0, null]);
  const [ended = "", sent] = String(value).split(" ");
  return { ended, sent: Number(sent) };
};

/**
 * A process stands still for longer than its lease, another does all of its work, and the table is changed
 * after that: what the first still had in hand when it wakes must not be written over the change.
 */
test.each(["load", "kept", "deletion", "reshard", "migrate"])(
  "%s: who wakes after another has done the job writes nothing, and says so",
  async (kind) => {
    const scenario = scenarios[kind]!;
    const random = seededRandom(seed);
    // A worker that loses its lease by itself, on a busy machine, ends before its stop: the next one has longer.
    let lease = LEASE;
    let woken = 0;
    for (let round = 0; woken < stops && round < stops * 3; round++) {
      const table = lab.engine.freshTableName(`stop-${kind}`);
      const db = connect(table, { transport: lab.engine.transport });
      const before = connectBefore(table, { transport: lab.engine.transport });
      await db.table.create();
      await scenario.prepare(db, before);
      const request = Math.floor(random() * scenario.requests);
      const death = { request, phase: "stopped" } as const;
      const stopped = await stopAt({ endpoint: lab.engine.endpoint, table, scenario: kind, seed, death, lease });
      if (!stopped) {
        lease *= 2;
        continue;
      }
      await workUntilDone(scenario, db);
      await db.table.delete();
      await db.table.create();
      await scenario.prepare(db, before);
      const items = new Set(await tableContent(lab.engine.transport, table));
      const { ended, sent } = await wake(stopped);
      const now = new Set(await tableContent(lab.engine.transport, table));
      const change = { gone: [...items].filter((item) => !now.has(item)), come: [...now].filter((item) => !items.has(item)) };
      expect(change, `stopped after answer ${request}, woken it ended with ${ended}`).toEqual({ gone: [], come: [] });
      // Who was stopped after the answer to his last write had nothing left to do, and did all that he says.
      if (ended === "done") expect(sent, `writes after a stop at answer ${request}`).toBe(0);
      else {
        expect(ended).toMatch(/^(job\.busy|job\.notFound)$/);
        woken++;
      }
      await lab.engine.transport.send("DeleteTable", { TableName: table });
    }
    expect(woken).toBeGreaterThan(0);
  },
  300_000 + stops * 100_000,
);
