import { z } from "zod";
import { count, defineGraph, distinct, edge, max, node, sum, summarize } from "../index.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;

/** Users who take courses and use rooms: a model of which the stream keeps a fact of each kind. */
export const streamedCourse = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id }),
        derived: {
          users: count({ in: "takes", ...stream }),
          points: sum({ in: "takes", of: "grade", ...stream }),
          best: max({ in: "takes", of: "grade" }),
          grades: distinct({ in: "takes", of: "grade" }),
        },
      }),
      // Nothing of it is kept as a sum.
      room: node({ key: "ROOM#{id}", schema: z.object({ id }), derived: { most: max({ in: "uses", of: "seats" }) } }),
    },
    edges: {
      takes: edge({ from: "user", to: "course", schema: z.object({ grade: z.number() }) }),
      uses: edge({ from: "user", to: "room", schema: z.object({ seats: z.number() }) }),
      orders: edge({ from: "user", to: "room", key: ["no"], schema: z.object({ no: z.string(), amount: z.number() }) }),
      buys: summarize(edge({ from: "user", to: "room", stored: "twice" }), { amount: sum({ along: "orders", of: "amount" }) }),
    },
  });
