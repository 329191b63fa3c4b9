import { type ConnectOptions, defineGraph, edge, isEdgetableError, node, part } from "edgetable";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

const id = z.object({ id: z.string() });

const byEmail = { entries: { person: { by: "email", sparse: true } } } as const;

const graphOf = (table: string, shards: readonly number[], isNew: boolean) =>
  defineGraph({
    table,
    settings: { stream: true },
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: z.string(), email: z.string().optional(), n: z.int().optional() }),
        unique: ["email"],
      }),
      place: node({ key: "PLACE#{id}", schema: z.object({ id: z.string(), n: z.int().optional() }) }),
      club: node({ key: "CLUB#{id}", schema: id }),
      task: node({
        key: "TASK#{id}",
        schema: z.object({ id: z.string(), clubId: z.string() }),
        fields: { of: "owner", storage: isNew ? "document" : "items" },
      }),
      owner: node({ key: "OWNER#{clubId}", schema: z.object({ clubId: z.string() }) }),
    },
    parts: {
      note: part({ of: "place", key: "NOTE#{n:5}", schema: z.object({ n: z.int() }) }),
      room: part({ of: "place", key: "ROOM#{n:5}", schema: z.object({ n: z.int() }) }),
    },
    edges: {
      visited: edge({ from: "person", to: "place", schema: z.object({ at: z.string() }), orderBy: "at", onDelete: { to: "cascade" } }),
      rated: edge({ from: "person", to: "place", schema: z.object({ stars: z.int() }), stored: "twice", onDelete: { to: "cascade" } }),
      booked: edge({ from: "person", to: "room", onDelete: { to: "cascade" } }),
      door: edge({ from: "room", to: "room", symmetric: true, onDelete: { from: "cascade" } }),
      near: edge({ from: "place", to: "place", symmetric: true, onDelete: { from: "cascade" } }),
      leads: edge({ from: "person", to: "club", maxDegree: { from: 3, to: 1000 } }),
      owns: edge({ from: "person", to: "place", maxDegree: { from: 10 }, onDelete: { to: "cascade" } }),
    },
    indexes: { byNumber: { entries: { place: { by: "n:number", sparse: true } }, shards }, ...(isNew ? { byEmail } : {}) },
  });

type Graph = ReturnType<typeof graphOf>;
/** A connection on the model of the kill tests. */
export type KillDb = ReturnType<Graph["connect"]>;

/** Opens a connection on a table of the model. */
export const connect = (table: string, options: ConnectOptions): KillDb => graphOf(table, [4, 1], true).connect(options);

/** The same from before its index's shards grew and another index came. */
export const connectBefore = (table: string, options: ConnectOptions): KillDb => graphOf(table, [1], false).connect(options);

/** One kind of work. */
export interface Scenario {
  /** Requests that an undisturbed run sends, roughly. */
  readonly requests: number;
  /** Fills the table before the work; `before` writes as it was done before the shards grew and an index came. */
  prepare(db: KillDb, before: KillDb): Promise<void>;
  /** What must be true of the table in the end, as the model has it: each item as JSON. */
  check(items: readonly string[]): void;
  /** Does the work, or what is left of it, with leases of so many milliseconds. Throws job.busy while that of a dead process holds. */
  work(db: KillDb, lease: number): Promise<void>;
  /** One job of the work, where that is several. @default work */
  readonly once?: (db: KillDb, lease: number) => Promise<void>;
}

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};
const having = (items: readonly string[], text: string): number => items.filter((item) => item.includes(text)).length;

/** Milliseconds for which a lease of the tests holds, where a test does not say otherwise. */
export const LEASE = 250;
/** How long an index may lag behind, in milliseconds: what a deletion waits for. */
export const INDEX_LAG = 40;
const name = (at: number): string => `N${String(at).padStart(4, "0")}`;
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const mixedRows = function* () {
  for (const at of range(300)) {
    yield { node: "place", row: { id: name(at), n: at } } as const;
    yield { edge: "rated", from: { id: name(at % 50) }, to: { id: name(at) }, attributes: { stars: at % 5 } } as const;
    yield { edge: "near", from: { id: name(at) }, to: { id: name((at * 7) % 300) } } as const;
    if (at % 10 === 0) yield { node: "person", row: { id: name(at), email: `${at}@example.com` } } as const;
    if (at % 15 === 0) yield { edge: "leads", from: { id: name(at % 4) }, to: { id: "K" } } as const;
  }
};

// Sixty keys, each written over and over: whatever is repeated or overtaken shows in the table.
const contendedRows = function* () {
  for (const at of range(3000)) yield { node: "place", row: { id: name((at * 7) % 60), n: at } } as const;
};

const load: Scenario = {
  requests: 110,
  prepare: async () => undefined,
  check: (items) => {
    must(having(items, '"type",{"S":"place"}') === 300, "every place is there");
    must(having(items, '"type",{"S":"rated"}') === 300 && having(items, '"type",{"S":"~rated"}') === 300, "every rating is there, twice");
    must(having(items, '"type",{"S":"person"}') === 30 && having(items, '"type",{"S":"~unique"}') === 30, "every person has a marker");
    must(having(items, '"type",{"S":"leads"}') === 4 && having(items, '["sk",{"S":"~degree#leads#in"}]') === 1, "four lead the club");
    must(
      items.some((item) => item.includes("~degree#leads#in") && item.includes('["~count",{"N":"4"}]')),
      "and are counted once each",
    );
  },
  work: async (db, lease) => {
    const report = await db.load(mixedRows(), { job: "load", lease, concurrency: 4 });
    // Four people lead the one club, once each: the rest of their rows say the same again.
    if (report.failed > 0) throw new Error(`${report.failed} rows failed: ${report.failures[0]?.error.message}`);
  },
};

const kept: Scenario = {
  requests: 130,
  prepare: async () => undefined,
  check: (items) => {
    const last = new Map([...contendedRows()].map(({ row }) => [row.id, row.n]));
    must(having(items, '"type",{"S":"place"}') === last.size, "sixty places are there");
    for (const [key, n] of last)
      must(
        having(items, `"PLACE#${key}"`) === 1 && items.some((item) => item.includes(`"PLACE#${key}"`) && item.includes(`"N":"${n}"`)),
        `the last row of ${key} stands`,
      );
  },
  work: async (db, lease) => {
    await db.load(contendedRows(), { job: "kept", order: "kept", lease, concurrency: 4, collisions: "ignore" });
  },
};

const deletion: Scenario = {
  requests: 110,
  prepare: async (db) => {
    await db.load(
      range(150).flatMap((at) => [
        { node: "place", row: { id: name(at) } } as const,
        { edge: "visited", from: { id: name(at) }, to: { id: "P" }, attributes: { at: `2024-${at}` } } as const,
        { edge: "rated", from: { id: name(at) }, to: { id: "P" }, attributes: { stars: 3 } } as const,
        { edge: "near", from: { id: "P" }, to: { id: name(at) } } as const,
        { edge: "owns", from: { id: name(at % 40) }, to: { id: at % 2 ? "P" : "Q" } } as const,
        { part: "note", owner: { id: "P" }, row: { n: at } } as const,
      ]),
    );
    await db.load(
      range(8).flatMap((n) => [
        { part: "room", owner: { id: "P" }, row: { n } } as const,
        { edge: "booked", from: { id: name(n) }, to: { id: "P", n } } as const,
        { edge: "door", from: { id: "P", n }, to: { id: "P", n: (n + 1) % 8 } } as const,
      ]),
    );
    await db.load([
      { node: "place", row: { id: "P", n: 1 } },
      { node: "place", row: { id: "Q", n: 2 } },
      { node: "place", row: { id: "R", n: 3 } },
    ]);
    // Just before the deletion: an index may not show these yet.
    await db.batch(range(6).map((at) => db.visited.put({ id: name(at) }, { id: "R" }, { at: "2025" }))).orThrow();
  },
  check: (items) => {
    must(having(items, "PLACE#P") + having(items, "PLACE#R") === 0, "nothing is left of the places, nor of their edges");
    must(having(items, "~deleting") === 0, "nothing is marked");
    must(having(items, '"type",{"S":"place"}') === 151, "other places are left alone");
    const counted = items.filter((item) => item.includes("~degree#owns#out"));
    const edges = having(items, '"type",{"S":"owns"}');
    const count = counted.reduce((sum, item) => sum + Number(/"~count",\{"N":"(-?\d+)"/.exec(item)?.[1]), 0);
    must(edges === 20 && count === edges, `${count} edges are counted, ${edges} are there`);
  },
  work: async (db, lease) => {
    const options = { lease, indexLag: INDEX_LAG };
    const jobs = await db.jobs.list();
    if (jobs.some(({ running }) => running)) await db.jobs.resume(jobs[0]?.id ?? "", options).then(({ done }) => done);
    for (const { done } of (await db.jobs.resumeAll(options)).resumed) await done;
    for (const place of ["R", "P"]) {
      const outcome = await db.place.delete({ id: place }, options);
      if (!outcome.ok && outcome.reason !== "notFound") throw new Error(outcome.reason);
    }
  },
  once: async (db, lease) => {
    await db.place.delete({ id: "P" }, { lease, indexLag: INDEX_LAG });
  },
};

const batch: Scenario = {
  requests: 24,
  prepare: async (db) => {
    await db.load(range(300).map((at) => ({ node: "place", row: { id: name(at), n: -1 } }) as const));
  },
  check: (items) => {
    must(having(items, '"type",{"S":"place"}') === 350, "every place is there");
    must(having(items, '"N":"-1"') === 150, "half of the places are as they were");
    must(having(items, '"type",{"S":"rated"}') === 100 && having(items, '"type",{"S":"~rated"}') === 100, "every rating is there, twice");
  },
  work: async (db) => {
    await db
      .batch([
        ...range(200).map((at) => db.place.put({ id: name(at * 2), n: at })),
        ...range(100).map((at) => db.rated.put({ id: name(at) }, { id: name(at + 1) }, { stars: at })),
        ...range(100).map((at) => db.near.unlink({ id: name(at) }, { id: name(at + 1) })),
      ])
      .orThrow();
  },
};

const upserts: Scenario = {
  requests: 130,
  prepare: async (db) => {
    await db.load(range(60).map((at) => ({ node: "place", row: { id: name(at * 2), n: -1 } }) as const));
    await db.load(range(20).map((at) => ({ node: "person", row: { id: name(at), email: `old${at}@example.com` } }) as const));
  },
  check: (items) => {
    must(having(items, '"type",{"S":"place"}') === 90, "the places of both halves are there");
    must(having(items, '"N":"-1"') === 30, "half of the old places are as they were");
    must(having(items, '"type",{"S":"person"}') === 40 && having(items, '"type",{"S":"~unique"}') === 40, "every person has a marker");
    must(having(items, "old") === 0, "no old address has one");
    must(having(items, '"type",{"S":"rated"}') === 40 && having(items, '"type",{"S":"~rated"}') === 40, "every rating is there, twice");
  },
  work: async (db) => {
    for (const at of range(60)) {
      const row = { id: name(at), n: at };
      await db.place.upsert(row, { n: at }, { expect: at % 4 ? "new" : "existing", idempotent: true }).orThrow();
    }
    for (const at of range(40)) {
      const email = `new${at}@example.com`;
      const calls = [
        db.person.upsert({ id: name(at), email }, { email }),
        db.rated.upsert({ id: name(at) }, { id: name(0) }, { stars: at }, { stars: at }),
      ] as const;
      await db.transact(calls).orThrow();
    }
  },
};

const reshard: Scenario = {
  requests: 120,
  prepare: async (_, before) => {
    await before.load(range(200).map((at) => ({ node: "place", row: { id: name(at), n: at } }) as const));
  },
  check: (items) => {
    const sizes = range(4).map((shard) => having(items, `"place#${shard}"`));
    must(sizes.reduce((sum, size) => sum + size, 0) === 200, "every place is in the index");
    must(
      sizes.every((size) => size > 25 && size < 75),
      `the places are spread: ${sizes.join(", ")}`,
    );
  },
  work: async (db, lease) => {
    await db.reshard({ rate: 100_000, lease, indexLag: INDEX_LAG });
  },
};

// A program's own job: every step is conditional, so the last ones before an end may be taken again.
const custom: Scenario = {
  requests: 100,
  prepare: async (db) => {
    await db.load(range(100).map((at) => ({ node: "place", row: { id: name(at), n: at } }) as const));
  },
  check: (items) => {
    const raised = items.filter((item) => Number(/"n",\{"N":"(\d+)"/.exec(item)?.[1]) >= 1000);
    must(raised.length === 100, `${raised.length} of 100 numbers are raised, once each`);
    must(
      items.every((item) => !/"n",\{"N":"[2-9]\d{3}"/.test(item)),
      "no number is raised twice",
    );
  },
  work: async (db, lease) => {
    await db.jobs.run("raise", { lease, fingerprint: "by 1000" }, async (job) => {
      for (let at = Number(job.saved["at"] ?? 0); at < 100; at++) {
        job.check();
        // A repeated step finds the number raised, and its condition fails. Idempotent, because an answer may be lost.
        await db.place.update({ id: name(at) }, { n: at + 1000 }, { if: { n: at }, idempotent: true });
        job.save({ at: at + 1 });
      }
    });
  },
};

/** Tasks of a club with values for so many fields, in parts of 100 where they are items. */
const setTasks = async (db: KillDb, tasks: number, fields: number): Promise<void> => {
  for (const at of range(tasks)) {
    const outcome = await db.task.values({ id: name(at) }).set(Object.fromEntries(range(fields).map((field) => [`f${field}`, field * at])));
    must(outcome.ok, "the task is there");
  }
};

const defineTasks = async (db: KillDb, tasks: number, fields: number): Promise<void> => {
  // A `create` whose answer is lost cannot tell whose row it is.
  await db.owner.put({ clubId: "C" }).orThrow();
  for (const field of range(fields))
    await db.task.fields({ clubId: "C" }).define({ fieldId: `f${field}`, name: `Field ${field}`, type: "number" });
  await db.load(range(tasks).map((at) => ({ node: "task", row: { id: name(at), clubId: "C" } }) as const));
};

// The club has its fields from before: its values are items, and a row of 120 is written in two transactions.
const grid: Scenario = {
  requests: 40,
  prepare: async (_, before) => defineTasks(before, 5, 120),
  check: (items) => {
    must(having(items, '"type",{"S":"taskValue"}') === 600 && having(items, '"type",{"S":"taskValues"}') === 0, "every value has its item");
    for (const at of range(5)) must(having(items, `"S":"TASK#${name(at)}"`) === 121, `the task ${at} has all its values`);
  },
  work: async (db) => setTasks(db, 5, 120),
};

const migrate: Scenario = {
  requests: 350,
  prepare: async (db, before) => {
    await db.table.delete();
    await before.table.create();
    const { failed, failures } = await before.load(
      range(60).flatMap((at) => [
        { node: "place", row: { id: name(at), n: at } } as const,
        { node: "person", row: { id: name(at), ...(at % 3 === 0 ? {} : { email: `${at}@example.com` }) } } as const,
      ]),
    );
    must(failed === 0, `every row is loaded before: ${failures[0]?.error.message}`);
    await defineTasks(before, 20, 5);
    await setTasks(before, 20, 5);
  },
  check: (items) => {
    must(having(items, '"byEmailPk",{"S":"person#0"}') === 40, "every person with an address is in the new index");
    must(having(items, '"place#0"') < 30, "the places are spread");
    must(having(items, '"type",{"S":"taskValues"}') === 20, "every task has a document");
    must(having(items, '["follows"') === 100, "and items that follow it");
    must(having(items, '"type",{"S":"taskFields"}') === 1 && having(items, '"to":{"S":"document"}') === 0, "no values are on their way");
    must(having(items, "~migration") === 0, "no migration is under way");
    must(having(items, '\\"byEmail\\":') === 1, "the table records the new model");
  },
  work: async (db, lease) => {
    const { complete } = await db.migrations.run({ finish: true, share: 100, lease, indexLag: INDEX_LAG });
    must(complete && ((await db.table.diff()) ?? []).length === 0, "the table has the indexes of the model");
  },
  // Whoever wakes late finds another table.
  once: async (db, lease) => void (await db.migrations.run({ finish: true, share: 100, lease, indexLag: INDEX_LAG })),
};

export const scenarios: Readonly<Record<string, Scenario>> = { load, kept, deletion, batch, upserts, reshard, custom, grid, migrate };

/** Does a scenario's work, waiting for the lease of whoever died before. */
export const workUntilDone = async (scenario: Scenario, db: KillDb, sleep: (ms: number) => Promise<unknown> = pause): Promise<void> => {
  for (let turn = 0; ; turn++) {
    try {
      return await scenario.work(db, LEASE);
    } catch (error) {
      if (!isEdgetableError(error, "job.busy") && !isEdgetableError(error, "job.notFound")) throw error;
      if (turn > 1000) throw error;
      await sleep(20);
    }
  }
};
