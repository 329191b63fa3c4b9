import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, part } from "../index.ts";
import type { CopyList } from "../schema/derived.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();

/** Orders lie under their own ids; an index finds those of a user. */
const graphOf = (copies: CopyList, immutable: readonly string[] = [], key = "ORDER#{order}") =>
  defineGraph({
    table: engine.freshTableName("apart"),
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id, name: id }), immutable } as never) },
    parts: { order: part({ of: "user", key: "ORDER#{order}", schema: z.object({ order: id }), copies }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { user: { keys: { SK: "USER" } } },
      parts: { order: { keys: { PK: key, SK: "ORDER#{order}#{id}", GSI1PK: "USER#{id}", GSI1SK: "ORDER#{order}" } } },
    },
  });

test("a transaction cannot keep copies on parts that only an index finds", () => {
  const refusal = /parts\.order\.copies\.name: only an index finds the parts of a node.*beyond: "job".*freshness: "stream"/;
  expect(() => graphOf(["name"])).toThrow(refusal);
  expect(() => graphOf({ name: { of: "name", freshness: "transaction" } })).toThrow(refusal);
  // In their node's partition, by other means, or of what does not change.
  graphOf(["name"], [], "USER#{id}");
  graphOf({ name: { of: "name", freshness: "stream" } });
  graphOf(["name"], ["name"]);
  graphOf({ user: "id" } as never);
});

test("a job changes copies on a part that the index did not show yet", async () => {
  const graph = graphOf({ name: { of: "name", beyond: "job" } });
  let hides = false;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const output = await engine.transport.send(operation, input, options);
      if (operation !== "Query" || !hides) return output;
      hides = false;
      return { ...output, Items: [], Count: 0 };
    },
    close: () => undefined,
  };
  const db = graph.connect({ transport });
  await db.table.create();
  await db.user.create({ id: "1", name: "Ann" } as never).orThrow();
  await db.order.create({ id: "1" }, { order: "7" }).orThrow();
  hides = true;
  expect(await db.user.update({ id: "1" }, { name: "Anna" } as never)).toMatchObject({ ok: true, atomic: { kind: "job" } });
  expect(hides).toBe(false);
  expect(await db.order.get({ id: "1" }, { order: "7" })).toMatchObject({ name: "Anna" });
  expect((await verify(db, { settle: 5 })).clean).toBe(true);
});
