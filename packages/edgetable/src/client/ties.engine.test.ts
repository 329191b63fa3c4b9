import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

test("rows under one sort key are told apart by their whole keys, in every page", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("ties"),
    nodes: { song: node({ key: "P#{id}", schema: z.object({ id: text, genre: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byGenre: { partitionKey: "G1PK", sortKey: "G1SK" } },
      nodes: { song: { keys: { SK: "{key}", G1PK: "SONGS#{id:shard(4)}", G1SK: "{genre}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  // The keys of the first two share the 53 bits of a hash of both key attributes that once told ties apart.
  const ids = ["1093eae8de4134", "134fe9848ea0c6", "a", "b", "a long id that does not fit into a name of its own"];
  for (const id of ids) await db.song.put({ id, genre: "rock" }).orThrow();
  const songs = db.find("song").where({ genre: "rock" });
  expect((await songs.rows()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  for (const limit of [1, 2, 3]) {
    const found: string[] = [];
    let cursor: string | undefined;
    let previous: string | undefined;
    do {
      const page = await songs.page({ limit, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.items.map(({ id }) => id));
      cursor = page.next;
      previous = page.previous;
    } while (cursor !== undefined);
    expect(found.toSorted(), `pages of ${limit}`).toEqual(ids.toSorted());
    const back: string[] = [];
    while (previous !== undefined) {
      const page = await songs.page({ limit, cursor: previous });
      back.unshift(...page.items.map(({ id }) => id));
      previous = page.previous;
    }
    expect(found.slice(0, back.length), `pages of ${limit}, back`).toEqual(back);
  }
});
