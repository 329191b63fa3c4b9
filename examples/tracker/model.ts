import { defineGraph, edge, node, part, type Layout } from "edgetable";
import { z } from "zod";

const definitions = {
  nodes: {
    tenant: node({ key: "tenant-{tenantId}", schema: z.object({ tenantId: z.string(), name: z.string() }), expect: { bytes: 50 } }),
    project: node({
      key: "project-{projectId}",
      schema: z.object({ projectId: z.string(), tenantId: z.string(), name: z.string() }),
      expect: { bytes: 60 },
    }),
    issue: node({
      key: "issue-{issueId}",
      schema: z.object({ issueId: z.string(), projectId: z.string(), num: z.int(), name: z.string(), state: z.enum(["open", "closed"]) }),
      expect: { bytes: 80 },
    }),
    // A field is known by its id alone here: its definition is a part of its project.
    field: node({ key: "{fieldId}", schema: z.object({ fieldId: z.string() }), stored: false }),
  },
  parts: {
    definition: part({
      of: "project",
      key: "xattrib-{fieldId}",
      schema: z.object({ fieldId: z.string(), name: z.string(), num: z.int(), type: z.enum(["int", "date", "text"]) }),
      expect: { bytes: 80 },
    }),
  },
  edges: {
    /** In a project's own item. */
    ofTenant: edge({ from: "project", to: "tenant", stored: "reference", expect: { to: 1 } }),
    /** In an issue's own item; its number orders the issues of a project. */
    inProject: edge({
      from: "issue",
      to: "project",
      stored: "reference",
      schema: z.object({ num: z.int() }),
      orderBy: "num:6",
      expect: { to: 3 },
    }),
    /** The value of one field for one issue; `num` repeats the issue's number, to order equal values. */
    value: edge({
      from: "issue",
      to: "field",
      schema: z.object({ value: z.union([z.int(), z.string()]), num: z.int().optional() }),
      orderBy: "value:6|text",
      expect: { from: 2, to: 2, bytes: 60 },
    }),
  },
} as const;

/** How a key format writes what is sorted by. */
interface KeyFormat {
  readonly num: string;
  readonly valueKey: string;
  readonly value: string;
}

const layoutOf = ({ num, valueKey, value }: KeyFormat): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  delimiter: "-",
  indexes: { byRelated: { partitionKey: "SK", sortKey: "Data", projection: "KEYS_ONLY" } },
  nodes: {
    tenant: { keys: { SK: "*" }, attributes: { name: "Name" } },
    project: { keys: { SK: "tenant-{tenantId}", Data: "{name}" }, delimiters: { Data: "\u0001" } },
    issue: { keys: { SK: "project-{projectId}", Data: num }, attributes: { name: "Name", state: "State" } },
  },
  parts: { definition: { attributes: { name: "Name", num: "Num", type: "Type" } } },
  edges: { value: { keys: { SK: valueKey, Data: value }, delimiters: { Data: "#" } } },
});

/**
 * Tenants, their projects, issues, and fields that each project defines for itself, as published: what
 * is sorted by is padded, and equal values come in the order of the issues' numbers.
 */
export const tracker = defineGraph({
  table: "Tracker",
  ...definitions,
  layout: layoutOf({ num: "{num:6}", valueKey: "xvalue-{to}", value: "{value:6|text}#{num:6}" }),
});

/** The same in the draft's keys: numbers as they are written, which sort 1, 10, 2. */
export const trackerDraft = defineGraph({
  table: "TrackerDraft",
  ...definitions,
  layout: layoutOf({ num: "{num:plain}", valueKey: "value-{to}", value: "{value:plain|text}" }),
});

export type TrackerDb = ReturnType<typeof tracker.connect>;
