import { createLeanTransport, type Item, type QueryInput, type Transport, type WriteRequest } from "edgetable";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startEngine, sweepExpired, type LocalEngine } from "./index.ts";

/**
 * Each fault twice: bare, as the engine has it, and through the guard. A bare test that fails on a
 * newer engine says that its guard may go.
 */
let engine: LocalEngine;
let bare: Transport;
let guarded: Transport;

const text = (S: string): { readonly S: string } => ({ S });
const createTable = (TableName: string, keys: readonly string[]): Promise<unknown> =>
  bare.send("CreateTable", {
    TableName,
    AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    KeySchema: keys.map((AttributeName, place) => ({ AttributeName, KeyType: place === 0 ? ("HASH" as const) : ("RANGE" as const) })),
    BillingMode: "PAY_PER_REQUEST",
  });

const ada = { TableName: "People", Key: { id: text("ada") } };

beforeEach(async () => {
  engine = await startEngine();
  bare = createLeanTransport({ endpoint: engine.bareEndpoint, requestTimeout: 60_000 });
  guarded = createLeanTransport({ endpoint: engine.endpoint, requestTimeout: 60_000 });
  await createTable("People", ["id"]);
  await createTable("Edges", ["source", "target"]);
  await bare.send("PutItem", { TableName: "People", Item: { ...ada.Key, list: { L: [text("zero")] }, expiresAt: { N: "1000000000" } } });
});
afterEach(async () => {
  await bare.close();
  await guarded.close();
  await engine.stop();
});

describe("a raw multi-byte character in an expression", () => {
  const update = { ...ada, UpdateExpression: "SET 日 = :v", ExpressionAttributeValues: { ":v": text("x") } };

  test("bare: ends the engine's process", async () => {
    await expect(bare.send("UpdateItem", update)).rejects.toMatchObject({ code: "execute.connection" });
    await expect(bare.send("ListTables", {})).rejects.toMatchObject({ code: "execute.connection" });
  });

  test("bare: so does one in a projection and in a placeholder's own name", async () => {
    await expect(bare.send("GetItem", { ...ada, ProjectionExpression: "日" })).rejects.toMatchObject({ code: "execute.connection" });
    const other = await startEngine();
    const transport = createLeanTransport({ endpoint: other.bareEndpoint });
    await transport.send("CreateTable", {
      TableName: "People",
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
    });
    const named = { ...update, UpdateExpression: "SET #é = :v", ExpressionAttributeNames: { "#é": "e" } };
    await expect(transport.send("UpdateItem", named)).rejects.toMatchObject({ code: "execute.connection" });
    await transport.close();
    await other.stop();
  });

  test("guarded: is refused before it is sent, naming the character", async () => {
    await expect(guarded.send("UpdateItem", update)).rejects.toMatchObject({
      code: "execute.rejected",
      retryable: false,
      message: expect.stringContaining('UpdateExpression contains "日" at position 4') as string,
    });
  });

  test("guarded: inside a transaction and a batch as well", async () => {
    const refused = { code: "execute.rejected", details: { fault: "ValidationException" } };
    await expect(
      guarded.send("TransactWriteItems", { TransactItems: [{ Delete: { ...ada, ConditionExpression: "attribute_exists(é)" } }] }),
    ).rejects.toMatchObject(refused);
    await expect(
      guarded.send("BatchGetItem", { RequestItems: { People: { Keys: [ada.Key], ProjectionExpression: "🜁" } } }),
    ).rejects.toMatchObject(refused);
  });

  test("guarded: names and values outside ASCII go through placeholders", async () => {
    await guarded.send("UpdateItem", {
      ...ada,
      UpdateExpression: "SET #n = :v",
      ExpressionAttributeNames: { "#n": "日本 é 🜁" },
      ExpressionAttributeValues: { ":v": text("naïve 🜁") },
    });
    expect((await guarded.send("GetItem", ada)).Item).toMatchObject({ "日本 é 🜁": text("naïve 🜁") });
  });
});

describe("a Query with Limit 1 of a table without a sort key", () => {
  const query: QueryInput = {
    TableName: "People",
    KeyConditionExpression: "id = :id",
    ExpressionAttributeValues: { ":id": text("ada") },
    Limit: 1,
  };
  const pages = async (transport: Transport): Promise<number> => {
    let next: Item | undefined;
    let count = 0;
    do {
      next = (await transport.send("Query", { ...query, ...(next && { ExclusiveStartKey: next }) })).LastEvaluatedKey;
      count++;
    } while (next && count < 50);
    return count;
  };

  test("bare: goes on from where it began, which the transport refuses", async () => {
    await expect(pages(bare)).rejects.toMatchObject({
      code: "execute.connection",
      message: expect.stringContaining("where the page began"),
    });
  });

  test("guarded: is one page with the item", async () => {
    expect(await pages(guarded)).toBe(1);
    expect(await guarded.send("Query", query)).toMatchObject({ Count: 1, Items: [ada.Key] });
  });

  test("after the item itself, bare: ends there again; guarded: nothing", async () => {
    const after = { ...query, ExclusiveStartKey: ada.Key };
    await expect(bare.send("Query", after)).rejects.toMatchObject({ message: expect.stringContaining("where the page began") });
    expect(await guarded.send("Query", after)).toEqual({ Items: [], Count: 0, ScannedCount: 0 });
  });

  test("guarded: a table with a sort key keeps its pages", async () => {
    for (const target of ["bob", "cyd"])
      await bare.send("PutItem", { TableName: "Edges", Item: { source: text("ada"), target: text(target) } });
    const edges: QueryInput = {
      TableName: "Edges",
      KeyConditionExpression: "#s = :s",
      ExpressionAttributeNames: { "#s": "source" },
      ExpressionAttributeValues: { ":s": text("ada") },
      Limit: 1,
    };
    const first = await guarded.send("Query", edges);
    expect(first.LastEvaluatedKey).toEqual({ source: text("ada"), target: text("bob") });
    expect((await guarded.send("Query", { ...edges, ExclusiveStartKey: first.LastEvaluatedKey as Item })).Items).toEqual([
      { source: text("ada"), target: text("cyd") },
    ]);
  });
});

describe("begins_with of a key", () => {
  const targets = ["A", "AB", "a", "a\0", "a\0b", "aB", "a\u{10ffff}", "a\u{10ffff}b", "b", "É", "é"];
  const found = async (transport: Transport, prefix: string, input: Partial<QueryInput> = {}) => {
    const answer = await transport.send("Query", {
      TableName: "Edges",
      KeyConditionExpression: "#s = :s AND begins_with(target, :t)",
      ExpressionAttributeNames: { "#s": "source" },
      ExpressionAttributeValues: { ":s": text("ada"), ":t": text(prefix) },
      ...input,
    });
    return answer.Items?.map(({ target }) => (target as { readonly S: string }).S) ?? answer.Count;
  };
  beforeEach(async () => {
    for (const target of targets) await bare.send("PutItem", { TableName: "Edges", Item: { source: text("ada"), target: text(target) } });
  });

  test("bare: takes a small letter for a great one, and ends a text at U+0000", async () => {
    expect(await found(bare, "A")).toEqual(targets.slice(0, 8));
    expect(await found(bare, "é")).toEqual(["é"]);
    expect(await found(bare, "a\0")).toEqual(["A", "a", "a\0", "a\0b"]);
  });

  test("guarded: compares bytes, whatever follows, and counts what it gives", async () => {
    for (const prefix of ["A", "a", "AB", "ab", "a\0", "é", "a\u{10ffff}"]) {
      const expected = targets.filter((target) => target.startsWith(prefix));
      expect(await found(guarded, prefix)).toEqual(expected);
      expect(await found(guarded, prefix, { ScanIndexForward: false })).toEqual(expected.toReversed());
      expect(await found(guarded, prefix, { Select: "COUNT" })).toBe(expected.length);
    }
  });

  test("guarded: through placeholders, in any case and order, beside a value of the name that is added", async () => {
    const asked = {
      KeyConditionExpression: "BEGINS_WITH ( #t , :t ) and #s = :tEnd",
      ExpressionAttributeNames: { "#s": "source", "#t": "target" },
      ExpressionAttributeValues: { ":tEnd": text("ada"), ":t": text("A") },
    };
    expect(await found(guarded, "A", asked)).toEqual(["A", "AB"]);
    expect(await found(guarded, "A", { ...asked, KeyConditionExpression: "#s = :tEnd AND begins_with(#t,:t)", Limit: 1 })).toEqual(["A"]);
  });
});

describe("a Query without Limit", () => {
  const items = 10_000;
  const everything: QueryInput = {
    TableName: "Edges",
    KeyConditionExpression: "#s = :s",
    ExpressionAttributeNames: { "#s": "source" },
    ExpressionAttributeValues: { ":s": text("ada") },
  };
  const load = async (): Promise<void> => {
    for (let start = 0; start < items; start += 25) {
      const put = (place: number): WriteRequest => ({
        PutRequest: {
          Item: { source: text("ada"), target: text(String(start + place).padStart(6, "0")), filling: text("x".repeat(1_000)) },
        },
      });
      await bare.send("BatchWriteItem", { RequestItems: { Edges: Array.from({ length: 25 }, (_, place) => put(place)) } });
    }
  };
  const fastest = async (input: QueryInput): Promise<number> => {
    const times: number[] = [];
    for (let run = 0; run < 7; run++) {
      const start = performance.now();
      await bare.send("Query", input);
      times.push(performance.now() - start);
    }
    return Math.min(...times);
  };

  test("bare: reads all that remains for each page; guarded: pages of at most 2,000, and nothing is lost", async () => {
    await load();
    const page = await bare.send("Query", everything);
    expect(page.Count).toBeLessThan(items / 5);
    // The same page, byte for byte: only the rows read behind it differ.
    const [unlimited, limited] = [await fastest(everything), await fastest({ ...everything, Limit: page.Count as number })];
    expect(unlimited / limited).toBeGreaterThan(1.2);
    let seen = 0;
    let next: Item | undefined;
    do {
      const answer = await guarded.send("Query", { ...everything, Select: "COUNT", ...(next && { ExclusiveStartKey: next }) });
      expect(answer.Count).toBeLessThanOrEqual(2_000);
      seen += answer.Count ?? 0;
      next = answer.LastEvaluatedKey;
    } while (next);
    expect(seen).toBe(items);
  });

  test("guarded: a Limit that was asked for is kept, and a Scan gets one too", async () => {
    await load();
    expect(await guarded.send("Query", { ...everything, Limit: 7 })).toMatchObject({ Count: 7 });
    expect((await bare.send("Scan", { TableName: "Edges", Select: "COUNT" } as never)).ScannedCount).toBeGreaterThan(0);
    const small: WriteRequest[] = Array.from({ length: 25 }, (_, at) => ({ PutRequest: { Item: { id: text(`small${at}`) } } }));
    for (let round = 0; round < 100; round++)
      await bare.send("BatchWriteItem", {
        RequestItems: { People: small.map((_, at) => ({ PutRequest: { Item: { id: text(`${round}-${at}`) } } })) },
      });
    expect((await bare.send("Scan", { TableName: "People" })).Count).toBe(2_501);
    expect((await guarded.send("Scan", { TableName: "People" })).Count).toBe(2_000);
  });
});

describe("an index with several partition or sort keys", () => {
  const key = (AttributeName: string, KeyType: "HASH" | "RANGE") => ({ AttributeName, KeyType });
  const KeySchema = [key("source", "HASH"), key("target", "HASH"), key("at", "RANGE")];
  const create = (TableName: string) => ({
    TableName,
    AttributeDefinitions: ["source", "target", "at"].map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    KeySchema: [key("source", "HASH")],
    GlobalSecondaryIndexes: [{ IndexName: "both", KeySchema, Projection: { ProjectionType: "ALL" as const } }],
    BillingMode: "PAY_PER_REQUEST" as const,
  });

  test("bare: is created, and cannot be queried by both", async () => {
    await bare.send("CreateTable", create("Both"));
    const query = {
      TableName: "Both",
      IndexName: "both",
      KeyConditionExpression: "#s = :s AND #t = :t",
      ExpressionAttributeNames: { "#s": "source", "#t": "target" },
      ExpressionAttributeValues: { ":s": text("a"), ":t": text("b") },
    };
    await expect(bare.send("Query", query)).rejects.toMatchObject({ code: "execute.rejected" });
  });

  test("guarded: is refused, also where it is added to a table", async () => {
    const refused = { code: "execute.rejected", message: expect.stringContaining("index keys of several attributes") as unknown };
    await expect(guarded.send("CreateTable", create("Both"))).rejects.toMatchObject(refused);
    const { GlobalSecondaryIndexes, AttributeDefinitions } = create("People");
    const GlobalSecondaryIndexUpdates = GlobalSecondaryIndexes.map((Create) => ({ Create }));
    const add = guarded.send("UpdateTable", { TableName: "People", AttributeDefinitions, GlobalSecondaryIndexUpdates });
    await expect(add).rejects.toMatchObject(refused);
  });
});

describe("faults that stay: pinned, so that a newer engine shows", () => {
  test("SET of a list index past the end pads with nulls; AWS appends", async () => {
    const set = {
      ...ada,
      UpdateExpression: "SET #l[3] = :v",
      ExpressionAttributeNames: { "#l": "list" },
      ExpressionAttributeValues: { ":v": text("x") },
      ReturnValues: "UPDATED_NEW" as const,
    };
    expect((await guarded.send("UpdateItem", set)).Attributes).toEqual({
      list: { L: [text("zero"), { NULL: true }, { NULL: true }, text("x")] },
    });
  });

  test("REMOVE under a missing parent succeeds; AWS refuses with ValidationException", async () => {
    await expect(
      guarded.send("UpdateItem", { ...ada, UpdateExpression: "REMOVE #p.#a", ExpressionAttributeNames: { "#p": "absent", "#a": "a" } }),
    ).resolves.toBeDefined();
  });

  test("time to live is accepted and never deletes; sweepExpired does it when asked", async () => {
    await guarded.send("UpdateTimeToLive", { TableName: "People", TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true } });
    const year = 365 * 24 * 3600;
    const put = (id: string, expiresAt: object): Promise<unknown> =>
      guarded.send("PutItem", { TableName: "People", Item: { id: text(id), expiresAt } as Item });
    const now = 2_000_000_000;
    await put("over", { N: String(now - 1) });
    await put("later", { N: String(now + 60) });
    await put("ancient", { N: String(now - 6 * year) });
    await put("text", { S: "1" });
    expect((await guarded.send("GetItem", ada)).Item).toBeDefined();
    expect(await sweepExpired(guarded, { table: "People", attribute: "expiresAt", now: now * 1000 })).toBe(1);
    const left = (await guarded.send("Scan", { TableName: "People" })).Items?.map((item) => item["id"]);
    expect(left?.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual(
      ["ada", "ancient", "later", "text"].map(text),
    );
  });
});
