import { expect, test } from "vitest";
import type { Sharding } from "./key-template.ts";
import { parseTemplate } from "./parse-template.ts";
import { renderPartitions, turnOf } from "./partitions.ts";
import { renderTemplate, growthOf, shardPaths } from "./render-template.ts";

const hot: Sharding = { counts: [2], per: { path: "status", steps: ["status"] }, hot: { open: [4, 2] } };
const parse = (source: string) => parseTemplate(source, { delimiter: "#", escapes: true, shardings: { hot } });
const texts = (source: string, row: Readonly<Record<string, unknown>>): readonly string[] | undefined =>
  renderPartitions(parse(source), row)?.map(({ text }) => text);

test("a key without a shard is one partition, and unknown without its fields", () => {
  expect(texts("P#{x}", { x: "a" })).toEqual(["P#a"]);
  expect(texts("P#{x}", {})).toBeUndefined();
});

test("an unknown value lies in any shard, a known one in the one where it is written", () => {
  expect(texts("P#{id:shard(3)}", {})).toEqual(["P#0", "P#1", "P#2"]);
  expect(texts("P#{id:shard(3)}", { id: "S1" })).toEqual([renderTemplate(parse("P#{id:shard(3)}"), { id: "S1" })]);
});

test("while a count grows, readers look among both, and a known value has a place for each", () => {
  const grown = parse("P#{id:shard(8|2)}");
  expect(renderPartitions(grown, {})).toHaveLength(8);
  expect(
    renderPartitions(grown, {})
      ?.map(({ turn, family }) => [turn, family])
      .slice(1, 4),
  ).toEqual([
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  const ids = Array.from({ length: 50 }, (_, at) => `S${at}`);
  for (const id of ids) {
    const places = texts("P#{id:shard(8|2)}", { id }) ?? [];
    expect(places).toContain(renderTemplate(grown, { id }));
    expect(places).toContain(renderTemplate(parse("P#{id:shard(2)}"), { id }));
    expect(places.length).toBeLessThanOrEqual(2);
  }
  expect(growthOf(parse("P#{id:shard(8)}"))).toBeUndefined();
});

test("a reader comes to a shard after those that items leave for it", () => {
  const turns = (source: string) => [0, 3, 5, 12].map((shard) => turnOf(growthOf(parse(source)), shard));
  expect(turns("{id:shard(16|4|2)}")).toEqual([0, 1, 2, 2].map((turn, at) => (at === 1 ? 1 : turn)));
  expect(turns("{id:shard(4|16)}")).toEqual([1, 1, 0, 0]);
  expect(turns("{id:shard(16)}")).toEqual([0, 0, 0, 0]);
});

test("a count may follow from another field, for writer and reader alike", () => {
  const template = parse("P#{id:shard(hot)}");
  expect(template.fields).toEqual(["id", "status"]);
  expect(shardPaths(template)).toEqual(new Set(["id", "status"]));
  expect(texts("P#{id:shard(hot)}", { status: "closed" })).toHaveLength(2);
  expect(texts("P#{id:shard(hot)}", { status: "open" })).toHaveLength(4);
  expect(texts("P#{id:shard(hot)}", {})).toHaveLength(4);
  for (let at = 0; at < 40; at++) {
    const id = `S${at}`;
    for (const status of ["open", "closed", undefined]) {
      const written = renderTemplate(template, { id, status });
      expect(texts("P#{id:shard(hot)}", { id, status })).toContain(written);
      expect(texts("P#{id:shard(hot)}", { status })).toContain(written);
      expect(texts("P#{id:shard(hot)}", { id })).toContain(written);
    }
  }
});

test("a field that is more than a shard's source has to be known", () => {
  expect(shardPaths(parse("P#{id:shard(4)}#{id}"))).toEqual(new Set());
  expect(texts("P#{id:shard(4)}#{id}", {})).toBeUndefined();
});
