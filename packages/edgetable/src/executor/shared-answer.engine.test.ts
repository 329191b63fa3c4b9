import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";
import type { Transport } from "../transport/transport.ts";
import { onAbort } from "../util/time.ts";

let engine: TestEngine;
beforeAll(async () => (engine = await openEngine()));
afterAll(() => engine.close());

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
    edges: { knows: edge({ from: "person", to: "person" }) },
    indexes: { byName: { entries: { person: "name" } } },
  });

/** A transport whose reads of Edgetable's own items wait until they are let go, unless their call is aborted. */
const slowTransport = () => {
  const waiting: (() => void)[] = [];
  let reads = 0;
  const transport: Transport = {
    close: () => undefined,
    async send(operation, input, options) {
      if (operation === "GetItem" && JSON.stringify(input).includes('"~')) {
        reads++;
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (options?.signal) onAbort(options.signal, () => resolve());
        });
      }
      return engine.transport.send(operation, input, options);
    },
  };
  const isWaitedFor = (count: number) => expect.poll(() => waiting.length).toBe(count);
  const letGo = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { transport, isWaitedFor, letGo, reads: () => reads };
};

const open = async () => {
  const table = engine.freshTableName("shared-answer");
  const own = graphOf(table).connect({ transport: engine.transport });
  await own.table.create();
  for (const id of ["ann", "bob", "cid"]) await own.person.create({ id, name: "Ann" });
  for (const id of ["bob", "cid"]) await own.knows.link({ id: "ann" }, { id });
  const slow = slowTransport();
  return { ...slow, db: graphOf(table).connect({ transport: slow.transport }) };
};

type Db = Awaited<ReturnType<typeof open>>["db"];
const calls = [
  ["the table's record", (db: Db) => db.find("person").where({ name: "Ann" }).rows(), 3],
  [
    "the secret of cursors",
    async (db: Db, options?: object) => (await db.person({ id: "ann" }).out("knows").page({ limit: 1 }).run(options)).items,
    1,
  ],
] as const;

describe.each(calls)("calls that wait for %s", (_, ask, rows) => {
  const run = (db: Db, signal?: AbortSignal) => {
    const call = ask(db, { signal }) as { readonly run?: (options: object) => Promise<readonly unknown[]> } & PromiseLike<
      readonly unknown[]
    >;
    const answer = Promise.resolve(signal && call.run ? call.run({ signal }) : call);
    // Some are awaited after others have ended.
    answer.catch(() => undefined);
    return answer;
  };

  test("go on if the one that reads it is aborted", async () => {
    const { db, isWaitedFor, letGo } = await open();
    const [first, third] = [new AbortController(), new AbortController()];
    const aborted = run(db, first.signal);
    await isWaitedFor(1);
    const others = [run(db), run(db, third.signal), run(db)];
    first.abort();
    await expect(aborted).rejects.toMatchObject({ code: "execute.aborted" });
    await isWaitedFor(2);
    letGo();
    for (const other of others) expect(await other).toHaveLength(rows);
  });

  test("end with their own signal", async () => {
    const { db, isWaitedFor, letGo } = await open();
    const first = run(db);
    await isWaitedFor(1);
    const own = new AbortController();
    const second = run(db, own.signal);
    own.abort();
    await expect(second).rejects.toMatchObject({ code: "execute.aborted" });
    letGo();
    expect(await first).toHaveLength(rows);
  });

  test("read it once", async () => {
    const { db, isWaitedFor, letGo, reads } = await open();
    const all = [run(db), run(db), run(db)];
    await isWaitedFor(1);
    letGo();
    for (const one of all) expect(await one).toHaveLength(rows);
    expect(reads()).toBe(1);
  });
});
