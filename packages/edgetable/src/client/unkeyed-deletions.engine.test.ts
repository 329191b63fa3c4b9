import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";

// Where an edge's key names its source alone, the item that a deletion has found may lead to another target by now.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const [old, next] = [{ id: "old" }, { id: "next" }];
const TICKETS = 120;
const tickets = Array.from({ length: TICKETS }, (_, at) => ({ id: `t${at}` }));

const modelIn = (table: string, counts: boolean) =>
  defineGraph({
    table,
    nodes: {
      ticket: node({ key: "TICKET#{id}", schema: z.object({ id }) }),
      person: node({ key: "PERSON#{id}", schema: z.object({ id }), ...(counts && { derived: { tickets: count({ in: "assigned" }) } }) }),
    },
    edges: {
      assigned: edge({ from: "ticket", to: "person", multiplicity: "many-to-one", onDelete: { from: "cascade", to: "cascade" } }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { ticket: { keys: { SK: "ticket" } }, person: { keys: { SK: "person" } } },
      edges: { assigned: { keys: { SK: "ASSIGNED", GSI1PK: "{to}", GSI1SK: "{from}" } } },
    },
  });

describe.each([
  ["plain", false],
  ["counted", true],
])("%s edges", (_, counts) => {
  test("an edge that was led elsewhere after it was found stays", { timeout: 60_000 }, async () => {
    const table = engine.freshTableName("unkeyed");
    const db = modelIn(table, counts).connect({ transport: engine.transport });
    await db.table.create();
    await db.load([
      ...[old, next].map((row) => ({ node: "person" as const, row })),
      ...tickets.map((row) => ({ node: "ticket" as const, row })),
      ...tickets.map((from) => ({ edge: "assigned" as const, from, to: old, attributes: {} })),
    ]);
    const [moved] = tickets;
    let hasMoved = false;
    const transport: Transport = {
      ...engine.transport,
      send: async (operation, input, options) => {
        const removes = operation === "BatchWriteItem" || operation === "TransactWriteItems";
        if (!hasMoved && removes && JSON.stringify(input).includes("ASSIGNED")) {
          hasMoved = true;
          expect(await db.assigned.put(moved!, next, {})).toMatchObject({ ok: true });
        }
        return engine.transport.send(operation, input, options);
      },
      close: () => undefined,
    };
    const late = modelIn(table, counts).connect({ transport });
    expect(await late.person.delete(old, { indexLag: 0 })).toMatchObject({ ok: true });
    expect(hasMoved).toBe(true);
    expect((await db.person(next).in("assigned").edges()).map(({ from }) => from)).toEqual([moved]);
    expect(await db.ticket(moved!).out("assigned").count()).toBe(1);
    if (counts) expect(await db.person.get(next)).toMatchObject({ tickets: 1 });
    expect(await db.ticket(tickets[1]!).out("assigned").count()).toBe(0);
    expect(await db.jobs.list()).toEqual([]);
  });
});
