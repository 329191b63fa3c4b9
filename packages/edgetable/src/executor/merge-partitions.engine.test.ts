import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Layout, type Transport } from "../index.ts";
import { renderTemplate } from "../keys/template.ts";
import { seededRandom } from "@edgetable/testing";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const graphOf = (table: string, shards: readonly number[]) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text }) }) },
    indexes: { byName: { entries: { person: "name" }, shards } },
  });

const ids = Array.from({ length: 90 }, (_, at) => `p${at}`);
const rows = ids.map((personId, at) => ({ personId, name: `N${String((at * 37) % 90).padStart(2, "0")}` }));
const ordered = rows.map(({ name }) => name).toSorted();

const filled = async (shards: readonly number[]): Promise<string> => {
  const table = engine.freshTableName("scatter");
  const db = graphOf(table, shards).connect({ transport: engine.transport });
  await db.table.create();
  await db.load(rows.map((row) => ({ node: "person", row }) as const));
  return table;
};

/** Moves one item to the partition where writers put it now, as a job does. */
const move = async (table: string, personId: string, partition: string): Promise<void> => {
  await engine.transport.send("UpdateItem", {
    TableName: table,
    Key: { pk: { S: `PERSON#${personId}` }, sk: { S: "#" } },
    UpdateExpression: "SET #p = :p",
    ExpressionAttributeNames: { "#p": "byNamePk" },
    ExpressionAttributeValues: { ":p": { S: partition } },
  });
};

const placesIn = (table: string, shards: readonly number[]): ((personId: string) => string) => {
  const { catalog } = graphOf(table, shards);
  const template = catalog.nodes["person"]?.shape.keys["byNamePk"];
  return (personId) => renderTemplate(template!, { personId }) ?? "";
};

test("a cursor from before a growth goes on after it: nothing twice, nothing lost", async () => {
  for (const limit of [1, 7, 30, 89]) {
    const table = await filled([2]);
    const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
    const [before, after] = [graphOf(table, [2]).connect(options), graphOf(table, [8, 2]).connect(options)];
    const first = await before.find("person").page({ limit });
    const place = placesIn(table, [8, 2]);
    for (const personId of ids) await move(table, personId, place(personId));
    const rest: string[] = [];
    for (let cursor = first.next; cursor !== undefined;) {
      const page = await after.find("person").page({ limit: 40, cursor });
      rest.push(...page.items.map(({ name }) => name));
      cursor = page.next;
    }
    expect([...first.items.map(({ name }) => name), ...rest]).toEqual(ordered);
    const back = await after.find("person").reverse().page({ limit: 90 });
    expect(back.items.map(({ name }) => name)).toEqual(ordered.toReversed());
  }
});

/** A connection to a table of other shards, whose items move while it reads. */
const openMoving = async (shards: readonly number[], seed: number) => {
  const old = shards[0] === 2 ? 8 : (shards.at(-1) ?? 2);
  const table = await filled([old]);
  const place = placesIn(table, shards);
  const random = seededRandom(seed);
  const left = ids.toSorted(() => random() - 0.5);
  const moving: Transport = {
    send: async (operation, input, options) => {
      const count = operation === "Query" ? Math.floor(random() * 5) : 0;
      for (const personId of left.splice(0, count)) await move(table, personId, place(personId));
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  return graphOf(table, shards).connect({ transport: moving, cursorSecret: "s".padEnd(43, "-") });
};

describe.each([
  { shards: [8, 2], way: "up" },
  { shards: [12, 4, 2], way: "up in two growths" },
  { shards: [2, 8], way: "down, while writers are the old ones" },
  { shards: [64, 1], way: "up from one" },
])("items that move to $shards ($way)", ({ shards }) => {
  test("while a page is read are in it once", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const db = await openMoving(shards, seed);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await db.find("person").page({ limit: 11, cursor });
        found.push(...page.items.map(({ name }) => name));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(found).toEqual(ordered);
    }
  });

  test("while they are counted are counted once", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const db = await openMoving(shards, seed);
      expect(await db.find("person").count()).toBe(90);
      expect(
        await db
          .find("person")
          .where({ name: { gte: "N10" } })
          .limit(85)
          .count(),
      ).toBe(80);
    }
  });
});

const tied = (table: string, format: string) => {
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    indexes: { byDate: { partitionKey: "GP", sortKey: "GS" } },
    nodes: { day: { keys: { SK: "day", GP: `D{id:${format}}`, GS: "{date}" } } },
  };
  return defineGraph({ table, nodes: { day: node({ key: "{id}", schema: z.object({ id: text, date: text }) }) }, layout });
};

test("rows under one sort key are told apart across a growth, until they are too many to name", async () => {
  for (const [count, limit, code] of [
    [200, 150, "none"],
    [400, 300, "cursor.outgrown"],
  ] as const) {
    const table = engine.freshTableName("tied");
    const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
    const before = tied(table, "shard(2)").connect(options);
    await before.table.create();
    await before.load(Array.from({ length: count }, (_, at) => ({ node: "day", row: { id: `d${at}`, date: "1980-12-19" } }) as const));
    const first = await before.find("day").where({ date: "1980-12-19" }).page({ limit });
    const after = tied(table, "shard(8|2)").connect(options);
    for (const { id } of first.items) await after.day.put({ id, date: "1980-12-19" });
    const search = after.find("day").where({ date: "1980-12-19" });
    if (code !== "none") {
      await expect(search.page({ limit, cursor: first.next }).run()).rejects.toMatchObject({ code: "cursor.outgrown" });
      continue;
    }
    const second = await search.page({ limit, cursor: first.next });
    const all = [...first.items, ...second.items].map(({ id }) => id);
    expect(new Set(all).size).toBe(count);
    expect(all).toHaveLength(count);
  }
});

test("a cursor in a partition that the model has no longer is refused", async () => {
  const table = await filled([8]);
  const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
  const cursors = [];
  for (const limit of [1, 2, 3, 4, 5, 6]) cursors.push((await graphOf(table, [8]).connect(options).find("person").page({ limit })).next);
  await graphOf(table, [1, 8]).connect(options).reshard({ rate: 100_000, indexLag: 0 });
  const fewer = graphOf(table, [1]).connect(options);
  const codes = await Promise.all(
    cursors.map(async (cursor) =>
      fewer
        .find("person")
        .page({ cursor })
        .run()
        .then(
          () => "none",
          (error: { code: string }) => error.code,
        ),
    ),
  );
  expect(codes).toContain("cursor.outgrown");
});

test("a filter that leaves little is read on in every shard", async () => {
  const table = await filled([4]);
  const db = graphOf(table, [4]).connect({ transport: engine.transport });
  expect(
    await db
      .find("person")
      .where({ name: { gte: "N10" }, personId: "p3" })
      .rows(),
  ).toEqual([rows[3]]);
  expect(
    await db
      .find("person")
      .where({ name: { gte: "N50", lt: "N10" } })
      .rows(),
  ).toEqual([]);
  expect(
    await db
      .find("person")
      .where({ name: { gte: "N50" } })
      .count(),
  ).toBe(40);
});

test("less than a value leaves that value out, where nothing follows it in the key", async () => {
  const table = engine.freshTableName("less");
  const db = tied(table, "shard(2)").connect({ transport: engine.transport });
  await db.table.create();
  await db.load(["1979", "1980", "1981"].map((date, at) => ({ node: "day", row: { id: `d${at}`, date } }) as const));
  expect(
    await db
      .find("day")
      .where({ date: { lt: "1980" } })
      .rows(),
  ).toEqual([{ id: "d0", date: "1979" }]);
});

test("rows under one sort key that moved between two pages are not lost, in either direction", async () => {
  const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
  const ids = Array.from({ length: 12 }, (_, at) => `d${at}`);
  for (const reverse of [false, true]) {
    const table = engine.freshTableName("moved");
    const before = tied(table, "shard(1)").connect(options);
    await before.table.create();
    await before.load(ids.map((id) => ({ node: "day", row: { id, date: "1980" } }) as const));
    const search = (db: typeof before) => (reverse ? db.find("day").reverse() : db.find("day"));
    const first = await search(before).page({ limit: 5 });
    await tied(table, "shard(4|1)").connect(options).reshard({ rate: 100_000, indexLag: 0 });
    const second = await search(tied(table, "shard(4)").connect(options)).page({ limit: 20, cursor: first.next });
    expect([...first.items, ...second.items].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  }
});

test("a prefix does not reach the very next text: between pages, nor beside another bound", async () => {
  const table = engine.freshTableName("next");
  const db = tied(table, "shard(2)").connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  await db.table.create();
  const dates = ["1", "19", "198", "2", "2"];
  await db.load(dates.map((date, at) => ({ node: "day", row: { id: `d${at}`, date } }) as const));
  const search = db.find("day").where({ date: { beginsWith: "1" } });
  const first = await search.reverse().page({ limit: 2 });
  const second = await search.reverse().page({ limit: 2, cursor: first.next });
  const back = await search.reverse().page({ limit: 3, cursor: second.previous });
  expect([...back.items, ...second.items].map(({ date }) => date)).toEqual(["198", "19", "1"]);
  const bounded = db.find("day").where({ date: { beginsWith: "1", gte: "19" } });
  expect((await bounded.rows()).map(({ date }) => date)).toEqual(["19", "198"]);
  expect(await bounded.count()).toBe(2);
});

const back = async (search: Pages, from: Paged): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let cursor = from.previous; cursor !== undefined;) {
    const page = await search.page({ limit: 5, cursor });
    found.unshift(...page.items.map(({ id }) => id));
    cursor = page.previous;
  }
  return found;
};

interface Paged {
  readonly items: readonly { readonly id: string }[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}
interface Pages {
  page(options: { readonly limit: number; readonly cursor?: string | undefined }): PromiseLike<Paged>;
}

test.each([false, true])(
  "a page backwards over equal sort keys is as it was, though all moved in between (reverse: %s)",
  async (reverse) => {
    const table = engine.freshTableName("back");
    const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
    const search = (format: string, sent: unknown[] = []): Pages => {
      const transport: Transport = {
        send: async (operation, input, more) => {
          if (operation === "Query") sent.push({ ...(input as object), TableName: "T" });
          return engine.transport.send(operation, input, more);
        },
        close: () => undefined,
      };
      const found = tied(table, format)
        .connect({ ...options, transport })
        .find("day");
      return reverse ? found.reverse() : found;
    };
    const dates = [...Array.from({ length: 4 }, () => "1979"), ...Array.from({ length: 12 }, () => "1980"), "1981", "1981"];
    const before = tied(table, "shard(1)").connect(options);
    await before.table.create();
    await before.load(dates.map((date, at) => ({ node: "day", row: { id: `d${at}`, date } }) as const));
    const pages: Paged[] = [await search("shard(1)").page({ limit: 5 })];
    while (pages.length < 3) pages.push(await search("shard(1)").page({ limit: 5, cursor: pages.at(-1)?.next }));
    const [first, second, third] = pages.map(({ items }) => items.map(({ id }) => id));
    await tied(table, "shard(4|1)").connect(options).reshard({ rate: 100_000, indexLag: 0 });
    const sent: unknown[] = [];
    const once = await search("shard(4)", sent).page({ limit: 5, cursor: pages[2]?.previous });
    // Nothing is told by a place any more: every partition is read up to the sort key, with all of its rows.
    expect(sent.slice(0, 4)).toEqual(
      ["D0", "D1", "D2", "D3"].map((partition) =>
        expect.objectContaining({
          KeyConditionExpression: reverse ? "#p = :p AND #s >= :s" : "#p = :p AND #s <= :t",
          ExpressionAttributeValues: { ":p": { S: partition }, [reverse ? ":s" : ":t"]: { S: "1980" } },
        }),
      ),
    );
    const sorted = (ids: Iterable<string>): readonly string[] => [...ids].toSorted();
    const given = [...(first ?? []), ...(second ?? [])];
    expect(sorted([...once.items.map(({ id }) => id), ...(await back(search("shard(4)"), once))])).toEqual(sorted(given));
    expect(sorted(await back(search("shard(4)"), pages[2] as Paged))).toEqual(sorted(given));
    const rest = [...(await search("shard(4)").page({ limit: 20, cursor: once.next })).items].map(({ id }) => id);
    expect(sorted([...given, ...rest])).toEqual(sorted(dates.map((_, at) => `d${at}`)));
    expect(rest).toEqual(expect.arrayContaining(third ?? []));
  },
);

const likesIn = (table: string, format: string) => {
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "|",
    indexes: { byDate: { partitionKey: "GP", sortKey: "GS" } },
    nodes: { person: { keys: { SK: "PERSON" } } },
    edges: { likes: { keys: { SK: "LIKES|{to}", GP: `P{from.id:${format}}`, GS: "{from}|{date}" } } },
  };
  return defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: text }) }) },
    edges: { likes: edge({ from: "person", to: "person", schema: z.object({ date: text }), ends: "unchecked" }) },
    layout,
  });
};

test("pages in the one shard of a known id go on, and back, after it grew", async () => {
  const table = engine.freshTableName("known");
  const options = { transport: engine.transport, cursorSecret: "s".padEnd(43, "-") };
  const likes = (format: string) => likesIn(table, format).connect(options).person({ id: "b" }).out("likes").using("byDate");
  const before = likesIn(table, "shard(1)").connect(options);
  await before.table.create();
  const all = Array.from({ length: 12 }, (_, at) => `t${at}`);
  await before.load(
    all.map((id, at) => ({ edge: "likes", from: { id: "b" }, to: { id }, attributes: { date: at < 3 ? "1" : "2" } }) as const),
    { strict: true },
  );
  const ids = (items: readonly { readonly to: { readonly id: string } }[]) => items.map(({ to }) => to.id);
  const first = await likes("shard(1)").page({ limit: 5 });
  const second = await likes("shard(1)").page({ limit: 3, cursor: first.next });
  const during = await likes("shard(16|1)").page({ limit: 2, cursor: second.next });
  await likesIn(table, "shard(16|1)").connect(options).reshard({ rate: 100_000, indexLag: 0 });
  expect((await likes("shard(16)").explain()).requests[0]?.input).not.toMatchObject({ ExpressionAttributeValues: { ":p": { S: "P0" } } });
  const last = await likes("shard(16)").page({ limit: 9, cursor: during.next });
  expect([first, second, during, last].flatMap(({ items }) => ids(items)).toSorted()).toEqual(all.toSorted());
  const previous = await likes("shard(16)").page({ limit: 9, cursor: second.previous });
  expect(ids(previous.items).toSorted()).toEqual(ids(first.items).toSorted());
});

test("beyond an end, the way back begins at that end", async () => {
  const db = graphOf(await filled([1]), [1]).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  const page = (cursor: string | undefined) => db.find("person").page({ limit: 1, cursor });
  const second = await page((await page(undefined)).next);
  const first = await page(second.previous);
  const none = await page(first.previous);
  expect([first.items[0]?.name, none.items, none.previous]).toEqual(["N00", [], undefined]);
  expect((await page(none.next)).items).toEqual(first.items);
});
