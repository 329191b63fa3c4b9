import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../../conformance/engines/open-engine.ts";
import { createLeanTransport, defineGraph, edge, EdgetableError, node, type Transport } from "../../index.ts";

// A release of the lease takes at most 2 s; waiting for the answers would take a minute. The bound is in between, for a busy machine.
const REQUEST = 60_000;
const MOST = 20_000;

let engine: TestEngine;
let deaf: Server;
let hanging: Transport;
const sockets = new Set<Socket>();
beforeAll(async () => {
  engine = await openEngine();
  deaf = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await new Promise((resolve) => deaf.once("listening", resolve));
  hanging = createLeanTransport({ endpoint: `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`, requestTimeout: REQUEST });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  deaf.close();
  await engine.close();
});

const graphOf = (table: string, shards: readonly number[]) =>
  defineGraph({
    table,
    nodes: {
      place: node({ key: "PLACE#{id}", schema: z.object({ id: z.string(), n: z.int() }) }),
      person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) }),
    },
    edges: { visited: edge({ from: "person", to: "place", onDelete: { to: "cascade" } }) },
    indexes: { byNumber: { entries: { place: "n:number" }, shards } },
  });
type Db = ReturnType<ReturnType<typeof graphOf>["connect"]>;

const rows = Array.from({ length: 300 }, (_, n) => ({ node: "place", row: { id: `P${n}`, n } }) as const);
const edges = Array.from({ length: 300 }, (_, n) => ({ edge: "visited", from: { id: `${n}` }, to: { id: "P1" } }) as const);

const filled = async (table: string): Promise<Db> => {
  const db = graphOf(table, [1]).connect({ transport: engine.transport });
  await db.table.create();
  await db.load([...rows, ...edges]);
  return db;
};

const works: Readonly<Record<string, (db: Db, signal?: AbortSignal) => PromiseLike<unknown>>> = {
  load: (db, signal) => db.load(rows, { job: "j", lease: 60_000, ...(signal && { signal }) }),
  reshard: (db, signal) => db.reshard({ rate: 100_000, indexLag: 0, lease: 60_000, ...(signal && { signal }) }),
  deletion: (db, signal) => db.place.delete({ id: "P1" }, { lease: 60_000, indexLag: 0 }).run(signal && { signal }),
};

// How many requests are answered before the service hangs: not even the lease, or some of the work.
// They wait rather than compute, so they wait together.
test.concurrent.each(Object.keys(works).flatMap((kind) => [0, 5].map((answered) => [kind, answered] as const)))(
  "a %s that is aborted while the service hangs ends soon, after %i answers",
  async (kind, answered) => {
    const table = engine.freshTableName("hanging");
    await filled(table);
    let sent = 0;
    const transport: Transport = {
      send: (operation, input, options) => (++sent > answered ? hanging : engine.transport).send(operation, input, options),
      close: async () => undefined,
    };
    const controller = new AbortController();
    const work = works[kind]!(graphOf(table, [4, 1]).connect({ transport }), controller.signal);
    const ended = Promise.resolve(work).then(
      () => "done",
      (error: unknown) => error,
    );
    // Long enough for a renewal to be under way, too.
    await vi.waitFor(() => expect(sent).toBeGreaterThan(answered), { timeout: MOST });
    await pause(1_200);
    const aborted = performance.now();
    controller.abort();
    expect(await ended).toMatchObject({ code: "execute.aborted" });
    expect(performance.now() - aborted).toBeLessThan(MOST);
  },
);

test.each(Object.keys(works))("a %s whose connection is closed stops as by a signal, and gives its lease back first", async (kind) => {
  const table = engine.freshTableName("closed");
  const other = await filled(table);
  const sent: string[] = [];
  let closed = false;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const transport: Transport = {
    send: async (operation, input, options) => {
      if (closed) throw new EdgetableError("execute.connection", "closed", { details: { ambiguous: false } });
      if (sent.push(operation) === 4) begin();
      return engine.transport.send(operation, input, options);
    },
    close: async () => void (closed = true),
  };
  const grown = graphOf(table, [4, 1]);
  const db = grown.connect({ transport });
  const ended = Promise.resolve(works[kind]!(db)).catch((error: unknown) => error);
  await begun;
  await db.close();
  expect(closed).toBe(true);
  expect(sent.at(-1)).toBe("UpdateItem");
  expect(await ended).toMatchObject({
    code: "execute.aborted",
    cause: "the connection was closed",
    message: expect.stringMatching(/^The .* was aborted by close[(][)][.] .*(?:to resume it|resume the job|call again)/),
  });
  expect(await other.jobs.list()).toMatchObject([{ running: false, leasedUntil: 0 }]);
  await works[kind]!(grown.connect({ transport: engine.transport }));
  expect(await other.jobs.list()).toEqual([]);
});

test("a program's own job whose connection is closed says so, and how to go on", async () => {
  const table = engine.freshTableName("own");
  await filled(table);
  // Others use the transport still.
  const db = graphOf(table, [1]).connect({ transport: { ...engine.transport, close: async () => undefined } });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = db.jobs
    .run("mine", {}, async (job) => {
      begin();
      for (;;) {
        job.check();
        await pause(5);
      }
    })
    .catch((error: unknown) => error);
  await begun;
  await db.close();
  expect(await ended).toMatchObject({
    code: "execute.aborted",
    message: 'The job "mine" was aborted by close(). Completed work is kept; call again to resume.',
  });
});

/** A transport that waits before one request: `reached` resolves when it comes, `pass` lets it go. */
const gateBefore = (isGated: (operation: string) => boolean) => {
  let arrive = (): void => undefined;
  let pass = (): void => undefined;
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const open = new Promise<void>((resolve) => (pass = resolve));
  const transport: Transport = {
    send: async (operation, input, options) => {
      if (isGated(operation)) {
        arrive();
        await open;
      }
      return engine.transport.send(operation, input, options);
    },
    close: async () => undefined,
  };
  return { transport, reached, pass };
};

test.each([false, true])(
  "a deletion that meets the mark of one which then ends removes nothing else (created again: %s)",
  async (isCreated) => {
    const table = engine.freshTableName("marked");
    const graph = graphOf(table, [1]);
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    const place = { id: "P1" };
    const build = async (): Promise<void> => {
      await db.person.put({ id: "1" }).orThrow();
      await db.place.create({ ...place, n: 1 }).orThrow();
      await db.visited.link({ id: "1" }, place).orThrow();
    };
    await build();
    // The first deletion waits before its second transaction, the one that ends it; the second one before it takes the job.
    let transactions = 0;
    const first = gateBefore((operation) => operation === "TransactWriteItems" && ++transactions === 2);
    const second = gateBefore((operation) => operation === "UpdateItem");
    const one = graph.connect({ transport: first.transport }).place.delete(place, { indexLag: 0 }).run();
    await first.reached;
    const other = graph.connect({ transport: second.transport }).place.delete(place, { indexLag: 0 }).run();
    await second.reached;
    first.pass();
    expect(await one).toMatchObject({ ok: true });
    if (isCreated) await build();
    second.pass();
    // The other deletion either deletes the new node, which is there to be deleted, or finds no node.
    expect(await other).toMatchObject(isCreated ? { ok: true } : { ok: false, reason: "notFound" });
    expect([await db.place.get(place), await db.place(place).in("visited").count()]).toEqual([undefined, 0]);
    expect(await db.jobs.list()).toEqual([]);
  },
);

test("a deletion whose first reads outlast its lease is not taken for one that lost it", async () => {
  const table = engine.freshTableName("slow");
  const db = await filled(table);
  const slow: Transport = {
    send: async (operation, input, options) => {
      if (operation === "GetItem" || operation === "TransactWriteItems") await pause(2_600);
      return engine.transport.send(operation, input, options);
    },
    close: async () => undefined,
  };
  const deletion = graphOf(table, [1]).connect({ transport: slow }).place.delete({ id: "P1" }, { lease: 2_000, indexLag: 0 });
  expect(await deletion).toMatchObject({ ok: true });
  expect([await db.place.get({ id: "P1" }), await db.jobs.list()]).toEqual([undefined, []]);
});
