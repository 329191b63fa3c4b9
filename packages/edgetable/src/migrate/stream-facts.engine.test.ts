import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node, summarize } from "../schema/definition.ts";
import { average, count, type DerivedAttributes, distinct, max, min, sum } from "../schema/derived.ts";
import { openFactsLab, sessionOn } from "../streams/facts-lab.test-support.ts";
import { verify } from "../verify/index.ts";

const key = "P#{id}";
const person = z.object({ id: z.string(), name: z.string() });
const kept = { onDelete: { from: "cascade", to: "cascade" } } as const;
const visit = z.object({ w: z.int(), k: z.string() });
const stream = { freshness: "stream" } as const;
const over = { in: "e", of: "w" } as const;

const modelIn = (table: string, derived: DerivedAttributes, rest: { readonly grown: boolean } = { grown: false }) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key, schema: person, derived }),
      team: node({
        key: "T#{id}",
        schema: z.object({ id: z.string() }),
        ...(rest.grown ? { derived: { reach: sum({ in: "m", of: "visits", ...stream }) } } : {}),
      }),
    },
    edges: {
      e: edge({ from: "person", to: "person", schema: visit, key: ["k"], ...kept }),
      f: edge({ from: "person", to: "person", ...kept }),
      m: edge({
        from: "person",
        to: "team",
        ...kept,
        ...(rest.grown ? { copies: { from: { visits: { of: "c", ...stream }, by: { of: "name", ...stream } } } } : {}),
      }),
      pair: rest.grown
        ? summarize(edge({ from: "person", to: "person", ...kept }), {
            n: count({ along: "e" }),
            w: sum({ along: "e", of: "w" }),
            top: max({ along: "e", of: "w" }),
          })
        : edge({ from: "person", to: "person", ...kept }),
    },
    ...(rest.grown ? { indexes: { byVisits: { entries: { person: "c:number" } } } } : {}),
  } as never);

// oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
type Db = { [name: string]: any } & { (...given: never): never };
const of = (db: unknown): Db => db as Db;

/** The derived attributes of the model before, and of the one after: each attribute is a case. */
const before: DerivedAttributes = {
  where: count({ in: "e", where: { w: { gte: 5 } }, ...stream }),
  of: sum({ in: "e", of: "w", ...stream }),
  over: count({ in: "e", ...stream }),
  leaves: count({ in: "e" }),
  comes: sum({ in: "e", of: "w", ...stream }),
  fromBatch: count({ in: "e", freshness: "batch" }),
  operation: count({ in: "e", ...stream }),
};
const after: DerivedAttributes = {
  c: count({ in: "e", ...stream }),
  s: sum({ ...over, ...stream }),
  low: min({ ...over, ...stream }),
  high: max({ ...over, ...stream }),
  mean: average({ ...over, ...stream }),
  neighbours: distinct({ in: "e", ...stream }),
  where: count({ in: "e", where: { w: { gte: 10 } }, ...stream }),
  of: sum({ in: "e", of: "w", where: { k: "1" }, ...stream }),
  over: count({ in: "f", ...stream }),
  leaves: count({ in: "e", ...stream }),
  comes: sum({ in: "e", of: "w" }),
  fromBatch: count({ in: "e", ...stream }),
  operation: sum({ in: "e", of: "w", ...stream }),
};

interface Visit {
  readonly from: string;
  readonly w: number;
  readonly k: string;
}

/** What the model after makes of the edges that lead to a person. */
const expected = (id: string, visits: readonly Visit[], others: number) => {
  const w = visits.map((one) => one.w);
  const total = w.reduce((a, b) => a + b, 0);
  return {
    id,
    name: `N${id}`,
    c: w.length,
    s: total,
    low: Math.min(...w),
    high: Math.max(...w),
    mean: total / w.length,
    neighbours: new Set(visits.map(({ from }) => from)).size,
    where: w.filter((one) => one >= 10).length,
    of: visits.filter(({ k }) => k === "1").reduce((sum, one) => sum + one.w, 0),
    over: others,
    leaves: w.length,
    comes: total,
    fromBatch: w.length,
    operation: total,
  };
};

const fast = { share: 100, indexLag: 0 } as const;
const opened = async () => {
  const { db, lab } = await openFactsLab((table) => modelIn(table, before));
  const old = of(db);
  const visits: Visit[] = [];
  for (let at = 0; at < 12; at++) await old["person"].create({ id: `${at}`, name: `N${at}` }).orThrow();
  await old["team"].create({ id: "t" }).orThrow();
  for (let at = 1; at < 12; at++) {
    await old["e"].link({ id: `${at}` }, { id: "0" }, { w: at, k: "1" }).orThrow();
    visits.push({ from: `${at}`, w: at, k: "1" });
    if (at < 4) await old["f"].link({ id: `${at}` }, { id: "0" }).orThrow();
  }
  await old["m"].link({ id: "0" }, { id: "t" }).orThrow();
  await old["pair"].link({ id: "1" }, { id: "0" }).orThrow();
  // The processor of the model before has read all that was written so far.
  await lab.drain(sessionOn(old["catalog"], lab.engine.transport));
  const next = of(modelIn(lab.table, after, { grown: true }).connect({ transport: lab.engine.transport }));
  const check = async (others = 3) => {
    const row = expected("0", visits, others);
    expect(await next["person"].get({ id: "0" })).toEqual(row);
    expect(await next["person"].get({ id: "11" })).toMatchObject({ c: 0, s: 0, neighbours: 0, where: 0, over: 0, leaves: 0, comes: 0 });
    expect(await next["m"].get({ id: "0" }, { id: "t" })).toMatchObject({ visits: row.c, by: "N0" });
    expect(await next["team"].get({ id: "t" })).toEqual({ id: "t", reach: row.c });
    const [own, w] = [visits.filter(({ from }) => from === "1"), (one: Visit) => one.w];
    expect(await next["pair"].get({ id: "1" }, { id: "0" })).toMatchObject({
      n: own.length,
      w: own.map(w).reduce((a, b) => a + b, 0),
      top: Math.max(...own.map(w)),
    });
    expect(
      (
        await next["find"]("person")
          .where({ c: { gte: 1 } })
          .rows()
      ).map(({ id }: { id: string }) => id),
    ).toEqual(["0"]);
    expect(
      (await verify(next as object, { settle: 1, staleAfter: 1 })).kinds.map(({ kind, examples }) => [kind, examples[0]?.reason]),
    ).toEqual([]);
  };
  return { lab, old, next, visits, check, session: sessionOn(next["catalog"], lab.engine.transport) };
};

test("attributes that the stream keeps are computed for existing rows, and what follows adds to them", async () => {
  const { lab, next, visits, check, session } = await opened();
  const plan = await next["migrations"].plan();
  expect(plan.steps[0]).toMatchObject({
    kind: "derive",
    streamed: expect.arrayContaining(["person.c", "team.reach", "pair.n", "m.visits"]),
  });
  expect((await next["migrations"].run({ ...fast, dryRun: true })).changed).toBeGreaterThan(0);
  expect(await next["migrations"].run(fast)).toMatchObject({ complete: false });
  expect(await next["migrations"].run({ ...fast, finish: true })).toMatchObject({ complete: true });
  await check();
  await next["e"].link({ id: "1" }, { id: "0" }, { w: 1000, k: "2" }).orThrow();
  visits.push({ from: "1", w: 1000, k: "2" });
  await lab.drain(session);
  await check();
  await lab.stop();
});

test("beside a processor and writers of both models, until the older ones have ended", async () => {
  const { lab, old, next, visits, check, session } = await opened();
  await next["migrations"].run(fast);
  await old["e"].link({ id: "2" }, { id: "0" }, { w: 50, k: "2" }).orThrow();
  visits.push({ from: "2", w: 50, k: "2" });
  await old["e"].unlink({ id: "3" }, { id: "0" }, { key: { k: "1" } }).orThrow();
  visits.splice(
    visits.findIndex(({ from }) => from === "3"),
    1,
  );
  await lab.drain(sessionOn(old["catalog"], lab.engine.transport));
  const work = { isOver: false };
  const process = async (): Promise<void> => {
    while (!work.isOver) {
      await lab.drain(session);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const write = async (): Promise<void> => {
    for (let at = 4; at < 12; at++) {
      await next["e"].link({ id: `${at}` }, { id: "0" }, { w: 100 + at, k: "3" }).orThrow();
      visits.push({ from: `${at}`, w: 100 + at, k: "3" });
    }
  };
  const processing = process();
  const [report] = await Promise.all([next["migrations"].run({ ...fast, finish: true }), write()]);
  work.isOver = true;
  await processing;
  await lab.drain(session);
  expect(report).toMatchObject({ complete: true });
  await check();
  await lab.stop();
});

test("what was counted of other rows before is not taken off", async () => {
  const { lab } = await opened();
  const next = of(modelIn(lab.table, { over: count({ in: "f", ...stream }) }).connect({ transport: lab.engine.transport }));
  expect(await next["migrations"].run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await next["person"].get({ id: "0" })).toMatchObject({ over: 3 });
  await lab.stop();
});

test("what a batch job computes is left to it, with a note", async () => {
  const { lab, next } = await opened();
  const batch = of(
    modelIn(lab.table, { ...before, where: count({ in: "e", freshness: "batch" }) }).connect({ transport: lab.engine.transport }),
  );
  const plan = await batch["migrations"].plan();
  expect(plan.steps.map(({ kind }: { kind: string }) => kind)).toEqual(["record"]);
  expect(plan.notes).toEqual([
    expect.stringContaining('"person.where" is computed by a batch job'),
    expect.stringContaining('do not maintain "person.where" as the recorded model does'),
  ]);
  expect(next["catalog"]).toBeDefined();
  await lab.stop();
});
