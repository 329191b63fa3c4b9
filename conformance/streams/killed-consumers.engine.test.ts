import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "@edgetable/testing";
import { verify } from "edgetable/verify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { bundleWorker, type WorkerProgram } from "../kill/bundle-worker.ts";
import { turnsIn, type ConsumerOrders } from "./consumer-worker.ts";

const STUDENTS = 40;
const COURSES = 5;
const WRITERS = 4;
const LEASE = 600;
// A batch takes 750 ms, in which its consumer saves its position five times, and is killed.
const BATCH = 50;
const WORK = 60;
// What is answered early is done one event after the other, so that much is left when a position has been saved for sure.
const EARLY_WORK = 300;
const EARLY_EVENTS = 10;
const seed = testSeed();

let engine: TestEngine;
let program: WorkerProgram;
beforeAll(async () => {
  [engine, program] = [await openEngine(), await bundleWorker(new URL("consumer-worker.ts", import.meta.url))];
});
afterAll(async () => {
  await engine.close();
  await program.remove();
});

interface Consumer {
  readonly child: ChildProcess;
  /** Why it failed; undefined if it ended as it should, or was killed. */
  readonly ended: Promise<string | undefined>;
  /** Resolves when so many more events were told, or it ended. */
  works(events: number): Promise<void>;
}

/** Starts a consumer's process, whose events are told in the order in which it handled them. */
const startConsumer = (orders: ConsumerOrders, tell: (student: string, turn: number) => void): Consumer => {
  const child = spawn(process.execPath, [program.path, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  let text = "";
  let told = 0;
  const waiting: { readonly until: number; readonly resolve: () => void }[] = [];
  child.stderr.on("data", (chunk: Buffer) => (errors += String(chunk)));
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (text + String(chunk)).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const [student = "", turn = ""] = line.split(" ");
      tell(student, Number(turn));
    }
    told += lines.length;
    for (const { until, resolve } of waiting) if (told >= until) resolve();
  });
  const ended = new Promise<string | undefined>((resolve) =>
    child.once("close", (code, signal) => {
      for (const one of waiting) one.resolve();
      resolve(code === 0 || signal === "SIGKILL" || signal === "SIGTERM" ? undefined : `exit code ${code}: ${errors}`);
    }),
  );
  const works = (events: number): Promise<void> => new Promise((resolve) => waiting.push({ until: told + events, resolve }));
  return { child, ended, works };
};

/** Writes turns of students and edges, each student by one writer, so that turns are in order. Gives the last turns. */
const writeTurns = async (db: ReturnType<ReturnType<typeof turnsIn>["connect"]>, changes: number): Promise<ReadonlyMap<string, number>> => {
  const random = seededRandom(seed);
  const turns = new Map<string, number>();
  const write = async (writer: number): Promise<void> => {
    for (let at = writer; at < changes; at += WRITERS) {
      const id = `s${(Math.floor(random() * (STUDENTS / WRITERS)) * WRITERS + writer) % STUDENTS}`;
      const turn = (turns.get(id) ?? -1) + 1;
      await db.student.put({ id, turn }).orThrow();
      turns.set(id, turn);
      const to = { id: `c${Math.floor(random() * COURSES)}` };
      const dice = random();
      if (dice < 0.3) await db.takes.put({ id }, to, undefined).orThrow();
      else if (dice < 0.5) await db.takes.unlink({ id }, to);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, at) => write(at)));
  return turns;
};

/** Runs two consumers while the table is written, and kills the one that works, inside its batch, so many times. Where the engine can, shards roll between kills. */
const runHistory = async ({
  changes,
  kills = 0,
  every,
  answersEarly = false,
  longest = 60_000,
}: {
  readonly changes: number;
  readonly kills?: number;
  /** Kills one consumer after the other, so many milliseconds apart, until everything is done. */
  readonly every?: number;
  readonly answersEarly?: boolean;
  readonly longest?: number;
}) => {
  const random = seededRandom(seed + 1);
  const table = engine.freshTableName("killed");
  const { endpoint } = engine;
  const db = turnsIn(table).connect({ endpoint });
  await db.table.create({ stream: true });
  for (let at = 0; at < COURSES; at++) await db.course.create({ id: `c${at}` }).orThrow();

  const handled = new Map<string, number>();
  const faults: string[] = [];
  const tell = (student: string, turn: number): void => {
    const last = handled.get(student) ?? -1;
    if (turn > last + 1) faults.push(`${student}: ${turn} came after ${last}`);
    handled.set(student, Math.max(last, turn));
  };
  const pace = every === undefined ? { batchSize: BATCH, work: answersEarly ? EARLY_WORK : WORK } : { batchSize: 1000, work: 0 };
  const orders = { endpoint, table, lease: LEASE, ...pace, answersEarly };
  const begun = Date.now();
  const writing = writeTurns(db, changes);
  // On a slow machine, early answers would keep up with the writers, and nothing be lost.
  if (answersEarly) await writing;
  const consumers = [startConsumer(orders, tell), startConsumer(orders, tell)];
  for (let killed = 0; killed < kills && faults.length === 0; killed++) {
    const events = answersEarly ? EARLY_EVENTS : 1 + Math.floor(random() * BATCH);
    const working = await Promise.race([...consumers.map(async (one) => one.works(events).then(() => one)), pause(60_000, undefined)]);
    if (!working) break;
    await engine.rollShards?.();
    working.child.kill("SIGKILL");
    faults.push(...[await working.ended].filter((error) => error !== undefined));
    consumers[consumers.indexOf(working)] = startConsumer(orders, tell);
  }

  const killing = new AbortController();
  const killsEach = async (wait: number): Promise<void> => {
    let rolled = Date.now();
    for (let at = 0; !killing.signal.aborted; at = 1 - at) {
      await pause(wait, undefined, { signal: killing.signal }).catch(() => undefined);
      const one = consumers[at];
      if (killing.signal.aborted || !one) return;
      // Writes of DynamoDB Local get slower with the shards that it has had.
      if (Date.now() - rolled > BETWEEN_ROLLS) {
        await engine.rollShards?.();
        rolled = Date.now();
      }
      one.child.kill("SIGKILL");
      faults.push(...[await one.ended].filter((error) => error !== undefined));
      consumers[at] = startConsumer(orders, tell);
      killed++;
    }
  };
  let killed = 0;
  const killer = every === undefined ? undefined : killsEach(every);
  const turns = await writing;
  const written = Date.now();
  const counts = new Map<string, number>();
  for await (const row of db.scan({ only: ["takes"], consistent: true }))
    if ("edge" in row) counts.set(row.to.id, (counts.get(row.to.id) ?? 0) + 1);
  const isHandled = (): boolean => [...turns].every(([id, turn]) => handled.get(id) === turn);
  const areCountsRight = async (): Promise<boolean> => {
    for (let at = 0; at < COURSES; at++) {
      const row = await db.course.get({ id: `c${at}` }, { consistent: true });
      if ((row?.students ?? 0) !== (counts.get(`c${at}`) ?? 0)) return false;
    }
    return true;
  };
  const started = Date.now();
  while (faults.length === 0 && Date.now() - started < longest && !(isHandled() && (await areCountsRight()))) await pause(100);
  killing.abort();
  await killer;
  if (every !== undefined) console.log({ changes, killed, written: written - begun, drained: Date.now() - begun });
  for (const { child } of consumers) child.kill(answersEarly ? "SIGKILL" : "SIGTERM");
  for (const { ended } of consumers) faults.push(...[await ended].filter((error) => error !== undefined));
  const found = { handled: isHandled(), counted: await areCountsRight(), faults };
  const { kinds } = await verify(db, { settle: 1, staleAfter: 1 });
  await db.close();
  return { ...found, kinds };
};

test(`of two consumers the one that works is killed again and again: each change is handled, in order, and counted (seed ${seed})`, async () => {
  const kills = testRuns(4);
  expect(await runHistory({ changes: 60 * kills, kills })).toEqual({ handled: true, counted: true, faults: [], kinds: [] });
});

// 200,000 changes take minutes, with one of two consumers killed every few seconds: only by command.
const CHANGES = Number(process.env["EDGETABLE_STREAM_CHANGES"] ?? "0");
const BETWEEN_KILLS = 3_000;
const BETWEEN_ROLLS = 45_000;

test.runIf(CHANGES > 0)(
  `so many changes, one of two consumers killed every ${BETWEEN_KILLS / 1000} s (seed ${seed})`,
  async () => {
    const large = { changes: CHANGES, every: BETWEEN_KILLS, longest: CHANGES * 20 } as const;
    expect(await runHistory(large)).toMatchObject({ handled: true, counted: true, faults: [], kinds: [] });
  },
  CHANGES * 40 + 120_000,
);

test("the same histories show that positions are saved ahead of the work", async () => {
  for (let run = 0; run < 12; run++) {
    const { handled, faults } = await runHistory({ changes: 80, kills: 1, answersEarly: true, longest: 2_000 });
    if (!handled || faults.length > 0) return;
  }
  expect.fail("no history lost a change");
}, 120_000);
