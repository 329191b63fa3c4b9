import type { LinkWrite, PutEdgeWrite, UnlinkWrite } from "../../ir/logical-write.ts";
import { sameKey, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { keyOf, VERSION } from "../../requests/encode-item.ts";
import type { Item } from "../../transport/operations.ts";
import { countSteps, type EdgeBetween, guardKeys, readGuards } from "./degree-guards.ts";
import { edgeCopies } from "./edge-copies.ts";
import { endTerms, isOtherEdge } from "./end-terms.ts";
import { guardTerms } from "./guard-terms.ts";
import { betweenOf, endChecks, linkSteps, putCopy } from "./link-steps.ts";
import { imageOf, locate, notFound, type Planning, present, STALE, type Steps } from "./planning.ts";
import type { Row } from "../../util/row.ts";

/** Writes an edge, where there is none. */
export const planLink = (planning: Planning, write: LinkWrite): Steps => {
  const linked = linkSteps(planning, betweenOf(planning.catalog, write), { attributes: write.row, reverse: write.reverse });
  return linked && { kind: "items", items: linked.items, row: linked.row };
};

const asRead = (edge: EdgeBetween, image: Item | null): readonly Term[] => {
  if (!image) return [{ kind: "absent", failure: STALE }];
  return [
    edge.entry.definition.version
      ? { kind: "equals", attribute: VERSION, value: image[VERSION], failure: STALE }
      : { kind: "present", failure: STALE },
  ];
};

const nextVersion = (image: Item | null | undefined): number => {
  const value = image?.[VERSION];
  return value && "N" in value ? Number(value.N) + 1 : 1;
};

// Where the key names one end alone, an edge to another node gives way: its other copy goes, and counts no more.
const replaceSteps = (planning: Planning, edge: EdgeBetween, image: Item): readonly WriteItem[] | undefined => {
  const { catalog } = planning;
  const [{ shape }] = edgeCopies(edge, {});
  const before = decodeItem(catalog, shape, image);
  const endOf = (end: "from" | "to") => {
    const id = before[end] as Row;
    return { type: edge[end].type, id: Object.fromEntries(catalog.nodes[edge[end].type]!.idFields.map((field) => [field, id[field]])) };
  };
  const old: EdgeBetween = { entry: edge.entry, from: endOf("from"), to: endOf("to") };
  const [gone, come] = [countSteps(planning, old, -1), countSteps(planning, edge, 1)];
  if (!gone || !come) return undefined;
  const mirrors = edgeCopies(old, before).slice(1);
  return [
    ...mirrors.map((copy): WriteItem => ({ kind: "delete", key: keyOf(catalog, copy.shape, copy.row), terms: [], shape: copy.shape })),
    ...gone.filter((one) => !come.some((other) => sameKey(one.key, other.key))),
    ...come.filter((one) => !gone.some((other) => sameKey(one.key, other.key))),
  ];
};

/** Writes an edge, whatever was there; reads it first where a degree, a version or another edge's copy depends on it. */
export const planPutEdge = (planning: Planning, write: PutEdgeWrite): Steps => {
  const { catalog } = planning;
  const edge = betweenOf(catalog, write);
  const { version } = edge.entry.definition;
  const counts = guardKeys(catalog, edge).length > 0;
  const [own, second] = edgeCopies(edge, write.row);
  const { shape, row: known } = own;
  const reads = counts || version === true || (second !== undefined && shape.unkeyed.length > 0);
  const image = reads
    ? imageOf(
        planning,
        { shape, key: keyOf(catalog, shape, known) },
        version ? "its version rises by one" : "an edge that is there counts already",
      )
    : null;
  if (counts) readGuards(planning, edge);
  if (image === undefined) return undefined;
  const copies = edgeCopies(
    edge,
    version ? { ...write.row, [VERSION]: Math.max(nextVersion(image), write.leastVersion ?? 1) } : write.row,
    write.reverse,
  );
  const terms = reads ? asRead(edge, image) : [];
  const puts = copies.map((copy, at) => putCopy(catalog, copy, at === 0 ? terms : []));
  const checks = write.ends === "checked" ? endChecks(catalog, edge) : [];
  const replaced = image && isOtherEdge(planning, own, image) ? replaceSteps(planning, edge, image) : [];
  const further = image ? replaced : countSteps(planning, edge, 1);
  return further && { kind: "items", items: [...puts, ...checks, ...further], row: copies[0].row };
};

/** Removes an edge that is there. */
export const planUnlink = (planning: Planning, write: UnlinkWrite): Steps => {
  const { catalog } = planning;
  const edge = betweenOf(catalog, write);
  const [own, ...others] = edgeCopies(edge, write.key);
  const key = locate(planning, own.shape, own.row);
  const further = others.map((copy) => ({ copy, key: locate(planning, copy.shape, copy.row) }));
  if (key === undefined || further.some((one) => one.key === undefined)) return undefined;
  if (key === null) return notFound;
  const between = endTerms(planning, { ...own, key });
  if (!between) return between === null ? notFound : undefined;
  const terms = [present, ...between, ...guardTerms(own.shape, write.guards)];
  const copies = further.flatMap(({ copy, key: at }): readonly WriteItem[] =>
    at ? [{ kind: "delete", key: at, terms: [], shape: copy.shape }] : [],
  );
  const counts = countSteps(planning, edge, -1);
  return counts && { kind: "items", items: [{ kind: "delete", key, terms, shape: own.shape }, ...copies, ...counts] };
};
