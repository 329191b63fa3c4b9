import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createLeanTransport, isEdgetableError, type Transport } from "edgetable";
import { createSdkTransport } from "edgetable/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { ownGraph } from "./models.ts";
import { openOddServer, type OddServer } from "./mutated-answers.ts";
import { openTables, type Tables } from "./open-tables.ts";

let engine: Tables["engine"];
let inOwn: Tables["inOwn"];
let server: OddServer;

beforeAll(async () => {
  ({ engine, inOwn } = await openTables());
  server = await openOddServer(engine.endpoint);
});
afterAll(() => {
  server.close();
  return engine.close();
});

type Db = ReturnType<ReturnType<typeof ownGraph>["connect"]>;

const S1 = { studentId: "S1" };
const C1 = { courseId: "C1" };
const drain = async (rows: AsyncIterable<unknown>): Promise<void> => {
  for await (const row of rows) void row;
};

/** Every public call that sends a request. */
const calls: Readonly<Record<string, (db: Db) => PromiseLike<unknown>>> = {
  get: (db) => db.student.get(S1, { consistent: true }),
  getMany: (db) => db.student.getMany([S1, { studentId: "S2" }, S1]),
  collection: (db) => db.student(S1).collection(),
  incoming: (db) => db.course(C1).incoming(),
  edges: (db) => db.student(S1).out("enrolledIn").edges(),
  entries: (db) => db.student(S1).out("enrolledIn").entries(),
  nodes: (db) => db.course(C1).in("enrolledIn").nodes(),
  ids: (db) => db.student(S1).out("enrolledIn").ids(),
  count: (db) => db.student(S1).out("enrolledIn").count(),
  first: (db) => db.student(S1).out("enrolledIn").first(),
  range: (db) => db.student(S1).out("enrolledIn").range(1, 1),
  page: (db) => db.student(S1).out("enrolledIn").page({ limit: 1 }),
  has: (db) => db.student(S1).has("enrolledIn", C1),
  edge: (db) => db.enrolledIn.get(S1, C1),
  "many edges": (db) => db.enrolledIn.getMany(S1, [C1]),
  parts: (db) => db.room({ floor: 1, door: "a" }).parts("desk").all(),
  "count of parts": (db) => db.room({ floor: 1, door: "a" }).parts("desk").count(),
  create: (db) => db.student.create({ studentId: "S2", name: "Bob" }),
  put: (db) => db.student.put({ studentId: "S3", name: "Cy" }),
  update: (db) => db.student.update(S1, { name: "Ann" }),
  delete: (db) => db.student.delete({ studentId: "S3" }),
  link: (db) => db.enrolledIn.link(S1, C1, { enrolledAt: "2024-01" }),
  "put edge": (db) => db.enrolledIn.put(S1, C1, { enrolledAt: "2024-02" }),
  relink: (db) => db.enrolledIn.relink(S1, C1, { grade: "A" }),
  unlink: (db) => db.enrolledIn.unlink(S1, { courseId: "C9" }),
  transact: (db) => db.transact([db.course.put({ courseId: "C8" }), db.course.put({ courseId: "C9" })]),
  batch: (db) => db.batch([db.course.put({ courseId: "C8" }), db.course.put({ courseId: "C9" })]),
  load: (db) => db.load([{ node: "student", row: { studentId: "S4", name: "Di" } }]),
  scan: (db) => drain(db.scan()),
  jobs: (db) => db.jobs.list(),
  "walk ids": (db) => db.student(S1).walk().out("enrolledIn").in("enrolledIn").dedupe().ids(),
  "walk count": (db) => db.student(S1).walk().out("enrolledIn").count(),
  "walk groups": (db) => db.student(S1).walk().out("enrolledIn").in("enrolledIn").groupCount(),
  "walk nodes": (db) => db.student(S1).walk().out("enrolledIn").nodes(),
  "shortest path": (db) => db.student(S1).shortestPath({ studentId: "S2" }, { both: "helps" }),
  "table diff": (db) => db.table.diff(),
  "table create": (db) => db.table.create(),
};

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const transports: readonly (readonly [name: string, open: () => Transport])[] = [
  ["lean", () => createLeanTransport({ endpoint: server.endpoint, region: "us-east-1" })],
  ["sdk", () => createSdkTransport(new DynamoDBClient({ endpoint: server.endpoint, region: "us-east-1", credentials, maxAttempts: 1 }))],
];

const first = testSeed();
const runs = testRuns(12);
// For what hangs; no call takes a thousandth of it.
const HANGS = 60_000;

describe.each(transports)("whatever answers the %s transport", (_, open) => {
  test.each(Object.entries(calls))(
    "%s ends in a result or a typed error",
    async (_name, call) => {
      const db = ownGraph(inOwn.name).connect({
        transport: open(),
        retry: { attempts: 2, baseDelay: 1 },
        deadline: 2000,
        requestTimeout: 500,
      });
      for (let seed = first; seed < first + runs; seed++) {
        server.mutate(seed);
        const error = await Promise.resolve()
          .then(() => call(db))
          .then(
            () => undefined,
            (thrown: unknown) => thrown ?? "nothing",
          );
        if (error === undefined) continue;
        const told = `EDGETABLE_SEED=${seed} EDGETABLE_RUNS=1: ${(error as Error).stack ?? String(error)}`;
        expect(isEdgetableError(error), told).toBe(true);
        expect((error as { readonly code: string }).code, told).not.toBe("invariant");
      }
      server.mutate(undefined);
      expect(await db.student.get(S1)).toMatchObject({ studentId: "S1" });
      await db.close();
    },
    HANGS,
  );
});
