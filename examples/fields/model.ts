import { defineGraph, node } from "edgetable";
import { z } from "zod";

const trackerOf = (table: string, storage: "items" | "document") =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string(), name: z.string() }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({
          issueId: z.string(),
          projectId: z.string(),
          num: z.int(),
          name: z.string(),
          state: z.enum(["open", "closed"]),
        }),
        fields: { of: "project", orderBy: "num:6", storage },
      }),
    },
  });

/** A tracker whose projects define fields: an item for each value. */
export const byItem = trackerOf("TrackerFields", "items");

/** The same with all values of an issue in one item. */
export const byDocument = trackerOf("TrackerDocuments", "document");

export type TrackerDb = ReturnType<typeof byItem.connect>;
