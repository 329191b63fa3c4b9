import { growthOf, renderPartitions, type Template } from "../../keys/template.ts";
import type { Catalog, Index, Shape } from "../../schema/catalog.ts";

/** A part of an index in which items may lie that writers would put elsewhere now. */
export interface OldPlace {
  readonly index: Index;
  readonly shapes: readonly Shape[];
  /** One partition key, or undefined where they cannot be listed: then the index is scanned. */
  readonly partition: string | undefined;
}

// The greatest of the counts beside the writers': at and above it no item is old.
const oldCount = (template: Template): number => {
  let most = 0;
  for (const part of template.parts) {
    if (part.kind !== "field" || part.format.kind !== "shard") continue;
    const { counts, hot = {} } = part.format.sharding;
    for (const [, ...old] of [counts, ...Object.values(hot)]) most = Math.max(most, ...old);
  }
  return most;
};

const partitionsOf = (template: Template): readonly (string | undefined)[] => {
  const partitions = renderPartitions(template, {});
  if (!partitions) return [undefined];
  const old = oldCount(template);
  return partitions.filter(({ shard }) => shard < old).map(({ text }) => text);
};

const isTableKey = ({ index }: Catalog, attribute: string): boolean => attribute === index.partitionKey || attribute === index.sortKey;

const placesIn = (catalog: Catalog, index: Index): readonly OldPlace[] => {
  if (isTableKey(catalog, index.partitionKey)) return [];
  const places = new Map<string | undefined, Shape[]>();
  for (const shape of catalog.shapes) {
    const template = shape.keys[index.partitionKey];
    if (!template || !growthOf(template)) continue;
    for (const partition of partitionsOf(template)) places.set(partition, [...(places.get(partition) ?? []), shape]);
  }
  return [...places].map(([partition, shapes]) => ({ index, shapes, partition }));
};

/** Where items may have to be moved, in an order that follows from the model alone; of one index, or of all. */
export const oldPlaces = (catalog: Catalog, index: string | undefined): readonly OldPlace[] =>
  catalog.indexes.filter(({ name }) => index === undefined || name === index).flatMap((one) => placesIn(catalog, one));

/** How a resharding is done. */
export interface ReshardSettings {
  readonly index: string | undefined;
  /** Items moved in a second, at most. */
  readonly rate: number;
  readonly job: string;
  /** Milliseconds for which the job's lease holds. */
  readonly lease: number;
  /** Milliseconds after which the index is taken to show what was moved. */
  readonly indexLag: number;
  readonly signal: AbortSignal | undefined;
  /** Time after which nothing more is begun. */
  readonly deadline: number;
  readonly onProgress: ((progress: ReshardProgress) => void) | undefined;
}

/** How far a resharding has come. */
export interface ReshardProgress {
  /** Items moved, by every run of the job. */
  readonly moved: number;
  /** Items looked at. */
  readonly seen: number;
  /** Parts of the indexes that this pass is through with, and all of them. */
  readonly partitions: { readonly done: number; readonly all: number };
  /** Passes begun. The last one finds nothing to move. */
  readonly passes: number;
}
