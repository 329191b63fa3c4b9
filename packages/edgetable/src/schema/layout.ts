/** A number of shards, 1 to 65,536, or several while it grows: writers use the first, readers query all. */
export type ShardCounts = number | readonly number[];

/** The counts as a list. */
export const countList = (counts: ShardCounts): readonly number[] => (typeof counts === "number" ? [counts] : counts);

/** The attributes of each item that an index contains: all, only the keys, or the keys and the named attributes. */
export type IndexProjection = "ALL" | "KEYS_ONLY" | readonly string[];

/** The expected load of the items that share a value in an index; for predictions and advice. */
export interface IndexExpectation {
  /** Items written a second. */
  readonly writesPerSecond?: number;
  /** Rows read a second. */
  readonly readsPerSecond?: number;
  /** Rows that one search returns. */
  readonly pageRows?: number;
  /** The share of the load on the most frequent value of the partition's levels, above 0 to 1. @default 1 */
  readonly share?: number;
}

/** A global secondary index of the table. */
export interface IndexLayout {
  /**
   * Names of its key attributes, 1 to 255 characters each. A list of two to four names is a key of several attributes: a search gives
   * the value of each attribute of the partition key, and of the sort key the first ones, from left to right.
   */
  readonly partitionKey: string | readonly string[];
  readonly sortKey?: string | readonly string[];
  /** @default "ALL" */
  readonly projection?: IndexProjection;
  readonly expect?: IndexExpectation;
}

/** The stored form of one definition's items. */
export interface ItemLayout {
  /** The value of the type attribute; `false` for items that have none. @default the definition's name */
  readonly type?: string | false;
  /** Stored name by schema attribute, where the two differ. */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * Attributes that are computed from others, as templates: table keys, index keys, sort strings. A
   * field that appears here is read back from here and not stored a second time. `{key}` stands for
   * the node's own key, `{from}` and `{to}` for the keys of an edge's ends, `{owner}` for a part's node.
   */
  readonly keys?: Readonly<Record<string, string>>;
  /**
   * Attributes that hold one field as it is, beside a key that contains the field too: `["username"]`, or by the attribute's name
   * the field's path, `{ FollowedBy: "to.username" }`. The value may contain the delimiter. Keys of indexes that are attributes of
   * the schema need no mention.
   */
  readonly verbatim?: readonly string[] | Readonly<Record<string, string>>;
  /** Delimiters of computed attributes that differ from the layout's. */
  readonly delimiters?: Readonly<Record<string, string>>;
  /**
   * Computed attributes that are left out when a field they need is missing, instead of refusing the write. Where all
   * key attributes of an index are named, they are left out together.
   */
  readonly sparse?: readonly string[];
  /**
   * True to write each of an index's two keys by itself, also where the other one is left out, as OneTable does. @default false:
   * both or none
   */
  readonly halves?: boolean;
  /**
   * When items have an index key: by the attribute of the key, the values that attributes of the schema must have, one or one of
   * a list: `{ GSI1PK: { status: "open" } }`, or `{ GSI1PK: { deletedAt: { exists: false } } }`. While they have others, the item is
   * not in the index. All computed keys of the index are left out together.
   */
  readonly when?: Readonly<Record<string, KeyCondition>>;
  /**
   * What attributes of the schema hold in these items and not in others that may lie under the same keys, where neither keys nor a
   * type attribute tell them apart: `{ number: { beginsWith: "INV-" } }`. An item of other values is not of this kind. A row of other
   * values is refused, and each write is on condition that the item is of its kind.
   */
  readonly match?: Readonly<Record<string, KindCondition>>;
  /**
   * Attributes of the schema that index keys hold and nothing else, filled from the first of several that the row can fill:
   * `{ networkOwner: ["{fork_source.owner}", "{owner}"] }`, or `{ with: "fork_source", value: "FORK#{owner}" }`. Rows are written
   * without them; reads give them, and searches find by them. They are optional in the schema.
   */
  readonly fill?: Readonly<Record<string, readonly FillSource[]>>;
}

/** A text of fixed text and fields, as in a key's template; with `with`, only for rows that have the named attribute. */
export type FillSource = string | { readonly with: string; readonly value: string };

/** What an attribute holds in the items of one kind: a value, one of a list, a text with a fixed beginning, anything or nothing. */
export type KindCondition =
  | KeyConditionValue
  | readonly KeyConditionValue[]
  | { readonly beginsWith: string }
  | { readonly exists: boolean };

/** What attributes hold while an item has a key: a value, one of a list, anything or nothing. */
export type KeyCondition = Readonly<Record<string, KeyConditionValue | readonly KeyConditionValue[] | { readonly exists: boolean }>>;
type KeyConditionValue = string | number | bigint | boolean;

/** The stored form of one edge type's items. */
export interface EdgeLayout extends ItemLayout {
  /** The copy in the target's partition, for an edge that is symmetric or stored twice. */
  readonly mirror?: ItemLayout;
}

/** A number of shards that depends on the value of another attribute. */
export interface ShardingLayout {
  readonly count: ShardCounts;
  /** The attribute whose value decides over the count. */
  readonly per?: string;
  /** Counts for its values, in place of `count`. */
  readonly hot?: Readonly<Record<string, ShardCounts>>;
}

/** The physical side of a model: attribute names, delimiters, keys of items, indexes. */
export interface Layout {
  /** Names of the table's key attributes, 1 to 255 characters each. Without a sort key, every item has its own partition. */
  readonly partitionKey: string;
  readonly sortKey?: string;
  /**
   * Types of computed attributes: text (`S`) or a number (`N`), such as the numeric sort key of an index. The
   * template of a number is one field alone: `{priority:number}`. The type attribute may be a set of texts (`SS`), which holds the
   * one type.
   * @default "S" for each
   */
  readonly types?: Readonly<Record<string, "S" | "N" | "SS">>;
  /** The attribute that distinguishes item types; without it, the key templates do. */
  readonly typeAttribute?: string;
  /** The character between the parts of a key: not a letter, digit or brace. @default "#" */
  readonly delimiter?: string;
  /**
   * True when two kinds of items may have keys of one form: because ids are unique across all node types, or because the type
   * attribute tells the kinds apart. Kinds that `match` tells apart need no mention. Each write of such a kind is then on condition that the item is of it. @default false
   */
  readonly sharedIds?: boolean;
  readonly indexes?: Readonly<Record<string, IndexLayout>>;
  /** Shardings that key templates name: `{orderId:shard(hotStatus)}`. A plain `shard(16)` needs none. */
  readonly shards?: Readonly<Record<string, ShardingLayout>>;
  readonly nodes?: Readonly<Record<string, ItemLayout>>;
  readonly edges?: Readonly<Record<string, EdgeLayout>>;
  readonly parts?: Readonly<Record<string, ItemLayout>>;
}

/** The type of a key attribute. */
export const keyType = ({ types = {} }: Pick<Layout, "types">, attribute: string): "S" | "N" => (types[attribute] === "N" ? "N" : "S");

/** A number of shards that depends on a value. */
export interface ShardSettings<Attribute extends string = string> {
  readonly count: ShardCounts;
  /** The id field that the shard is taken from. @default the last field of the key; for an edge, of its source's key */
  readonly by?: string;
  /** The attribute whose value decides over the count. */
  readonly per?: Attribute;
  /** Counts for its values, in place of `count`. */
  readonly hot?: Readonly<Record<string, ShardCounts>>;
}

/** Over how many partitions a kind's items are spread: 1 to 65,536, a list of counts while it grows, or counts that differ by value. */
export type Shards<Attribute extends string = string> = ShardCounts | ShardSettings<Attribute>;

/** How an index finds the items of one definition. */
export interface EntrySettings<By extends string = string, Attribute extends string = string> {
  /** An attribute, or the levels of a hierarchy from the widest on. Add the format of an attribute that is not text: `"age:number"`. */
  readonly by: By | readonly By[];
  /** The number of leading levels that make the partition key and must be given. Others can be omitted, or ranged over. @default 0 */
  readonly split?: number;
  /** True to leave items without one of the attributes out of the index, instead of refusing them. @default false */
  readonly sparse?: boolean;
  readonly shards?: Shards<Attribute>;
  /** The rates that `edgetable check` compares with the shards. */
  readonly expect?: IndexExpectation;
}

/** How an index finds one definition: by an attribute, by the levels of a hierarchy from the widest on, or by either with settings. */
export type IndexEntry<By extends string = string, Attribute extends string = string> = By | readonly By[] | EntrySettings<By, Attribute>;

/** One index over several kinds of values: names, dates, places, skills. */
export interface ValueIndex<Entries = Readonly<Record<string, IndexEntry>>> {
  /** The nodes, parts and edges in the index, by name, with the attributes that find them. */
  readonly entries: Entries;
  /** The number of partitions for the items of each definition: 1,000 writes and 3,000 reads a second each. @default 1 */
  readonly shards?: ShardCounts;
  /** @default "ALL" */
  readonly projection?: IndexProjection;
}

/** An entry with all defaults filled in. */
export interface FullEntry {
  readonly levels: readonly string[];
  readonly split: number;
  readonly sparse: boolean;
  readonly shards: ShardSettings;
  readonly expect: IndexExpectation | undefined;
}

/** Resolves an entry's short forms. */
export const fullEntry = (index: ValueIndex, entry: IndexEntry): FullEntry => {
  const settings: EntrySettings = typeof entry === "object" && "by" in entry ? entry : { by: entry };
  const shards = settings.shards ?? index.shards ?? 1;
  return {
    levels: typeof settings.by === "string" ? [settings.by] : settings.by,
    split: settings.split ?? 0,
    sparse: settings.sparse ?? false,
    shards: typeof shards === "object" && "count" in shards ? shards : { count: shards },
    expect: settings.expect,
  };
};
