import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";

const text = z.string();
const graph = defineGraph({
  table: "Shop",
  nodes: {
    user: node({ key: "TENANT#{tenantId}#USER#{userId}", schema: z.object({ tenantId: text, userId: text, name: text, age: z.int().default(1) }), unique: ["name"] }),
    team: node({ key: "TENANT#{tenantId}#TEAM#{teamId}", schema: z.object({ tenantId: text, teamId: text, name: text }) }),
  },
  edges: { joins: edge({ from: "user", to: "team", orderBy: "at", schema: z.object({ at: text }) }) },
  parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: text }) }) },
  indexes: { byName: { entries: { team: ["tenantId", "name"] } } },
});
const db = graph.connect();
const acme = db.as({ tenantId: "acme" });

describe("a tenant's connection", () => {
  test("asks for ids, rows and ends without the tenant, and gives rows with it", () => {
    expectTypeOf(acme.user).parameter(0).toEqualTypeOf<Omit<{ readonly tenantId: string; readonly userId: string }, "tenantId">>();
    expectTypeOf(acme.user.get({ userId: "1" })).resolves.toEqualTypeOf<{ tenantId: string; userId: string; name: string; age: number } | undefined>();
    void (() => acme.user.create({ userId: "1", name: "Ann" }));
    void (() => acme.user.update({ userId: "1" }, { name: "Eve" }, { if: { name: "Ann" } }));
    void (() => acme.joins.link({ userId: "1" }, { teamId: "2" }, { at: "2026" }));
    void (() => acme.note.create({ teamId: "2" }, { n: "1" }));
    void (() => acme.load([{ node: "user", row: { userId: "1", name: "Ann" } }, { edge: "joins", from: { userId: "1" }, to: { teamId: "2" }, attributes: { at: "1" } }]));
    expectTypeOf(acme.user({ userId: "1" }).out("joins").nodes()).resolves.toEqualTypeOf<readonly { tenantId: string; teamId: string; name: string }[]>();
    expectTypeOf(acme.user.by({ name: "Ann" })).resolves.toEqualTypeOf<{ tenantId: string; userId: string; name: string; age: number } | undefined>();
    expectTypeOf(acme.find("team").where({ name: "Red" }).rows()).resolves.toEqualTypeOf<readonly { tenantId: string; teamId: string; name: string }[]>();
    void (() => acme.user({ userId: "1" }).walk().out("joins").in("joins").nodes());
  });
  test("refuses a tenant, and the id of another tenant's item", () => {
    // @ts-expect-error -- the connection fills the tenant in
    void (() => acme.user({ tenantId: "other", userId: "1" }));
    // @ts-expect-error -- as above
    void (() => acme.user.create({ tenantId: "other", userId: "1", name: "Ann" }));
    // @ts-expect-error -- as above
    void (() => acme.joins.link({ userId: "1" }, { tenantId: "other", teamId: "2" }, { at: "2026" }));
    // @ts-expect-error -- still asks for the rest of the id
    void (() => acme.user({}));
  });
  test("has no call for the whole table", () => {
    expectTypeOf(acme).not.toHaveProperty("scan");
    expectTypeOf(acme).not.toHaveProperty("table");
    expectTypeOf(acme).not.toHaveProperty("migrations");
    expectTypeOf(acme).not.toHaveProperty("as");
  });
  test("is made of id fields and values of their types", () => {
    // @ts-expect-error -- no node's id has the field
    void (() => db.as({ tenant: "acme" }));
    // @ts-expect-error -- the id's field is text
    void (() => db.as({ tenantId: 5 }));
  });
});
