import { spawn } from "node:child_process";
import { createLeanTransport, defineGraph, edge, node } from "edgetable";
import { verify } from "edgetable/verify";
import { z } from "zod";
import { startEngine } from "@edgetable/local";
import { engineBinary } from "../engine/engine.ts";
import { median } from "../measure/statistics.ts";

// `verify.js <items> [rounds]`: the rate of `verify` beside that of a bare parallel Scan, in turns in a process of their own,
// over a table of nodes with a unique value and an index, edges, and edges stored twice. Items: those of the table, roughly.
const [items = "100000", rounds = "3", endpoint] = process.argv.slice(2);

const graph = defineGraph({
  table: "Verify",
  nodes: {
    student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), name: z.string(), email: z.string() }), unique: ["email"] }),
    course: node({ key: "COURSE#{id}", schema: z.object({ id: z.string(), title: z.string() }) }),
  },
  edges: {
    enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: z.string(), grade: z.int() }), orderBy: "at" }),
    rated: edge({ from: "student", to: "course", schema: z.object({ stars: z.int(), text: z.string() }), stored: "twice" }),
  },
  indexes: { byName: { entries: { student: "name" } } },
});

const ITEMS_OF_STUDENT = 10;
const COURSES = 1000;

function* rows(students: number) {
  const course = (at: number) => ({ id: `C${at % COURSES}` });
  for (let at = 0; at < COURSES; at++) yield { node: "course", row: { ...course(at), title: `Course number ${at}` } } as const;
  for (let at = 0; at < students; at++) {
    const from = { id: `S${at}` };
    yield { node: "student", row: { ...from, name: `Student ${at % 977}`, email: `student${at}@example.com` } } as const;
    for (let turn = 0; turn < 4; turn++)
      yield {
        edge: "enrolledIn",
        from,
        to: course(at * 7 + turn),
        attributes: { at: `2024-0${turn + 1}-11T10:00:00`, grade: turn },
      } as const;
    for (let turn = 0; turn < 2; turn++)
      yield {
        edge: "rated",
        from,
        to: course(at * 3 + turn),
        attributes: { stars: turn, text: "As good as it gets, and better" },
      } as const;
  }
}

const SEGMENTS = 8;

/** Reads the table as fast as it goes, and looks at nothing. */
const bareScan = async (url: string): Promise<number> => {
  const transport = createLeanTransport({ endpoint: url });
  let count = 0;
  const readSegment = async (Segment: number): Promise<void> => {
    let start: object | undefined;
    do {
      const input = { TableName: "Verify", Limit: 1000, Segment, TotalSegments: SEGMENTS, ReturnConsumedCapacity: "TOTAL" };
      const page = await transport.send("Scan", { ...input, ...(start && { ExclusiveStartKey: start }) } as never, { timeout: 60_000 });
      count += page.Items?.length ?? 0;
      start = page.LastEvaluatedKey;
    } while (start);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => readSegment(segment)));
  await transport.close();
  return count;
};

const timed = async (work: () => Promise<number>): Promise<{ readonly rate: number; readonly cpu: number }> => {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const count = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { rate: count / ((performance.now() - began) / 1000), cpu: (user + system) / count };
};

const measure = async (url: string): Promise<void> => {
  const db = graph.connect({ endpoint: url, requestTimeout: 60_000 });
  const sides = { scan: () => bareScan(url), verify: async () => (await verify(db)).items };
  const rates: Record<keyof typeof sides, number[]> = { scan: [], verify: [] };
  for (let round = 0; round < Number(rounds); round++)
    for (const side of ["scan", "verify"] as const) {
      const { rate, cpu } = await timed(sides[side]);
      rates[side].push(rate);
      process.stdout.write(`${side}: ${rate.toFixed(0)} items/s, ${cpu.toFixed(1)} µs of CPU an item\n`);
    }
  await db.close();
  const ratio = median(rates.verify) / median(rates.scan);
  process.stdout.write(
    `verify at ${(ratio * 100).toFixed(0)} % of a bare Scan's rate, peak ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB resident\n`,
  );
};

if (endpoint !== undefined) await measure(endpoint);
else {
  const engine = await startEngine({ binary: engineBinary });
  const db = graph.connect({ endpoint: engine.bareEndpoint, requestTimeout: 60_000 });
  await db.table.create();
  const { items: written, failed } = await db.load(rows(Math.ceil(Number(items) / ITEMS_OF_STUDENT)), { collisions: "ignore" });
  await db.close();
  process.stdout.write(`${written} items loaded, ${failed} rows failed\n`);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", items, rounds, engine.bareEndpoint], {
    stdio: "inherit",
  });
  await new Promise((resolve) => child.on("exit", resolve));
  await engine.stop();
}
process.exit(0);
