import { count, defineGraph, edge, isEdgetableError, node, type ConnectOptions, type Transport } from "edgetable";
import { verify } from "edgetable/verify";
import { type Random, seededRandom } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed, testTime } from "../engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const key = "PERSON#{id}" as const;
const person = z.object({ id: text, name: text });
const ends = {
  from: "person",
  to: "person",
  schema: z.object({ at: text, bt: text }),
  onDelete: { from: "cascade", to: "cascade" },
} as const;

/** Before: `at` orders the edges, and two kinds are found by value. */
const before = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key, schema: person }) },
    edges: { meets: edge({ ...ends, orderBy: "at" }) },
    indexes: { byName: { entries: { person: "name", meets: "at" } } },
  });

/** After: another order, a count, a copy, a limit, and one kind fewer in the index. */
const after = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key, schema: person, derived: { met: count({ in: "meets" }) } }) },
    edges: { meets: edge({ ...ends, orderBy: "bt", copies: { to: ["name"] }, maxDegree: { from: 90 } }) },
    indexes: { byName: { entries: { person: "name" } }, byFame: { entries: { person: "met:number" } } },
  });

type Old = ReturnType<ReturnType<typeof before>["connect"]>;
type New = ReturnType<ReturnType<typeof after>["connect"]>;

const PEOPLE = 6;
const draw = (random: Random, most: number): number => Math.floor(random() * most);

/** One write by a program. Those of both models have the same form. */
const change = async (db: Old, random: Random): Promise<void> => {
  const someone = () => ({ id: `P${draw(random, PEOPLE)}` });
  const [one, other] = [someone(), someone()];
  const value = () => String(draw(random, 10));
  switch (draw(random, 9)) {
    case 0:
      await db.person.delete(one);
      return;
    case 1:
      await db.person.put({ ...one, name: `N${value()}` });
      return;
    case 2:
      await db.person.create({ ...one, name: `N${value()}` });
      return;
    case 3:
      await db.person.update(one, { name: `N${value()}` });
      return;
    case 4:
      await db.meets.unlink(one, other);
      return;
    case 5:
      await db.meets.relink(one, other, { bt: value() });
      return;
    case 6:
      await db.meets.relink(one, other, { at: value() });
      return;
    default:
      await db.meets.link(one, other, { at: value(), bt: value() });
  }
};

/** Makes so many writes, beside others. What races or a retried deletion refuse is of no account. */
const write = async (db: Old, random: Random, writes: number): Promise<void> => {
  for (let made = 0; made < writes; made++)
    await change(db, random).catch((error: unknown) => {
      if (!isEdgetableError(error) || !/^(execute|job)\./.test(error.code)) throw error;
    });
};

/** A transport that fails for good after so many requests, as a process that is killed. */
const dying = (requests: number): Transport => {
  let left = requests;
  return {
    send: async (operation, input, options) => {
      if (left-- <= 0) throw new Error("killed");
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
};

interface Stored {
  readonly people: readonly { readonly id: string; readonly name: string }[];
  readonly meets: readonly { readonly from: string; readonly to: string; readonly at: string; readonly bt: string }[];
}

const stored = async (db: Old): Promise<Stored> => {
  const people: { id: string; name: string }[] = [];
  const meets: { from: string; to: string; at: string; bt: string }[] = [];
  for await (const row of db.scan())
    if ("node" in row) people.push(row.row);
    else if ("edge" in row) meets.push({ from: row.from.id, to: row.to.id, at: row.attributes.at, bt: row.attributes.bt });
  return { people, meets };
};

/** The rows of a read, or undefined if it was refused because its index is incomplete. */
const unlessIncomplete = async <T>(read: Promise<T>): Promise<T | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (isEdgetableError(error, "plan.indexIncomplete")) return undefined;
    throw error;
  }
};

/** Compares the reads of a new program with what the table holds: right, or refused. Gives how many were refused. */
const compare = async (connect: () => Old, order: "at" | "bt", name: string): Promise<number> => {
  const { people, meets } = await stored(connect());
  let refused = 0;
  const expectRows = async (read: Promise<readonly unknown[]>, rows: readonly unknown[], what: string): Promise<void> => {
    const found = await unlessIncomplete(read);
    if (found === undefined) refused++;
    else expect(found, `${name}: ${what}`).toEqual(rows);
  };
  for (let at = 0; at < PEOPLE; at++) {
    const id = `P${at}`;
    // Each by a connection of its own, which has to find out what it may read.
    const out = () => connect().person({ id }).out("meets");
    const inward = () => connect().person({ id }).in("meets");
    const mine = meets.filter(({ from }) => from === id).map((one) => one[order]);
    await expectRows(
      out()
        .edges()
        .then((rows) => rows.map((row) => row[order])),
      mine.toSorted(),
      `out of ${id}`,
    );
    const theirs = meets.filter(({ to }) => to === id).map((one) => one[order]);
    await expectRows(
      inward()
        .where({ [order]: { gte: "5" } })
        .edges()
        .then((rows) => rows.map((row) => row[order])),
      theirs.filter((value) => value >= "5").toSorted(),
      `into ${id}`,
    );
    await expectRows(
      inward()
        .count()
        .then((number) => [number]),
      [theirs.length],
      `count into ${id}`,
    );
  }
  for (const found of new Set(people.map((one) => one.name)))
    await expectRows(
      connect()
        .find("person")
        .where({ name: found })
        .rows()
        .then((rows) => rows.map(({ id }) => id).toSorted()),
      people
        .filter((one) => one.name === found)
        .map(({ id }) => id)
        .toSorted(),
      `by name ${found}`,
    );
  if (order === "at")
    for (const value of new Set(meets.map((one) => one.at)))
      await expectRows(
        connect()
          .find("meets")
          .where({ at: value })
          .rows()
          .then((rows) => [rows.length]),
        [meets.filter((one) => one.at === value).length],
        `by time ${value}`,
      );
  return refused;
};

const run = async (seed: number): Promise<void> => {
  const random = seededRandom(seed);
  const table = engine.freshTableName("histories");
  const oldProgram = (options: ConnectOptions = {}): Old => before(table).connect({ transport: engine.transport, ...options });
  const newProgram = (options: ConnectOptions = {}): New => after(table).connect({ transport: engine.transport, ...options });
  const asOld = (db: New): Old => db as unknown as Old;
  const [old, now] = [oldProgram(), newProgram()];
  await old.table.create();
  await write(old, random, 25);
  const fast = { share: 100, indexLag: 0, lease: 3000, inPlace: true } as const;
  /** A run that is killed, or comes to its end. */
  const migrate = async (finish: boolean): Promise<void> => {
    const requests = random() < 0.7 ? draw(random, 60) : 10_000;
    const db = newProgram({ transport: dying(requests), retry: { attempts: 1 } });
    await db.migrations.run({ ...fast, finish }).catch((error: unknown) => {
      if (requests === 10_000) throw error;
    });
  };
  const left = async (): Promise<void> => {
    // The lease of a killed process runs out.
    await expect.poll(async () => (await now.migrations.status()).job?.running ?? false, { timeout: 10_000 }).toBe(false);
  };
  for (let round = 0; round < 3; round++) {
    // The migration begins before a program of the new model writes.
    await now.migrations.run(fast);
    await Promise.all([
      migrate(false),
      write(old, seededRandom(draw(random, 1e9)), 12),
      write(asOld(now), seededRandom(draw(random, 1e9)), 12),
    ]);
    await left();
    await compare(() => asOld(newProgram()), "bt", `seed ${seed}, new, round ${round}`);
    if (random() < 0.5) {
      expect(await now.migrations.undo(), `seed ${seed}`).toMatchObject({ undone: true });
      await compare(() => oldProgram(), "at", `seed ${seed}, undone in round ${round}`);
    }
  }
  await now.migrations.run(fast);
  // No program of the model before is left.
  for (let turn = 0; turn < 2; turn++) {
    await Promise.all([migrate(true), write(asOld(now), seededRandom(draw(random, 1e9)), 10)]);
    await left();
    await compare(() => asOld(newProgram()), "bt", `seed ${seed}, new, finishing ${turn}`);
  }
  expect(await newProgram().migrations.run({ ...fast, finish: true }), `seed ${seed}`).toMatchObject({ complete: true });
  expect(await compare(() => asOld(newProgram()), "bt", `seed ${seed}, at the end`)).toBe(0);
  const { kinds } = await verify(newProgram(), { settle: 1 });
  const wrong = kinds.filter(({ kind }) => !["idleGuard", "leftEdge", "deletionMark", "abandonedJob"].includes(kind));
  expect(wrong, `seed ${seed}`).toEqual([]);
  const { people, meets } = await stored(asOld(now));
  for (const { id, name } of people) {
    const met = meets.filter(({ to }) => to === id).length;
    expect(await now.person.get({ id }), `seed ${seed}`).toMatchObject({ met });
    // A guard that counted too few would refuse the change of what is copied.
    await now.person.update({ id }, { name: `${name}!` }).orThrow();
    const copies = await now.person({ id }).in("meets").edges();
    expect(
      copies.map((one) => one.name),
      `seed ${seed}`,
    ).toEqual(Array.from({ length: met }, () => `${name}!`));
  }
};

test(
  "programs of two models write while a migration is run, killed, undone and finished, and no read is wrong",
  { timeout: testTime(600_000) },
  async () => {
    const first = testSeed();
    for (let at = 0; at < testRuns(2); at++) await run(first + at);
  },
);
