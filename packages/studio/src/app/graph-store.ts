import { MultiDirectedGraph } from "graphology";
import { ApiError, get } from "./api.ts";
import type { LayoutAnswer, LayoutRequest } from "./graph-layout.worker.ts";
import { showText } from "./item-parts.tsx";
import { showPlain } from "./pattern-answer.tsx";
import type { GraphAnswer, NeighboursAnswer, WireLink, WireNode, WireType } from "../wire.ts";

export type Direction = "out" | "in";

/** A node on the canvas. */
export interface DrawnNode {
  readonly node: WireNode;
  readonly label: string;
  x: number;
  y: number;
  size: number;
}

/** A way from a node: the edges of a type in one direction. */
export interface Way {
  readonly edge: string;
  readonly direction: Direction;
  /** Types of the nodes at the other end. */
  readonly to: readonly string[];
  /** True if the edges have no direction. */
  readonly symmetric?: true;
  /** The fields that tell the edges between the same nodes apart. */
  readonly key: readonly string[];
}

/** The edge over which a node was reached. */
export const linkOver = (
  { edge, direction, key: fields }: Way,
  near: End,
  { node, attributes }: NeighboursAnswer["entries"][number],
): WireLink => {
  const far = { type: node.type, id: node.id };
  const [from, to] = direction === "out" ? [near, far] : [far, near];
  const key = Object.fromEntries(fields.map((field) => [field, attributes[field]]));
  return { edge, from, to, ...(fields.length > 0 ? { key } : {}) };
};

type End = Pick<WireNode, "type" | "id">;

/** A path: its nodes in order, and the edges between them. */
export interface FoundPath {
  readonly nodes: readonly End[];
  readonly links: readonly WireLink[];
}

/** How far a way was followed. */
interface Followed {
  readonly count: number;
  readonly next: string | undefined;
}

/** Nodes and edges on the canvas at most: what opens within some seconds and can be moved without a GPU. */
export const MOST_NODES = 5000;
const MOST_EDGES = 20_000;
const PAGE = 40;
/** Edges of one request where a whole neighbourhood is read. */
const WHOLE_PAGE = 200;

/** The name of a node in the drawing. */
export const keyOf = ({ type, id }: Pick<WireNode, "type" | "id">): string => `${type} ${JSON.stringify(id)}`;

/** What a node is called: its name or title, else its first text that is no id, else its id. */
const labelOf = ({ id, row }: WireNode, type: WireType | undefined): string => {
  const texts = (type?.attributes ?? []).filter((name) => !Object.hasOwn(id, name) && typeof row?.[name] === "string");
  const named = texts.find((name) => /^(name|title|label)$/i.test(name)) ?? texts.find((name) => !/id$/i.test(name)) ?? texts[0];
  return showText(named === undefined ? Object.values(id).map(showPlain).join(" ") : String(row?.[named]), 120);
};

/** The nodes and edges that were read so far, and their layout. Subscribers are told of every change. */
export class GraphStore {
  readonly graph: MultiDirectedGraph<DrawnNode, { readonly edge: string }> = new MultiDirectedGraph();
  readonly #types: readonly WireType[];
  readonly #followed = new Map<string, Followed>();
  readonly #listeners = new Set<() => void>();
  readonly #moved = new Set<() => void>();
  readonly #ended = new AbortController();
  #worker: Worker | undefined;
  #version = 0;
  error: ApiError | undefined;
  busy = 0;
  requests = 0;
  /** True while the worker lays out. */
  isMoving = false;
  readUnits = 0;
  /** Ways that a budget left out. */
  left = 0;
  /** True if the table has more nodes or edges than were drawn. */
  isCut = false;

  constructor(types: readonly WireType[]) {
    this.#types = types;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  /** Calls a listener whenever the layout moved nodes. */
  readonly onMoved = (listener: () => void): (() => void) => {
    this.#moved.add(listener);
    return () => this.#moved.delete(listener);
  };

  close(): void {
    this.#ended.abort();
    this.#worker?.terminate();
  }

  typeOf(name: string): WireType | undefined {
    return this.#types.find((one) => one.name === name);
  }

  /** Where one can go from a node of a type. */
  waysFrom(type: string): readonly Way[] {
    return this.#types
      .filter(({ kind }) => kind === "edge")
      .flatMap(({ name: edge, from, to, symmetric, idFields: key }): readonly Way[] => {
        if (symmetric) return from.includes(type) ? [{ edge, direction: "out", to, symmetric, key }] : [];
        return [
          ...(from.includes(type) ? [{ edge, direction: "out", to, key } as const] : []),
          ...(to.includes(type) ? [{ edge, direction: "in", to: from, key } as const] : []),
        ];
      });
  }

  followed(key: string, { edge, direction }: Way): Followed | undefined {
    return this.#followed.get(`${key} ${edge} ${direction}`);
  }

  /** Reads the first node and follows each of its ways. */
  async start(type: string, id: string): Promise<void> {
    await this.#reading(async () => {
      const node = await get<WireNode>("node", { type, id }, this.#ended.signal);
      if (!node.row) throw new ApiError("studio.noNode", `There is no ${type} with the id ${id}.`);
      this.#add(node, undefined);
      // One after the other, so that the same data gives the same picture.
      for (const way of this.waysFrom(type)) await this.#follow(keyOf(node), way);
    });
    this.#layout();
  }

  /**
   * Reads the neighbourhood of a node hop by hop, each way to its end, within a budget of requests. What the budget leaves out is
   * counted in `left`; a further call goes on from there.
   */
  async expandHops(key: string, hops: number, budget: number): Promise<void> {
    const most = this.requests + budget;
    const isSpent = (): boolean => this.requests >= most || this.graph.order >= MOST_NODES || this.graph.size >= MOST_EDGES;
    this.left = 0;
    await this.#reading(async () => {
      let frontier = [key];
      const seen = new Set(frontier);
      for (let hop = 0; hop < hops; hop++) {
        const next: string[] = [];
        for (const one of frontier) {
          const { type } = this.graph.getNodeAttribute(one, "node");
          for (const way of this.waysFrom(type)) {
            while (!isSpent() && !this.#isFollowed(one, way)) await this.#follow(one, way, WHOLE_PAGE);
            if (!this.#isFollowed(one, way)) this.left++;
          }
          for (const other of this.graph.neighbors(one)) {
            if (seen.has(other)) continue;
            seen.add(other);
            next.push(other);
          }
        }
        frontier = next;
      }
    });
    this.#layout();
  }

  /** Reads nodes and edges as the table stores them, until there are as many as can be drawn. */
  async startWhole(): Promise<void> {
    await this.#reading(async () => {
      let cursor: string | undefined;
      let isFull = false;
      const waiting: WireLink[] = [];
      do {
        const answer: GraphAnswer = await get<GraphAnswer>("graph", cursor === undefined ? {} : { cursor }, this.#ended.signal);
        for (const node of answer.nodes)
          if (this.graph.order < MOST_NODES) this.#add(node, undefined);
          else isFull ||= !this.graph.hasNode(keyOf(node));
        waiting.push(...answer.links);
        cursor = answer.next;
        this.requests += answer.cost.requests;
        this.readUnits += answer.cost.readUnits;
        this.#changed();
        // Reading on would cost the rest of the table: the items of a node are stored together with its edges.
      } while (cursor !== undefined && this.graph.order < MOST_NODES && waiting.length < MOST_EDGES);
      for (const link of waiting)
        if (this.graph.size < MOST_EDGES) this.#link(link);
        else isFull = true;
      this.isCut = cursor !== undefined || isFull;
      this.#size();
    });
    this.#layout();
  }

  /** Adds the nodes and edges of a path, and gives the nodes' keys. */
  async addPath({ nodes, links }: FoundPath): Promise<readonly string[]> {
    await this.#reading(async () => {
      let near: string | undefined;
      for (const { type, id } of nodes) {
        const key = keyOf({ type, id });
        if (!this.graph.hasNode(key)) this.#add(await get<WireNode>("node", { type, id: JSON.stringify(id) }, this.#ended.signal), near);
        near = key;
      }
      for (const link of links) this.#link(link);
      this.#size();
    });
    this.#layout();
    return nodes.map(keyOf);
  }

  #isFollowed(key: string, way: Way): boolean {
    const followed = this.followed(key, way);
    return followed !== undefined && followed.next === undefined;
  }

  /** Adds an edge between two nodes that are drawn. */
  #link({ edge, from, to, key }: WireLink): void {
    const ends = [keyOf(from), keyOf(to)] as const;
    const [source, target] = this.typeOf(edge)?.symmetric && ends[0] > ends[1] ? [ends[1], ends[0]] : ends;
    const name = `${edge} ${source} ${target}${key ? ` ${JSON.stringify(key)}` : ""}`;
    if (this.graph.hasNode(source) && this.graph.hasNode(target) && !this.graph.hasEdge(name))
      this.graph.addEdgeWithKey(name, source, target, { edge });
  }

  /** Nodes of many edges are larger. */
  #size(): void {
    this.graph.forEachNode((one, at) => {
      at.size = 6 + Math.min(9, Math.sqrt(this.graph.degree(one)) * 1.4);
    });
  }

  /** Reads the next page of the edges on a way. */
  async expand(key: string, way: Way): Promise<void> {
    await this.#reading(() => this.#follow(key, way));
    this.#layout();
  }

  /** Reads the first page of each way that was not followed yet. */
  async expandAll(key: string): Promise<void> {
    const { type } = this.graph.getNodeAttribute(key, "node");
    const ways = this.waysFrom(type).filter((way) => !this.followed(key, way));
    await this.#reading(async () => {
      for (const way of ways) await this.#follow(key, way);
    });
    if (ways.length > 0) this.#layout();
  }

  async #reading(read: () => Promise<unknown>): Promise<void> {
    this.busy++;
    this.error = undefined;
    this.#changed();
    try {
      await read();
    } catch (error) {
      if (!this.#ended.signal.aborted) this.error = error instanceof ApiError ? error : new ApiError("studio.gone", String(error));
    } finally {
      this.busy--;
      this.#changed();
    }
  }

  async #follow(key: string, way: Way, page: number = PAGE): Promise<void> {
    const { edge, direction } = way;
    const before = this.followed(key, way);
    if (before && before.next === undefined) return;
    if (this.graph.order >= MOST_NODES)
      throw new ApiError(
        "studio.full",
        `The drawing has ${this.graph.order.toLocaleString("en-US")} nodes, which is its limit. Start again from one of them.`,
      );
    const { type, id } = this.graph.getNodeAttribute(key, "node");
    const limit = String(Math.min(page, MOST_NODES - this.graph.order));
    const query = { type, id: JSON.stringify(id), edge, direction, limit, cursor: before?.next };
    const { entries, next, cost } = await get<NeighboursAnswer>("neighbours", query, this.#ended.signal);
    for (const entry of entries) {
      this.#add(entry.node, key);
      this.#link(linkOver(way, { type, id }, entry));
    }
    this.requests += cost.requests;
    this.readUnits += cost.readUnits;
    this.#followed.set(`${key} ${edge} ${direction}`, { count: (before?.count ?? 0) + entries.length, next });
    this.#size();
  }

  /** Adds a node near the one that led to it, and returns its key. */
  #add(node: WireNode, near: string | undefined): string {
    const key = keyOf(node);
    if (this.graph.hasNode(key)) return key;
    const { x, y } = near === undefined ? { x: 0, y: 0 } : this.graph.getNodeAttributes(near);
    // A golden angle keeps neighbours apart without chance: the same data gives the same picture.
    const angle = this.graph.order * 2.399;
    const label = labelOf(node, this.typeOf(node.type));
    const distance = near === undefined ? 12 * Math.sqrt(this.graph.order) : 20 + Math.min(300, this.graph.order);
    this.graph.addNode(key, { node, label, x: x + Math.cos(angle) * distance, y: y + Math.sin(angle) * distance, size: 7 });
    return key;
  }

  /** Lays out in a worker, so that the page stays responsive. */
  #layout(): void {
    this.#worker?.terminate();
    this.#changed();
    if (this.graph.order < 2 || this.#ended.signal.aborted) return;
    const worker = new Worker(new URL("./graph-layout.worker.ts", import.meta.url), { type: "module" });
    this.#worker = worker;
    this.isMoving = true;
    this.#changed();
    const places = this.graph.mapNodes((_, at) => at);
    worker.addEventListener("message", ({ data: { positions, isDone } }: MessageEvent<LayoutAnswer>) => {
      for (const [place, at] of places.entries()) {
        at.x = positions[place * 2] ?? 0;
        at.y = positions[place * 2 + 1] ?? 0;
      }
      for (const listener of this.#moved) listener();
      if (!isDone) return;
      worker.terminate();
      this.isMoving = false;
      this.#changed();
    });
    const placeOf = new Map(this.graph.nodes().map((key, place) => [key, place]));
    const ends = this.graph.mapEdges((_, __, source, target) => [placeOf.get(source) ?? 0, placeOf.get(target) ?? 0]).flat();
    const nodes = Float64Array.from(places.flatMap(({ x, y, size }) => [x, y, size]));
    const request: LayoutRequest = { nodes, edges: Uint32Array.from(ends) };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name.
    worker.postMessage(request);
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }
}
