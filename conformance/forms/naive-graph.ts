import { compareValues } from "../oracle/naive-graph.ts";
import { edgeTypes, idFields, type EdgeName, type NodeType, type Row } from "./vocabulary.ts";

/** A node, by its type and id. */
export interface End {
  readonly type: NodeType;
  readonly id: Row;
}
export interface NaiveNode extends End {
  readonly row: Row;
}
export interface NaiveEdge {
  readonly edge: EdgeName;
  readonly from: End;
  readonly to: End;
  /** Those of its key among them. */
  readonly attributes: Row;
}

const idOf = (type: NodeType, row: Row): Row => Object.fromEntries(idFields[type].map((field) => [field, row[field]]));

/** What tells a node from every other, in the order of keys. */
export const identity = ({ type, id }: End): readonly unknown[] => [type, ...idFields[type].map((field) => id[field])];

export const nameOf = (end: End): string => JSON.stringify(identity(end));
export const same = (a: End, b: End): boolean => nameOf(a) === nameOf(b);

export const compareLists = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (const [at, value] of a.entries()) {
    const order = compareValues(value, b[at]);
    if (order !== 0) return order;
  }
  return 0;
};

const keyOf = ({ edge, attributes }: NaiveEdge): readonly unknown[] => (edgeTypes[edge].key ?? []).map((field) => attributes[field]);

/** What tells an edge from every other of its type. */
export const edgeIdentity = (one: NaiveEdge): readonly unknown[] => [...identity(one.from), ...identity(one.to), ...keyOf(one)];

const turned = (one: NaiveEdge): NaiveEdge => ({ ...one, from: one.to, to: one.from });

const isSame = (a: NaiveEdge, b: NaiveEdge): boolean => {
  if (a.edge !== b.edge) return false;
  const equal = (one: NaiveEdge): boolean => compareLists(edgeIdentity(one), edgeIdentity(b)) === 0;
  return equal(a) || (edgeTypes[a.edge].symmetric === true && equal(turned(a)));
};

const referenceOf = (edge: EdgeName, { type, id, row }: NaiveNode): readonly NaiveEdge[] => {
  const { by, from, to, attributes } = edgeTypes[edge];
  const [target] = to;
  if (!by || !from.includes(type) || !target || Object.values(by).some((field) => row[field] === undefined)) return [];
  const far = Object.fromEntries(Object.entries(by).map(([field, held]) => [field, row[held]]));
  const own = Object.fromEntries(attributes.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]])));
  return [{ edge, from: { type, id }, to: { type: target, id: far }, attributes: own }];
};

/** The slow, obvious reference: a graph in plain arrays, of which every answer takes a look at everything. */
export class NaiveGraph {
  nodes: readonly NaiveNode[] = [];
  #stored: readonly NaiveEdge[] = [];

  node(end: End): NaiveNode | undefined {
    return this.nodes.find((one) => same(one, end));
  }

  putNode(type: NodeType, row: Row): void {
    const node = { type, id: idOf(type, row), row };
    this.nodes = [...this.nodes.filter((one) => !same(one, node)), node];
  }

  /** Removes a node with the edges that go along; false where there is none, or an edge keeps it. */
  deleteNode(end: End): boolean {
    if (!this.node(end)) return false;
    const stands = (one: NaiveEdge, at: "from" | "to"): boolean => same(one[at], end);
    if (this.#stored.some((one) => edgeTypes[one.edge].keeps === "to" && stands(one, "to"))) return false;
    this.nodes = this.nodes.filter((one) => !same(one, end));
    this.#stored = this.#stored.filter((one) => !edgeTypes[one.edge].takes?.some((at) => stands(one, at)));
    return true;
  }

  /** All edges of a type; a node's reference is one. */
  edges(edge: EdgeName): readonly NaiveEdge[] {
    return edgeTypes[edge].by ? this.nodes.flatMap((node) => referenceOf(edge, node)) : this.#stored.filter((one) => one.edge === edge);
  }

  edge(wanted: NaiveEdge): NaiveEdge | undefined {
    return this.edges(wanted.edge).find((one) => isSame(one, wanted));
  }

  putEdge(edge: NaiveEdge): void {
    this.#stored = [...this.#stored.filter((one) => !isSame(one, edge)), edge];
  }

  deleteEdge(edge: NaiveEdge): void {
    this.#stored = this.#stored.filter((one) => !isSame(one, edge));
  }

  /** An edge as each search meets it: of a symmetric one, once in each direction. */
  everyWay(edge: EdgeName): readonly NaiveEdge[] {
    const all = this.edges(edge);
    if (!edgeTypes[edge].symmetric) return all;
    return all.flatMap((one) => (same(one.from, one.to) ? [one] : [one, turned(one)]));
  }

  /** Edges at a node in one direction, in order: by the declared attribute, then by the far end and the edge's key. */
  neighbours(at: End, hop: { readonly edge: EdgeName; readonly direction: "out" | "in"; readonly ordered: boolean }): readonly NaiveEdge[] {
    const { symmetric, orderBy } = edgeTypes[hop.edge];
    const [near, far] = symmetric || hop.direction === "out" ? (["from", "to"] as const) : (["to", "from"] as const);
    const place = (one: NaiveEdge): readonly unknown[] => {
      const end = [...identity(one[far]), ...keyOf(one)];
      return hop.ordered && orderBy !== undefined ? [one.attributes[orderBy], ...end] : end;
    };
    return this.everyWay(hop.edge)
      .filter((one) => same(one[near], at))
      .toSorted((a, b) => compareLists(place(a), place(b)));
  }
}
