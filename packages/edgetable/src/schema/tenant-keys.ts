import { EdgetableError } from "../errors/edgetable-error.ts";
import { exactText, type FieldPart, isOneWay, parseTemplate, renderTemplate, type Template } from "../keys/template.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { Catalog, Shape } from "./catalog.ts";
import { gridNames } from "./grid-parts.ts";

/** The partition key of one kind of item, in the table or in an index. */
export interface PartitionKey {
  /** The name of the node, edge or part. */
  readonly definition: string;
  /** The key attribute of the table or index. */
  readonly attribute: string;
  readonly template: Template;
}

/** A piece of the text that a tenant's keys begin with: a fixed text, or a field of the tenant. */
export type TenantPiece = { readonly kind: "literal"; readonly text: string } | TenantField;

interface TenantField {
  readonly kind: "field";
  /** Which of the tenant's fields it is. */
  readonly field: string;
  readonly part: FieldPart;
  /** How often its text is escaped once more: keys of grids contain another key. */
  readonly nested: number;
}

/** A partition key that begins with the tenant, so that no two tenants have items in one partition. */
export interface TenantKey extends PartitionKey {
  /** The id of its shape. */
  readonly shape: string;
  /** The key up to the tenant's last field, and the delimiter behind it. */
  readonly beginning: readonly TenantPiece[];
  /** True if the key ends there: the tenant has one such partition. */
  readonly whole: boolean;
  /** The end of an edge that names the tenant; undefined for nodes, parts and an edge's own attribute. */
  readonly end: string | undefined;
}

/** Which partition keys of a model begin with a tenant. */
export interface TenantKeys {
  readonly covered: readonly TenantKey[];
  readonly uncovered: readonly PartitionKey[];
}

const coveredBy = (shape: Shape, key: PartitionKey, fields: readonly string[]): TenantKey | undefined => {
  const { parts, type } = key.template;
  const missing = new Set(fields);
  const beginning: TenantPiece[] = [];
  let end: string | undefined;
  for (const [at, part] of parts.entries()) {
    if (part.kind === "literal") {
      beginning.push(part);
      continue;
    }
    // A reference edge is stored under its source's attributes: the path of the edge's row says what they mean. One attribute
    // may be in the ids of both ends; then the source's own key is meant.
    const { alias = {} } = shape;
    const named = Object.keys(alias).filter((path) => alias[path] === part.path);
    const steps = (named.find((path) => path.startsWith("from.")) ?? named[0] ?? part.path).split(".");
    const field = defined(steps.at(-1), "a step");
    if (isOneWay(part.format) || !missing.delete(field)) return undefined;
    beginning.push({ kind: "field", field, part, nested: 0 });
    if (steps.length > 1) end = steps[0];
    if (missing.size > 0) continue;
    const next = parts[at + 1];
    // Without a delimiter behind it, "acme" would also begin the keys of "acmes".
    if (type !== "S" || next?.kind === "field") return undefined;
    return { ...key, shape: shape.id, beginning: next ? [...beginning, next] : beginning, whole: next === undefined, end };
  }
  return undefined;
};

const nestedIn = parseTemplate("-{text}", { delimiter: "#", escapes: true });

/** A text as it is within a key that contains it as a field. */
const nest = (text: string, times: number): string =>
  times === 0 ? text : nest(defined(renderTemplate(nestedIn, { text }), "a text").slice(1), times - 1);

/** The places of a grid's values: their key contains a column's name, which begins with the key of the fields' owner. */
const coveredByGrid = (catalog: Catalog, shape: Shape, key: PartitionKey, fields: readonly string[]): TenantKey | undefined => {
  const node = Object.values(catalog.nodes).find(({ name, definition }) => definition.fields && gridNames(name).value === shape.definition);
  const owner = catalog.nodes[node?.definition.fields?.of ?? ""]?.shape;
  const [lead, column] = key.template.parts;
  if (!owner || lead?.kind !== "literal" || column?.kind !== "field" || column.path !== "column") return undefined;
  const attribute = catalog.index.partitionKey;
  const template = defined(owner.keys[attribute], "a partition key");
  const inner = coveredBy(owner, { definition: owner.definition, attribute, template }, fields);
  if (!inner) return undefined;
  const beginning = inner.beginning.map((piece): TenantPiece => {
    return piece.kind === "literal" ? { kind: "literal", text: nest(piece.text, 2) } : { ...piece, nested: 2 };
  });
  const delimiter: readonly TenantPiece[] = inner.whole ? [{ kind: "literal", text: nest("#", 1) }] : [];
  return { ...key, shape: shape.id, beginning: [lead, ...beginning, ...delimiter], whole: false, end: undefined };
};

/**
 * Tells which partition keys begin with a tenant: those of a connection made by `db.as`, and those that `edgetable policy`
 * allows a tenant's program. A key is covered if its first fields are the given ones, in any order, and a delimiter or
 * the key's end follows.
 *
 * @param fields the id fields that name a tenant, such as `["tenantId"]`
 */
export const tenantKeys = (catalog: Catalog, fields: readonly string[]): TenantKeys => {
  const covered: TenantKey[] = [];
  const uncovered: PartitionKey[] = [];
  const partitions = new Set([catalog.index, ...catalog.indexes].flatMap(({ partitionKeys }) => partitionKeys));
  for (const shape of Object.values(catalog.shapesById))
    for (const attribute of partitions) {
      const template = shape.keys[attribute];
      if (!template) continue;
      const key = { definition: shape.definition, attribute, template };
      const found = coveredBy(shape, key, fields) ?? coveredByGrid(catalog, shape, key, fields);
      if (found) covered.push(found);
      else uncovered.push(key);
    }
  return { covered, uncovered };
};

/**
 * What every partition key of a tenant begins with; the whole key if `whole`.
 *
 * @throws {plan.invalidOption} when a value is missing
 * @throws {keys.delimiter} {keys.empty} {keys.wrongType} when a value cannot be in the key
 */
export const tenantPrefix = ({ template, beginning }: TenantKey, tenant: Row): string =>
  beginning
    .map((piece) => {
      if (piece.kind === "literal") return piece.text;
      const { field, part, nested } = piece;
      const text = renderTemplate(
        { ...template, parts: [{ ...part, path: field, steps: [field] }] },
        { [field]: tenant[field] ?? undefined },
      );
      if (text !== undefined) return nest(text, nested);
      throw new EdgetableError("plan.invalidOption", `as() needs a value for ${field}: without it, every tenant would match.`, {
        details: { option: field },
      });
    })
    .join("");

/** The id of a job that a program names: the programs of two tenants may give their jobs one name. */
export const jobNameOf = ({ tenant }: Pick<Catalog, "tenant">, name: string): string =>
  tenant ? `${exactText(Object.fromEntries(Object.entries(tenant).toSorted(([a], [b]) => (a < b ? -1 : 1))))} ${name}` : name;
