import { renderPartitions, type Partition, type Template } from "../keys/template.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { rowOf, type Binding } from "./encode-read.ts";

const literal = (text: string, like: Template): Template => ({
  ...like,
  source: text,
  parts: [{ kind: "literal", text }],
  fields: [],
  optional: [],
});

/** The partitions of a step, in their order: one, unless its items are spread over shards. */
export const partitionsOf = (catalog: Catalog, step: QueryStep, binding: Binding): readonly Partition[] =>
  defined(renderPartitions(step.partition, rowOf(catalog, step, binding)), "partition key");

/** The step in one of its partitions alone. */
export const inPartition = (step: QueryStep, partition: string): QueryStep => ({ ...step, partition: literal(partition, step.partition) });

/** How many rows each of several partitions is asked for: its share and two deviations more, so that most pages need one round. */
export const shareOf = (rows: number, partitions: number): number => {
  const mean = rows / partitions;
  return partitions === 1 ? rows : Math.ceil(mean + 2 * Math.sqrt(mean)) + 1;
};
