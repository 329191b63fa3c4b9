import { type Catalog, type EdgeEntry, type EndEntry, keyAttributes } from "./catalog.ts";
import { degreeLimit, type End } from "./definition.ts";

const ENDS: readonly End[] = ["from", "to"];

/** What the model says of the edges of a type at one end. */
export interface GuardedEnd {
  readonly end: End;
  readonly direction: "out" | "in";
  /** The highest degree; undefined: any. */
  readonly limit: number | undefined;
  /** A node with such an edge is not deleted. */
  readonly restricts: boolean;
  /** Such edges are deleted with the node. */
  readonly cascades: boolean;
}

// A key made of one end alone has room for one edge there: nothing is left to count.
const isImpliedByKey = ({ index }: Catalog, entry: EdgeEntry, end: End): boolean => {
  if (entry.definition.symmetric || entry[end === "from" ? "to" : "from"].length > 1) return false;
  return entry.shapes.every(({ role, keys }) => {
    const fields = keyAttributes(index).flatMap((attribute) => keys[attribute]?.fields ?? []);
    return role === "own" && fields.every((field) => field.startsWith(`${end}.`));
  });
};

const known = new WeakMap<EdgeEntry, readonly GuardedEnd[]>();

/** The ends at which edges of a type are counted: a limit or a restriction applies there. */
export const guardedEnds = (catalog: Catalog, entry: EdgeEntry): readonly GuardedEnd[] => {
  const found = known.get(entry);
  if (found) return found;
  const { definition } = entry;
  const guarded: GuardedEnd[] = [];
  for (const end of ENDS) {
    // A symmetric edge has no direction: both its ends count it alike, under the rules of either.
    const same = definition.symmetric ? ENDS : [end];
    let limit: number | undefined;
    for (const one of same) {
      const declared = degreeLimit(definition, one);
      const isCounted = declared !== undefined && !(declared === 1 && isImpliedByKey(catalog, entry, one));
      if (isCounted) limit = Math.min(limit ?? declared, declared);
    }
    const restricts = same.some((one) => definition.onDelete?.[one] === "restrict");
    const cascades = same.some((one) => definition.onDelete?.[one] === "cascade");
    const direction = definition.symmetric || end === "from" ? "out" : "in";
    // A change of what is copied onto the edges at this end must see all of them.
    const isCopied = catalog.facts.copies.some(
      (copy) => copy.freshness === "transaction" && copy.onto.kind === "edge" && copy.onto.name === entry.name && copy.end === end,
    );
    if (limit !== undefined || restricts || isCopied) guarded.push({ end, direction, limit, restricts, cascades });
  }
  known.set(entry, guarded);
  return guarded;
};

/**
 * A field of the id of what edges lead to that its partition does not hold, or holds in one case where another key tells cases
 * apart, so that others may lie there; undefined if there is none.
 */
export const fieldBesidePartition = ({ idFields, partition: { parts }, shape: { folded } }: EndEntry): string | undefined =>
  idFields.find(
    (field) =>
      !parts.some(
        (part) =>
          part.kind === "field" && part.path === field && (!["shard", "lower", "upper"].includes(part.format.kind) || field in folded),
      ),
  );
