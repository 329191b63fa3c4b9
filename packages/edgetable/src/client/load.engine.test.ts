import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { listJobs, takeLease } from "../executor/jobs/job-store.ts";
import type { LoadReport } from "../executor/load/tally.ts";
import { systemEffects } from "../executor/system-effects.ts";
import { edge } from "../schema/edge.ts";
import { node } from "../schema/node.ts";
import { part } from "../schema/part.ts";
import { openWriteLab, type Sent, type WriteLab } from "../testing/test-support/write-lab.ts";
import type { WriteRequest } from "../transport/operations.ts";
import { loadOf, type Load } from "./load.ts";

const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), name: z.string().trim() }) });
const course = node({ key: "COURSE#{id}", schema: z.object({ id: z.string(), n: z.int().optional() }) });
const account = node({ key: "ACCOUNT#{id}", schema: z.object({ id: z.string(), email: z.string() }), unique: ["email"], version: true });
const house = node({ key: "HOUSE#{id}", schema: z.object({ id: z.string() }) });
const room = part({ of: "house", key: "ROOM#{n}", schema: z.object({ n: z.string() }) });
const takes = edge({ from: "student", to: "course", schema: z.object({ grade: z.string().optional() }), stored: "twice" });
const knows = edge({ from: "student", to: "student", symmetric: true });
const leads = edge({ from: "student", to: "course", multiplicity: "one-to-one" });

let lab: WriteLab;
let load: Load<unknown>;
beforeAll(async () => {
  lab = await openWriteLab({ table: "Load", nodes: { student, course, account, house }, parts: { room }, edges: { takes, knows, leads } });
  load = loadOf(lab.driver);
});
afterAll(() => lab.stop());
beforeEach(async () => {
  lab.hooks = {};
  for (const item of Object.values(await lab.items()))
    await lab.driver.session.send(
      "DeleteItem",
      { TableName: lab.catalog.table, Key: { pk: item["pk"]!, sk: item["sk"]! } },
      lab.driver.context({}),
    );
  lab.sent.length = 0;
});

const requestsOf = (sent: Sent): readonly WriteRequest[] => sent.input.RequestItems.Load as readonly WriteRequest[];
const batches = (): readonly Sent[] => lab.sent.filter(({ operation }) => operation === "BatchWriteItem");
const errorOf = async (act: () => unknown): Promise<EdgetableError> => {
  try {
    await act();
  } catch (error) {
    return error as EdgetableError;
  }
  throw new Error("nothing was thrown");
};
const courses = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({ node: "course", row: { id: `C${String(at).padStart(4, "0")}`, n: at } }));
const jobs = async (): Promise<readonly unknown[]> => listJobs(lab.driver.session, lab.driver.context({}));

async function* slowly<T>(rows: Iterable<T>): AsyncGenerator<T> {
  for (const row of rows) {
    await Promise.resolve();
    yield row;
  }
}

test("rows of nodes, parts and edges go 25 items a request, copies included", async () => {
  const rows = [
    { node: "student", row: { id: "S1", name: " Ann " } },
    { part: "room", owner: { id: "H1" }, row: { n: "1" } },
    { edge: "takes", from: { id: "S1" }, to: { id: "C1" }, attributes: { grade: "A" } },
    { edge: "knows", from: { id: "S1" }, to: { id: "S2" } },
    ...courses(30),
  ];
  const report = await load(slowly(rows));
  expect(lab.sent.map((sent) => [sent.operation, requestsOf(sent).length])).toEqual([
    ["BatchWriteItem", 25],
    ["BatchWriteItem", 11],
  ]);
  expect(requestsOf(lab.sent[0]!).slice(0, 6)).toEqual([
    { PutRequest: { Item: { pk: { S: "STUDENT#S1" }, sk: { S: "#" }, type: { S: "student" }, name: { S: "Ann" } } } },
    { PutRequest: { Item: { pk: { S: "HOUSE#H1" }, sk: { S: "ROOM#1" }, type: { S: "room" } } } },
    { PutRequest: { Item: { pk: { S: "STUDENT#S1" }, sk: { S: "takes#COURSE#C1" }, type: { S: "takes" }, grade: { S: "A" } } } },
    { PutRequest: { Item: { pk: { S: "COURSE#C1" }, sk: { S: "~takes#STUDENT#S1" }, type: { S: "~takes" }, grade: { S: "A" } } } },
    { PutRequest: { Item: { pk: { S: "STUDENT#S1" }, sk: { S: "knows#STUDENT#S2" }, type: { S: "knows" } } } },
    { PutRequest: { Item: { pk: { S: "STUDENT#S2" }, sk: { S: "knows#STUDENT#S1" }, type: { S: "knows" } } } },
  ]);
  expect(report).toMatchObject({
    rows: 34,
    position: 34,
    items: 36,
    failed: 0,
    skipped: 0,
    failures: [],
    collisions: { items: 0 },
    cost: { requests: 2, readUnits: 0 },
  });
  expect(report.cost.writeUnits).toBeGreaterThanOrEqual(36);
  expect(Object.keys(await lab.items())).toHaveLength(36);
});

test("a row that does not fit is named with its position and the rest goes on; strict stops there", async () => {
  const rows = [
    { node: "course", row: { id: "C1" } },
    { node: "course", row: { id: "C2", n: "two" } },
    { node: "curse", row: {} },
    { edge: "takes", from: { id: "S" } },
    7,
    { node: "course", row: { id: "" } },
    { node: "course", row: { id: "C3", m: 1 } },
    { node: "course", row: { id: "C4" } },
  ];
  const seen: number[] = [];
  const report = await load(rows, { onFailure: ({ row }) => seen.push(row) });
  expect(report.failures.map(({ row, error }) => [row, error.code])).toEqual([
    [1, "schema.invalidValue"],
    [2, "schema.unknownNode"],
    [3, "schema.invalidValue"],
    [4, "schema.invalidValue"],
    [5, "keys.empty"],
    [6, "schema.unknownAttribute"],
  ]);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(Object.keys(await lab.items())).toEqual(["COURSE#C1 / #", "COURSE#C4 / #"]);
  expect(report).toMatchObject({ rows: 8, items: 2, failed: 6 });
  expect((await load(rows, { named: 2 })).failures).toHaveLength(2);
  const error = await errorOf(() => load(rows, { strict: true }));
  expect(error).toMatchObject({ code: "load.invalidRow", details: { row: 1, code: "schema.invalidValue", report: { position: 1 } } });
});

test("rows that make the same key are counted and named, with whether they differ; the last of a batch stands", async () => {
  const rows = [
    { node: "course", row: { id: "C", n: 1 } },
    { node: "course", row: { id: "D", n: 1 } },
    { node: "course", row: { id: "C", n: 1 } },
    { node: "course", row: { id: "C", n: 2 } },
    { edge: "knows", from: { id: "A" }, to: { id: "B" } },
    { edge: "knows", from: { id: "B" }, to: { id: "A" } },
    { edge: "knows", from: { id: "A" }, to: { id: "A" } },
  ];
  const report = await load(rows);
  expect(report.collisions).toEqual({
    items: 4,
    differing: 1,
    by: { course: { items: 2, differing: 1 }, knows: { items: 2, differing: 0 } },
    first: [
      { of: "course", key: ["COURSE#C", "#"], rows: [0, 2], differs: false },
      { of: "course", key: ["COURSE#C", "#"], rows: [2, 3], differs: true },
      { of: "knows", key: ["STUDENT#B", "knows#STUDENT#A"], rows: [4, 5], differs: false },
      { of: "knows", key: ["STUDENT#A", "knows#STUDENT#B"], rows: [4, 5], differs: false },
    ],
  });
  expect((await lab.items())["COURSE#C / #"]).toMatchObject({ n: { N: "2" } });
  expect(await errorOf(() => load(rows, { collisions: "refuse" }))).toMatchObject({
    code: "load.collision",
    details: { rows: [0, 2], report: { collisions: { items: 1 } } },
  });
  expect((await load(rows, { collisions: "ignore" })).collisions.items).toBe(0);
});

describe("order", () => {
  // Every row writes one of 40 keys, so that batches that are under way together hold the same ones; the earlier are made slow.
  const rows = Array.from({ length: 4000 }, (_, at) => ({ node: "course", row: { id: `C${(at * 7) % 40}`, n: at } }));
  const wrong = async (): Promise<number> => {
    const items = Object.values(await lab.items());
    return items.filter((item) => Number((item["n"] as { N: string }).N) < rows.length - 40).length;
  };
  const delays = (): void => {
    let sent = 0;
    lab.hooks.before = () => pause((sent++ * 37) % 11);
  };

  test("kept: the last row of each key stands, whatever overtakes on the way", async () => {
    delays();
    await load(rows, { order: "kept" });
    expect(await wrong()).toBe(0);
    for (const sent of batches())
      expect(new Set(requestsOf(sent).map((request) => JSON.stringify(request).match(/COURSE#C\d+/)?.[0])).size).toBe(
        requestsOf(sent).length,
      );
  });

  test("any: requests do overtake each other", async () => {
    // Every second batch is slow, the last but one too: the last one overtakes it, on a busy machine as well.
    let sent = 0;
    lab.hooks.before = () => pause(sent++ % 2 === 0 ? 50 : 0);
    await load(rows, { order: "any" });
    expect(await wrong()).toBeGreaterThan(0);
  });
});

test("unique values, versions and guarded degrees take a read and a transaction, and what breaks them is named", async () => {
  const rows = [
    { node: "account", row: { id: "A1", email: "a@x" } },
    { node: "account", row: { id: "A2", email: "a@x" } },
    { edge: "leads", from: { id: "S1" }, to: { id: "C1" } },
    { edge: "leads", from: { id: "S1" }, to: { id: "C1" } },
    { edge: "leads", from: { id: "S1" }, to: { id: "C2" } },
  ];
  // One at a time: two rows that want one unique value at once would both be right to win.
  const report = await load(rows, { order: "kept", concurrency: 1 });
  expect(report.failures.map(({ row, error }) => [row, error.details["reason"]])).toEqual([
    [1, "notUnique"],
    [4, "degreeExceeded"],
  ]);
  expect(await load([{ node: "account", row: { id: "A1", email: "b@x" } }])).toMatchObject({ items: 1, failed: 0 });
  expect(await load([{ node: "account", row: { id: "A2", email: "a@x" } }])).toMatchObject({ items: 1, failed: 0 });
  const items = await lab.items();
  expect(items["ACCOUNT#A1 / #"]).toMatchObject({ email: { S: "b@x" }, version: { N: "2" } });
  expect(items["ACCOUNT#A2 / #"]).toMatchObject({ email: { S: "a@x" }, version: { N: "1" } });
  expect(items["STUDENT#S1 / ~degree#leads#out"]).toMatchObject({ "~count": { N: "1" } });
  expect(Object.keys(items).filter((key) => key.startsWith("~unique"))).toHaveLength(2);
});

test("ends are checked where it is asked for", async () => {
  const rows = [
    { node: "student", row: { id: "S1", name: "x" } },
    { node: "course", row: { id: "C1" } },
  ];
  await load(rows);
  const report = await load(
    [
      { edge: "takes", from: { id: "S1" }, to: { id: "C1" } },
      { edge: "takes", from: { id: "S1" }, to: { id: "none" } },
    ],
    { ends: "checked" },
  );
  expect(report).toMatchObject({ items: 2, failures: [{ row: 1, error: { details: { reason: "endMissing" } } }] });
  expect(report.failures[0]?.error).toMatchObject({ message: 'It was not written: endMissing (to {"id":"none"}).' });
});

test("progress is told while it goes on, and once more at the end", async () => {
  const seen: LoadReport[] = [];
  const report = await load(courses(500), { progressEvery: 1, onProgress: (progress) => seen.push(progress as LoadReport) });
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toMatchObject({ rows: 500, position: 500, items: 500, failed: 0 });
  expect(report.rate).toBeGreaterThan(0);
});

test("a signal ends a load, and a service that gives up does: the error says how far it came", async () => {
  const stop = new AbortController();
  let sent = 0;
  lab.hooks.before = () => {
    if (++sent === 3) stop.abort();
  };
  const error = await errorOf(() => load(courses(2000), { signal: stop.signal, concurrency: 1 }));
  expect(error.code).toBe("execute.aborted");
  expect((error.details["report"] as LoadReport).position).toBeLessThan(200);

  lab.hooks.before = ({ input }) => {
    if (JSON.stringify(input).includes("C0060")) throw new EdgetableError("execute.accessDenied", "no");
  };
  const denied = await errorOf(() => load(courses(2000), { concurrency: 1 }));
  expect(denied).toMatchObject({ code: "execute.accessDenied", details: { report: { position: 50 } } });
  expect(Object.keys(await lab.items()).filter((key) => key < "COURSE#C0050")).toHaveLength(50);
});

test("a signal ends a load whose source keeps silent", async () => {
  let returned = false;
  const silent = {
    [Symbol.asyncIterator]: () => ({
      next: async () => new Promise<never>(() => undefined),
      return: async () => {
        returned = true;
        return new Promise<never>(() => undefined);
      },
    }),
  };
  for (const job of [undefined, "silent"]) {
    returned = false;
    const controller = new AbortController();
    const loading = load(silent, { signal: controller.signal, ...(job === undefined ? {} : { job, lease: 60_000 }) });
    setTimeout(() => controller.abort(new Error("enough")), 30);
    const error = await errorOf(async () => loading);
    expect(error).toMatchObject({ code: "execute.aborted", cause: { message: "enough" }, details: { report: { rows: 0 } } });
    expect(returned).toBe(true);
  }
  expect(await jobs()).toMatchObject([{ id: "silent", running: false }]);
});

test("a source is closed where the load stops before its end", async () => {
  let closed = 0;
  const rows = async function* (): AsyncGenerator<object> {
    try {
      yield* courses(3);
      yield { node: "course", row: { id: 5 } };
      yield* courses(3);
    } finally {
      closed++;
    }
  };
  for (const signal of [undefined, new AbortController().signal]) {
    const error = await errorOf(() => load(rows(), { strict: true, ...(signal ? { signal } : {}) }));
    expect(error).toMatchObject({ code: "load.invalidRow", details: { row: 3 } });
  }
  expect(closed).toBe(2);
});

const refuseBatches = (): void => {
  lab.hooks = {
    before: ({ operation }) => {
      if (operation === "BatchWriteItem") throw new EdgetableError("execute.rejected", "no");
    },
  };
};

test("what a listener throws ends the load and is its error, also while requests are under way", async () => {
  const thrown = (): never => {
    throw new Error("the listener's own");
  };
  for (const order of ["any", "kept"] as const) {
    const error = await errorOf(() => load(slowly(courses(500)), { onProgress: thrown, progressEvery: 1, concurrency: 1, order }));
    expect(error).toMatchObject({ message: "the listener's own" });
  }
  refuseBatches();
  for (const order of ["any", "kept"] as const) {
    const error = await errorOf(() => load(slowly(courses(500)), { onFailure: thrown, concurrency: 1, order }));
    expect(error).toMatchObject({ message: "the listener's own" });
  }
});

test("a clock that is set back stops neither the progress nor the pauses in which a lease is renewed", async () => {
  let now = Date.now();
  let pauses = 0;
  const effects = {
    ...systemEffects,
    now: () => (now += 2),
    sleep: async (milliseconds: number, signal?: AbortSignal) => {
      if (milliseconds === 0) pauses++;
      return systemEffects.sleep(milliseconds, signal);
    },
  };
  const setBack = loadOf({ ...lab.driver, session: { ...lab.driver.session, effects } });
  const told: number[] = [];
  const report = await setBack(courses(2000), {
    progressEvery: 1,
    // The requests' own clock is not set back here.
    deadline: 7_200_000,
    onProgress: ({ rows, rate }) => {
      if (told.push(rows) === 1) now -= 3_600_000;
      expect(rate).toBeLessThan(1_000_000);
    },
  });
  expect(told.length).toBeGreaterThan(10);
  expect(pauses).toBeGreaterThan(100);
  expect(report.duration).toBeGreaterThanOrEqual(0);
});

test.each([{ concurrency: 0 }, { lease: 1 }, { named: -1 }, { deadline: 1.5 }, { job: "" }])(
  "an option out of its range is refused: %o",
  async (options) => {
    expect((await errorOf(() => load([], options))).code).toBe("plan.invalidOption");
  },
);

describe("as a job", () => {
  const failAt = (text: string): void => {
    lab.hooks.before = ({ input, operation }) => {
      if (operation === "BatchWriteItem" && JSON.stringify(input).includes(text)) throw new EdgetableError("execute.accessDenied", "no");
    };
  };

  test("a load that was cut off goes on behind what was acknowledged, and leaves no state when it ends", async () => {
    failAt("C0200");
    await errorOf(() => load(courses(500), { job: "import", concurrency: 2 }));
    const [left] = await jobs();
    expect(left).toMatchObject({ id: "import", kind: "load", running: false, runs: 1, facts: { position: 200 } });
    lab.hooks = {};
    lab.sent.length = 0;
    const report = await load(courses(500), { job: "import", concurrency: 2 });
    expect(report).toMatchObject({ rows: 500, position: 500, skipped: 200, items: 300, failed: 0 });
    expect(batches()).toHaveLength(12);
    expect(await jobs()).toEqual([]);
    expect(Object.keys(await lab.items())).toHaveLength(500);
  });

  test("the failures and collisions of rows that were done are told again", async () => {
    const rows = [{ node: "course", row: { id: "C0000", n: 5 } }, { node: "course", row: { id: 3 } }, ...courses(300)];
    failAt("C0200");
    await errorOf(() => load(rows, { job: "import" }));
    lab.hooks = {};
    expect(await load(rows, { job: "import" })).toMatchObject({
      failed: 1,
      failures: [{ row: 1 }],
      collisions: { items: 1, first: [{ rows: [0, 2] }] },
    });
  });

  test("the position is saved while it runs", async () => {
    let facts: unknown;
    let sent = 0;
    lab.hooks.before = async ({ operation }) => {
      if (operation !== "BatchWriteItem") return;
      await pause(20);
      if (++sent === 18) [facts] = await jobs();
    };
    await load(courses(500), { job: "import", lease: 200, concurrency: 1 });
    expect(facts).toMatchObject({ running: true, facts: { position: expect.any(Number) } });
    expect((facts as { facts: { position: number } }).facts.position).toBeGreaterThan(0);
  });

  test("the lease is renewed while rows that were done are read again", async () => {
    failAt("C0400");
    await errorOf(() => load(courses(500), { job: "import", lease: 1500 }));
    lab.hooks = {};
    const slow = function* () {
      for (const row of courses(500)) {
        const until = performance.now() + 4;
        while (performance.now() < until);
        yield row;
      }
    };
    expect(await load(slow(), { job: "import", lease: 1500 })).toMatchObject({ rows: 500, failed: 0 });
  });

  test("another run, another kind and another input are refused", async () => {
    const { session } = lab.driver;
    await takeLease(
      session,
      { id: "import", kind: "load", duration: 300, facts: { position: 0, fingerprint: "" }, resumes: false },
      lab.driver.context({}),
    );
    expect(await errorOf(() => load(courses(1), { job: "import" }))).toMatchObject({ code: "job.busy", retryable: true });
    await pause(310);
    expect(await errorOf(() => load(courses(1), { job: "import", fingerprint: "other" }))).toMatchObject({
      code: "job.mismatch",
      details: { given: "other" },
    });
    expect(await load(courses(1), { job: "import" })).toMatchObject({ items: 1 });
    await takeLease(session, { id: "sweep", kind: "delete", duration: 300, facts: {}, resumes: false }, lab.driver.context({}));
    expect((await errorOf(() => load(courses(1), { job: "sweep" }))).code).toBe("job.mismatch");
  });

  test("a job whose lease another process took stops", async () => {
    let sent = 0;
    lab.hooks.before = async ({ operation }) => {
      if (operation !== "BatchWriteItem" || ++sent !== 3) return;
      await lab.driver.session.send(
        "UpdateItem",
        {
          TableName: lab.catalog.table,
          Key: { pk: { S: "~job" }, sk: { S: "import" } },
          UpdateExpression: "SET #h = :h",
          ExpressionAttributeNames: { "#h": "~holder" },
          ExpressionAttributeValues: { ":h": { S: "thief" } },
        },
        lab.driver.context({}),
      );
      await pause(150);
    };
    expect((await errorOf(() => load(courses(5000), { job: "import", lease: 200, concurrency: 1 }))).code).toBe("job.busy");
    expect(await jobs()).toMatchObject([{ id: "import" }]);
  });
});
