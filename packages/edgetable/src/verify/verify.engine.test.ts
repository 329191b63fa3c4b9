import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { testRuns } from "../../../../conformance/engines/property-runs.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { damages, damageTable } from "./damages.test-support.ts";
import { contentOf, fillLab, type LabDb, labGraph } from "./lab.test-support.ts";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { verify, type Finding } from "./index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const filled = async (people: number): Promise<{ readonly table: string; readonly db: LabDb }> => {
  const table = engine.freshTableName("verify");
  const db = labGraph(table).connect({ transport: engine.transport });
  await db.table.create();
  await fillLab(db, people);
  return { table, db };
};

const seeded = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

test("a table that only the library has written to is clean", async () => {
  const { db } = await filled(100);
  // With the record of the model.
  expect(await verify(db)).toMatchObject({ clean: true, kinds: [], items: 1087, unsettled: 0 });
});

/** Counts the requests of a verification by operation. */
const counted = () => {
  const requests: Record<string, number> = {};
  const onRequest = ({ operation }: { readonly operation: string }): void => void (requests[operation] = (requests[operation] ?? 0) + 1);
  return { requests, onRequest };
};

test("a clean table is scanned once, and no item is read again", async () => {
  const { table } = await filled(100);
  const { requests, onRequest } = counted();
  const db = labGraph(table).connect({ transport: engine.transport, onRequest });
  expect(await verify(db, { segments: 1 })).toMatchObject({ clean: true });
  expect(requests).toEqual({ DescribeTable: 1, Scan: 2 });
});

test("edges that lead to parts are looked at once, unless the part is gone", async () => {
  const table = engine.freshTableName("verify");
  const entry = part({ of: "synset", key: "ENTRY#{place:2}", schema: z.object({ place: z.int() }) });
  const graph = defineGraph({
    table,
    nodes: {
      word: node({ key: "WORD#{lemma}", schema: z.object({ lemma: z.string() }), derived: { senses: count({ out: "sense" }) } }),
      synset: node({ key: "SYNSET#{id}", schema: z.object({ id: z.string() }) }),
    },
    parts: { entry },
    edges: {
      sense: edge({ from: "word", to: "entry", onDelete: { from: "cascade", to: "cascade" } }),
      pertains: edge({ from: "entry", to: "entry" }),
      antonym: edge({ from: "entry", to: "entry", symmetric: true }),
    },
  });
  const { requests, onRequest } = counted();
  const db = graph.connect({ transport: engine.transport, onRequest });
  await db.table.create();
  const at = (n: number) => ({ id: `s${n}`, place: 1 });
  const numbers = Array.from({ length: 30 }, (_, n) => n);
  await db.load(
    numbers.flatMap((n) => [
      { node: "word", row: { lemma: `w${n}` } } as const,
      { node: "synset", row: { id: `s${n}` } } as const,
      { part: "entry", owner: { id: `s${n}` }, row: { place: 1 } } as const,
      { edge: "sense", from: { lemma: `w${n}` }, to: at(n) } as const,
      { edge: "pertains", from: at(n), to: at((n + 1) % 30) } as const,
      { edge: "antonym", from: at(n), to: at((n + 7) % 30) } as const,
    ]),
  );
  for (const name in requests) delete requests[name];
  expect(await verify(db, { segments: 1 })).toMatchObject({ clean: true });
  expect(requests).toEqual({ DescribeTable: 1, Scan: 1 });

  await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: { S: "SYNSET#s3" }, sk: { S: "ENTRY#01" } } });
  const { kinds } = await verify(db, { settle: 10 });
  expect(kinds.map(({ kind, count: found }) => [kind, found])).toEqual([
    ["dangling", 1],
    ["leftEdge", 4],
  ]);
});

test("every damage is found, and no other item is blamed", async () => {
  const { table, db } = await filled(200);
  const damaged = await damageTable({ transport: engine.transport, table }, { times: damages.length, random: seeded(7) });
  expect(damaged.done).toHaveLength(damages.length);
  const found: Finding[] = [];
  const report = await verify(db, { settle: 10, onFinding: (finding) => void found.push(finding) });
  const wanted: Record<string, number> = {};
  for (const { damage } of damaged.done) wanted[damage.kind] = (wanted[damage.kind] ?? 0) + 1;
  expect(Object.fromEntries(report.kinds.map(({ kind, count }) => [kind, count]))).toEqual(wanted);
  expect(found).toHaveLength(damages.length);
});

test("every damage is repaired, and nothing else is touched", async () => {
  const { table, db } = await filled(200);
  const damaged = await damageTable({ transport: engine.transport, table }, { times: damages.length, random: seeded(11) });
  const report = await verify(db, { settle: 10, repair: true, deleteOrphans: true, differing: "mend" });
  const after = await contentOf(engine.transport, table);
  expect([...after].toSorted()).toEqual([...damaged.expected].toSorted());
  expect(report.kinds.filter(({ count, repaired }) => count !== repaired).map(({ kind }) => kind)).toEqual(["invalid"]);
  expect((await verify(db, { settle: 10 })).kinds.map(({ kind, count }) => [kind, count])).toEqual([["invalid", 1]]);
});

/** Writers of everything that the damages leave alone: nodes, edges and parts of their own, and attributes of damaged nodes. */
const writers = (db: LabDb, count: number) => {
  let writes = 0;
  const stopped = new AbortController();
  const failures: unknown[] = [];
  const write = async (at: number): Promise<void> => {
    for (let turn = 0; !stopped.signal.aborted; turn++) {
      const person = { id: `w${at}-${turn % 5}` };
      const place = { n: 1_000_000 + at * 10 + (turn % 3) };
      const club = { id: `wc${at}` };
      await db.place.put({ ...place, name: `New ${turn}` });
      await db.club.put(club);
      await db.person.put({ ...person, email: `${at} ${turn}@w`, age: turn });
      await db.rated.put(person, place, { stars: turn % 5, tags: new Set(["x", "y"]) });
      await db.knows
        .put(person, { id: `w${at}-${(turn + 1) % 5}` }, { since: turn })
        .run()
        .catch(() => undefined);
      await db.leads.put(person, club);
      await db.note.put(place, { at: turn % 4, text: "new" });
      if (turn % 4 === 3) {
        await db.leads.unlink(person, club);
        await db.rated.unlink(person, place);
        await db.place.delete(place, { indexLag: 0 });
      }
      await db.batch([db.rated.put(person, { n: 1 }, { stars: 1 }), db.knows.put(person, { id: "p1" }, {})]);
      writes += 10;
    }
  };
  const running = Array.from({ length: count }, (_, at) => write(at).catch((error: unknown) => failures.push(error)));
  return {
    stop: async (): Promise<number> => {
      stopped.abort();
      await Promise.all(running);
      expect(failures).toEqual([]);
      return writes;
    },
  };
};

const isWriters = (key: string): boolean => /#w|@w|PLACE#p506/.test(key);

test("beside writers, only damages are found and repaired, and no writer's work is undone", async () => {
  const times = testRuns(1000);
  const { table, db } = await filled(Math.max(300, 1.2 * times));
  const damaged = await damageTable({ transport: engine.transport, table }, { times, random: seeded(13) });
  expect(damaged.done).toHaveLength(times);
  const busy = writers(labGraph(table).connect({ transport: engine.transport }), 3);
  const found: Finding[] = [];
  const told = (finding: Finding): void => void found.push(finding);
  const report = await verify(db, { settle: 50, repair: true, deleteOrphans: true, differing: "mend", onFinding: told });
  const written = await busy.stop();
  expect(written).toBeGreaterThan(20);
  const wanted: Record<string, number> = {};
  for (const { damage } of damaged.done) wanted[damage.kind] = (wanted[damage.kind] ?? 0) + 1;
  expect(Object.fromEntries(report.kinds.map(({ kind, count }) => [kind, count]))).toEqual(wanted);
  expect(report.kinds.filter(({ count, repaired }) => count !== repaired).map(({ kind }) => kind)).toEqual(["invalid"]);
  const after = [...(await contentOf(engine.transport, table))].filter(([key]) => !isWriters(key));
  expect(after.filter(([key]) => !damaged.expected.has(key))).toEqual([]);
  expect(after.toSorted()).toEqual([...damaged.expected].toSorted());
  const second = await verify(db, { settle: 50 });
  expect(second.kinds.map(({ kind, count }) => [kind, count])).toEqual([["invalid", wanted["invalid"]]]);
});

test("an edge that comes and goes between the reads of its counter and of the edges is no damage", async () => {
  const { table, db } = await filled(4);
  const [person, club] = [{ id: "p1" }, { id: "c1" }];
  let isLinked = true;
  const link = async (wanted: boolean): Promise<void> => {
    if (wanted === isLinked) return;
    isLinked = wanted;
    await (wanted ? db.leads.link(person, club) : db.leads.unlink(person, club));
  };
  const reads = (input: object): boolean => ["~degree#leads#in", "CLUB#c1"].every((part) => JSON.stringify(input).includes(part));
  const isOfEdge = (item: string): boolean => ["leads#", "p1", "c1"].every((part) => item.includes(part));
  let turn: Promise<unknown> = Promise.resolve();
  let counted = 0;
  const moving: typeof engine.transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      const sent = turn.then(async () => {
        if (operation === "BatchGetItem" && reads(input)) await link(true);
        if (operation === "Query") {
          await link(false);
          counted++;
        }
        const output = await engine.transport.send(operation, input, options);
        if (operation !== "Scan" || !("Items" in output)) return output;
        // Where the scan meets the edge's items, the edge is away.
        return { ...output, Items: output.Items?.filter((item) => !isOfEdge(JSON.stringify(item))) };
      });
      turn = sent.catch(() => undefined);
      return sent;
    },
  };
  const report = await verify(labGraph(table).connect({ transport: moving }), { settle: 1, repair: true });
  expect(counted).toBeGreaterThan(3);
  expect(report).toMatchObject({ kinds: [], unsettled: 2 });
  await link(true);
  expect(await verify(db, { settle: 1 })).toMatchObject({ clean: true });
});

test.each([
  ["an object", { M: {} }],
  ["a list", { L: [] }],
  ["an empty text", { S: "" }],
  ["a text that no key can hold", { S: "x".repeat(3000) }],
])("a unique attribute that another program made %s is a finding, and the rest is compared", async (_, email) => {
  const table = engine.freshTableName("unmarked");
  const user = node({ key: "U#{id}", schema: z.object({ id: z.string(), email: z.string().optional() }), unique: ["email"] });
  const db = defineGraph({ table, nodes: { user } }).connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "1", email: "a" });
  const Item = { pk: { S: "U#2" }, sk: { S: "#" }, type: { S: "user" }, id: { S: "2" }, email };
  await engine.transport.send("PutItem", { TableName: table, Item });
  for (const repair of [false, true]) {
    const { kinds } = await verify(db, { settle: 10, repair });
    expect(kinds.map(({ kind, count }) => [kind, count])).toEqual([["invalid", 1]]);
  }
});
