import { compareLists } from "./condition.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A node by its type and id: a text, or the id's fields in their declared order. */
export interface NaiveEnd {
  readonly type: string;
  readonly id: string | Row;
}

export interface NaiveNode extends NaiveEnd {
  readonly row: Row;
}

export interface NaiveEdge {
  readonly edge: string;
  readonly from: NaiveEnd;
  readonly to: NaiveEnd;
  /** Its attributes, among them those that tell parallel edges apart. */
  readonly attributes: Row;
}

/** What the reference has to know of an edge type. */
export interface NaiveEdgeType {
  readonly orderBy?: string;
  readonly symmetric?: boolean;
  /** The attributes that tell parallel edges apart. */
  readonly key?: readonly string[];
  /** For a reference edge: its ends, and the source's attribute for each field of the target's id. */
  readonly reference?: {
    readonly from: string;
    readonly to: string;
    readonly by: Readonly<Record<string, string>>;
    /** The source's attributes that are also the edge's. */
    readonly attributes: readonly string[];
  };
  /** The ends whose deletion deletes the edge, and whether an edge prevents the deletion of its target. */
  readonly takes?: readonly ("from" | "to")[];
  readonly keeps?: "to";
}

/** What identifies a node, in the order of keys. */
export const identity = ({ type, id }: NaiveEnd): readonly unknown[] => [type, ...(typeof id === "string" ? [id] : Object.values(id))];

export const nameOf = (end: NaiveEnd): string => (typeof end.id === "string" ? `${end.type}/${end.id}` : JSON.stringify(identity(end)));

export const same = (a: NaiveEnd, b: NaiveEnd): boolean => nameOf(a) === nameOf(b);

const turned = (one: NaiveEdge): NaiveEdge => ({ ...one, from: one.to, to: one.from });

/** A graph in plain arrays. Every answer looks at everything. */
export class NaiveGraph {
  readonly types: Readonly<Record<string, NaiveEdgeType>>;
  nodes: readonly NaiveNode[] = [];
  /** The edges that were put; references are in their source's row. */
  #edges: readonly NaiveEdge[] = [];

  constructor(types: Readonly<Record<string, NaiveEdgeType>>) {
    this.types = types;
  }

  node(end: NaiveEnd): NaiveNode | undefined {
    return this.nodes.find((one) => same(one, end));
  }

  putNode(node: NaiveNode): void {
    this.nodes = [...this.nodes.filter((one) => !same(one, node)), node];
  }

  /** Deletes a node with the edges that its deletion takes along; false if it does not exist, or an edge keeps it. */
  deleteNode(end: NaiveEnd): boolean {
    if (!this.node(end)) return false;
    if (this.#edges.some((one) => this.types[one.edge]?.keeps && same(one.to, end))) return false;
    this.nodes = this.nodes.filter((one) => !same(one, end));
    this.#edges = this.#edges.filter((one) => !this.types[one.edge]?.takes?.some((side) => same(one[side], end)));
    return true;
  }

  /** All edges, or those of one type; references among them. */
  edges(type?: string): readonly NaiveEdge[] {
    const edges = this.#edges.filter((one) => type === undefined || one.edge === type);
    for (const [edge, { reference }] of Object.entries(this.types)) {
      if (!reference || (type !== undefined && edge !== type)) continue;
      for (const { row, ...from } of this.nodes) {
        const id = Object.fromEntries(Object.entries(reference.by).map(([field, attribute]) => [field, row[attribute]]));
        if (from.type !== reference.from || Object.values(id).includes(undefined)) continue;
        const own = reference.attributes.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]);
        edges.push({ edge, from, to: { type: reference.to, id }, attributes: Object.fromEntries(own) });
      }
    }
    return edges;
  }

  #keyOf({ edge, attributes }: NaiveEdge): readonly unknown[] {
    return (this.types[edge]?.key ?? []).map((field) => attributes[field]);
  }

  /** What identifies an edge among those of its type. */
  edgeIdentity(one: NaiveEdge): readonly unknown[] {
    return [...identity(one.from), ...identity(one.to), ...this.#keyOf(one)];
  }

  #isSame(a: NaiveEdge, b: NaiveEdge): boolean {
    if (a.edge !== b.edge) return false;
    const isEqual = (one: NaiveEdge): boolean => compareLists(this.edgeIdentity(one), this.edgeIdentity(b)) === 0;
    return isEqual(a) || (this.types[a.edge]?.symmetric === true && isEqual(turned(a)));
  }

  edge(wanted: NaiveEdge): NaiveEdge | undefined {
    return this.edges(wanted.edge).find((one) => this.#isSame(one, wanted));
  }

  putEdge(edge: NaiveEdge): void {
    this.#edges = [...this.#edges.filter((one) => !this.#isSame(one, edge)), edge];
  }

  deleteEdge(edge: NaiveEdge): void {
    this.#edges = this.#edges.filter((one) => !this.#isSame(one, edge));
  }

  /** Deletes all edges of a type that leave a node. */
  dropEdges(edge: string, from: NaiveEnd): void {
    this.#edges = this.#edges.filter((one) => one.edge !== edge || !same(one.from, from));
  }

  degree(edge: string, from: NaiveEnd): number {
    return this.edges(edge).filter((one) => same(one.from, from)).length;
  }

  /** The edges of a type as a search meets them: a symmetric one once in each direction. */
  directedEdges(edge: string): readonly NaiveEdge[] {
    const all = this.edges(edge);
    if (!this.types[edge]?.symmetric) return all;
    return all.flatMap((one) => (same(one.from, one.to) ? [one] : [one, turned(one)]));
  }

  /** The edges at a node in one direction, in order: by the declared attribute, then by the far end and the edge's key. */
  neighbours(
    at: NaiveEnd,
    { edge, direction, ordered }: { readonly edge: string; readonly direction: "out" | "in"; readonly ordered: boolean },
  ): readonly NaiveEdge[] {
    const { symmetric, orderBy } = this.types[edge] ?? {};
    const [near, far] = symmetric || direction === "out" ? (["from", "to"] as const) : (["to", "from"] as const);
    const place = (one: NaiveEdge): readonly unknown[] => {
      const end = [...identity(one[far]), ...this.#keyOf(one)];
      return ordered && orderBy !== undefined ? [one.attributes[orderBy], ...end] : end;
    };
    return this.directedEdges(edge)
      .filter((one) => same(one[near], at))
      .toSorted((a, b) => compareLists(place(a), place(b)));
  }
}
