import { sameValue } from "../keys/template.ts";
import { lowerCollection } from "../planner/lower-collection.ts";
import { collectionForm, collectionPlan, type CollectionState } from "../query/reads.ts";
import type { EndEntry } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import { findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";

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
    for (const { shape, row } of found) {
      if (shape.kind === "edge") (edges[shape.definition] ??= []).push(row);
      else if (shape.kind === "part") (parts[shape.definition] ??= []).push(row);
      else if (shape.definition === entry.name && entry.idFields.every((field) => sameValue(row[field], id[field]))) node = row;
    }
    return { node, edges, parts };
  });
};
