import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const library = "../../packages/edgetable/src";
const handler = `${library}/streams/stream-handler.engine.test.ts`;
const consumer = `${library}/streams/consumer.engine.test.ts`;
const migrations = `${library}/migrate/migrations.engine.test.ts`;

/** What may be wrong with streams, migrations and derived facts: the code or the advice, and the test that expects it. */
const inputs: readonly (readonly [what: string, code: string, file: string, name: string])[] = [
  ["a handler that throws", "dead letter", handler, "are tried again, put aside, listed, replayed and then forgotten"],
  ["a handler that hangs", "execute.timeout", handler, "include handlers that hang: their signal is aborted"],
  ["a handler that returns nothing", "", handler, "a handler that returns nothing, and a record of an item of another model"],
  ["something else than a handler", "plan.invalidOption", handler, "handlers %#"],
  ["a stream that is not enabled", "stream.notEnabled", consumer, "a table without a stream"],
  ["a stream without old images", "stream.images", consumer, "a stream without images"],
  ["a record without old images", "stream.images", handler, "is refused before anything is processed"],
  ["a record of another table", "stream.invalidRecord", handler, "is refused before anything is processed"],
  ["a record of another model", "", handler, "a handler that returns nothing, and a record of an item of another model"],
  ["a checkpoint of a shard that is gone", "stream.gap", `${library}/streams/split-shards.engine.test.ts`, "its position is let go"],
  [
    "records that were trimmed before they were read",
    "stream.gap",
    `${library}/streams/split-shards.engine.test.ts`,
    "a gap ends the consumer if it is asked to",
  ],
  ["another model's migration", "migrate.otherModel", migrations, "another model's unfinished migration is refused until it is undone"],
  ["a key whose attribute is missing", "migrate.missingSource", migrations, "items that cannot have a key are named"],
  ["a copy whose node is gone", "", `${library}/streams/copies-by-stream.engine.test.ts`, "of a node that is gone stay as they were"],
  ["a hot count by transaction", "hotCounter", `${library}/check/check-graph.test.ts`, "one item for very many edges"],
  ["two models that disagree about an index", "plan.indexIncomplete", migrations, "nor by a model that disagrees"],
  [
    "two models that disagree about a name or type",
    "migrate.unsupported",
    `${library}/migrate/former-attributes.engine.test.ts`,
    "an undone conversion is recorded",
  ],
  [
    "a promise that a transaction cannot keep",
    "schema.invalidModel",
    `${library}/schema/check-model/check-facts.test.ts`,
    "a transaction cannot keep",
  ],
  ["a summary that nothing can keep", "schema.invalidModel", `${library}/schema/check-model/check-summaries.test.ts`, "is refused"],
];

const errors = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

test.each(inputs)("%s is tested", (_, code, file, name) => {
  expect(readFileSync(new URL(file, import.meta.url), "utf8")).toContain(name);
  if (code.includes(".")) expect(errors).toContain(`### ${code}`);
});
