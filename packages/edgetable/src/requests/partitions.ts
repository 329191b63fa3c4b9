import { renderPartitions, type Partition, type Template } from "../keys/template.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";

import { defined } from "../util/invariant.ts";
import { rowOf, type Binding } from "./encode-read.ts";
import type { Row } from "../util/row.ts";

const literal = (text: string, like: Template): Template => ({
  ...like,
  source: text,
  parts: [{ kind: "literal", text }],
  fields: [],
  optional: [],
});

const without = (row: Row, path: string): Row => {
  const [field = "", ...rest] = path.split(".");
  const value = row[field];
  if (rest.length === 0 || typeof value !== "object" || value === null) return { ...row, [field]: undefined };
  return { ...row, [field]: without(value as Row, rest.join(".")) };
};

/**
 * The partitions of a step, in their order: one, unless its items are spread over shards. What the plan does
 * not know says nothing: the anchor of an edge stands at both its ends.
 */
export const partitionsOf = (catalog: Catalog, step: QueryStep, binding: Binding): readonly Partition[] => {
  const row = rowOf(catalog, step, binding);
  const known = (step.scatter?.unknown ?? []).reduce((left, path) => without(left, path), row);
  return defined(renderPartitions(step.partition, known), "partition key");
};

/** The step in one of its partitions alone. */
export const inPartition = (step: QueryStep, partition: string): QueryStep => ({ ...step, partition: literal(partition, step.partition) });

/** How many rows each of several partitions is asked for: its share and two deviations more, so that most pages need one round. */
export const shareOf = (rows: number, partitions: number): number => {
  const mean = rows / partitions;
  return partitions === 1 ? rows : Math.ceil(mean + 2 * Math.sqrt(mean)) + 1;
};
