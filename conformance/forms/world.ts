import type { EdgetableError } from "edgetable";
import { expect } from "vitest";
import type { Forms, Place } from "./model.ts";
import type { NaiveGraph } from "../naive/graph.ts";
import { edgeTypeOf, edgeTypes, idFields, type EdgeName, type End, type NaiveEdge, type NodeType, type Row } from "./vocabulary.ts";

/** The library and the reference, side by side. */
export interface World {
  // oxlint-disable-next-line typescript/no-explicit-any -- a history picks the members of the surface at run time
  readonly db: any;
  readonly graph: NaiveGraph;
  readonly place: Place;
  readonly ids: Readonly<Record<NodeType, readonly Row[]>>;
  readonly texts: readonly string[];
}
export type Kind = EdgeName | NodeType;
export type Db = ReturnType<Forms["connect"]>;

export const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

export const endAt = ({ ids }: World, type: NodeType, at: number): End => ({ type, id: pick(ids[type], at) });

/** An end as rows have it. */
export const endRow = (edge: string, { type, id }: End): Row => {
  const { from, to } = edgeTypeOf(edge);
  return from.length * to.length > 1 ? { type, ...(id as Row) } : (id as Row);
};

/** The node at an end that may be of these types, as reads return it: `{ kind, row }` if there are several. */
export const nodeRow = ({ graph }: World, end: End, types: ReadonlySet<NodeType>): unknown => {
  const row = graph.node(end)?.row;
  return row && types.size > 1 ? { kind: end.type, row } : row;
};

export const edgeRow = ({ edge, from, to, attributes }: NaiveEdge): Row => ({
  from: endRow(edge, from),
  to: endRow(edge, to),
  ...attributes,
});

export const clean = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

/** A value as text, whatever the order of its fields. */
export const textOf = (value: unknown): string => {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (typeof value !== "object" || value === null) return typeof value === "string" ? JSON.stringify(value) : String(value);
  const fields = Object.entries(clean(value as Row)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${name}:${textOf(one)}`).join()}}`;
};

/** The same rows, in the same order where one is promised. */
export const compareRows = (
  actual: readonly unknown[],
  expected: readonly unknown[],
  at: { readonly label: string; readonly exact: boolean },
): void => {
  const [mine, theirs] = [actual.map(textOf), expected.map(textOf)];
  if (at.exact) expect(mine, at.label).toEqual(theirs);
  else expect(mine.toSorted(), at.label).toEqual(theirs.toSorted());
};

// What the keys of an adopted layout's index tell of an edge's or node's own attributes.
const carriedByIndex: Readonly<Record<string, readonly string[]>> = {
  passes: ["at"],
  rates: ["score"],
  near: ["metres"],
  serves: ["since"],
  copied: ["level"],
  childOf: ["rank"],
};
const storedAs: Readonly<Record<string, string>> = { "stop.size": "Size", "near.km": "Km" };

const projectionOf = ({ place }: World, index: string): readonly string[] | "ALL" => {
  if (place.own) return index === "byKey" ? [] : index === "bySome" ? ["km", "size", "level", "parentId"] : "ALL";
  return place.projection === "KEYS_ONLY" ? [] : (place.projection as readonly string[] | "ALL");
};

/** Whether an index holds an attribute of what it finds. */
const isHeld = (world: World, index: string | undefined, { kind, field }: { readonly kind: Kind; readonly field: string }): boolean => {
  const projection = index === undefined ? "ALL" : projectionOf(world, index);
  if (projection === "ALL" || field === "from" || field === "to") return true;
  if (kind in idFields ? idFields[kind as NodeType].includes(field) : edgeTypes[kind as EdgeName].key?.includes(field)) return true;
  if (world.place.own) return projection.includes(field);
  if (carriedByIndex[kind]?.includes(field)) return true;
  return projection.includes(storedAs[`${kind}.${field}`] ?? field);
};

/** What an index gives of a row. */
export const heldOf = (world: World, index: string | undefined, at: { readonly kind: Kind; readonly row: Row }): Row =>
  Object.fromEntries(Object.entries(at.row).filter(([field]) => isHeld(world, index, { kind: at.kind, field })));

/** A refusal for what an index leaves out; anything else fails. Tells whether it was one. */
export const checkRefusal = (
  world: World,
  error: unknown,
  at: { readonly kind: Kind; readonly asked: readonly string[]; readonly label: string },
): void => {
  const { code, message } = error as EdgetableError;
  const own = at.kind in idFields ? undefined : edgeTypes[at.kind as EdgeName];
  const [, index = "", field = ""] = /^The index "(\w+)" finds .* leaves "(\w+)" out/.exec(message) ?? [];
  if (code !== "plan.noIndex" || field === "") throw new Error(`${at.label}: ${message}`, { cause: error });
  expect(at.asked, `${at.label}: ${message}`).toContain(field);
  if (own) expect([...own.attributes, ...(own.key ?? [])], `${at.label}: ${message}`).toContain(field);
  expect(isHeld(world, index, { kind: at.kind, field }), `${at.label}: ${message}`).toBe(false);
};
