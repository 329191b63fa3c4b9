import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Item, QueryInput, Transport, WriteRequest } from "edgetable";
import { compareValues } from "./expression.ts";
import { createFaultTransport, type ScriptedFault } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, textItem } from "./test-support/lab-table.ts";
import { propertyRuns } from "../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// Few values, so that items move between partitions, share range keys and come back.
const hashes = fc.constantFrom("g1", "g2");
const texts = fc.constantFrom("a", "ab", "abc", "b", "é", "\u{1f600}", "\uffff");
const numbers = fc.constantFrom("-10", "-1.5", "0", "2", "10", "100.25");
const keys = fc.record({ pk: fc.constantFrom("p1", "p2"), sk: texts });
const bodies = fc.record({ g: hashes, h: texts, n: numbers, v: texts }, { requiredKeys: [] });
const items = fc.tuple(keys, bodies).map(([key, body]): Item => textItem({ ...key, ...body }));
const keyItems = keys.map(textItem);

type Write = (transport: Transport, table: string) => Promise<unknown>;

const puts = items.map(
  (Item): Write =>
    (transport, TableName) =>
      transport.send("PutItem", { TableName, Item }),
);
const deletes = keyItems.map(
  (Key): Write =>
    (transport, TableName) =>
      transport.send("DeleteItem", { TableName, Key }),
);
const moves = fc.tuple(keyItems, hashes, texts, fc.boolean()).map(
  ([Key, g, h, fails]): Write =>
    (transport, TableName) =>
      transport.send("UpdateItem", {
        TableName,
        Key,
        UpdateExpression: "SET #g = :g, #h = :h REMOVE #n",
        ...(fails && { ConditionExpression: "attribute_exists(#n)" }),
        ExpressionAttributeNames: { "#g": "g", "#h": "h", "#n": "n" },
        ExpressionAttributeValues: { ":g": { S: g }, ":h": { S: h } },
      }),
);
const keyed = (item: Item): string => JSON.stringify([item["pk"], item["sk"]]);
const batches = fc
  .tuple(fc.uniqueArray(items, { selector: keyed, maxLength: 4 }), keyItems)
  .map(([put, drop]): Write => (transport, table) => {
    const requests: WriteRequest[] = put.filter((item) => keyed(item) !== keyed(drop)).map((Item) => ({ PutRequest: { Item } }));
    return transport.send("BatchWriteItem", { RequestItems: { [table]: [...requests, { DeleteRequest: { Key: drop } }] } });
  });
const transactions = fc
  .tuple(fc.uniqueArray(items, { selector: keyed, minLength: 1, maxLength: 3 }), keyItems)
  .map(([put, drop]): Write => (transport, TableName) => {
    const kept = put.filter((item) => keyed(item) !== keyed(drop));
    return transport.send("TransactWriteItems", {
      TransactItems: [...kept.map((Item) => ({ Put: { TableName, Item } })), { Delete: { TableName, Key: drop } }],
    });
  });
const writes = fc.array(fc.oneof({ weight: 3, arbitrary: puts }, deletes, { weight: 3, arbitrary: moves }, batches, transactions), {
  minLength: 1,
  maxLength: 12,
});

interface Shape {
  readonly IndexName?: string;
  readonly hash: string;
  readonly range?: string;
  readonly partition: string;
}
const shapes = fc.oneof(
  hashes.map((partition): Shape => ({ IndexName: "byText", hash: "g", range: "h", partition })),
  hashes.map((partition): Shape => ({ IndexName: "byNumber", hash: "g", range: "n", partition })),
  hashes.map((partition): Shape => ({ IndexName: "byGroup", hash: "g", partition })),
  fc.constantFrom("p1", "p2").map((partition): Shape => ({ hash: "pk", range: "sk", partition })),
);
const ranges = fc.constantFrom("", "#r = :x", "#r < :x", "#r <= :x", "#r > :x", "#r >= :x", "#r BETWEEN :x AND :y", "begins_with(#r, :x)");
const parts = fc.record({
  shape: shapes,
  range: ranges,
  low: fc.tuple(texts, numbers),
  high: fc.tuple(texts, numbers),
  start: fc.option(fc.record({ pk: fc.constantFrom("p1", "p2"), sk: texts, h: texts, n: numbers })),
  limit: fc.option(fc.integer({ min: 1, max: 4 })),
  forward: fc.boolean(),
  filter: fc.constantFrom("", "#v >= :v", "attribute_exists(#v) AND NOT #v = :v", "begins_with(#v, :v) OR #v IN (:v)"),
  view: fc.constantFrom({}, {}, { Select: "COUNT" as const }, { ProjectionExpression: "#pk, #v" }),
});
type Parts = typeof parts extends fc.Arbitrary<infer P> ? P : never;

const condition = ({
  shape,
  range,
  low,
  high,
}: Parts): { readonly text: string; readonly names: Record<string, string>; readonly values: Item } => {
  const base = { text: "#hash = :hash", names: { "#hash": shape.hash }, values: { ":hash": { S: shape.partition } } };
  const isNumber = shape.range === "n";
  if (shape.range === undefined || range === "" || (isNumber && range.startsWith("begins"))) return base;
  const between = range.includes(":y");
  const ends = [low, high].map(([text, number]): Item[string] => (isNumber ? { N: number } : { S: text }));
  if (between) ends.sort((a, b) => compareValues(a, b) ?? 0);
  return {
    text: `${base.text} AND ${range}`,
    names: { ...base.names, "#r": shape.range },
    values: { ...base.values, ":x": ends[0] as Item[string], ...(between && { ":y": ends[1] as Item[string] }) },
  };
};

const queryOf = (part: Parts): Omit<QueryInput, "TableName"> => {
  const { shape, start, filter, view } = part;
  const { text, names, values } = condition(part);
  const position =
    start &&
    textItem({
      pk: start.pk,
      sk: start.sk,
      ...(shape.IndexName && { g: shape.partition }),
      ...(shape.IndexName && shape.range && { [shape.range]: start[shape.range as "h" | "n"] }),
    });
  const inTable = position && !shape.IndexName ? { ...position, pk: { S: shape.partition } } : position;
  return {
    ...(shape.IndexName !== undefined && { IndexName: shape.IndexName }),
    KeyConditionExpression: text,
    ExpressionAttributeNames: { ...names, ...(filter && { "#v": "v" }), ...("ProjectionExpression" in view && { "#v": "v", "#pk": "pk" }) },
    ExpressionAttributeValues: { ...values, ...(filter && { ":v": { S: "ab" } }) },
    ...(filter && { FilterExpression: filter }),
    ...(inTable && { ExclusiveStartKey: inTable }),
    ...(part.limit !== null && { Limit: part.limit }),
    ScanIndexForward: part.forward,
    ...view,
  };
};

interface Read {
  readonly fault: "lag" | "staleRead";
  readonly send: (transport: Transport, table: string) => Promise<unknown>;
}
const queries = parts.map((part): Read => {
  const query = queryOf(part);
  return {
    fault: part.shape.IndexName === undefined ? "staleRead" : "lag",
    send: (transport, TableName) => transport.send("Query", { ...query, TableName }),
  };
});
const gets = keyItems.map((Key): Read => ({
  fault: "staleRead",
  send: (transport, TableName) => transport.send("GetItem", { TableName, Key }),
}));
const batchGets = fc.uniqueArray(keyItems, { selector: keyed, minLength: 1 }).map((Keys): Read => ({
  fault: "staleRead",
  send: async (transport, table) => {
    const { Responses } = await transport.send("BatchGetItem", { RequestItems: { [table]: { Keys } } });
    return Responses?.[table]?.toSorted((a, b) => (keyed(a) < keyed(b) ? -1 : 1));
  },
}));
const reads = fc.array(fc.oneof({ weight: 6, arbitrary: queries }, gets, batchGets), { minLength: 4, maxLength: 8 });

/** A refusal is an answer, too; its request id is not. */
const answerOf = (read: Read, transport: Transport, table: string): Promise<unknown> =>
  read.send(transport, table).catch((error: unknown) => String(error).replace(/ \(request [^)]*\)/, ""));

/** What the engine itself answered after each write that took effect; at 0 before any. */
const recordAnswers = async (
  lying: Transport,
  table: string,
  plan: { writes: readonly Write[]; reads: readonly Read[] },
): Promise<readonly (readonly unknown[])[]> => {
  const ask = (): Promise<unknown[]> => Promise.all(plan.reads.map((read) => answerOf(read, engine.transport, table)));
  const answers = [await ask()];
  for (const write of plan.writes) {
    const done = await write(lying, table).then(
      () => true,
      () => false,
    );
    if (done) answers.push(await ask());
  }
  return answers;
};

test("a lagging read is exactly what the engine itself answered that many writes ago", async () => {
  const property = fc.asyncProperty(writes, reads, async (writeList, readList) => {
    const table = await createLabTable(engine.transport);
    const depths = writeList.map((_, depth) => depth);
    const script = depths.flatMap((amount) => readList.map(({ fault }): ScriptedFault => ({ fault, amount })));
    const lying = createFaultTransport(engine.transport, { script });
    const answers = await recordAnswers(lying, table, { writes: writeList, reads: readList });
    for (const depth of depths) {
      const then = answers[Math.max(0, answers.length - 1 - depth)];
      for (const [at, read] of readList.entries()) expect(await answerOf(read, lying, table)).toEqual(then?.[at]);
    }
    lying.settle();
    for (const [at, read] of readList.entries()) expect(await answerOf(read, lying, table)).toEqual(answers.at(-1)?.[at]);
    await engine.transport.send("DeleteTable", { TableName: table });
  });
  await fc.assert(property, propertyRuns(60));
});
