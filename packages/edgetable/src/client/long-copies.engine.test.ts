import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type AttributeValue, defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const copies = { from: ["title"] } as const;
const onDelete = { from: "cascade", to: "cascade" } as const;
const libraryIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      work: node({ key: "WORK#{workId}", schema: z.object({ workId: text, title: text, subtitle: text }) }),
      shelf: node({ key: "SHELF#{shelfId}", schema: z.object({ shelfId: text }) }),
    },
    parts: { page: part({ of: "work", key: "PAGE#{no}", schema: z.object({ no: text }), copies: ["title"] }) },
    edges: {
      stands: edge({ from: "work", to: "shelf", copies, orderBy: "title", onDelete }),
      listed: edge({ from: "work", to: "shelf", stored: "twice", copies: { from: ["title", "subtitle"] }, orderBy: "title", onDelete }),
    },
    indexes: { byTitle: { entries: { stands: "title", listed: ["title", "subtitle"], page: "title" }, shards: 2 } },
  });

const long = (bytes: number, end = ""): string => "x".repeat(bytes) + end;
/** Texts that a key holds, texts that it does not, and texts that differ where it ends. */
const titles = [
  "",
  "x",
  "y",
  "人",
  long(127),
  long(128, "a"),
  long(900),
  long(985, "人"),
  long(1000),
  long(1000, "人".repeat(9)),
  long(1030),
];
titles.push(
  long(1000, "😀".repeat(9)),
  "人".repeat(350),
  "人".repeat(400),
  `${"人".repeat(400)}a`,
  "😀".repeat(300),
  `${long(120)}#~\u0000${long(950)}`,
);

const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Conditions with what holds of a title. */
const conditionsOn = (value: string): readonly (readonly [object, (title: string) => boolean])[] => [
  [{ eq: value }, (title) => title === value],
  [{ ne: value }, (title) => title !== value],
  [{ gt: value }, (title) => order(title, value) > 0],
  [{ gte: value }, (title) => order(title, value) >= 0],
  [{ lt: value }, (title) => order(title, value) < 0],
  [{ lte: value }, (title) => order(title, value) <= 0],
  [{ beginsWith: value }, (title) => title.startsWith(value)],
  [{ in: [value, "y"] }, (title) => title === value || title === "y"],
  ...titles
    .filter((_, at) => at % 3 === 0)
    .flatMap((other) => {
      const isBetween = (title: string): boolean => order(title, value) >= 0 && order(title, other) <= 0;
      return order(value, other) <= 0 ? [[{ between: [value, other] }, isBetween] as const] : [];
    }),
];

const open = async () => {
  const table = engine.freshTableName("library");
  const db = libraryIn(table).connect({ transport: engine.transport });
  await db.table.create();
  await db.shelf.create({ shelfId: "s" }).orThrow();
  for (const [at, title] of titles.entries()) {
    const workId = `w${at}`;
    await db.work.create({ workId, title, subtitle: titles[(at * 5) % titles.length] ?? "" }).orThrow();
    await db.stands.link({ workId }, { shelfId: "s" }).orThrow();
    await db.listed.link({ workId }, { shelfId: "s" }).orThrow();
    await db.page.create({ workId }, { no: "1" }).orThrow();
  }
  return { db, table };
};

const brief = (condition: object): string =>
  JSON.stringify(condition).replaceAll(/(.)\1{20,}/gu, (run: string) => `${String.fromCodePoint(run.codePointAt(0) ?? 0)}*${run.length}`);

test("conditions on a copied text hold or not as the text is, however much of it a key holds", async () => {
  const { db } = await open();
  const shelf = db.shelf({ shelfId: "s" });
  const wrong: string[] = [];
  for (const value of titles) {
    for (const [condition, holds] of conditionsOn(value)) {
      const want = titles.flatMap((title, at) => (holds(title) ? [`w${at}`] : [])).toSorted();
      const where = { title: condition } as object as { title: string };
      const compare = (what: string, got: readonly string[]): void => {
        if (got.toSorted().join() !== want.join()) wrong.push(`${what} ${brief(condition)}: ${got.toSorted().join()} for ${want.join()}`);
      };
      compare(
        "in stands",
        (await shelf.in("stands").where(where).edges()).map(({ from }) => from.workId),
      );
      compare(
        "in listed",
        (await shelf.in("listed").where(where).edges()).map(({ from }) => from.workId),
      );
      compare(
        "walk",
        [...(await shelf.walk().in("stands").where(where).ids())].map(({ workId }) => workId),
      );
      expect(await shelf.in("listed").where(where).count()).toBe(want.length);
      if ("ne" in condition) continue;
      compare(
        "find stands",
        (await db.find("stands").where(where).rows()).map(({ from }) => from.workId),
      );
      compare(
        "find listed",
        (await db.find("listed").where(where).reverse().rows()).map(({ from }) => from.workId),
      );
      compare(
        "find page",
        (await db.find("page").where(where).rows()).map(({ workId }) => workId),
      );
    }
  }
  expect(wrong).toEqual([]);
});

test("pages of a condition on a long copied text give each row once, in either direction", async () => {
  const { db } = await open();
  const where = { title: { gte: long(1000, "人".repeat(9)) } };
  const query = db.shelf({ shelfId: "s" }).in("stands").where(where);
  const all = await query.edges();
  const ends: string[] = [];
  let cursor: string | undefined;
  let previous: string | undefined;
  do {
    const page = await query.page({ limit: 2, ...(cursor ? { cursor } : {}) });
    ends.push(...page.items.map(({ from }) => from.workId));
    [cursor, previous] = [page.next, page.previous ?? previous];
  } while (cursor);
  expect(ends).toEqual(all.map(({ from }) => from.workId));
  expect((await query.page({ limit: 2, ...(previous ? { cursor: previous } : {}) })).items.length).toBeGreaterThan(0);
});

test("a key holds as many bytes of a copied text as fit, and of two the longer one is cut", async () => {
  const { db, table } = await open();
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : "");
  const keysOf = (workId: string, attribute: string): readonly string[] =>
    Items.filter((item) => textOf(item["pk"]) === `WORK#${workId}` && item[attribute]).map((item) => textOf(item[attribute]));
  const [ofKanji, ofPairs] = [titles.indexOf("人".repeat(400)), titles.indexOf("😀".repeat(300))];
  for (const workId of [`w${ofKanji}`, `w${ofPairs}`])
    expect(keysOf(workId, "gsi2sk").map((key) => Buffer.byteLength(key) > 1020 && !key.includes("\uFFFD"))).toEqual([true, true]);
  const both = titles.findIndex((title, at) => title.length > 999 && (titles[(at * 5) % titles.length] ?? "").length > 999);
  expect(keysOf(`w${both}`, "byTitleSk").filter((key) => key.split("#")[1]!.length > 400)).toHaveLength(1);
  expect((await verify(db, { settle: 0 })).clean).toBe(true);
});

test("a search finds the rows of an empty copy in the partition of an index, and none of an empty text that no key holds", async () => {
  const db = defineGraph({
    table: engine.freshTableName("partitions"),
    nodes: {
      work: node({ key: "WORK#{workId}", schema: z.object({ workId: text, title: text }) }),
      shelf: node({ key: "SHELF#{shelfId}", schema: z.object({ shelfId: text }) }),
    },
    edges: { stands: edge({ from: "work", to: "shelf", schema: z.object({ room: text }), copies, onDelete }) },
    indexes: {
      byTitle: { entries: { stands: { by: ["title", "room"], split: 1 } }, shards: 2 },
      byRoom: { entries: { stands: { by: ["room", "title"], split: 1 } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await db.shelf.create({ shelfId: "s" }).orThrow();
  for (const [at, title] of ["", "", "a", "b"].entries()) {
    await db.work.create({ workId: `w${at}`, title }).orThrow();
    await db.stands.link({ workId: `w${at}` }, { shelfId: "s" }, { room: `r${at % 2}` }).orThrow();
  }
  const found = async (where: object, index: "byTitle" | "byRoom"): Promise<string> =>
    (await db.find("stands").using(index).where(where).rows())
      .map(({ from }) => from.workId)
      .toSorted()
      .join();
  expect(await found({ title: "" }, "byTitle")).toBe("w0,w1");
  expect(await found({ title: "", room: { gte: "r1" } }, "byTitle")).toBe("w1");
  expect(await found({ title: { in: ["", "b"] } }, "byTitle")).toBe("w0,w1,w3");
  expect(await found({ room: "r0", title: "" }, "byRoom")).toBe("w0");
  expect(await found({ room: "" }, "byRoom")).toBe("");
});
