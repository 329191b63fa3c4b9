import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LinkWrite, PutEdgeWrite, RelinkWrite, Row, UnlinkWrite } from "../../ir/logical-write.ts";
import { sameKey, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { encodeItem, VERSION } from "../../requests/encode-item.ts";
import { keyIfComplete, keyOf, keyOfItem } from "../../requests/item-key.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { changeItem, changedRow, readsImage } from "./change-item.ts";
import { countSteps, type EdgeBetween } from "./degree-guards.ts";
import { type EdgeCopy, edgeCopies } from "./edge-copies.ts";
import { endTerms, isOtherEdge } from "./end-terms.ts";
import { existsStep } from "./exists-step.ts";
import { guardTerms } from "./guard-terms.ts";
import { unchanged } from "./move-item.ts";
import { absent, imageOf, locate, notFound, type Planning, present, STALE, type Steps } from "./planning.ts";

const ends = ["from", "to"] as const;

const betweenOf = (catalog: Catalog, write: LinkWrite | PutEdgeWrite | RelinkWrite | UnlinkWrite, edge = write.edge): EdgeBetween => ({
  entry: defined(catalog.edges[edge], `the edge "${edge}"`),
  from: write.from,
  to: write.to,
});

/** The checks that an edge's ends exist, where they have an item of their own that the id leads to. */
const endChecks = (catalog: Catalog, edge: EdgeBetween): readonly WriteItem[] => {
  if (edge.entry.definition.ends === "unchecked") return [];
  const checks: WriteItem[] = [];
  for (const end of ends) {
    const { type, id } = edge[end];
    const node = catalog.nodes[type];
    const key = node && node.definition.stored !== false ? keyIfComplete(catalog, node.shape, id) : undefined;
    if (node && key) checks.push(existsStep(catalog, { node, key }, { reason: "endMissing", end, id }));
  }
  return checks;
};

const putCopy = (catalog: Catalog, copy: EdgeCopy, terms: readonly Term[]): WriteItem => {
  const item = encodeItem(catalog, copy.shape, copy.row);
  return { kind: "put", key: keyOfItem(catalog, item), item, terms, shape: copy.shape };
};

/** What an edge holds, and what its other copy holds otherwise. */
interface Contents {
  readonly attributes: Row;
  readonly reverse: Row;
}

/** The steps that write an edge anew: its copies, the checks of its ends, its degrees. */
const linkSteps = (
  catalog: Catalog,
  edge: EdgeBetween,
  { attributes, reverse }: Contents,
): { readonly items: readonly WriteItem[]; readonly row: Row } => {
  const versioned = edge.entry.definition.version ? { ...attributes, [VERSION]: 1 } : attributes;
  const copies = edgeCopies(edge, versioned, reverse);
  // The copy in the target's partition follows the own one, whatever stood there.
  const puts = copies.map((copy, at) => putCopy(catalog, copy, at === 0 ? [absent] : []));
  return { items: [...puts, ...endChecks(catalog, edge), ...countSteps(catalog, edge, 1)], row: copies[0].row };
};

/** Writes an edge, where there is none. */
export const planLink = ({ catalog }: Planning, write: LinkWrite): Steps => {
  const { items, row } = linkSteps(catalog, betweenOf(catalog, write), { attributes: write.row, reverse: write.reverse });
  return { kind: "items", items, row };
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
const replaceSteps = (planning: Planning, edge: EdgeBetween, image: Item): readonly WriteItem[] => {
  const { catalog } = planning;
  const [{ shape }] = edgeCopies(edge, {});
  const before = decodeItem(catalog, shape, image);
  const endOf = (end: "from" | "to") => {
    const id = before[end] as Row;
    return { type: edge[end].type, id: Object.fromEntries(catalog.nodes[edge[end].type]!.idFields.map((field) => [field, id[field]])) };
  };
  const old: EdgeBetween = { entry: edge.entry, from: endOf("from"), to: endOf("to") };
  const [gone, come] = [countSteps(catalog, old, -1), countSteps(catalog, edge, 1)];
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
  const counts = countSteps(catalog, edge, 1);
  const [own, second] = edgeCopies(edge, write.row);
  const { shape, row: known } = own;
  const reads = counts.length > 0 || version === true || (second !== undefined && shape.unkeyed.length > 0);
  const image = reads
    ? imageOf(
        planning,
        { shape, key: keyOf(catalog, shape, known) },
        version ? "its version rises by one" : "an edge that is there counts already",
      )
    : null;
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
  return { kind: "items", items: [...puts, ...checks, ...(image ? replaced : counts)], row: copies[0].row };
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
  return { kind: "items", items: [{ kind: "delete", key, terms, shape: own.shape }, ...copies, ...countSteps(catalog, edge, -1)] };
};

/** Changes an edge that is there: its attributes and its place in the order, or its type. */
export const planRelink = (planning: Planning, write: RelinkWrite): Steps => {
  const { catalog } = planning;
  if (write.type !== undefined && write.type !== write.edge) return planRetype(planning, write, write.type);
  const items: WriteItem[] = [];
  let row: Row | undefined;
  let missing = false;
  for (const [at, { shape, row: known }] of edgeCopies(betweenOf(catalog, write), write.key).entries()) {
    const changes = at === 0 ? write.changes : { ...write.changes, set: { ...write.changes.set, ...write.reverse } };
    const key = locate(planning, shape, known);
    if (key === null) return notFound;
    const image =
      key && readsImage(catalog, { shape, known, changes })
        ? imageOf(planning, { shape, key }, "a computed attribute needs what is not in the call")
        : undefined;
    if (image === null) return notFound;
    const terms = key && at === 0 ? endTerms(planning, { shape, row: known, key }) : [];
    if (terms === null) return notFound;
    missing ||= key === undefined || planning.needs.length > 0;
    if (missing || !key || !terms) continue;
    const guards = at === 0 ? write.guards : { version: write.guards.version };
    const changed = changeItem(catalog, { shape, key, known, changes, guards, image, terms });
    items.push(...changed.items);
    row ??= changed.row;
  }
  return missing ? undefined : { kind: "items", items, row };
};

// An attribute that the user calls "version" is one like any other, unless the edge type counts its writes.
const withoutIdentity = ({ from: _from, to: _to, [VERSION]: version, ...attributes }: Row, counted: boolean): Row =>
  counted || version === undefined ? attributes : { ...attributes, [VERSION]: version };

const validated = (edge: EdgeBetween, row: Row): Row => {
  const result = edge.entry.definition.schema?.["~standard"].validate(row);
  if (result instanceof Promise)
    throw new EdgetableError(
      "plan.unsupported",
      `"${edge.entry.name}" has an asynchronous schema, which a change of type cannot wait for: read the edge, then unlink and link in one transact.`,
    );
  if (!result?.issues) return (result?.value ?? {}) as Row;
  const issues = result.issues.map(({ message }) => message);
  throw new EdgetableError("schema.invalidValue", `The edge does not fit "${edge.entry.name}": ${issues.join("; ")}.`, {
    details: { issues },
  });
};

// The edge leaves one type and joins another with what it holds, in one transaction.
const planRetype = (planning: Planning, write: RelinkWrite, type: string): Steps => {
  const { catalog } = planning;
  const before = betweenOf(catalog, write);
  const after = betweenOf(catalog, write, type);
  const read = edgeCopies(before, write.key).map(({ shape, row }) => {
    const key = locate(planning, shape, row);
    return { shape, key, image: key ? imageOf(planning, { shape, key }, "the edge keeps its attributes under the other type") : key };
  });
  if (read.some(({ image }) => image === undefined)) return undefined;
  const [own, second] = read;
  if (!own?.key || !own.image || isOtherEdge(planning, edgeCopies(before, write.key)[0], own.image)) return notFound;
  const attributesOf = (one: typeof own): Row =>
    one.image ? withoutIdentity(decodeItem(catalog, one.shape, one.image), before.entry.definition.version === true) : {};
  const row = changedRow(attributesOf(own), write.changes);
  const reverse = { ...(second ? attributesOf(second) : {}), ...write.changes.set, ...write.reverse };
  const linked = linkSteps(catalog, after, { attributes: write.validates ? validated(after, row) : row, reverse });
  const old = { shape: own.shape, key: own.key };
  const removal: WriteItem = {
    kind: "delete",
    ...old,
    terms: [present, ...guardTerms(own.shape, write.guards), ...unchanged(catalog, old, own.image)],
  };
  const copy: readonly WriteItem[] = second?.key ? [{ kind: "delete", key: second.key, terms: [], shape: second.shape }] : [];
  return { kind: "items", items: [...linked.items, removal, ...copy, ...countSteps(catalog, before, -1)], row: linked.row };
};
