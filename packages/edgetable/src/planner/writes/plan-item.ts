import type { CreateWrite, DeleteWrite, PutWrite, UpdateWrite } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { encodeItem, keyIfComplete, keyOf, keyOfItem, VERSION } from "../../requests/encode-item.ts";
import type { Catalog, NodeEntry, PartEntry, Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { changeItem } from "./change-item.ts";
import { changedRow } from "./changed-row.ts";
import { restrictSteps } from "./degree-guards.ts";
import { existsStep } from "./exists-step.ts";
import { guardTerms } from "./guard-terms.ts";
import { absentOrExpired, imageOf, locate, notFound, type Planning, present, seen, STALE, type Steps } from "./planning.ts";
import { readsImage } from "./touched-keys.ts";
import { markerSteps, uniqueTerms } from "./unique-markers.ts";
import type { Row } from "../../util/row.ts";

interface Subject {
  readonly of: "node" | "part";
  readonly name: string;
}

const nodeOf = (catalog: Catalog, { of, name }: Subject): NodeEntry | undefined => (of === "node" ? catalog.nodes[name] : undefined);
const entryOf = (catalog: Catalog, subject: Subject): NodeEntry | PartEntry =>
  defined(nodeOf(catalog, subject) ?? catalog.parts[subject.name], `the ${subject.of} "${subject.name}"`);

const putStep = (catalog: Catalog, { shape, row }: { readonly shape: Shape; readonly row: Row }, terms: readonly Term[]): WriteItem => {
  const item = encodeItem(catalog, shape, row);
  return { kind: "put", key: keyOfItem(catalog, item), item, terms, shape };
};

const versioned = (shape: Shape, row: Row, version: number): Row => (shape.version ? { ...row, [VERSION]: version } : row);

/** Creates a node or part, where there is none. */
export const planCreate = (planning: Planning, write: CreateWrite): Steps => {
  const { catalog } = planning;
  const { shape } = entryOf(catalog, write);
  const node = nodeOf(catalog, write);
  const row = versioned(shape, write.row, 1);
  const own = putStep(catalog, { shape, row }, [absentOrExpired(planning, shape)]);
  const further = node
    ? markerSteps(planning, node, { after: row, fields: node.definition.unique ?? [] })
    : ownerChecks(catalog, write, row);
  return further && { kind: "items", items: [own, ...further], row };
};

/** The check that a part's node is there, where the model asks for it. */
const ownerChecks = (catalog: Catalog, { of, name }: Subject, row: Row): readonly WriteItem[] => {
  const part = of === "part" ? catalog.parts[name] : undefined;
  const node = part?.definition.owner === "checked" ? catalog.nodes[part.definition.of] : undefined;
  if (!node || node.definition.stored === false) return [];
  const key = keyIfComplete(catalog, node.shape, row);
  const id = Object.fromEntries(node.idFields.map((field) => [field, row[field]]));
  return key ? [existsStep(catalog, { node, key }, { reason: "endMissing", end: "from", id })] : [];
};

const putChecks = (catalog: Catalog, write: PutWrite, row: Row): readonly WriteItem[] =>
  write.ends === "unchecked" ? [] : ownerChecks(catalog, write, row);

const versionOf = (image: Item | null | undefined): number => {
  const value = image?.[VERSION];
  return value && "N" in value ? Number(value.N) : 0;
};

const asRead = (image: Item | null, terms: readonly Term[]): readonly Term[] => (image ? terms : [{ kind: "absent", failure: STALE }]);

/** Writes a whole node or part, whatever is there; reads it first where markers or a version depend on it. */
export const planPut = (planning: Planning, write: PutWrite): Steps => {
  const { catalog } = planning;
  const { shape } = entryOf(catalog, write);
  const node = nodeOf(catalog, write);
  const unique = node?.definition.unique ?? [];
  const guards = guardTerms(shape, write.guards);
  const needsVersion = shape.version && write.guards.version === undefined;
  if (unique.length === 0 && !needsVersion) {
    const row = versioned(shape, write.row, (write.guards.version ?? 0) + 1);
    return { kind: "items", items: [putStep(catalog, { shape, row }, guards), ...putChecks(catalog, write, row)], row };
  }
  const image = imageOf(
    planning,
    { shape, key: keyOf(catalog, shape, write.row) },
    unique.length > 0 ? "its unique values may change" : "its version rises by one",
  );
  if (image === undefined) return undefined;
  const next = Math.max((write.guards.version ?? versionOf(image)) + 1, write.leastVersion ?? 1);
  const row = versioned(shape, write.row, next);
  const before = image ? decodeItem(catalog, shape, image) : undefined;
  const versionTerm: Term = { kind: "equals", attribute: VERSION, value: image?.[VERSION], failure: STALE };
  const stale = image ? [...(node ? uniqueTerms(node, unique, image) : []), ...(needsVersion ? [versionTerm] : [])] : [];
  const own = putStep(catalog, { shape, row }, [...guards, ...asRead(image, stale)]);
  const further = node ? markerSteps(planning, node, { before, after: row, fields: unique }) : putChecks(catalog, write, row);
  return further && { kind: "items", items: [own, ...further], row };
};

const changedNames = ({ changes }: UpdateWrite): readonly string[] => [
  ...Object.keys(changes.set),
  ...changes.remove,
  ...Object.keys(changes.add),
  ...Object.keys(changes.append),
];

const withTerms = (item: WriteItem, terms: readonly Term[]): WriteItem => ({ ...item, terms: [...item.terms, ...terms] });

/** Changes a node or part that is there. */
export const planUpdate = (planning: Planning, write: UpdateWrite): Steps => {
  const { catalog } = planning;
  const { shape } = entryOf(catalog, write);
  const node = nodeOf(catalog, write);
  const { id: known, changes, guards } = write;
  const key = locate(planning, shape, known);
  if (key === undefined) return undefined;
  if (key === null) return notFound;
  const names = changedNames(write);
  const unique = (node?.definition.unique ?? []).filter((field) => names.includes(field));
  if (unique.length === 0 && seen(planning, key) === undefined && !readsImage(catalog, { shape, known, changes })) {
    const { items } = changeItem(catalog, { shape, key, known, changes, guards, image: undefined });
    return { kind: "items", items };
  }
  const image = imageOf(
    planning,
    { shape, key },
    unique.length > 0 ? "the markers of its unique values move" : "a computed attribute needs what is not in the call",
  );
  if (image === undefined) return undefined;
  if (image === null) return notFound;
  const { items, row } = changeItem(catalog, { shape, key, known, changes, guards, image });
  if (!node || unique.length === 0) return { kind: "items", items, row };
  const before = decodeItem(catalog, shape, image);
  const old = items.length - 1;
  const guarded = items.map((item, at) => (at === old ? withTerms(item, uniqueTerms(node, unique, image)) : item));
  const markers = markerSteps(planning, node, { before, after: changedRow(before, changes), fields: unique });
  return markers && { kind: "items", items: [...guarded, ...markers], row };
};

/** Deletes a node or part that is there, with its unique markers, unless edges restrict it. */
export const planDelete = (planning: Planning, write: DeleteWrite): Steps => {
  const { catalog } = planning;
  const { shape } = entryOf(catalog, write);
  const node = nodeOf(catalog, write);
  const key = locate(planning, shape, write.id);
  if (key === undefined) return undefined;
  if (key === null) return notFound;
  const terms = [present, ...guardTerms(shape, write.guards)];
  if (!node) return { kind: "items", items: [{ kind: "delete", key, terms, shape }] };
  const restrict = write.edges === "unchecked" ? [] : restrictSteps(planning, { type: node.name, id: write.id });
  const unique = node.definition.unique ?? [];
  if (unique.length === 0) return restrict && { kind: "items", items: [{ kind: "delete", key, terms, shape }, ...restrict] };
  const image = imageOf(planning, { shape, key }, "its unique values' markers go with it");
  if (image === undefined) return undefined;
  if (image === null) return notFound;
  const row = decodeItem(catalog, shape, image);
  const own: WriteItem = { kind: "delete", key, terms: [...terms, ...uniqueTerms(node, unique, image)], shape };
  const markers = markerSteps(planning, node, { before: row, fields: unique });
  return markers && restrict && { kind: "items", items: [own, ...markers, ...restrict], row };
};
