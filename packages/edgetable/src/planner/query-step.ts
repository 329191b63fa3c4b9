import type { Condition } from "../ir/condition.ts";
import type { QueryStep, SortCondition } from "../ir/physical-plan.ts";
import type { AccessPath } from "./access-path.ts";

const rangeOf = (path: AccessPath, bounds: readonly Condition[]): SortCondition | undefined => {
  const { prefix, index } = path;
  const [shape] = path.shapes;
  const template = index.sortKey === undefined ? undefined : shape?.keys[index.sortKey];
  const part = prefix?.next && template?.parts[prefix.next.at];
  if (!prefix?.next || !template || part?.kind !== "field") return undefined;
  return {
    kind: "range",
    template: prefix.template,
    path: part.path,
    whole: template,
    followed: prefix.next.at < template.parts.length - 1,
    bounds,
  };
};

const sortCondition = (path: AccessPath, bounds: readonly Condition[]): SortCondition | undefined => {
  const { prefix } = path;
  if (!prefix) return undefined;
  if (bounds.length > 0) return rangeOf(path, bounds);
  if (prefix.complete) return { kind: "equals", template: prefix.template };
  // A prefix of nothing but literals only keeps strangers out: without strangers it is not needed.
  if (prefix.template.parts.length === 0 || (prefix.fixed === 0 && !path.sharesPartition)) return undefined;
  return { kind: "prefix", template: prefix.template };
};

/** The Query of an access path. */
export const queryStep = (
  path: AccessPath,
  bounds: readonly Condition[],
  rest: Pick<QueryStep, "known" | "filter" | "forward" | "consistent" | "select" | "expect">,
): QueryStep => ({
  kind: "query",
  index: path.index.name,
  partitionKey: path.index.partitionKey,
  partition: path.partition,
  ...(path.scatters ? { scatter: { unknown: path.scatters } } : {}),
  sortKey: path.index.sortKey,
  sort: sortCondition(path, bounds),
  shapes: path.shapes.map((shape) => shape.id),
  discards: path.sharesPrefix,
  counts: false,
  ...rest,
});
