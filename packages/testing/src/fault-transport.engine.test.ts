import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operation, type OperationInputs, type Transport, isEdgetableError } from "edgetable";
import { createFaultTransport, type FaultOptions, faultKinds, type FaultTransport, virtualClock } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, partition, textItem } from "./test-support/lab-table.ts";
import { propertyRuns } from "../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

type Request = { readonly [O in Operation]: readonly [O, OperationInputs[O]] }[Operation];

const requestsOn = (table: string): readonly Request[] => {
  const item = (sk: number): ReturnType<typeof textItem> => textItem({ pk: "p", sk: String(sk), g: "g1", h: String(sk % 3) });
  const RequestItems = { [table]: [1, 2, 3].map((sk) => ({ PutRequest: { Item: item(sk) } })) };
  const TransactItems = [4, 5].map((sk) => ({ Put: { TableName: table, Item: item(sk) } }));
  return [
    ["PutItem", { TableName: table, Item: item(0) }],
    ["BatchWriteItem", { RequestItems }],
    ["TransactWriteItems", { TransactItems, ClientRequestToken: `${table}-once` }],
    ["DeleteItem", { TableName: table, Key: textItem({ pk: "p", sk: "0" }) }],
    ["GetItem", { TableName: table, Key: textItem({ pk: "p", sk: "1" }) }],
    ["BatchGetItem", { RequestItems: { [table]: { Keys: [1, 2, 3, 4].map((sk) => textItem({ pk: "p", sk: String(sk) })) } } }],
    ["Query", { ...partition(table, "g1", "byText"), Limit: 4 }],
    ["Query", partition(table, "p")],
    ["Scan", { TableName: table, Limit: 3 }],
    ["TransactGetItems", { TransactItems: [{ Get: { TableName: table, Key: textItem({ pk: "p", sk: "4" }) } }] }],
  ];
};

const heard = async (transport: Transport, [operation, input]: Request): Promise<unknown> => {
  try {
    return await transport.send(operation, input);
  } catch (error) {
    return isEdgetableError(error) ? [error.code, error.message, error.details] : error;
  }
};

// The engine gives attributes in any order.
const sorted = (_: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The same calls in the same order on a fresh table of the same name. */
const play = async (options: FaultOptions): Promise<readonly [FaultTransport, string]> => {
  const table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, options);
  const answers: unknown[] = [];
  for (let round = 0; round < 4; round++) for (const request of requestsOn(table)) answers.push(await heard(lying, request));
  await engine.transport.send("DeleteTable", { TableName: table });
  return [lying, JSON.stringify(answers, sorted).replaceAll(table, "table")];
};

test("the same seed and calls give the same faults and answers, and so does their log as a script", async () => {
  const property = fc.asyncProperty(fc.integer(), fc.double({ min: 0.1, max: 1, noNaN: true }), async (seed, rates) => {
    const options: FaultOptions = { seed, rates, lag: { writes: 4, torn: true }, staleReads: { writes: 2, rate: 0.5 } };
    const [first, answers] = await play(options);
    const [second, same] = await play(options);
    const { seed: _, rates: __, ...rest } = options;
    const [third, replayed] = await play({ ...rest, script: first.log });
    expect(second.log).toEqual(first.log);
    expect(third.log).toEqual(first.log);
    expect(same).toBe(answers);
    expect(replayed).toBe(answers);
  });
  await fc.assert(property, propertyRuns(15));
});

test("by chance every fault comes up, and other seeds give other faults", async () => {
  const [one] = await play({ seed: 1, rates: 0.8, maxConsecutive: 50 });
  const [two] = await play({ seed: 2, rates: 0.8, maxConsecutive: 50 });
  expect(one.log).not.toEqual(two.log);
  const seen = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    const [{ log }] = await play({ seed, rates: 0.8, lag: { writes: 5 }, staleReads: { writes: 5 } });
    for (const { fault } of log) seen.add(fault);
  }
  expect([...seen].toSorted()).toEqual([...faultKinds, "lag", "staleRead"].toSorted());
});

test("requests under way together meet the faults of their ordinals", async () => {
  const table = await createLabTable(engine.transport);
  const faultsOf = async (): Promise<unknown> => {
    const lying = createFaultTransport(engine.transport, { seed: 3, rates: 0.5 });
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => heard(lying, ["PutItem", { TableName: table, Item: textItem({ pk: "p", sk: String(at) }) }])),
    );
    return lying.log;
  };
  expect(await faultsOf()).toEqual(await faultsOf());
});

test.each([0, 1, 3])("an identical request meets at most %d faults in a row", async (maxConsecutive) => {
  const table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, { rates: { resetBefore: 1 }, maxConsecutive });
  const outcomes: boolean[] = [];
  for (let attempt = 0; attempt < 8; attempt++) {
    const input = {
      TransactItems: [{ Put: { TableName: table, Item: textItem({ pk: "p", sk: "1" }) } }],
      ClientRequestToken: `${table}-${String(attempt)}`,
    };
    outcomes.push(
      await lying.send("TransactWriteItems", input).then(
        () => true,
        () => false,
      ),
    );
  }
  expect(outcomes).toEqual(Array.from({ length: 8 }, (_, attempt) => attempt % (maxConsecutive + 1) === maxConsecutive));
});

test("a client that retries gets through any weather, and the table is right", async () => {
  const table = await createLabTable(engine.transport);
  const clock = virtualClock();
  const lying = createFaultTransport(engine.transport, { seed: 11, rates: 0.6, latency: [1, 50], effects: clock });
  const until = async (sk: number): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await heard(lying, ["PutItem", { TableName: table, Item: textItem({ pk: "p", sk: String(sk) }) }]);
      if (!Array.isArray(answer)) return;
      expect(attempt).toBeLessThan(4);
      await clock.sleep(2 ** attempt * 1_000);
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, sk) => until(sk)));
  expect((await engine.transport.send("Query", partition(table, "p"))).Count).toBe(50);
  expect(lying.requests).toBe(50 + lying.log.length);
});

test("an unknown option is refused: the test would meet no faults", () => {
  expect(() => createFaultTransport(engine.transport, { rate: 0.2 } as never)).toThrow(
    /there is no option "rate"\. Did you mean "rates"\?/,
  );
});

test("options out of range are refused, all at once", () => {
  const wrong = (): unknown =>
    createFaultTransport(engine.transport, {
      rates: { resetAftr: 2 } as never,
      lag: {},
      staleReads: { writes: 1.5 },
      latency: [5, 1],
      maxConsecutive: -1,
    });
  expect(wrong).toThrow(expect.objectContaining({ code: "plan.invalidOption" }));
  expect(wrong).toThrow(
    /"resetAftr"\. Did you mean "resetAfter"\?.*not within 0 to 1.*lag takes.*staleReads takes.*latency.*maxConsecutive/,
  );
});

test("a script whose request cannot meet its fault says that the calls differ", async () => {
  const lying = createFaultTransport(engine.transport, { script: [{ n: 1, operation: "PutItem", fault: "resetAfter" }] });
  await expect(lying.send("ListTables", {})).rejects.toMatchObject({
    code: "plan.invalidOption",
    message: expect.stringContaining("request 1") as string,
  });
});

test("without options it is transparent", async () => {
  const [lying, answers] = await play({});
  const [, plain] = await play({ script: [] });
  expect(lying.log).toEqual([]);
  expect(answers).toBe(plain);
});
