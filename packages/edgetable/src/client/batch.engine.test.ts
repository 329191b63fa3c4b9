import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { edge, node, part } from "../schema/definition.ts";
import { virtualClock } from "@edgetable/testing";
import { openWriteLab, type Sent, type WriteLab } from "../test-support/write-lab.ts";
import type { BatchWriteItemOutput, WriteRequest } from "../transport/operations.ts";
import { batchOf, type Batch } from "./batch.ts";

const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), name: z.string().trim() }) });
const course = node({ key: "COURSE#{id}", schema: z.object({ id: z.string() }) });
const account = node({ key: "ACCOUNT#{id}", schema: z.object({ id: z.string(), email: z.string() }), unique: ["email"] });
const house = node({ key: "HOUSE#{id}", schema: z.object({ id: z.string() }) });
const room = part({ of: "house", key: "ROOM#{n}", schema: z.object({ n: z.string(), size: z.int().optional() }) });
const takes = edge({ from: "student", to: "course", schema: z.object({ grade: z.string().optional() }) });
const knows = edge({ from: "student", to: "student", symmetric: true });
const leads = edge({ from: "student", to: "course", multiplicity: "one-to-one" });

let lab: WriteLab;
let batch: Batch;
beforeAll(async () => {
  const definition = { table: "Batch", nodes: { student, course, account, house }, parts: { room }, edges: { takes, knows, leads } };
  // Only pauses take time: on a busy machine too, a deadline comes between two requests.
  lab = await openWriteLab(definition, { effects: virtualClock() });
  batch = batchOf(lab.driver);
});
afterAll(() => lab.stop());
beforeEach(() => {
  lab.sent.length = 0;
  lab.hooks = {};
});

const requestsOf = (sent: Sent): readonly WriteRequest[] => sent.input.RequestItems.Batch as readonly WriteRequest[];
const errorOf = async (act: () => unknown): Promise<EdgetableError> => {
  try {
    await act();
  } catch (error) {
    return error as EdgetableError;
  }
  throw new Error("nothing was thrown");
};

test("puts and deletions of nodes, parts and edges go into one BatchWriteItem, each alone and unchecked", async () => {
  const calls = [
    lab.node("student").put({ id: "S1", name: " Ann " }),
    lab.edge("takes").put({ id: "S1" }, { id: "nowhere" }, { grade: "A" }),
    lab.edge("knows").put({ id: "S1" }, { id: "S2" }),
    lab.part("room").put({ id: "H1" }, { n: "1", size: 20 }),
    lab.node("student").delete({ id: "none" }),
    lab.edge("takes").unlink({ id: "S9" }, { id: "C9" }),
  ];
  const call = batch(calls);
  const explained = await call.explain();
  const outcome = await call;
  expect(lab.sent).toHaveLength(1);
  expect(lab.sent[0]).toEqual({
    operation: "BatchWriteItem",
    input: {
      RequestItems: {
        Batch: [
          { PutRequest: { Item: { pk: { S: "STUDENT#S1" }, sk: { S: "#" }, type: { S: "student" }, name: { S: "Ann" } } } },
          {
            PutRequest: {
              Item: {
                pk: { S: "STUDENT#S1" },
                sk: { S: "takes#COURSE#nowhere" },
                type: { S: "takes" },
                gsi1pk: { S: "COURSE#nowhere" },
                gsi1sk: { S: "takes#STUDENT#S1" },
                grade: { S: "A" },
              },
            },
          },
          { PutRequest: { Item: { pk: { S: "STUDENT#S1" }, sk: { S: "knows#STUDENT#S2" }, type: { S: "knows" } } } },
          { PutRequest: { Item: { pk: { S: "STUDENT#S2" }, sk: { S: "knows#STUDENT#S1" }, type: { S: "knows" } } } },
          { PutRequest: { Item: { pk: { S: "HOUSE#H1" }, sk: { S: "ROOM#1" }, type: { S: "room" }, size: { N: "20" } } } },
          { DeleteRequest: { Key: { pk: { S: "STUDENT#none" }, sk: { S: "#" } } } },
          { DeleteRequest: { Key: { pk: { S: "STUDENT#S9" }, sk: { S: "takes#COURSE#C9" } } } },
        ],
      },
      ReturnConsumedCapacity: "TOTAL",
    },
  });
  expect(explained).toMatchObject({ kind: "batch", atomic: { kind: "item" }, requests: [{ operation: "BatchWriteItem" }] });
  expect(outcome).toMatchObject({ ok: true, items: 7, unwritten: [], atomic: { kind: "item" }, cost: { requests: 1, readUnits: 0 } });
  expect(Object.keys(await lab.items())).toEqual(
    expect.arrayContaining(["STUDENT#S1 / #", "STUDENT#S2 / knows#STUDENT#S1", "HOUSE#H1 / ROOM#1"]),
  );
});

test("26 items take two requests", async () => {
  const outcome = await batch(Array.from({ length: 26 }, (_, at) => lab.node("course").put({ id: `C${at}` })));
  expect(outcome).toMatchObject({ ok: true, items: 26 });
  expect(lab.sent.map((sent) => requestsOf(sent).length).toSorted()).toEqual([1, 25]);
});

test("of several writes to one key the last stands, and a request never holds a key twice", async () => {
  const put = (name: string) => lab.node("student").put({ id: "S3", name });
  expect(await batch([put("one"), put("two"), lab.node("student").delete({ id: "S3" }), put("three")])).toMatchObject({
    ok: true,
    items: 1,
  });
  expect(requestsOf(lab.sent[0]!)).toHaveLength(1);
  expect((await lab.items())["STUDENT#S3 / #"]).toMatchObject({ name: { S: "three" } });
  await batch([put("four"), lab.node("student").delete({ id: "S3" })]);
  expect((await lab.items())["STUDENT#S3 / #"]).toBeUndefined();
});

test("what DynamoDB leaves unprocessed is sent again until it goes through", async () => {
  let left = 3;
  lab.hooks.answer = (sent, output) => {
    if (sent.operation !== "BatchWriteItem" || left-- <= 0) return output;
    return { UnprocessedItems: { Batch: requestsOf(sent).slice(1) } } satisfies BatchWriteItemOutput;
  };
  const outcome = await batch(Array.from({ length: 5 }, (_, at) => lab.node("course").put({ id: `U${at}` })));
  expect(outcome).toMatchObject({ ok: true, items: 5, cost: { requests: 4 } });
  expect(lab.sent.map((sent) => requestsOf(sent).length)).toEqual([5, 4, 3, 2]);
});

test("what stays unprocessed until the deadline comes back by call and key, and orThrow throws it", async () => {
  lab.hooks.answer = (sent, output) =>
    sent.operation === "BatchWriteItem" ? { UnprocessedItems: { Batch: requestsOf(sent).slice(-1) } } : output;
  const calls = ["X1", "X2"].map((id) => lab.node("course").put({ id }));
  const outcome = await batch(calls).run({ deadline: 20_000 });
  expect(outcome).toMatchObject({
    ok: false,
    items: 1,
    unwritten: [{ call: 1, key: { pk: { S: "COURSE#X2" }, sk: { S: "#" } }, error: { code: "execute.unprocessed", retryable: true } }],
  });
  expect((await errorOf(() => batch(calls).orThrow({ deadline: 20_000 }))).code).toBe("execute.unprocessed");
});

test("an item that the service refuses is named, and the others are written", async () => {
  lab.hooks.before = (sent) => {
    if (!JSON.stringify(sent.input).includes("COURSE#bad")) return;
    throw new EdgetableError("execute.rejected", "ValidationException: no", { details: { fault: "ValidationException" } });
  };
  const outcome = await batch(["Y1", "Y2", "bad", "Y3", "Y4"].map((id) => lab.node("course").put({ id })));
  expect(outcome).toMatchObject({ ok: false, items: 4, unwritten: [{ call: 2, error: { code: "execute.rejected" } }] });
  expect(Object.keys(await lab.items())).toEqual(expect.arrayContaining(["COURSE#Y1 / #", "COURSE#Y4 / #"]));
});

test("when nothing was written the reason is thrown", async () => {
  lab.hooks.before = () => {
    throw new EdgetableError("execute.tableNotFound", "no table");
  };
  expect((await errorOf(() => batch([lab.node("course").put({ id: "Z" })]))).code).toBe("execute.tableNotFound");
});

test.each([
  ["create", () => lab.node("student").create({ id: "S", name: "x" })],
  ["link", () => lab.edge("takes").link({ id: "S" }, { id: "C" })],
  ["update", () => lab.node("student").update({ id: "S" }, { name: "x" })],
  ["condition", () => lab.node("student").put({ id: "S", name: "x" }, { if: { name: "y" } })],
  ["parts or edges along", () => lab.node("house").delete({ id: "H1" })],
  ["first has to read", () => lab.node("account").put({ id: "A", email: "a@b" })],
  ["first has to read", () => lab.edge("leads").put({ id: "S" }, { id: "C" })],
  ["guarded degree", () => lab.edge("leads").unlink({ id: "S" }, { id: "C" })],
])("a call that is more than a put or a deletion is refused before anything is sent: %s", async (why, call) => {
  const error = await errorOf(() => batch([lab.node("course").put({ id: "never" }), call() as never]));
  expect(error.code).toBe("plan.unsupported");
  expect(error.message).toContain(why);
  expect(lab.sent).toEqual([]);
});

test("put of an edge replaces what is there, counts a guarded edge once, and checks its ends", async () => {
  await batch([lab.node("student").put({ id: "P1", name: "Pat" }), lab.node("course").put({ id: "P1" })]);
  lab.sent.length = 0;
  expect(await lab.edge("leads").put({ id: "P1" }, { id: "P1" })).toMatchObject({ ok: true, atomic: { kind: "transaction", items: 5 } });
  // An index counts the edges to the course: this connection did not create the table, and reads its record beside that.
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "GetItem", "Query", "TransactWriteItems"]);
  expect(await lab.edge("leads").put({ id: "P1" }, { id: "P1" })).toMatchObject({ ok: true, atomic: { items: 3 } });
  const items = await lab.items();
  expect(items["STUDENT#P1 / ~degree#leads#out"]).toMatchObject({ "~count": { N: "1" } });
  expect(await lab.edge("leads").put({ id: "P1" }, { id: "gone" })).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/endMissing|degreeExceeded/),
  });
  expect(await lab.edge("takes").put({ id: "P1" }, { id: "gone" })).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  await lab.edge("takes").put({ id: "P1" }, { id: "P1" }, { grade: "A" }).orThrow();
  await lab.edge("takes").put({ id: "P1" }, { id: "P1" }, { grade: "B" }).orThrow();
  expect((await lab.items())["STUDENT#P1 / takes#COURSE#P1"]).toMatchObject({ grade: { S: "B" } });
});

test.each<readonly [string, object]>([
  ["an item that was not sent", { Batch: [{ PutRequest: { Item: { pk: { S: "COURSE#66" }, sk: { S: "#" }, type: { S: "course" } } } }] }],
  ["an item of another table", { Other: [{ PutRequest: { Item: { pk: { S: "COURSE#N1" }, sk: { S: "#" } } } }] }],
  ["neither a put nor a deletion", { Batch: [{}] }],
  ["a put without an item", { Batch: [{ PutRequest: {} }] }],
  ["an item without a key", { Batch: [{ PutRequest: { Item: { id: { S: "N1" } } } }] }],
])("%s that an answer leaves unprocessed is not written: the answer is not DynamoDB's", async (_, UnprocessedItems) => {
  lab.hooks.answer = (sent, output) => (sent.operation === "BatchWriteItem" ? { UnprocessedItems } : output);
  expect(await errorOf(() => batch([lab.node("course").put({ id: "N1" })]).orThrow())).toMatchObject({
    code: "execute.connection",
    message: expect.stringContaining("not DynamoDB's"),
  });
  expect(lab.sent).toHaveLength(1);
  expect((await lab.items())["COURSE#66 / #"]).toBeUndefined();
});

test("what is sent again is what was sent, whatever else the answer says of it", async () => {
  let left = 1;
  lab.hooks.answer = (sent, output) => {
    if (sent.operation !== "BatchWriteItem" || left-- <= 0) return output;
    const item = { pk: { S: "STUDENT#N2" }, sk: { S: "#" }, type: { S: "student" }, id: { S: "N2" }, name: { S: "forged" } };
    return { UnprocessedItems: { Batch: [{ PutRequest: { Item: item } }, { PutRequest: { Item: item } }] } };
  };
  expect(await batch([lab.node("student").put({ id: "N2", name: "own" })])).toMatchObject({ ok: true, items: 1 });
  expect(requestsOf(lab.sent[1]!)).toEqual(requestsOf(lab.sent[0]!));
});
