import { once } from "node:events";
import { request, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import zlib from "node:zlib";
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type AttributeValue,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "./index.ts";

/** The port that clients connect to, seen by AWS's own client and by bare HTTP. */
let engine: LocalEngine;
let client: DynamoDBClient;

const clientOf = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" }, maxAttempts: 1 });

const createTable = (TableName: string, keys: readonly string[]): Promise<unknown> =>
  client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: keys.map((AttributeName, place) => ({ AttributeName, KeyType: place === 0 ? "HASH" : "RANGE" })),
      BillingMode: "PAY_PER_REQUEST",
    }),
  );

beforeAll(async () => {
  engine = await startEngine({ allowOrigins: ["http://localhost:5173"], allowHosts: ["host.docker.internal"] });
  client = clientOf(engine.endpoint);
  await createTable("People", ["id"]);
  await createTable("Edges", ["source", "target"]);
  await client.send(new PutItemCommand({ TableName: "People", Item: { id: { S: "ada" } } }));
});
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

const listTables = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-target": "DynamoDB_20120810.ListTables",
  "x-amz-date": "20260101T000000Z",
  authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
};

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One plain HTTP request, with headers that no SDK would send. */
const ask = async (
  headers: Readonly<Record<string, string>>,
  { method = "POST", body = "{}", endpoint = engine.endpoint }: { method?: string; body?: string | Buffer; endpoint?: string } = {},
): Promise<Answer> => {
  const call = request(endpoint, { method, headers, agent: false });
  call.end(method === "POST" ? body : undefined);
  const [answer] = (await once(call, "response")) as [import("node:http").IncomingMessage];
  // The answer is read as a stream of its own; writing the rest of a refused body may fail.
  call.on("error", () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() };
};

const answers = async (): Promise<boolean> => (await client.send(new ListTablesCommand({}))).TableNames?.includes("People") ?? false;

describe("AWS's client on the port that is printed", () => {
  const targets = ["A", "AB", "a", "a\0", "a\0b", "aB", "É", "é"];
  const begins = (prefix: string, more: object = {}) =>
    client.send(
      new QueryCommand({
        TableName: "Edges",
        KeyConditionExpression: "#s = :s AND begins_with(target, :t)",
        ExpressionAttributeNames: { "#s": "source" },
        ExpressionAttributeValues: { ":s": { S: "ada" }, ":t": { S: prefix } },
        ...more,
      }),
    );
  beforeAll(async () => {
    for (const target of targets)
      await client.send(new PutItemCommand({ TableName: "Edges", Item: { source: { S: "ada" }, target: { S: target } } }));
  });

  test("begins_with heeds case and U+0000, and counts what it finds", async () => {
    for (const prefix of ["A", "a", "AB", "a\0", "é"]) {
      const expected = targets.filter((target) => target.startsWith(prefix));
      expect((await begins(prefix)).Items?.map(({ target }) => target?.S)).toEqual(expected);
      expect((await begins(prefix, { Select: "COUNT" })).Count).toBe(expected.length);
    }
  });

  test("so does the older form of a key condition", async () => {
    const asked = (prefix: string) => ({
      TableName: "Edges",
      KeyConditions: {
        source: { ComparisonOperator: "EQ" as const, AttributeValueList: [{ S: "ada" }] },
        target: { ComparisonOperator: "BEGINS_WITH" as const, AttributeValueList: [{ S: prefix }] },
      },
    });
    const bare = clientOf(engine.bareEndpoint);
    expect((await bare.send(new QueryCommand(asked("A")))).Count).toBeGreaterThan(2);
    bare.destroy();
    for (const prefix of ["A", "a", "a\0"]) {
      const expected = targets.filter((target) => target.startsWith(prefix));
      expect((await client.send(new QueryCommand(asked(prefix)))).Items?.map(({ target }) => target?.S)).toEqual(expected);
    }
  });

  test("pages of one item end on a table without a sort key, the checksum of the corrected answer included", async () => {
    const query = { TableName: "People", KeyConditionExpression: "id = :id", ExpressionAttributeValues: { ":id": { S: "ada" } }, Limit: 1 };
    const page = await client.send(new QueryCommand(query));
    expect(page).toMatchObject({ Count: 1, Items: [{ id: { S: "ada" } }] });
    expect(page.LastEvaluatedKey).toBeUndefined();
    const after = await client.send(new QueryCommand({ ...query, ExclusiveStartKey: { id: { S: "ada" } } }));
    expect(after).toMatchObject({ Count: 0, Items: [] });
    const { headers, text } = await ask({ ...listTables, "x-amz-target": "DynamoDB_20120810.Query" }, { body: JSON.stringify(query) });
    expect(headers["x-amz-crc32"]).toBe(String(zlib.crc32(Buffer.from(text))));
    expect(JSON.parse(text)).not.toHaveProperty("LastEvaluatedKey");
  });

  test.each([
    ["UpdateItem", new UpdateItemCommand({ TableName: "People", Key: { id: { S: "ada" } }, UpdateExpression: "REMOVE 日" })],
    ["GetItem", new GetItemCommand({ TableName: "People", Key: { id: { S: "ada" } }, ProjectionExpression: "é" })],
    [
      "TransactWriteItems",
      new TransactWriteItemsCommand({
        TransactItems: [{ Delete: { TableName: "People", Key: { id: { S: "x" } }, ConditionExpression: "attribute_exists(é)" } }],
      }),
    ],
  ])("a multi-byte character in an expression of %s is refused as AWS refuses it, and the engine lives", async (_, command) => {
    await expect(client.send(command as UpdateItemCommand)).rejects.toMatchObject({
      name: "ValidationException",
      $metadata: { httpStatusCode: 400 },
      message: expect.stringContaining("through placeholders") as string,
    });
    expect(await answers()).toBe(true);
  });

  test("so is one that JSON escapes", async () => {
    const body = '{"TableName":"People","Key":{"id":{"S":"ada"}},"UpdateExpression":"REMOVE \\u65e5"}';
    const { status, text } = await ask({ ...listTables, "x-amz-target": "DynamoDB_20120810.UpdateItem" }, { body });
    expect([status, JSON.parse(text)]).toMatchObject([400, { __type: expect.stringContaining("#ValidationException") as string }]);
    expect(await answers()).toBe(true);
  });

  test("a page of a Scan ends after 2,000 items", async () => {
    await createTable("Many", ["id"]);
    for (let start = 0; start < 2_100; start += 25) {
      const put = (place: number) => ({ PutRequest: { Item: { id: { S: `${start + place}` } } } });
      await client.send(new BatchWriteItemCommand({ RequestItems: { Many: Array.from({ length: 25 }, (_, place) => put(place)) } }));
    }
    expect((await client.send(new ScanCommand({ TableName: "Many" }))).Count).toBe(2_000);
  });

  test("a batch of nearly 16 MB goes through whole, and what is longer is refused", async () => {
    const item = (place: number, length: number): Record<string, AttributeValue> => ({
      id: { S: `big${place}` },
      text: { S: "é".repeat(length / 2) },
    });
    const batch = (count: number, length: number) =>
      client.send(
        new BatchWriteItemCommand({
          RequestItems: { People: Array.from({ length: count }, (_, place) => ({ PutRequest: { Item: item(place, length) } })) },
        }),
      );
    expect((await batch(25, 390_000)).UnprocessedItems).toEqual({});
    const { Item } = await client.send(new GetItemCommand({ TableName: "People", Key: { id: { S: "big24" } } }));
    expect(Item?.["text"]?.S?.length).toBe(195_000);
    expect((await ask(listTables, { body: Buffer.alloc(33 * 1024 * 1024, "x") })).status).toBe(413);
    expect(await answers()).toBe(true);
  });

  test("a stream has no record of a write that changes nothing, and its open shard no end", async () => {
    await client.send(
      new CreateTableCommand({
        TableName: "Streamed",
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        BillingMode: "PAY_PER_REQUEST",
        StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
      }),
    );
    for (const value of ["1", "1", "2"])
      await client.send(new PutItemCommand({ TableName: "Streamed", Item: { id: { S: "a" }, value: { N: value }, more: { S: "x" } } }));
    const stream = async (operation: string, input: object, endpoint = engine.endpoint) =>
      JSON.parse(
        (await ask({ ...listTables, "x-amz-target": `DynamoDBStreams_20120810.${operation}` }, { body: JSON.stringify(input), endpoint }))
          .text,
      );
    const { StreamArn } = (await stream("ListStreams", { TableName: "Streamed" })).Streams[0];
    const shardAt = async (endpoint?: string) => (await stream("DescribeStream", { StreamArn }, endpoint)).StreamDescription.Shards[0];
    expect((await shardAt(engine.bareEndpoint)).SequenceNumberRange).toHaveProperty("EndingSequenceNumber");
    const { ShardId, SequenceNumberRange } = await shardAt();
    expect(SequenceNumberRange).toEqual({ StartingSequenceNumber: expect.any(String) as string });
    const { ShardIterator } = await stream("GetShardIterator", { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" });
    const namesAt = async (endpoint?: string): Promise<unknown> =>
      (await stream("GetRecords", { ShardIterator }, endpoint)).Records.map(({ eventName }: { readonly eventName: string }) => eventName);
    expect(await namesAt(engine.bareEndpoint)).toEqual(["INSERT", "MODIFY", "MODIFY"]);
    expect(await namesAt()).toEqual(["INSERT", "MODIFY"]);
  });
});

describe("requests that no client means to send", () => {
  test.each([
    ["half of JSON", '{"TableName":', 400, "SerializationException"],
    ["no object", "5", 400, "SerializationException"],
    ["nothing", "", 400, "SerializationException"],
    ["a list in place of a table", '{"TableName":["x"]}', 400, "SerializationException"],
    ["very deep JSON", `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, 400, "SerializationException"],
  ])("%s", async (_, body, status, name) => {
    const answer = await ask({ ...listTables, "x-amz-target": "DynamoDB_20120810.Query" }, { body });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(name);
    expect(await answers()).toBe(true);
  });

  test.each([
    ["an operation that there is not", { ...listTables, "x-amz-target": "DynamoDB_20120810.Nothing" }, 400],
    ["no target", { ...listTables, "x-amz-target": "" }, 400],
    ["a target in small letters, which would pass the guards by", { ...listTables, "x-amz-target": "dynamodb_20120810.query" }, 400],
    ["no signature", { ...listTables, authorization: "" }, 400],
    ["a compressed body", { ...listTables, "content-encoding": "gzip" }, 415],
  ])("%s", async (_, headers, status) => {
    expect((await ask(headers)).status).toBe(status);
    expect(await answers()).toBe(true);
  });

  test("a client that leaves in the middle of a request or of an answer harms nobody", async () => {
    const { port } = new URL(engine.endpoint);
    const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(listTables)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}`;
    for (const text of ["GARBAGE\r\n\r\n", head, `${head}Content-Length: 100\r\n\r\n{`, `${head}Content-Length: 2\r\n\r\n{}`]) {
      for (let round = 0; round < 10; round++) {
        const socket = connect(Number(port), "127.0.0.1");
        await once(socket, "connect");
        socket.on("error", () => undefined);
        await new Promise((resolve) => socket.write(text, resolve));
        socket.resetAndDestroy();
        await once(socket, "close");
      }
    }
    expect(await answers()).toBe(true);
  });
});

describe("web pages", () => {
  const page = { ...listTables, origin: "https://evil.example" };
  const preflight = {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-amz-target,content-type",
  };
  const permissions = ({ headers }: Answer): readonly string[] => Object.keys(headers).filter((name) => name.startsWith("access-control"));

  test("the engine itself lets every page read and write: this is why it has an address that no page finds", async () => {
    const bare = engine.bareEndpoint;
    expect((await ask(page, { endpoint: bare })).headers["access-control-allow-origin"]).toBe("*");
    expect((await ask(preflight, { method: "OPTIONS", endpoint: bare })).headers["access-control-allow-origin"]).toBe("*");
    expect((await ask({ ...listTables, host: "evil.example" }, { endpoint: bare })).status).toBe(200);
    if (process.platform === "linux") expect(new URL(bare).hostname).not.toBe("127.0.0.1");
  });

  test("a page of another origin is refused, and may read nothing", async () => {
    for (const origin of ["https://evil.example", "null", "http://localhost:5174", "http://127.0.0.1:8000"]) {
      const answer = await ask({ ...page, origin });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain(`Allow the origin with allowOrigins (edgetable dev --allow-origin ${origin})`);
      expect(permissions(answer)).toEqual([]);
    }
    const answer = await ask(preflight, { method: "OPTIONS" });
    expect([answer.status, permissions(answer)]).toEqual([403, []]);
  });

  test("a name that a page lets point to this machine is refused", async () => {
    for (const host of ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "[::]:1"]) {
      const answer = await ask({ ...listTables, host });
      expect([host, answer.status]).toEqual([host, 403]);
    }
    for (const host of ["localhost:8000", "LOCALHOST", "127.0.0.1", "[::1]:8000", "db.localhost", "host.docker.internal:8000"])
      expect((await ask({ ...listTables, host })).status).toBe(200);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""])(
    "the content type %j, which a page may send without asking, or which is not DynamoDB's, is refused",
    async (type) => {
      expect((await ask({ ...listTables, "content-type": type })).status).toBe(415);
    },
  );

  test("a page of an allowed origin is asked in, and reads", async () => {
    const origin = "http://localhost:5173";
    const asked = await ask({ ...preflight, origin }, { method: "OPTIONS" });
    expect(asked.status).toBe(204);
    expect(asked.headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "x-amz-target,content-type",
    });
    const answer = await ask({ ...page, origin });
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBe(origin);
  });

  test("without Origin an answer carries no permission", async () => {
    expect(permissions(await ask(listTables))).toEqual([]);
  });
});

describe("the end of the engine", () => {
  let own: LocalEngine | undefined;
  afterEach(() => own?.stop());

  test("ends what is under way with an error that says so, and the port is closed then", async () => {
    own = await startEngine();
    const mine = clientOf(own.endpoint);
    process.kill(own.pid, "SIGSTOP");
    const underway = mine.send(new ListTablesCommand({}));
    const refused = expect(underway).rejects.toMatchObject({
      name: "InternalServerError",
      message: expect.stringContaining("It may have ended") as string,
    });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    process.kill(own.pid, "SIGKILL");
    await refused;
    expect(await own.ended).toMatchObject({ code: "local.engineFailed", message: expect.stringContaining("SIGKILL") as string });
    await expect(mine.send(new ListTablesCommand({}))).rejects.toMatchObject({ code: "ECONNREFUSED" });
    mine.destroy();
  });
});

test("sweepEvery deletes what is over, again and again", async () => {
  const own = await startEngine({ sweepEvery: 100 });
  const headers = (operation: string) => ({ ...listTables, "x-amz-target": `DynamoDB_20120810.${operation}` });
  const send = (operation: string, input: object) => ask(headers(operation), { body: JSON.stringify(input), endpoint: own.endpoint });
  await send("CreateTable", {
    TableName: "Sessions",
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  });
  await send("UpdateTimeToLive", { TableName: "Sessions", TimeToLiveSpecification: { AttributeName: "ends", Enabled: true } });
  const seconds = Math.floor(Date.now() / 1000);
  for (const [id, ends] of [
    ["over", seconds - 10],
    ["later", seconds + 1_000],
  ])
    await send("PutItem", { TableName: "Sessions", Item: { id: { S: id }, ends: { N: String(ends) } } });
  const left = async (): Promise<readonly string[]> =>
    (JSON.parse((await send("Scan", { TableName: "Sessions" })).text) as { Items: readonly { id: { S: string } }[] }).Items.map(
      ({ id }) => id.S,
    );
  await expect.poll(left, { timeout: 30_000 }).toEqual(["later"]);
  await own.stop();
});
