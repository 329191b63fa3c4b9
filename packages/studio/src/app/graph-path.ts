import { get } from "./api.ts";
import { type FoundPath, keyOf, linkOver, type Way } from "./graph-store.ts";
import type { NeighboursAnswer, WireLink, WireNode } from "../wire.ts";

type End = Pick<WireNode, "type" | "id">;

/** How a node was reached: over which edge, from where. */
interface Step {
  readonly node: End;
  readonly from: string | undefined;
  readonly link: WireLink | undefined;
}

/** A way that has not been followed to its end. */
interface Open {
  readonly key: string;
  readonly node: End;
  readonly way: Way;
  readonly cursor: string | undefined;
  readonly depth: number;
}

/** One side of the search: what it reached, and what it has not followed. */
interface Side {
  readonly reached: Map<string, Step>;
  open: Open[];
}

/** Edges of one request. */
const PAGE = 200;

/**
 * Searches a path between two nodes over edges of every type, in either direction, from both ends at once: each request follows the
 * side that has less open. A budget of requests ends it; what is open stays, so that it can go on.
 */
export class PathSearch {
  readonly #sides: readonly [Side, Side];
  readonly #waysFrom: (type: string) => readonly Way[];
  requests = 0;
  readUnits = 0;
  /** Undefined until a path is found. */
  path: FoundPath | undefined;

  constructor(from: End, to: End, waysFrom: (type: string) => readonly Way[]) {
    this.#waysFrom = waysFrom;
    this.#sides = [this.#side(from), this.#side(to)];
    if (keyOf(from) === keyOf(to)) this.path = { nodes: [from], links: [] };
  }

  /** Nodes that were reached, and ways that were not followed. */
  get reached(): number {
    return this.#sides.reduce((sum, { reached }) => sum + reached.size, 0);
  }

  get open(): number {
    return this.#sides.reduce((sum, { open }) => sum + open.length, 0);
  }

  /** True if there is no path: one of the sides has nothing left to follow. */
  get isExhausted(): boolean {
    return this.path === undefined && this.#sides.some(({ open }) => open.length === 0);
  }

  /** Follows edges until a path is found, there is none, or the budget is spent. */
  async run(budget: number, signal: AbortSignal): Promise<void> {
    const most = this.requests + budget;
    while (this.path === undefined && !this.isExhausted && this.requests < most) {
      const [first, second] = this.#sides;
      const [side, other] = first.open.length <= second.open.length ? [first, second] : [second, first];
      await this.#follow(side, other, signal);
    }
  }

  #side(node: End): Side {
    const key = keyOf(node);
    return { reached: new Map([[key, { node, from: undefined, link: undefined }]]), open: this.#ways(node, 0) };
  }

  #ways(node: End, depth: number): Open[] {
    return this.#waysFrom(node.type).map((way) => ({ key: keyOf(node), node, way, cursor: undefined, depth }));
  }

  async #follow(side: Side, other: Side, signal: AbortSignal): Promise<void> {
    const [next] = side.open;
    if (!next) return;
    const { node, way, cursor, key, depth } = next;
    const { edge, direction } = way;
    const query = { type: node.type, id: JSON.stringify(node.id), edge, direction, limit: String(PAGE), bare: "1", cursor };
    const { entries, next: rest, cost } = await get<NeighboursAnswer>("neighbours", query, signal);
    // It stays open if its request fails: a search that goes on asks again.
    side.open.shift();
    this.requests += cost.requests;
    this.readUnits += cost.readUnits;
    // The rest of a supernode waits until its neighbours were followed.
    if (rest !== undefined) side.open.push({ ...next, cursor: rest, depth: depth + 1 });
    for (const entry of entries) {
      const { type, id } = entry.node;
      const end = { type, id };
      const reached = keyOf(end);
      if (side.reached.has(reached)) continue;
      side.reached.set(reached, { node: end, from: key, link: linkOver(way, node, entry) });
      if (other.reached.has(reached)) {
        this.path = this.#between(reached);
        return;
      }
      side.open.push(...this.#ways(end, depth + 1));
    }
  }

  /** The path over a node that both sides have reached. */
  #between(key: string): FoundPath {
    const [first, second] = this.#sides.map(({ reached }) => {
      const steps: Step[] = [];
      for (let at: string | undefined = key; at !== undefined;) {
        const step: Step | undefined = reached.get(at);
        if (!step) break;
        steps.push(step);
        at = step.from;
      }
      return steps;
    }) as [Step[], Step[]];
    const nodes = [...first.toReversed(), ...second.slice(1)].map(({ node }) => node);
    const links = [...first.toReversed(), ...second].flatMap(({ link }) => (link ? [link] : []));
    return { nodes, links };
  }
}
