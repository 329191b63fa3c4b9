import { expect, test, vi } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { derivedOf } from "./relations.ts";
import { seeItem } from "./see-item.ts";

const id = z.string();
const { catalog } = defineGraph({
  table: "Loaded",
  nodes: {
    user: node({ key: "USER#{id}", schema: z.object({ id, email: id }), unique: ["email"] }),
    issue: node({ key: "ISSUE#{id}", schema: z.object({ id }), derived: { reports: count({ in: "reported" }) } }),
  },
  edges: { reported: edge({ from: "user", to: "issue", maxDegree: { to: 3 }, onDelete: { from: "cascade", to: "cascade" } }) },
});

const derivedFrom = (item: Readonly<Record<string, string>>) => {
  const seen = seeItem(catalog, Object.fromEntries(Object.entries(item).map(([name, S]) => [name, { S }])));
  if (seen.kind !== "row") throw new Error("not an item of a row");
  const { claims, counts, deltas, nodes } = derivedOf(catalog, seen);
  return { claims: claims.length, counts: counts.length, deltas: deltas.length, nodes: nodes.length };
};

test("a row claims and counts the same where a loader makes two instances of the rules", async () => {
  // A transpiler such as tsx's, under `tsx -e`, resolves import() to other instances than import.
  vi.resetModules();
  await loadRules(catalog);
  expect(derivedFrom({ pk: "USER#u", sk: "#", type: "user", email: "u@example.com" })).toMatchObject({ claims: 1 });
  const edgeItem = { pk: "USER#u", sk: "reported#ISSUE#i", gsi1pk: "ISSUE#i", gsi1sk: "reported#USER#u", type: "reported" };
  expect(derivedFrom(edgeItem)).toMatchObject({ counts: 1, deltas: 1, nodes: 2 });
});
