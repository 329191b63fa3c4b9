import { spawn } from "node:child_process";
import { isEdgetableError } from "edgetable";
import { seededRandom, type Random } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testSeed } from "../engines/property-runs.ts";
import { bundleWorker, type WorkerProgram } from "../kill/bundle-worker.ts";
import { connectLast, connectNew, connectOld, type MigrationDb, type Program } from "./model.ts";
import type { Orders } from "./worker.ts";

const items = Number(process.env["EDGETABLE_MIGRATION_ITEMS"] ?? 800);
const kills = Number(process.env["EDGETABLE_MIGRATION_KILLS"] ?? 4);
const seed = testSeed();

let engine: TestEngine;
let program: WorkerProgram;
beforeAll(async () => {
  [engine, program] = await Promise.all([openEngine(undefined, { alone: true }), bundleWorker(new URL("worker.ts", import.meta.url))]);
});
afterAll(async () => {
  await engine.close();
  await program.remove();
});

const CITIES = ["Ulm", "Bonn", "Köln", "Kiel"];
const draw = (random: Random, most: number): number => Math.floor(random() * most);
const idOf = (at: number): string => `P${at}`;

const personOf = (random: Random, at: number) => ({
  id: idOf(at),
  name: `N${draw(random, 40)}`,
  ...(random() < 0.8 ? { age: draw(random, 90) } : {}),
  ...(random() < 0.6 ? { town: CITIES[draw(random, CITIES.length)] ?? "Ulm" } : {}),
});

/** One change by a program: of what there is, and of what comes and goes. */
const change = async ({ db, say }: Program, random: Random): Promise<void> => {
  const at = draw(random, items * 1.2);
  const id = { id: idOf(at) };
  switch (draw(random, 8)) {
    case 0:
      await db.person.put(say(personOf(random, at)));
      return;
    case 1:
      await db.person.create(say(personOf(random, at)));
      return;
    case 2:
      await db.person.delete(id);
      return;
    case 3:
      await db.person.update(id, {
        remove: Object.keys(say<{ age?: number; town?: string }>(random() < 0.5 ? { age: 1 } : { town: "" })) as never,
      });
      return;
    case 4:
      await db.knows.put(id, { id: idOf(draw(random, items)) }, { since: `20${10 + draw(random, 15)}` });
      return;
    case 5:
      await db.knows.unlink(id, { id: idOf(draw(random, items)) });
      return;
    default:
      await db.person.update(id, say(random() < 0.5 ? { age: draw(random, 90) } : { town: CITIES[draw(random, 4)] ?? "Ulm" }));
  }
};

interface Writer {
  stop(): Promise<number>;
}

/** Writes until it is stopped, and tells how many changes it made. */
const startWriter = (program: Program, random: Random): Writer => {
  const stopping = new AbortController();
  const work = async (): Promise<number> => {
    let made = 0;
    while (!stopping.signal.aborted) {
      // DynamoDB Local refuses writes while it builds an index.
      await change(program, random).catch((error: unknown) => {
        if (!isEdgetableError(error) || !error.code.startsWith("execute.")) throw error;
      });
      made++;
    }
    await program.db.close();
    return made;
  };
  const working = work();
  working.catch(() => undefined);
  return {
    stop: () => {
      stopping.abort();
      return working;
    },
  };
};

interface Ending {
  readonly killed: boolean;
  readonly errors: string;
}

/** Runs a worker to its end; with `after`, kills it so many milliseconds after it began. */
const runWorker = (orders: Orders, after: number | undefined): Promise<Ending> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.path, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += String(chunk)));
    child.stdout.once("data", () => after !== undefined && setTimeout(() => child.kill("SIGKILL"), after));
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ killed: signal === "SIGKILL", errors: code === 0 ? "" : errors }));
  });

/** Kills workers at a migration, then lets one finish; gives how many died. */
const migrate = async (orders: Orders, random: Random): Promise<number> => {
  let died = 0;
  const longest = 100 + items / 10;
  for (let turn = 0; turn < kills / 2; turn++) if ((await runWorker(orders, random() * longest)).killed) died++;
  expect((await runWorker(orders, undefined)).errors).toBe("");
  return died;
};

type Person = ReturnType<typeof personOf>;

/** Every search by the indexes, compared with the rows of the table. */
const compareSearches = async (db: MigrationDb): Promise<number> => {
  const persons: Person[] = [];
  const edges: { readonly from: string; readonly to: string; readonly since: string }[] = [];
  for await (const row of db.scan({ segments: 4 })) {
    if ("node" in row) persons.push(row.row as Person);
    else if ("edge" in row) edges.push({ from: row.from.id, to: row.to.id, since: row.attributes.since });
  }
  const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id).toSorted();
  for (let age = 0; age < 90; age++)
    expect(ids(await db.find("person").where({ age }).rows()), `age ${age}`).toEqual(ids(persons.filter((one) => one.age === age)));
  for (const town of CITIES)
    expect(ids(await db.find("person").using("byPlace").where({ town }).rows()), town).toEqual(
      ids(persons.filter((one) => one.town === town)),
    );
  const ends = (rows: readonly { readonly from: string; readonly to: string }[]): readonly string[] =>
    rows.map(({ from, to }) => `${from}>${to}`).toSorted();
  for (let year = 10; year < 25; year++) {
    const since = `20${year}`;
    const found = await db.find("knows").where({ since }).rows();
    expect(ends(found.map(({ from, to }) => ({ from: from.id, to: to.id }))), since).toEqual(
      ends(edges.filter((one) => one.since === since)),
    );
  }
  // Nothing else is in the indexes either.
  expect(await db.find("person").using("byAge").count()).toBe(persons.filter(({ age }) => age !== undefined).length);
  return persons.length;
};

test(
  `indexes come to ${items} items while old and new programs write and the migration is killed ${kills} times`,
  async () => {
    const table = engine.freshTableName("under-load");
    const random = seededRandom(seed);
    const { transport, endpoint } = engine;
    const shared = { ...transport, send: transport.send.bind(transport), close: () => undefined };
    const options = { transport: shared, retry: { attempts: 60, maxDelay: 500 } };
    const first = connectOld(table, options);
    await first.db.table.create();
    const rows = function* () {
      for (let at = 0; at < items; at++) {
        yield { node: "person", row: first.say(personOf(random, at)) } as const;
        if (at % 10 === 0)
          yield { edge: "knows", from: { id: idOf(at) }, to: { id: idOf(at + 1) }, attributes: { since: `20${10 + (at % 15)}` } } as const;
      }
    };
    await first.db.load(rows());
    await first.db.close();
    const writerOf = (connect: typeof connectOld, at: number): Writer => startWriter(connect(table, options), seededRandom(seed + at));
    const old = [writerOf(connectOld, 1), writerOf(connectOld, 2)];
    const current = [writerOf(connectNew, 3), writerOf(connectNew, 4)];
    let died = await migrate({ endpoint, table, finish: false, last: false }, random);
    const changes = (await Promise.all(old.map((writer) => writer.stop()))).reduce((sum, one) => sum + one, 0);
    const replaced = [writerOf(connectNew, 5), writerOf(connectNew, 6)];
    died += await migrate({ endpoint, table, finish: true, last: false }, random);
    await Promise.all(current.map((writer) => writer.stop()));
    // Half of the programs store what is new; at last, all of them.
    const last = [writerOf(connectLast, 7), writerOf(connectLast, 8)];
    expect((await runWorker({ endpoint, table, finish: false, last: true }, undefined)).errors).toBe("");
    await Promise.all(replaced.map((writer) => writer.stop()));
    died += await migrate({ endpoint, table, finish: true, last: true }, random);
    await Promise.all(last.map((writer) => writer.stop()));
    const { db } = connectLast(table, options);
    const { transport: raw } = options;
    expect(await raw.send("Scan", { TableName: table, FilterExpression: "attribute_exists(city)" } as never)).toMatchObject({ Items: [] });
    expect(await db.migrations.status()).toMatchObject({ state: "current", job: undefined });
    expect(await compareSearches(db), `seed ${seed}`).toBeGreaterThan(items / 4);
    // The proof needs deaths, and old writers who were in the way.
    expect(died).toBeGreaterThan(0);
    expect(changes).toBeGreaterThan(20);
  },
  600_000 + items * 20,
);
