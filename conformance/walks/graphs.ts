import fc from "fast-check";
import type { Social } from "../oracle/model.ts";
import { NaiveGraph, type NaiveEnd } from "../naive/graph.ts";
import { givenId, idRow } from "./node-ids.ts";

type Db = ReturnType<Social["connect"]>;

/** An edge between two of a few nodes, by their numbers. */
export interface Drawn {
  readonly edge: "follows" | "friend" | "likes" | "worksOn" | "tagged" | "writtenBy";
  readonly from: number;
  readonly to: number;
  readonly tag: boolean;
  readonly number: number;
  readonly role: string;
}

const NODES = 6;

const chain = Array.from({ length: NODES - 1 }, (_, at) => [at, at + 1] as const);
const ring = [...chain, [NODES - 1, 0] as const];
const star = Array.from({ length: NODES - 1 }, (_, at) => [0, at + 1] as const);
const clique = Array.from({ length: 4 }, (_, from) => Array.from({ length: 4 }, (_, to) => [from, to] as const))
  .flat()
  .filter(([from, to]) => from !== to);
// Most edges lead to the nodes that already have most.
const scaleFree = [
  [1, 0],
  [2, 0],
  [3, 0],
  [3, 1],
  [4, 0],
  [4, 1],
  [5, 0],
  [5, 3],
] as const;
const disconnected = [
  [0, 1],
  [1, 0],
  [2, 3],
  [3, 2],
  [4, 4],
] as const;
const selves = [
  [0, 0],
  [0, 1],
  [1, 1],
  [1, 2],
  [2, 0],
] as const;
const shapes: readonly (readonly (readonly [number, number])[])[] = [chain, ring, star, clique, scaleFree, disconnected, selves];

const number = fc.constantFrom(-10, -1.5, 0, 2, 10);
const shaped = fc.constantFrom(...shapes).map((pairs) =>
  pairs.flatMap(([from, to], at): readonly Drawn[] => {
    const rest = { from, to, tag: at % 2 === 0, number: [2, 10, -1.5][at % 3] ?? 0, role: "x" };
    return (["follows", "friend", "tagged"] as const).map((edge) => ({ edge, ...rest }));
  }),
);
const stored = ["follows", "friend", "likes", "likes", "worksOn", "worksOn", "tagged"] as const;
const looseOf = (edges: readonly Drawn["edge"][]): fc.Arbitrary<readonly Drawn[]> =>
  fc.array(
    fc.record({
      edge: fc.constantFrom(...edges),
      from: fc.nat({ max: NODES - 1 }),
      to: fc.nat({ max: NODES - 1 }),
      tag: fc.boolean(),
      number,
      // Parallel edges between the same two nodes.
      role: fc.constantFrom("x", "y"),
    }),
    { maxLength: 25 },
  );

/** Graphs of a known shape, with some edges more; with `references` also edges that lie in their source's item. */
export const graphs = (references: boolean): fc.Arbitrary<readonly Drawn[]> =>
  fc.tuple(shaped, looseOf(references ? [...stored, "writtenBy", "writtenBy"] : stored)).map(([shape, more]) => [...shape, ...more]);

const idOf = (scope: string, at: number): string => `${scope}${"abcdef"[at]}`;

const ends = (scope: string, one: Drawn): readonly [NaiveEnd, NaiveEnd] => {
  const from = one.edge === "tagged" || one.edge === "writtenBy" ? "post" : "person";
  const to =
    one.edge === "follows" || one.edge === "friend" || one.edge === "writtenBy"
      ? "person"
      : one.edge === "worksOn" || (one.edge === "likes" && !one.tag)
        ? "post"
        : "tag";
  return [
    { type: from, id: idOf(scope, one.from) },
    { type: to, id: idOf(scope, one.to) },
  ];
};

const attributesOf = (one: Drawn): Readonly<Record<string, unknown>> => {
  if (one.edge === "follows") return { since: `200${Math.abs(Math.round(one.number)) % 10}`, weight: one.number };
  if (one.edge === "likes") return { rank: one.number };
  return one.edge === "worksOn" ? { role: one.role, hours: one.number } : {};
};

/** Draws a graph into a table and into arrays; where there are several ways into the table, its edges take turns. `persons` of the six have items. */
export const drawGraph = async (
  dbs: readonly Db[],
  scope: string,
  drawn: readonly Drawn[],
  { persons = NODES - 1 }: { readonly persons?: number } = {},
): Promise<NaiveGraph> => {
  const graph = new NaiveGraph({
    follows: { orderBy: "since" },
    friend: { symmetric: true },
    likes: { orderBy: "rank" },
    worksOn: { key: ["role"] },
    tagged: {},
    writtenBy: {},
  });
  for (const one of drawn) {
    const [from, to] = ends(scope, one);
    if (one.edge !== "writtenBy") graph.putEdge({ edge: one.edge, from, to, attributes: attributesOf(one) });
    // A post has one author. A date that may also be of another type can be an id, but not an attribute.
    else if (!(idRow(to)["personId"] instanceof Date)) {
      graph.dropEdges("writtenBy", from);
      graph.putEdge({ edge: "writtenBy", from, to, attributes: {} });
    }
  }
  const authorOf = (postId: string): Readonly<Record<string, unknown>> => {
    const [edge] = graph.neighbours({ type: "post", id: postId }, { edge: "writtenBy", direction: "out", ordered: false });
    if (!edge) return {};
    const { realm, personId } = idRow(edge.to);
    return { authorRealm: realm, authorId: personId };
  };
  const rows: unknown[] = [];
  for (let at = 0; at < NODES; at++) {
    const id = idOf(scope, at);
    const [person, post, tag] = ["person", "post", "tag"].map((type) => idRow({ type, id }));
    // One person has no item, unless the model asks for it: edges may point to nothing.
    if (at < persons) {
      graph.putNode({ type: "person", id, row: { ...person, name: "n", age: at } });
      rows.push({ node: "person", row: { ...person, name: "n", age: at } });
    }
    const whole = { ...post, title: "t", ...authorOf(id) };
    graph.putNode({ type: "post", id, row: whole });
    graph.putNode({ type: "tag", id, row: { ...tag, name: "n" } });
    rows.push({ node: "post", row: whole }, { node: "tag", row: { ...tag, name: "n" } });
  }
  for (const { edge, from, to, attributes } of graph.edges()) {
    if (edge === "writtenBy") continue;
    const target = edge === "likes" ? { type: to.type, ...givenId(to) } : givenId(to);
    rows.push({ edge, from: edge === "likes" ? { type: from.type, ...givenId(from) } : givenId(from), to: target, attributes });
  }
  for (const [turn, db] of dbs.entries())
    await db.load(rows.filter((_, at) => at % dbs.length === turn) as never, { strict: true, collisions: "ignore" });
  return graph;
};
