import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { openTelemetry } from "@edgetable/opentelemetry";
import { defineGraph, node, type Transport } from "edgetable";
import { z } from "zod/mini";
import { median } from "../measure/statistics.ts";

// `observe.js [calls a round]`: µs of CPU for a GetItem that is answered from memory: not observed, observed without a
// provider, and with one that exports nowhere. In turns; medians of nine rounds.
const calls = Number(process.argv[2] ?? 20_000);
const graph = defineGraph({
  table: "Observed",
  nodes: { student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }) },
});
const answer = {
  Item: { pk: { S: "STUDENT#S1" }, sk: { S: "#" }, studentId: { S: "S1" }, name: { S: "Ann" } },
  ConsumedCapacity: { CapacityUnits: 0.5 },
};
const transport: Transport = { send: async () => answer as never, close: async () => undefined };
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const connections = {
  plain: graph.connect({ transport }),
  "no provider": graph.connect({ transport, observer: openTelemetry() }),
  traced: graph.connect({ transport, observer: openTelemetry({ tracerProvider: new BasicTracerProvider() }) }),
};
const figures: Record<string, number[]> = {};
for (let round = 0; round < 11; round++)
  for (const [name, db] of Object.entries(connections)) {
    const before = process.cpuUsage();
    for (let at = 0; at < calls; at++) await db.student.get({ studentId: "S1" });
    const { user, system } = process.cpuUsage(before);
    if (round > 1) (figures[name] ??= []).push((user + system) / calls);
  }
for (const [name, each] of Object.entries(figures))
  process.stdout.write(`${name.padEnd(12)} ${median(each).toFixed(1)} µs of CPU a call\n`);
