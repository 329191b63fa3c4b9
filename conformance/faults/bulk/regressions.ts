import type { BulkHistory } from "./commands.ts";

/** Histories that once failed, shrunk. They run before any random one. */
export const regressions: readonly BulkHistory[] = [
  // A node was written anew while its deletion waited for the index: the edges of the old one stayed.
  {
    weather: 0,
    notes: 0,
    clients: [
      [{ kind: "resume" }, { kind: "delete", type: "user", id: 0 }, { kind: "link", edge: "belongs", from: 0, to: 0 }],
      [
        { kind: "link", edge: "belongs", from: 0, to: 0 },
        {
          kind: "load",
          named: false,
          rows: [
            { type: "user", id: 0, handle: undefined },
            { type: "item", id: 0, handle: undefined },
          ],
        },
        { kind: "look", type: "user", id: 0 },
      ],
      [
        { kind: "delete", type: "user", id: 1 },
        { kind: "note", group: 0, line: 0 },
      ],
    ],
  },
  // Written anew and deleted once more, the node was taken by the first deletion, which could not see the new edge yet.
  {
    weather: 998690,
    notes: 0,
    clients: [
      [
        { kind: "link", edge: "belongs", from: 0, to: 1 },
        { kind: "delete", type: "user", id: 0 },
      ],
      [
        {
          kind: "load",
          named: false,
          rows: [
            { type: "user", id: 0, handle: undefined },
            { type: "item", id: 0, handle: undefined },
          ],
        },
        {
          kind: "load",
          named: false,
          rows: [
            { type: "user", id: 0, handle: undefined },
            { type: "user", id: 0, handle: undefined },
            { type: "user", id: 0, handle: undefined },
            { type: "user", id: 0, handle: undefined },
            { type: "item", id: 0, handle: undefined },
          ],
        },
        { kind: "link", edge: "belongs", from: 0, to: 0 },
        { kind: "delete", type: "user", id: 0 },
      ],
    ],
  },
];
