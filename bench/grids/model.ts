import { defineGraph, node } from "edgetable";
import { z } from "zod";

/** Issues of a project, with fields that its users define. */
export const tracker = defineGraph({
  table: "Tracker",
  nodes: {
    project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string(), name: z.string() }) }),
    issue: node({
      key: "ISSUE#{issueId}",
      schema: z.object({ issueId: z.string(), projectId: z.string(), num: z.int(), name: z.string(), state: z.enum(["open", "closed"]) }),
      fields: { of: "project", orderBy: "num:6", sortable: ["name"] },
    }),
  },
});

export const project = { projectId: "35e9" };
