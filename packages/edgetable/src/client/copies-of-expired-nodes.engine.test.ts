import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, edge, node, part } from "../index.ts";
import type { Key } from "../transport/operations.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

// A node that expires leaves its edges and parts. Created anew, it has other values for them to copy.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const [ann, evening] = [{ id: "ann" }, { id: "evening" }];

describe.each(["cascade", "restrict", "leave"] as const)("onDelete %s", (onDelete) => {
  test.each([
    ["removed", true],
    ["still there", false],
  ])("edges and parts of an expired node (%s) copy from the one that is created anew", async (_, isRemoved) => {
    let now = Date.UTC(2030, 0, 1);
    const table = engine.freshTableName("expired");
    const graph = defineGraph({
      table,
      nodes: {
        person: node({ key: "PERSON#{id}", schema: z.object({ id }) }),
        event: node({ key: "EVENT#{id}", schema: z.object({ id, name: id, until: z.int() }), ttl: "until" }),
      },
      edges: { visits: edge({ from: "person", to: "event", copies: { to: { event: "name" } }, onDelete: { to: onDelete } }) },
      parts: {
        slot: part({ of: "event", key: "SLOT#{at}", schema: z.object({ at: id }), copies: { event: "name" }, owner: "checked" }),
      },
    });
    const effects = { ...systemEffects, now: () => now };
    const db = graph.connect({ transport: engine.transport, advanced: { effects } });
    await db.table.create();
    const seconds = now / 1000;
    await db.person.create(ann).orThrow();
    await db.event.create({ ...evening, name: "old", until: seconds + 10 }).orThrow();
    await db.visits.link(ann, evening).orThrow();
    await db.slot.create(evening, { at: "8" }).orThrow();
    now += 60_000;
    if (isRemoved) {
      const [get] = (await db.event.get(evening).explain()).requests;
      const { Key } = get!.input as { readonly Key: Key };
      await engine.transport.send("DeleteItem", { TableName: table, Key }, {});
    }
    await db.event.create({ ...evening, name: "new", until: seconds + 1000 }).orThrow();
    expect(await db.visits.get(ann, evening, { consistent: true })).toMatchObject({ event: "new" });
    expect(await db.event(evening).parts("slot").all()).toMatchObject([{ at: "8", event: "new" }]);
  });
});
