import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { DeleteWrite, EndId, LogicalWrite } from "../../ir/logical-write.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import { underPath } from "../../schema/build-catalog.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { planRead } from "../plan.ts";
import { allEdges, consistentWherePossible } from "./all-edges.ts";
import { cascadeEnds, type CascadeEnd, partsOf } from "./cascade-ends.ts";
import type { Row } from "../../util/row.ts";

/** One read that finds what goes with a node. */
export interface Sweep {
  readonly plan: ReadPlan;
  /** What the plan's templates are filled from. */
  readonly row: Row;
  /** The shapes that go with the node; others in the same range stay. */
  readonly shapes: readonly string[];
}

/** How a node is deleted with all that goes with it. */
export interface CascadePlan {
  readonly kind: "cascade";
  readonly node: string;
  readonly id: Row;
  readonly sweeps: readonly Sweep[];
  /** Whether the node is marked first, so that nothing new is tied to it meanwhile. */
  readonly marks: boolean;
  /** Whether some of what goes with it is found in an index, which shows it a moment late. */
  readonly lags: boolean;
}

interface Wanted {
  readonly shape: Shape;
  readonly end: "from" | "to";
  /** The edge that it is of; undefined for a part. */
  readonly cascade: CascadeEnd | undefined;
}

// Of an edge found at its target, the copy in the target's own partition where there is one.
const shapesOf = (node: string, cascade: CascadeEnd): readonly Wanted[] => {
  const { entry, direction } = cascade;
  if (direction === "out") return entry.shapes.filter(({ from }) => from === node).map((shape) => ({ shape, end: "from", cascade }));
  const shapes = entry.mirrors.length > 0 ? entry.mirrors : entry.shapes;
  return shapes.filter(({ to }) => to === node).map((shape) => ({ shape, end: "to", cascade }));
};

const wantedOf = (catalog: Catalog, node: string): readonly Wanted[] => [
  ...partsOf(catalog, node).map((name): Wanted => ({ shape: defined(catalog.parts[name], "part").shape, end: "from", cascade: undefined })),
  ...cascadeEnds(catalog, node).flatMap((cascade) => shapesOf(node, cascade)),
];

const partition = (catalog: Catalog, shape: Shape | undefined): string => shape?.keys[catalog.index.partitionKey]?.source ?? "";

/** Whether the items lie in the node's own partition, where one Query finds them with everything else. */
const isAtHome = (catalog: Catalog, node: string, { shape, end, cascade }: Wanted): boolean => {
  const home = partition(catalog, catalog.nodes[node]?.shape);
  return partition(catalog, shape) === (cascade ? underPath(end, home) : home);
};

const homeSweep = (catalog: Catalog, { name, id }: DeleteWrite, wanted: readonly Wanted[]): readonly Sweep[] => {
  if (wanted.length === 0) return [];
  const plan = planRead(catalog, { kind: "collection", node: name, direction: "out", index: undefined, consistent: true });
  return [{ plan, row: id, shapes: wanted.map(({ shape }) => shape.id) }];
};

/** Parts that lie in another partition than their node. */
const partSweep = (catalog: Catalog, { id }: DeleteWrite, shape: Shape): Sweep => {
  const logical = (consistent: boolean): LogicalPlan => ({
    kind: "parts",
    part: shape.definition,
    known: [],
    range: [],
    filter: [],
    forward: true,
    consistent,
  });
  return { plan: consistentWherePossible((consistent) => planRead(catalog, logical(consistent))), row: id, shapes: [shape.id] };
};

const farSweep = (catalog: Catalog, { name, id }: DeleteWrite, { entry, direction }: CascadeEnd): Sweep => {
  const edges = (consistent: boolean): LogicalPlan => allEdges(catalog, { node: name, edge: entry.name, direction, consistent });
  const plan = consistentWherePossible((consistent) => planRead(catalog, edges(consistent)));
  return { plan, row: { from: id, to: id }, shapes: plan.sources.flatMap((source) => source.shapes) };
};

/**
 * Plans how a node's parts and cascading edges are found: one strongly consistent Query of its
 * partition, and one more for parts that lie elsewhere and for each edge type that only an index finds.
 *
 * @throws {plan.noIndex} when nothing finds the parts of this node, or its edges of a type that cascades
 */
export const planCascade = (catalog: Catalog, write: DeleteWrite): CascadePlan => {
  const wanted = wantedOf(catalog, write.name);
  const home = wanted.filter((one) => isAtHome(catalog, write.name, one));
  const far = new Set(wanted.flatMap((one) => (one.cascade && !home.includes(one) ? [one.cascade] : [])));
  const farParts = wanted.filter((one) => one.cascade === undefined && !home.includes(one));
  const sweeps = [
    ...homeSweep(catalog, write, home),
    ...farParts.map(({ shape }) => partSweep(catalog, write, shape)),
    ...[...far].map((cascade) => farSweep(catalog, write, cascade)),
  ];
  const checked = partsOf(catalog, write.name).some((part) => catalog.parts[part]?.definition.owner === "checked");
  return {
    kind: "cascade",
    node: write.name,
    id: write.id,
    sweeps,
    marks: checked || wanted.some(({ cascade }) => cascade !== undefined),
    lags: sweeps.some(({ plan }) => plan.consistency === "eventual"),
  };
};

const endOf = (type: string | undefined, row: Row): EndId => {
  const { type: _, ...id } = row;
  return { type: defined(type, "the type of an edge's end"), id };
};

/** The write that removes something found with a node. */
export const removalOf = (shape: Shape, row: Row): LogicalWrite => {
  if (shape.kind === "part") return { kind: "delete", of: "part", name: shape.definition, id: row, guards: {} };
  const { from, to, ...attributes } = row;
  const end = (type: string | undefined, value: unknown): EndId =>
    shape.several ? endOf(type, value as Row) : { type: defined(type, "the type of an edge's end"), id: value as Row };
  return { kind: "unlink", edge: shape.definition, from: end(shape.from, from), to: end(shape.to, to), key: attributes, guards: {} };
};
