import { describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, distinct, edge, max, node, sum, summarize } from "../index.ts";
import type { Item } from "../transport/operations.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";

const id = z.string();
const anyEnds = { onDelete: { from: "cascade", to: "cascade" } } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      customer: node({
        key: "CUSTOMER#{id}",
        schema: z.object({ id }),
        derived: { spent: sum({ out: "buys", of: "spent", freshness: "stream" }) },
      }),
      product: node({ key: "PRODUCT#{id}", schema: z.object({ id }) }),
    },
    edges: {
      ordered: edge({
        from: "customer",
        to: "product",
        schema: z.object({ order: z.string(), amount: z.number(), at: z.date().optional(), shop: z.string().optional() }),
        key: ["order"],
        dates: ["at"],
        ...anyEnds,
      }),
      buys: summarize(
        edge({ from: "customer", to: "product", schema: z.object({ note: z.string().optional() }), version: true, ...anyEnds }),
        {
          orders: count({ along: "ordered" }),
          large: count({ along: "ordered", where: { amount: { gte: 10 } } }),
          spent: sum({ along: "ordered", of: "amount" }),
          last: max<Date>({ along: "ordered", of: "at" }),
        },
        { orderBy: "spent:number" },
      ),
      buysIn: summarize(
        edge({ from: "customer", to: "product", schema: z.object({ shop: z.string() }), key: ["shop"], stored: "twice", ...anyEnds }),
        { orders: count({ along: "ordered" }) },
      ),
      wrote: edge({ from: "customer", to: "customer", schema: z.object({ n: z.string(), topic: z.string() }), key: ["n"], ...anyEnds }),
      follows: summarize(edge({ from: "customer", to: "customer", stored: "twice", ...anyEnds }), {
        sent: count({ along: "wrote" }),
        received: count({ against: "wrote" }),
        both: count({ between: "wrote" }),
        later: count({ between: "wrote", freshness: "batch" }),
      }),
      knows: summarize(edge({ from: "customer", to: "customer", symmetric: true, ...anyEnds }), {
        letters: count({ between: "wrote" }),
        topics: distinct({ between: "wrote", of: "topic" }),
        later: distinct({ between: "wrote", of: "topic", freshness: "batch" }),
      }),
    },
    indexes: { byLarge: { entries: { buys: "large:number" } } },
  });

const { opened, drain } = factsLabOfFile(modelIn);

let round = 0;
const scene = async () => {
  round++;
  const { db } = opened();
  const [ann, bob, tea, jam] = [`ann${round}`, `bob${round}`, `tea${round}`, `jam${round}`].map((name) => ({ id: name }));
  for (const one of [ann, bob]) await db.customer.create(one!).orThrow();
  for (const one of [tea, jam]) await db.product.create(one!).orThrow();
  return { db, ann: ann!, bob: bob!, tea: tea!, jam: jam! };
};
const clean = async () => {
  const { kinds } = await verify(opened().db as never, { staleAfter: 0, settle: 0 });
  expect(kinds.flatMap(({ examples }) => examples)).toEqual([]);
};

describe("edge summaries", () => {
  test("follow the edges between the same nodes, whichever was linked first", async () => {
    const { db, ann, bob, tea, jam } = await scene();
    await db.ordered.link(ann, tea, { order: "1", amount: 4, at: new Date(1000) }).orThrow();
    await drain();
    await db.buys.link(ann, tea).orThrow();
    await db.ordered.link(ann, tea, { order: "2", amount: 12.5, at: new Date(9000) }).orThrow();
    // Of another pair, and of one that has no edge to write them onto.
    await db.ordered.link(bob, tea, { order: "3", amount: 100 }).orThrow();
    await db.buys.link(ann, jam).orThrow();
    await drain();
    expect(await db.buys.get(ann, tea)).toEqual({
      from: ann,
      to: tea,
      version: 1,
      orders: 2,
      large: 1,
      spent: 16.5,
      last: new Date(9000),
    });
    expect(await db.buys.get(ann, jam)).toEqual({ from: ann, to: jam, version: 1, orders: 0, large: 0, spent: 0 });
    expect(await db.buys.get(bob, tea)).toBeUndefined();
    // In order, in filters, in an index, and in what another fact is computed from.
    const ordered = await db.customer(ann).out("buys").edges();
    expect(ordered.map(({ to }) => to)).toEqual([jam, tea]);
    expect(
      await db
        .customer(ann)
        .out("buys")
        .where({ spent: { gt: 10 } })
        .edges(),
    ).toHaveLength(1);
    const found = await db
      .find("buys")
      .where({ large: { gte: 1 } })
      .rows();
    expect(found.map(({ from }) => from)).toContainEqual(ann);
    expect(await db.customer.get(ann)).toEqual({ ...ann, spent: 16.5 });
    await db.ordered.unlink(ann, tea, { key: { order: "2" } }).orThrow();
    await db.ordered.relink(ann, tea, { amount: 5 }, { key: { order: "1" } }).orThrow();
    await drain();
    expect(await db.buys.get(ann, tea)).toMatchObject({ orders: 1, large: 0, spent: 5, last: new Date(1000) });
    expect(await db.customer.get(ann)).toEqual({ ...ann, spent: 5 });
    await clean();
  });

  test("of parallel edges each has what has the same key", async () => {
    const { db, ann, tea } = await scene();
    await db.buysIn.link(ann, tea, { shop: "north" }).orThrow();
    await db.buysIn.link(ann, tea, { shop: "south" }).orThrow();
    await db.ordered.link(ann, tea, { order: "1", amount: 4, shop: "north" }).orThrow();
    await db.ordered.link(ann, tea, { order: "2", amount: 4, shop: "north" }).orThrow();
    await db.ordered.link(ann, tea, { order: "3", amount: 4 }).orThrow();
    await drain();
    const orders = async (edges: PromiseLike<readonly { readonly shop: string; readonly orders: number }[]>) =>
      Object.fromEntries((await edges).map((one) => [one.shop, one.orders]));
    expect(await orders(db.customer(ann).out("buysIn").edges())).toEqual({ north: 2, south: 0 });
    expect(await orders(db.product(tea).in("buysIn").edges())).toEqual({ north: 2, south: 0 });
    await clean();
  });

  test("along, against, between, and without direction", async () => {
    const { db, ann, bob } = await scene();
    await db.follows.link(ann, bob).orThrow();
    await db.knows.link(bob, ann).orThrow();
    await db.knows.link(ann, ann).orThrow();
    for (const n of ["1", "2", "3"]) await db.wrote.link(ann, bob, { n, topic: n === "1" ? "a" : "b" }).orThrow();
    await db.wrote.link(bob, ann, { n: "1", topic: "b" }).orThrow();
    await db.wrote.link(ann, ann, { n: "1", topic: "diary" }).orThrow();
    await drain();
    const [out, into] = [await db.customer(ann).out("follows").edges(), await db.customer(bob).in("follows").edges()];
    expect(out).toEqual([{ from: ann, to: bob, sent: 3, received: 1, both: 4 }]);
    expect(into).toEqual(out);
    expect(await db.knows.get(ann, bob)).toMatchObject({ letters: 4, topics: 2 });
    expect(await db.knows.get(bob, ann)).toMatchObject({ letters: 4, topics: 2 });
    expect(await db.knows.get(ann, ann)).toMatchObject({ letters: 1, topics: 1 });
    await clean();
  });

  test("survive writes of the whole edge, deletion and linking anew, and cannot be written", async () => {
    const { db, ann, tea } = await scene();
    await db.ordered.link(ann, tea, { order: "1", amount: 4 }).orThrow();
    await db.buys.link(ann, tea).orThrow();
    await drain();
    expect((await db.buys.put(ann, tea, { note: "x" }).orThrow()).row).toMatchObject({ orders: 1, spent: 4, note: "x", version: 2 });
    await db.buys.relink(ann, tea, { note: "y" }).orThrow();
    expect(await db.buys.get(ann, tea)).toMatchObject({ orders: 1, spent: 4, note: "y" });
    await db.buys.unlink(ann, tea).orThrow();
    await drain();
    expect(await db.buys.get(ann, tea)).toBeUndefined();
    await db.buys.link(ann, tea).orThrow();
    await drain();
    expect(await db.buys.get(ann, tea)).toMatchObject({ orders: 1, spent: 4 });
    const set = (changes: object) => () => db.buys.relink(ann, tea, changes as never);
    expect(set({ spent: 3 })).toThrow(expect.objectContaining({ code: "schema.derivedAttribute" }));
    expect(() => db.buys.link(ann, tea, { spent: 3 } as never)).toThrow(expect.objectContaining({ code: "schema.derivedAttribute" }));
    await clean();
  });

  test("go with the node, and leave nothing where it was", async () => {
    const { db, ann, bob } = await scene();
    await db.follows.link(ann, bob).orThrow();
    await db.wrote.link(ann, bob, { n: "1", topic: "a" }).orThrow();
    await drain();
    await db.customer.delete(ann).orThrow();
    await drain();
    expect(await db.customer(bob).in("follows").edges()).toEqual([]);
    await db.customer.create(ann).orThrow();
    await db.follows.link(ann, bob).orThrow();
    await drain();
    expect(await db.follows.get(ann, bob)).toMatchObject({ sent: 0, received: 0, both: 0 });
    await clean();
  });

  test("of freshness batch are written by a job alone, onto both copies of an edge, and are kept by writes", async () => {
    const { db, ann, bob } = await scene();
    await db.follows.link(ann, bob).orThrow();
    await db.knows.link(ann, bob).orThrow();
    await drain();
    expect(await db.follows.get(ann, bob)).toEqual({ from: ann, to: bob, sent: 0, received: 0, both: 0 });
    await db.jobs.run("later", {}, async (job) => {
      const ends = { from: ann, to: bob };
      expect(await job.setDerived("follows", ends, { later: 3 })).toMatchObject({ ok: true });
      // The other way round: an edge without direction.
      expect(await job.setDerived("knows", { from: bob, to: ann }, { later: 2 })).toMatchObject({ ok: true });
      expect(await job.setDerived("follows", ends, { later: 4 }, { later: { exists: false } })).toMatchObject({
        ok: false,
        reason: "conditionFailed",
      });
      expect(await job.setDerived("follows", { from: bob, to: ann }, { later: 4 })).toMatchObject({ ok: false, reason: "notFound" });
      await expect(job.setDerived("follows", ends, { sent: 4 })).rejects.toThrow(
        '"sent" of "follows" is not kept in batch. These are: later.',
      );
    });
    expect(await db.customer(bob).in("follows").edges()).toEqual([{ from: ann, to: bob, sent: 0, received: 0, both: 0, later: 3 }]);
    for (const [from, to] of [[ann, bob] as const, [bob, ann] as const]) expect(await db.knows.get(from, to)).toMatchObject({ later: 2 });
    expect((await db.follows.put(ann, bob).orThrow()).row).toMatchObject({ later: 3 });
    expect((await db.wrote.link(ann, bob, { n: "1", topic: "a" }).explain()).notes.join()).toContain(
      '"later" of the "follows" between its ends stays as the last batch job computed it',
    );
    await db.jobs.run("later", {}, async (job) => {
      await job.setDerived("follows", { from: ann, to: bob }, { later: undefined });
    });
    expect(await db.follows.get(ann, bob)).toEqual({ from: ann, to: bob, sent: 0, received: 0, both: 0 });
    await clean();
  });

  test("what somebody changed by hand is found and repaired, and a refresh fills what is missing", async () => {
    const { db, ann, bob, tea } = await scene();
    await db.ordered.link(ann, tea, { order: "1", amount: 4 }).orThrow();
    await db.buys.link(ann, tea).orThrow();
    await db.follows.link(ann, bob).orThrow();
    await db.wrote.link(ann, bob, { n: "1", topic: "a" }).orThrow();
    await drain();
    const items = await opened().lab.items();
    const spoil = async (isOne: (item: (typeof items)[number]) => boolean, attributes: object) => {
      const Item = { ...items.find(isOne), ...attributes } as never;
      await opened().lab.engine.transport.send("PutItem", { TableName: opened().lab.table, Item }, {});
    };
    const at = (pk: string, sk: string) => (item: (typeof items)[number]) =>
      JSON.stringify(item["pk"]) === JSON.stringify({ S: pk }) && JSON.stringify(item["sk"]).includes(sk);
    await spoil(at(`CUSTOMER#${ann.id}`, "buys#"), { spent: { N: "7" } });
    await spoil(at(`CUSTOMER#${bob.id}`, "~follows#"), { sent: { N: "7" } });
    await opened().lab.take();
    const found = await verify(db as never, { staleAfter: 0, settle: 0, repair: true });
    // The customer sums up what the edge shows, which is repaired first.
    expect(found).toMatchObject({ clean: true });
    expect(found.kinds.flatMap(({ kind, count: times }) => [kind, times])).toEqual(["staleFact", 2]);
    await drain();
    await clean();
    expect(await db.buys.get(ann, tea)).toMatchObject({ spent: 4 });
    await spoil(at(`CUSTOMER#${ann.id}`, "buys#"), { spent: { N: "9" } });
    await refreshFacts(db as never);
    expect(await db.buys.get(ann, tea)).toMatchObject({ spent: 4 });
  });

  test.each([
    ["a sum", (item: Item) => "~sum#spent" in item && { ...item, "~sum#spent": { N: "77" } }],
    ["a memo", (item: Item) => "~source" in item && { ...item, "~contribution": { M: { "~sum#spent": { N: "77" } } } }],
    ["a memo that is gone", (item: Item) => "~source" in item && undefined],
  ])("what is kept for an edge that is not linked is compared and repaired: %s", async (_, spoil) => {
    const { db, ann, tea } = await scene();
    await db.ordered.link(ann, tea, { order: "1", amount: 4 }).orThrow();
    await db.ordered.link(ann, tea, { order: "2", amount: 5 }).orThrow();
    await drain();
    const { engine, table } = opened().lab;
    const isOurs = ({ pk }: Item) => JSON.stringify(pk).includes("~facts#buys#") && JSON.stringify(pk).includes(ann.id);
    for (const item of (await opened().lab.items()).filter(isOurs)) {
      const spoilt = spoil(item);
      if (spoilt === false) continue;
      if (spoilt) await engine.transport.send("PutItem", { TableName: table, Item: spoilt }, {});
      else await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: item["pk"]!, sk: item["sk"]! } }, {});
      break;
    }
    await opened().lab.take();
    const found = await verify(db as never, { staleAfter: 0, settle: 0, repair: true });
    expect(found.kinds).toMatchObject([
      {
        kind: "staleFact",
        count: 1,
        repaired: 1,
        examples: [{ definition: "buys", reason: expect.stringContaining('This "buys" does not exist') as string }],
      },
    ]);
    await clean();
    await db.buys.link(ann, tea).orThrow();
    await drain();
    expect(await db.buys.get(ann, tea)).toMatchObject({ orders: 2, spent: 9 });
    await clean();
  });
});
