import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";

const schema = z.object({ id: z.string(), name: z.string() });
const graph = defineGraph({
  table: "Times",
  nodes: {
    user: node({ key: "USER#{id}", schema, timestamps: true, version: true }),
    team: node({ key: "TEAM#{id}", schema, timestamps: { created: "_ct", modified: "_md", as: "seconds" } }),
    old: node({ key: "OLD#{id}", schema, timestamps: { created: false, as: "date", optional: true } }),
    plain: node({ key: "PLAIN#{id}", schema, timestamps: false, version: false }),
  },
  parts: { post: part({ of: "user", key: "POST#{n:4}", schema: z.object({ n: z.int() }), timestamps: true }) },
  edges: {
    follows: edge({ from: "user", to: "user", timestamps: true, orderBy: "created" }),
    joined: edge({
      from: "user",
      to: "team",
      schema: z.object({ role: z.string() }),
      timestamps: { as: "milliseconds" },
      version: true,
      orderBy: "modified:number",
    }),
  },
  indexes: { recent: { entries: { user: { by: ["modified"] }, team: "_md:number", follows: "created" } } },
});
const db = graph.connect({ endpoint: "http://127.0.0.1:1" });

test("times and the version are attributes of the row", async () => {
  const user = (await db.user.get({ id: "1" }))!;
  expectTypeOf(user).toEqualTypeOf<{ id: string; name: string; version: number; created: string; modified: string }>();
  const team = (await db.team.get({ id: "1" }))!;
  expectTypeOf(team).toEqualTypeOf<{ id: string; name: string; _ct: number; _md: number }>();
  const old = (await db.old.get({ id: "1" }))!;
  expectTypeOf(old).toEqualTypeOf<{ id: string; name: string; modified: Date | undefined }>();
  const plain = (await db.plain.get({ id: "1" }))!;
  expectTypeOf(plain).toEqualTypeOf<{ id: string; name: string }>();
  const post = (await db.post.get({ id: "1" }, { n: 1 }))!;
  expectTypeOf(post.created).toEqualTypeOf<string>();
  const joined = (await db.joined.get({ id: "1" }, { id: "2" }))!;
  expectTypeOf(joined.modified).toEqualTypeOf<number>();
  expectTypeOf(joined.version).toEqualTypeOf<number>();
  const selected = await db.user.get({ id: "1" }, { select: ["created"] });
  expectTypeOf(selected!.created).toEqualTypeOf<string>();
});

test("times are filtered, ordered by and found by", () => {
  void db.find("user").where({ modified: { gte: "2026" } }).rows();
  void db.user({ id: "1" }).out("joined").where({ created: { lt: 5 } }).edges();
  void db.user.update({ id: "1" }, { name: "x" }, { if: { modified: "2026", version: 3 } });
  // @ts-expect-error -- a number is compared with a number
  void db.find("team").where({ _md: "2026" });
  // @ts-expect-error -- the edge keeps no times
  edge({ from: "user", to: "user", orderBy: "created" });
  const byNumber = edge({ from: "user", to: "user", timestamps: { as: "seconds" }, orderBy: "created" });
  const user = node({ key: "USER#{id}", schema });
  // @ts-expect-error orderBy names "created", which is not text: add its format, such as "created:number"
  void (() => defineGraph({ table: "Times", nodes: { user }, edges: { byNumber } }));
});

test("times and versions cannot be set", () => {
  // @ts-expect-error -- Edgetable keeps it
  void db.user.create({ id: "1", name: "a", created: "2026" });
  // @ts-expect-error -- Edgetable keeps it
  void db.user.update({ id: "1" }, { modified: "2026" });
  // @ts-expect-error -- Edgetable keeps it
  void db.user.update({ id: "1" }, { version: 3 });
  // @ts-expect-error -- Edgetable keeps it
  void db.joined.link({ id: "1" }, { id: "2" }, { role: "r", created: 1 });
  // @ts-expect-error -- Edgetable keeps it
  void db.joined.relink({ id: "1" }, { id: "2" }, { modified: 1 });
});
