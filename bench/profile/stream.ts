import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { startEngine } from "@edgetable/local";
import { count, defineGraph, edge, node, sum } from "edgetable";
import { createStreamConsumer, type StreamProgress } from "edgetable/streams";
import { z } from "zod";
import { engineBinary } from "../engine/engine.ts";
import { median } from "../measure/statistics.ts";

// `stream.js [changes] [links]`: what a link costs with counts by transaction and by stream, beside a plain one; then the rate,
// memory and lag of a consumer that keeps a count and a sum of as many new edges, 1, 10 and 100 of them to a node, and of one
// that only calls a handler. The consumer has a process of its own. It reads DynamoDB Local: writes of the embedded engine get
// slower with the length of a stream.
const [changes = "5000", links = "1000", orders] = process.argv.slice(2);

const id = z.string();
const SIDES = ["plain", "transaction", "stream"] as const;
type Side = (typeof SIDES)[number];

const graphOf = (side: Side, table: string) => {
  const freshness = side === "stream" ? "stream" : "transaction";
  const taken = { in: "takes", freshness } as const;
  return defineGraph({
    table,
    nodes: {
      student: node({
        key: "STUDENT#{id}",
        schema: z.object({ id }),
        derived: side === "plain" ? {} : { courses: count({ out: "takes", freshness }) },
      }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id }),
        derived: side === "plain" ? {} : { students: count(taken), points: sum({ ...taken, of: "grade" }) },
      }),
    },
    edges: {
      takes: edge({ from: "student", to: "course", schema: z.object({ grade: z.number() }), onDelete: { from: "cascade", to: "cascade" } }),
    },
  });
};

const COURSES = 50;
const student = (at: number) => ({ id: `S${at}` });
const course = (at: number) => ({ id: `C${at}` });
const range = (length: number): readonly number[] => Array.from({ length }, (_, at) => at);

/** Links one student to a course at a time, in turns of the three models. */
const measureLinks = async (endpoint: string, times: number): Promise<void> => {
  const sides = await Promise.all(
    SIDES.map(async (side) => {
      const db = graphOf(side, `Links-${side}`).connect({ endpoint });
      await db.table.create({ stream: true });
      for (const at of range(COURSES)) await db.course.create(course(at)).orThrow();
      for (const at of range(times)) await db.student.create(student(at)).orThrow();
      return { side, db, cpu: [] as number[], units: 0, items: 0 };
    }),
  );
  const turn = 50;
  for (let from = 0; from < times; from += turn)
    for (const one of sides) {
      const cpu = process.cpuUsage();
      for (let at = from; at < Math.min(times, from + turn); at++) {
        const { cost, atomic } = await one.db.takes.link(student(at), course(at % COURSES), { grade: 1 }).orThrow();
        one.units += cost.writeUnits;
        one.items += atomic.kind === "transaction" ? atomic.items : 1;
      }
      const { user, system } = process.cpuUsage(cpu);
      one.cpu.push((user + system) / Math.min(turn, times - from));
    }
  for (const { side, db, cpu, units, items } of sides) {
    process.stdout.write(
      `link, ${side}: ${(units / times).toFixed(1)} write units, ${(items / times).toFixed(1)} items, ${median(cpu).toFixed(0)} µs of CPU\n`,
    );
    await db.close();
  }
};

interface Orders {
  readonly endpoint: string;
  readonly table: string;
  readonly side: Side;
}

/** The consumer's process. */
const consume = async ({ endpoint, table, side }: Orders): Promise<void> => {
  const db = graphOf(side, table).connect({ endpoint, requestTimeout: 60_000 });
  let told = 0;
  const handlers = side === "plain" ? ({ tell: { on: "takes", linked: () => void told++ } } as const) : {};
  const began = performance.now();
  const cpu = process.cpuUsage();
  const heaps: number[] = [];
  let last: StreamProgress | undefined;
  let [at, most, stalest] = [began, 0, 0];
  const onProgress = (progress: StreamProgress): void => {
    if (progress.records !== last?.records) at = performance.now();
    last = progress;
    [most, stalest] = [Math.max(most, progress.lag), Math.max(stalest, progress.staleness)];
    globalThis.gc?.();
    heaps.push(process.memoryUsage().heapUsed / 2 ** 20);
  };
  await createStreamConsumer(db, handlers, { indexLag: 0, pollInterval: 50 }).run({ idle: 3_000, onProgress, progressEvery: 500 });
  const { user, system } = process.cpuUsage(cpu);
  const records = last?.records ?? 0;
  const quarter = (part: number): string => (heaps[Math.floor((heaps.length - 1) * part)] ?? 0).toFixed(0);
  process.stdout.write(
    `${records} records, ${(records / ((at - began) / 1000)).toFixed(0)}/s, ${((user + system) / records).toFixed(0)} µs of CPU a record, ` +
      `heap ${[0.25, 0.5, 0.75, 1].map(quarter).join(" ")} MB, lag at most ${(most / 1000).toFixed(1)} s, facts stale at most ${(stalest / 1000).toFixed(1)} s\n`,
  );
  await db.close();
};

const startConsumer = (given: Orders): Promise<void> => {
  const child = spawn(process.execPath, ["--expose-gc", process.argv[1] ?? "", changes, links, JSON.stringify(given)], {
    stdio: "inherit",
  });
  return new Promise((resolve) => child.on("exit", () => resolve()));
};

const makeTable = async (
  endpoint: string,
  { side, table, courses }: { readonly side: Side; readonly table: string; readonly courses: number },
) => {
  const db = graphOf(side, table).connect({ endpoint, requestTimeout: 60_000 });
  await db.table.create({ stream: true });
  await db.load(range(courses).map((at) => ({ node: "course", row: course(at) }) as const));
  return db;
};

const measureConsumer = async (endpoint: string, side: "stream" | "plain", perNode: number): Promise<void> => {
  const table = `Consumer-${side}-${perNode}`;
  const courses = Math.ceil(Number(changes) / perNode);
  const db = await makeTable(endpoint, { side, table, courses });
  await db.load(
    range(Number(changes)).map((at) => ({ edge: "takes", from: student(at), to: course(at % courses), attributes: { grade: 1 } }) as const),
  );
  await db.close();
  process.stdout.write(side === "plain" ? "handler: " : `facts, ${perNode} a node: `);
  await startConsumer({ endpoint, table, side });
};

// Writes of DynamoDB Local get slower with the records of all streams that it has.
const onFreshEngine = async (work: (endpoint: string) => Promise<void>): Promise<void> => {
  const engine = await startEngine({ engine: "dynamodb-local" });
  await work(engine.bareEndpoint);
  await engine.stop();
};

const RATE = 200;
const SECONDS = 10;

/** Writes so many edges a second while the consumer keeps their facts. */
const measureLag = async (endpoint: string): Promise<void> => {
  const db = await makeTable(endpoint, { side: "stream", table: "Lag", courses: COURSES });
  process.stdout.write(`facts beside ${RATE} writes a second: `);
  const consumer = startConsumer({ endpoint, table: "Lag", side: "stream" });
  const began = performance.now();
  for (const at of range(RATE * SECONDS)) {
    const early = (at * 1000) / RATE - (performance.now() - began);
    if (early > 1) await pause(early);
    await db.takes.put(student(at), course(at % COURSES), { grade: 1 });
  }
  await db.close();
  await consumer;
};

if (orders !== undefined) await consume(JSON.parse(orders) as Orders);
else {
  const engine = await startEngine({ binary: engineBinary });
  await measureLinks(engine.bareEndpoint, Number(links));
  await engine.stop();
  await onFreshEngine((endpoint) => measureConsumer(endpoint, "plain", 100));
  for (const perNode of [100, 10, 1]) await onFreshEngine((endpoint) => measureConsumer(endpoint, "stream", perNode));
  await onFreshEngine(measureLag);
}
process.exit(0);
