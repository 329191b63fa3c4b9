import type { GraphAnswer, WireLink, WireNode } from "@edgetable/studio";
import type { AnyGraph, Item, Transport } from "edgetable";
import { describeItem, partitionOf } from "edgetable/check";
import { isRow, toExactJson } from "../output/json.ts";
import { readStored } from "./stored-items.ts";

/** Items of one request: a page of a megabyte has some thousands of edges. */
const LIMIT = 1000;

interface Piece {
  readonly nodes: readonly WireNode[];
  readonly links: readonly WireLink[];
}

/** A node type and an id without the type's name. */
const endOf = ({ catalog }: AnyGraph, types: readonly string[], end: unknown): WireLink["from"] | undefined => {
  if (!isRow(end)) return undefined;
  const given = end["type"];
  const type = types.length > 1 && typeof given === "string" ? given : (types[0] ?? "");
  return { type, id: Object.fromEntries((catalog.ends[type]?.idFields ?? []).map((field) => [field, end[field]])) };
};

/** The ends of an edge that are nodes without an item of their own. */
const bareEnds = ({ catalog }: AnyGraph, { from, to }: WireLink): readonly WireNode[] =>
  [from, to]
    .filter(({ type }) => catalog.nodes[type]?.definition.stored === false)
    .map((end) => ({ ...end, partition: partitionOf(catalog, end.type, end.id) ?? "" }));

/**
 * Reads nodes and edges as they are stored, by Scan: the cheapest way to draw a graph as a whole. An edge that is stored twice comes
 * once, one without direction from one of its ends; one that is an attribute of its source comes with that node, and a node without
 * an item with its edges.
 *
 * @throws {cli.usage} for an invalid cursor
 */
export const readGraph = async (
  graph: AnyGraph,
  transport: Transport,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<GraphAnswer> => {
  const { catalog } = graph;
  const take = (item: Item): Piece | undefined => {
    const { kind, name, row, id, ends, mirror } = describeItem(graph, item);
    // A node, or a part that edges lead to.
    if (row && id) {
      const own = { type: name, id };
      const links = ends
        .filter(({ role }) => role in catalog.edges)
        .map(({ role, type, id: to }): WireLink => ({ edge: role, from: own, to: { type, id: to } }));
      return { nodes: [{ ...own, row, partition: partitionOf(catalog, name, own.id) ?? "" }], links };
    }
    const edge = catalog.edges[name];
    if (kind !== "edge" || mirror || !edge || !row) return undefined;
    const [from, to] = [endOf(graph, edge.from, row["from"]), endOf(graph, edge.to, row["to"])];
    if (!from || !to || (edge.definition.symmetric && toExactJson(from) > toExactJson(to))) return undefined;
    const key = Object.fromEntries(edge.key.map((field) => [field, row[field]]));
    const link: WireLink = { edge: name, from, to, ...(edge.key.length > 0 ? { key } : {}) };
    return { nodes: bareEnds(graph, link), links: [link] };
  };
  const page = { index: undefined, partition: undefined, cursor, limit: LIMIT };
  const { taken, next, cost, scanned } = await readStored({ graph, transport, signal }, page, take);
  return {
    nodes: taken.flatMap(({ nodes }) => nodes),
    links: taken.flatMap(({ links }) => links),
    ...(next === undefined ? {} : { next }),
    scanned,
    cost,
  };
};
