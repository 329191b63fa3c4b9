import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";

const text = z.string();

/** Students and courses in Edgetable's own layout. */
export const ownGraph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, name: text, notes: z.unknown().optional() }) }),
      course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text }) }),
      room: node({ key: "ROOM#{floor:4}#{door}", schema: z.object({ floor: z.int(), door: text }) }),
    },
    parts: { desk: part({ of: "room", key: "DESK#{desk}", schema: z.object({ desk: text, wide: z.boolean().optional() }) }) },
    edges: {
      enrolledIn: edge({
        from: "student",
        to: "course",
        schema: z.object({ enrolledAt: text, grade: text.optional() }),
        orderBy: "enrolledAt",
      }),
      reserves: edge({ from: ["student", "course"], to: "room" }),
      helps: edge({ from: "student", to: "student", schema: z.object({ hours: z.int() }) }),
    },
  });

/** Bills in a table of someone else's: no escapes, an index key of two attributes, no index for the edge's far end. */
export const adoptedGraph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      bill: node({
        key: "BILL#{billId}",
        schema: z.object({ billId: text, status: text.optional(), due: text.optional(), amount: z.number().optional() }),
      }),
      customer: node({ key: "CUSTOMER#{customerId}", schema: z.object({ customerId: text }) }),
    },
    edges: { owes: edge({ from: "customer", to: "bill" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "Type",
      indexes: { byStatus: { partitionKey: "Status", sortKey: "Due" } },
      nodes: { bill: { keys: { SK: "BILL", Status: "STATUS#{status}", Due: "DUE#{due}" } }, customer: { keys: { SK: "CUSTOMER" } } },
      edges: { owes: { keys: { SK: "{to}" } } },
    },
  });
