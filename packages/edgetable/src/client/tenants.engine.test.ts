import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "TENANT#{tenantId}#USER#{userId}",
        schema: z.object({ tenantId: text, userId: text, name: text }),
        unique: ["name"],
      }),
      team: node({ key: "TENANT#{tenantId}#TEAM#{teamId}", schema: z.object({ tenantId: text, teamId: text, name: text }) }),
      country: node({ key: "COUNTRY#{code}", schema: z.object({ code: text }) }),
    },
    edges: { joins: edge({ from: "user", to: "team", orderBy: "at", schema: z.object({ at: text }) }) },
    parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: text, text: text.optional() }) }) },
    indexes: {
      byName: { entries: { team: { by: ["tenantId", "name"], split: 1 } } },
      everywhere: { entries: { user: "name" } },
    },
  });

const openTenants = async (name: string) => {
  const sent: { readonly operation: string; readonly input: unknown }[] = [];
  const graph = graphOf(engine.freshTableName(name));
  const db = graph.connect({ transport: engine.transport, onRequest: ({ operation, input }) => sent.push({ operation, input }) });
  await db.table.create();
  return { db, sent, acme: db.as({ tenantId: "acme" }), other: db.as({ tenantId: "acmes" }) };
};

test("a tenant's connection fills its id fields in: the same requests and rows as with them", async () => {
  const { db, sent, acme } = await openTenants("fills");
  await acme.user.create({ userId: "ann", name: "Ann" }).orThrow();
  await acme.team.put({ teamId: "red", name: "Red" }).orThrow();
  await acme.joins.link({ userId: "ann" }, { teamId: "red" }, { at: "2026" }).orThrow();
  await acme.note.create({ teamId: "red" }, { n: "1" }).orThrow();
  expect(await db.user({ tenantId: "acme", userId: "ann" }).get()).toEqual({ tenantId: "acme", userId: "ann", name: "Ann" });
  sent.length = 0;
  const page = await acme.user({ userId: "ann" }).out("joins").page({ limit: 5 });
  const mine = sent.splice(0);
  const whole = await db.user({ tenantId: "acme", userId: "ann" }).out("joins").page({ limit: 5 });
  expect(sent.splice(0).at(-1)).toEqual(mine.at(-1));
  expect(page).toEqual(whole);
  expect(page.items).toEqual([{ from: { tenantId: "acme", userId: "ann" }, to: { tenantId: "acme", teamId: "red" }, at: "2026" }]);
  expect(await acme.find("team").where({ name: "Red" }).rows()).toEqual([{ tenantId: "acme", teamId: "red", name: "Red" }]);
  expect(await acme.team({ teamId: "red" }).in("joins").nodes()).toMatchObject([{ name: "Ann" }]);
  expect(await acme.team({ teamId: "red" }).parts("note").all()).toMatchObject([{ n: "1" }]);
});

test("no call names another tenant's item", async () => {
  const { db, sent, acme, other } = await openTenants("names");
  await other.user.create({ userId: "ann", name: "Other" }).orThrow();
  sent.length = 0;
  const foreign = { tenantId: "acmes", userId: "ann" };
  const refused = expect.objectContaining({ code: "request.otherTenant" });
  expect(() => acme.user(foreign)).toThrow(refused);
  expect(() => acme.joins.link(foreign, { teamId: "red" }, { at: "1" })).toThrow(refused);
  expect(await acme.user.get({ userId: "ann" })).toBeUndefined();
  expect(sent).toHaveLength(1);
  expect(db).toBeDefined();
});
