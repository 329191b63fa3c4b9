/**
 * The slow, obvious reference: a graph in plain arrays. Every answer is computed by looking at
 * everything, in the words of the graph alone. It knows nothing of keys, items or requests.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface NaiveNode {
  readonly type: string;
  readonly id: string;
  readonly row: Row;
}

export interface NaiveEdge {
  readonly edge: string;
  readonly from: NaiveEnd;
  readonly to: NaiveEnd;
  /** What tells parallel edges apart. */
  readonly key: string;
  readonly attributes: Row;
}

export interface NaiveEnd {
  readonly type: string;
  readonly id: string;
}

/** What the reference has to know of an edge type. */
export interface NaiveEdgeType {
  readonly orderBy?: string;
  readonly symmetric?: boolean;
  readonly mostFrom?: number;
}

const bytes = new TextEncoder();

/** Texts by their UTF-8 bytes, numbers by size, dates by time. */
export const compareValues = (a: unknown, b: unknown): number => {
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(bytes.encode(String(a)), bytes.encode(String(b)));
};

const compareLists = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (const [at, value] of a.entries()) {
    const order = compareValues(value, b[at]);
    if (order !== 0) return order;
  }
  return 0;
};

const same = (a: NaiveEnd, b: NaiveEnd): boolean => a.type === b.type && a.id === b.id;

export class NaiveGraph {
  readonly #types: Readonly<Record<string, NaiveEdgeType>>;
  nodes: NaiveNode[] = [];
  edges: NaiveEdge[] = [];

  constructor(types: Readonly<Record<string, NaiveEdgeType>>) {
    this.#types = types;
  }

  node(end: NaiveEnd): NaiveNode | undefined {
    return this.nodes.find((one) => same(one, end));
  }

  handleTaken(handle: unknown, except: string | undefined): boolean {
    return handle !== undefined && this.nodes.some((one) => one.type === "person" && one.row["handle"] === handle && one.id !== except);
  }

  putNode(node: NaiveNode): void {
    this.nodes = [...this.nodes.filter((one) => !same(one, node)), node];
  }

  deleteNode(end: NaiveEnd): void {
    this.nodes = this.nodes.filter((one) => !same(one, end));
  }

  #isEdge(one: NaiveEdge, wanted: NaiveEdge): boolean {
    if (one.edge !== wanted.edge || one.key !== wanted.key) return false;
    if (same(one.from, wanted.from) && same(one.to, wanted.to)) return true;
    return this.#types[one.edge]?.symmetric === true && same(one.from, wanted.to) && same(one.to, wanted.from);
  }

  edge(wanted: NaiveEdge): NaiveEdge | undefined {
    return this.edges.find((one) => this.#isEdge(one, wanted));
  }

  putEdge(edge: NaiveEdge): void {
    this.edges = [...this.edges.filter((one) => !this.#isEdge(one, edge)), edge];
  }

  deleteEdge(edge: NaiveEdge): void {
    this.edges = this.edges.filter((one) => !this.#isEdge(one, edge));
  }

  /** Takes away all edges of a type that leave a node. */
  dropEdges(edge: string, from: NaiveEnd): void {
    this.edges = this.edges.filter((one) => one.edge !== edge || !same(one.from, from));
  }

  degree(edge: string, from: NaiveEnd): number {
    return this.edges.filter((one) => one.edge === edge && same(one.from, from)).length;
  }

  /** Edges of a type at a node, as seen from it, in order: by the declared attribute, then by the far end. */
  neighbours(
    at: NaiveEnd,
    { edge, direction, ordered }: { readonly edge: string; readonly direction: "out" | "in"; readonly ordered: boolean },
  ): readonly NaiveEdge[] {
    const type = this.#types[edge] ?? {};
    const near = direction === "out" ? "from" : "to";
    const far = direction === "out" ? "to" : "from";
    const turned = (one: NaiveEdge): NaiveEdge => ({ ...one, from: one.to, to: one.from });
    const all = this.edges.filter((one) => one.edge === edge);
    const seen = type.symmetric
      ? all.flatMap((one) => [...(same(one.from, at) ? [one] : []), ...(same(one.to, at) && !same(one.from, at) ? [turned(one)] : [])])
      : all.filter((one) => same(one[near], at));
    const farEnd = type.symmetric ? "to" : far;
    const place = (one: NaiveEdge): readonly unknown[] => {
      const end = [one[farEnd].type, one[farEnd].id, one.key];
      return ordered && type.orderBy !== undefined ? [one.attributes[type.orderBy], ...end] : end;
    };
    return seen.toSorted((a, b) => compareLists(place(a), place(b)));
  }
}
