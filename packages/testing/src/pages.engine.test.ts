import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Item, QueryInput, QueryOutput, Transport } from "edgetable";
import { createFaultTransport, type FaultTransport } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, partition, textItem } from "./test-support/lab-table.ts";
import { propertyRuns } from "../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
let table: string;
const texts = ["\0", "a", "a\0", "ab", "abc", "b", "\ue000", "\uffff", "\u{10000}", "\u{1f600}"];
beforeAll(async () => {
  engine = await openEngine();
  table = await createLabTable(engine.transport);
  for (const [at, text] of texts.entries()) {
    const rest = { g: "p", h: texts[Math.floor(at / 2)] ?? "", n: String(at - 3), v: String(at % 3) };
    await engine.transport.send("PutItem", { TableName: table, Item: textItem({ pk: "p", sk: text, ...rest }) });
  }
});
afterAll(() => engine.close());

const pagesOf = async (transport: Transport, query: QueryInput): Promise<readonly QueryOutput[]> => {
  const pages: QueryOutput[] = [];
  for (let start: Item | undefined, more = true; more; more = start !== undefined) {
    const page: QueryOutput = await transport.send("Query", { ...query, ...(start && { ExclusiveStartKey: start }) });
    pages.push(page);
    start = page.LastEvaluatedKey;
    if (pages.length > 200) expect.unreachable("paging does not end");
  }
  return pages;
};
const itemsOf = (pages: readonly QueryOutput[]): readonly Item[] => pages.flatMap(({ Items = [] }) => Items);

const queries = fc
  .record({
    index: fc.constantFrom(undefined, "byText", "byNumber", "byGroup"),
    forward: fc.boolean(),
    limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    filter: fc.option(fc.constantFrom("0", "1", "7"), { nil: undefined }),
    range: fc.constantFrom("", "begins_with(#r, :r)", "#r >= :r", "#r <= :r"),
  })
  .map(({ index, forward, limit, filter, range }): QueryInput => {
    const base = partition(table, "p", index);
    const ranged = index === "byGroup" || index === "byNumber" ? "" : range;
    return {
      ...base,
      KeyConditionExpression: base.KeyConditionExpression + (ranged && ` AND ${ranged}`),
      ExpressionAttributeNames: {
        ...base.ExpressionAttributeNames,
        ...(ranged && { "#r": index ? "h" : "sk" }),
        ...(filter !== undefined && { "#v": "v" }),
      },
      ExpressionAttributeValues: {
        ...base.ExpressionAttributeValues,
        ...(ranged && { ":r": { S: "ab" } }),
        ...(filter !== undefined && { ":v": { S: filter } }),
      },
      ScanIndexForward: forward,
      ...(limit !== undefined && { Limit: limit }),
      ...(filter !== undefined && { FilterExpression: "#v = :v" }),
    };
  });

test("short and empty pages change the pages and never the answer", async () => {
  const property = fc.asyncProperty(queries, fc.integer({ min: 0 }), async (query, seed) => {
    const lying = createFaultTransport(engine.transport, { seed, rates: { shortPage: 0.4, emptyPage: 0.4 } });
    expect(itemsOf(await pagesOf(lying, query))).toEqual(itemsOf(await pagesOf(engine.transport, query)));
  });
  await fc.assert(property, propertyRuns(200));
});

const scripted = (fault: "shortPage" | "emptyPage", amount?: number): FaultTransport =>
  createFaultTransport(engine.transport, { script: [{ fault, ...(amount !== undefined && { amount }) }] });

test("a short page has fewer items than asked for and a cursor that goes on", async () => {
  const page = await scripted("shortPage", 3).send("Query", { ...partition(table, "p"), Limit: 8 });
  expect(page.Count).toBe(3);
  expect(page.LastEvaluatedKey).toEqual(textItem({ pk: "p", sk: "a\0" }));
});

test.each([true, false])("an empty page has a cursor before the first item (forward: %s)", async (ScanIndexForward) => {
  const query: QueryInput = {
    ...partition(table, "p", "byText"),
    KeyConditionExpression: "#hash = :hash AND #r > :r",
    ExpressionAttributeNames: { "#hash": "g", "#r": "h" },
    ExpressionAttributeValues: { ":hash": { S: "p" }, ":r": { S: "a\0" } },
    ScanIndexForward,
  };
  const lying = scripted("emptyPage");
  const pages = await pagesOf(lying, query);
  expect(pages[0]).toMatchObject({ Items: [], Count: 0, ScannedCount: 0 });
  expect(Object.keys(pages[0]?.LastEvaluatedKey ?? {}).toSorted()).toEqual(["g", "h", "pk", "sk"]);
  expect(pages[1]?.Items).toEqual((await engine.transport.send("Query", query)).Items);
  expect(lying.log).toHaveLength(1);
});

test("where no honest empty page can be had, the answer is plain and the log silent", async () => {
  const lying = scripted("emptyPage");
  const query = partition(table, "nobody");
  expect(await lying.send("Query", query)).toEqual(await engine.transport.send("Query", query));
  expect(lying.log).toEqual([]);
});

test("a scan's pages can be short, too", async () => {
  const page = await scripted("shortPage", 2).send("Scan", { TableName: table });
  expect(page.Items).toHaveLength(2);
  const rest = await engine.transport.send("Scan", { TableName: table, ExclusiveStartKey: page.LastEvaluatedKey ?? {} });
  expect(rest.Items).toHaveLength(texts.length - 2);
});
