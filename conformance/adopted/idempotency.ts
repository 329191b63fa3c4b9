import { defineGraph, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

// The key is a function's name, a "#" and a hash; a name may hold any character but the delimiter that the layout takes.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      record: node({
        key: "{key}",
        schema: z.object({
          key: text,
          status: z.enum(["INPROGRESS", "COMPLETED"]),
          expiration: z.int(),
          in_progress_expiration: z.int().optional(),
          data: z.unknown().optional(),
          validation: text.optional(),
        }),
        ttl: "expiration",
      }),
    },
    layout: { partitionKey: "id", delimiter: "|" },
  });

const until = 4_102_444_800;
const key = "pay.handler#9d1c";
const other = "pay.handler#77aa";

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

/** Begins an attempt if there is none, or the one that there is has expired or ran out of time. */
const putRecord = (db: Db, of: string) =>
  db.record.put(
    { key: of, expiration: until, status: "INPROGRESS", in_progress_expiration: 1_800_000_000_000 },
    {
      if: {
        or: [
          { status: { exists: false } },
          { expiration: { lt: 1_750_000_000 } },
          { status: "INPROGRESS", in_progress_expiration: { lt: 1_750_000_000_000 } },
        ],
      },
    },
  );

export const idempotency: Design<Db> = {
  name: "idempotency",
  source:
    "Powertools for AWS Lambda, idempotency: github.com/aws-powertools/powertools-lambda-typescript, packages/idempotency, DynamoDBPersistenceLayer",
  table: { ttl: "expiration", key: ["id"] },
  graph,
  items: [
    { id: key, expiration: until, status: "COMPLETED", data: { paid: [12.5, "EUR"], at: null }, validation: "ab12" },
    { id: other, expiration: until, status: "INPROGRESS", in_progress_expiration: 1_700_000_000_000 },
  ],
  patterns: [
    {
      question: "getRecord, strongly consistent",
      ask: (db) => db.record.get({ key }, { consistent: true }),
      answer: { key, expiration: until, status: "COMPLETED", data: { paid: [12.5, "EUR"], at: null }, validation: "ab12" },
      requests: [`GetItem: '${key}'`],
    },
  ],
  writes: [
    {
      what: "putRecord of a new key",
      call: (db) => putRecord(db, "pay.handler#0001").orThrow(),
      puts: [{ id: "pay.handler#0001", expiration: until, status: "INPROGRESS", in_progress_expiration: 1_800_000_000_000 }],
    },
    {
      what: "putRecord of a key that is completed",
      call: (db) => putRecord(db, key),
    },
    {
      what: "putRecord over an attempt that ran out of time",
      call: (db) => putRecord(db, other).orThrow(),
      puts: [{ id: other, expiration: until, status: "INPROGRESS", in_progress_expiration: 1_800_000_000_000 }],
    },
    {
      what: "updateRecord",
      call: (db) => db.record.update({ key: other }, { expiration: until + 1, status: "COMPLETED", data: { ok: true } }).orThrow(),
      puts: [{ id: other, expiration: until + 1, status: "COMPLETED", in_progress_expiration: 1_800_000_000_000, data: { ok: true } }],
    },
    { what: "deleteRecord", call: (db) => db.record.delete({ key }).orThrow(), deletes: [{ id: key }] },
  ],
};
