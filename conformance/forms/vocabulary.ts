import type { NaiveEdgeType, NaiveEnd, Row } from "../naive/graph.ts";

export type { NaiveEdge, NaiveEnd as End, Row } from "../naive/graph.ts";

export type NodeType = "area" | "stop" | "doc" | "visit";
export type EdgeName = "childOf" | "stopsAt" | "passes" | "rates" | "near" | "serves" | "lies" | "copied";

/** What the oracle has to know of an edge type beyond what the reference knows. */
export interface EdgeType extends NaiveEdgeType {
  readonly from: readonly NodeType[];
  readonly to: readonly NodeType[];
  /** Its attributes beside those of its key. */
  readonly attributes: readonly string[];
}

export const nodeTypes: readonly NodeType[] = ["area", "stop", "doc", "visit"];

export const idFields: Readonly<Record<NodeType, readonly string[]>> = {
  area: ["country", "region", "city"],
  stop: ["line", "n", "day"],
  doc: ["docId"],
  visit: ["visitId", "at"],
};

export const edgeTypes: Readonly<Record<EdgeName, EdgeType>> = {
  childOf: {
    from: ["doc"],
    to: ["doc"],
    orderBy: "rank",
    reference: { from: "doc", to: "doc", by: { docId: "parentId" }, attributes: ["rank"] },
    attributes: ["rank"],
  },
  stopsAt: {
    from: ["visit"],
    to: ["stop"],
    reference: { from: "visit", to: "stop", by: { line: "line", n: "stopN", day: "stopDay" }, attributes: ["size"] },
    attributes: ["size"],
  },
  passes: { from: ["stop"], to: ["stop"], orderBy: "at", attributes: ["at", "km"] },
  rates: { from: ["doc", "area"], to: ["doc", "stop"], orderBy: "score", attributes: ["score", "km"], takes: ["from"] },
  near: {
    from: ["stop", "area"],
    to: ["area", "stop"],
    orderBy: "metres",
    symmetric: true,
    attributes: ["metres", "km"],
    takes: ["from", "to"],
  },
  serves: { from: ["doc"], to: ["area"], orderBy: "since", key: ["role", "shift"], attributes: ["since", "km"] },
  lies: { from: ["stop"], to: ["area"], attributes: ["km"], takes: ["from"], keeps: "to" },
  copied: { from: ["doc"], to: ["stop"], orderBy: "level", attributes: ["level", "km"], takes: ["to"] },
};

/** A node by the fields of its id, in their declared order. */
export const endOf = (type: NodeType, row: Row): NaiveEnd => ({
  type,
  id: Object.fromEntries(idFields[type].map((field) => [field, row[field]])),
});

export const edgeTypeOf = (edge: string): EdgeType => edgeTypes[edge as EdgeName];

/** Attributes whose values are dates, numbers; the others are texts. */
export const dates: ReadonlySet<string> = new Set(["at", "since", "day", "stopDay"]);
export const numbers: ReadonlySet<string> = new Set(["km", "score", "metres", "shift", "level", "rank", "size", "n", "stopN", "visitId"]);

const day = (text: string): Date => new Date(`${text}Z`);

/** Values near each other, of which a composite key may make a mess. */
export const someDates = [
  day("1969-12-31T23:59:59.999"),
  day("1970-01-01T00:00:00.000"),
  day("2020-02-29T12:00:00.000"),
  day("2020-02-29T12:00:00.001"),
] as const;
export const someNumbers = [-10, -1.5, -0.25, 0, 0.25, 2, 10];
export const someTexts = ["a", "ab", "a b", "a!", "b"];
/** An adopted layout takes no delimiter, and no characters below it where order matters. */
export const plainTexts = ["a", "ab", "abc", "ba", "b"];

/** Ids by small numbers. */
export const idsOf = (texts: readonly string[]): Readonly<Record<NodeType, readonly Row[]>> => {
  const [a, b, c] = texts as readonly [string, string, string];
  const [before, epoch, leap, after] = someDates;
  return {
    area: [
      { country: a, region: b, city: c },
      { country: a, region: b, city: a },
      { country: a, region: c, city: b },
      { country: b, region: a, city: c },
    ],
    stop: [
      { line: a, n: -1.5, day: leap },
      { line: a, n: 10, day: leap },
      { line: a, n: 10, day: after },
      { line: b, n: 0.25, day: before },
      { line: b, n: 9, day: epoch },
    ],
    doc: texts.map((docId) => ({ docId })),
    visit: [
      { visitId: -10, at: epoch },
      { visitId: 0, at: before },
      { visitId: 0, at: leap },
      { visitId: 2.5, at: epoch },
    ],
  };
};
