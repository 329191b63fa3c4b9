import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, EdgetableError, node, type ConnectOptions, type SentRequest, type Transport } from "../index.ts";

const ROWS = 4000;
const graphOf = (table: string, shards: number) =>
  defineGraph({
    table,
    nodes: {
      hub: node({ key: "H#{id}", schema: z.object({ id: z.string() }) }),
      row: node({ key: "R#{id}", schema: z.object({ id: z.string(), kind: z.string(), at: z.int(), mark: z.string() }) }),
    },
    edges: { has: edge({ from: "hub", to: "row", schema: z.object({ mark: z.string() }), ends: "unchecked" }) },
    indexes: { byKind: { entries: { row: ["kind", "at:number"] }, shards } },
  });

let engine: TestEngine;
const tables = new Map<number, string>();
const sent: SentRequest[] = [];
const open = (shards: number, transport: Transport = engine.transport, deadline = 30_000) =>
  graphOf(tables.get(shards) ?? "", shards).connect({
    transport,
    cursorSecret: "s".padEnd(43, "-"),
    deadline,
    // The record of the model is read once, before the first search.
    onRequest: (one) => void (one.operation === "GetItem" || sent.push(one)),
  });

// Two rows carry the mark "rare": the 3,000th and the last. One in ten carries "tenth".
const markOf = (at: number): string => (at === 3000 || at === ROWS - 1 ? "rare" : at % 10 === 0 ? "tenth" : "none");

beforeAll(async () => {
  engine = await openEngine();
  for (const shards of [1, 4]) {
    tables.set(shards, engine.freshTableName(`filtered${shards}`));
    const db = open(shards);
    await db.table.create();
    await db.load(
      Array.from({ length: ROWS }, (_, at) => ({ node: "row" as const, row: { id: `r${at}`, kind: "k", at, mark: markOf(at) } })),
    );
  }
  await open(1).load(
    Array.from({ length: ROWS }, (_, at) => ({
      edge: "has" as const,
      from: { id: "h" },
      to: { id: `r${String(at).padStart(4, "0")}` },
      attributes: { mark: markOf(at) },
    })),
  );
});
afterAll(() => engine.close());

const limits = () => sent.map(({ input }) => (input as { readonly Limit?: number }).Limit);

describe("a filtered read grows", () => {
  const rare = () => open(1).find("row").where({ kind: "k", mark: "rare" });

  test("a page: from 50 items by the hit rate, in a few requests", async () => {
    sent.length = 0;
    const { items, next, stopped } = await rare().page({ limit: 2 });
    expect(items.map(({ at }) => at)).toEqual([3000, ROWS - 1]);
    expect([next, stopped]).toEqual([undefined, undefined]);
    expect(limits()).toEqual([50, 150, 600, 2400, 3840]);
  });

  test("first() and limit(): no more than four times what they need", async () => {
    for (const ask of [() => rare().first(), () => rare().limit(1).rows(), () => rare().limit(1).count()]) {
      sent.length = 0;
      await ask();
      expect(sent.length).toBeLessThanOrEqual(5);
      expect(sent.reduce((sum, one) => sum + one.itemsRead, 0)).toBeLessThanOrEqual(ROWS);
    }
  });

  test("a page of what is frequent stays small", async () => {
    sent.length = 0;
    const tenth = open(1).find("row").where({ kind: "k", mark: "tenth" });
    expect((await tenth.page({ limit: 20 })).items).toHaveLength(20);
    expect(limits()).toEqual([50, 150]);
  });

  test("over shards, each of them", async () => {
    sent.length = 0;
    const search = open(4).find("row").where({ kind: "k", mark: "rare" });
    expect((await search.page({ limit: 2 })).items.map(({ at }) => at)).toEqual([3000, ROWS - 1]);
    expect(sent.length).toBeLessThanOrEqual(4 * 6);
  });

  test("neighbours, and a walk's hop with a limit", async () => {
    const hub = open(1).hub({ id: "h" });
    sent.length = 0;
    const [one] = await hub.out("has").where({ mark: "rare" }).limit(1).edges();
    expect(one?.to.id).toBe("r3000");
    expect(limits()).toEqual([50, 150, 600, 2400]);
    sent.length = 0;
    expect([...(await hub.out("has").where({ mark: "tenth" }).limit(3).walk().ids())]).toHaveLength(3);
    expect(limits()).toEqual([50]);
  });
});

/** Every page of a search in parts by a budget; what each cost. */
const inParts = async (
  ask: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly { readonly at: number }[]; readonly next: string | undefined; readonly stopped: unknown }>,
) => {
  const found: number[] = [];
  const stops: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    found.push(...page.items.map(({ at }) => at));
    stops.push(page.stopped);
    cursor = page.next;
  } while (cursor !== undefined);
  return { found, stops };
};

describe.each([1, 4])("a page over %i shards has a budget", (shards) => {
  const expected = Array.from({ length: ROWS }, (_, at) => at).filter((at) => markOf(at) === "rare");

  test.each(["forth", "back"] as const)("%s: at its end comes a short page that says so and goes on", async (way) => {
    const all = open(shards).find("row").where({ kind: "k", mark: "rare" });
    const search = way === "forth" ? all : all.reverse();
    sent.length = 0;
    let most = 0;
    const { found, stops } = await inParts(async (cursor) => {
      const before = sent.length;
      const page = await search.page({ limit: 20, cursor, budget: { requests: shards } });
      most = Math.max(most, sent.length - before);
      return page;
    });
    expect(found).toEqual(way === "forth" ? expected : expected.toReversed());
    expect(most).toBe(shards);
    expect(stops.slice(0, -1).every((stop) => stop === "requests")).toBe(true);
    expect(stops.at(-1)).toBeUndefined();
  });

  test("of units, too; and `previous` of a short, empty page leads back", async () => {
    const search = open(shards).find("row").where({ kind: "k", mark: "tenth" });
    const first = await search.page({ limit: 3 });
    const rare = open(shards).find("row").where({ kind: "k", mark: "rare" });
    const none = await rare.page({ limit: 3, budget: { units: 1 } });
    expect([none.items, none.stopped]).toEqual([[], "units"]);
    const on = await rare.page({ limit: 3, cursor: none.next });
    expect(on.items.map(({ at }) => at)).toEqual(expected);
    const back = await rare.page({ limit: 3, cursor: on.previous });
    expect(back.items).toEqual([]);
    expect(first.items).toHaveLength(3);
  });

  test("every row once, whatever the budget, by the thousand", async () => {
    const tenth = open(shards).find("row").where({ kind: "k", mark: "tenth" });
    for (const requests of [shards, shards + 1, 2 * shards + 1]) {
      const { found } = await inParts(async (cursor) => tenth.page({ limit: 37, cursor, budget: { requests } }));
      expect(found).toEqual(Array.from({ length: ROWS }, (_, at) => at).filter((at) => markOf(at) === "tenth"));
    }
  });
});

test("a budget that has no request for each shard is refused", async () => {
  const search = open(4).find("row").where({ kind: "k" });
  sent.length = 0;
  await expect(search.page({ budget: { requests: 3 } }).run()).rejects.toMatchObject({ code: "plan.invalidOption" });
  expect(() => search.page({ budget: { requests: 0 } })).toThrow(/requests is 0/);
  expect(sent).toEqual([]);
});

// By a clock of its own: two answers come, every further request ends by its timeout.
const stalling = (): Pick<Required<ConnectOptions>, "transport" | "advanced"> => {
  let [now, answers] = [0, 0];
  const pass = (milliseconds: number): void => void (now += milliseconds);
  const send: Transport["send"] = async (operation, input, { timeout = 0 } = {}) => {
    if (++answers <= 2) return engine.transport.send(operation, input);
    pass(timeout);
    throw new EdgetableError("execute.timeout", `${operation}: no answer.`, { retryable: true });
  };
  const sleep = async (milliseconds: number): Promise<void> => pass(milliseconds);
  return { transport: { send, close: () => undefined }, advanced: { effects: { now: () => now, random: () => 0.5, sleep } } };
};

describe("at the deadline", () => {
  const search = () =>
    graphOf(tables.get(1) ?? "", 1)
      .connect({ cursorSecret: "s".padEnd(43, "-"), ...stalling() })
      .find("row")
      .where({ kind: "k", mark: "rare" });

  test("a page comes short, says so, and goes on", async () => {
    const page = await search().page({ limit: 2 }).run({ deadline: 200 });
    expect(page).toMatchObject({ items: [], stopped: "time" });
    sent.length = 0;
    const on = await open(1).find("row").where({ kind: "k", mark: "rare" }).page({ limit: 2, cursor: page.next });
    expect(on.items.map(({ at }) => at)).toEqual([3000, ROWS - 1]);
    expect(sent[0]?.input).toHaveProperty("ExclusiveStartKey");
  });

  test("a read that gives no cursor fails, and says that the deadline was the call's", async () => {
    await expect(search().first().run({ deadline: 200 })).rejects.toMatchObject({
      code: "execute.timeout",
      message: expect.stringContaining("The call's deadline left no time for another attempt") as string,
      details: { deadline: true },
    });
  });
});

test("explain() shows the first request as it is sent, and how the read grows", async () => {
  const page = open(1).find("row").where({ kind: "k", mark: "rare" }).page({ limit: 2 });
  const explained = await page.explain();
  sent.length = 0;
  await page;
  expect(explained.requests[0]?.input).toEqual(sent[0]?.input);
  expect(explained.notes.join()).toContain("reads 50 items first, then more by the share that matched");
});
