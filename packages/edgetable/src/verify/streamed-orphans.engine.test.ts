import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, distinct, edge, max, node, part, summarize } from "../index.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import { verify } from "./index.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;
const cascade = { onDelete: { from: "cascade", to: "cascade" } } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{id}",
        schema: z.object({ id }),
        derived: { orders: count({ out: "ordered", ...stream }), most: max({ parts: "note", of: "n", ...stream }) },
      }),
      item: node({
        key: "ITEM#{id}",
        schema: z.object({ id }),
        derived: { users: distinct({ in: "ordered", ...stream }), reads: count({ in: "reads", ...stream }) },
      }),
    },
    parts: { note: part({ of: "user", key: "NOTE#{n:number}", schema: z.object({ n: z.number() }) }) },
    edges: {
      ordered: edge({ from: "user", to: "item", key: ["no"], schema: z.object({ no: id }), ...cascade }),
      // It leaves edges of deleted nodes.
      reads: edge({ from: "user", to: "item", stored: "twice" }),
      buys: summarize(edge({ from: "user", to: "item", ...cascade }), { orders: count({ along: "ordered" }) }),
    },
  });

test.each(["USER", "ITEM"])("one repair unlinks what lost its node (%s) and mends what the stream keeps of it", async (lost) => {
  const { db, lab, session } = await openFactsLab(modelIn);
  const options = { settle: 1, staleAfter: 1, deleteOrphans: true } as const;
  try {
    for (const one of ["a", "b"]) {
      await db.user.create({ id: one }).orThrow();
      await db.item.create({ id: one }).orThrow();
      await db.note.create({ id: one }, { n: 1 }).orThrow();
    }
    for (const from of ["a", "b"])
      for (const to of ["a", "b"]) {
        await db.ordered.link({ id: from }, { id: to }, { no: "1" }).orThrow();
        await db.reads.link({ id: from }, { id: to }).orThrow();
      }
    await db.buys.link({ id: "a" }, { id: "b" }).orThrow();
    await lab.drain(session);
    expect((await verify(db, { ...options })).kinds).toEqual([]);
    await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: { S: `${lost}#a` }, sk: { S: "#" } } });
    await lab.take();
    const { clean } = await verify(db, { ...options, repair: true });
    expect(clean).toBe(true);
    // Nobody has processed what the repair wrote.
    expect((await verify(db, { ...options })).kinds).toEqual([]);
    expect(await db.user.get({ id: "b" })).toEqual({ id: "b", orders: lost === "ITEM" ? 1 : 2, most: 1 });
    expect(await db.item.get({ id: "b" })).toEqual({ id: "b", users: lost === "USER" ? 1 : 2, reads: lost === "USER" ? 1 : 2 });
  } finally {
    await lab.stop();
  }
});

test("one repair removes a copy of an edge without direction that lies at a node that is not there", async () => {
  const { db, lab } = await openFactsLab((table) =>
    defineGraph({
      table,
      nodes: { user: node({ key: "USER#{id}", schema: z.object({ id }), derived: { friends: count({ in: "knows" }) } }) },
      edges: { knows: edge({ from: "user", to: "user", symmetric: true, ...cascade }) },
    }),
  );
  try {
    for (const one of ["a", "b"]) await db.user.create({ id: one }).orThrow();
    await db.knows.link({ id: "a" }, { id: "b" }).orThrow();
    const copy = (await lab.items()).find(({ sk }) => sk && "S" in sk && sk.S === "knows#USER#b");
    await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: { ...copy, pk: { S: "USER#x" } } });
    const { clean, kinds } = await verify(db, { settle: 1, repair: true, deleteOrphans: true });
    expect({ clean, kinds: kinds.map(({ kind, count: all, repaired }) => [kind, all, repaired]) }).toEqual({
      clean: true,
      kinds: expect.arrayContaining([
        ["oneSided", 1, 1],
        ["dangling", expect.any(Number), expect.any(Number)],
      ]) as unknown,
    });
    expect((await verify(db, { settle: 1 })).kinds).toEqual([]);
    expect(await db.user.get({ id: "b" })).toEqual({ id: "b", friends: 1 });
    expect(await lab.items()).not.toContainEqual(expect.objectContaining({ pk: { S: "USER#x" } }));
  } finally {
    await lab.stop();
  }
});
