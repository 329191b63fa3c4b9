// Which methods may follow which in a call that a person types: the server takes no others, the page completes them.

/** What a chain of calls has come to. */
export type ChainState =
  | "db"
  | "nodeType"
  | "edgeType"
  | "partType"
  | "level"
  | "node"
  | "neighbours"
  | "walk"
  | "search"
  | "parts"
  | "read"
  | "write";

/** What the first argument of a method names. */
export type ChainArgument = "id" | "edge" | "kind" | "index" | "part" | "attribute" | "filter" | "nodeFilter" | "row" | "hop" | "options";

/** A method, and what the chain is after it. */
export interface ChainMethod {
  readonly gives: ChainState;
  readonly takes?: ChainArgument;
  readonly says: string;
}

type Methods = Readonly<Record<string, ChainMethod>>;

const method = (gives: ChainState, says: string, takes?: ChainArgument): ChainMethod => ({ gives, says, ...(takes ? { takes } : {}) });

const hops: Methods = {
  out: method("walk", "on along the edges that leave", "edge"),
  in: method("walk", "on along the edges that arrive", "edge"),
  both: method("walk", "on in either direction", "edge"),
};

const writesOf = (gives: "write"): Methods => ({
  create: method(gives, "writes a new one", "row"),
  put: method(gives, "writes it, whatever was there", "row"),
  update: method(gives, "changes attributes", "id"),
  upsert: method(gives, "creates it, or changes the existing one", "row"),
  delete: method(gives, "deletes it", "id"),
});

/** The methods after each state. Those that give `write` are sent only with `--write`. */
export const chainMethods: Readonly<Record<ChainState, Methods>> = {
  db: { find: method("search", "finds by values, in an index", "kind") },
  nodeType: {
    get: method("read", "one node", "id"),
    by: method("read", "one node, by a unique attribute", "filter"),
    getMany: method("read", "several nodes", "id"),
    within: method("level", "all nodes below a level of the key", "id"),
    ...writesOf("write"),
  },
  edgeType: {
    get: method("read", "one edge, by its ends", "id"),
    getMany: method("read", "edges from one node to several", "id"),
    link: method("write", "writes a new edge", "id"),
    put: method("write", "writes an edge, whatever was there", "id"),
    relink: method("write", "changes attributes of an edge", "id"),
    upsert: method("write", "links, or changes the existing edge", "id"),
    unlink: method("write", "removes an edge", "id"),
  },
  partType: {
    get: method("read", "one part of a node", "id"),
    getMany: method("read", "several parts of a node", "id"),
    ...writesOf("write"),
  },
  level: {
    out: method("neighbours", "along the edges that leave", "edge"),
    in: method("neighbours", "along the edges that arrive", "edge"),
  },
  node: {
    get: method("read", "the node", "options"),
    out: method("neighbours", "along the edges that leave", "edge"),
    in: method("neighbours", "along the edges that arrive", "edge"),
    both: method("neighbours", "along the edges in either direction", "edge"),
    collection: method("read", "the node, its parts and edges", "options"),
    incoming: method("read", "the node and its incoming edges", "options"),
    parts: method("parts", "its parts of a kind", "part"),
    has: method("read", "whether an edge leads to a node", "edge"),
    walk: method("walk", "a walk that has followed no edge yet"),
    neighbourhood: method("walk", "all nodes within some hops", "hop"),
    dependencies: method("walk", "all nodes that an edge leads to, at any depth", "edge"),
    dependents: method("walk", "all nodes from which an edge leads here", "edge"),
    subtree: method("read", "everything below, level by level", "hop"),
    common: method("read", "neighbours in common with others", "hop"),
    suggest: method("read", "neighbours' neighbours", "hop"),
    shortestPath: method("read", "one of the shortest paths", "id"),
    shortestPaths: method("read", "all of the shortest paths", "id"),
    allPaths: method("read", "all paths", "id"),
    cycle: method("read", "a shortest cycle", "hop"),
  },
  neighbours: {
    nodes: method("read", "the neighbours", "options"),
    entries: method("read", "each edge with its neighbour", "options"),
    edges: method("read", "the edges"),
    ids: method("read", "the neighbours’ ids"),
    page: method("read", "a page of edges", "options"),
    count: method("read", "how many edges there are", "options"),
    first: method("read", "the first edge"),
    range: method("read", "edges from a position on"),
    where: method("neighbours", "keeps edges", "filter"),
    reverse: method("neighbours", "in the opposite order"),
    limit: method("neighbours", "at most so many"),
    unordered: method("neighbours", "in any order"),
    using: method("neighbours", "from an index", "index"),
    select: method("neighbours", "only some attributes", "attribute"),
    consistent: method("neighbours", "strongly consistent"),
    ...hops,
    walk: method("walk", "these neighbours as a walk of one hop"),
    feed: method("read", "their newest edges, merged", "hop"),
  },
  walk: {
    nodes: method("read", "the nodes, each once", "options"),
    ids: method("read", "their ids", "options"),
    count: method("read", "the number of paths", "options"),
    groupCount: method("read", "each node with its number of paths", "options"),
    top: method("read", "the nodes with most paths"),
    sum: method("read", "an attribute summed along the paths", "attribute"),
    min: method("read", "the least value along the paths", "attribute"),
    max: method("read", "the greatest value along the paths", "attribute"),
    rank: method("read", "the nodes by their own edges", "hop"),
    aggregate: method("read", "the nodes’ attributes, folded", "options"),
    groupBy: method("read", "the same for each value", "attribute"),
    levels: method("read", "what each round found", "options"),
    paths: method("read", "the paths to each node", "options"),
    feed: method("read", "their newest edges, merged", "hop"),
    ...hops,
    repeat: method("walk", "follows an edge several times", "hop"),
    where: method("walk", "keeps edges of the last hop", "filter"),
    whereNode: method("walk", "keeps nodes", "nodeFilter"),
    dedupe: method("walk", "each node once"),
    except: method("walk", "leaves nodes out"),
    among: method("walk", "keeps only these nodes"),
  },
  search: {
    rows: method("read", "the rows"),
    page: method("read", "a page of rows", "options"),
    count: method("read", "how many there are"),
    first: method("read", "the first row"),
    sum: method("read", "an attribute, summed", "attribute"),
    sources: method("read", "the nodes at which the edges start"),
    targets: method("read", "the nodes to which the edges lead"),
    entries: method("read", "each edge with the node at one end"),
    where: method("search", "keeps rows", "filter"),
    reverse: method("search", "in the opposite order"),
    limit: method("search", "at most so many"),
    using: method("search", "from an index", "index"),
    select: method("search", "only some attributes", "attribute"),
    ...hops,
    walk: method("walk", "these rows as the start of a walk"),
  },
  parts: {
    all: method("read", "the parts"),
    page: method("read", "a page of parts", "options"),
    first: method("read", "the first part"),
    count: method("read", "how many there are", "options"),
    where: method("parts", "keeps parts", "filter"),
    reverse: method("parts", "in the opposite order"),
    limit: method("parts", "at most so many"),
    select: method("parts", "only some attributes", "attribute"),
    consistent: method("parts", "strongly consistent"),
  },
  read: {},
  write: {},
};
