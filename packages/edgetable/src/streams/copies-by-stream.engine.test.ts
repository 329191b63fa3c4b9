import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, max, node, part, sum } from "../index.ts";
import { openFactsLab } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";

const id = z.string();
const amount = z.number().optional();

/** Invoices on bills on payers, each number by way of a copy; friends both ways; documents in folders by reference. */
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      invoice: node({
        key: "INVOICE#{id}",
        schema: z.object({ id }),
        derived: { total: sum({ parts: "line", of: "amount", freshness: "stream" }) },
      }),
      payer: node({
        key: "PAYER#{id}",
        schema: z.object({ id, name: z.string().optional() }),
        derived: {
          owed: sum({ in: "billed", of: "total", freshness: "stream" }),
          largest: max({ in: "billed", of: "total" }),
          friends: count({ in: "knows", freshness: "stream" }),
        },
      }),
      folder: node({
        key: "FOLDER#{folderId}",
        schema: z.object({ folderId: id }),
        derived: { docs: count({ in: "filedIn", freshness: "stream" }) },
      }),
      doc: node({ key: "DOC#{id}", schema: z.object({ id, folderId: id.optional() }) }),
    },
    edges: {
      billed: edge({
        from: "invoice",
        to: "payer",
        ends: "unchecked",
        orderBy: "total:number" as never,
        copies: { from: { total: { of: "total", freshness: "stream" } }, to: { payerName: { of: "name", freshness: "stream" } } },
      }),
      mailed: edge({ from: "invoice", to: "payer", stored: "twice", copies: { to: { payerName: { of: "name", freshness: "stream" } } } }),
      knows: edge({ from: "payer", to: "payer", symmetric: true }),
      filedIn: edge({ from: "doc", to: "folder", stored: "reference" }),
    },
    parts: {
      line: part({ of: "invoice", key: "LINE#{line}", schema: z.object({ line: id, amount }) }),
      note: part({
        of: "payer",
        key: "NOTE#{note}",
        schema: z.object({ note: id }),
        copies: { owner: { of: "name", freshness: "stream" } },
      }),
    },
  });

const open = () => openFactsLab(modelIn);
let opened: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  opened = await open();
});
afterAll(() => opened.lab.stop());
const drain = () => opened.lab.drain(opened.session, { indexLag: 0 });
const strong = { consistent: true } as const;

describe("copies by the stream", () => {
  test("follow their source onto edges of either end, both copies of an edge, and parts", async () => {
    const { db } = opened;
    const [i, p] = [{ id: "i1" }, { id: "p1" }];
    await db.invoice.create(i).orThrow();
    await db.payer.create({ ...p, name: "Ann" }).orThrow();
    await db.billed.link(i, p).orThrow();
    await db.mailed.link(i, p).orThrow();
    await db.note.create(p, { note: "1" }).orThrow();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "Ann" });
    await db.payer.update(p, { name: "Bea" }).orThrow();
    await drain();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "Bea" });
    expect(await db.mailed.get(i, p)).toMatchObject({ payerName: "Bea" });
    expect(await db.payer(p).in("mailed").edges()).toMatchObject([{ payerName: "Bea" }]);
    expect(await db.payer(p).parts("note").all()).toMatchObject([{ owner: "Bea" }]);
    await db.payer.update(p, { remove: ["name"] } as never).orThrow();
    await drain();
    expect(await db.billed.get(i, p)).not.toHaveProperty("payerName");
  });

  test("of a node that is gone stay as they were, until there is such a node again", async () => {
    const { db } = opened;
    const [i, p] = [{ id: "i9" }, { id: "p9" }];
    await db.invoice.create(i).orThrow();
    await db.payer.create({ ...p, name: "Ann" }).orThrow();
    await db.billed.link(i, p).orThrow();
    await drain();
    await db.payer.delete(p).orThrow();
    await drain();
    expect((await refreshFacts(db)).failed).toEqual([]);
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "Ann", total: 0 });
    await db.payer.create({ ...p, name: "Bea" }).orThrow();
    await drain();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "Bea" });
  });

  test("chain: lines add up on an invoice, whose total is copied onto its bill and added up at the payer", async () => {
    const { db } = opened;
    const [i, j, p] = [{ id: "i2" }, { id: "j2" }, { id: "p2" }];
    for (const one of [i, j]) await db.invoice.create(one).orThrow();
    await db.payer.create(p).orThrow();
    for (const one of [i, j]) await db.billed.link(one, p).orThrow();
    await db.line.create(i, { line: "1", amount: 0.1 }).orThrow();
    await db.line.create(i, { line: "2", amount: 0.2 }).orThrow();
    await db.line.create(j, { line: "1", amount: 5 }).orThrow();
    await drain();
    expect(await db.payer.get(p, strong)).toMatchObject({ owed: 5.3, largest: 5 });
    await db.line.delete(j, { line: "1" }).orThrow();
    await drain();
    expect(await db.payer.get(p, strong)).toMatchObject({ owed: 0.3, largest: 0.3 });
    // The order is by the copy.
    expect(await db.payer(p).in("billed").edges()).toMatchObject([{ total: 0 }, { total: 0.3 }]);
  });

  test("symmetric edges count at both ends, a loop once", async () => {
    const { db } = opened;
    const [a, b] = [{ id: "a3" }, { id: "b3" }];
    for (const one of [a, b]) await db.payer.create(one).orThrow();
    await db.knows.link(a, b).orThrow();
    await db.knows.link(a, a).orThrow();
    await drain();
    expect([(await db.payer.get(a, strong))?.friends, (await db.payer.get(b, strong))?.friends]).toEqual([2, 1]);
    await db.knows.unlink(b, a).orThrow();
    await drain();
    expect([(await db.payer.get(a, strong))?.friends, (await db.payer.get(b, strong))?.friends]).toEqual([1, 0]);
  });

  test("references count where they lead, and are moved with the node that holds them", async () => {
    const { db } = opened;
    const [f, g, d] = [{ folderId: "f4" }, { folderId: "g4" }, { id: "d4" }];
    for (const one of [f, g]) await db.folder.create(one).orThrow();
    await db.doc.create({ ...d, ...f }).orThrow();
    await drain();
    const docs = async () => [(await db.folder.get(f, strong))?.docs, (await db.folder.get(g, strong))?.docs];
    expect(await docs()).toEqual([1, 0]);
    await db.doc.update(d, g).orThrow();
    await db.doc.update(d, f).orThrow();
    await db.doc.update(d, g).orThrow();
    await drain();
    expect(await docs()).toEqual([0, 1]);
    await db.doc.delete(d).orThrow();
    await drain();
    expect(await docs()).toEqual([0, 0]);
  });

  test("a source that comes back refreshes what was left of it", async () => {
    const { db } = opened;
    const [i, p] = [{ id: "i5" }, { id: "p5" }];
    await db.invoice.create(i).orThrow();
    await db.payer.create({ ...p, name: "Old" }).orThrow();
    await db.billed.link(i, p).orThrow();
    await db.payer.delete(p).orThrow();
    await drain();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "Old" });
    await db.payer.create({ ...p, name: "New" }).orThrow();
    await drain();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "New" });
  });

  test("an edge that was linked while its source was renamed catches up by its own record", async () => {
    const { db, lab } = opened;
    const [i, p] = [{ id: "i6" }, { id: "p6" }];
    await db.invoice.create(i).orThrow();
    await db.payer.create({ ...p, name: "Old" }).orThrow();
    await drain();
    await db.payer.update(p, { name: "New" }).orThrow();
    await drain();
    await db.billed.link(i, p).orThrow();
    // As a writer of an older model links: with the name that it read before.
    const linked = (await lab.items()).find((item) => item["sk"]?.["S" as never] === "billed#PAYER#p6");
    const { "~copies": _revision, ...older } = linked ?? {};
    await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: { ...older, payerName: { S: "Old" } } });
    await drain();
    expect(await db.billed.get(i, p)).toMatchObject({ payerName: "New" });
  });
});

test("a refresh of the whole table makes up for records that nobody read, chains included", async () => {
  const { db, lab } = opened;
  const [i, j, p] = [{ id: "i7" }, { id: "j7" }, { id: "p7" }];
  for (const one of [i, j]) await db.invoice.create(one).orThrow();
  await db.payer.create({ ...p, name: "Old" }).orThrow();
  for (const one of [i, j]) await db.billed.link(one, p).orThrow();
  await db.line.create(i, { line: "1", amount: 3 }).orThrow();
  await db.line.create(j, { line: "1", amount: 4 }).orThrow();
  await drain();
  // A deletion shows in the memo alone.
  await db.line.delete(j, { line: "1" }).orThrow();
  await db.line.create(i, { line: "2", amount: 5 }).orThrow();
  await db.payer.update(p, { name: "New" }).orThrow();
  await lab.take();
  const report = await refreshFacts(db, { segments: 2 });
  expect(report.failed).toEqual([]);
  expect(report.cost.writeUnits).toBeGreaterThan(0);
  expect(await db.payer.get(p, strong)).toMatchObject({ owed: 8, largest: 8 });
  expect(await db.billed.get(i, p)).toMatchObject({ payerName: "New", total: 8 });
  await expect(refreshFacts({})).rejects.toMatchObject({ code: "plan.invalidOption" });
});
