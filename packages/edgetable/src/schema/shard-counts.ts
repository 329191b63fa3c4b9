/** A number of shards, 1 to 65,536, or several while it grows: the first is the writers', readers look in all. */
export type ShardCounts = number | readonly number[];

/** Counts as a list. */
export const countList = (counts: ShardCounts): readonly number[] => (typeof counts === "number" ? [counts] : counts);
