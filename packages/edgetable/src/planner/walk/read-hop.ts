import type { Expand, LogicalPlan } from "../../ir/logical-plan.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import type { WalkHop } from "../../ir/walk-plan.ts";
import { attributeNames } from "../../schema/standard-schema.ts";
import { type Catalog, endSources, needsIdentity, heldBy } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { checkHeld } from "../held-attributes.ts";
import { planRead } from "../plan.ts";

/** What planning a walk needs beside the walk itself. */
export interface WalkPlanning {
  readonly catalog: Catalog;
  readonly off: ReadonlySet<string>;
}

const directionsOf = (catalog: Catalog, hop: WalkHop, node: string): readonly ("out" | "in")[] => {
  const entry = defined(catalog.edges[hop.edge], "edge");
  if (entry.definition.symmetric) return entry.from.includes(node) ? ["out"] : [];
  const wanted = hop.direction === "both" ? (["out", "in"] as const) : [hop.direction];
  return wanted.filter((direction) => entry[direction === "out" ? "from" : "to"].includes(node));
};

const expand = (catalog: Catalog, hop: WalkHop, at: { readonly node: string; readonly direction: "out" | "in" }): Expand => ({
  kind: "expand",
  ...at,
  edge: hop.edge,
  anchor: hop.anchor ?? defined(catalog.nodes[at.node], "node").idFields,
  known: [],
  range: [],
  filter: [],
  ordered: hop.ordered,
  forward: hop.forward,
  consistent: hop.consistent,
  index: hop.index,
  select: undefined,
});

const logicalHop = (inputs: readonly Expand[], hop: WalkHop): LogicalPlan => {
  const filtered = inputs.map((input): LogicalPlan =>
    hop.conditions.length === 0 ? input : { kind: "filter", input, conditions: hop.conditions },
  );
  const [only] = filtered;
  return filtered.length === 1 && only ? only : { kind: "union", inputs: filtered };
};

/** Edge attributes that have to be in memory. */
const neededFields = (plan: ReadPlan, folded: string | undefined): readonly string[] => {
  const filtered = plan.filter?.conditions.map((condition) => condition.path) ?? [];
  return [...new Set([...filtered.filter((path) => !path.includes(".")), ...(folded === undefined ? [] : [folded])])];
};

// Of several edges on the way, those without the attribute add nothing to a figure.
const hasField = (catalog: Catalog, hop: WalkHop, field: string): boolean => {
  const { schema } = defined(catalog.edges[hop.edge], "edge").definition;
  return schema !== undefined && (attributeNames(schema)?.includes(field) ?? true);
};

/** A plan that gives a figure all it asks for. */
const checked = (catalog: Catalog, plan: ReadPlan, folded: string | undefined): ReadPlan => {
  if (folded === undefined) return plan;
  for (const source of plan.sources) if (source.kind === "query") checkHeld(catalog, { ...source, select: [folded] }, []);
  return plan;
};

const identityAttributes = (catalog: Catalog, step: QueryStep): readonly string[] => {
  if (!needsIdentity(catalog, step)) return [];
  const projection = catalog.indexes.find((index) => index.name === step.index)?.projection ?? "ALL";
  const typed = projection === "ALL" || (Array.isArray(projection) && projection.includes(catalog.typeAttribute ?? ""));
  return [catalog.index.partitionKey, catalog.index.sortKey, typed ? catalog.typeAttribute : undefined].filter(
    (name) => name !== undefined,
  );
};

// Edges of several partitions are put in order by their sort key, and told apart by the table's.
const mergeAttributes = ({ index }: Catalog, { scatter, sortKey }: QueryStep): readonly string[] =>
  scatter ? [index.partitionKey, index.sortKey, sortKey].filter((name) => name !== undefined) : [];

// Every shape's far id must be readable from key attributes alone, and from those that are held.
const withEndsOnly = (catalog: Catalog, step: QueryStep, at: { readonly far: "from" | "to"; readonly merges: boolean }): QueryStep => {
  const { far, merges } = at;
  const index = catalog.indexes.find(({ name }) => name === step.index);
  const held = index && heldBy(catalog, index);
  const attributes = new Set([...identityAttributes(catalog, step), ...(merges ? mergeAttributes(catalog, step) : [])]);
  for (const id of step.shapes) {
    const sources = endSources(catalog, defined(catalog.shapesById[id], id), far);
    if (!sources || sources.some(({ attribute }) => held && !held.has(attribute))) return step;
    for (const { attribute } of sources) attributes.add(attribute);
  }
  return { ...step, attributes: [...attributes] };
};

const endsOnly = (catalog: Catalog, plan: ReadPlan, merges: boolean): ReadPlan => ({
  ...plan,
  sources: plan.sources.map((source, at) =>
    source.kind === "query" ? withEndsOnly(catalog, source, { far: plan.near[at] === "from" ? "to" : "from", merges }) : source,
  ),
});

/**
 * How the edges of one node are read, undefined where none of the type stand at it.
 *
 * @param at `gathers` is the attribute that the walk gathers along these edges
 * @throws {plan.noIndex} when nothing finds the edges, or what finds them leaves out what is asked of them
 */
export const readHop = (
  { catalog, off }: WalkPlanning,
  hop: WalkHop,
  at: { readonly node: string; readonly gathers: string | undefined },
): ReadPlan | undefined => {
  const inputs = directionsOf(catalog, hop, at.node).map((direction) => expand(catalog, hop, { node: at.node, direction }));
  if (inputs.length === 0) return undefined;
  const whole = planRead(catalog, logicalHop(inputs, hop), off);
  const folded = at.gathers !== undefined && hasField(catalog, hop, at.gathers) ? at.gathers : undefined;
  if (hop.reads === "edges") return checked(catalog, whole, folded);
  const needed = neededFields(whole, folded);
  if (needed.length === 0 && !whole.filter) return endsOnly(catalog, whole, hop.limit !== undefined);
  const hasReference = whole.sources.some(
    (source) => source.kind === "query" && source.shapes.some((id) => catalog.shapesById[id]?.role === "reference"),
  );
  if (hasReference) return checked(catalog, whole, folded);
  return planRead(
    catalog,
    logicalHop(
      inputs.map((input) => ({ ...input, select: needed })),
      hop,
    ),
    off,
  );
};
