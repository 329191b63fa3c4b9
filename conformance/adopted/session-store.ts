import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();

// A session's sort key names its customer: a reference, read backwards in the inverse index.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      session: node({
        key: "suuid#{sessionId}",
        schema: z.object({ sessionId: text, customerId: text, last_login_time: text, access_token: text, session_state: text }),
      }),
      customer: node({ key: "c#{customerId}", schema: z.object({ customerId: text }), stored: false }),
    },
    parts: {
      child: part({
        of: "session",
        key: "child#suuid#{childId}",
        schema: z.object({ childId: text, access_token: text, session_state: text }),
      }),
    },
    edges: { ofCustomer: edge({ from: "session", to: "customer", stored: "reference" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1_inverse: { partitionKey: "SK", sortKey: "PK" } },
      nodes: { session: { keys: { SK: "c#{customerId}" } } },
    },
  });

const session = (id: string, customer: string, [at, state]: readonly [string, string]) => ({
  PK: `suuid#${id}`,
  SK: `c#${customer}`,
  last_login_time: at,
  access_token: `token-${id}`,
  session_state: state,
});
const child = (id: string, childId: string, state: string) => ({
  PK: `suuid#${id}`,
  SK: `child#suuid#${childId}`,
  access_token: `token-${childId}`,
  session_state: state,
});

const row = (sessionId: string, customerId: string, [at, state]: readonly [string, string]) => ({
  sessionId,
  customerId,
  last_login_time: at,
  access_token: `token-${sessionId}`,
  session_state: state,
});
const [first, second] = [row("a1", "N4", ["2024-02-01T08:00:00", "active"]), row("b2", "N4", ["2024-02-02T09:30:00", "closing"])];
const childRow = (childId: string) => ({ sessionId: "a1", childId, access_token: `token-${childId}`, session_state: "active" });

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const sessionStore: Design<Db> = {
  name: "session-store",
  source: "AWS, Session management schema: github.com/aws-samples/aws-dynamodb-examples, schema_design/SchemaExamples/SessionManagement",
  table: { key: ["PK", "SK"], indexes: { GSI1_inverse: { key: ["SK", "PK"] } } },
  graph,
  items: [
    session("a1", "N4", ["2024-02-01T08:00:00", "active"]),
    session("b2", "N4", ["2024-02-02T09:30:00", "closing"]),
    session("c3", "M7", ["2024-02-03T10:00:00", "active"]),
    child("a1", "k8", "active"),
    child("a1", "k9", "active"),
    child("c3", "m1", "closing"),
  ],
  patterns: [
    {
      question: "getSessionBySessionId",
      ask: (db) => db.session.get({ sessionId: "a1" }, { given: { customerId: "N4" } }),
      answer: first,
      requests: ["GetItem: 'suuid#a1' / 'c#N4'"],
    },
    {
      question: "the same, where the customer is not known",
      ask: (db) => db.session.get({ sessionId: "a1" }),
      answer: first,
      requests: ["Query: PK = 'suuid#a1' AND begins_with(SK, 'c#')"],
    },
    {
      question: "getChildSessionsBySessionId",
      ask: (db) => db.session({ sessionId: "a1" }).parts("child").all(),
      answer: [childRow("k8"), childRow("k9")],
      requests: ["Query: PK = 'suuid#a1' AND begins_with(SK, 'child#suuid#')"],
    },
    {
      question: "getSessionByChildSessionId",
      ask: (db) => db.find("child").where({ childId: "k9" }).rows(),
      answer: [childRow("k9")],
      requests: ["Query GSI1_inverse: SK = 'child#suuid#k9' AND begins_with(PK, 'suuid#')"],
    },
    {
      question: "getLastLoginTimeByCustomerId",
      ask: (db) => db.find("session").where({ customerId: "N4" }).limit(1).rows(),
      answer: [first],
      requests: ["Query GSI1_inverse: SK = 'c#N4' AND begins_with(PK, 'suuid#') (limit 1)"],
    },
    {
      question: "getSessionIdByCustomerId",
      ask: (db) => db.find("session").where({ customerId: "N4", sessionId: "b2" }).using("GSI1_inverse").rows(),
      answer: [second],
      requests: ["Query GSI1_inverse: SK = 'c#N4' AND PK = 'suuid#b2'"],
    },
    {
      question: "getSessionsByCustomerId",
      ask: (db) => db.customer({ customerId: "N4" }).in("ofCustomer").nodes(),
      answer: [first, second],
      requests: ["Query GSI1_inverse: SK = 'c#N4' AND begins_with(PK, 'suuid#')"],
    },
  ],
  writes: [
    {
      what: "createSession",
      call: (db) => db.session.put(row("d4", "M7", ["2024-02-04T11:00:00", "active"])).orThrow(),
      puts: [session("d4", "M7", ["2024-02-04T11:00:00", "active"])],
    },
    {
      what: "a child session",
      call: (db) => db.child.put({ sessionId: "d4" }, { childId: "m2", access_token: "token-m2", session_state: "active" }).orThrow(),
      puts: [child("d4", "m2", "active")],
    },
    {
      what: "a session that closes",
      call: (db) => db.session.update({ sessionId: "d4" }, { session_state: "closing" }).orThrow(),
      puts: [session("d4", "M7", ["2024-02-04T11:00:00", "closing"])],
    },
    {
      what: "expireSession, with its children",
      call: (db) => db.session.delete({ sessionId: "a1" }).orThrow(),
      deletes: [
        { PK: "suuid#a1", SK: "c#N4" },
        { PK: "suuid#a1", SK: "child#suuid#k8" },
        { PK: "suuid#a1", SK: "child#suuid#k9" },
      ],
    },
  ],
};
