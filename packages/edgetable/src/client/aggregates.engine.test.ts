import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, type SentRequest, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, name: z.string() }),
        version: true,
        derived: {
          students: count({ in: "enrolledIn" }),
          passed: count({ in: "enrolledIn", where: { grade: { gte: 5 } } }),
          points: sum({ in: "enrolledIn", of: "grade" }),
          mean: average({ in: "enrolledIn", of: "grade" }),
          rooms: count({ parts: "room" }),
        },
      }),
    },
    edges: {
      enrolledIn: edge({
        from: "student",
        to: "course",
        schema: z.object({ grade: z.number().optional() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }) }) },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof modelIn>["connect"]>;
const sent: SentRequest[] = [];
beforeAll(async () => {
  engine = await startEngine();
  db = modelIn(engine.freshTableName("aggregates")).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
});
afterAll(() => engine.stop());

let round = 0;
let [ann, bob, maths, arts] = [{ id: "" }, { id: "" }, { id: "" }, { id: "" }];
beforeEach(async () => {
  round++;
  [ann, bob, maths, arts] = [{ id: `ann${round}` }, { id: `bob${round}` }, { id: `maths${round}` }, { id: `arts${round}` }];
  for (const one of [ann, bob]) await db.student.create(one).orThrow();
  for (const one of [maths, arts]) await db.course.create({ ...one, name: "x" }).orThrow();
  sent.length = 0;
});

const derivedOf = async (course: { readonly id: string }): Promise<unknown> => {
  const {
    id: _id,
    name: _name,
    version: _version,
    ...rest
  } = (await db.course.get(course, { consistent: true })) as Record<string, unknown>;
  return rest;
};
const operations = (): readonly string[] => sent.map(({ operation }) => operation);

describe("aggregates in the write's own transaction", () => {
  test("begin at zero, and a link adds to them with the check of its end", async () => {
    expect(await db.course.get(maths, { consistent: true })).toEqual({
      ...maths,
      name: "x",
      version: 1,
      students: 0,
      passed: 0,
      points: 0,
      rooms: 0,
    });
    sent.length = 0;
    const linked = await db.enrolledIn.link(ann, maths, { grade: 7 }).orThrow();
    expect(linked.atomic).toEqual({ kind: "transaction", items: 3 });
    // The index key holds the count and the average needs its sum: the course is read first.
    expect(operations()).toEqual(["GetItem", "TransactWriteItems"]);
    await db.enrolledIn.link(bob, maths, { grade: 4 }).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 2, passed: 1, points: 11, mean: 5.5, rooms: 0 });
    expect(await db.course.get(maths)).toMatchObject({ version: 1 });
  });

  test("follow a relink and an unlink, which read what the edge counted for", async () => {
    await db.enrolledIn.link(ann, maths, { grade: 4 }).orThrow();
    await db.enrolledIn.relink(ann, maths, { grade: 6.5 }).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 1, passed: 1, points: 6.5, mean: 6.5, rooms: 0 });
    await db.enrolledIn.relink(ann, maths, { remove: ["grade"] }).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 1, passed: 0, points: 0, rooms: 0 });
    await db.enrolledIn.unlink(ann, maths).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 0, passed: 0, points: 0, rooms: 0 });
  });

  test("take a put for what it changes, and a put of the node keeps them", async () => {
    await db.enrolledIn.put(ann, maths).orThrow();
    await db.enrolledIn.put(ann, maths, { grade: 9 }).orThrow();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, passed: 1, points: 9 });
    await db.enrolledIn.put(ann, maths, { grade: 3 }).orThrow();
    await db.course.put({ ...maths, name: "y" }).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 1, passed: 0, points: 3, mean: 3, rooms: 0 });
  });

  test("count parts", async () => {
    await db.room.create(maths, { room: "1" }).orThrow();
    await db.room.put(maths, { room: "1" }).orThrow();
    await db.room.put(maths, { room: "2" }).orThrow();
    expect(await derivedOf(maths)).toMatchObject({ rooms: 2 });
    await db.room.delete(maths, { room: "1" }).orThrow();
    expect(await derivedOf(maths)).toMatchObject({ rooms: 1 });
  });

  test("count all writes of a transaction together", async () => {
    const chess = { id: `chess${round}` };
    await db.transact([
      db.course.create({ ...chess, name: "x" }),
      db.enrolledIn.link(ann, chess, { grade: 5 }),
      db.enrolledIn.link(bob, chess),
    ]);
    expect(await derivedOf(chess)).toEqual({ students: 2, passed: 1, points: 5, mean: 5, rooms: 0 });
    await db.transact([db.enrolledIn.unlink(ann, chess), db.enrolledIn.link(ann, maths), db.course.update(chess, { name: "z" })]);
    expect(await derivedOf(chess)).toEqual({ students: 1, passed: 0, points: 0, rooms: 0 });
    expect(await db.course.get(chess)).toMatchObject({ name: "z", version: 2 });
  });

  test("follow the deletion of a node at the other end", async () => {
    await db.enrolledIn.link(ann, maths, { grade: 8 }).orThrow();
    await db.enrolledIn.link(ann, arts, { grade: 2 }).orThrow();
    await db.enrolledIn.link(bob, arts, { grade: 6 }).orThrow();
    await db.student.delete(ann).orThrow();
    expect(await derivedOf(maths)).toEqual({ students: 0, passed: 0, points: 0, rooms: 0 });
    expect(await derivedOf(arts)).toEqual({ students: 1, passed: 1, points: 6, mean: 6, rooms: 0 });
    await db.course.delete(arts).orThrow();
    expect(await db.course.get(arts, { consistent: true })).toBeUndefined();
  });

  test("are exact decimals", async () => {
    await db.enrolledIn.link(ann, maths, { grade: 0.1 }).orThrow();
    await db.enrolledIn.link(bob, maths, { grade: 0.2 }).orThrow();
    expect(await derivedOf(maths)).toMatchObject({ points: 0.3 });
  });

  test("order a search, and a condition may ask for them", async () => {
    for (const student of [ann, bob]) await db.enrolledIn.link(student, maths).orThrow();
    const found = await db
      .find("course")
      .where({ students: { gte: 2 } })
      .reverse()
      .rows();
    expect(found.map((course) => course.id)).toContain(maths.id);
    expect(await db.course.update(maths, { name: "full" }, { if: { students: { lt: 2 } } })).toMatchObject({
      ok: false,
      reason: "conditionFailed",
    });
  });

  test("refuse to be set", async () => {
    expect(() => db.course.update(maths, { students: 5 } as never)).toThrow(
      expect.objectContaining({ code: "schema.derivedAttribute" }) as Error,
    );
    const refused = expect.objectContaining({ code: "schema.derivedAttribute", details: { attribute: "students" } }) as Error;
    const row = { ...maths, name: "x", students: 99 } as never;
    expect(() => db.course.create(row)).toThrow(refused);
    expect(() => db.course.upsert(row, { name: "y" })).toThrow(refused);
    expect(await derivedOf(maths)).toMatchObject({ students: 0 });
  });

  test("are left out of a put, which takes a row as it was read", async () => {
    await db.course.put({ ...maths, name: "x", students: 99 } as never).orThrow();
    expect(await derivedOf(maths)).toMatchObject({ students: 0 });
  });

  test("a link to a node that is not there fails, and counts nowhere", async () => {
    expect(await db.enrolledIn.link(ann, { id: "none" })).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  });

  test("many writers at once lose none", async () => {
    const students = Array.from({ length: 20 }, (_, at) => ({ id: `s${round}-${at}` }));
    await Promise.all(students.map((one) => db.student.create(one).orThrow()));
    await Promise.all(students.map((one, at) => db.enrolledIn.link(one, maths, { grade: at }).orThrow({ deadline: 60_000 })));
    expect(await derivedOf(maths)).toMatchObject({ students: 20, passed: 15, points: 190, mean: 9.5 });
  });
});

test("a put that gives an edge the attribute that it lacked adds to what sums it", async () => {
  await db.enrolledIn.link(ann, maths).orThrow();
  await db.enrolledIn.put(ann, maths, { grade: 7 }).orThrow();
  expect(await db.course(maths).get()).toMatchObject({ students: 1, passed: 1, points: 7, mean: 7 });
  await db.enrolledIn.put(ann, maths).orThrow();
  expect(await db.course(maths).get()).toMatchObject({ students: 1, passed: 0, points: 0 });
});

test("sums keep their digits beside averages and in indexes, and averages when large values leave", async () => {
  const account = node({
    key: "ACCOUNT#{id}",
    schema: z.object({ id }),
    derived: { paid: sum({ in: "pays", of: "amount" }), mean: average({ in: "pays", of: "amount" }) },
  });
  const amounts = z.object({ amount: z.union([z.number(), z.bigint()]) });
  const bank = defineGraph({
    table: engine.freshTableName("digits"),
    nodes: { account, payer: node({ key: "PAYER#{id}", schema: z.object({ id }) }) },
    edges: { pays: edge({ from: "payer", to: "account", schema: amounts, onDelete: { from: "cascade", to: "cascade" } }) },
    indexes: { byPaid: { entries: { account: "paid:number" } } },
  }).connect({ transport: engine.transport });
  await bank.table.create();
  for (const payer of ["a", "b", "c"]) await bank.payer.create({ id: payer });
  const derivedAfter = async (added: readonly (number | bigint)[], left: number): Promise<unknown> => {
    const to = { id: `account${++round}` };
    await bank.account.create(to);
    for (const [at, amount] of added.entries()) await bank.pays.link({ id: "abc"[at]! }, to, { amount });
    for (let at = 0; at < left; at++) await bank.pays.unlink({ id: "abc"[at]! }, to);
    const row = await bank.account.get(to);
    expect(await bank.find("account").where({ paid: row!.paid }).rows()).toContainEqual(row);
    return [row!.paid, row!.mean];
  };
  expect(await derivedAfter([1, 0.1 + 0.2, 0.1], 3)).toEqual([0, undefined]);
  expect(await derivedAfter([9007199254740993n, 0.5, 0.25], 3)).toEqual([0, undefined]);
  expect(await derivedAfter([123456789.12345679, 1e-9, 1e-12], 3)).toEqual([0, undefined]);
  expect(await derivedAfter([1e20, 3], 1)).toEqual([3, 3]);
  expect(await derivedAfter([12345678901234567890123456789012345678n, 3], 1)).toEqual([3, 3]);
  expect(await derivedAfter([12345678901234500, 0.125], 1)).toEqual([0.125, 0.125]);
});

test("a bigint in the condition of an aggregate stands in the table's record of the model", async () => {
  const counted = node({ key: "A#{id}", schema: z.object({ id }), derived: { large: count({ in: "e", where: { w: { gt: 1n } } }) } });
  const nodes = { a: counted };
  const e = edge({ from: "a", to: "a", schema: z.object({ w: z.bigint() }), onDelete: { from: "cascade", to: "cascade" } });
  const graph = defineGraph({ table: engine.freshTableName("bigint"), nodes, edges: { e } }).connect({ transport: engine.transport });
  await graph.table.create();
  for (const one of ["x", "y"]) await graph.a.create({ id: one });
  await graph.e.link({ id: "x" }, { id: "y" }, { w: 2n });
  expect(await graph.a.get({ id: "y" })).toEqual({ id: "y", large: 1 });
});

test("a sum that would have more than 38 digits is refused by its name, and nothing is written", async () => {
  const schema = z.object({ id, amount: z.bigint() });
  const invoice = node({
    key: "INVOICE#{id}",
    schema: z.object({ id }),
    derived: {
      bills: count({ parts: "bill" }),
      total: sum({ parts: "bill", of: "amount" }),
      mean: average({ parts: "bill", of: "amount" }),
    },
  });
  const parts = { bill: part({ of: "invoice", key: "BILL#{billId}", schema: schema.omit({ id: true }).extend({ billId: id }) }) };
  const bills = defineGraph({ table: engine.freshTableName("long"), nodes: { invoice }, parts }).connect({ transport: engine.transport });
  await bills.table.create();
  await bills.invoice.create({ id: "1" }).orThrow();
  await bills.bill.create({ id: "1" }, { billId: "a", amount: 6n * 10n ** 37n + 1n }).orThrow();
  await expect(bills.bill.create({ id: "1" }, { billId: "b", amount: 6n * 10n ** 37n })).rejects.toMatchObject({
    code: "execute.rejected",
    message: expect.stringMatching(/38 digits of a number, and "total" of INVOICE#1 \/ # or "mean" of INVOICE#1 \/ # would have more/),
  });
  expect(await bills.invoice({ id: "1" }).parts("bill").all()).toHaveLength(1);
});

test("a part without its node counts for nothing, and cannot come to count before there is the node", async () => {
  const invoice = node({
    key: "INVOICE#{id}",
    schema: z.object({ id }),
    derived: {
      mean: average({ parts: "bill", of: "amount" }),
      total: sum({ parts: "bill", of: "amount" }),
      paid: count({ parts: "bill", where: { paid: true } }),
    },
  });
  const schema = z.object({ billId: id, amount: z.number().optional(), paid: z.boolean().optional() });
  const parts = { bill: part({ of: "invoice", key: "BILL#{billId}", schema }) };
  const bills = defineGraph({ table: engine.freshTableName("orphans"), nodes: { invoice }, parts }).connect({
    transport: engine.transport,
  });
  await bills.table.create();
  const [one, bill] = [{ id: "1" }, { billId: "a" }];
  await bills.bill.put(one, bill).orThrow();
  for (const write of [
    bills.bill.put(one, { ...bill, amount: 0.1 }),
    bills.bill.update(one, bill, { amount: 0.1 }),
    bills.bill.update(one, bill, { paid: true }),
  ])
    expect(await write).toMatchObject({ ok: false, reason: "endMissing" });
  await bills.invoice.create(one).orThrow();
  expect(await bills.invoice.get(one)).toEqual({ ...one, total: 0, paid: 0 });
  await bills.bill.update(one, bill, { amount: 0.1, paid: true }).orThrow();
  expect(await bills.invoice.get(one)).toEqual({ ...one, total: 0.1, paid: 1, mean: 0.1 });
});

test("sums and averages leave out values that are not numbers", async () => {
  const invoice = node({
    key: "INVOICE#{id}",
    schema: z.object({ id }),
    derived: { mean: average({ parts: "bill", of: "amount" }), total: sum({ parts: "bill", of: "amount" }) },
  });
  const amount = z.union([z.number(), z.string(), z.boolean(), z.array(z.number()), z.null()]).optional();
  const parts = { bill: part({ of: "invoice", key: "BILL#{billId}", schema: z.object({ billId: id, amount }) }) };
  const bills = defineGraph({ table: engine.freshTableName("mixed"), nodes: { invoice }, parts }).connect({ transport: engine.transport });
  await bills.table.create();
  const one = { id: "1" };
  await bills.invoice.create(one).orThrow();
  const amounts = ["5", true, [7], null, undefined];
  for (const [at, value] of amounts.entries())
    await bills.bill.put(one, { billId: `${at}`, ...(value !== undefined && { amount: value }) }).orThrow();
  expect(await bills.invoice.get(one)).toEqual({ ...one, total: 0 });
  await bills.bill.put(one, { billId: "0", amount: 4 }).orThrow();
  await bills.bill.put(one, { billId: "1", amount: 1 }).orThrow();
  expect(await bills.invoice.get(one)).toEqual({ ...one, total: 5, mean: 2.5 });
  await bills.bill.update(one, { billId: "0" }, { amount: "4" }).orThrow();
  expect(await bills.invoice.get(one)).toEqual({ ...one, total: 1, mean: 1 });
  expect(await verify(bills, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});

test("a node that is older than its counts has none until a migration computes them, whatever writes it with its edges", async () => {
  const table = engine.freshTableName("older");
  const openModel = (derived: object) => {
    const ends = { from: "user", to: "post", onDelete: { from: "cascade", to: "cascade" } } as const;
    const graph = defineGraph({
      table,
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id }) }),
        post: node({ key: "POST#{id}", schema: z.object({ id, name: id.optional() }), ...derived }),
      },
      edges: { likes: edge({ ...ends, schema: z.object({ stars: z.int() }) }) },
    });
    return graph.connect({ transport: engine.transport });
  };
  const derived = {
    likes: count({ in: "likes" }),
    stars: sum({ in: "likes", of: "stars" }),
    mean: average({ in: "likes", of: "stars" }),
  };
  const [old, now] = [openModel({}), openModel({ derived })];
  await old.table.create();
  const [one, users] = [{ id: "1" }, [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }]];
  for (const user of users) await old.user.create(user).orThrow();
  const [unliked, young] = [{ id: "2" }, { id: "3" }];
  for (const post of [one, unliked]) await old.post.create(post).orThrow();
  await now.post.create(young).orThrow();
  await old.likes.link(users[0]!, one, { stars: 1 }).orThrow();
  await now.likes.link(users[1]!, one, { stars: 2 }).orThrow();
  for (const write of [now.post.put({ ...one, name: "put" }), now.post.update(one, { name: "updated" })])
    expect(await now.transact([write, now.likes.put(users[2]!, one, { stars: 3 })])).toMatchObject({ ok: true });
  await now.transact([now.post.put(one), now.likes.link(users[3]!, one, { stars: 4 })]).orThrow();
  for (const post of [unliked, young]) await now.likes.link(users[0]!, post, { stars: 5 }).orThrow();
  for (const post of [one, unliked]) expect(await now.post.get(post)).toEqual(post);
  expect(await now.post.get(young)).toEqual({ ...young, likes: 1, stars: 5, mean: 5 });
  expect(await now.migrations.run({ share: 100, indexLag: 0, finish: true })).toMatchObject({ complete: true });
  await now.transact([now.post.put(one), now.likes.unlink(users[3]!, one)]).orThrow();
  expect(await now.post.get(one)).toEqual({ ...one, likes: 3, stars: 6, mean: 2 });
  await now.likes.unlink(users[0]!, unliked).orThrow();
  expect(await now.post.get(unliked)).toEqual({ ...unliked, likes: 0, stars: 0 });
  expect(await verify(now, { settle: 5 })).toMatchObject({ clean: true });
});
