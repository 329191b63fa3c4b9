import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

const nodes = {
  branch: node({ key: "BRANCH#{branchId}", schema: z.object({ branchId: z.string() }) }),
  reader: node({ key: "READER#{readerId}", schema: z.object({ readerId: z.string() }) }),
};
const edges = {
  lends: edge({
    from: "branch",
    to: "reader",
    stored: "twice",
    schema: z.object({ most: z.int().optional(), label: z.string().optional(), both: z.string() }),
    sides: { from: ["most", "both"], to: ["label", "both"] },
  }),
};
const [branch, reader] = [{ branchId: "b" }, { readerId: "r" }];

let engine: TestEngine;
const open = async () => {
  const db = defineGraph({ table: engine.freshTableName("sides"), nodes, edges }).connect({ transport: engine.transport });
  await db.table.create();
  await db.transact([db.branch.create(branch), db.reader.create(reader)]);
  await db.lends.link(branch, reader, { most: 3, label: "good", both: "x" }).orThrow();
  return db;
};
let db: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  db = await open();
});
afterAll(() => engine.close());

test("each end has the attributes of its side, and can be asked by those", async () => {
  expect(await db.branch(branch).out("lends").where({ most: 3, both: "x" }).edges()).toEqual([
    { from: branch, to: reader, most: 3, both: "x" },
  ]);
  expect(await db.reader(reader).in("lends").where({ label: "good", both: "x" }).edges()).toEqual([
    { from: branch, to: reader, label: "good", both: "x" },
  ]);
});

test("edges to a few known nodes are compared by the copy that has the attributes", async () => {
  const back = (where: { readonly label?: string; readonly both?: string }) =>
    db.branch(branch).out("lends").in("lends").where(where).among([branch]).groupCount();
  expect((await back({ label: "good" })).items).toEqual([{ id: branch, count: 1 }]);
  expect((await back({ label: "bad" })).items).toEqual([]);
  // What the source's copy has too is read by its key.
  expect((await back({ both: "x" }).report()).requests.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
});

test("an attribute that is on the other side alone is refused: it looked as if no edge had it", async () => {
  const refused = (path: string) => expect.objectContaining({ code: "plan.unsupported", details: { edge: "lends", path } }) as Error;
  const [out, back] = [db.branch(branch).out("lends"), db.reader(reader).in("lends")];
  const asked = async (ask: () => PromiseLike<unknown>): Promise<unknown> => ask();
  await expect(asked(() => out.where({ label: "good" }).edges())).rejects.toThrow(
    '"label" of "lends" is only in the copy at the edge\'s target, and this read uses the copy at "branch". Name it in sides.from, or ask from the other end.',
  );
  await expect(asked(() => out.where({ label: { exists: false } }).count())).rejects.toThrow(refused("label"));
  await expect(asked(() => out.where({ label: { in: ["good"] } }).nodes())).rejects.toThrow(refused("label"));
  await expect(asked(() => out.select("label").edges())).rejects.toThrow(refused("label"));
  await expect(asked(() => back.where({ most: 3 }).first())).rejects.toThrow(refused("most"));
  await expect(asked(() => db.lends.getMany(branch, [reader], { where: { label: "good" } }))).rejects.toThrow(refused("label"));
  await expect(asked(() => out.in("lends").where({ most: 3 }).ids())).rejects.toThrow(refused("most"));
  await expect(asked(() => out.walk().sum("label" as never))).rejects.toThrow(refused("label"));
});

test("so in the condition of a write, which is asked of the source's copy", async () => {
  const refused = { code: "plan.unsupported", details: { edge: "lends", path: "label" } };
  await expect(db.lends.relink(branch, reader, { both: "y" }, { if: { label: "good" } })).rejects.toMatchObject(refused);
  await expect(db.lends.unlink(branch, reader, { if: { label: { exists: true } } })).rejects.toMatchObject(refused);
  expect(await db.lends.relink(branch, reader, { label: "better" }, { if: { most: 3 } })).toMatchObject({ ok: true });
  expect(await db.reader(reader).in("lends").edges()).toMatchObject([{ label: "better" }]);
});
