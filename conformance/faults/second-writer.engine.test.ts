import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineGraph, edge, isEdgetableError, node, part, type Transport } from "edgetable";
import { createFaultTransport, virtualClock } from "@edgetable/testing";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";

// Two clients make the same conditional write. The first one's first attempt is lost before it reaches the service, the
// second one's write comes between, then the first one's retry. One condition has one winner.

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      lock: node({ key: "LOCK#{id}", schema: z.object({ id: z.string(), holder: z.string().optional() }), version: true }),
      door: node({ key: "DOOR#{id}", schema: z.object({ id: z.string(), state: z.string().optional() }) }),
    },
    parts: { bolt: part({ of: "door", key: "BOLT#{n}", schema: z.object({ n: z.string() }) }) },
    edges: {
      opens: edge({ from: "lock", to: "door", ends: "unchecked", schema: z.object({ state: z.string().optional() }) }),
      guards: edge({ from: "lock", to: "door", schema: z.object({ state: z.string().optional() }) }),
    },
  });

type Db = ReturnType<ReturnType<typeof graphOf>["connect"]>;
interface Outcome {
  readonly ok: boolean;
}
interface Contest {
  readonly name: string;
  readonly prepare: (db: Db) => PromiseLike<unknown>;
  readonly write: (db: Db, idempotent: boolean) => PromiseLike<Outcome>;
}

const [lock, door] = [{ id: "1" }, { id: "1" }];
const nothing = (): PromiseLike<unknown> => Promise.resolve();
const contests: readonly Contest[] = [
  { name: "create", prepare: nothing, write: (db, idempotent) => db.lock.create({ ...lock, holder: "me" }, { idempotent }) },
  {
    name: "put if",
    prepare: (db) => db.door.put({ ...door, state: "free" }),
    write: (db, idempotent) => db.door.put({ ...door, state: "taken" }, { if: { state: "free" }, idempotent }),
  },
  {
    name: "put ifVersion",
    prepare: (db) => db.lock.create(lock),
    write: (db, idempotent) => db.lock.put({ ...lock, holder: "me" }, { ifVersion: 1, idempotent }),
  },
  {
    name: "update if",
    prepare: (db) => db.door.put({ ...door, state: "free" }),
    write: (db, idempotent) => db.door.update(door, { state: "taken" }, { if: { state: "free" }, idempotent }),
  },
  {
    name: "update ifVersion",
    prepare: (db) => db.lock.create(lock),
    write: (db, idempotent) => db.lock.update(lock, { holder: "me" }, { ifVersion: 1, idempotent }),
  },
  { name: "delete", prepare: (db) => db.lock.create(lock), write: (db, idempotent) => db.lock.delete(lock, { idempotent }) },
  {
    name: "delete ifVersion",
    prepare: (db) => db.lock.create(lock),
    write: (db, idempotent) => db.lock.delete(lock, { ifVersion: 1, idempotent }),
  },
  { name: "create a part", prepare: nothing, write: (db, idempotent) => db.bolt.create(door, { n: "1" }, { idempotent }) },
  {
    name: "delete a part",
    prepare: (db) => db.bolt.create(door, { n: "1" }),
    write: (db, idempotent) => db.bolt.delete(door, { n: "1" }, { idempotent }),
  },
  { name: "link", prepare: nothing, write: (db, idempotent) => db.opens.link(lock, door, {}, { idempotent }) },
  {
    name: "link with checked ends",
    prepare: async (db) => [await db.lock.create(lock), await db.door.create(door)],
    write: (db, idempotent) => db.guards.link(lock, door, {}, { idempotent }),
  },
  {
    name: "relink if",
    prepare: (db) => db.opens.link(lock, door, { state: "free" }),
    write: (db, idempotent) => db.opens.relink(lock, door, { state: "taken" }, { if: { state: "free" }, idempotent }),
  },
  {
    name: "unlink",
    prepare: (db) => db.opens.link(lock, door, {}),
    write: (db, idempotent) => db.opens.unlink(lock, door, { idempotent }),
  },
];

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

type Told = "ok" | "refused" | "ambiguous";

/** How a call reports a lost answer to itself: as the library does, or as it once did. */
type Reading = (error: unknown) => Told;
const asThrown: Reading = (error) => {
  if (isEdgetableError(error, "execute.ambiguous")) return "ambiguous";
  throw error;
};
/** Takes what stands there as its own work, because it looks like it. */
const asItLooks: Reading = (error) =>
  isEdgetableError(error, "execute.ambiguous") && error.details["found"] === "asWritten" ? "ok" : asThrown(error);

const tell = async (call: PromiseLike<Outcome>, reading: Reading): Promise<Told> => {
  try {
    return (await call).ok ? "ok" : "refused";
  } catch (error) {
    return reading(error);
  }
};

type Fault = "resetBefore" | "timeoutBefore" | "internalErrorBefore" | "throttleTable" | "resetAfter";

/** What both clients were told. */
const compete = async (contest: Contest, fault: Fault, { idempotent = false, reading = asThrown } = {}): Promise<readonly Told[]> => {
  const graph = graphOf(engine.freshTableName("second"));
  const clock = virtualClock({ start: Date.UTC(2026, 0, 1), seed: 7 });
  const second = graph.connect({ transport: engine.transport });
  await second.table.create();
  await contest.prepare(second);
  const faulty = createFaultTransport(engine.transport, { script: [{ fault }], effects: clock });
  let other: Told | undefined;
  const transport: Transport = {
    send: async (operation, input, options) => {
      try {
        return await faulty.send(operation, input, options);
      } catch (error) {
        other ??= await tell(contest.write(second, idempotent), asThrown);
        throw error;
      }
    },
    close: () => Promise.resolve(),
  };
  const first = graph.connect({ transport, advanced: { effects: { now: () => clock.now(), sleep: clock.sleep, random: Math.random } } });
  const told = await tell(contest.write(first, idempotent), reading);
  await engine.transport.send("DeleteTable", { TableName: graph.catalog.table });
  return [told, other ?? "refused"];
};

const lostBefore = ["resetBefore", "timeoutBefore", "internalErrorBefore"] as const;

describe.each(contests)("$name", (contest) => {
  test.each(lostBefore)("has one winner where the first attempt ends in %s", async (fault) => {
    const [first, other] = await compete(contest, fault);
    expect(other).toBe("ok");
    expect(first).not.toBe("ok");
  });

  test("has one winner where the answer alone was lost", async () => {
    const [first, other] = await compete(contest, "resetAfter");
    expect(other).toBe("refused");
    expect(first).not.toBe("refused");
  });

  test("is refused, not ambiguous, where the first attempt surely did not apply", async () => {
    expect(await compete(contest, "throttleTable")).toEqual(["refused", "ok"]);
  });

  test("is exact with a token", async () => {
    for (const fault of lostBefore) expect(await compete(contest, fault, { idempotent: true })).toEqual(["refused", "ok"]);
    expect(await compete(contest, "resetAfter", { idempotent: true })).toEqual(["ok", "refused"]);
  });
});

test("a client that takes another's work for its own is caught", async () => {
  const winners = await Promise.all(contests.map(async (contest) => compete(contest, "resetBefore", { reading: asItLooks })));
  const twice = contests.filter((_, at) => winners[at]?.every((told) => told === "ok")).map(({ name }) => name);
  expect(twice).toEqual(contests.map(({ name }) => name).filter((name) => name !== "link with checked ends"));
});
