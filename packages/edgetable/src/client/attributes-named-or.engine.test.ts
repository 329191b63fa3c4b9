import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

test("attributes named or and not are compared in brackets, also within groups", async () => {
  const schema = z.object({ id: z.string(), or: z.number(), not: z.string().optional() });
  const graph = defineGraph({
    table: engine.freshTableName("ornot"),
    nodes: { gate: node({ key: "GATE#{id}", schema }) },
    edges: {
      feeds: edge({ from: "gate", to: "gate", ends: "unchecked", schema: z.object({ or: z.number(), not: z.string().optional() }) }),
    },
    indexes: { byId: { entries: { gate: "id" } } },
  });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  await db.table.create();
  await db.gate.put({ id: "1", or: 1, not: "x" });
  await db.gate.put({ id: "2", or: 2 });
  await db.feeds.link({ id: "1" }, { id: "2" }, { or: 5, not: "y" }).orThrow();
  await db.feeds.link({ id: "1" }, { id: "3" }, { or: 6 }).orThrow();
  const feeds = () => db.gate({ id: "1" }).out("feeds");
  expect(await feeds().where({ '["or"]': 5 }).edges()).toMatchObject([{ to: { id: "2" } }]);
  expect(
    await feeds()
      .where({ or: [{ '["or"]': { lt: 6 } }, { '["not"]': { exists: false } }] })
      .count(),
  ).toBe(2);
  expect(
    await feeds()
      .where({ not: { '["not"]': "y" } })
      .edges(),
  ).toMatchObject([{ to: { id: "3" } }]);
  expect(
    await db
      .find("gate")
      .where({ id: { gte: "1" }, '["or"]': { gte: 2 } })
      .rows(),
  ).toEqual([{ id: "2", or: 2 }]);
  expect([...(await feeds().walk().whereNode({ '["or"]': 2 }).ids())]).toEqual([{ id: "2" }]);
  expect(await db.gate.update({ id: "1" }, { or: 9 }, { if: { '["or"]': 2 } })).toMatchObject({ ok: false, reason: "conditionFailed" });
  expect(await db.gate.update({ id: "1" }, { or: 9 }, { if: { '["or"]': 1 } })).toMatchObject({ ok: true });
  // @ts-expect-error the attribute is a number
  await expect(async () => feeds().where({ or: 5 }).count()).rejects.toThrow(`An attribute named "or" is compared as '["or"]'.`);
});
