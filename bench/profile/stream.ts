import { spawn } from "node:child_process";
import { startEngine } from "@edgetable/local";
import {
  count,
  createLeanTransport,
  defineGraph,
  edge,
  type Item,
  type Key,
  node,
  type StreamTransport,
  sum,
  type Transport,
  type WireStreamRecord,
} from "edgetable";
import { createStreamConsumer, type StreamProgress } from "edgetable/streams";
import { z } from "zod";
import { engineBinary } from "../engine/engine.ts";
import { median } from "../measure/statistics.ts";

// `stream.js [changes] [links]`: what a link costs with counts by transaction and by stream, beside a plain one; then the rate,
// memory and lag of a consumer that keeps a count and a sum of as many new edges, 1, 10 and 100 of them to a node, and of one
// that only calls a handler. The consumer has a process of its own. It reads a stream from memory, with a record of each edge of
// the table: writes of both local engines get slower with the length of a stream.
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
  /** Records that appear in a second; undefined: all are there. */
  readonly rate?: number;
}

const IMAGES = "NEW_AND_OLD_IMAGES";

/** Every edge of a table. */
const edgesIn = async (transport: Transport, TableName: string): Promise<readonly Item[]> => {
  const edges: Item[] = [];
  let start: Key | undefined;
  do {
    const page = await transport.send("Scan", { TableName, ...(start && { ExclusiveStartKey: start }) });
    for (const item of page.Items ?? []) if (JSON.stringify(item["sk"]).includes('"takes#')) edges.push(item);
    start = page.LastEvaluatedKey;
  } while (start);
  return edges;
};

/** A stream of one shard with a record of each item, which appear at a rate. */
const streamOf = (items: readonly Item[], table: string, rate = Infinity): StreamTransport => {
  const StreamArn = `arn:aws:dynamodb:local:000000000000:table/${table}/stream/1`;
  const began = Date.now();
  const numberOf = (at: number): string => String(at + 1).padStart(21, "0");
  const recordOf = (item: Item, at: number): WireStreamRecord => ({
    eventID: String(at),
    eventName: "INSERT",
    dynamodb: {
      ApproximateCreationDateTime: Math.floor((began + (at * 1000) / rate) / 1000),
      Keys: { pk: item["pk"]!, sk: item["sk"]! },
      NewImage: item,
      SequenceNumber: numberOf(at),
      StreamViewType: IMAGES,
    },
  });
  const answers = {
    ListStreams: () => ({ Streams: [{ StreamArn, TableName: table, StreamLabel: "1" }] }),
    DescribeStream: () => {
      const Shards = [{ ShardId: "shardId-1", SequenceNumberRange: { StartingSequenceNumber: numberOf(0) } }];
      return { StreamDescription: { StreamArn, TableName: table, StreamStatus: "ENABLED", StreamViewType: IMAGES, Shards } };
    },
    GetShardIterator: ({
      SequenceNumber,
      ShardIteratorType,
    }: {
      readonly SequenceNumber?: string;
      readonly ShardIteratorType: string;
    }) => ({
      ShardIterator: SequenceNumber === undefined ? "0" : String(Number(SequenceNumber) - (ShardIteratorType.startsWith("AFTER") ? 0 : 1)),
    }),
    GetRecords: ({ ShardIterator, Limit = 1000 }: { readonly ShardIterator: string; readonly Limit?: number }) => {
      const from = Number(ShardIterator);
      const there = rate === Infinity ? items.length : Math.min(items.length, Math.floor(((Date.now() - began) * rate) / 1000));
      const Records = items.slice(from, Math.min(there, from + Limit)).map((item, at) => recordOf(item, from + at));
      return { Records, NextShardIterator: String(from + Records.length) };
    },
  };
  const send = (operation: keyof typeof answers, input: never): Promise<unknown> => Promise.resolve(answers[operation](input));
  return { send: send as StreamTransport["send"], close: () => undefined };
};

/** A transport of a table without a stream that says it has one. */
const withStream = (transport: Transport): Transport => ({
  close: () => transport.close(),
  send: async (operation, input, options) => {
    const answer = await transport.send(operation, input, options);
    if (operation !== "DescribeTable") return answer;
    const { Table } = answer as { readonly Table?: object };
    return { Table: { ...Table, StreamSpecification: { StreamEnabled: true, StreamViewType: IMAGES } } } as typeof answer;
  },
});

/** The consumer's process. */
const consume = async ({ endpoint, table, side, rate }: Orders): Promise<void> => {
  const transport = withStream(createLeanTransport({ endpoint, requestTimeout: 60_000 }));
  const edges = await edgesIn(transport, table);
  const db = graphOf(side, table).connect({ transport });
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
  const stream = streamOf(edges, table, rate);
  await createStreamConsumer(db, handlers, { stream, indexLag: 0, pollInterval: 50 }).run({ idle: 3_000, onProgress, progressEvery: 500 });
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

/** Fills a table with so many edges, then starts a consumer on it. */
const measureConsumer = async (
  endpoint: string,
  {
    side,
    courses,
    edges = Number(changes),
    rate,
  }: { readonly side: Side; readonly courses: number; readonly edges?: number; readonly rate?: number },
): Promise<void> => {
  const table = `Consumer-${side}-${courses}-${rate ?? 0}`;
  const db = graphOf(side, table).connect({ endpoint, requestTimeout: 60_000 });
  await db.table.create();
  await db.load(range(courses).map((at) => ({ node: "course", row: course(at) }) as const));
  await db.load(
    range(edges).map((at) => ({ edge: "takes", from: student(at), to: course(at % courses), attributes: { grade: 1 } }) as const),
  );
  await db.close();
  await startConsumer({ endpoint, table, side, ...(rate === undefined ? {} : { rate }) });
};

const RATE = 1000;
const SECONDS = 10;

if (orders !== undefined) await consume(JSON.parse(orders) as Orders);
else {
  const engine = await startEngine({ binary: engineBinary });
  const endpoint = engine.bareEndpoint;
  await measureLinks(endpoint, Number(links));
  process.stdout.write("handler: ");
  await measureConsumer(endpoint, { side: "plain", courses: COURSES });
  for (const perNode of [100, 10, 1]) {
    process.stdout.write(`facts, ${perNode} a node: `);
    await measureConsumer(endpoint, { side: "stream", courses: Math.ceil(Number(changes) / perNode) });
  }
  process.stdout.write(`facts, ${RATE} records a second to ${COURSES} nodes: `);
  await measureConsumer(endpoint, { side: "stream", courses: COURSES, edges: RATE * SECONDS, rate: RATE });
  await engine.stop();
}
process.exit(0);
