import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EdgetableError, Operation, OperationInputs } from "edgetable";
import { createFaultTransport, type FaultKind, type FaultTransport, virtualClock } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, partition, textItem, truth } from "./test-support/lab-table.ts";

let engine: TestEngine;
let table: string;
beforeAll(async () => {
  engine = await openEngine();
  table = await createLabTable(engine.transport);
});
afterAll(() => engine.close());

const one = (fault: FaultKind, amount?: number): FaultTransport =>
  createFaultTransport(engine.transport, { script: [{ fault, ...(amount !== undefined && { amount }) }] });

const failure = (work: Promise<unknown>): Promise<EdgetableError> =>
  work.then(
    () => expect.unreachable("no error"),
    (error: EdgetableError) => error,
  );

let items = 0;
const fresh = (): ReturnType<typeof textItem> => textItem({ pk: "p", sk: `item-${String(++items)}` });

type Send = { readonly [O in Operation]: readonly [O, OperationInputs[O]] }[Operation];
const send = (transport: FaultTransport, [operation, input]: Send): Promise<unknown> => transport.send(operation, input);

const put = (item: ReturnType<typeof textItem>): Send => ["PutItem", { TableName: table, Item: item }];
const transact = (item: ReturnType<typeof textItem>, token?: string): Send => [
  "TransactWriteItems",
  { TransactItems: [{ Put: { TableName: table, Item: item } }], ...(token !== undefined && { ClientRequestToken: token }) },
];

describe("each fault rejects as a real transport does", () => {
  const query = (): Send => ["Query", partition(table, "g1", "byText")];
  const get = (): Send => ["GetItem", { TableName: table, Key: fresh() }];
  const cases: readonly (readonly [FaultKind, () => Send, object])[] = [
    [
      "throttleTable",
      get,
      { code: "execute.throttled", details: { fault: "ProvisionedThroughputExceededException", status: 400, ambiguous: false } },
    ],
    ["throttleIndex", query, { code: "execute.throttled", details: { fault: "ProvisionedThroughputExceededException", ambiguous: false } }],
    ["throttleRequest", get, { code: "execute.throttled", details: { fault: "ThrottlingException" } }],
    ["internalErrorBefore", get, { code: "execute.unavailable", details: { fault: "InternalServerError", status: 500, ambiguous: true } }],
    ["internalErrorAfter", () => put(fresh()), { code: "execute.unavailable", details: { status: 500, ambiguous: true } }],
    ["unavailable", query, { code: "execute.unavailable", details: { fault: "ServiceUnavailable", status: 503 } }],
    ["resetBefore", get, { code: "execute.connection", details: { ambiguous: true } }],
    ["resetAfter", () => put(fresh()), { code: "execute.connection", details: { ambiguous: true } }],
    ["timeoutBefore", get, { code: "execute.timeout", details: { ambiguous: true } }],
    ["timeoutAfter", () => put(fresh()), { code: "execute.timeout", details: { ambiguous: true } }],
    ["writeConflict", () => put(fresh()), { code: "execute.conflict", details: { fault: "TransactionConflictException" } }],
    ["transactionConflict", () => transact(fresh()), { code: "execute.conflict", details: { reasons: [{ Code: "TransactionConflict" }] } }],
    ["transactionThrottled", () => transact(fresh()), { code: "execute.throttled", details: { reasons: [{ Code: "ThrottlingError" }] } }],
    ["transactionInProgressBefore", () => transact(fresh(), "t1"), { code: "execute.transactionInProgress", details: { status: 400 } }],
    ["transactionInProgressAfter", () => transact(fresh(), "t2"), { code: "execute.transactionInProgress", details: { status: 400 } }],
  ];
  test.each(cases)("%s", async (fault, make, expected) => {
    const request = make();
    const lying = one(fault);
    const error = await failure(send(lying, request));
    expect(error).toMatchObject({
      name: "EdgetableError",
      retryable: true,
      request: { operation: request[0], input: request[1] },
      ...expected,
    });
    expect(lying.log).toMatchObject([{ n: 1, operation: request[0], fault }]);
    await expect(send(lying, request)).resolves.toBeDefined();
  });

  test("a cancelled transaction blames some of its items and none of the others", async () => {
    const TransactItems = Array.from({ length: 5 }, () => ({ Put: { TableName: table, Item: fresh() } }));
    const blamed = new Set<number>();
    for (let draw = 0; draw < 30; draw++) {
      const lying = createFaultTransport(engine.transport, { script: [{ fault: "transactionConflict", draw }] });
      const error = await failure(lying.send("TransactWriteItems", { TransactItems }));
      const reasons = error.details["reasons"] as readonly { Code: string }[];
      expect(reasons).toHaveLength(5);
      blamed.add(reasons.filter(({ Code }) => Code === "TransactionConflict").length);
    }
    expect([...blamed].toSorted()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("before and after differ in the table", () => {
  const pairs: readonly (readonly ["internalError" | "reset" | "timeout" | "transactionInProgress"])[] = [
    ["internalError"],
    ["reset"],
    ["timeout"],
    ["transactionInProgress"],
  ];
  test.each(pairs)("%s", async (name) => {
    for (const when of ["Before", "After"] as const) {
      const item = fresh();
      await failure(send(one(`${name}${when}`), transact(item, `${name}${when}`)));
      expect(await truth(engine.transport, table, item)).toEqual(when === "After" ? item : undefined);
    }
  });

  test("a counter that is added to after a lost answer counts twice: retries must be idempotent", async () => {
    const Key = fresh();
    const add: OperationInputs["UpdateItem"] = {
      TableName: table,
      Key,
      UpdateExpression: "ADD #c :one",
      ExpressionAttributeNames: { "#c": "count" },
      ExpressionAttributeValues: { ":one": { N: "1" } },
    };
    const lying = one("resetAfter");
    await failure(lying.send("UpdateItem", add));
    await lying.send("UpdateItem", add);
    expect((await truth(engine.transport, table, Key))?.["count"]).toEqual({ N: "2" });
  });

  test("a transaction with a token is applied once, however its answers are lost", async () => {
    const Key = fresh();
    const Update = {
      TableName: table,
      Key,
      UpdateExpression: "ADD #c :one",
      ExpressionAttributeNames: { "#c": "count" },
      ExpressionAttributeValues: { ":one": { N: "1" } },
    };
    const input: OperationInputs["TransactWriteItems"] = { TransactItems: [{ Update }], ClientRequestToken: "once" };
    const lying = createFaultTransport(engine.transport, { script: [{ fault: "resetAfter" }, { fault: "transactionInProgressAfter" }] });
    await failure(lying.send("TransactWriteItems", input));
    await failure(lying.send("TransactWriteItems", input));
    await lying.send("TransactWriteItems", input);
    expect((await truth(engine.transport, table, Key))?.["count"]).toEqual({ N: "1" });
  });

  test("a lost answer hides a refusal, too", async () => {
    const lying = one("resetAfter");
    const guarded = { TableName: table, Item: fresh(), ConditionExpression: "attribute_exists(pk)" };
    expect(await failure(lying.send("PutItem", guarded))).toMatchObject({ code: "execute.connection" });
    expect(await failure(lying.send("PutItem", guarded))).toMatchObject({ code: "execute.rejected" });
  });
});

test("a timeout takes the attempt's own time", async () => {
  const clock = virtualClock();
  const lying = createFaultTransport(engine.transport, { effects: clock, script: [{ fault: "timeoutBefore" }], latency: [100, 100] });
  await failure(
    lying
      .send("ListTables", {}, { timeout: 5_000 })
      .then(() => lying.send("PutItem", { TableName: table, Item: fresh() }, { timeout: 5_000 })),
  );
  // 100 ms for the first request, the way there and the timeout for the second.
  expect(clock.now()).toBe(100 + 50 + 5_000);
});

test("an aborted request is not sent", async () => {
  const clock = virtualClock({ automatic: false });
  const item = fresh();
  const controller = new AbortController();
  const lying = createFaultTransport(engine.transport, { effects: clock, latency: [10, 10] });
  const sent = failure(lying.send("PutItem", { TableName: table, Item: item }, { signal: controller.signal }));
  controller.abort();
  expect(await sent).toMatchObject({ code: "execute.aborted", retryable: false });
  const late = failure(lying.send("PutItem", { TableName: table, Item: item }, { signal: controller.signal }));
  expect(await late).toMatchObject({ code: "execute.aborted", details: { ambiguous: false } });
  expect(await truth(engine.transport, table, item)).toBeUndefined();
});
