import { targetsOf } from "../graphs/graph.ts";
import type { Graph } from "../graphs/graph.ts";

interface Id {
  readonly id: string;
}
interface EdgeRow<Name extends string, Attributes> {
  readonly edge: Name;
  readonly from: Id;
  readonly to: Id;
  readonly attributes: Attributes;
}
interface NodeRow<Name extends string, Row> {
  readonly node: Name;
  readonly row: Row & Id;
}

export interface LinkData {
  readonly time: number;
  readonly data: string;
}
export interface ObjectData extends LinkData {
  readonly version: number;
}
type SocialRow = NodeRow<"user", { readonly name: string }> | EdgeRow<"follows", { readonly since: string }>;
type LinksRow = NodeRow<"object", ObjectData> | EdgeRow<"link", LinkData>;

export const idOf = (node: number): Id => ({ id: String(node) });

/** Every user followed by the edges from it; or the edges alone. */
export function* socialRows(graph: Graph, of: "all" | "edges" = "all"): Generator<SocialRow> {
  for (let node = 0; node < graph.nodes; node++) {
    const from = idOf(node);
    if (of === "all") yield { node: "user", row: { ...from, name: `User Number ${node}` } };
    for (const target of targetsOf(graph, node)) {
      const since = `20${10 + (target % 15)}-0${1 + (node % 9)}-1${target % 10}`;
      yield { edge: "follows", from, to: idOf(target), attributes: { since } };
    }
  }
}

// LinkBench: 128 bytes for a node and 8 for a link, the medians.
const objectText = "LinkBench object ".repeat(8).slice(0, 128);

export const objectData = (version: number): ObjectData => ({ time: 1_700_000_000 + version, version, data: objectText });

/** Links get a second each, so that their times tell them apart and time ranges hold a known share of them. */
export const linkData = (position: number): LinkData => ({
  time: 1_600_000_000 + position,
  data: `link${position % 10_000}`.padEnd(8, "x"),
});

export function* linksRows(graph: Graph): Generator<LinksRow> {
  for (let node = 0; node < graph.nodes; node++) {
    const from = idOf(node);
    yield { node: "object", row: { ...from, ...objectData(0) } };
    let position = 0;
    for (const target of targetsOf(graph, node)) yield { edge: "link", from, to: idOf(target), attributes: linkData(position++) };
  }
}
