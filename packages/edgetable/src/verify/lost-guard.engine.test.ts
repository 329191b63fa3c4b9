import { expect, test } from "vitest";
import { z } from "zod";
import { openEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";
import { verify, type VerifyOptions } from "./index.ts";
import { contentOf } from "./lab.test-support.ts";

const id = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;

const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: { course: node({ key: "COURSE#{id}", schema: z.object({ id }) }), dept: node({ key: "DEPT#{id}", schema: z.object({ id }) }) },
    edges: {
      partOf: edge({ from: "course", to: "dept", multiplicity: "many-to-one", onDelete: cascade }),
      leads: edge({ from: "dept", to: "course", multiplicity: "one-to-one", stored: "twice", onDelete: cascade }),
      near: edge({ from: "dept", to: "dept", symmetric: true, maxDegree: { from: 3, to: 3 }, onDelete: cascade }),
    },
  });

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, ...options });
  return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]])) };
};

test("edges without their node are unlinked in one run, also if the guards that count them are gone", async () => {
  const engine = await openEngine();
  const table = engine.freshTableName("guards");
  const db = graphIn(table).connect({ transport: engine.transport });
  await db.table.create();
  try {
    for (const course of ["a", "b"]) await db.course.create({ id: course }).orThrow();
    for (const dept of ["d", "e"]) await db.dept.create({ id: dept }).orThrow();
    const before = await contentOf(engine.transport, table);
    for (const lost of ["COURSE#a", "DEPT#d"]) {
      await db.partOf.link({ id: "a" }, { id: "d" }).orThrow();
      await db.leads.link({ id: "d" }, { id: "a" }).orThrow();
      await db.near.link({ id: "d" }, { id: "e" }).orThrow();
      for (const item of (await contentOf(engine.transport, table)).values()) {
        const [pk, sk] = [JSON.stringify(item["pk"]), JSON.stringify(item["sk"])];
        if (!pk.includes(`"${lost}"`) || !(sk.includes('"#"') || sk.includes('"~degree#'))) continue;
        await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: item["pk"]!, sk: item["sk"]! } });
      }
      expect((await verified(db)).clean).toBe(false);
      const { found, clean } = await verified(db, { repair: true, deleteOrphans: true });
      expect(clean).toBe(true);
      expect(found["dangling"]?.[1]).toBe(found["dangling"]?.[0]);
      const left = await verified(db);
      expect(left.clean).toBe(true);
      expect(left.found["dangling"]).toBeUndefined();
      const after = await contentOf(engine.transport, table);
      expect([...after.keys()].filter((key) => key.includes(lost))).toEqual([]);
      if (lost.startsWith("COURSE")) {
        await db.course.create({ id: "a" }).orThrow();
        await db.near.unlink({ id: "d" }, { id: "e" }).orThrow();
        await verified(db, { repair: true });
      }
    }
    expect((await contentOf(engine.transport, table)).size).toBeLessThanOrEqual(before.size + 3);
  } finally {
    await engine.close();
  }
});
