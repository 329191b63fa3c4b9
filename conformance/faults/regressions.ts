import type { History } from "./commands.ts";

/** Histories that once failed, shrunk. They run before any random one. */
export const regressions: readonly History[] = [
  // A transaction told every call that shares an item of a condition that only one of them had set.
  {
    weather: 0,
    clients: [
      [{ kind: "claim", handle: 0 }],
      [
        {
          kind: "transact",
          calls: [
            { kind: "link", edge: "follows", from: 1, to: 0, role: "x" },
            { kind: "create", type: "person", id: 0, handle: undefined },
          ],
        },
      ],
    ],
  },
  // The same of a node whose deletion cascades, of which links ask more than that it is there.
  {
    weather: 0,
    clients: [
      [{ kind: "claim", handle: 0 }],
      [
        {
          kind: "transact",
          calls: [
            { kind: "create", type: "post", id: 0, handle: undefined },
            { kind: "link", edge: "worksOn", from: 0, to: 0, role: "x" },
          ],
        },
      ],
    ],
  },
  // Two sums that were read first and came to the same value: one, its answer lost, took the other's for its own.
  {
    weather: 573629,
    clients: [
      [
        { kind: "swing", account: 1, amount: 1, alias: 0 },
        { kind: "link", edge: "follows", from: 0, to: 0, role: "x" },
      ],
      [{ kind: "swing", account: 1, amount: 1, alias: 0 }],
    ],
  },
  // Told from a lost answer: a deletion that is repeated and finds nothing counts as done.
  {
    weather: 298749,
    clients: [
      [
        { kind: "deposit", account: 0, amount: -1, alias: undefined },
        { kind: "getNode", strong: false, direction: "out", edge: "follows", from: 0, to: 0 },
        { kind: "link", edge: "follows", from: 0, to: 0, role: "x" },
      ],
      [{ kind: "unlink", edge: "likes", from: 0, to: 0, role: "x" }],
    ],
  },
];
