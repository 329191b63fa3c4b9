import { EdgetableError } from "../errors/edgetable-error.ts";
import { exactText, renderPrefix, type Template, type TemplatePart } from "../keys/template.ts";
import { defined } from "../util/invariant.ts";
import { type Row, setOwn } from "../util/row.ts";
import type { Catalog, Shape } from "./catalog.ts";

/** The partition key of one kind of item, in the table or in an index. */
export interface PartitionKey {
  /** The name of the node, edge or part. */
  readonly definition: string;
  /** The key attribute of the table or index. */
  readonly attribute: string;
  readonly template: Template;
}

/** A partition key that begins with the tenant, so that no two tenants have items in one partition. */
export interface TenantKey extends PartitionKey {
  /** The id of its shape. */
  readonly shape: string;
  /** The template up to the tenant's last field, and the literal behind it. */
  readonly beginning: readonly TemplatePart[];
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

// A reference edge is stored under its source's attributes: the path of the edge's row says what they mean. One attribute
// may be in the ids of both ends; then the source's own key is meant.
const pathIn = ({ alias = {} }: Shape, path: string): string => {
  const paths = Object.keys(alias).filter((one) => alias[one] === path);
  return paths.find((one) => one.startsWith("from.")) ?? paths[0] ?? path;
};

const coveredBy = (shape: Shape, key: PartitionKey, fields: readonly string[]): TenantKey | undefined => {
  const { parts, type } = key.template;
  const missing = new Set(fields);
  let end: string | undefined;
  for (const [at, part] of parts.entries()) {
    if (part.kind === "literal") continue;
    const steps = pathIn(shape, part.path).split(".");
    // One field of each: a key that repeats one still begins with the tenant.
    if (part.format.kind === "shard" || !missing.delete(defined(steps.at(-1), "a step"))) return undefined;
    if (steps.length > 1) end = steps[0];
    if (missing.size > 0) continue;
    const next = parts[at + 1];
    // Without a delimiter behind it, "acme" would also begin the keys of "acmes".
    if (type !== "S" || next?.kind === "field") return undefined;
    return { ...key, shape: shape.id, beginning: parts.slice(0, next ? at + 2 : at + 1), whole: next === undefined, end };
  }
  return undefined;
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
  const partitions = new Set([catalog.index, ...catalog.indexes].map(({ partitionKey }) => partitionKey));
  for (const shape of Object.values(catalog.shapesById))
    for (const attribute of partitions) {
      const template = shape.keys[attribute];
      if (!template) continue;
      const key = { definition: shape.definition, attribute, template };
      const found = coveredBy(shape, key, fields);
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
export const tenantPrefix = ({ template, beginning }: TenantKey, tenant: Row): string => {
  const row: Record<string, unknown> = {};
  for (const part of beginning) {
    if (part.kind === "literal") continue;
    const [first = "", second] = part.steps;
    const value = tenant[defined(part.steps.at(-1), "a step")];
    setOwn(row, first, second === undefined ? value : { ...(row[first] as object), [second]: value });
  }
  const { text, complete, next } = renderPrefix({ ...template, parts: beginning }, row);
  if (complete) return text;
  throw new EdgetableError("plan.invalidOption", `as() needs a value for ${next}, and it is missing: every tenant would fit.`, {
    details: { option: next },
  });
};

/** The id of a job that a program names: the programs of two tenants may give their jobs one name. */
export const jobNameOf = ({ tenant }: Pick<Catalog, "tenant">, name: string): string => (tenant ? `${exactText(tenant)} ${name}` : name);
