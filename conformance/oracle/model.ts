import { count, defineGraph, edge, node, part, sum, type ConnectOptions, type EdgeLayout, type Graph, type Layout } from "edgetable";
import { z } from "zod";
import { ANY_VALUE } from "../hostile/names.ts";

const person = node({
  key: "PERSON#{personId}",
  schema: z.object({ personId: z.string(), name: z.string(), handle: z.string().optional(), age: z.number().optional() }),
  unique: ["handle"],
});
const post = node({ key: "POST#{postId}", schema: z.object({ postId: z.string(), authorId: z.string().optional(), title: z.string() }) });
const tag = node({ key: "TAG#{tagId}", schema: z.object({ tagId: z.string(), name: z.string() }) });

const nodes = { person, post, tag };

const edges = {
  /** Ordered, stored once. */
  follows: edge({ from: "person", to: "person", schema: z.object({ since: z.string(), weight: z.number().optional() }), orderBy: "since" }),
  /** Symmetric. */
  friend: edge({ from: "person", to: "person", schema: z.object({ note: z.string().optional() }), symmetric: true }),
  /** Several node types at one end, ordered by a number. */
  likes: edge({ from: "person", to: ["post", "tag"], schema: z.object({ rank: z.number() }), orderBy: "rank:number" }),
  /** Parallel edges by role, unordered. */
  worksOn: edge({ from: "person", to: "post", schema: z.object({ role: z.string(), hours: z.number().optional() }), key: ["role"] }),
  /** Stored in both partitions. */
  tagged: edge({ from: "post", to: "tag", schema: z.object({ by: z.string().optional() }), stored: "twice" }),
  /** At most two for each source, counted by a guard. */
  pins: edge({ from: "person", to: "post", schema: z.object({ at: z.string().optional() }), maxDegree: { from: 2 } }),
};

const parts = {
  comment: part({ of: "post", key: "COMMENT#{line:4}", schema: z.object({ line: z.int(), text: z.string() }) }),
};

export type Social = Graph<typeof nodes, typeof edges, typeof parts>;

const any = z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.date()]);
const realm = z.string();

const wildEdges = {
  ...edges,
  /** Several node types at both ends. */
  knows: edge({ from: ["person", "tag"], to: ["person", "tag"], schema: z.object({ how: z.string().optional() }) }),
  /** Told by attributes of its source. */
  writtenBy: edge({ from: "post", to: "person", stored: "reference", by: { realm: "authorRealm", personId: "authorId" } }),
};

const counting = {
  person: {
    following: count({ out: "follows" }),
    followers: count({ in: "follows" }),
    recent: count({ out: "follows", where: { weight: { gte: 0 } } }),
    friends: count({ out: "friend" }),
    liked: count({ out: "likes" }),
    works: count({ out: "worksOn" }),
    weights: sum({ out: "follows", of: "weight" }),
    weighed: sum({ in: "follows", of: "weight" }),
    hoursWorked: sum({ out: "worksOn", of: "hours" }),
    worked: count({ out: "worksOn", where: { hours: { gte: 0 } } }),
  },
  post: {
    likers: count({ in: "likes" }),
    ranks: sum({ in: "likes", of: "rank" }),
    workers: count({ in: "worksOn" }),
    hours: sum({ in: "worksOn", of: "hours" }),
    tags: count({ out: "tagged" }),
  },
  // The likes of a tag are not kept: where likes lead to posts and tags, the former are taken and the latter counted.
  tag: { tagged: count({ in: "tagged" }) },
};

/** The attributes by which nodes keep the numbers of their edges. */
export const countedNames: readonly string[] = Object.values(counting).flatMap(Object.keys);

/** The edges of nodes that count them go with their nodes. */
const countedEdges = Object.fromEntries(
  Object.entries(edges).map(([name, one]) => [name, { ...one, onDelete: { from: "cascade", to: "cascade" } } as const]),
);

/**
 * The graph of the oracle with ids of two fields, of which the second takes values of any type where the layout can tell
 * them apart.
 *
 * @param keeps whether nodes keep the numbers of their edges; then no edge leads to a node that is not there, and none is a
 * reference
 * @param partTags whether tags are parts of realms, which have no items: for {@link withTagsAsNodes}
 */
export const wild = (
  table: string,
  layout?: Layout,
  keeps = false,
  partTags = false,
): { connect(options: ConnectOptions): { readonly table: { create(): PromiseLike<unknown> } } } => {
  const format = layout ? "" : `:${ANY_VALUE}`;
  const value = layout ? z.string() : any;
  const realmOf = node({ key: "REALM#{realm}", schema: z.object({ realm }), stored: false });
  const tagOf = part({ of: "realm", key: `TAG#{tagId${format}}`, schema: z.object({ tagId: value, name: z.string() }) });
  return defineGraph({
    table,
    nodes: {
      person: node({
        key: `PERSON#{realm}#{personId${format}}`,
        schema: z.object({ realm, personId: value, name: z.string(), handle: z.string().optional(), age: z.number().optional() }),
        unique: ["handle"],
        ...(keeps && { derived: counting.person }),
      }),
      post: node({
        ...(keeps && { derived: counting.post }),
        key: `POST#{realm}#{postId${format}}`,
        schema: z.object({ realm, postId: value, title: z.string(), authorRealm: realm.optional(), authorId: value.optional() }),
      }),
      ...(partTags
        ? { realm: realmOf }
        : {
            tag: node({
              key: `TAG#{realm}#{tagId${format}}`,
              schema: z.object({ realm, tagId: value, name: z.string() }),
              ...(keeps && { derived: counting.tag }),
            }),
          }),
    },
    edges: keeps ? countedEdges : wildEdges,
    parts: partTags ? { ...parts, tag: tagOf } : parts,
    ...(layout ? { layout } : {}),
  } as never);
};

type Row = Readonly<Record<string, unknown>>;
type PartCall = (owner: Row, own: unknown) => unknown;

/** A connection to a graph whose tags are parts of realms: they are written, read and loaded as if they were nodes. */
export const withTagsAsNodes = <Db>(db: Db): Db => {
  const { tag, load, ...rest } = db as Readonly<Record<string, PartCall>> & {
    readonly tag: ((id: Row) => unknown) & Readonly<Record<string, PartCall>>;
    readonly load: (rows: readonly Row[], options: unknown) => unknown;
  };
  const call =
    (name: string) =>
    ({ realm: named, ...own }: Row): unknown =>
      tag[name]?.({ realm: named }, own);
  const calls = Object.fromEntries(["create", "put", "delete"].map((name) => [name, call(name)]));
  const getMany = (ids: readonly Row[]): unknown =>
    tag["getMany"]?.(
      { realm: ids[0]?.["realm"] },
      ids.map((id) => {
        const { realm: _realm, ...own } = id;
        return own;
      }),
    );
  const loadAll = (rows: readonly Row[], options: unknown): unknown =>
    load(
      rows.map((row) => {
        if (row["node"] !== "tag") return row;
        const { realm: named, ...own } = row["row"] as Row;
        return { part: "tag", owner: { realm: named }, row: own };
      }),
      options,
    );
  return { ...rest, tag: Object.assign((id: Row) => tag(id), calls, { getMany }), load: loadAll } as Db;
};

/** The graph of the oracle, in Edgetable's own layout or in an adopted one. */
export const social = (table: string, layout?: Layout): Social =>
  defineGraph({ table, nodes, edges, parts, ...(layout ? { layout } : {}) });

/** The same graph in a layout of another hand: other names, another delimiter, no type attribute. */
export const adopted: Layout = {
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { byTarget: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" }, bySource: { partitionKey: "GSI2-PK", sortKey: "GSI2-SK" } },
  nodes: { person: { keys: { SK: "META" } }, post: { keys: { SK: "META" } }, tag: { keys: { SK: "META" } } },
  edges: {
    follows: {
      keys: {
        SK: "FOLLOWS#{to}",
        "GSI1-PK": "{to}",
        "GSI1-SK": "FOLLOWS#{since}#{from}",
        "GSI2-PK": "{from}",
        "GSI2-SK": "FOLLOWS#{since}#{to}",
      },
    },
    friend: { keys: { SK: "FRIEND#{to}" } },
    likes: {
      keys: {
        SK: "LIKES#{to}",
        "GSI1-PK": "{to}",
        "GSI1-SK": "LIKES#{rank:number}#{from}",
        "GSI2-PK": "{from}",
        "GSI2-SK": "LIKES#{rank:number}#{to}",
      },
    },
    worksOn: { keys: { SK: "WORKS#{to}#{role}", "GSI1-PK": "{to}", "GSI1-SK": "WORKS#{from}#{role}" } },
    tagged: { keys: { SK: "TAGGED#{to}" }, mirror: { keys: { SK: "TAGS#{from}" } } },
    pins: { keys: { SK: "PINS#{to}", "GSI1-PK": "{to}", "GSI1-SK": "PINS#{from}" } },
  },
  parts: { comment: { keys: { SK: "COMMENT#{line:4}" } } },
};

const adoptedEdges = adopted.edges as Readonly<Record<string, EdgeLayout>>;

/** The adopted layout with attributes of other names, indexes that hold a part of each item, and more edges. */
export const wildAdopted: Layout = {
  ...adopted,
  indexes: {
    byTarget: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK", projection: ["Weight", "toString", "how", "at"] },
    bySource: { partitionKey: "GSI2-PK", sortKey: "GSI2-SK", projection: ["Weight"] },
  },
  nodes: {
    person: { keys: { SK: "META" }, attributes: { name: "constructor", handle: "Nick", age: "Years" } },
    post: {
      keys: { SK: "META", "GSI1-PK": "PERSON#{authorRealm}#{authorId}", "GSI1-SK": "WROTE#{key}" },
      attributes: { title: "name" },
      sparse: ["GSI1-PK", "GSI1-SK"],
    },
    tag: { keys: { SK: "META" }, attributes: { name: "title" } },
  },
  edges: {
    ...adopted.edges,
    follows: { ...adoptedEdges["follows"], attributes: { weight: "Weight" } },
    friend: { ...adoptedEdges["friend"], attributes: { note: "Remark" } },
    worksOn: { ...adoptedEdges["worksOn"], attributes: { hours: "toString" } },
    tagged: { keys: { SK: "TAGGED#{to}" }, attributes: { by: "By" }, mirror: { keys: { SK: "TAGS#{from}" }, attributes: { by: "By" } } },
    pins: { ...adoptedEdges["pins"], attributes: { at: "how" } },
    knows: { keys: { SK: "KNOWS#{to}", "GSI1-PK": "{to}", "GSI1-SK": "KNOWS#{from}" }, attributes: { how: "at" } },
  },
};
