import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Transport } from "../index.ts";
import { createLeanStreamTransport, createStreamConsumer, tailStream, type StreamRecord } from "./index.ts";

const id = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = async (stream = true) => {
  const graph = defineGraph({
    table: engine.freshTableName("tail"),
    nodes: { student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string() }) }) },
  });
  const sent: string[] = [];
  const onRequest = ({ operation }: { readonly operation: string }): void => void sent.push(operation);
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create({ stream });
  return { graph, db, sent, watching: graph.connect({ endpoint: engine.endpoint, onRequest }) };
};

test("gives what is changed from now on, in order, and writes nothing", async () => {
  const { db, sent, watching } = await open();
  await db.student.create({ id: "before", name: "x" }).orThrow();
  const stopping = new AbortController();
  const seen: StreamRecord[] = [];
  const watch = async (): Promise<void> => {
    for await (const record of tailStream(watching, { signal: stopping.signal, pollInterval: 10 })) seen.push(record);
  };
  const ended = watch();
  // Nobody tells when it has begun: students come until it sees one.
  for (let at = 0; seen.length === 0; at++) {
    await db.student.create({ id: `first${at}`, name: "x" }).orThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await db.student.create({ id: "a", name: "old" }).orThrow();
  await db.student.update({ id: "a" }, { name: "new" }).orThrow();
  await db.student.delete({ id: "a" }).orThrow();
  const ofA = () => seen.filter(({ key }) => JSON.stringify(key).includes('"STUDENT#a"'));
  await expect.poll(() => ofA().length).toBe(3);
  expect(ofA()).toMatchObject([
    { kind: "insert", before: undefined, after: { name: { S: "old" } } },
    { kind: "modify", before: { name: { S: "old" } }, after: { name: { S: "new" } } },
    { kind: "remove", before: { name: { S: "new" } }, after: undefined },
  ]);
  expect(JSON.stringify(seen)).not.toContain("STUDENT#before");
  stopping.abort();
  await ended;
  expect(new Set(sent)).toEqual(new Set(["DescribeTable"]));
});

test("whoever stops reading ends its requests", async () => {
  const { db, watching } = await open();
  const writing = new AbortController();
  const write = async (): Promise<void> => {
    for (let at = 0; !writing.signal.aborted; at++) await db.student.create({ id: `s${at}`, name: "x" }).orThrow();
  };
  const written = write();
  const stream = createLeanStreamTransport({ endpoint: engine.endpoint });
  for await (const { kind } of tailStream(watching, { pollInterval: 10, stream })) {
    expect(kind).toBe("insert");
    break;
  }
  writing.abort();
  await written;
  await stream.close();
});

test("a table without a stream, and an option that is not one, are refused", async () => {
  const { watching } = await open(false);
  const first = (options: object): Promise<unknown> => tailStream(watching, options).next();
  await expect(first({})).rejects.toMatchObject({ code: "stream.notEnabled" });
  await expect(first({ pollInterval: 0 })).rejects.toMatchObject({ code: "plan.invalidOption" });
  await expect(first({ pol: 1 })).rejects.toMatchObject({ code: "plan.invalidOption" });
});

test("closing the connection ends a watch after what it has read", async () => {
  const { db, watching } = await open();
  const watch = tailStream(watching, { pollInterval: 10 });
  const first = watch.next();
  const writing = new AbortController();
  const write = async (): Promise<void> => {
    for (let at = 0; !writing.signal.aborted; at++) await db.student.create({ id: `s${at}`, name: "x" }).orThrow();
  };
  const written = write();
  expect(await first).toMatchObject({ done: false });
  writing.abort();
  await written;
  await watching.close();
  const rest: unknown[] = [];
  for await (const record of watch) rest.push(record);
  // What had been read is given out.
  expect(rest.length).toBeLessThan(1000);
});

test("closing the connection ends a watch that nothing comes to", async () => {
  const { watching } = await open();
  const next = tailStream(watching, { pollInterval: 10 }).next();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await watching.close();
  expect(await next).toEqual({ done: true, value: undefined });
});

type Connected = Awaited<ReturnType<typeof open>>["db"];
const begins: Readonly<Record<string, (db: Connected, stream: ReturnType<typeof createLeanStreamTransport>) => Promise<unknown>>> = {
  watch: (db, stream) => tailStream(db, { pollInterval: 10, stream }).next(),
  consumer: (db, stream) => createStreamConsumer(db, {}, { pollInterval: 10, stream }).run(),
};

test.each(Object.keys(begins))("closing the connection ends a %s that has yet to learn whether there is a stream", async (kind) => {
  const { graph } = await open();
  const stream = createLeanStreamTransport({ endpoint: engine.endpoint });
  let [ask, answer] = [(): void => undefined, (): void => undefined];
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const send: Transport["send"] = async (operation, input) => {
    ask();
    await answered;
    return engine.transport.send(operation, input);
  };
  const db = graph.connect({ transport: { send, close: () => undefined } });
  const ended = begins[kind]!(db, stream);
  await asked;
  const closed = db.close();
  answer();
  await closed;
  expect(await ended).toMatchObject(kind === "watch" ? { done: true } : { records: 0 });
  await stream.close();
});
