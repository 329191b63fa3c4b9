import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();
const seen = z.object({ at: text, score: z.number() });

/** A table of another hand: what orders edges is in the keys of two indexes, and each holds its keys alone. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }) },
    edges: {
      knows: edge({ from: "person", to: "person", schema: seen, key: ["at"], orderBy: "score:number", ends: "unchecked" }),
      sees: edge({ from: "person", to: "person", schema: seen, orderBy: "score:number", ends: "unchecked", multiplicity: "many-to-one" }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        into: { partitionKey: "T", sortKey: "TS", projection: "KEYS_ONLY" },
        outOf: { partitionKey: "S", sortKey: "SS", projection: "KEYS_ONLY" },
      },
      nodes: { person: { keys: { SK: "META" } } },
      edges: {
        knows: {
          keys: { SK: "KNOWS#{to}#{at}", T: "{to}", TS: "KNOWS#{score:number}#{from}", S: "{from}", SS: "KNOWS#{score:number}#{to}" },
        },
        // Its own key does not say whom it leads to.
        sees: { keys: { SK: "SEES", T: "{to}", TS: "SEES#{score:number}#{from}", S: "{from}", SS: "SEES#{score:number}" } },
      },
    },
  });

const [a, b] = [{ personId: "a" }, { personId: "b" }];
const edges = [
  { from: a, to: b, at: "2", score: -1.5 },
  { from: a, to: b, at: "1", score: 0.25 },
];
const sent: SentRequest[] = [];
let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("keys")).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  for (const { from, to, ...row } of edges) await db.knows.put(from, to, row).orThrow();
  await db.sees.put(a, b, { at: "2", score: -1.5 }).orThrow();
});
afterAll(() => engine.close());

test("what an index's own keys say of an edge is read from them, whichever other key says it too", async () => {
  sent.length = 0;
  expect(await db.person(a).out("knows").edges()).toEqual(edges);
  expect(await db.person(b).in("knows").edges()).toEqual(edges);
  const half = db
    .person(a)
    .out("knows")
    .where({ score: { in: [0.25] } });
  expect(await half.edges()).toEqual(edges.slice(1));
  expect(await half.select("score").edges()).toEqual([{ from: a, to: b, score: 0.25 }]);
  expect((await db.person(a).out("knows").limit(1).walk().sum("score")).items).toEqual([{ id: b, count: 1, value: -1.5 }]);
  expect(sent.map(({ index }) => index)).toEqual(["outOf", "into", "outOf", "outOf", "outOf"]);
  expect(sent[3]?.input).toMatchObject({ ProjectionExpression: "PK, SK, #0, #1", ExpressionAttributeNames: { "#0": "S", "#1": "SS" } });
});

test("an index that does not say where edges lead gives none, and says so", async () => {
  const refused = expect.objectContaining({
    code: "plan.noIndex",
    message: expect.stringContaining('"outOf" finds "sees", but its projection leaves "to.personId" out'),
  });
  const ordered = db.person(a).out("sees").using("outOf");
  await expect(async () => ordered.edges().explain()).rejects.toThrow(refused);
  await expect(async () => ordered.nodes().explain()).rejects.toThrow(refused);
  await expect(async () => ordered.walk().ids().explain()).rejects.toThrow(refused);
  expect(await db.person(a).out("sees").edges()).toEqual(edges.slice(0, 1));
  expect(await db.person(b).in("sees").ids()).toEqual([a]);
  expect([...(await db.person(a).walk().out("sees").ids())]).toEqual([b]);
});
