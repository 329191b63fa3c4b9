import { exactText } from "../keys/template.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import { lowerCollection } from "../planner/lower-collection.ts";
import { collectionForm, collectionPlan, type CollectionState } from "../query/reads.ts";
import { type Catalog, type EndEntry, idText, type Shape } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import { findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";

type Found = readonly { readonly shape: Shape; readonly row: Row }[];

/** Removes the second copy of an edge from a node to itself if the first copy was read as well. */
const eachOnce = (catalog: Catalog, found: Found): Found => {
  const idOf = ({ shape: { definition }, row }: Found[number]): string =>
    exactText([definition, row["from"], row["to"], ...(catalog.edges[definition]?.key ?? []).map((field) => row[field])]);
  const loops = found.filter(
    ({ shape, row }) => shape.role === "mirror" && shape.from === shape.to && exactText(row["from"]) === exactText(row["to"]),
  );
  if (loops.length === 0) return found;
  const own = new Set(found.filter(({ shape }) => shape.kind === "edge" && shape.role === "own").map(idOf));
  const second = new Set(loops.filter((one) => own.has(idOf(one))));
  return found.filter((one) => !second.has(one));
};

/** True if an item is the node's own item, one of its parts or one of its edges. A layout may put several nodes into one partition. */
const belongsTo = (entry: EndEntry, id: Row, { partitionKey }: QueryStep): ((one: Found[number]) => boolean) => {
  const text = idText(entry, id);
  return ({ shape, row }) => {
    if (shape.kind === "node") return shape.definition === entry.name && idText(entry, row) === text;
    if (shape.kind === "part") return shape.from === entry.name && idText(entry, row) === text;
    // An edge belongs to the end that its partition key names last. The other end may share the first levels of the key.
    const named = shape.keys[partitionKey]!.fields.findLast((field) => field.startsWith("from.") || field.startsWith("to."));
    const ends = named === undefined ? (["from", "to"] as const) : ([named.startsWith("to.") ? "to" : "from"] as const);
    return ends.some((end) => shape[end] === entry.name && idText(entry, row[end] as Row) === text);
  };
};

/** A call that reads a node with its edges and parts. */
export const collect = (
  driver: Driver,
  entry: EndEntry,
  { id, ...from }: { readonly id: Row } & Omit<CollectionState, "node">,
): Read<unknown> => {
  const state = { node: entry.name, ...from };
  const plan = driver.plan(collectionForm(state), () => collectionPlan(state), { collecting: lowerCollection });
  const request = { plan, findNode: findNode(driver), binding: { row: id, values: [] } };
  return readCall(driver, request, (found) => {
    const edges: Record<string, Row[]> = {};
    const parts: Record<string, Row[]> = {};
    let node: Row | undefined;
    for (const { shape, row } of eachOnce(driver.catalog, found.filter(belongsTo(entry, id, plan.sources[0] as QueryStep)))) {
      if (shape.kind === "edge") (edges[shape.definition] ??= []).push(row);
      else if (shape.kind === "part") (parts[shape.definition] ??= []).push(row);
      else node = row;
    }
    return { node, edges, parts };
  });
};
