import type { Transport } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { draftModel } from "../../packages/cli/src/draft/draft-model.ts";
import { sampleTable } from "../../packages/cli/src/draft/sample-table.ts";
import { readItems } from "../../packages/cli/src/studio/stored-items.ts";
import { endpoint, freshTableName, openTransport } from "./engine.ts";
import { matches, tournamentIn } from "./tournament.ts";

describe.skipIf(endpoint === undefined)("tools on a table with index keys of several attributes", () => {
  let transport: Transport;
  const table = freshTableName("drafted");
  const graph = tournamentIn(table);
  beforeAll(async () => {
    transport = openTransport();
    const db = graph.connect({ transport });
    await db.table.create();
    for (const match of matches) await db.match.create(match).orThrow();
  });
  afterAll(() => transport.close());

  test("a draft has the indexes of the table, and rewrites its items", async () => {
    const signal = new AbortController().signal;
    const { table: sampled } = await sampleTable(transport, table, { sample: 100, signal, onProgress: () => undefined });
    expect(sampled.indexes).toEqual(graph.catalog.layout.indexes);
    const { draft, findings, misfits, rewritten } = draftModel(sampled);
    expect({ findings, misfits, rewritten }).toEqual({ findings: [], misfits: [], rewritten: matches.length });
    expect(draft.layout.indexes).toEqual(graph.catalog.layout.indexes);
  });

  test("the studio reads one partition of such an index", async () => {
    const signal = new AbortController().signal;
    const page = { index: "byRegion", cursor: undefined, limit: 100, types: [] };
    const partition = JSON.stringify(["WINTER2024", "NA-WEST"]);
    const { items } = await readItems(graph, transport, { ...page, partition }, signal);
    expect(items.map(({ item }) => item["matchId"])).toEqual([{ S: "match-005" }, { S: "match-006" }]);
    await expect(readItems(graph, transport, { ...page, partition: "WINTER2024" }, signal)).rejects.toMatchObject({
      message: "A partition of this index is a JSON list of 2 texts: tournamentId, region.",
    });
  });
});
