import { expect, test } from "vitest";
import { z } from "zod";
import { average, defineGraph, distinct, edge, max, node, sum } from "../index.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { addDecimals } from "../util/decimal.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";
import { rollUpCounters } from "./roll-up-counters.ts";

const id = z.string();
const of = { in: "pays", of: "amount" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      account: node({ key: "ACCOUNT#{id}", schema: z.object({ id }) }),
      pot: node({
        key: "POT#{id}",
        schema: z.object({ id }),
        derived: {
          total: sum(of),
          mean: average(of),
          streamed: sum({ ...of, freshness: "stream" }),
          slow: average({ ...of, freshness: "stream" }),
          most: max(of),
          amounts: distinct(of),
          given: sum({ in: "gives", of: "amount" }),
        },
      }),
      jar: node({
        key: "JAR#{id}",
        schema: z.object({ id }),
        derived: { total: sum({ in: "fills", of: "amount", shards: 4 }), mean: average({ in: "fills", of: "amount", shards: 4 }) },
      }),
    },
    edges: {
      pays: edge({
        from: "account",
        to: "pot",
        key: ["n"],
        schema: z.object({ n: z.string(), amount: z.number() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
      gives: edge({
        from: "account",
        to: "pot",
        key: ["n"],
        schema: z.object({ n: z.string(), amount: z.number() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
      fills: edge({
        from: "account",
        to: "jar",
        key: ["n"],
        schema: z.object({ n: z.string(), amount: z.number() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    indexes: { byTotal: { entries: { pot: "streamed:number" } } },
  });

const { opened } = factsLabOfFile(modelIn);

const account = { id: "a" };

/** The item of a node, its numbers in one notation: DynamoDB Local's ADD gives 0.00. */
const stored = async (kind: string, name: string): Promise<Readonly<Record<string, AttributeValue | undefined>>> => {
  const items = await opened().lab.items();
  const found = items.find(({ pk, sk }) => pk && "S" in pk && pk.S === `${kind}#${name}` && sk && "S" in sk && sk.S === "#") ?? {};
  return Object.fromEntries(
    Object.entries(found).map(([attribute, value]) => [attribute, "N" in value ? { N: addDecimals(value.N, "0") } : value]),
  );
};

const clean = async (): Promise<void> => {
  expect((await verify(opened().db, { settle: 10, staleAfter: 10 })).kinds).toEqual([]);
};

test("sums of every freshness keep all digits of what is added, changed and taken away", async () => {
  const { db, lab: facts, session } = opened();
  await db.account.create(account);
  const pot = { id: "p" };
  await db.pot.create(pot);
  const show = async () => {
    await facts.drain(session);
    await clean();
    const { total, mean, streamed, slow } = await stored("POT", "p");
    expect(streamed).toEqual(total);
    expect(slow).toEqual(mean);
    return [total, mean];
  };
  await db.pays.link(account, pot, { n: "1", amount: 1e15 });
  await db.pays.link(account, pot, { n: "2", amount: 0.06 });
  expect((await show())[0]).toEqual({ N: "1000000000000000.06" });
  await db.pays.link(account, pot, { n: "3", amount: 0.06 });
  expect((await show())[0]).toEqual({ N: "1000000000000000.12" });
  // The difference of a change has more digits than a double.
  await db.pays.put(account, pot, { n: "1", amount: 0.07 });
  expect((await show())[0]).toEqual({ N: "0.19" });
  await db.pays.put(account, pot, { n: "1", amount: 1e15 });
  await db.pays.unlink(account, pot, { key: { n: "1" } });
  expect(await show()).toEqual([{ N: "0.12" }, { N: "0.06" }]);
  for (const n of ["2", "3"]) await db.pays.unlink(account, pot, { key: { n } });
  expect(await show()).toEqual([{ N: "0" }, undefined]);
});

test("a refresh and a repair write sums with all their digits", async () => {
  const { db, lab: facts, session } = opened();
  const pot = { id: "r" };
  await db.pot.create(pot);
  for (const [n, amount] of [1e15, 0.06, 0.06].entries()) await db.pays.link(account, pot, { n: String(n), amount });
  await facts.drain(session);
  const damage = async () => {
    const items = await facts.items();
    const sums = items.find(({ "~sum#streamed": one }) => one && "N" in one && one.N === "1000000000000000.12");
    const shown = items.find(({ streamed }) => streamed && "N" in streamed && streamed.N === "1000000000000000.12");
    const N = "1000000000000000.13";
    for (const Item of [
      { ...sums, "~sum#streamed": { N } },
      { ...shown, streamed: { N }, total: { N } },
    ])
      await facts.engine.transport.send("PutItem", { TableName: facts.table, Item });
    await facts.take();
  };
  await damage();
  const found = await verify(db, { settle: 10, staleAfter: 10 });
  expect(found.kinds.map(({ kind }) => kind).toSorted()).toEqual(["staleFact", "wrongAggregate"]);
  expect(found.kinds.flatMap(({ examples }) => examples.map(({ reason }) => reason)).join("\n")).toContain("make it 1000000000000000.12");
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  expect(await stored("POT", "r")).toMatchObject({ streamed: { N: "1000000000000000.12" }, total: { N: "1000000000000000.12" } });
  await clean();
  await damage();
  await refreshFacts(db);
  expect(await stored("POT", "r")).toMatchObject({ streamed: { N: "1000000000000000.12" } });
});

test("counters of a node add up with all their digits", async () => {
  const { db } = opened();
  const jar = { id: "j" };
  await db.jar.create(jar);
  for (const [n, amount] of [1e15, 0.06, 0.06].entries()) await db.fills.link(account, jar, { n: String(n), amount });
  await rollUpCounters(db, "jar", jar);
  expect(await stored("JAR", "j")).toMatchObject({ total: { N: "1000000000000000.12" } });
  await db.fills.put(account, jar, { n: "0", amount: 0.07 });
  await rollUpCounters(db, "jar", jar);
  expect(await stored("JAR", "j")).toMatchObject({ total: { N: "0.19" } });
});

test.each(["8388608", "0.0000001", "4294967296"])("a sum that is off by %s is found", async (difference) => {
  const { db, lab: facts, session } = opened();
  const pot = { id: `off${difference}` };
  await db.pot.create(pot);
  await db.pays.link(account, pot, { n: "1", amount: 0.5 });
  await facts.drain(session);
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  await clean();
  const [item] = (await facts.items()).filter(
    ({ total, sk, pk }) => total && sk && "S" in sk && pk && "S" in pk && pk.S === `POT#${pot.id}`,
  );
  const Item = { ...item, total: { N: addDecimals("0.5", difference) } };
  await facts.engine.transport.send("PutItem", { TableName: facts.table, Item });
  expect((await verify(db, { settle: 10, staleAfter: 10 })).kinds.map(({ kind }) => kind)).toEqual(["wrongAggregate"]);
  await facts.engine.transport.send("PutItem", { TableName: facts.table, Item: item! });
  await facts.take();
});

/** Writes an edge's amount as another program would, with more digits than a double holds. */
const writeDigits = async (to: string, n: string, N: string): Promise<void> => {
  const { lab: facts } = opened();
  const [item] = (await facts.items()).filter(
    ({ pk, sk }) => pk && "S" in pk && pk.S === "ACCOUNT#a" && sk && "S" in sk && sk.S.endsWith(`${to}#${n}`),
  );
  await facts.engine.transport.send("PutItem", { TableName: facts.table, Item: { ...item, amount: { N } } });
};

test("amounts with more digits than a double are added up with all of them, whatever happens to their edges", async () => {
  const { db, lab: facts, session } = opened();
  const pot = { id: "digits" };
  const key = { n: "1" };
  await db.account.put(account);
  await db.pot.create(pot);
  const show = async () => {
    await facts.drain(session);
    await clean();
    const { total, streamed, most, amounts, given } = await stored("POT", "digits");
    expect(streamed).toEqual(total);
    return { total, most, amounts, given };
  };
  await db.pays.link(account, pot, { n: "1", amount: 0.1 });
  await db.pays.link(account, pot, { n: "2", amount: 0.5 });
  await writeDigits("POT#digits", "1", "0.12345678901234567890123456789");
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  expect(await show()).toEqual({
    total: { N: "0.62345678901234567890123456789" },
    most: { N: "0.5" },
    amounts: { N: "2" },
    given: { N: "0" },
  });
  await db.pays.relink(account, pot, { add: { amount: 1 } }, { key }).orThrow();
  expect(await show()).toMatchObject({ total: { N: "1.62345678901234567890123456789" }, most: { N: "1.12345678901234567890123456789" } });
  await db.pays.relink(account, pot, { add: { amount: 0.00000000000000000003 } }, { key }).orThrow();
  expect(await show()).toMatchObject({ total: { N: "1.62345678901234567893123456789" } });
  await db.pays.relink(account, pot, {}, { type: "gives", key }).orThrow();
  expect(await show()).toMatchObject({ total: { N: "0.5" }, given: { N: "1.12345678901234567893123456789" } });
  await db.gives.put(account, pot, { n: "1", amount: 2 }).orThrow();
  expect(await show()).toMatchObject({ given: { N: "2" } });
  // Two values that a double does not tell apart are two.
  await writeDigits("POT#digits", "2", "0.50000000000000000000000000001");
  await db.pays.link(account, pot, { n: "3", amount: 0.5 });
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  expect(await show()).toMatchObject({ total: { N: "1.00000000000000000000000000001" }, amounts: { N: "2" } });
  await db.pays.unlink(account, pot, { key: { n: "2" } }).orThrow();
  await db.pays.unlink(account, pot, { key: { n: "3" } }).orThrow();
  expect(await show()).toMatchObject({ total: { N: "0" }, most: undefined });
});

test("counters add up amounts with more digits than a double", async () => {
  const { db } = opened();
  const jar = { id: "digits" };
  await db.account.put(account);
  await db.jar.create(jar);
  await db.fills.link(account, jar, { n: "1", amount: 0.1 });
  await writeDigits("JAR#digits", "1", "0.12345678901234567890123456789");
  await verify(db, { settle: 10, staleAfter: 10, repair: true });
  await rollUpCounters(db, "jar", jar);
  expect(await stored("JAR", "digits")).toMatchObject({ total: { N: "0.12345678901234567890123456789" } });
  await db.fills.unlink(account, jar, { key: { n: "1" } }).orThrow();
  await rollUpCounters(db, "jar", jar);
  expect(await stored("JAR", "digits")).toMatchObject({ total: { N: "0" } });
});
