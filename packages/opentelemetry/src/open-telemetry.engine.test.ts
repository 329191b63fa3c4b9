import { context, type HrTime, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createFaultTransport } from "@edgetable/testing";
import { createLeanTransport, defineGraph, edge, node } from "edgetable";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { openTelemetry } from "./open-telemetry.ts";

const text = z.string();
const graph = defineGraph({
  table: "Observed",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, name: text }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text, name: text }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", orderBy: "at", schema: z.object({ at: text }) }) },
  indexes: { byName: { entries: { course: "name" }, shards: 2 } },
});

let engine: TestEngine;
const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const measurements = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 3_600_000 })],
});
const observer = () => openTelemetry({ tracerProvider, meterProvider });

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  engine = await openEngine();
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.student.create({ studentId: "S1", name: "Secret Name" });
  for (const courseId of ["C1", "C2", "C3"]) {
    await db.course.create({ courseId, name: `Course ${courseId}` });
    await db.enrolledIn.link({ studentId: "S1" }, { courseId }, { at: `2024-0${courseId[1]}` });
  }
  await db.close();
});
afterEach(() => spans.reset());
afterAll(async () => {
  context.disable();
  await meterProvider.shutdown();
  await engine.close();
});

const sum = ([seconds, nanoseconds]: HrTime): number => seconds * 1000 + nanoseconds / 1e6;

/** The spans of calls, each with the names of the requests below it. */
const traced = (): Readonly<Record<string, readonly string[]>> => {
  const all = spans.getFinishedSpans();
  const below = (call: ReadableSpan): readonly string[] =>
    all.filter(({ parentSpanContext }) => parentSpanContext?.spanId === call.spanContext().spanId).map(({ name }) => name);
  return Object.fromEntries(all.filter(({ kind }) => kind === SpanKind.INTERNAL).map((call) => [call.name, below(call)]));
};
const spanOf = (name: string): ReadableSpan => {
  const found = spans.getFinishedSpans().find((span) => span.name === name);
  if (!found)
    throw new Error(
      `no span ${name}; there are ${spans
        .getFinishedSpans()
        .map((span) => span.name)
        .join(", ")}`,
    );
  return found;
};

describe("a traced connection", () => {
  test("has a span for each call, with one below it for each request", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    const student = db.student({ studentId: "S1" });
    expect(await student.get()).toEqual({ studentId: "S1", name: "Secret Name" });
    expect(
      await student
        .out("enrolledIn")
        .where({ at: { gte: "2024-02" } })
        .entries(),
    ).toHaveLength(2);
    expect((await student.out("enrolledIn").in("enrolledIn").dedupe().count()).count).toBe(1);
    expect(
      await db
        .find("course")
        .where({ name: { beginsWith: "Course" } })
        .rows(),
    ).toHaveLength(3);
    const names = [];
    for await (const { to } of student.out("enrolledIn")) names.push(to);
    expect(names).toHaveLength(3);
    const outcome = await db.transact([
      db.student.create({ studentId: "S2", name: "B" }),
      db.enrolledIn.link({ studentId: "S2" }, { courseId: "C1" }, { at: "2025" }),
    ]);
    expect(outcome.ok).toBe(true);
    await db.load([{ node: "course", row: { courseId: "C9", name: "Loaded" } }]);
    await db.close();

    // The first read of an order looks at the record of the table's model too: it and the Query end in either order.
    const first = traced()["student.out(enrolledIn).entries"] ?? [];
    expect(first.slice(0, 2).toSorted()).toEqual(["GetItem Observed", "Query Observed"]);
    expect(first.slice(2)).toEqual(["BatchGetItem Observed"]);
    expect(traced()).toMatchObject({
      "student.get": ["GetItem Observed"],
      "student.out(enrolledIn).in(enrolledIn).dedupe.count": expect.arrayContaining(["Query Observed"]),
      "find(course).rows": expect.arrayContaining(["Query Observed"]),
      "student.out(enrolledIn)": ["Query Observed"],
      transact: ["TransactWriteItems Observed"],
      load: expect.arrayContaining(["BatchWriteItem Observed"]),
    });
    const query = spanOf("Query Observed");
    expect(query.attributes).toMatchObject({
      "db.system.name": "aws.dynamodb",
      "db.collection.name": "Observed",
      "db.operation.name": "Query",
      "aws.dynamodb.index_name": expect.any(String),
      "server.address": "127.0.0.1",
      "edgetable.attempts": 1,
    });
    expect(sum(query.duration)).toBeGreaterThan(0);
    expect(spanOf("transact").attributes).toMatchObject({ "edgetable.ok": true, "edgetable.requests": 1 });
    expect(spanOf("TransactWriteItems Observed").attributes["db.operation.batch.size"]).toBeGreaterThan(2);
  });

  test("names no value of a row or a key", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    await db.student({ studentId: "S1" }).out("enrolledIn").nodes();
    await db.student.create({ studentId: "S1", name: "Secret Name" });
    await db.close();
    const said = JSON.stringify(
      spans.getFinishedSpans().map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
    );
    expect(said).toContain("edgetable.requests");
    expect(said).not.toMatch(/Secret|S1|C1/);
  });

  test("tells refusals, budgets and errors apart", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    expect(await db.student.create({ studentId: "S1", name: "again" })).toMatchObject({ ok: false, reason: "exists" });
    await db
      .student({ studentId: "S1" })
      .out("enrolledIn")
      .in("enrolledIn")
      .nodes({ budget: { requests: 1 } });
    await expect(db.student({ studentId: "S1" }).get().run({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    await db.close();
    expect(spanOf("student.create").attributes).toMatchObject({
      "edgetable.ok": false,
      "edgetable.reason": "exists",
      "edgetable.requests": 1,
    });
    expect(traced()["student.create"]).toEqual(["PutItem Observed"]);
    expect(spanOf("PutItem Observed").status.code).toBe(SpanStatusCode.UNSET);
    expect(spanOf("student.out(enrolledIn).in(enrolledIn).nodes").attributes["edgetable.stopped_by"]).toBe("requests");
    const failed = spanOf("student.get");
    expect(failed.status).toEqual({ code: SpanStatusCode.ERROR, message: "execute.aborted" });
    expect(failed.attributes["error.type"]).toBe("execute.aborted");
  });

  test("keeps the requests of calls that run at the same time apart, in the caller's trace", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    const tracer = tracerProvider.getTracer("test");
    await tracer.startActiveSpan("handler", async (handler) => {
      await Promise.all([
        db.student({ studentId: "S1" }).get(),
        db.student({ studentId: "S1" }).out("enrolledIn").entries(),
        db.course.getMany([{ courseId: "C1" }, { courseId: "C2" }]),
      ]);
      handler.end();
    });
    await db.close();
    expect(traced()).toMatchObject({ "student.get": ["GetItem Observed"], "course.getMany": ["BatchGetItem Observed"] });
    // The first read of an order looks at the record of the table's model too: either request may end first.
    const requests = traced()["student.out(enrolledIn).entries"] ?? [];
    expect(requests.toSorted()).toEqual(["BatchGetItem Observed", "GetItem Observed", "Query Observed"]);
    const handler = spanOf("handler");
    for (const span of spans.getFinishedSpans()) expect(span.spanContext().traceId).toBe(handler.spanContext().traceId);
  });

  test("counts retries, and shows a request that was given up", async () => {
    const transport = createFaultTransport(createLeanTransport({ endpoint: engine.endpoint }), {
      seed: 3,
      rates: { throttleRequest: 1 },
      maxConsecutive: 2,
    });
    const db = graph.connect({ transport, retry: { baseDelay: 1 }, observer: observer() });
    await db.student({ studentId: "S1" }).get();
    expect(spanOf("student.get").attributes["edgetable.retries"]).toBe(2);
    await db.close();
    spans.reset();
    const stubborn = createFaultTransport(createLeanTransport({ endpoint: engine.endpoint }), {
      seed: 3,
      rates: { throttleRequest: 1 },
      maxConsecutive: 99,
    });
    const strained = graph.connect({ transport: stubborn, retry: { attempts: 2, baseDelay: 1 }, observer: observer() });
    await expect(strained.student({ studentId: "S1" }).get()).rejects.toMatchObject({ code: "execute.throttled" });
    await strained.close();
    const request = spanOf("GetItem Observed");
    expect(request.attributes).toMatchObject({ "error.type": "execute.throttled", "edgetable.attempts": 2 });
    expect(request.status.code).toBe(SpanStatusCode.ERROR);
  });

  test("leaves a call what it is: once made when awaited, seen by transactions, with its plan", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    const call = db.student({ studentId: "S1" }).get();
    const plan = await call.explain();
    expect(plan.requests.map(({ operation }) => operation)).toEqual(["GetItem"]);
    expect(spans.getFinishedSpans()).toHaveLength(0);
    const report = await call.report();
    expect(report.cost.requests).toBe(1);
    await Promise.all([call, call, call.finally(() => undefined)]);
    expect(spans.getFinishedSpans().filter(({ name }) => name === "student.get")).toHaveLength(2);
    const awaited = db.student.put({ studentId: "S3", name: "C" });
    await awaited;
    expect(() => db.transact([awaited as never])).toThrow(/already/);
    await expect(db.student.create({ studentId: "S3", name: "C" }).orThrow()).rejects.toThrow();
    await db.close();
  });

  test("sees what is called on a tenant's connection, table administration and iterations that stop early", async () => {
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    await db.table.diff();
    for await (const row of db.scan()) {
      expect(row).toBeDefined();
      break;
    }
    for await (const row of db.find("course")) {
      expect(row).toBeDefined();
      break;
    }
    expect(await db.as({ studentId: "S1" }).student.get({})).toMatchObject({ studentId: "S1" });
    await db.close();
    expect(traced()).toMatchObject({
      "table.diff": expect.arrayContaining(["DescribeTable Observed"]),
      scan: ["Scan Observed"],
      "find(course)": expect.arrayContaining(["Query Observed"]),
      "student.get": ["GetItem Observed"],
    });
  });

  test("measures requests, calls and units", async () => {
    await meterProvider.forceFlush();
    measurements.reset();
    const db = graph.connect({ endpoint: engine.endpoint, observer: observer() });
    await db.student({ studentId: "S1" }).get();
    await db.student({ studentId: "S1" }).get();
    await db.close();
    await meterProvider.forceFlush();
    const found = measurements.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    const points = Object.fromEntries(
      found.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints.map(({ value, attributes }) => ({ value, attributes }))]),
    );
    expect(points["edgetable.capacity_units"]).toEqual([
      { value: 1, attributes: expect.objectContaining({ "db.operation.name": "GetItem", "edgetable.units": "read" }) },
    ]);
    expect(points["edgetable.call.duration"]).toEqual([
      { value: expect.objectContaining({ count: 2 }), attributes: expect.objectContaining({ "edgetable.call": "student.get" }) },
    ]);
    expect(points["db.client.operation.duration"]).toEqual([
      { value: expect.objectContaining({ count: 2 }), attributes: expect.objectContaining({ "db.operation.name": "GetItem" }) },
    ]);
  });
});
