import { bulkCounts, type BulkEdge, type CascadingType } from "./commands.ts";

type Row = Readonly<Record<string, unknown>>;
export type BulkType = CascadingType | "item";

export const idText = (type: BulkType, at: number): string => `${type[0] ?? ""}${at % bulkCounts[type]}`;
export const idRow = (type: BulkType, at: number): Row => ({ [`${type}Id`]: idText(type, at) });
export const nodeObject = (type: BulkType, at: number): string => `${type}:${idText(type, at)}`;
export const noteObject = (group: number, line: number): string => `note:${idText("group", group)}/${line}`;

/** The types at an edge's ends. */
export const endsOf = (edge: BulkEdge): readonly [CascadingType, CascadingType] => [edge === "near" ? "user" : "group", "user"];

const edgeText = (edge: string, from: string, to: string): string => {
  const [one, other] = edge === "near" ? [from, to].toSorted() : [from, to];
  return `${edge}:${String(one)}>${String(other)}`;
};
/** The register of an edge; a symmetric one is the same from either end. */
export const edgeObject = (edge: BulkEdge, from: number, to: number): string => {
  const [near, far] = endsOf(edge);
  return edgeText(edge, idText(near, from), idText(far, to));
};

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
const users = range(bulkCounts.user);

/** Every register that goes with a node. */
export const alongWith = (type: CascadingType, at: number): readonly string[] => {
  if (type === "group")
    return [
      ...range(bulkCounts.line).map((line) => noteObject(at, line)),
      ...users.flatMap((user) => [edgeObject("belongs", at, user), edgeObject("pins", at, user)]),
    ];
  const groups = range(bulkCounts.group);
  return [
    ...new Set([
      ...groups.flatMap((group) => [edgeObject("belongs", group, at), edgeObject("pins", group, at)]),
      ...users.map((user) => edgeObject("near", at, user)),
    ]),
  ];
};

const endText = (end: unknown): string => String(Object.entries(end as Row).find(([field]) => field.endsWith("Id"))?.[1]);

/** An end of an edge that was read back, as a node's register. */
export const endObject = (edge: BulkEdge, row: Row, end: "from" | "to"): string =>
  `${endsOf(edge)[end === "from" ? 0 : 1]}:${endText(row[end])}`;

/** The register of an edge that was read back. */
export const readEdgeObject = (edge: BulkEdge, row: Row): string => edgeText(edge, endText(row["from"]), endText(row["to"]));
