import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, sum } from "../index.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "./index.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id }), derived: { users: count({ in: "takes" }) } }),
      dept: node({
        key: "DEPT#{id}",
        schema: z.object({ id }),
        derived: { users: sum({ in: "partOf", of: "users", ...stream }) },
      }),
    },
    edges: {
      takes: edge({ from: "user", to: "course", onDelete: { from: "cascade", to: "cascade" } }),
      partOf: edge({ from: "course", to: "dept", copies: { from: { users: { of: "users", ...stream } } } }),
    },
  });

test("one repair mends what follows from a lost edge by several steps, though all of it agreed before", async () => {
  const { db, lab, session } = await openFactsLab(modelIn);
  try {
    for (const user of ["a", "b"]) await db.user.create({ id: user }).orThrow();
    await db.course.create({ id: "c" }).orThrow();
    await db.dept.create({ id: "d" }).orThrow();
    for (const user of ["a", "b"]) await db.takes.link({ id: user }, { id: "c" }).orThrow();
    await db.partOf.link({ id: "c" }, { id: "d" }).orThrow();
    await lab.drain(session);
    expect((await verify(db, { settle: 1, staleAfter: 1 })).kinds).toEqual([]);
    expect(await db.dept.get({ id: "d" })).toEqual({ id: "d", users: 2 });
    const lost = { pk: { S: "USER#a" }, sk: { S: "takes#COURSE#c" } };
    await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: lost });
    await lab.take();
    const { clean, kinds } = await verify(db, { settle: 1, staleAfter: 1, repair: true });
    expect(clean).toBe(true);
    expect(kinds.map(({ kind, count: all, repaired }) => [kind, all, repaired])).toEqual([
      ["wrongAggregate", 1, 1],
      ["staleFact", 1, 1],
      ["staleCopy", 1, 1],
    ]);
    expect(await db.course.get({ id: "c" })).toEqual({ id: "c", users: 1 });
    expect(await db.dept.get({ id: "d" })).toEqual({ id: "d", users: 1 });
    expect((await verify(db, { settle: 1, staleAfter: 1 })).kinds).toEqual([]);
  } finally {
    await lab.stop();
  }
});

test("a job that is aborted between a repair and the second look looks again when it is resumed", async () => {
  const { db, lab, session } = await openFactsLab(modelIn);
  const folder = mkdtempSync(join(tmpdir(), "edgetable-chain-"));
  try {
    for (const user of ["a", "b"]) await db.user.create({ id: user }).orThrow();
    await db.course.create({ id: "c" }).orThrow();
    await db.dept.create({ id: "d" }).orThrow();
    for (const user of ["a", "b"]) await db.takes.link({ id: user }, { id: "c" }).orThrow();
    await db.partOf.link({ id: "c" }, { id: "d" }).orThrow();
    await lab.drain(session);
    const lost = { pk: { S: "USER#a" }, sk: { S: "takes#COURSE#c" } };
    await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: lost });
    await lab.take();
    const stopping = new AbortController();
    const { transport } = lab.engine;
    const stops: Transport = {
      ...transport,
      close: () => transport.close(),
      send: async (operation, input, options) => {
        const output = await transport.send(operation, input, options);
        if (operation.includes("Write") && JSON.stringify(input).includes("COURSE#c")) stopping.abort();
        return output;
      },
    };
    const job = { job: "v", state: join(folder, "v.state"), settle: 1, staleAfter: 1, repair: true, saveEvery: 0, segments: 4 } as const;
    const cutOff = modelIn(lab.table).connect({ transport: stops });
    await expect(verify(cutOff, { ...job, signal: stopping.signal })).rejects.toMatchObject({
      code: "execute.aborted",
    });
    expect(await db.course.get({ id: "c" })).toEqual({ id: "c", users: 1 });
    expect(await db.dept.get({ id: "d" })).toEqual({ id: "d", users: 2 });
    expect(await verify(db, job)).toMatchObject({ clean: true, resumed: true });
    expect(await db.dept.get({ id: "d" })).toEqual({ id: "d", users: 1 });
    expect((await verify(db, { settle: 1, staleAfter: 1 })).kinds).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await lab.stop();
  }
});
