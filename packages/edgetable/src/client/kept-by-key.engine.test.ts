import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { edge } from "../schema/edge.ts";
import { node } from "../schema/node.ts";
import { openWriteLab, type WriteLab } from "../testing/test-support/write-lab.ts";

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
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { user: { keys: { SK: "user" } }, team: { keys: { SK: "team" } } },
      edges: { joins: { keys: { SK: "JOINS", team: "{to}" } }, leads: { keys: { SK: "LEADS#{to}" } } },
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
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["TransactWriteItems"]);
  expect(await lab.edge("leads").link(user, b)).toMatchObject({ ok: false, reason: "degreeExceeded" });
  expect(Object.keys(await lab.items())).toEqual(["USER#U / JOINS", "USER#U / LEADS#TEAM#A", "USER#U / ~degree#leads#out"]);
});
