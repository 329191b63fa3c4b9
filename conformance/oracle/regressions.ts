import type { Command } from "./commands.ts";

const create = (type: "person" | "post" | "tag", id: number): Command => ({
  kind: "create",
  type,
  id,
  name: "n",
  handle: undefined,
  age: undefined,
});
const likes: Command = { kind: "link", edge: "likes", from: 0, to: 0, toTag: false, text: "a", number: 0, role: "x" };
const read: Extract<Command, { kind: "read" }> = {
  kind: "read",
  edge: "likes",
  direction: "out",
  id: 0,
  tag: false,
  reverse: false,
  ordered: true,
  limit: undefined,
  where: undefined,
  far: undefined,
  want: "edges",
};

/** Histories that once failed, shrunk. They run before any random one. */
export const regressions: readonly (readonly Command[])[] = [
  // Several node types at an ordered end lost the order.
  [create("person", 0), read],
  // In an adopted layout `gt` on a number gave the equal ones too.
  [create("person", 0), create("post", 0), likes, { ...read, where: { operator: "gt", text: "a", number: 0, other: 0 } }],
  // An ordered edge asked for by its far end was looked for under that end alone: others' edges came.
  [
    create("person", 0),
    create("person", 1),
    { ...likes, edge: "follows" },
    { ...likes, edge: "follows", from: 1 },
    { ...read, edge: "follows", far: 0 },
  ],
];
