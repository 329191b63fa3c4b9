import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { defineGraph, edge, node, part, type Transport } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const WRITES: readonly string[] = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"];

const open = async (name: string) => {
  const graph = defineGraph({
    table: engine.freshTableName(name),
    nodes: { house: node({ key: "HOUSE#{id}", schema: z.object({ id }) }), street: node({ key: "STREET#{id}", schema: z.object({ id }) }) },
    parts: { room: part({ of: "house", key: "ROOM#{n}", schema: z.object({ n: id }) }) },
    edges: { has: edge({ from: "street", to: "house", onDelete: { from: "cascade" } }) },
  });
  const sent: string[] = [];
  let loses = false;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const output = await engine.transport.send(operation, input, options);
      if (!WRITES.includes(operation)) return output;
      sent.push("ClientRequestToken" in input ? "with a token" : operation);
      if (!loses) return output;
      loses = false;
      throw new EdgetableError("execute.connection", "lost", { retryable: true, details: { ambiguous: true } });
    },
  };
  const connect = (idempotent: boolean) => graph.connect({ transport, idempotent });
  await connect(false).table.create();
  const lose = () => {
    sent.length = 0;
    loses = true;
  };
  return { connect, sent, lose };
};

test.each(["connection", "call"])("a deletion is exact where its %s is idempotent, also if nothing goes with the node", async (of) => {
  const { connect, sent, lose } = await open("idempotentDeletions");
  const db = connect(of === "connection");
  const options = of === "call" ? { idempotent: true } : {};
  for (const parts of [[], ["1"]]) {
    await db.house.create({ id: "h" }).orThrow();
    for (const n of parts) await db.room.create({ id: "h" }, { n }).orThrow();
    lose();
    expect(await db.house.delete({ id: "h" }, options)).toMatchObject({ ok: true });
    expect(new Set(sent)).toEqual(new Set(["with a token"]));
  }
  await db.street.create({ id: "s" }).orThrow();
  lose();
  expect(await (await db.street.delete({ id: "s" }, options).start()).done).toMatchObject({ ok: true });
  expect(new Set(sent)).toEqual(new Set(["with a token"]));
});

test("other deletions are single requests, and a lost answer tells what to do", async () => {
  const { connect, sent, lose } = await open("deletionsAsTheyAre");
  const db = connect(false);
  await db.house.create({ id: "h" }).orThrow();
  lose();
  await expect(db.house.delete({ id: "h" }).run()).rejects.toMatchObject({ code: "execute.ambiguous" });
  expect(new Set(sent)).toEqual(new Set(["DeleteItem"]));
});
