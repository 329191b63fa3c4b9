import type { IndexExpectation, IndexProjection } from "./layout.ts";
import type { ShardCounts } from "./shard-counts.ts";

/** Shards whose number differs by value. */
export interface ShardSettings<Attribute extends string = string> {
  readonly count: ShardCounts;
  /** The id field from which the shard is taken. @default the last field of the key; of an edge, of its source's */
  readonly by?: string;
  /** The attribute by whose value the counts differ. */
  readonly per?: Attribute;
  /** Counts for its values, in place of `count`. */
  readonly hot?: Readonly<Record<string, ShardCounts>>;
}

/** Over how many partitions a kind's items are spread: 1 to 65,536, a list of counts while it grows, or counts that differ by value. */
export type Shards<Attribute extends string = string> = ShardCounts | ShardSettings<Attribute>;

/** What the items of one definition are found by, and how. */
export interface EntrySettings<By extends string = string, Attribute extends string = string> {
  /** An attribute, or the levels of a hierarchy from the widest on; one that is not text says its format: `"age:number"`. */
  readonly by: By | readonly By[];
  /** How many leading levels name the partition and must be given: the others can be left out, or ranged over. @default 0 */
  readonly split?: number;
  /** True when items that lack one of the attributes are left out of the index, instead of being refused. @default false */
  readonly sparse?: boolean;
  readonly shards?: Shards<Attribute>;
  /** The rates that `edgetable check` holds the shards against. */
  readonly expect?: IndexExpectation;
}

/** What a kind is found by in an index: an attribute, the levels of a hierarchy from the widest on, or either with settings. */
export type IndexEntry<By extends string = string, Attribute extends string = string> = By | readonly By[] | EntrySettings<By, Attribute>;

/** One index over several kinds of values: names, dates, places, skills. */
export interface ValueIndex<Entries = Readonly<Record<string, IndexEntry>>> {
  /** What is in the index: a node, part or edge by its name, and what it is found by. */
  readonly entries: Entries;
  /** Over how many partitions the items of each kind are spread: 1,000 writes and 3,000 reads a second each. @default 1 */
  readonly shards?: ShardCounts;
  /** @default "ALL" */
  readonly projection?: IndexProjection;
}

/** An entry with nothing left out. */
export interface FullEntry {
  readonly levels: readonly string[];
  readonly split: number;
  readonly sparse: boolean;
  readonly shards: ShardSettings;
  readonly expect: IndexExpectation | undefined;
}

const settingsOf = (shards: Shards): ShardSettings => (typeof shards === "object" && "count" in shards ? shards : { count: shards });

/** Resolves an entry's short forms. */
export const fullEntry = (index: ValueIndex, entry: IndexEntry): FullEntry => {
  const settings: EntrySettings = typeof entry === "object" && "by" in entry ? entry : { by: entry };
  return {
    levels: typeof settings.by === "string" ? [settings.by] : settings.by,
    split: settings.split ?? 0,
    sparse: settings.sparse ?? false,
    shards: settingsOf(settings.shards ?? index.shards ?? 1),
    expect: settings.expect,
  };
};
