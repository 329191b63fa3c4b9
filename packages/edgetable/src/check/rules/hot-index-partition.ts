import { mostShards, type FieldPart } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { distinct, nameOf, placesIn, type IndexPlace } from "../index-places.ts";

// "1,000 write units and 3,000 read units a second for one partition key value", bp-partition-key-design.
const limit = "One key value takes 1,000 writes a second, and a throttled index throttles the table's writes";

const ofFewValues =
  /^(?:active|category|class|country|currency|day|deleted|gender|grade|kind|language|level|month|priority|region|role|severity|stage|state|status|type|year)$/i;

const isFew = ({ format, steps }: FieldPart): boolean => {
  if (format.kind === "boolean") return true;
  if (format.kind === "shard") return mostShards(format.sharding) === 1;
  return ofFewValues.test(steps.at(-1) ?? "");
};

const adviceOn = (catalog: Catalog, { index, shape, partition }: IndexPlace): readonly Advice[] => {
  const fields = partition.parts.filter((part) => part.kind === "field");
  const about = { rule: "hotIndexPartition", concern: CONCERNS.batch, definition: shape.definition } as const;
  if (fields.length === 0) {
    const message = `every "${shape.definition}" is in one partition of ${nameOf(index)}: "${index.partitionKey}" is always "${partition.source}". ${limit}.`;
    const mend = [catalog.index.partitionKey, catalog.index.sortKey].includes(index.partitionKey)
      ? "Give the index key attributes of its own, and leave them out of these items."
      : "Leave the index keys out of these items if no read needs them, or spread them by a {id:shard(16)} in the key.";
    return [{ ...about, severity: "warning", message, mend }];
  }
  if (!fields.every(isFew)) return [];
  if (fields.every(({ format }) => format.kind === "shard")) {
    const message = `every "${shape.definition}" is in one partition of ${nameOf(index)}, for its shards are 1. ${limit}.`;
    return [
      {
        ...about,
        severity: "note",
        message,
        mend: "Where it may be written more often, declare shards: 8; a count can be raised later, too.",
      },
    ];
  }
  const message = `"${shape.definition}" has few partitions in ${nameOf(index)}: {${fields.map((field) => field.path).join("}, {")}} takes few values. ${limit}.`;
  return [{ ...about, severity: "note", message, mend: "Add a field of many values to the index's partition key, or a {id:shard(16)}." }];
};

/** Index partitions that are hot by construction: every item of a kind under one key, or under few. */
export const hotIndexPartition: AdviceRule = (catalog) =>
  catalog.indexes.flatMap((index) =>
    distinct(placesIn(catalog, index), ({ shape, partition }) => `${shape.definition} ${partition.source}`).flatMap((place) =>
      adviceOn(catalog, place),
    ),
  );
