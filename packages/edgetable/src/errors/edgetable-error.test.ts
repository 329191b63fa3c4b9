import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { serviceError } from "../transport/transport-error.ts";
import { EdgetableError, withDetails } from "./edgetable-error.ts";

const PRIVATE = "private-value";
const item = { pk: { S: "STUDENT#S1" }, name: { S: PRIVATE } };
const input = { TableName: "People", IndexName: "byName", Item: item };

const refused = serviceError(
  {
    name: "ConditionalCheckFailedException",
    message: "The conditional request failed",
    status: 400,
    item,
    reasons: [{ Code: "None" }, { Code: "X", Item: item }],
  },
  { operation: "PutItem", input },
);
const errors: readonly (readonly [string, EdgetableError])[] = [
  ["a refused request", refused],
  ["one that says more", withDetails(refused, { attempts: 3 }) as EdgetableError],
  ["a write that did not happen", new EdgetableError("execute.notWritten", "no", { details: { ok: false, current: { name: PRIVATE } } })],
  ["an item that is no row", new EdgetableError("scan.strayItem", "no", { details: { item, reason: "x" }, cause: refused })],
];

/** As pino's standard serializer: what is enumerable of an error, and of its causes. */
const serialized = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error;
  const copy: Record<string, unknown> = { message: error.message, stack: error.stack };
  for (const name in error) copy[name] = serialized((error as unknown as Record<string, unknown>)[name]);
  return { ...copy, cause: serialized(error.cause) };
};

describe.each(errors)("%s", (_, error) => {
  test.each([
    ["console.log", (): string => inspect(error, { depth: 20 })],
    ["JSON.stringify", (): string => JSON.stringify({ error })],
    ["a logger's serializer", (): string => JSON.stringify(serialized(error))],
    ["structuredClone", (): string => inspect(structuredClone(error), { depth: 20 })],
    ["a spread", (): string => inspect(Object.assign({ message: error.message }, error), { depth: 20 })],
  ])("shows no stored value by %s", (_name, show) => {
    expect(show()).not.toContain(PRIVATE);
    expect(show()).toContain(error.message);
  });
});

test("what is not shown can be read", () => {
  const more = withDetails(refused, { attempts: 3 }) as EdgetableError;
  for (const error of [refused, more]) {
    expect(error.request).toEqual({ operation: "PutItem", input });
    expect(error.details["item"]).toEqual(item);
    expect((error.details["reasons"] as readonly { readonly Item?: unknown }[])[1]?.Item).toEqual(item);
  }
  expect(more.details["attempts"]).toBe(3);
});

test("a log's JSON names code, operation, table and index, whatever the details hold", () => {
  expect(JSON.parse(JSON.stringify(refused))).toMatchObject({
    code: "execute.rejected",
    operation: "PutItem",
    table: "People",
    index: "byName",
    retryable: false,
    docs: "docs/errors.md#executerejected",
  });
  const round: Record<string, unknown> = {};
  round["self"] = round;
  expect(JSON.parse(JSON.stringify(new EdgetableError("invariant", "x", { details: { value: 10n ** 30n } })))).toMatchObject({
    details: { value: `${10n ** 30n}n` },
  });
  expect(JSON.stringify(new EdgetableError("invariant", "x", { details: round }))).toContain("invariant");
});

test("stored values are hidden however deep details hold them, and can be read", () => {
  const current = { token: "SECRET" };
  const error = new EdgetableError("invariant", "x", {
    details: { outcomes: [{ ok: false, current, ifVersion: 1 }], more: { a: { row: current } }, row: "text" },
  });
  expect(JSON.stringify(error)).not.toContain("SECRET");
  expect(inspect(error, { depth: 9 })).not.toContain("SECRET");
  expect(error.toJSON().details).toEqual({ outcomes: [{ ok: false, ifVersion: 1 }], more: { a: {} }, row: "text" });
  const outcomes = error.details["outcomes"] as readonly { readonly current: unknown }[];
  expect(outcomes[0]?.current).toBe(current);
  const again = withDetails(error, { at: 1 }) as EdgetableError;
  expect(JSON.stringify(again)).not.toContain("SECRET");
  expect((again.details["outcomes"] as typeof outcomes)[0]?.current).toBe(current);
});

test("instanceof holds for errors of another copy of the library, and of subclasses for their own errors only", async () => {
  const copy = "./edgetable-error.ts?copy";
  const other = (await import(/* @vite-ignore */ copy)) as { readonly EdgetableError: typeof EdgetableError };
  expect(other.EdgetableError).not.toBe(EdgetableError);
  const theirs = new other.EdgetableError("cursor.invalid", "no");
  expect(theirs instanceof EdgetableError).toBe(true);
  expect(() => {
    throw theirs;
  }).toThrow(EdgetableError);
  expect(new Error("no") instanceof EdgetableError).toBe(false);
  expect({ name: "EdgetableError", code: "cursor.invalid" } instanceof EdgetableError).toBe(false);

  class Special extends EdgetableError {}
  expect(new Special("cursor.invalid", "no") instanceof Special).toBe(true);
  expect(new EdgetableError("cursor.invalid", "no") instanceof Special).toBe(false);
  expect(theirs instanceof Special).toBe(false);
});
