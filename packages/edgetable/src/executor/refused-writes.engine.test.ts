import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { node } from "../schema/definition.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import type { SentRequest } from "./call.ts";

const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), email: z.string() }), unique: ["email"] });
const course = node({ key: "COURSE#{id}", schema: z.object({ id: z.string() }) });

let engine: TestEngine;
let throttled = 0;
const seen: SentRequest[] = [];
const observed: { readonly requests: SentRequest[]; readonly failures: unknown[] } = { requests: [], failures: [] };
const connect = () => {
  const transport: Transport = {
    send: async (operation, input, options) => {
      if (throttled-- > 0) throw new EdgetableError("execute.throttled", "slow down", { retryable: true });
      return engine.transport.send(operation, input, options);
    },
    close: async () => undefined,
  };
  const graph = defineGraph({ table: engine.freshTableName("refused"), nodes: { student, course } });
  return graph.connect({
    transport,
    retry: { baseDelay: 1 },
    onRequest: (request) => seen.push(request),
    observer: { request: (one) => observed.requests.push(one), failure: ({ error }) => observed.failures.push(error) },
  });
};
let db: ReturnType<typeof connect>;
beforeAll(async () => {
  engine = await startEngine();
  db = connect();
  await db.table.create();
  await db.course.create({ id: "C" }).orThrow();
  await db.student.create({ id: "S", email: "s@x" }).orThrow();
});
afterAll(() => engine.stop());
beforeEach(() => {
  seen.length = 0;
  observed.requests.length = 0;
  observed.failures.length = 0;
  throttled = 2;
});

test("a write whose condition failed reports every attempt, and is told to onRequest like any answer", async () => {
  const report = await db.course.create({ id: "C" }).report();
  expect(report.value).toMatchObject({ ok: false, reason: "exists" });
  expect(report.requests).toMatchObject([{ operation: "PutItem", attempts: 3, writeUnits: 1 }]);
  expect(report.requests[0]?.duration).toBeGreaterThanOrEqual(0);
  expect(seen).toEqual(report.requests);
});

test("so does a transaction that was cancelled by a condition", async () => {
  const report = await db.student.create({ id: "T", email: "s@x" }).report();
  expect(report.value).toMatchObject({ ok: false, reason: "notUnique" });
  expect(report.requests).toMatchObject([{ operation: "TransactWriteItems", attempts: 3 }]);
  expect(seen).toEqual(report.requests);
});

test("an observer sees a refused request once, as an answer and not as a failure", async () => {
  const writes = [
    () => db.course.create({ id: "C" }),
    () => db.student.create({ id: "S", email: "other@x" }),
    () => db.student.update({ id: "none" }, { email: "none@x" }),
    () => db.transact([db.course.create({ id: "C" }), db.course.create({ id: "D" })]),
  ];
  for (const write of writes) {
    observed.requests.length = 0;
    const report = await write().report();
    expect(report.value.ok).toBe(false);
    expect(observed.requests).toEqual(report.requests);
  }
  observed.requests.length = 0;
  // A lease that another process holds: its refusal has no row to report.
  await db.jobs.run("import", {}, async () => {
    await expect(db.jobs.run("import", {}, async () => undefined)).rejects.toMatchObject({ code: "job.busy" });
  });
  expect(observed.requests.map(({ operation }) => operation)).toEqual(["UpdateItem", "UpdateItem", "DeleteItem"]);
  expect(observed.failures).toEqual([]);
});

test("an error that ends a call after several attempts says how many there were", async () => {
  throttled = Number.POSITIVE_INFINITY;
  await expect(db.course.get({ id: "C" }).run()).rejects.toMatchObject({ code: "execute.throttled", details: { attempts: 10 } });
});
