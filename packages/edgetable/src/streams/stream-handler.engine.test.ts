import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, EdgetableError, node, part } from "../index.ts";
import type { WireStreamRecord } from "../transport/stream-operations.ts";
import type { Transport } from "../transport/transport.ts";
import {
  createLeanStreamTransport,
  createStreamHandler,
  discardDeadLetters,
  listDeadLetters,
  replayDeadLetters,
  type StreamHandlerOptions,
} from "./index.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string(), until: z.number().optional() }), ttl: "until" }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, title: z.string().optional() }),
        derived: { students: count({ in: "enrolledIn", freshness: "stream" }) },
      }),
      doc: node({ key: "DOC#{id}", schema: z.object({ id, folderId: id.optional() }) }),
      folder: node({ key: "FOLDER#{folderId}", schema: z.object({ folderId: id }) }),
    },
    edges: {
      enrolledIn: edge({ from: "student", to: "course", schema: z.object({ grade: z.number().optional() }) }),
      likes: edge({ from: "student", to: "course", stored: "twice", schema: z.object({ stars: z.number() }) }),
      knows: edge({ from: "student", to: "student", symmetric: true }),
      filedIn: edge({ from: "doc", to: "folder", stored: "reference" }),
    },
    parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }) }) },
  });

let engine: TestEngine;
let streams: ReturnType<typeof createLeanStreamTransport>;
beforeAll(async () => {
  engine = await openEngine();
  streams = createLeanStreamTransport({ endpoint: engine.endpoint });
});
afterAll(async () => {
  await streams.close();
  await engine.close();
});

/** A table with a stream, and what was written to it since the last time, as Lambda hands it in. */
const open = async () => {
  const table = engine.freshTableName("lambda");
  const db = modelIn(table).connect({ transport: engine.transport });
  await db.table.create({ stream: true });
  const StreamArn = (await streams.send("ListStreams", { TableName: table })).Streams?.[0]?.StreamArn ?? "";
  const { StreamDescription } = await streams.send("DescribeStream", { StreamArn });
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId ?? "";
  let { ShardIterator = "" } = await streams.send("GetShardIterator", { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" });
  const take = async () => {
    const taken: WireStreamRecord[] = [];
    for (;;) {
      const { Records = [], NextShardIterator = "" } = await streams.send("GetRecords", { ShardIterator });
      ShardIterator = NextShardIterator;
      if (Records.length === 0) return { Records: taken.map((one) => ({ ...one, eventSourceARN: StreamArn })) };
      taken.push(...Records);
    }
  };
  return { db, table, take };
};

type Told = readonly [kind: string, name: string, changed?: readonly string[]];
const told = (events: Told[]) => ({
  event: (event: { readonly kind: string; readonly name: string; readonly changed: readonly string[] }) =>
    void events.push(["updated", "relinked"].includes(event.kind) ? [event.kind, event.name, event.changed] : [event.kind, event.name]),
});
const quick: StreamHandlerOptions = { indexLag: 0, attempts: 2 };
const [ann, bob, maths] = [{ id: "ann" }, { id: "bob" }, { id: "maths" }];
const none = { batchItemFailures: [] };

test("the connection of a tenant is refused before any record comes", () => {
  const handle = () => createStreamHandler(modelIn("Tenants").connect({ transport: engine.transport }).as({ id: "a" }) as never, {});
  expect(handle).toThrow("A stream has the changes of all tenants.");
});

test("what a handler changes in its record, no other attempt, handler or dead letter has", async () => {
  const { db, take } = await open();
  await db.student.create({ ...ann, name: "Ann" }).orThrow();
  await db.student.update(ann, { name: "Anna" }).orThrow();
  const seen: [string, string][] = [];
  const spoiling = (name: string) => ({
    on: "*",
    event: ({ record }: { readonly record: object }) => {
      const own = record as { key: object; before: Record<string, object> | undefined; after: Record<string, object> };
      seen.push([name, JSON.stringify(own)]);
      own.key = {};
      own.after["name"] = { S: "spoilt" };
      Object.assign(own.after["pk"]!, { S: "spoilt" });
      if (own.before) delete own.before["name"];
      if (name === "failing") throw new Error("no");
    },
  });
  const records = await take();
  const original = JSON.stringify(records);
  const handlers = { first: spoiling("first"), failing: spoiling("failing"), last: spoiling("last") };
  const handle = createStreamHandler(db, handlers as never, { ...quick, concurrency: 1 });
  expect(await handle(records)).toEqual(none);
  expect(JSON.stringify(records)).toBe(original);
  expect(seen.length).toBe(8);
  const told = [...new Set(seen.map(([, text]) => text))].map((text) => JSON.parse(text) as { readonly id: string });
  expect(told.length).toBe(2);
  const letters = await listDeadLetters(db);
  const idOf = ({ id: one }: { readonly id: string }) => one;
  expect(letters.map(({ record }) => record).toSorted((a, b) => idOf(a).localeCompare(idOf(b)))).toMatchObject(
    told.toSorted((a, b) => idOf(a).localeCompare(idOf(b))),
  );
});

describe("events", () => {
  test("tell what happened to nodes, edges and parts, once and in order", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.create({ ...bob, name: "Bob" }).orThrow();
    await db.course.create(maths).orThrow();
    await db.student.update(ann, { name: "Anna" }).orThrow();
    await db.student.update(ann, { name: "Anna" }).orThrow();
    await db.enrolledIn.link(ann, maths, { grade: 1 }).orThrow();
    await db.enrolledIn.relink(ann, maths, { grade: 2 }).orThrow();
    await db.likes.link(ann, maths, { stars: 5 }).orThrow();
    await db.knows.link(bob, ann).orThrow();
    await db.room.create(maths, { room: "1" }).orThrow();
    await db.enrolledIn.unlink(ann, maths).orThrow();
    await db.room.delete(maths, { room: "1" }).orThrow();
    const events: Told[] = [];
    const handle = createStreamHandler(db, { all: { on: "*", ...told(events) } }, { ...quick, concurrency: 1 });
    // One record at a time, so that the order is that of the writes.
    for (const record of (await take()).Records) expect(await handle({ Records: [record] })).toEqual(none);
    expect(events.filter(([kind, name]) => !(kind === "updated" && name === "course"))).toEqual([
      ["created", "student"],
      ["created", "student"],
      ["created", "course"],
      ["updated", "student", ["name"]],
      ["linked", "enrolledIn"],
      ["relinked", "enrolledIn", ["grade"]],
      ["linked", "likes"],
      ["linked", "knows"],
      ["created", "room"],
      ["unlinked", "enrolledIn"],
      ["deleted", "room"],
    ]);
  });

  test("of references are told beside those of the node that holds them", async () => {
    const { db, take } = await open();
    await db.folder.create({ folderId: "f" }).orThrow();
    await db.folder.create({ folderId: "g" }).orThrow();
    await take();
    await db.doc.create({ id: "d", folderId: "f" }).orThrow();
    await db.doc.update({ id: "d" }, { folderId: "g" }).orThrow();
    await db.doc.delete({ id: "d" }).orThrow();
    const events: Told[] = [];
    const handle = createStreamHandler(db, { all: { on: "*", ...told(events) } }, quick);
    expect(await handle(await take())).toEqual(none);
    expect(events).toEqual([
      ["created", "doc"],
      ["linked", "filedIn"],
      ["unlinked", "filedIn"],
      ["updated", "doc", ["folderId"]],
      ["linked", "filedIn"],
      ["unlinked", "filedIn"],
      ["deleted", "doc"],
    ]);
  });

  test("of a removal by DynamoDB say so, however its identity is spelt", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.delete(ann).orThrow();
    const removal = (await take()).Records.find(({ eventName }) => eventName === "REMOVE")!;
    const kinds: string[] = [];
    const handle = createStreamHandler(db, {
      gone: { on: "student", deleted: ({ kind }) => kinds.push(kind), expired: ({ kind, before }) => kinds.push(`${kind} ${before.name}`) },
    });
    for (const userIdentity of [
      undefined,
      { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" },
      { type: "Service", principalId: "dynamodb.amazonaws.com" },
    ])
      await handle({ Records: [{ ...removal, userIdentity }] });
    expect(kinds).toEqual(["deleted", "expired Ann", "expired Ann"]);
  });

  test("reach the handlers that want them", async () => {
    const { db, table, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.update(ann, { until: 2_200_000_000 }).orThrow();
    await db.student.update(ann, { name: "Anna" }).orThrow();
    await engine.transport.send("PutItem", { TableName: table, Item: { pk: { S: "X" }, sk: { S: "Y" } } });
    const renamed: string[] = [];
    const unknown: string[] = [];
    const handle = createStreamHandler(db, {
      renamed: { on: "student", whenChanged: ["name"], updated: ({ before, after }) => renamed.push(`${before.name} ${after.name}`) },
      odd: { on: "*", unknown: ({ reason, record }) => unknown.push(`${record.kind}: ${reason}`) },
    });
    expect(await handle(await take())).toEqual(none);
    expect(renamed).toEqual(["Ann Anna"]);
    expect(unknown).toEqual(["insert: the model has nothing of this form"]);
  });
});

describe("the upkeep of facts", () => {
  test("needs no handler, and duplicates are harmless", async () => {
    const { db, take } = await open();
    for (const one of [ann, bob]) await db.student.create({ ...one, name: "x" }).orThrow();
    await db.course.create(maths).orThrow();
    await db.enrolledIn.link(ann, maths, {}).orThrow();
    await db.enrolledIn.link(bob, maths, {}).orThrow();
    await db.enrolledIn.unlink(bob, maths).orThrow();
    const event = await take();
    const handle = createStreamHandler(db, {}, quick);
    expect(await handle(event)).toEqual(none);
    await Promise.all([handle(event), handle({ Records: event.Records.toReversed() }), handle(event)]);
    expect(await db.course.get(maths, { consistent: true })).toMatchObject({ students: 1 });
  });

  test("goes on beside a handler that fails", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "x" }).orThrow();
    await db.course.create(maths).orThrow();
    await db.enrolledIn.link(ann, maths, {}).orThrow();
    const handlers = { bad: { on: "*", event: () => Promise.reject(new Error("no")) } } as const;
    expect((await createStreamHandler(db, handlers, { ...quick, deadLetters: false })(await take())).batchItemFailures).not.toEqual([]);
    expect(await db.course.get(maths, { consistent: true })).toMatchObject({ students: 1 });
  });
});

describe("Kinesis", () => {
  const kinesisOf = (record: object, table: string, sequenceNumber: string) => ({
    eventSource: "aws:kinesis",
    kinesis: {
      sequenceNumber,
      data: Buffer.from(JSON.stringify({ ...record, eventSourceARN: undefined, tableName: table, userIdentity: null })).toString("base64"),
    },
  });

  test("records give the same events, and fail by their own numbers", async () => {
    const { db, table, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.create({ ...bob, name: "Bob" }).orThrow();
    const { Records } = await take();
    const event = { Records: Records.map((one, at) => kinesisOf(one, table, `4900${at}`)) };
    const names: string[] = [];
    const handle = createStreamHandler(
      db,
      {
        names: {
          on: "student",
          created: ({ after }) => {
            if (after.name === "Bob") throw new Error("not Bob");
            names.push(after.name);
          },
        },
      },
      { ...quick, deadLetters: false },
    );
    expect(await handle(event)).toEqual({ batchItemFailures: [{ itemIdentifier: "49002" }] });
    expect(names).toEqual(["Ann"]);
    const other = { Records: [kinesisOf(Records[0]!, "Other", "1")] };
    await expect(handle(other)).rejects.toMatchObject({ code: "stream.invalidRecord" });
    expect(await createStreamHandler(db, {}, { otherTables: "skip" })(other)).toEqual(none);
    const garbage = { Records: [{ kinesis: { data: "AAAA", sequenceNumber: "1" } }] };
    await expect(handle(garbage)).rejects.toMatchObject({ code: "stream.invalidRecord" });
  });
});

describe("failures", () => {
  test("are tried again, put aside, listed, replayed and then forgotten", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.update(ann, { name: "Anna" }).orThrow();
    let calls = 0;
    const seen: string[] = [];
    const letters: string[] = [];
    let broken = true;
    const handlers = {
      mail: {
        on: "student",
        event: ({ kind, replayed }: { readonly kind: string; readonly replayed: boolean }) => {
          calls++;
          if (broken && kind === "created") throw new TypeError("no mail");
          seen.push(`${kind} ${replayed}`);
        },
      },
    } as const;
    const handle = createStreamHandler(db, handlers, { ...quick, attempts: 3, onDeadLetter: ({ handler }) => letters.push(handler) });
    const event = await take();
    expect(await handle(event)).toEqual(none);
    expect([calls, seen, letters]).toEqual([4, ["updated false"], ["mail"]]);
    // The same batch again puts no second letter beside the first.
    await handle(event);
    const listed = await listDeadLetters(db);
    expect(listed).toMatchObject([
      {
        handler: "mail",
        error: { code: "TypeError", message: "no mail" },
        attempts: 3,
        complete: true,
        record: { kind: "insert", before: undefined, after: { name: { S: "Ann" } } },
      },
    ]);
    // Letters give no events, and are no findings.
    const own: Told[] = [];
    await createStreamHandler(db, { all: { on: "*", ...told(own), unknown: () => own.push(["unknown", ""]) } })(await take());
    expect(own).toEqual([]);
    expect(await replayDeadLetters(db, handlers)).toMatchObject({
      replayed: 0,
      failed: [{ id: listed[0]!.id, error: { code: "TypeError" } }],
    });
    expect(await replayDeadLetters(db, {}, { ids: [listed[0]!.id, "none"] })).toMatchObject({
      replayed: 0,
      failed: [{ error: { code: "stream.notReplayable" } }, { id: "none", error: { code: "stream.notReplayable" } }],
    });
    broken = false;
    expect(await replayDeadLetters(db, handlers)).toEqual({ replayed: 1, failed: [] });
    expect(seen.at(-1)).toBe("created true");
    expect(await listDeadLetters(db)).toEqual([]);
  });

  test("are put aside whatever a handler throws", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    const event = await take();
    const getter = Object.defineProperty(new Error("hidden"), "message", { get: () => Object.create(null) as unknown });
    const odd: readonly unknown[] = [Object.create(null), Object.assign(new Error(), { message: 5 }), getter];
    for (const error of [undefined, null, Symbol("s"), 5n, ...odd]) {
      const fail = {
        on: "student",
        created: () => {
          throw error;
        },
      } as const;
      expect(await createStreamHandler(db, { fail }, { ...quick, attempts: 1 })(event)).toEqual(none);
      const [letter] = await listDeadLetters(db);
      expect(letter?.error).toEqual({ code: expect.any(String), message: expect.any(String) });
      await discardDeadLetters(db, { ids: [letter!.id] });
    }
  });

  test("of facts are put aside and replayed", async () => {
    const { db, table, take } = await open();
    await db.student.create({ ...ann, name: "x" }).orThrow();
    await db.course.create(maths).orThrow();
    await take();
    await db.enrolledIn.link(ann, maths, {}).orThrow();
    const transport: Transport = {
      ...engine.transport,
      send: (operation, input, options) => {
        if (operation !== "TransactWriteItems") return engine.transport.send(operation, input, options);
        throw new EdgetableError("execute.rejected", "not today");
      },
    };
    const failing = modelIn(table).connect({ transport });
    expect(await createStreamHandler(failing, {}, quick)(await take())).toEqual(none);
    expect(await listDeadLetters(db)).toMatchObject([{ handler: "facts", error: { code: "execute.rejected" } }]);
    expect(await replayDeadLetters(db, {})).toEqual({ replayed: 1, failed: [] });
    expect(await db.course.get(maths, { consistent: true })).toMatchObject({ students: 1 });
  });

  test("hold up their item alone where nothing is put aside, or cannot be", async () => {
    const { db, table, take } = await open();
    for (const one of [ann, bob]) await db.student.create({ ...one, name: "x" }).orThrow();
    for (const one of [ann, bob]) await db.student.update(one, { name: "y" }).orThrow();
    const event = await take();
    const seen: string[] = [];
    const handlers = {
      some: {
        on: "student",
        created: ({ after }: { readonly after: { readonly id: string } }) => {
          if (after.id === "ann") throw new Error("not Ann");
          seen.push(`created ${after.id}`);
        },
        updated: ({ after }: { readonly after: { readonly id: string } }) => seen.push(`updated ${after.id}`),
      },
    } as const;
    const mute: Transport = {
      ...engine.transport,
      send: (operation, input, options) => {
        if (operation !== "PutItem") return engine.transport.send(operation, input, options);
        throw new EdgetableError("execute.rejected", "full");
      },
    };
    const lost = modelIn(table).connect({ transport: mute });
    const numbers = event.Records.filter(({ dynamodb }) => (dynamodb?.Keys?.["pk"] as { S?: string })?.S === "STUDENT#ann");
    const expected = { batchItemFailures: numbers.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })) };
    expect(expected.batchItemFailures).toHaveLength(2);
    expect(await createStreamHandler(db, handlers, { ...quick, deadLetters: false })(event)).toEqual(expected);
    expect(await createStreamHandler(lost, handlers, quick)(event)).toEqual(expected);
    expect(seen).toEqual(["created bob", "updated bob", "created bob", "updated bob"]);
  });

  test("include handlers that hang: their signal is aborted", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "x" }).orThrow();
    const event = await take();
    let aborted = 0;
    const hang = (signal: AbortSignal) => new Promise(() => signal.addEventListener("abort", () => aborted++));
    const handlers = { slow: { on: "student", event: ({ signal }: { readonly signal: AbortSignal }) => hang(signal) } } as const;
    expect(await createStreamHandler(db, handlers, { ...quick, timeout: 20 })(event)).toEqual(none);
    expect(aborted).toBe(2);
    const [letter] = await listDeadLetters(db);
    expect(letter).toMatchObject({ error: { code: "execute.timeout" } });
    expect(await discardDeadLetters(db, { ids: [letter!.id, "none"] })).toBe(1);
    // A function that is about to end gives back what is not done, and puts nothing aside.
    const ending = await createStreamHandler(db, handlers, quick)(event, { getRemainingTimeInMillis: () => 1050 });
    expect(ending.batchItemFailures).toHaveLength(1);
    expect(await listDeadLetters(db)).toEqual([]);
  });

  test("keep images where they fit", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "x".repeat(380_000) }).orThrow();
    const handlers = { bad: { on: "student", event: () => Promise.reject(new Error("m".repeat(9000))) } } as const;
    expect(await createStreamHandler(db, handlers, quick)(await take())).toEqual(none);
    const [letter] = await listDeadLetters(db, { limit: 1 });
    expect(letter).toMatchObject({ complete: false, record: { key: { pk: { S: "STUDENT#ann" } }, after: undefined } });
    expect(letter?.error.message).toHaveLength(2000);
    expect(await replayDeadLetters(db, handlers)).toMatchObject({ failed: [{ error: { code: "stream.notReplayable" } }] });
  });
});

describe("bad input", () => {
  test("is refused before anything is processed", async () => {
    const { db, take } = await open();
    await db.student.create({ ...ann, name: "x" }).orThrow();
    const [record] = (await take()).Records;
    const handle = createStreamHandler(db, {});
    const arn = "arn:aws:dynamodb:eu-central-1:1:table/Other/stream/2026";
    const encoded = ["null", "1", '"x"', "[]"].map((json) => ({ kinesis: { data: Buffer.from(json).toString("base64") } }));
    const forms = ["x", 1, true, undefined, [], { kinesis: null }, { kinesis: "x" }, { kinesis: { data: 1 } }, ...encoded];
    const parts = [{ eventSourceARN: 1 }, { tableName: {} }, { eventID: 1 }, { eventName: ["INSERT"] }, { dynamodb: "x" }, { dynamodb: 7 }];
    const wrong = [{ eventSourceARN: arn }, { eventName: "ODD" }, ...parts].map((part) => ({ ...record, ...part }));
    for (const bad of [{ Sns: {} }, null, ...forms, ...wrong])
      for (const otherTables of ["refuse", "skip"] as const) {
        if (otherTables === "skip" && wrong[0] === bad) continue;
        const call = createStreamHandler(db, {}, { otherTables })({ Records: [bad as never] });
        await expect(call, JSON.stringify(bad)).rejects.toMatchObject({ code: "stream.invalidRecord" });
      }
    const { Keys: _keys, ...keyless } = record!.dynamodb!;
    const named: readonly (readonly [object, string])[] = [
      [{ eventName: "ODD" }, 'its eventName is "ODD"'],
      [{ eventName: undefined }, "its eventName is undefined"],
      [{ eventID: 1 }, "its eventID is 1"],
      [{ dynamodb: undefined }, "it has no dynamodb.Keys"],
      [{ dynamodb: null }, "it has no dynamodb.Keys"],
      [{ dynamodb: keyless }, "it has no dynamodb.Keys"],
      [{ tableName: {} }, "the name of its table is not a text"],
    ];
    for (const [part, says] of named)
      await expect(handle({ Records: [{ ...record, ...part } as never] })).rejects.toThrow(`is not one of DynamoDB: ${says}. Send`);
    for (const event of [undefined, {}, { Records: 1 }])
      await expect(handle(event as never)).rejects.toMatchObject({ code: "stream.invalidRecord" });
    const { NewImage: _, ...keys } = record!.dynamodb!;
    const keysOnly = { ...record, dynamodb: { ...keys, StreamViewType: "KEYS_ONLY" } };
    await expect(handle({ Records: [keysOnly] })).rejects.toMatchObject({
      code: "stream.images",
      message: expect.stringContaining("KEYS_ONLY") as string,
    });
  });

  test("that is none passes: a handler that returns nothing, and a record of an item of another model", async () => {
    const { db, table, take } = await open();
    await db.student.create({ ...ann, name: "x" }).orThrow();
    const Item = { pk: { S: "INVOICE#1" }, sk: { S: "#" }, type: { S: "invoice" }, total: { N: "3" } };
    await engine.transport.send("PutItem", { TableName: table, Item });
    const seen: string[] = [];
    const handlers = { all: { on: "student", event: ({ kind }: { readonly kind: string }) => void seen.push(kind) } } as const;
    expect(await createStreamHandler(db, handlers, quick)(await take())).toEqual(none);
    expect([seen, await listDeadLetters(db)]).toEqual([["created"], []]);
  });

  test.each<readonly [object, RegExp]>([
    [{ mail: { on: "studnt", event: () => 1 } }, /is on "studnt", which the model does not have.*student/],
    [{ mail: { on: "student" } }, /handles nothing/],
    [{ mail: { event: () => 1 } }, /has no `on`/],
    [{ mail: { on: "student", linked: () => 1 } }, /no member of a handler on "student" "linked"/],
    [{ mail: { on: "student", created: 1 } }, /not a function: 1/],
    [{ mail: { on: "student", event: () => 1, whenChanged: ["nam"] } }, /no attribute of student "nam"/],
    [{ facts: { on: "student", event: () => 1 } }, /Choose another name/],
    [{ mail: null }, /Expected an object for mail/],
  ])("handlers %#", (handlers, message) => {
    const db = modelIn("Table").connect({ transport: engine.transport });
    expect(() => createStreamHandler(db, handlers as never)).toThrow(message);
  });

  test("options and connections", () => {
    expect(() => createStreamHandler({} as never, {})).toThrow("Expected a connection");
    const db = modelIn("Table").connect({ transport: engine.transport });
    expect(() => createStreamHandler(db, {}, { attempts: 0 })).toThrow("attempts is 0");
    expect(() => createStreamHandler(modelIn("Table"), {}, { tries: 1 } as never)).toThrow('no option "tries"');
  });
});
