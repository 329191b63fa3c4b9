import type { Layout } from "edgetable";
import { adopted } from "../oracle/model.ts";

/** How many shards an index has: the first count is the writers', readers look in all. */
export type Counts = readonly number[];

/**
 * The adopted layout with the edges that lead to a node spread over shards, and those that leave a person in
 * their order too: whoever goes along an edge asks several partitions.
 */
export const shardedLayout = (counts: Counts): Layout => {
  const spread = `shard(${counts.join("|")})`;
  const into = `{to}#{from.personId:${spread}}`;
  const outOf = `{from}#{to.personId:${spread}}`;
  const { follows, likes, worksOn } = adopted.edges as Record<string, { readonly keys: Readonly<Record<string, string>> }>;
  return {
    ...adopted,
    edges: {
      ...adopted.edges,
      follows: { ...follows, keys: { ...follows!.keys, "GSI1-PK": into, "GSI2-PK": outOf } },
      likes: { ...likes, keys: { ...likes!.keys, "GSI1-PK": into } },
      worksOn: { ...worksOn, keys: { ...worksOn!.keys, "GSI1-PK": into } },
    },
  };
};
