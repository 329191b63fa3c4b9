import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { edge, node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({
    table: "Kept",
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: z.string() }) }),
      team: node({ key: "TEAM#{teamId}", schema: z.object({ teamId: z.string() }) }),
    },
    edges: {
      joins: edge({ from: "user", to: "team", multiplicity: "many-to-one", ends: "unchecked" }),
      leads: edge({ from: "user", to: "team", multiplicity: "many-to-one", ends: "unchecked" }),
      sits: edge({
        from: "user",
        to: "team",
        multiplicity: "many-to-one",
        maxDegree: { to: 5 },
        stored: "twice",
        ends: "unchecked",
        schema: z.object({ seat: z.string() }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { user: { keys: { SK: "user" } }, team: { keys: { SK: "team" } } },
      edges: {
        joins: { keys: { SK: "JOINS", team: "{to}" } },
        leads: { keys: { SK: "LEADS#{to}" } },
        sits: { keys: { SK: "SITS", place: "{seat}#{to}" }, mirror: { keys: { SK: "SEATED#{from}" } } },
      },
    },
  });
});
afterAll(() => lab.stop());

test("a limit of one that the edge's key implies takes no counter; any other has one", async () => {
  const [user, a, b] = [{ userId: "U" }, { teamId: "A" }, { teamId: "B" }];
  await lab.edge("joins").link(user, a).orThrow();
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["PutItem"]);
  expect(await lab.edge("joins").link(user, b)).toMatchObject({ ok: false, reason: "exists", current: { to: a } });
  expect(await lab.items()).toEqual({ "USER#U / JOINS": { PK: { S: "USER#U" }, SK: { S: "JOINS" }, team: { S: "TEAM#A" } } });
  await lab.edge("joins").unlink(user, a).orThrow();
  await lab.edge("joins").link(user, b).orThrow();
  lab.sent.length = 0;
  await lab.edge("leads").link(user, a).orThrow();
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["GetItem", "Query", "TransactWriteItems"]);
  expect(await lab.edge("leads").link(user, b)).toMatchObject({ ok: false, reason: "degreeExceeded" });
  expect(Object.keys(await lab.items())).toEqual(["USER#U / JOINS", "USER#U / LEADS#TEAM#A", "USER#U / ~degree#leads#out"]);
});

const [user, a, b] = [{ userId: "V" }, { teamId: "A" }, { teamId: "B" }];

test("an edge to another node under the same key is left alone", async () => {
  await lab.edge("joins").link(user, b).orThrow();
  lab.sent.length = 0;
  expect(await lab.edge("joins").unlink(user, a)).toMatchObject({ ok: false, reason: "notFound" });
  expect(lab.sent).toMatchObject([
    {
      operation: "DeleteItem",
      input: { ConditionExpression: "attribute_exists(PK) AND #0 = :0", ExpressionAttributeValues: { ":0": { S: "TEAM#A" } } },
    },
  ]);
  expect(Object.keys(await lab.items())).toContain("USER#V / JOINS");
  await lab.edge("joins").unlink(user, b).orThrow();
  expect(Object.keys(await lab.items())).not.toContain("USER#V / JOINS");
});

test("where the end stands behind what the call does not know, the edge is read first", async () => {
  await lab.edge("sits").link(user, b, { seat: "7" }).orThrow();
  expect(await lab.edge("sits").unlink(user, a)).toMatchObject({ ok: false, reason: "notFound" });
  expect(await lab.edge("sits").relink(user, a, { seat: "8" })).toMatchObject({ ok: false, reason: "notFound" });
  expect((await lab.items())["USER#V / SITS"]).toMatchObject({ place: { S: "7#TEAM#B" } });
});

test("an edge put in another's place takes its copy and its count along", async () => {
  await lab.edge("sits").put(user, a, { seat: "9" }).orThrow();
  const items = await lab.items();
  expect(items["USER#V / SITS"]).toMatchObject({ place: { S: "9#TEAM#A" } });
  expect(Object.keys(items).filter((key) => key.endsWith("SEATED#USER#V"))).toEqual(["TEAM#A / SEATED#USER#V"]);
  expect([items["TEAM#A / ~degree#sits#in"]?.["~count"], items["TEAM#B / ~degree#sits#in"]?.["~count"]]).toEqual([{ N: "1" }, { N: "0" }]);
  await lab.edge("sits").unlink(user, a).orThrow();
  expect(Object.keys(await lab.items()).some((key) => key.includes("SITS") || key.includes("SEATED"))).toBe(false);
});
