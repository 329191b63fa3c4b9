import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { LoadReport } from "../executor/load/load-state.ts";
import { systemEffects } from "../executor/session.ts";
import type { WriteLab } from "../test-support/write-lab.ts";
import { courses, empty, errorOf, jobsOf, openLoadLab, slowly } from "./load-lab.test-support.ts";
import { loadOf, type Load } from "./load.ts";

let lab: WriteLab;
let load: Load<unknown>;
beforeAll(async () => {
  lab = await openLoadLab();
  load = loadOf(lab.driver);
});
afterAll(() => lab.stop());
beforeEach(() => empty(lab));

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

test.each(["a signal", "a lost lease"])("%s fails no row: those under way are as good as those that were not reached", async (how) => {
  const stop = new AbortController();
  const told: number[] = [];
  let sent = 0;
  lab.hooks.before = async ({ operation }) => {
    if (operation !== "BatchWriteItem" || ++sent < 6) return;
    if (how === "a signal") return stop.abort();
    if (sent === 6) {
      await lab.driver.session.send(
        "UpdateItem",
        {
          TableName: lab.catalog.table,
          Key: { pk: { S: "~job" }, sk: { S: "cut" } },
          UpdateExpression: "SET #h = :h",
          ExpressionAttributeNames: { "#h": "~holder" },
          ExpressionAttributeValues: { ":h": { S: "thief" } },
        },
        lab.driver.context({}),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  };
  const options = {
    job: "cut",
    lease: how === "a signal" ? 10_000 : 200,
    concurrency: 4,
    signal: stop.signal,
    onFailure: ({ row }: { row: number }) => told.push(row),
  };
  const error = await errorOf(() => load(courses(5000), options));
  expect(error.code).toBe(how === "a signal" ? "execute.aborted" : "job.busy");
  const report = error.details["report"] as LoadReport;
  expect(report).toMatchObject({ failed: 0, failures: [] });
  expect(told).toEqual([]);
  expect(report.position).toBeLessThanOrEqual(report.items);
});

test("a job that is stopped while it takes its lease gives it back, with what an earlier run has saved", async () => {
  const denied = (): never => {
    throw new EdgetableError("execute.accessDenied", "no");
  };
  lab.hooks.before = ({ input }) => (JSON.stringify(input).includes("C0060") ? denied() : undefined);
  await errorOf(() => load(courses(100), { job: "cut", concurrency: 1 }));
  const [before] = await jobsOf(lab);
  expect(before).toMatchObject({ running: false, facts: { position: 50 } });

  const stop = new AbortController();
  lab.hooks = {};
  lab.hooks.after = ({ operation }) => {
    if (operation !== "UpdateItem" || stop.signal.aborted) return;
    stop.abort();
    throw new EdgetableError("execute.aborted", "the answer did not come", { details: { ambiguous: true } });
  };
  expect(await errorOf(() => load(courses(100), { job: "cut", signal: stop.signal }))).toMatchObject({ code: "execute.aborted" });
  expect(await jobsOf(lab)).toEqual([{ ...before, runs: 2 }]);
  lab.sent.length = 0;
  expect(await errorOf(() => load(courses(100), { job: "cut", signal: stop.signal }))).toMatchObject({ code: "execute.aborted" });
  expect(lab.sent).toEqual([]);
  expect(await load(courses(100), { job: "cut" })).toMatchObject({ skipped: 50, items: 50, position: 100 });
});

test("a signal ends a load whose source keeps silent", async () => {
  let returned = false;
  let ask = (): void => undefined;
  const silent = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        ask();
        return new Promise<never>(() => undefined);
      },
      return: async () => {
        returned = true;
        return new Promise<never>(() => undefined);
      },
    }),
  };
  for (const job of [undefined, "silent"]) {
    returned = false;
    const controller = new AbortController();
    ask = () => setImmediate(() => controller.abort(new Error("enough")));
    const loading = load(silent, { signal: controller.signal, ...(job === undefined ? {} : { job, lease: 60_000 }) });
    const error = await errorOf(async () => loading);
    expect(error).toMatchObject({ code: "execute.aborted", cause: { message: "enough" }, details: { report: { rows: 0 } } });
    expect(returned).toBe(true);
  }
  expect(await jobsOf(lab)).toMatchObject([{ id: "silent", running: false }]);
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

test("a load that ends by a throw without an error is no success", async () => {
  const thrown = (): never => {
    // oxlint-disable-next-line only-throw-error -- a caller's code may
    throw undefined;
  };
  const source = function* (): Generator {
    yield* courses(3);
    thrown();
  };
  await expect(load(source())).rejects.toBeUndefined();
  await expect(load(slowly(courses(500)), { onProgress: thrown, progressEvery: 1, concurrency: 1 })).rejects.toBeUndefined();
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
