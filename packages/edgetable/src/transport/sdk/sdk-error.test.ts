import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { createSdkTransport } from "./index.ts";
import { readSdkError } from "./sdk-error.ts";

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
