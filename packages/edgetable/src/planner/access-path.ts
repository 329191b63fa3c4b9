import { growthOf, leadOf, shardPaths, templatesOverlap, type Template } from "../keys/template.ts";
import { type Catalog, keyAttributes, type Index, type Shape } from "../schema/catalog.ts";

/** A sort key template cut after the parts that are known. */
export interface SortPrefix {
  readonly template: Template;
  readonly complete: boolean;
  /** The first field that is not known, and what follows it. */
  readonly next: { readonly path: string; readonly at: number } | undefined;
  /** How many fields the prefix fixes. */
  readonly fixed: number;
}

/** One way to reach the items of some shapes by a Query. */
export interface AccessPath {
  readonly index: Index;
  readonly shapes: readonly Shape[];
  readonly partition: Template;
  /** Where the items may lie in several partitions, of which each has to be read: the fields of their shards that are not known. */
  readonly scatters: readonly string[] | undefined;
  readonly prefix: SortPrefix | undefined;
  /** Whether items of other shapes may lie in the same partition, and inside the prefix. */
  readonly sharesPartition: boolean;
  readonly sharesPrefix: boolean;
}

/** Some shapes, and the index through which they may be reached. */
type Candidate = Pick<AccessPath, "index" | "shapes">;

/** What a call wants of an access path. */
export interface Wanted {
  readonly known: ReadonlySet<string>;
  readonly orderBy: string | undefined;
  readonly ranges: ReadonlySet<string>;
  readonly consistent: boolean;
  readonly index: string | undefined;
}

/** A path as the shape's own templates name it. */
export const inShape = (shape: Shape, path: string): string => shape.alias?.[path] ?? path;

/** The paths of a set as the shape's own templates name them. */
const knownIn = (shape: Shape, known: ReadonlySet<string>): ReadonlySet<string> =>
  shape.alias ? new Set([...known].map((path) => inShape(shape, path))) : known;

/** Whether every field of a template is known. */
const isDetermined = (template: Template, known: ReadonlySet<string>): boolean => template.fields.every((path) => known.has(path));

/** Whether the table key of a shape's items follows from what is known. */
export const isKeyDetermined = ({ index }: Catalog, { keys }: Shape, known: ReadonlySet<string>): boolean =>
  keyAttributes(index).every((attribute) => keys[attribute] === undefined || isDetermined(keys[attribute], known));

/** Whether every field of a template is known, but for those that only choose a shard. */
const isReachable = (template: Template, known: ReadonlySet<string>): boolean => {
  const shards = shardPaths(template);
  return template.fields.every((path) => known.has(path) || shards.has(path));
};

/** Whether several partitions may hold the items: an unknown shard, or one of several counts. */
const isScattered = (template: Template, known: ReadonlySet<string>): boolean =>
  !isDetermined(template, known) || growthOf(template) !== undefined;

const unknownShards = (template: Template, known: readonly ReadonlySet<string>[]): readonly string[] | undefined =>
  known.some((one) => isScattered(template, one))
    ? [...shardPaths(template)].filter((path) => !known.every((one) => one.has(path)))
    : undefined;

/** The fields whose values an item's keys tell on this path: a field that only chose a shard is not told by it. */
export const fixedBy = ({ partition, prefix }: AccessPath): ReadonlySet<string> => {
  const shards = shardPaths(partition);
  return new Set([...partition.fields.filter((path) => !shards.has(path)), ...(prefix?.template.fields ?? [])]);
};

// A shard that is not known is the same whatever it is taken from.
const outline = (template: Template, known: ReadonlySet<string>): string =>
  template.parts
    .map((part) => JSON.stringify(part.kind === "field" && part.format.kind === "shard" && !known.has(part.path) ? part.format : part))
    .join();

const cut = (template: Template, length: number): Template => {
  const parts = template.parts.slice(0, length);
  const fields = [...new Set(parts.flatMap((part) => (part.kind === "field" ? [part.path] : [])))];
  return { ...template, parts, fields };
};

/** Cuts a sort key's template after the parts that are known. */
export const sortPrefix = (template: Template, known: ReadonlySet<string>): SortPrefix => {
  const at = template.parts.findIndex((part) => part.kind === "field" && !known.has(part.path));
  if (at < 0) return { template, complete: true, next: undefined, fixed: template.fields.length };
  const field = template.parts[at];
  const prefix = cut(template, at);
  return {
    template: prefix,
    complete: false,
    next: field?.kind === "field" ? { path: field.path, at } : undefined,
    fixed: prefix.fields.length,
  };
};

const samePart = (a: Template["parts"][number] | undefined, b: Template["parts"][number] | undefined): boolean =>
  a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);

const samePrefix = (a: SortPrefix, b: SortPrefix): boolean =>
  a.complete === b.complete && a.next?.path === b.next?.path && JSON.stringify(a.template.parts) === JSON.stringify(b.template.parts);

const commonText = (a: string, b: string): string => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
};

// Several shapes in one Query share the longest prefix that all of them have.
const commonPrefix = (prefixes: readonly SortPrefix[]): SortPrefix | undefined => {
  const [first, ...rest] = prefixes;
  if (!first || rest.every((other) => samePrefix(first, other))) return first;
  const parts: Template["parts"][number][] = [];
  for (const [at, part] of first.template.parts.entries()) {
    const others = rest.map((other) => other.template.parts[at]);
    if (others.every((other) => samePart(part, other))) {
      parts.push(part);
      continue;
    }
    if (part.kind === "literal" && others.every((other) => other?.kind === "literal")) {
      const text = others.reduce((common, other) => commonText(common, other?.kind === "literal" ? other.text : ""), part.text);
      if (text !== "") parts.push({ kind: "literal", text });
    }
    break;
  }
  const template = cut({ ...first.template, parts }, parts.length);
  return { template, complete: false, next: undefined, fixed: template.fields.length };
};

const isSame = (a: Template, b: Template, known: ReadonlySet<string>): boolean =>
  a.source === b.source || outline(a, known) === outline(b, known);

const mayStartWith = (template: Template | undefined, prefix: Template): boolean => {
  const mine = leadOf(template);
  const theirs = leadOf(prefix);
  return mine.startsWith(theirs) || theirs.startsWith(mine);
};

const strangers = (catalog: Catalog, { index, shapes }: Candidate): readonly Shape[] => {
  const wanted = new Set(shapes.map((shape) => (shape.role === "reference" ? shape.keys : shape.id)));
  return catalog.shapes.filter(
    (shape) =>
      !wanted.has(shape.id) && !wanted.has(shape.keys) && shape.keys[index.partitionKey] && (!index.sortKey || shape.keys[index.sortKey]),
  );
};

/** The way to some shapes through one index, where the known fields lead to it. */
export const pathOn = (catalog: Catalog, candidate: Candidate, wanted: Wanted): AccessPath | undefined => {
  const { index, shapes } = candidate;
  const partitions = shapes.map((shape) => shape.keys[index.partitionKey]);
  const [partition] = partitions;
  if (!partition || !partitions.every((other) => other && isSame(other, partition, wanted.known))) return undefined;
  if (!shapes.every((shape) => isReachable(partition, knownIn(shape, wanted.known)))) return undefined;
  const scatters = unknownShards(
    partition,
    shapes.map((shape) => knownIn(shape, wanted.known)),
  );
  // The table's own partitions are asked for by the whole key.
  if (scatters && index.name === undefined) return undefined;
  const sorts = index.sortKey === undefined ? [] : shapes.map((shape) => shape.keys[index.sortKey as string]);
  if (sorts.some((sort) => sort === undefined)) return undefined;
  const prefix = commonPrefix(shapes.flatMap((shape, at) => (sorts[at] ? [sortPrefix(sorts[at], knownIn(shape, wanted.known))] : [])));
  const sharing = strangers(catalog, candidate).filter((other) => templatesOverlap(other.keys[index.partitionKey] as Template, partition));
  const sharesPrefix = sharing.some((other) => !prefix || mayStartWith(other.keys[index.sortKey as string], prefix.template));
  return { index, shapes, partition, scatters, prefix, sharesPartition: sharing.length > 0, sharesPrefix };
};

/** Whether the path gives rows in the order of a field: it is next in the sort key, or fixed, or one whole key of the table has one row. */
export const isOrderedBy = (path: AccessPath, orderBy: string | undefined): boolean => {
  if (orderBy === undefined || (path.index.name === undefined && path.prefix?.complete)) return true;
  return path.shapes.every(
    (shape) => path.prefix?.next?.path === inShape(shape, orderBy) || path.prefix?.template.fields.includes(inShape(shape, orderBy)),
  );
};

const isRangedBy = (path: AccessPath, ranges: ReadonlySet<string>): boolean =>
  path.shapes.every((shape) => [...ranges].some((range) => inShape(shape, range) === path.prefix?.next?.path));

// Lexicographic: order, one partition, range, the table before an index, everything projected, the longer prefix.
const score = (path: AccessPath, wanted: Wanted): number =>
  (isOrderedBy(path, wanted.orderBy) ? 2000 : 0) +
  (path.scatters ? 0 : 1000) +
  (isRangedBy(path, wanted.ranges) ? 500 : 0) +
  (path.index.name === undefined ? 200 : 0) +
  (path.index.projection === "ALL" ? 100 : 0) +
  (path.prefix?.complete ? 50 : 0) +
  Math.min(40, path.prefix?.fixed ?? 0);

/** Every way to reach one of the sets of shapes with what is known, best first. */
export const accessPaths = (catalog: Catalog, sets: readonly (readonly Shape[])[], wanted: Wanted): readonly AccessPath[] => {
  const indexes = [catalog.index, ...catalog.indexes].filter((index) => {
    if (wanted.consistent && index.name !== undefined) return false;
    return wanted.index === undefined || index.name === wanted.index;
  });
  return sets
    .filter((shapes) => shapes.length > 0)
    .flatMap((shapes) => indexes.flatMap((index) => pathOn(catalog, { index, shapes }, wanted) ?? []))
    .toSorted((a, b) => score(b, wanted) - score(a, wanted));
};
