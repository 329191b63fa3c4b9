import { expect, test } from "vitest";
import { serviceError } from "./service-error.ts";

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("a fault named %s has a code, a page and a JSON form", (name) => {
  const request = { operation: "GetItem", input: { TableName: "T" } };
  const rejected = serviceError({ name, message: "", status: 400 }, request);
  expect(rejected).toMatchObject({ code: "execute.rejected", retryable: false, docs: "docs/errors.md#executerejected" });
  expect(JSON.parse(JSON.stringify(rejected))).toMatchObject({ code: "execute.rejected", details: { fault: name } });
  expect(serviceError({ name, message: "", status: 500 }, request)).toMatchObject({ code: "execute.unavailable", retryable: true });
});
