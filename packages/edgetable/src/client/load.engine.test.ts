import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Effects } from "../executor/session.ts";
import type { Job, JobKind } from "../executor/jobs/job-store.ts";
import { takeLease } from "../executor/jobs/job-store.ts";
import type { Sent, WriteLab } from "../test-support/write-lab.ts";
import type { WriteRequest } from "../transport/operations.ts";
import type { LoadProgress } from "../executor/load/load-state.ts";
import type { LoadOptions } from "./job-options.ts";
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

const requestsOf = (sent: Sent): readonly WriteRequest[] => sent.input.RequestItems.Load as readonly WriteRequest[];
const batches = (): readonly Sent[] => lab.sent.filter(({ operation }) => operation === "BatchWriteItem");
const jobs = (): Promise<readonly Job[]> => jobsOf(lab);

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
    // The last batch but one, which writes some of the last one's keys before it, is held until the last one is written.
    const holds = ({ input }: Sent, n: number): boolean => JSON.stringify(input).includes(`{"N":"${n}"}`);
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    lab.hooks.before = (sent) => (holds(sent, rows.length - 50) ? opened : undefined);
    lab.hooks.after = (sent) => (holds(sent, rows.length - 1) ? open() : undefined);
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

test("a batch that does not fill up does not hold the position while other rows are written alone", async () => {
  const accounts = Array.from({ length: 1200 }, (_, at) => ({ node: "account", row: { id: `A${at}`, email: `${at}@x` } }));
  const positions: number[] = [];
  await load([...courses(3), ...accounts], {
    progressEvery: 1,
    onProgress: ({ rows, position }) => rows < 1203 && positions.push(position),
  });
  expect(Math.max(...positions)).toBeGreaterThan(900);
});

test("progress says how many rows are estimated, and how long the rest takes", async () => {
  const told = async (rows: Iterable<unknown>, options: LoadOptions = {}): Promise<readonly LoadProgress[]> => {
    const all: LoadProgress[] = [];
    await load(rows as readonly unknown[], { progressEvery: 1, onProgress: (one) => all.push(one), ...options });
    return all.filter((one) => !("failures" in one));
  };
  const listed = await told(courses(300));
  expect(listed.length).toBeGreaterThan(0);
  for (const { rows, position, estimated, left } of listed) {
    expect(estimated).toBe(300);
    expect(position).toBeLessThanOrEqual(rows);
    if (position > 0) expect(left).toBeGreaterThanOrEqual(0);
    else expect(left).toBeUndefined();
  }
  expect(new Set((await told(new Set(courses(300)))).map(({ estimated }) => estimated))).toEqual(new Set([300]));
  expect((await told(courses(300).values())).map(({ estimated }) => estimated)).not.toContain(300);
  // An estimate that the rows go beyond is no less than the rows that were read.
  let calls = 0;
  const estimated = (): number => ++calls;
  for (const one of await told(courses(300).values(), { estimated })) expect(one.estimated).toBe(Math.max(one.rows, one.estimated ?? 0));
  expect(calls).toBeGreaterThan(0);
  await expect(told([], { estimated: "many" as never })).rejects.toMatchObject({
    code: "plan.invalidOption",
    message: 'estimated takes a number of rows or a function, got "many".',
  });
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

  test("rows that could not be written stay failed in the runs that resume it", async () => {
    const account = (id: string) => ({ node: "account", row: { id, email: "one@example.com" } });
    const rows = [account("A"), account("B"), ...courses(300)];
    const how = { job: "import", concurrency: 1 };
    for (const place of ["C0100", "C0200"]) {
      failAt(place);
      await errorOf(() => load(rows, how));
      const [left] = await jobs();
      expect(left?.facts).toMatchObject({ refused: 1 });
    }
    lab.hooks = {};
    const { failed, skipped, position } = await load(rows, how);
    expect({ failed, position }).toEqual({ failed: 1, position: 302 });
    expect(skipped).toBeLessThan(302 - 100);
    expect(Object.keys(await lab.items()).filter((key) => key.startsWith("ACCOUNT"))).toHaveLength(1);
  });

  test("the position is saved while it runs", async () => {
    let sent = 0;
    const saved = async (): Promise<void> => {
      const [job] = await jobs();
      expect(job?.running).toBe(true);
      expect(job?.facts["position"]).toBeGreaterThan(0);
    };
    lab.hooks.before = async ({ operation }) => {
      if (operation === "BatchWriteItem" && ++sent === 10) await vi.waitFor(saved, { timeout: 20_000 });
    };
    await load(courses(500), { job: "import", concurrency: 1 });
    expect(sent).toBe(20);
  });

  test("the lease is renewed while rows that were done are read again", async () => {
    failAt("C0400");
    await errorOf(() => load(courses(500), { job: "import" }));
    // Each row takes 4 ms, and nothing else does: while the load breathes, what is under way is answered.
    let [now, underWay] = [Date.now(), 0];
    lab.hooks = { before: () => void underWay++, after: () => void underWay-- };
    const isOver = (milliseconds: number, until: number): boolean => (milliseconds === 0 ? underWay === 0 : now >= until);
    const sleep: Effects["sleep"] = async (milliseconds, signal) => {
      const until = now + milliseconds;
      await new Promise(setImmediate);
      while (!isOver(milliseconds, until)) {
        if (signal?.aborted) return;
        await new Promise(setImmediate);
      }
    };
    const slow = function* () {
      for (const row of courses(500)) {
        now += 4;
        yield row;
      }
    };
    const { session } = lab.driver;
    const timed = loadOf({ ...lab.driver, session: { ...session, effects: { ...session.effects, now: () => now, sleep } } });
    expect(await timed(slow(), { job: "import", lease: 1500 })).toMatchObject({ rows: 500, failed: 0 });
    expect(lab.sent.filter(({ operation }) => operation === "UpdateItem").length).toBeGreaterThan(4);
  });

  test("another run, another kind and another input are refused", async () => {
    const { session } = lab.driver;
    const lease = async (id: string, kind: JobKind, ago: number): Promise<unknown> => {
      const then = { ...session, effects: { ...session.effects, now: () => Date.now() - ago } };
      const facts = { position: 0, fingerprint: "" };
      return takeLease(then, { id, kind, duration: 60_000, facts, resumes: false }, lab.driver.context({}));
    };
    await lease("held", "load", 0);
    expect(await errorOf(() => load(courses(1), { job: "held" }))).toMatchObject({ code: "job.busy", retryable: true });
    await lease("import", "load", 3_600_000);
    expect(await errorOf(() => load(courses(1), { job: "import", fingerprint: "other" }))).toMatchObject({
      code: "job.mismatch",
      details: { given: "other" },
    });
    expect(await load(courses(1), { job: "import" })).toMatchObject({ items: 1 });
    await lease("sweep", "delete", 3_600_000);
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
