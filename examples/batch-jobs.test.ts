import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  commonNeighbours,
  components,
  degrees,
  extract,
  hops,
  kCore,
  openLake,
  pageRank,
  recommend,
  runOnSpark,
  triangles,
  validate,
  type LakeFile,
  type Program,
  type StoredTable,
} from "@edgetable/analytics";
import { startEngine, type LocalEngine } from "@edgetable/local";
import type { AnyGraph } from "edgetable";
import { verify } from "edgetable/verify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { billingLab } from "./billing-lab/model.ts";
import { load as loadBillingLab } from "./billing-lab/rows.ts";
import { dependencies } from "./dependencies/model.ts";
import { readLockfile } from "./dependencies/read-lockfile.ts";
import { load as loadDependencies } from "./dependencies/rows.ts";
import { education } from "./education/model.ts";
import { load as loadEducation } from "./education/rows.ts";
import { people } from "./people/model.ts";
import { load as loadPeople } from "./people/rows.ts";
import { school } from "./school/model.ts";
import { load as loadSchool } from "./school/rows.ts";
import { tracker } from "./tracker/model.ts";
import { loadWith } from "./tracker/rows.ts";

/** Batch jobs over every system of the demo: its lake against the library's own calls, and Spark against DuckDB, value by value. */
const python = process.env["EDGETABLE_PYTHON"] ?? "";
const hasSpark = python !== "" && spawnSync(python, ["-c", "import pyspark"]).status === 0;

interface Sample {
  readonly name: string;
  readonly graph: AnyGraph;
  readonly load: (db: never) => Promise<unknown>;
}

const lockfile = async () => readLockfile(await readFile(new URL("../package-lock.json", import.meta.url), "utf8"));
const samples: readonly Sample[] = [
  { name: "billing_lab", graph: billingLab, load: loadBillingLab },
  { name: "school", graph: school, load: loadSchool },
  { name: "people", graph: people, load: loadPeople },
  { name: "tracker", graph: tracker, load: loadWith(true) },
  { name: "education", graph: education, load: loadEducation },
  // The packages of this repository and what they depend on.
  { name: "dependencies", graph: dependencies, load: async (db) => loadDependencies(db, await lockfile()) },
];

type Row = Readonly<Record<string, unknown>>;
interface Counted {
  count(): PromiseLike<number | { readonly count: number }>;
}
type Untyped = Readonly<Record<string, (id: Row) => Readonly<Record<"in" | "out", (edge: string) => { unordered(): Counted }>>>>;

const limits = { memoryLimit: "256MB", threads: 1 } as const;
let engine: LocalEngine;
let folder: string;

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "systems-"));
  await mkdir(join(folder, "all"));
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Edges of a type at the first nodes of each type that they lie at, as the library counts them; by direction and node. */
const ownCounts = async (graph: AnyGraph, lake: Awaited<ReturnType<typeof openLake>>, edge: string): Promise<readonly string[]> => {
  const db = graph.connect({ endpoint: engine.endpoint }) as unknown as Untyped & { close(): Promise<void> };
  const { from, to } = graph.catalog.edges[edge]!;
  const counts: string[] = [];
  for (const [direction, types] of [["out", from] as const, ["in", to] as const])
    for (const type of types) {
      const table = lake.tables.find(({ kind, definition }) => kind === "node" && definition === type)!;
      for (const row of await lake.query(`select * from ${table.name} order by node limit 12`)) {
        const column = (field: string): string => table.columns.find(({ attribute }) => attribute === field)!.name;
        const id = Object.fromEntries(graph.catalog.nodes[type]!.idFields.map((field) => [field, row[column(field)]]));
        const counted = await db[type]!(id)[direction](edge).unordered().count();
        counts.push(`${direction} ${String(row["node"])} ${typeof counted === "number" ? counted : counted.count}`);
      }
    }
  await db.close();
  return counts;
};

/** A system's table, loaded and extracted once. */
interface Extracted {
  readonly db: {
    readonly scan: () => AsyncIterable<{ readonly node?: string; readonly edge?: string; readonly part?: string }>;
  };
  readonly into: string;
}
const extracted = new Map<string, Promise<Extracted>>();
const extractOf = ({ name, graph, load }: Sample): Promise<Extracted> => {
  const make = async (): Promise<Extracted> => {
    const db = graph.connect({ endpoint: engine.endpoint }) as never as Extracted["db"] & {
      readonly table: { create(): Promise<unknown> };
    };
    await db.table.create();
    await load(db as never);
    const into = join(folder, name);
    await extract(db as never, { into, ...limits });
    return { db, into };
  };
  const known = extracted.get(name) ?? make();
  extracted.set(name, known);
  return known;
};

test.each(samples)("the lake of $name holds what its table holds, and its degrees are the library's counts", async (sample) => {
  const { graph } = sample;
  const { db, into } = await extractOf(sample);
  const lake = await openLake(into, limits);
  const rows: Record<string, number> = {};
  for await (const { node, edge, part } of db.scan()) {
    const definition = `${node === undefined ? (edge === undefined ? "part" : "edge") : "node"} ${node ?? edge ?? part}`;
    rows[definition] = (rows[definition] ?? 0) + 1;
  }
  const stored = lake.tables.filter(
    ({ kind, definition }) => kind !== "edge" || graph.catalog.edges[definition]?.definition.stored !== "reference",
  );
  expect(Object.fromEntries(stored.filter((one) => one.rows > 0).map((one) => [`${one.kind} ${one.definition}`, one.rows]))).toEqual(rows);
  for (const { definition } of lake.tables.filter(({ kind }) => kind === "edge")) {
    const found = new Map((await lake.run(degrees(lake, { edges: [definition] }))).map((row) => [row["node"], row]));
    const own = await ownCounts(graph, lake, definition);
    const inLake = own.map((line) => {
      const [direction = "", node = ""] = line.split(" ");
      return `${direction} ${node} ${Number(found.get(node)?.[`${direction}_degree`] ?? 0)}`;
    });
    expect([definition, inLake]).toEqual([definition, own]);
  }
  const recomputed = new Set(["dangling", "orphanedPart", "wrongAggregate", "staleFact", "staleCopy", "duplicate"]);
  const kindsOf = (kinds: readonly { readonly kind: string; readonly count: number }[]): unknown =>
    Object.fromEntries(kinds.flatMap(({ kind, count }) => (recomputed.has(kind) ? [[kind, count]] : [])));
  const verified = await verify(db as never, { staleAfter: 0, settle: 0 });
  expect(kindsOf((await validate(lake, graph.catalog)).kinds)).toEqual(kindsOf(verified.kinds));
  lake.close();
});

/** The jobs over one system's tables, in a lake that has all systems' under longer names. */
const jobsOver = (name: string, tables: readonly StoredTable[]): readonly Program[] => {
  const system = { tables };
  const start = tables.find(({ kind, rows }) => kind === "node" && rows > 0)!.name;
  const jobs = [
    degrees(system),
    pageRank(system, { rounds: 2 }),
    components(system),
    triangles(system),
    kCore(system, { k: 2 }),
    hops(system, { from: `select node from ${start}`, direction: "both", atMost: 3 }),
    commonNeighbours(system, { atLeast: 1 }),
    recommend(system, { atLeast: 1, top: 3 }),
  ];
  return jobs.map((job) => ({ ...job, job: `${name} ${job.job}` }));
};

/**
 * Rows as texts in one order. Sums of doubles differ in their last digits, because the engines add in different orders: nodes of equal
 * rank may come in either order. Counts are of different integer types.
 */
const comparable = (rows: readonly Row[]): readonly string[] =>
  rows
    .map((row) =>
      JSON.stringify(Object.entries(row).map(([name, value]) => [name, typeof value === "number" ? value.toPrecision(10) : String(value)])),
    )
    .toSorted();

test("every job runs over every system, and Spark returns what DuckDB returns", async () => {
  // One lake for all, so that one session of Spark reads it.
  const all = join(folder, "all");
  const tables: StoredTable[] = [];
  const programs: Program[] = [];
  for (const sample of samples) {
    const { into } = await extractOf(sample);
    const file = JSON.parse(await readFile(join(into, "lake.json"), "utf8")) as LakeFile;
    const renamed = file.tables.map((table) => ({ ...table, name: `${sample.name}_${table.name}` }));
    for (const [at, { name }] of file.tables.entries()) await cp(join(into, name), join(all, renamed[at]!.name), { recursive: true });
    tables.push(...renamed);
    programs.push(...jobsOver(sample.name, renamed));
  }
  const file: LakeFile = { version: 1, table: "all", extractedAt: new Date(0).toISOString(), tables };
  await writeFile(join(all, "lake.json"), JSON.stringify(file));
  const lake = await openLake(all, limits);
  const results: Record<string, readonly string[]> = {};
  for (const program of programs) results[program.job] = comparable(await lake.run(program));
  lake.close();
  expect(Object.values(results).filter((rows) => rows.length > 0).length).toBeGreaterThan(4 * samples.length);
  if (!hasSpark) return;
  const found = await runOnSpark(all, programs, { python });
  for (const [at, { job }] of programs.entries()) expect([job, comparable(found[at]!)]).toEqual([job, results[job]]);
}, 1_800_000);
