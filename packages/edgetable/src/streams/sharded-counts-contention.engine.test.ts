import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { serviceError } from "../transport/transport-error.ts";
import type { Item, TransactWriteItem, TransactWriteItemsInput } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";
import { openFactsLab, sessionOn } from "./facts-lab.test-support.ts";
import { rollUpCounters } from "./index.ts";

const id = z.string();
const modelIn =
  (shards: number | undefined, indexes: { readonly byLikes?: { readonly entries: { readonly post: "likes:number" } } } = {}) =>
  (table: string) =>
    defineGraph({
      table,
      nodes: {
        person: node({ key: "PERSON#{id}", schema: z.strictObject({ id }) }),
        post: node({
          key: "POST#{id}",
          schema: z.strictObject({ id }),
          derived: { likes: count({ in: "likes", ...(shards && { shards }) }) },
        }),
      },
      edges: { likes: edge({ from: "person", to: "post", onDelete: { from: "cascade", to: "cascade" } }) },
      indexes,
    });

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const keyOf = (item: TransactWriteItem): string => {
  const [step] = Object.values(item) as readonly { readonly Item?: Item; readonly Key?: Item }[];
  const { pk, sk } = step?.Item ?? step?.Key ?? {};
  return JSON.stringify([pk, sk]);
};

const AT_ONCE = 32;

/**
 * Refuses a transaction while another one holds one of its items, as DynamoDB does and no local engine: "an item within a
 * TransactWriteItems request is part of another ongoing TransactWriteItems request", whether it is written or checked
 * (transaction-apis, conflict handling). The first transactions are under way together: none ends before all have begun.
 */
const conflicting = (inner: Transport) => {
  const held = new Set<string>();
  const seen = { conflicts: 0 };
  let begun = 0;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  const transport: Transport = {
    send: async (operation, input, options) => {
      if (operation !== "TransactWriteItems" || begun >= AT_ONCE) return inner.send(operation, input, options);
      if (++begun === AT_ONCE) open();
      const keys = (input as TransactWriteItemsInput).TransactItems.map(keyOf);
      if (keys.some((key) => held.has(key))) {
        seen.conflicts++;
        const reasons = keys.map((key) => ({ Code: held.has(key) ? "TransactionConflict" : "None" }));
        const fault = { name: "TransactionCanceledException", message: "Transaction cancelled", status: 400, reasons };
        throw serviceError(fault, { operation, input });
      }
      for (const key of keys) held.add(key);
      await all;
      return inner.send(operation, input, options);
    },
    close: async () => undefined,
  };
  return { transport, seen };
};

const contend = async (shards: number | undefined) => {
  const table = engine.freshTableName("hot");
  const graph = modelIn(shards)(table);
  const quiet = graph.connect({ transport: engine.transport });
  await quiet.table.create();
  const people = Array.from({ length: AT_ONCE * 2 }, (_, at) => ({ id: `p${at}` }));
  await quiet.load([{ node: "post", row: { id: "hot" } }, ...people.map((row) => ({ node: "person", row }) as const)]);
  // The first edge of a counter makes it, with a check of the node: links that come later are measured.
  for (const one of people) {
    await quiet.likes.link(one, { id: "hot" }).orThrow();
    await quiet.likes.unlink(one, { id: "hot" }).orThrow();
  }
  const { transport, seen } = conflicting(engine.transport);
  const [one, two] = [graph.connect({ transport }), graph.connect({ transport })];
  // A conflict that has begun ends only with the last of the links, so those that were refused come again and all succeed.
  await Promise.all(
    people.slice(0, AT_ONCE).map((from, at) => (at % 2 ? one : two).likes.link(from, { id: "hot" }).orThrow({ deadline: 60_000 })),
  );
  if (shards) expect(await rollUpCounters(one, "post", { id: "hot" })).toEqual({ likes: AT_ONCE });
  expect(await one.post.get({ id: "hot" })).toEqual({ id: "hot", likes: AT_ONCE });
  expect(await verify(one, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  return seen.conflicts;
};

test("of many links to one node at once, one alone passes its item, and as many as there are counters pass these", async () => {
  expect(await contend(undefined)).toBe(AT_ONCE - 1);
  expect(await contend(16)).toBeLessThanOrEqual(AT_ONCE - 10);
});

test("the stream rolls counters up, after many changes of a batch once", async () => {
  const { db, lab } = await openFactsLab(modelIn(4, { byLikes: { entries: { post: "likes:number" } } }));
  try {
    const session = sessionOn(db.catalog, lab.engine.transport);
    const people = Array.from({ length: 10 }, (_, at) => ({ id: `p${at}` }));
    await db.post.create({ id: "hot" }).orThrow();
    await Promise.all(people.map((one) => db.person.create(one).orThrow()));
    await lab.drain(session);
    await Promise.all(people.map((one) => db.likes.link(one, { id: "hot" }).orThrow({ deadline: 60_000 })));
    let writes = 0;
    const { transport } = lab.engine;
    const counting: Transport = {
      ...transport,
      send: async (operation, input, options) => {
        if (operation === "UpdateItem") writes++;
        return transport.send(operation, input, options);
      },
    };
    await lab.drain(sessionOn(db.catalog, counting));
    expect(await db.post.get({ id: "hot" })).toEqual({ id: "hot", likes: 10 });
    expect((await db.find("post").where({ likes: 10 }).rows()).map((one) => one.id)).toEqual(["hot"]);
    expect(writes).toBe(1);
    await db.post.delete({ id: "hot" }).orThrow();
    await db.post.create({ id: "hot" }).orThrow();
    await db.likes.link(people[0]!, { id: "hot" }).orThrow();
    await lab.drain(session);
    expect(await db.post.get({ id: "hot" })).toEqual({ id: "hot", likes: 1 });
  } finally {
    await lab.stop();
  }
});
