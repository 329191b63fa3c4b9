import { counts, type EdgeCommand, type EdgeName, type NodeType } from "./commands.ts";

type Row = Readonly<Record<string, unknown>>;

interface EdgeType {
  readonly from: NodeType;
  readonly to: NodeType;
  /** The attribute that histories write. */
  readonly attribute: string;
  readonly numeric: boolean;
  readonly ordered: boolean;
}

export const edgeTypes: Readonly<Record<EdgeName, EdgeType>> = {
  follows: { from: "person", to: "person", attribute: "since", numeric: false, ordered: true },
  friend: { from: "person", to: "person", attribute: "note", numeric: false, ordered: false },
  likes: { from: "person", to: "post", attribute: "rank", numeric: true, ordered: true },
  worksOn: { from: "person", to: "post", attribute: "hours", numeric: true, ordered: false },
  tagged: { from: "post", to: "tag", attribute: "by", numeric: false, ordered: false },
  pins: { from: "person", to: "post", attribute: "at", numeric: false, ordered: false },
};

/** The attribute of each node type that histories write. */
export const nodeAttribute: Readonly<Record<NodeType, string>> = { person: "name", post: "title", tag: "name" };

const letters: Readonly<Record<NodeType, string>> = { person: "p", post: "q", tag: "t" };

export const nodeId = (type: NodeType, at: number): string => `${letters[type]}${at % counts[type]}`;
export const idRow = (type: NodeType, id: string): Row => ({ [`${type}Id`]: id });
export const nodeObject = (type: string, id: string): string => `${type}:${id}`;

/** The id of an edge's end as calls take it. */
export const endRow = (edge: EdgeName, type: NodeType, id: string): Row =>
  edge === "likes" ? { type, ...idRow(type, id) } : idRow(type, id);

export interface EdgePlace {
  readonly edge: EdgeName;
  readonly from: string;
  readonly to: string;
  readonly role: string;
}

/** The register of an edge; a symmetric edge is one, seen from either end. */
export const edgeObject = ({ edge, from, to, role }: EdgePlace): string => {
  const [first, second] = edge === "friend" ? [from, to].toSorted() : [from, to];
  return `${edge}:${String(first)}>${String(second)}${edge === "worksOn" ? `/${role}` : ""}`;
};

export const placeOf = ({ edge, from, to, role }: Omit<EdgeCommand, "kind">): EdgePlace => {
  const type = edgeTypes[edge];
  return { edge, from: nodeId(type.from, from), to: nodeId(type.to, to), role: edge === "worksOn" ? role : "" };
};

/** Every edge that a node may have. */
export const placesAt = (edge: EdgeName, direction: "out" | "in", id: string): readonly EdgePlace[] => {
  const type = edgeTypes[edge];
  const near = direction === "out" ? "from" : "to";
  const far = direction === "out" ? "to" : "from";
  const others = Array.from({ length: counts[type[far]] }, (_, at) => nodeId(type[far], at));
  const roles = edge === "worksOn" ? ["x", "y"] : [""];
  return others.flatMap((other) => roles.map((role) => ({ edge, role, [near]: id, [far]: other }) as unknown as EdgePlace));
};

const endId = (row: unknown, type: NodeType): string => String((row as Row)[`${type}Id`]);

/** The register of an edge as it was read, and what it holds. */
export const readEdge = (edge: EdgeName, row: Row): { readonly object: string; readonly value: string } => {
  const type = edgeTypes[edge];
  const place = { edge, from: endId(row["from"], type.from), to: endId(row["to"], type.to), role: String(row["role"]) };
  return { object: edgeObject(place), value: String(row[type.attribute]) };
};
