import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { derive, extract, openLake, validate } from "@edgetable/analytics";
import { seededRandom, type Random } from "@edgetable/testing";
import { count, type DerivedAttribute, defineGraph, edge, isEdgetableError, node, sum } from "edgetable";
import { verify } from "edgetable/verify";
import { expect, test } from "vitest";
import { z } from "zod";
import { openFactsLab } from "../../packages/edgetable/src/streams/facts-lab.test-support.ts";
import { testRuns, testSeed, testTime } from "../engines/property-runs.ts";
import { fulfilsAll } from "../naive/condition.ts";

/**
 * Counts and sums under random conditions (`or`, `not`, paths into attributes), each kept by transactions, by the stream, by a batch
 * job and computed by a migration. All of them must equal what a naive evaluator counts, and verification must find nothing.
 */

type Where = Readonly<Record<string, unknown>>;

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

const TEXTS = ["", "a", "ab", "b", "o'k"];
const numbers = (random: Random): number => Math.floor(random() * 5);

const comparison = (random: Random, value: () => unknown): unknown =>
  pick<() => unknown>(random, [
    () => value(),
    () => ({ [pick(random, ["eq", "ne", "lt", "lte", "gt", "gte"])]: value() }),
    () => ({ in: [value(), value()] }),
    () => ({ exists: random() < 0.5 }),
  ])();

const leaf = (random: Random): Where => {
  const text = (): unknown => pick(random, TEXTS);
  return pick<() => Where>(random, [
    () => ({ grade: comparison(random, () => numbers(random)) }),
    () => ({ code: random() < 0.2 ? { beginsWith: "a" } : comparison(random, text) }),
    () => ({ "address.city": random() < 0.2 ? { beginsWith: "a" } : comparison(random, text) }),
    () => ({ "address.zip": comparison(random, () => numbers(random)) }),
    () => ({ "tags[0]": comparison(random, text) }),
  ])();
};

const whereOf = (random: Random, depth: number): Where => {
  const where = { ...leaf(random), ...(random() < 0.4 ? leaf(random) : {}) };
  if (depth === 0) return where;
  const own = random() < 0.5 ? where : {};
  const inner = (): Where => whereOf(random, depth - 1);
  return random() < 0.5 ? { ...own, or: [inner(), inner()] } : { ...own, not: inner() };
};

const id = z.string();
const FIGURES = 5;

const modelOf = (wheres: readonly Where[], isLater: boolean) => (table: string) => {
  const derived: Readonly<Record<string, DerivedAttribute>> = Object.fromEntries(
    wheres.flatMap((where, at) => {
      const over = { in: "takes", where } as const;
      const by = (freshness: "transaction" | "stream" | "batch") => [
        [`${freshness}${at}`, count({ ...over, freshness })] as const,
        [`${freshness}Sum${at}`, sum({ ...over, of: "grade", freshness })] as const,
      ];
      return [...by("transaction"), ...by("stream"), ...by("batch"), ...(isLater ? [[`later${at}`, count(over)] as const] : [])];
    }),
  );
  const schema = z.object({
    grade: z.number().optional(),
    code: z.string().optional(),
    address: z.object({ city: z.string().optional(), zip: z.int().optional() }).optional(),
    tags: z.array(z.string()).optional(),
  });
  return defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id }), derived }),
    },
    edges: { takes: edge({ from: "student", to: "course", schema, onDelete: { from: "cascade", to: "cascade" } }) },
  });
};

type Db = ReturnType<ReturnType<ReturnType<typeof modelOf>>["connect"]>;
const STUDENTS = ["s1", "s2", "s3", "s4", "s5"];
const COURSES = ["c1", "c2"];

const rowOf = (random: Random) => {
  const maybe = <T extends object>(given: T): Partial<T> => (random() < 0.7 ? given : {});
  return {
    ...maybe({ grade: numbers(random) }),
    ...maybe({ code: pick(random, TEXTS) }),
    ...maybe({ address: { ...maybe({ city: pick(random, TEXTS) }), ...maybe({ zip: numbers(random) }) } }),
    ...maybe({ tags: pick(random, [[], ["a"], ["b", "a"]]) }),
  };
};

const write = async (db: Db, random: Random): Promise<void> => {
  const ends = [{ id: pick(random, STUDENTS) }, { id: pick(random, COURSES) }] as const;
  const changes = pick<() => object>(random, [
    () => ({ set: { "address.city": pick(random, TEXTS) } }),
    () => ({ set: { "address.zip": numbers(random) }, remove: ["code"] }),
    () => ({ remove: ["tags[0]"] }),
    () => ({ remove: ["address.city"], add: { grade: 1 } }),
    () => ({ grade: 1, ...rowOf(random) }),
  ]);
  try {
    if (random() < 0.5) await db.takes.put(...ends, rowOf(random)).orThrow();
    else if (random() < 0.8) await db.takes.relink(...ends, changes() as { code: string });
    else await db.takes.unlink(...ends);
  } catch (error) {
    // A path leads into an attribute that the row lacks.
    if (!isEdgetableError(error, "execute.rejected")) throw error;
  }
};

/** A row with its values within attributes beside the attributes, by path. */
const flat = (row: Where): Where => {
  const { city, zip } = (row["address"] ?? {}) as Where;
  return { ...row, "address.city": city, "address.zip": zip, "tags[0]": (row["tags"] as readonly unknown[] | undefined)?.[0] };
};

const runHistory = async (seed: number): Promise<void> => {
  const random = seededRandom(seed);
  const wheres = Array.from({ length: FIGURES }, (_, at) => whereOf(random, at % 3));
  const { db: before, session, lab } = await openFactsLab(modelOf(wheres, false));
  const folder = await mkdtemp(join(tmpdir(), "conditions-"));
  try {
    for (const student of STUDENTS) await before.student.create({ id: student }).orThrow();
    for (const course of COURSES) await before.course.create({ id: course }).orThrow();
    for (let at = 0; at < 30; at++) await write(before, random);
    await lab.drain(session);
    const db = modelOf(wheres, true)(lab.table).connect({ transport: lab.engine.transport });
    await db.migrations.run({ share: 100, indexLag: 0, finish: true });
    await extract(db, { into: join(folder, "lake"), memoryLimit: "256MB" });
    const lake = await openLake(join(folder, "lake"), { memoryLimit: "256MB", threads: 1 });
    try {
      const { kinds } = await validate(lake, db.catalog, { examples: 100 });
      const wrong = kinds.flatMap(({ examples }) => examples.map(({ attribute = "" }) => attribute));
      expect(wrong.filter((attribute) => !attribute.startsWith("batch"))).toEqual([]);
      await derive(db, lake);
    } finally {
      lake.close();
    }
    for (const course of COURSES) {
      const edges = (await db.course({ id: course }).in("takes").edges()).map((row) => flat(row as unknown as Where));
      const row = ((await db.course.get({ id: course })) ?? {}) as Where;
      for (const [at, where] of wheres.entries()) {
        const counted = edges.filter((one) => fulfilsAll(one, where));
        const number = counted.length;
        const total = counted.reduce((all, { grade }) => all + Number(grade ?? 0), 0);
        const names = ["transaction", "stream", "batch"];
        const expected = [
          ...names.flatMap(
            (name) =>
              [
                [`${name}${at}`, number],
                [`${name}Sum${at}`, total],
              ] as const,
          ),
          [`later${at}`, number] as const,
        ];
        const found = expected.map(([name]) => [name, row[name]]);
        expect(found, JSON.stringify(where)).toEqual(expected.map(([name, value]) => [name, value]));
      }
    }
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await lab.stop();
  }
};

const seed = testSeed();
test(`conditions of derived attributes mean the same to all that keep them, seed ${seed}`, { timeout: testTime(300_000) }, async () => {
  for (let run = 0; run < testRuns(2); run++) {
    try {
      await runHistory(seed + run);
    } catch (error) {
      throw new Error(`history ${seed + run}: ${(error as Error).message}`, { cause: error });
    }
  }
});
