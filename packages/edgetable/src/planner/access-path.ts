import { growthOf, hasShard, isOneWay, leadOf, type OneWayText, shardPaths, templatesOverlap, type Template } from "../keys/template.ts";
import { type Catalog, idPaths, keyAttributes, keyName, type Index, type KeySource, type Shape } from "../schema/catalog.ts";

/** A sort key template, cut after its known parts. */
export interface SortPrefix {
  readonly template: Template;
  readonly complete: boolean;
  /** The first unknown field, and its place among the template's parts. */
  readonly next: { readonly path: string; readonly at: number } | undefined;
}

/** One way to reach the items of some shapes by a Query. */
export interface AccessPath {
  /**
   * The index. If its keys consist of several attributes, `partitionKey` is the attribute of `partition`, and `sortKey` that of
   * `prefix`.
   */
  readonly index: Index;
  readonly shapes: readonly Shape[];
  readonly partition: Template;
  /** The other key attributes of the index that the call determines completely. */
  readonly equal: readonly KeySource[];
  /** The unknown fields that choose the shard. Set if the items may be in several partitions, all of which are read. */
  readonly scatters: readonly string[] | undefined;
  /** The shards that a call lists; undefined for all. */
  readonly only?: readonly number[] | undefined;
  readonly prefix: SortPrefix | undefined;
  /** The fields whose values follow from an item's keys on this path. A field that only chooses a shard is not among them. */
  readonly fixes: ReadonlySet<string>;
  /**
   * Known fields that the keys contain in a form that other values may share, with that form. The values of the rows have to be
   * compared as well.
   */
  readonly folds: ReadonlyMap<string, OneWayText>;
  /** True if items of other shapes may be in the same partition and have the same prefix. */
  readonly sharesPrefix: boolean;
}

/** The name of a path in the shape's own templates. */
export const inShape = (shape: Shape, path: string): string => shape.alias?.[path] ?? path;

/** True if the path's keys fix the field for items of all its shapes. */
export const fixesField = ({ shapes, fixes }: AccessPath, field: string): boolean =>
  shapes.every((shape) => fixes.has(inShape(shape, field)));

/**
 * True if the path's keys use the known value of the field, so that the Query finds fewer rows. It may also find rows with other
 * values.
 */
export const takesField = ({ shapes, fixes, folds }: AccessPath, field: string): boolean =>
  shapes.every((shape) => fixes.has(inShape(shape, field)) || folds.has(inShape(shape, field)));

/** True if the path finds only the items of nodes with this id field, because the nodes' own keys contain it in the same form. */
const fixesNode = (catalog: Catalog, path: AccessPath, field: string): boolean => {
  if (fixesField(path, field)) return true;
  if (path.folds.size === 0) return false;
  const [end = "", name] = field.split(".");
  return path.shapes.every((shape) => {
    const node = shape.kind === "edge" ? (end === "from" ? shape.from : shape.to) : (shape.from ?? shape.definition);
    const own = catalog.ends[node ?? ""]?.shape;
    const form = path.folds.get(inShape(shape, field));
    return form !== undefined && own?.folded[name ?? end] === form;
  });
};

/** True if the field comes next in the path's sort key, so that the key condition can be a range of it. */
export const rangesOver = ({ shapes, prefix }: AccessPath, field: string): boolean => {
  const next = prefix?.next?.path;
  return next !== undefined && shapes.every((shape) => inShape(shape, field) === next);
};

/** True if the table key of a shape's items follows from what is known. */
export const isKeyDetermined = ({ index }: Catalog, { keys }: Shape, known: ReadonlySet<string>): boolean =>
  keyAttributes(index).every((attribute) => keys[attribute]?.fields.every((path) => known.has(path)) ?? true);

const cutAt = (template: Template, length: number): Template => {
  const parts = template.parts.slice(0, length);
  const fields: string[] = [];
  for (const part of parts) if (part.kind === "field" && !fields.includes(part.path)) fields.push(part.path);
  return { ...template, parts, fields };
};

// Every plan cuts the same few templates, so the results are kept.
const cuts = new WeakMap<Template, SortPrefix[]>();

/** Cuts a sort key's template after the parts that are known. */
export const sortPrefix = (template: Template, known: ReadonlySet<string>): SortPrefix => {
  const { parts } = template;
  let at = 0;
  for (let part = parts[at]; part && (part.kind !== "field" || known.has(part.path)); part = parts[at]) at++;
  let prefixes = cuts.get(template);
  if (!prefixes) cuts.set(template, (prefixes = []));
  const part = parts[at];
  return (prefixes[at] ??=
    part?.kind === "field"
      ? { template: cutAt(template, at), complete: false, next: { path: part.path, at } }
      : { template, complete: true, next: undefined });
};

/** The longest prefix that several shapes have in common, for one Query of all of them. */
const commonPrefix = (prefixes: readonly SortPrefix[]): SortPrefix | undefined => {
  const [first, ...rest] = prefixes;
  if (!first || rest.length === 0) return first;
  const form = ({ complete, next, template }: SortPrefix): string => JSON.stringify([complete, next?.path, template.parts]);
  if (rest.every((other) => form(other) === form(first))) return first;
  const parts: Template["parts"][number][] = [];
  for (const [at, part] of first.template.parts.entries()) {
    const others = rest.map((other) => other.template.parts[at]);
    if (others.every((other) => JSON.stringify(other) === JSON.stringify(part))) {
      parts.push(part);
      continue;
    }
    let text = part.kind === "literal" ? part.text : "";
    for (const other of others) {
      const theirs = other?.kind === "literal" ? other.text : "";
      while (!theirs.startsWith(text)) text = text.slice(0, -1);
    }
    if (text !== "") parts.push({ kind: "literal", text });
    break;
  }
  return { template: cutAt({ ...first.template, parts }, parts.length), complete: false, next: undefined };
};

/**
 * The outline of a partition template: templates with the same outline make the same keys. It ignores how an unknown shard is
 * computed, and whether a key may end at a known field.
 */
const outline = (template: Template, known: ReadonlySet<string>): string =>
  template.parts
    .map((part) => {
      if (part.kind === "literal") return JSON.stringify(part);
      const isKnown = known.has(part.path);
      return JSON.stringify(part.format.kind === "shard" && !isKnown ? part.format : { ...part, mayEnd: !isKnown && part.mayEnd });
    })
    .join();

const sharings = new WeakMap<Catalog, Map<string, readonly Shape[]>>();

/** The shapes whose items may share a partition of an index with items of the given shape. Computed once for a model. */
const sharingShapes = (catalog: Catalog, index: Index, shape: Shape): readonly Shape[] => {
  let known = sharings.get(catalog);
  if (!known) sharings.set(catalog, (known = new Map()));
  const name = `${index.name ?? ""} ${shape.id}`;
  let shapes = known.get(name);
  if (!shapes) {
    const meets = ({ keys }: Shape, attribute: string): boolean =>
      keys[attribute] !== undefined && templatesOverlap(keys[attribute], shape.keys[attribute] as Template);
    shapes = catalog.shapes.filter(
      (other) =>
        index.partitionKeys.every((attribute) => meets(other, attribute)) && index.sortKeys.every((attribute) => attribute in other.keys),
    );
    known.set(name, shapes);
  }
  return shapes;
};

/** What a call asks of an index: items of some shapes, with the known fields. */
interface Reach {
  readonly index: Index;
  readonly shapes: readonly Shape[];
  readonly known: ReadonlySet<string>;
  /** Conditional keys that all requested rows have, by {@link keyName}. */
  readonly implied?: readonly string[] | "all" | undefined;
  /** Fields that all requested items have. Set if the index must contain all of these items. */
  readonly present?: ReadonlySet<string> | undefined;
}

/** Fields of a sparse key that a row may lack, so that the index does not contain its item, except the fields that are present. */
export const gapsOf = (catalog: Catalog, shape: Shape, attribute: string, present: ReadonlySet<string>): readonly string[] => {
  const template = shape.sparse.includes(attribute) ? shape.keys[attribute] : undefined;
  if (!template) return [];
  const { fields, optional, any = [] } = template;
  const always = new Set([...present, ...idPaths(catalog, shape).map((path) => inShape(shape, path)), ...shape.required]);
  if (any.length > 0 && !any.some((field) => always.has(field))) return any.slice(0, 1);
  return fields.filter((field) => !always.has(field) && !optional.includes(field));
};

/** The path to some shapes through one index; undefined if the known fields do not determine a partition. */
export const pathOn = (catalog: Catalog, reach: Reach): AccessPath | undefined => {
  const { index, shapes, known, implied, present } = reach;
  const [first] = shapes;
  const keyed = keyAttributes(index);
  if (!first || !shapes.every(({ keys }) => keyed.every((attribute) => attribute in keys))) return undefined;
  // An index may lack items whose keys have a condition that the call does not imply, and items without a field of a sparse key.
  const mayLack = (shape: Shape, key: string): boolean =>
    implied !== "all" &&
    ((shape.keys[key]?.when !== undefined && !implied?.includes(keyName(shape, key))) ||
      (present !== undefined && gapsOf(catalog, shape, key, present).length > 0));
  if (shapes.some((shape) => keyed.some((key) => mayLack(shape, key)))) return undefined;
  // Of several partition key attributes, a path scatters over the one that contains a shard.
  const partitionKey = index.partitionKeys.find((attribute) => hasShard(first.keys[attribute])) ?? index.partitionKey;
  const partition = first.keys[partitionKey]!;
  const shards = shardPaths(partition);
  const knownOf = shapes.map(({ alias }) => (alias ? new Set([...known].map((path) => alias[path] ?? path)) : known));
  const equal: KeySource[] = [];
  for (const attribute of index.partitionKeys) {
    const template = first.keys[attribute]!;
    for (const [at, { keys }] of shapes.entries()) {
      const [own, other] = [knownOf[at] ?? known, keys[attribute]!];
      if (other.source !== template.source && outline(other, known) !== outline(template, known)) return undefined;
      if (!template.fields.every((path) => own.has(path) || (attribute === partitionKey && shards.has(path)))) return undefined;
    }
    if (attribute !== partitionKey) equal.push({ attribute, template });
  }
  let [sortKey, prefix] = [index.sortKey, undefined as SortPrefix | undefined];
  for (const attribute of index.sortKeys) {
    if (prefix) equal.push({ attribute: sortKey!, template: prefix.template });
    sortKey = attribute;
    prefix = commonPrefix(shapes.map(({ keys }, at) => sortPrefix(keys[attribute]!, knownOf[at] ?? known)));
    if (!prefix?.complete) break;
  }
  const isScattered = growthOf(partition) !== undefined || !partition.fields.every((path) => knownOf.every((own) => own.has(path)));
  // A partition of the table is only read by its complete key.
  if (isScattered && index.name === undefined) return undefined;
  const fixes = new Set<string>();
  const folds = new Map<string, OneWayText>();
  for (const { template } of [{ template: partition }, ...equal, ...(prefix ? [prefix] : [])]) {
    for (const part of template.parts) {
      if (part.kind === "literal") continue;
      const { kind } = part.format;
      if (kind === "lower" || kind === "upper" || kind === "written") folds.set(part.path, kind);
      else if (template.joined || template.loose) folds.set(part.path, "written");
      else if (kind !== "shard") fixes.add(part.path);
    }
  }
  for (const path of fixes) folds.delete(path);
  const wanted = new Set(shapes.map((shape) => (shape.role === "reference" ? shape.keys : shape.id)));
  const sharing = sharingShapes(catalog, index, first).filter((shape) => !wanted.has(shape.id) && !wanted.has(shape.keys));
  const lead = leadOf(prefix?.template);
  return {
    index: { ...index, partitionKey, sortKey },
    shapes,
    partition,
    equal,
    scatters: isScattered ? [...shards].filter((path) => !knownOf.every((own) => own.has(path))) : undefined,
    prefix,
    fixes,
    folds,
    sharesPrefix: sharing.some(({ keys }) => {
      const other = leadOf(keys[sortKey ?? ""]);
      if (!equal.every(({ attribute, template }) => templatesOverlap(keys[attribute]!, template))) return false;
      return !prefix || other.startsWith(lead) || lead.startsWith(other);
    }),
  };
};

/** The name of the table in place of an index, for calls that insist on an index. No index has this name. */
export const TABLE_ITSELF = "~table";

/** What a call needs from the keys of an index. */
export interface Asked {
  /** Sets of shapes; the items of each set are all requested items. */
  readonly sets: readonly (readonly Shape[])[];
  readonly known: ReadonlySet<string>;
  /** Fields that the keys must fix, so that only the items of one node are read. */
  readonly anchor: readonly string[];
  readonly consistent: boolean;
  /** The index that the caller insists on. */
  readonly index: string | undefined;
  readonly implied?: Reach["implied"];
  readonly present?: Reach["present"];
}

/** True if the partitions of a path begin with the tenant, so that the tenant's connection may read them. */
const isOfTenant = ({ index, shapes }: AccessPath, names: readonly string[]): boolean =>
  shapes.every(({ keys }) => {
    const fields = keys[index.partitionKey]?.parts.filter((part) => part.kind === "field").slice(0, names.length) ?? [];
    return (
      fields.length === names.length && fields.every(({ path, format }) => !isOneWay(format) && names.includes(path.split(".").at(-1)!))
    );
  });

/**
 * All paths that answer a call, those of the table before those of indexes. A tenant's connection gets only the paths that it may
 * read, if there are any.
 */
export const accessPaths = (
  catalog: Catalog,
  { sets, known, anchor, consistent, index: name, implied, present }: Asked,
): readonly AccessPath[] => {
  const paths: AccessPath[] = [];
  for (const shapes of sets) {
    for (const index of [catalog.index, ...catalog.indexes]) {
      if ((consistent && index.name !== undefined) || (name !== undefined && (index.name ?? TABLE_ITSELF) !== name)) continue;
      const path = pathOn(catalog, { index, shapes, known, implied, present });
      if (path && anchor.every((field) => fixesNode(catalog, path, field))) paths.push(path);
    }
  }
  const { tenant } = catalog;
  const own = tenant && paths.length > 1 ? paths.filter((path) => isOfTenant(path, Object.keys(tenant))) : paths;
  return own.length > 0 ? own : paths;
};

/** True if the path yields rows in the order of a field: the field is next in the sort key, or fixed, or the whole table key is known. */
export const isOrderedBy = (path: AccessPath, orderBy: string | undefined): boolean => {
  if (orderBy === undefined || (path.index.name === undefined && path.prefix?.complete)) return true;
  return path.shapes.every((shape) => {
    const field = inShape(shape, orderBy);
    return path.prefix?.next?.path === field || [...path.equal, path.prefix].some((one) => one?.template.fields.includes(field));
  });
};
