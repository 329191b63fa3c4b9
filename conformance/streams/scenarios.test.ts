import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const streams = "../../packages/edgetable/src/streams";

/** What may happen to a stream, its processors and the facts that they keep: where it is tested, and under which name. */
const scenarios: readonly (readonly [what: string, file: string, name: string])[] = [
  ["a kill before the checkpoint", "killed-consumers.engine.test.ts", "the one that works is killed again and again"],
  ["a zombie 20 batches back", "scenarios.engine.test.ts", "a processor that wakes up 20 batches later changes nothing"],
  ["a split in the middle of a batch", `${streams}/split-shards.engine.test.ts`, "a shard that splits while it is read"],
  ["a consumer three generations of shards behind", `${streams}/split-shards.engine.test.ts`, "children are read after their parents"],
  ["a trimmed parent", `${streams}/split-shards.engine.test.ts`, "a parent that is not listed was trimmed"],
  ["a last page with records", `${streams}/split-shards.engine.test.ts`, "children are read after their parents, from their beginning"],
  ['sequence numbers "9" and "10"', `${streams}/split-shards.engine.test.ts`, "that grow from 9 to 10"],
  ["sequence numbers of 40 digits", `${streams}/split-shards.engine.test.ts`, "of 40 digits"],
  ["parallel lanes", "lambda-lanes.engine.test.ts", "facts are right behind lanes of %s"],
  ["duplicates of Kinesis", "lambda-lanes.engine.test.ts", '"kinesis"'],
  ["a late dead letter", "scenarios.engine.test.ts", "a dead letter that is replayed after later changes"],
  ["expiry of what transactions count", "../../packages/edgetable/src/schema/check-model/check-facts.test.ts", "which no transaction sees"],
  ["replicated expiry", "scenarios.engine.test.ts", "an expiry that was replicated looks like a deletion"],
  ["an old record of a re-created item", "scenarios.engine.test.ts", "a record from before an item was created again"],
  ["the count of a deleted node", `${streams}/maintain-facts.engine.test.ts`, "write nothing where the node is gone"],
  [
    "the holder of a minimum deleted, a stale index",
    "scenarios.engine.test.ts",
    "the deleted holder of a minimum is not read from an index",
  ],
  ["equal minima", "scenarios.engine.test.ts", "of equal minima one stays"],
  ["a relink from A to B to A in a batch", `${streams}/adopted-facts.engine.test.ts`, "led from A to B to A in one batch"],
  ["0.1 + 0.2", `${streams}/maintain-facts.engine.test.ts`, "follow links, relinks and unlinks"],
  ["a rename that races a link", `${streams}/copies-by-stream.engine.test.ts`, "linked while its source was renamed"],
  ["puts, updates and deletions by older writers", "stream-facts.engine.test.ts", "facts of the stream equal their recomputation"],
  ["a key of the wrong type", "scenarios.engine.test.ts", "a count of the wrong type that an older writer left"],
  ["a stream switched off and on", `${streams}/consumer.engine.test.ts`, "a stream that was switched off and on is a gap"],
  ["a repair beside a writer, from A to B to A", "scenarios.engine.test.ts", "a repair that has read a row before it went and came back"],
  ["a processor's own writes in the stream", "stream-facts.engine.test.ts", "the processors' own writes never end"],
];

test.each(scenarios)("%s is tested", (_, file, name) => {
  expect(readFileSync(new URL(file, import.meta.url), "utf8")).toContain(name);
});
