import { expect, test } from "vitest";
import { attemptError, serviceError } from "./transport-error.ts";

const refusal = (address: string, errors?: readonly object[]) =>
  attemptError(
    { operation: "GetItem", input: {} },
    {
      code: "execute.connection",
      message: "connect ECONNREFUSED",
      ambiguous: false,
      cause: { code: "ECONNREFUSED", address, port: 8000, ...(errors && { errors }) },
    },
  );

test("a refused connection is final on this machine alone: elsewhere a server may be starting", () => {
  for (const address of ["127.0.0.1", "127.9.8.7"])
    expect(refusal(address)).toMatchObject({ retryable: false, message: expect.stringContaining(`nothing listens at ${address}:8000. `) });
  expect(refusal("::1").message).toContain("nothing listens at [::1]:8000. ");
  for (const address of ["10.0.0.5", "2001:db8::1"])
    expect(refusal(address)).toMatchObject({ retryable: true, message: expect.stringContaining("Check endpoint, region and network") });
});

test("of several addresses each must be this machine's", () => {
  const here = { code: "ECONNREFUSED", address: "127.0.0.1", port: 8000 };
  expect(refusal("", [{ ...here, address: "::1" }, here])).toMatchObject({ retryable: false });
  expect(refusal("", [here, { ...here, address: "10.0.0.5" }])).toMatchObject({ retryable: true });
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("a fault named %s has a code, a page and a JSON form", (name) => {
  const request = { operation: "GetItem", input: { TableName: "T" } };
  const rejected = serviceError({ name, message: "", status: 400 }, request);
  expect(rejected).toMatchObject({ code: "execute.rejected", retryable: false, docs: "docs/errors.md#executerejected" });
  expect(JSON.parse(JSON.stringify(rejected))).toMatchObject({ code: "execute.rejected", details: { fault: name } });
  expect(serviceError({ name, message: "", status: 500 }, request)).toMatchObject({ code: "execute.unavailable", retryable: true });
});

test("an update that makes an item too large says what to do, alone and in a transaction", () => {
  const message = "Item size to update has exceeded the maximum allowed size";
  const advice = "The item would exceed 400 KB: split it into parts, or keep the large value elsewhere.";
  const alone = serviceError({ name: "ValidationException", message, status: 400 }, { operation: "UpdateItem", input: {} });
  expect(alone).toMatchObject({ code: "execute.rejected", message: `UpdateItem: ValidationException: ${message}. ${advice}` });
  const reasons = [{ Code: "None" }, { Code: "ValidationError", Message: message }];
  const cancelled = { name: "TransactionCanceledException", message: "Transaction cancelled", status: 400, reasons };
  expect(serviceError(cancelled, { operation: "TransactWriteItems", input: {} }).message).toContain(advice);
  const expression = "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size";
  const other = serviceError({ name: "ValidationException", message: expression, status: 400 }, { operation: "UpdateItem", input: {} });
  expect(other.message).toBe(`UpdateItem: ValidationException: ${expression}`);
});

test.each([
  "The provided key element does not match the schema",
  "One or more parameter values were invalid: Missing the key PK in the item",
  "One or more parameter values were invalid: Type mismatch for key PK expected: N actual: S",
  "Query condition missed key schema element: PK",
])("a table with other keys than the model says what to do: %s", (message) => {
  const advice = "Compare the table with the model: `edgetable table diff`.";
  const alone = serviceError({ name: "ValidationException", message, status: 400 }, { operation: "GetItem", input: {} });
  expect(alone).toMatchObject({ code: "execute.rejected", message: `GetItem: ValidationException: ${message}. ${advice}` });
  const reasons = [{ Code: "None" }, { Code: "ValidationError", Message: message }];
  const cancelled = { name: "TransactionCanceledException", message: "Transaction cancelled", status: 400, reasons };
  expect(serviceError(cancelled, { operation: "TransactWriteItems", input: {} }).message).toContain(advice);
});

test("a token that another transaction had says what to do", () => {
  const fault = { name: "IdempotentParameterMismatchException", message: "Parameters differ", status: 400 };
  expect(serviceError(fault, { operation: "TransactWriteItems", input: {} })).toMatchObject({
    code: "execute.rejected",
    retryable: false,
    message:
      "TransactWriteItems: IdempotentParameterMismatchException: Parameters differ. A transaction with this token wrote something else. Give each transaction its own token; a repetition must have the same values, times too.",
  });
});

test("a stream that is missing is told from a missing table", () => {
  const fault = { name: "ResourceNotFoundException", message: "Requested resource not found: Shard does not exist", status: 400 };
  expect(serviceError(fault, { operation: "GetRecords", input: { ShardIterator: "i" } })).toMatchObject({
    code: "execute.streamNotFound",
    retryable: false,
    message: expect.stringContaining("list the table's streams again"),
  });
  expect(serviceError(fault, { operation: "DescribeTable", input: { TableName: "T" } })).toMatchObject({ code: "execute.tableNotFound" });
});

test.each(["ExpiredIteratorException", "TrimmedDataAccessException"])("a stream's %s is final and named", (name) => {
  const error = serviceError({ name, message: "gone", status: 400 }, { operation: "GetRecords", input: { ShardIterator: "i" } });
  expect(error).toMatchObject({ code: "execute.rejected", retryable: false, details: { fault: name } });
});
