import type { Command, Find, Write } from "./commands.ts";

const create = (type: Write["type"], id: number, refers?: number): Command => ({
  kind: "create",
  type,
  id,
  text: id,
  value: id,
  size: undefined,
  refers,
  half: false,
});
const counted = (entry: number): Find => ({
  kind: "find",
  entry,
  levels: 0,
  where: { operator: "gte", field: 0, low: 0, more: 0 },
  filter: undefined,
  using: false,
  reverse: false,
  limit: undefined,
  select: undefined,
  want: "count",
});

/** Histories that failed once, shrunk; replayed first ever after. */
export const regressions: readonly (readonly Command[])[] = [
  // The least of what the index of the edges leaves out was undefined.
  [
    create("area", 1),
    create("doc", 1),
    { kind: "link", edge: "serves", from: 1, to: 1, role: 3, value: 3, km: 0 },
    { kind: "walk", numbers: [0, 5, 0, 202, 856, 5, 1, 7, 405, 650, 997, 678, 80, 9, 206, 6, 192, 0] },
  ],
  // References in an index of their nodes: those without one were counted.
  [create("doc", 0), create("doc", 1, 0), counted(8)],
  // The ends of found edges that may be of several types: the reference left out their kinds.
  [
    create("doc", 0),
    create("stop", 0),
    { kind: "link", edge: "rates", from: 0, to: 0, role: 0, value: 0, km: undefined },
    { ...counted(3), want: "ends" },
  ],
];
