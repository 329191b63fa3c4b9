import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { type Command, histories, type History, type NodeType } from "./commands.ts";
import { runHistory } from "./run-history.ts";
import { sabotages } from "./sabotage.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const nothing = { handle: undefined, kind: "update" } as const;
const link = { kind: "link", edge: "follows", from: 0, to: 0, role: "x" } as const;
const look = { kind: "getNode", strong: true, direction: "out", edge: "follows", from: 0, to: 0 } as const;
const update = (type: NodeType, id: number): Command => ({ ...nothing, type, id });

/** Two that chance is slow to find: an edge moves in its order, and one client's write is overtaken by another's. */
const made: readonly History[] = [
  { weather: 0, clients: [[link, { ...link, kind: "relink" }], [look]] },
  {
    weather: 0,
    clients: [
      [update("person", 0), look, update("post", 0), look, look, update("post", 1), update("tag", 0), update("tag", 1), look],
      [look, update("person", 0), look, look],
    ],
  },
];

// Enough for each fault to show itself; the seed is fixed, so that it always does.
const sample = [...made, ...fc.sample(histories, { seed: 5, numRuns: 40 })];

test.each(sabotages)("the checker complains when $name", { timeout: 60_000 }, async ({ sabotage, complaint }) => {
  for (const history of sample) {
    const place = { transport: engine.transport, table: engine.freshTableName("sabotage"), layout: undefined, sabotage };
    const { complaints } = await runHistory(place, history);
    if (complaints.some((one) => complaint.test(one))) return;
  }
  expect.fail("no history made the checker complain");
});
