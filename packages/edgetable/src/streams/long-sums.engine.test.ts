import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { decimalParts, isStorable } from "../executor/facts/refresh-aggregates.ts";
import { average, count, defineGraph, distinct, edge, max, node, sum } from "../index.ts";
import { verify } from "../verify/index.ts";
import { openFactsLab } from "./facts-lab.test-support.ts";
import { maintainFacts } from "./maintain-facts.ts";
import { refreshFacts } from "./refresh-facts.ts";

const id = z.string();
// A whole number that a double does not hold exactly is read as a bigint.
const amount = z.union([z.number(), z.bigint()]);
const of = { in: "pays", of: "amount", freshness: "stream" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      account: node({ key: "ACCOUNT#{id}", schema: z.object({ id }) }),
      pot: node({
        key: "POT#{id}",
        schema: z.object({ id }),
        derived: {
          payments: count({ in: "pays", freshness: "stream" }),
          total: sum(of),
          fees: sum({ ...of, of: "fee" }),
          mean: average(of),
          kinds: distinct(of),
          most: max(of),
        },
      }),
    },
    edges: {
      pays: edge({ from: "account", to: "pot", key: ["n"], schema: z.object({ n: z.string(), amount, fee: z.number() }) }),
    },
    indexes: { byTotal: { entries: { pot: { by: "total:number", sparse: true } } } },
  });

const open = async () => openFactsLab(modelIn);
let opened: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  opened = await open();
});
afterAll(() => opened.lab.stop());

const account = { id: "a" };

/** Feeds the processor what was written, until it brings nothing new. Gives the messages of what it could not keep. */
const drain = async (): Promise<readonly string[]> => {
  const keep = maintainFacts(opened.session);
  const messages: string[] = [];
  for (;;) {
    const records = await opened.lab.take();
    if (records.length === 0) return [...new Set(messages)];
    for (const { error } of (await keep?.(records)) ?? []) messages.push(error.message);
  }
};

const found = async () => {
  const { kinds } = await verify(opened.db, { settle: 10, staleAfter: 10 });
  return kinds.flatMap(({ kind, examples }) => examples.map(({ attribute, reason }) => [kind, attribute, reason]));
};

test("a sum that no number can hold is left out and reported, and everything else is kept", async () => {
  const { db } = opened;
  const pot = { id: "p" };
  await db.account.create(account).orThrow();
  await db.pot.create(pot).orThrow();
  const pay = async (n: string, amount: number) => db.pays.put(account, pot, { n, amount, fee: 2 }).orThrow();
  await pay("1", 1);
  expect(await drain()).toEqual([]);
  await pay("2", 1e100);
  await pay("3", 1);
  const [message, ...others] = await drain();
  expect(message).toContain('"total" of the "pot" {"id":"p"} is left out');
  expect(others).toEqual([]);
  const facts = { payments: 3, fees: 6, kinds: 2, most: BigInt(`1${"0".repeat(100)}`) };
  const row = await db.pot.get(pot);
  expect(row).toMatchObject(facts);
  expect(Number(row?.mean)).toBe(1e100 / 3);
  expect(row).not.toHaveProperty("total");
  expect(await found()).toEqual([["staleFact", "total", expect.stringContaining("more than the 38 digits")]]);
  // A repair cannot invent a number, and leaves the rest as it is.
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  await refreshFacts(db);
  await drain();
  expect(await db.pot.get(pot)).toEqual(row);
  expect(await found()).toHaveLength(1);

  await db.pays.unlink(account, pot, { key: { n: "2" } }).orThrow();
  expect(await drain()).toEqual([]);
  expect(await db.pot.get(pot)).toEqual({ id: "p", payments: 2, total: 2, fees: 4, mean: 1, kinds: 1, most: 1 });
  expect(await db.find("pot").where({ total: 2 }).rows()).toHaveLength(1);
  expect(await found()).toEqual([]);
});

test("a sum beyond the range of a number comes back when it is within it", async () => {
  const { db } = opened;
  const pot = { id: "q" };
  await db.account.put(account).orThrow();
  await db.pot.create(pot).orThrow();
  for (const n of ["1", "2"]) await db.pays.link(account, pot, { n, amount: 9e125, fee: 0 }).orThrow();
  expect(await drain()).toHaveLength(1);
  expect(await db.pot.get(pot)).toMatchObject({ payments: 2, most: BigInt(`9${"0".repeat(125)}`) });
  await db.pays.put(account, pot, { n: "1", amount: -9e125, fee: 0 }).orThrow();
  expect(await drain()).toEqual([]);
  expect(await db.pot.get(pot)).toMatchObject({ payments: 2, total: 0 });
  await db.pays.put(account, pot, { n: "1", amount: 1e-20, fee: 0 }).orThrow();
  expect(await drain()).toHaveLength(1);
  await db.pays.unlink(account, pot, { key: { n: "2" } }).orThrow();
  expect(await drain()).toEqual([]);
  expect(await db.pot.get(pot)).toMatchObject({ payments: 1, total: 1e-20 });
  expect(await found()).toEqual([]);
});

test("decimals are cut into parts of twenty digits, and DynamoDB's limits are known", () => {
  expect([...decimalParts("-12345678901234567890123.5")]).toEqual([
    [-1, "-50000000000000000000"],
    [0, "-45678901234567890123"],
    [1, "-123"],
  ]);
  expect([...decimalParts("0")]).toEqual([]);
  const nines = "9".repeat(38);
  for (const fits of ["0", nines, `${nines}00`, `-${nines}`, `${nines[0]}.${nines.slice(1)}e125`, "1e-130"])
    expect([fits, isStorable(fits)]).toEqual([fits, true]);
  for (const not of [`${nines}9`, "1e126", "1e-131", `1${"0".repeat(99)}1`]) expect([not, isStorable(not)]).toEqual([not, false]);
});
