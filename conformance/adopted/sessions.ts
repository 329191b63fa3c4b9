import { defineGraph, node } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      session: node({
        key: "{session_token}",
        schema: z.object({ session_token: text, username: text, created_at: text, expires_at: text, ttl: z.int() }),
        ttl: "ttl",
      }),
    },
    layout: {
      partitionKey: "session_token",
      typeAttribute: "et",
      indexes: { UserIndex: { partitionKey: "username" } },
    },
  });

const session = (session_token: string, username: string) => ({
  session_token,
  username,
  created_at: "2024-05-06T07:08:09Z",
  expires_at: "2100-01-01T00:00:00Z",
  ttl: 4_102_444_800,
});
const item = (token: string, username: string) => ({ et: "session", ...session(token, username) });

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const sessions: Design<Db> = {
  name: "sessions",
  source:
    "The DynamoDB Book (Alex DeBrie), chapter 18, as in modyne by Marcus Griep: github.com/neoeinstein/modyne, dynamodb-book/ch18-sessionstore",
  table: { ttl: "ttl", key: ["session_token"], indexes: { UserIndex: { key: ["username"] } } },
  graph,
  items: [item("5f1c", "nora"), item("6a2d", "nora"), item("7b3e", "omar")],
  patterns: [
    {
      question: "get_session",
      ask: (db) => db.session.get({ session_token: "5f1c" }),
      answer: session("5f1c", "nora"),
      requests: ["GetItem: '5f1c'"],
    },
    {
      question: "the sessions of a user",
      ask: (db) => db.find("session").where({ username: "nora" }).rows(),
      answer: [session("5f1c", "nora"), session("6a2d", "nora")],
      requests: ["Query UserIndex: username = 'nora'"],
      anyOrder: true,
    },
  ],
  writes: [
    { what: "create_session", call: (db) => db.session.create(session("8c4f", "omar")).orThrow(), puts: [item("8c4f", "omar")] },
    { what: "create_session with a token that is taken", call: (db) => db.session.create(session("8c4f", "nora")) },
    {
      what: "delete_user_sessions",
      call: async (db) => {
        const found = await db.find("session").where({ username: "omar" }).rows();
        return db.batch(found.map(({ session_token }) => db.session.delete({ session_token })));
      },
      deletes: [{ session_token: "7b3e" }, { session_token: "8c4f" }],
    },
  ],
};
