import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { node, part } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import { batchOf } from "./batch.ts";
import { loadOf } from "./load.ts";

let lab: WriteLab;
beforeAll(async () => {
  const order = node({ key: "ORDER#{orderId}", schema: z.object({ orderId: z.string() }) });
  const schema = z.object({ n: z.int(), text: z.string().optional() });
  lab = await openWriteLab({
    table: "Owners",
    nodes: { order },
    parts: {
      line: part({ of: "order", key: "LINE#{n:4}", schema, owner: "checked" }),
      remark: part({ of: "order", key: "REMARK#{n:4}", schema }),
    },
  });
});
afterAll(() => lab.stop());

test("a part whose owner is checked is written in a transaction with a check of its node", async () => {
  const create = lab.part("line").create({ orderId: "O1" }, { n: 1 });
  expect(await create).toMatchObject({ ok: false, reason: "endMissing", end: "owner" });
  expect(lab.sent).toMatchObject([
    {
      operation: "TransactWriteItems",
      input: {
        TransactItems: [
          { Put: { Item: { pk: { S: "ORDER#O1" }, sk: { S: "LINE#0001" } }, ConditionExpression: "attribute_not_exists(pk)" } },
          {
            ConditionCheck: {
              Key: { pk: { S: "ORDER#O1" }, sk: { S: "#" } },
              ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(#0)",
              ExpressionAttributeNames: { "#0": "~deleting" },
            },
          },
        ],
      },
    },
  ]);
  expect(await create.explain()).toMatchObject({ atomic: { kind: "transaction", items: 2 } });
  await lab.node("order").create({ orderId: "O1" }).orThrow();
  expect(await lab.part("line").create({ orderId: "O1" }, { n: 1 })).toMatchObject({ ok: true });
  expect(await lab.part("line").put({ orderId: "O1" }, { n: 1, text: "new" })).toMatchObject({ ok: true });
  expect(await lab.part("line").put({ orderId: "O2" }, { n: 1 })).toMatchObject({ ok: false, reason: "endMissing" });
});

test("a batch checks no owner: its parts are written and deleted without a look at their node", async () => {
  lab.sent.length = 0;
  const batch = batchOf(lab.driver);
  const put = batch([lab.part("line").put({ orderId: "O7" }, { n: 1 }), lab.part("remark").put({ orderId: "O7" }, { n: 1 })]);
  expect(await put.explain()).toMatchObject({ atomic: { kind: "item" }, requests: [{ operation: "BatchWriteItem" }] });
  expect(await put).toMatchObject({ ok: true, items: 2, unwritten: [] });
  expect(lab.sent).toMatchObject([
    {
      operation: "BatchWriteItem",
      input: {
        RequestItems: {
          Owners: [
            { PutRequest: { Item: { pk: { S: "ORDER#O7" }, sk: { S: "LINE#0001" } } } },
            { PutRequest: { Item: { pk: { S: "ORDER#O7" }, sk: { S: "REMARK#0001" } } } },
          ],
        },
      },
    },
  ]);
  const written = async () => Object.keys(await lab.items()).filter((key) => key.startsWith("ORDER#O7"));
  expect(await written()).toEqual(["ORDER#O7 / LINE#0001", "ORDER#O7 / REMARK#0001"]);
  expect(await batch([lab.part("line").delete({ orderId: "O7" }, { n: 1 })])).toMatchObject({ ok: true, items: 1 });
  expect(await written()).toEqual(["ORDER#O7 / REMARK#0001"]);
  await expect(async () => batch([lab.part("line").create({ orderId: "O7" }, { n: 1 }) as never]).explain()).rejects.toThrow(
    /create of "line", refuses .* use put/,
  );
});

test("a part whose owner is not checked is one PutItem", async () => {
  lab.sent.length = 0;
  expect(await lab.part("remark").create({ orderId: "O9" }, { n: 1 })).toMatchObject({ ok: true, atomic: { kind: "item" } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["PutItem"]);
});

test("a node and its first part may be created together", async () => {
  const { ok } = await lab.transact([lab.node("order").create({ orderId: "O3" }), lab.part("line").create({ orderId: "O3" }, { n: 1 })]);
  expect(ok).toBe(true);
});

test("a load finds owners that come behind their parts, and checks them where it is asked to", async () => {
  const load = loadOf(lab.driver);
  lab.sent.length = 0;
  const rows = [
    { part: "line", owner: { orderId: "O5" }, row: { n: 1 } },
    { node: "order", row: { orderId: "O5" } },
  ];
  expect(await load(rows)).toMatchObject({ items: 2, failed: 0 });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["BatchWriteItem"]);
  const [line] = rows;
  const checked = await load([line, { ...line, owner: { orderId: "O6" } }], { ends: "checked" });
  expect(checked).toMatchObject({ items: 1, failures: [{ row: 1, error: { details: { reason: "endMissing" } } }] });
});

test("a part without its node's id is refused with the arguments it takes", () => {
  const create = (...given: readonly unknown[]) => (lab.part("line").create as (...all: readonly unknown[]) => unknown)(...given);
  expect(() => create({ orderId: "O1", n: 1 })).toThrow(
    'Expected an object for the row of "line", after the id of its "order", such as { name: … }, got undefined.',
  );
});

test("a row that names another owner than the call is refused, in every write of it", async () => {
  const [old, next] = [{ orderId: "O20" }, { orderId: "O21" }];
  await lab.node("order").create(old).orThrow();
  await lab.node("order").create(next).orThrow();
  await lab.part("line").create(old, { n: 1, text: "a" }).orThrow();
  const row = { ...old, n: 1, text: "a" };
  const says = /^"orderId" in the row of "line" is "O20", and the call names the "order" with "O21"\. Leave "orderId" out of the row/;
  const line = lab.part("line");
  const writes = [() => line.put(next, row), () => line.create(next, row), () => line.upsert(next, row, { text: "b" })];
  for (const write of writes) expect(write).toThrow(says);
  await line.put(old, { ...row, text: "c" }).orThrow();
  const { orderId: _orderId, ...without } = row;
  await line.put(next, without).orThrow();
  const load = loadOf(lab.driver);
  const report = await load([
    { part: "line", owner: next, row: { ...row, n: 2 } },
    { part: "line", owner: next, row: { ...next, n: 3 } },
  ] as never);
  expect(report).toMatchObject({
    items: 1,
    failed: 1,
    failures: [{ error: { code: "schema.invalidValue", message: expect.stringMatching(says) } }],
  });
  expect(Object.keys(await lab.items()).filter((key) => key.startsWith("ORDER#O2"))).toEqual([
    "ORDER#O20 / #",
    "ORDER#O20 / LINE#0001",
    "ORDER#O21 / #",
    "ORDER#O21 / LINE#0001",
    "ORDER#O21 / LINE#0003",
  ]);
});
