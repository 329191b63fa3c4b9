import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, edge, EdgetableError, node, type Effects, type Transport } from "../index.ts";
import { sleep } from "../util/time.ts";

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: z.string() }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked" }) },
  });

const FRIENDS = 60;
const person = (personId: string) => ({ personId });

let engine: TestEngine;
let graph: ReturnType<typeof graphOf>;
beforeAll(async () => {
  engine = await openEngine();
  graph = graphOf(engine.freshTableName("limits"));
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const rows = Array.from({ length: FRIENDS }, (_, at) => [
    { edge: "knows" as const, from: person("hub"), to: person(`f${at}`), attributes: {} },
    { edge: "knows" as const, from: person(`f${at}`), to: person(`g${at}`), attributes: {} },
  ]).flat();
  await db.load(rows, { strict: true });
});
afterAll(() => engine.close());

interface Watched {
  readonly transport: Transport;
  /** How many requests were in flight when each was sent. */
  readonly widths: number[];
  most: number;
}

// The clock of time budgets: time passes only when a test says so, however busy the machine is.
let now = 0;
const effects: Effects = { ...systemEffects, now: () => now };
const passing = (milliseconds: number) => (): number => {
  now += milliseconds;
  return 0;
};

const throttled = new EdgetableError("execute.throttled", "throttled", { retryable: true });

/** The engine behind a slow connection that obeys its signal and may refuse requests. */
const watch = (
  delay: number | ((attempt: number) => number),
  refuse: (attempt: number, input: object) => boolean = () => false,
  refusal: Error = throttled,
): Watched => {
  const widths: number[] = [];
  let running = 0;
  const send: Transport["send"] = async (operation, input, options) => {
    watched.most = Math.max(watched.most, ++running);
    const attempt = widths.push(running);
    const signal = options?.signal;
    try {
      await sleep(typeof delay === "number" ? delay : delay(attempt), signal);
      if (refuse(attempt, input)) throw refusal;
      return await engine.transport.send(operation, input, signal && { signal });
    } finally {
      running--;
    }
  };
  const watched: Watched = { transport: { send, close: () => undefined }, widths, most: 0 };
  return watched;
};

/** Refuses each request of the second frontier once. Refusing by turns might refuse the same request forever. */
const eachOnce = (): ((attempt: number, input: object) => boolean) => {
  const refused = new Set<string>();
  return (attempt, input) => {
    const request = JSON.stringify(input);
    return attempt > 1 && !refused.has(request) && refused.add(request).size > 0;
  };
};

const walkOver = (watched: Watched) =>
  graph
    .connect({
      transport: watched.transport,
      advanced: { effects },
      cursorSecret: "test".padEnd(43, "-"),
      retry: { baseDelay: 1, maxDelay: 5 },
    })
    .person(person("hub"))
    .out("knows")
    .out("knows");

/** Waits some turns of the event loop. A busy machine makes each turn longer, but not more of them. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

test("an abort ends a walk at once, and nothing is sent after it", async () => {
  const watched = watch((attempt) => (attempt === 1 ? 0 : 60_000));
  const control = new AbortController();
  const call = walkOver(watched).ids().run({ signal: control.signal });
  call.catch(() => undefined);
  while (watched.widths.length < 33) await turns();
  control.abort();
  expect(await Promise.race([call.catch(() => "rejected"), turns()])).toBe("rejected");
  await expect(call).rejects.toMatchObject({ code: "execute.aborted" });
  await turns();
  expect(watched.widths).toHaveLength(33);
});

/** Milliseconds from an abort in the middle of a walk to its end. */
const timeToEnd = async (): Promise<number> => {
  const watched = watch((attempt) => (attempt === 1 ? 0 : 60_000));
  const control = new AbortController();
  const call = walkOver(watched).ids().run({ signal: control.signal });
  call.catch(() => undefined);
  while (watched.widths.length < 33) await turns();
  const aborted = performance.now();
  control.abort();
  await expect(call).rejects.toMatchObject({ code: "execute.aborted" });
  return performance.now() - aborted;
};

test("an abort takes less than 50 ms", async () => {
  // The quickest of many runs, because a busy machine does not delay every one.
  const times = [];
  for (let round = 0; round < 20; round++) times.push(await timeToEnd());
  expect(Math.min(...times)).toBeLessThan(50);
});

test("a throttled walk has fewer requests in flight, and the same answer", async () => {
  const calm = watch(1);
  expect(await walkOver(calm).count()).toMatchObject({ count: FRIENDS, complete: true });
  expect(calm.most).toBe(32);
  const throttled = watch(1, eachOnce());
  expect(await walkOver(throttled).count()).toMatchObject({ count: FRIENDS, complete: true });
  expect(throttled.widths).toHaveLength(1 + 2 * FRIENDS);
  // The first requests use the whole width, later ones less and less of it.
  expect(throttled.most).toBe(32);
  expect(Math.max(...calm.widths.slice(-20))).toBeGreaterThanOrEqual(20);
  expect(Math.max(...throttled.widths.slice(-20))).toBeLessThanOrEqual(16);
});

test("every attempt counts against the budget's requests, repeated ones too", async () => {
  const throttled = watch(1, eachOnce());
  const part = await walkOver(throttled).ids({ budget: { requests: 20 } });
  expect(part).toMatchObject({ complete: false, stopped: { by: "requests" } });
  expect(throttled.widths).toHaveLength(20);
  const rest = await walkOver(watch(0)).ids({ cursor: part.next });
  expect(new Set([...part, ...rest].map((id) => id.personId)).size).toBe(FRIENDS);
  expect(part.items.length + rest.items.length).toBe(FRIENDS);
});

test("a non-retryable error is thrown even if the budget ends before it", async () => {
  const denied = watch(10, (attempt) => attempt === 3, new EdgetableError("execute.accessDenied", "denied"));
  await expect(walkOver(denied).ids({ budget: { requests: 4 } })).rejects.toMatchObject({ code: "execute.accessDenied" });
  expect(denied.widths).toHaveLength(4);
  // The first frontier is read in time, and the refusal comes after it.
  const gone = new EdgetableError("execute.tableNotFound", "gone");
  const late = watch(
    (attempt) => (attempt === 3 ? passing(1500)() : 1),
    (attempt) => attempt === 3,
    gone,
  );
  await expect(walkOver(late).ids({ budget: { time: 1000 } })).rejects.toMatchObject({ code: "execute.tableNotFound" });
  const busy = watch(10, (attempt) => attempt === 3);
  expect(await walkOver(busy).ids({ budget: { requests: 4 } })).toMatchObject({ complete: false, stopped: { by: "requests" } });
});

test("units, time and memory stop a walk, and a continuation completes it", async () => {
  const units = await walkOver(watch(1)).ids({ budget: { units: 5 } });
  expect(units).toMatchObject({ complete: false, stopped: { by: "units", hop: 2 } });
  const time = await walkOver(watch(passing(40))).ids({ budget: { time: 60 } });
  expect(time).toMatchObject({ complete: false, stopped: { by: "time", hop: 2 } });
  const memory = await walkOver(watch(0)).ids({ budget: { memory: 2000 } });
  expect(memory).toMatchObject({ complete: false, stopped: { by: "memory" } });
  for (const { items, next } of [units, time, memory]) {
    const rest = await walkOver(watch(0)).ids({ cursor: next });
    expect(rest.complete).toBe(true);
    expect(items.length + rest.items.length).toBe(FRIENDS);
  }
  const deadline = await walkOver(watch(passing(40)))
    .ids()
    .run({ deadline: 60 });
  expect(deadline).toMatchObject({ complete: false, stopped: { by: "time", hop: 2 } });
});

test("a search for paths keeps to its memory budget, whichever end it expands", async () => {
  const hub = graph.connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-") }).person(person("hub"));
  for (const search of [
    hub.shortestPaths(person("g5"), { out: "knows" }, { budget: { memory: 2000 } }),
    graph
      .connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-"), advanced: { rulesOff: ["smaller-side"] } })
      .person(person("hub"))
      .allPaths(person("g5"), { out: "knows" }, { budget: { memory: 2000 } }),
  ]) {
    expect(await search).toMatchObject({ items: [], complete: false, stopped: { by: "memory" } });
  }
});

test("a budget out of its range is refused at once", () => {
  expect(() => walkOver(watch(0)).ids({ budget: { requests: 0 } })).toThrow(/requests is 0/);
});
