import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../../index.ts";
import { walkRuleNames } from "../rule-names.ts";

const text = z.string();

/** An adopted table whose index projects neither the type attribute nor all attributes of the edges. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{personId}",
        schema: z.object({ personId: text, townId: text.optional(), since: z.number().optional() }),
      }),
      town: node({ key: "TOWN#{townId}", schema: z.object({ townId: text }) }),
    },
    edges: {
      visits: edge({ from: "person", to: "town", schema: z.object({ days: z.number(), cost: z.number() }), ends: "unchecked" }),
      livesIn: edge({ from: "person", to: "town", stored: "reference", schema: z.object({ since: z.number().optional() }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "kind",
      indexes: { into: { partitionKey: "T", sortKey: "TS", projection: ["days"] } },
      nodes: {
        person: { keys: { SK: "META", T: "LIVES#{townId}", TS: "{personId}" }, sparse: ["T"] },
        town: { keys: { SK: "META" } },
      },
      edges: { visits: { keys: { SK: "VISITS#{to}", T: "{to}", TS: "VISITS#{from}" } } },
    },
  });

let engine: TestEngine;
let table = "";
const sent: SentRequest[] = [];
const open = (rulesOff: readonly string[]) =>
  graphOf(table).connect({
    transport: engine.transport,
    cursorSecret: "s".padEnd(43, "-"),
    advanced: { rulesOff },
    onRequest: (one) => sent.push(one),
  });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("projected");
  const db = open([]);
  await db.table.create();
  await db.town.create({ townId: "x" }).orThrow();
  await db.person.create({ personId: "a", townId: "x", since: 1990 }).orThrow();
  await db.person.create({ personId: "b" }).orThrow();
  await db.visits.link({ personId: "a" }, { townId: "x" }, { days: 2, cost: 0.5 }).orThrow();
  await db.visits.link({ personId: "b" }, { townId: "x" }, { days: 3, cost: 0.25 }).orThrow();
});
afterAll(() => engine.close());

const leftOut = (of: string, attribute: string) =>
  expect.objectContaining({
    code: "plan.noIndex",
    message: expect.stringContaining(`finds "${of}", but its projection leaves "${attribute}" out`),
  });

describe.each([
  ["with every rule", []],
  ["with no rule", walkRuleNames],
] as const)("a walk over an index that holds a part of its items, %s", (_, rulesOff) => {
  test("reads what the index projects, and no type attribute", async () => {
    const town = open(rulesOff).town({ townId: "x" });
    sent.length = 0;
    expect((await town.in("visits").ids()).map(({ personId }) => personId)).toEqual(["a", "b"]);
    expect([...(await town.walk().in("visits").ids())]).toEqual([{ personId: "a" }, { personId: "b" }]);
    const long = town
      .walk()
      .in("visits")
      .where({ days: { in: [3] } });
    expect([...(await long.ids())]).toEqual([{ personId: "b" }]);
    expect((await town.walk().in("visits").sum("days")).items).toEqual([
      { id: { personId: "a" }, count: 1, value: 2 },
      { id: { personId: "b" }, count: 1, value: 3 },
    ]);
    const named = sent.flatMap(({ input }) => {
      const { ProjectionExpression: asked, ExpressionAttributeNames: names = {} } = input as {
        readonly ProjectionExpression?: string;
        readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
      };
      return (asked ?? "PK, SK").split(", ").map((name) => names[name] ?? name);
    });
    expect([...new Set(named)].filter((name) => !["PK", "SK", "T", "TS", "days"].includes(name))).toEqual([]);
  });

  test("refuses sums and conditions on attributes that the index leaves out", async () => {
    const town = open(rulesOff).town({ townId: "x" });
    await expect(async () => town.walk().in("visits").sum("cost").explain()).rejects.toThrow(leftOut("visits", "cost"));
    await expect(async () =>
      town
        .walk()
        .in("visits")
        .where({ cost: { gte: 0 } })
        .ids()
        .explain(),
    ).rejects.toThrow(leftOut("visits", "cost"));
    await expect(async () => town.walk().in("livesIn").max("since").explain()).rejects.toThrow(leftOut("livesIn", "since"));
    await expect(async () =>
      town
        .walk()
        .rank({ in: "visits" }, { by: { sum: "cost" } })
        .explain(),
    ).rejects.toThrow(leftOut("visits", "cost"));
    // The table itself has all attributes. Forgotten values, and attributes that an edge lacks, are not read.
    const person = open(rulesOff).person({ personId: "a" });
    expect((await person.walk().out("visits").sum("cost")).items).toEqual([{ id: { townId: "x" }, count: 1, value: 0.5 }]);
    const on = town.walk().in("visits").dedupe().out("visits");
    expect((await on.sum("cost")).items).toEqual([{ id: { townId: "x" }, count: 2, value: 0.75 }]);
    expect((await town.walk().in("livesIn").out("visits").sum("cost")).items).toEqual([{ id: { townId: "x" }, count: 1, value: 0.5 }]);
  });
});
