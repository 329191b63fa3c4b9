import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, test } from "vitest";
import { createLeanTransport } from "./lean/lean-transport.ts";
import { createSdkTransport } from "./sdk/index.ts";
import type { Transport } from "./transport.ts";

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const transports: readonly (readonly [name: string, open: (endpoint: string) => Transport])[] = [
  ["lean", (endpoint) => createLeanTransport({ endpoint, region: "us-east-1" })],
  ["sdk", (endpoint) => createSdkTransport(new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 }))],
];

let server: Server | undefined;
const sockets = new Set<Socket>();

/** A server that does with each whole request what the test says. */
const serve = async (onRequest: (socket: Socket, count: number) => void): Promise<string> => {
  let count = 0;
  server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      const blank = text.indexOf("\r\n\r\n");
      if (blank < 0 || text.length < blank + 4 + length) return;
      text = "";
      onRequest(socket, ++count);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server?.close();
});

const answer = (status: string, body: string, headers = ""): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/x-amz-json-1.0\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const fault = (name: string, status: string): string =>
  answer(status, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "because" }));

/** A moment, counted in turns of the event loop: a busy machine makes each of them longer, not more of them. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

const put = { TableName: "Test", Item: { PK: { S: "a" } } } as const;

describe.each(transports)("the %s transport and a server that misbehaves", (name, open) => {
  test("nobody listening on this machine is told at once, with what to do, and nothing was sent", async () => {
    const endpoint = await serve(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: false,
      details: { ambiguous: false },
      message: expect.stringContaining(
        `PutItem: nothing listens at ${new URL(endpoint).host}. Start an engine there with \`edgetable dev\``,
      ),
      request: { operation: "PutItem", input: put },
    });
    // A name with several addresses, each of which refuses.
    const named = endpoint.replace("127.0.0.1", "localhost");
    await expect(open(named).send("PutItem", put)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining("nothing listens at "),
    });
  });

  test("a connection that is reset or closed before the answer is ambiguous", async () => {
    const endpoint = await serve((socket, count) => (count === 1 ? socket.resetAndDestroy() : socket.end()));
    const transport = open(endpoint);
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
  });

  test.each([
    ["in the head", "HTTP/1.1 200 OK\r\nconte"],
    ["in the body", 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"Item":'],
    ["in a chunk", 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{"Item":'],
  ])("half an answer, cut %s, is a connection error and ambiguous", async (_, half) => {
    const endpoint = await serve((socket) => socket.write(half, () => socket.destroy()));
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
  });

  test("no answer within the timeout of the attempt is execute.timeout, and ambiguous", async () => {
    const transport = open(await serve((socket, count) => count === 1 && socket.write(answer("200 OK", "{}"))));
    // With a socket that is open already, the second request is out long before its time is over.
    await transport.send("PutItem", put);
    await expect(transport.send("PutItem", put, { timeout: 400 })).rejects.toMatchObject({
      code: "execute.timeout",
      retryable: true,
      details: { ambiguous: true },
      message: expect.stringContaining("no answer within 400 ms"),
    });
  });

  test("an abort rejects at once and closes the socket", async () => {
    let arrive: (socket: Socket) => void = () => undefined;
    const arrived = new Promise<Socket>((resolve) => (arrive = resolve));
    const endpoint = await serve((socket) => arrive(socket));
    const controller = new AbortController();
    const sent = open(endpoint).send("PutItem", put, { signal: controller.signal });
    sent.catch(() => undefined);
    const closed = once(await arrived, "close");
    controller.abort(new Error("enough"));
    expect(await Promise.race([sent.catch(() => "rejected"), turns()])).toBe("rejected");
    await expect(sent).rejects.toMatchObject({
      code: "execute.aborted",
      retryable: false,
      details: { ambiguous: true },
      cause: { message: "enough" },
    });
    await closed;
  });

  test("a signal that is aborted beforehand sends nothing", async () => {
    let requests = 0;
    const endpoint = await serve(() => requests++);
    await expect(open(endpoint).send("PutItem", put, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "execute.aborted",
      details: { ambiguous: false },
    });
    expect(requests).toBe(0);
  });

  test.each([
    ["ProvisionedThroughputExceededException", "400 Bad Request", "execute.throttled", true],
    ["ThrottlingException", "400 Bad Request", "execute.throttled", true],
    ["TransactionConflictException", "400 Bad Request", "execute.conflict", true],
    ["TransactionInProgressException", "400 Bad Request", "execute.transactionInProgress", true],
    ["InternalServerError", "500 Internal Server Error", "execute.unavailable", true],
    ["AccessDeniedException", "400 Bad Request", "execute.accessDenied", false],
    ["UnrecognizedClientException", "400 Bad Request", "execute.credentials", false],
    ["ExpiredTokenException", "400 Bad Request", "execute.expiredCredentials", false],
    ["SomethingNewException", "400 Bad Request", "execute.rejected", false],
    ["SomethingNewException", "503 Service Unavailable", "execute.unavailable", true],
  ])("%s with %s is %s", async (fullName, status, code, retryable) => {
    const endpoint = await serve((socket) => socket.write(fault(fullName, status)));
    const ambiguous = status.startsWith("5") || fullName === "TransactionInProgressException";
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code,
      retryable,
      details: { fault: fullName, status: Number(status.slice(0, 3)), ambiguous },
      message: expect.stringContaining("because"),
    });
  });

  test.each([
    ["ExpiredTokenException", "Get new credentials, such as with `aws sso login`, and connect again"],
    ["AccessDeniedException", "Allow this operation on the table and its indexes in the policy of these credentials, or use others."],
    ["ResourceNotFoundException", "`db.table.create()` or `edgetable table create` creates it"],
    ["UnrecognizedClientException", "Check the access key, its secret and the session token"],
  ])("%s says what to do", async (fullName, mend) => {
    const endpoint = await serve((socket) => socket.write(fault(fullName, "400 Bad Request")));
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^PutItem: ${fullName}: because.*\\. ${mend.replaceAll(/[.()]/g, "\\$&")}`)),
    });
  });

  test("a page of a proxy instead of JSON is named as such", async () => {
    const endpoint = await serve((socket, count) =>
      socket.write(count === 1 ? answer("502 Bad Gateway", "<html>Bad gateway</html>") : answer("200 OK", "<html>Welcome</html>")),
    );
    const transport = open(endpoint);
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.unavailable",
      retryable: true,
      details: { ambiguous: true },
    });
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
      message: expect.stringContaining("not DynamoDB's JSON"),
    });
  });

  const json = (body: string, headers = ""): string =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const signed = "x-amzn-requestid: R1\r\n";
  const query = { TableName: "Test", KeyConditionExpression: "PK = :p", ExpressionAttributeValues: { ":p": { S: "a" } } } as const;
  const get = { TableName: "Test", Key: { PK: { S: "a" } } } as const;
  const deep = `${'{"L":['.repeat(20_000)}{"S":"x"}${"]}".repeat(20_000)}`;

  test.each([
    ["a number", "5"],
    ["null", "null"],
    ["a list", "[]"],
    ["a text", '"ok"'],
    ["true", "true"],
    ["a health page", '{"status":"ok"}'],
    ["an empty object of a server that is not DynamoDB", "{}"],
    ["nothing", ""],
  ])("a write that is answered with %s is not acknowledged", async (_, body) => {
    const endpoint = await serve((socket) => socket.write(json(body)));
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
      message: expect.stringMatching(/DynamoDB/),
    });
  });

  const chunked = (body: string, headers: string): string =>
    `HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\n${headers}transfer-encoding: chunked\r\n\r\n${
      body === "" ? "" : `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`
    }0\r\n\r\n`;

  test.each(
    ["", "5", "null", "true", "[1]", '"ok"', "[]", "12", '""', "  "].flatMap((body) =>
      [json, chunked].map((how) => [body, how.name, how] as const),
    ),
  )("a write that is answered with %j and DynamoDB's headers is not acknowledged: %s", async (body, _, answered) => {
    const endpoint = await serve((socket) => socket.write(answered(body, signed)));
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
  });

  test.each([
    ["GetItem", get, '{"Item":5}'],
    ["GetItem", get, '{"Item":null}'],
    ["GetItem", get, '{"Item":[]}'],
    ["GetItem", get, '{"Item":{"PK":"a"}}'],
    ["GetItem", get, '{"Item":{"PK":null}}'],
    ["GetItem", get, '{"Item":{"PK":{}}}'],
    ["GetItem", get, '{"Item":{"PK":{"X":"a"}}}'],
    ["GetItem", get, '{"Item":{"PK":{"S":5}}}'],
    ["GetItem", get, '{"Item":{"PK":{"N":"five"}}}'],
    ["GetItem", get, '{"Item":{"PK":{"N":""}}}'],
    ["GetItem", get, '{"Item":{"PK":{"L":[5]}}}'],
    ["GetItem", get, '{"Item":{"PK":{"M":{"a":"b"}}}}'],
    ["GetItem", get, '{"Item":{"PK":{"SS":"a"}}}'],
    ["GetItem", get, `{"Item":{"PK":${deep}}}`],
    ["Query", query, "{}"],
    ["Query", query, '{"Items":5,"Count":5}'],
    ["Query", query, '{"Items":null,"Count":0}'],
    ["Query", query, '{"Items":[null],"Count":1}'],
    ["Query", query, '{"Items":[[]],"Count":1}'],
    ["Query", query, '{"Items":[],"Count":"1"}'],
    ["Query", query, '{"Items":[],"Count":0,"LastEvaluatedKey":null}'],
    ["Query", query, '{"Items":[],"Count":0,"LastEvaluatedKey":{}}'],
    ["Query", query, '{"Items":[],"Count":0,"LastEvaluatedKey":{"PK":5}}'],
    ["Query", { ...query, ExclusiveStartKey: { PK: { S: "a" } } }, '{"Items":[],"Count":0,"LastEvaluatedKey":{"PK":{"S":"a"}}}'],
    ["Query", query, '{"Items":[],"Count":0,"ConsumedCapacity":5}'],
    ["BatchGetItem", { RequestItems: { Test: { Keys: [get.Key] } } }, "{}"],
    ["BatchGetItem", { RequestItems: { Test: { Keys: [get.Key] } } }, '{"Responses":{"Test":5}}'],
    ["BatchGetItem", { RequestItems: { Test: { Keys: [get.Key] } } }, '{"Responses":{"Test":[null]}}'],
    ["BatchGetItem", { RequestItems: { Test: { Keys: [get.Key] } } }, '{"Responses":{},"UnprocessedKeys":5}'],
    ["BatchWriteItem", { RequestItems: { Test: [{ PutRequest: { Item: get.Key } }] } }, "{}"],
    ["BatchWriteItem", { RequestItems: { Test: [{ PutRequest: { Item: get.Key } }] } }, '{"UnprocessedItems":{"Test":[null]}}'],
    ["TransactGetItems", { TransactItems: [{ Get: get }] }, '{"Responses":[]}'],
    ["TransactGetItems", { TransactItems: [{ Get: get }] }, '{"Responses":[5]}'],
    ["PutItem", put, '{"Attributes":5}'],
    ["UpdateItem", { ...get, ReturnValues: "ALL_NEW" }, "{}"],
    ["DescribeTable", { TableName: "Test" }, "{}"],
    ["DescribeTable", { TableName: "Test" }, '{"Table":{"GlobalSecondaryIndexes":5}}'],
    ["ListTables", {}, '{"TableNames":[5]}'],
  ] as const)("%s %j answered with %s is execute.connection", async (operation, input, body) => {
    const endpoint = await serve((socket) => socket.write(json(body, signed)));
    const sent = open(endpoint).send(operation, input as never);
    // The SDK takes null for what is absent, at any place that its model names.
    if (name === "sdk" && body.includes("null")) return void (await sent.catch((error) => expect(error.code).toBe("execute.connection")));
    await expect(sent).rejects.toMatchObject({ code: "execute.connection", details: { ambiguous: true } });
  });

  test.each([json, chunked].map((how) => [how.name, how] as const))(
    "a write that is answered with {} is acknowledged: %s",
    async (_, how) => {
      const endpoint = await serve((socket) => socket.write(how("{}", signed)));
      expect(await open(endpoint).send("PutItem", put)).toEqual({});
    },
  );

  test.each([
    ["GetItem", get, "{}", {}],
    ["GetItem", get, '{ "Item" : { "PK" : { "S" : "a" } } }', { Item: { PK: { S: "a" } } }],
    ["GetItem", get, '{"Item":{"PK":{"S":"a"}},"Novel":5}', { Item: { PK: { S: "a" } } }],
    ["PutItem", put, "{}", {}],
    ["BatchGetItem", { RequestItems: { Test: { Keys: [get.Key] } } }, '{"Responses":{}}', { Responses: {} }],
    ["TransactGetItems", { TransactItems: [{ Get: get }] }, '{"Responses":[{}]}', { Responses: [{}] }],
  ] as const)("%s %j answered with %s is an answer", async (operation, input, body, output) => {
    const endpoint = await serve((socket) => socket.write(json(body, signed)));
    expect(await open(endpoint).send(operation, input as never)).toMatchObject(output);
  });

  test.each([
    ["204 No Content", ""],
    ["302 Found", "<html>Log in</html>"],
    ["404 Not Found", "<html>no such page</html>"],
    ["403 Forbidden", "{}"],
    ["400 Bad Request", '{"error":"bad"}'],
    ["400 Bad Request", "5"],
  ])("%s that is not DynamoDB's is execute.connection: a write may have been made", async (status, body) => {
    const endpoint = await serve((socket) =>
      socket.write(
        `HTTP/1.1 ${status}\r\ncontent-type: text/html\r\n${status.startsWith("204") ? "" : `content-length: ${body.length}\r\n`}\r\n${body}`,
      ),
    );
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
  });

  test.each([
    ["203 Non-Authoritative Information", '{"changed":true}'],
    ["302 Found", "<html>Log in</html>"],
  ])("%s that has a request id is execute.connection: a write may have been made", async (status, body) => {
    const endpoint = await serve((socket) =>
      socket.write(
        `HTTP/1.1 ${status}\r\nx-amzn-requestid: R1\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    await expect(open(endpoint).send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: true },
    });
  });

  test.each([
    ['"CancellationReasons":5'],
    ['"CancellationReasons":[null,5]'],
    ['"CancellationReasons":[{"Code":5,"Item":7}]'],
    ['"Item":5'],
    ['"Item":{"PK":null}'],
  ])("a fault that tells %s keeps its code, without what is not DynamoDB's", async (member) => {
    const endpoint = await serve((socket) =>
      socket.write(answer("400 Bad Request", `{"__type":"x#TransactionCanceledException","message":{"a":5},${member}}`)),
    );
    const sent = open(endpoint).send("PutItem", put);
    await expect(sent).rejects.toMatchObject({ code: "execute.rejected", details: { item: undefined } });
  });

  test("an answer in chunks, with extensions and trailers, is read", async () => {
    const chunks = '5;name="v"\r\n{"Tab\r\n00A\r\nleNames":[\r\n2\r\n]}\r\n0\r\nx-trailer: 1\r\n\r\n';
    const endpoint = await serve((socket) => socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`));
    expect(await open(endpoint).send("ListTables", {})).toEqual({ TableNames: [] });
  });

  test("sending after closing is refused", async () => {
    const transport = open(await serve((socket) => socket.write(answer("200 OK", "{}"))));
    await transport.send("PutItem", put);
    await transport.close();
    await transport.close();
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({ code: "execute.connection", retryable: false });
  });

  test(`${name} keeps the socket for the next request, unless told to close it`, async () => {
    const endpoint = await serve((socket, count) =>
      count < 3 ? socket.write(answer("200 OK", "{}")) : socket.end(answer("200 OK", "{}", "connection: close\r\n")),
    );
    const transport = open(endpoint);
    for (let requests = 0; requests < 3; requests++) await transport.send("PutItem", put);
    expect(sockets.size).toBe(1);
    await transport.send("PutItem", put);
    expect(sockets.size).toBe(2);
  });
});
