import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createSdkTransport, readSdkError, toSdk, toWire } from "./sdk-transport.ts";

const base64 = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: fc.string() }),
    fc.record({ B: base64 }),
    fc.record({ BS: fc.array(base64, { minLength: 1, maxLength: 3 }) }),
    fc.record({ SS: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
    fc.record({ L: fc.array(tie("value"), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(fc.constantFrom("B", "BS", "S", "M", "L", "name"), tie("value"), { noNullPrototype: true }) }),
  ),
}));

test("what goes to the SDK and back is the same", () => {
  fc.assert(
    fc.property(fc.array(value), (Items) => {
      expect(toWire(toSdk({ Items }))).toEqual({ Items });
    }),
  );
});

test("binary becomes bytes, also in attributes that are called as the types are", () => {
  const item = { B: { B: "AQI=" }, BS: { BS: ["AQ=="] }, M: { M: { B: { S: "text" } } } };
  expect(toSdk(item)).toEqual({ B: { B: Buffer.from([1, 2]) }, BS: { BS: [Buffer.from([1])] }, M: { M: { B: { S: "text" } } } });
});

test("a view into a larger buffer gives its own bytes only", () => {
  expect(toWire({ B: new Uint8Array([9, 1, 2, 9]).subarray(1, 3) })).toEqual({ B: "AQI=" });
});

test("what holds no binary is not copied", () => {
  const input = { TableName: "Test", Key: { PK: { S: "a" }, list: { L: [{ N: "1" }, { M: {} }] } } };
  expect(toSdk(input)).toBe(input);
  expect(toWire(input)).toBe(input);
});

const attempt = { operation: "PutItem", input: {} };

test.each([
  [
    "a reset that the SDK calls a timeout",
    { name: "TimeoutError", code: "ECONNRESET", message: "reset" },
    "execute.connection",
    true,
    true,
  ],
  [
    "a connection that was not made in time",
    { name: "TimeoutError", message: "the request socket did not establish a connection with the server" },
    "execute.timeout",
    true,
    false,
  ],
  ["an answer that did not come in time", { name: "TimeoutError", message: "timed out" }, "execute.timeout", true, true],
  ["an unknown host", { name: "Error", code: "ENOTFOUND", message: "getaddrinfo" }, "execute.connection", true, false],
  [
    "several addresses, all refused",
    { name: "AggregateError", code: "ECONNREFUSED", message: "", errors: [{ message: "refused" }] },
    "execute.connection",
    true,
    false,
  ],
  ["anything else", { name: "TypeError", message: "odd" }, "execute.rejected", false, true],
  ["no error at all", "odd", "execute.rejected", false, true],
])("%s", (_, cause, code, retryable, ambiguous) => {
  const error = readSdkError(cause, attempt);
  expect(error).toMatchObject({ code, retryable, details: { ambiguous }, request: attempt });
});

test("a client without credentials fails with execute.credentials", async () => {
  const client = new DynamoDBClient({
    region: "us-east-1",
    credentials: () => Promise.reject(Object.assign(new Error("none"), { name: "CredentialsProviderError" })),
    maxAttempts: 1,
  });
  await expect(createSdkTransport(client).send("ListTables", {})).rejects.toMatchObject({ code: "execute.credentials", retryable: false });
});

test.each([
  ["throttling", "400 Bad Request", '{"__type":"x#ThrottlingException","message":"slow down"}', { code: "execute.throttled" }],
  ["a server error", "500 Oops", '{"__type":"x#InternalServerError","message":"again"}', { code: "execute.unavailable" }],
  ["no answer", undefined, "", { code: "execute.connection" }],
])(
  "a client that repeats requests makes one attempt, also after %s, and its own middleware sees the error",
  async (_, status, body, expected) => {
    let requests = 0;
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        requests++;
        if (status === undefined) return void socket.destroy();
        socket.end(`HTTP/1.1 ${status}\r\nx-amzn-requestid: R\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const credentials = { accessKeyId: "a", secretAccessKey: "b" };
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const options of [{}, { maxAttempts: 5 }, { retryMode: "adaptive" }]) {
      requests = 0;
      const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials, ...options });
      const seen: string[] = [];
      client.middlewareStack.add(
        (next) => async (args) => {
          try {
            return await next(args);
          } catch (error) {
            seen.push((error as Error).name);
            throw error;
          }
        },
        { step: "initialize" },
      );
      await expect(createSdkTransport(client).send("ListTables", {})).rejects.toMatchObject({ ...expected, retryable: true });
      expect(requests).toBe(1);
      expect(seen).toEqual([expect.stringMatching(/^(ThrottlingException|InternalServerError|Error|TimeoutError)$/)]);
      client.destroy();
    }
    server.close();
  },
);
