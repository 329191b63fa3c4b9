import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, EdgetableError, node, type Operation, type Transport } from "../index.ts";
import { systemEffects } from "./session.ts";

let engine: TestEngine;
let table: string;
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("aborted-waits");
  await graphOf().connect({ transport: engine.transport }).table.create();
});
afterAll(() => engine.close());

const graphOf = () =>
  defineGraph({
    table,
    nodes: {
      place: node({ key: "PLACE#{id}", schema: z.object({ id: z.string(), n: z.number().optional() }) }),
      person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) }),
    },
    edges: { visited: edge({ from: "person", to: "place", onDelete: { to: "cascade" } }) },
  });

/** A connection whose writes fail as given, and whose caller aborts as soon as a call pauses. */
const connect = (fail: (operation: Operation, send: () => Promise<unknown>) => Promise<unknown>) => {
  const caller = new AbortController();
  const transport: Transport = {
    send: (operation, input, options) => {
      const send = () => engine.transport.send(operation, input, options);
      return (/Get|Query/.test(operation) ? send() : fail(operation, send)) as ReturnType<typeof send>;
    },
    close: () => undefined,
  };
  const effects = {
    ...systemEffects,
    sleep: (milliseconds: number, signal?: AbortSignal) => {
      if (signal === undefined || milliseconds > 100_000) return systemEffects.sleep(milliseconds, signal);
      caller.abort("enough");
      return systemEffects.sleep(signal.aborted ? milliseconds : 20, signal);
    },
  };
  const retry = { baseDelay: 10_000, maxDelay: 10_000 };
  return { db: graphOf().connect({ transport, retry, advanced: { effects } }), signal: caller.signal };
};
type Db = ReturnType<typeof connect>["db"];

const loseAnswers = async (_: Operation, send: () => Promise<unknown>): Promise<never> => {
  await send();
  throw new EdgetableError("execute.connection", "reset", { retryable: true, details: { ambiguous: true } });
};

const throttle = (operation: Operation): Promise<never> =>
  Promise.reject(new EdgetableError("execute.throttled", `${operation}: slow down`, { retryable: true, details: { ambiguous: false } }));

interface Runnable {
  run(options: { readonly signal: AbortSignal }): Promise<unknown>;
}

const writes: Readonly<Record<string, (db: Db) => Runnable>> = {
  create: (db) => db.place.create({ id: "create" }),
  "exact create": (db) => db.place.create({ id: "exact" }, { idempotent: true }),
  put: (db) => db.place.put({ id: "put" }),
  upsert: (db) => db.place.upsert({ id: "upsert" }, { n: 1 }, { expect: "new" }),
  transact: (db) => db.transact([db.place.create({ id: "transact" }), db.place.put({ id: "transact2" })]),
  batch: (db) => db.batch([db.place.put({ id: "batch" })]),
};

test.each(Object.keys(writes))("a %s that is aborted between two attempts says that the first may have taken effect", async (kind) => {
  const { db, signal } = connect(loseAnswers);
  await expect(writes[kind]!(db).run({ signal })).rejects.toMatchObject({
    code: "execute.aborted",
    message: "The call was aborted while it waited. The write may have taken effect.",
    retryable: false,
    details: { ambiguous: true },
  });
});

test.each(Object.keys(writes))("a %s that is aborted between two attempts says that none can have taken effect", async (kind) => {
  const { db, signal } = connect(throttle);
  await expect(writes[kind]!(db).run({ signal })).rejects.toMatchObject({
    code: "execute.aborted",
    message: "The call was aborted while it waited.",
    details: { ambiguous: false },
  });
});

test("a batch whose last answer is lost says that it may have taken effect", async () => {
  const lost = connect(async (_, send): Promise<never> => {
    await send();
    throw new EdgetableError("execute.connection", "reset", { details: { ambiguous: true } });
  });
  await expect(lost.db.batch([lost.db.place.put({ id: "last" })]).run()).rejects.toMatchObject({
    message: "reset. The write may have taken effect.",
  });
});

test("a deletion that is aborted while it waits for an index says what stays and how to end it", async () => {
  const { db, signal } = connect((_, send) => send());
  await db.place.put({ id: "gone" });
  await db.person.put({ id: "ann" });
  await db.visited.put({ id: "ann" }, { id: "gone" });
  await expect(db.place.delete({ id: "gone" }, { indexLag: 5000 }).run({ signal })).rejects.toMatchObject({
    code: "execute.aborted",
    message: 'The deletion of "place" was aborted. Removed items stay removed; resume the job, or delete again.',
  });
});
