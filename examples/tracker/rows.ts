import type { TrackerDb } from "./model.ts";

export const tenants = [
  { tenantId: "0807", name: "ACME Engineering" },
  { tenantId: "3cc8", name: "Big Media" },
];

export const projects = [
  { projectId: "35e9", tenantId: "0807", name: "Forth Rail Bridge" },
  { projectId: "7b7e", tenantId: "3cc8", name: "The Daily News" },
];

/** The fields of project 35e9. The source gives one of them two ids: it is defined as 35e6, and valued as 3fe6. */
const definitions = [
  { fieldId: "35e6", name: "Num Items", num: 3, type: "int" },
  { fieldId: "3812", name: "Start", num: 1, type: "date" },
  { fieldId: "47e5", name: "Sign Off", num: 4, type: "text" },
  { fieldId: "882a", name: "End", num: 2, type: "date" },
] as const;

const bridge = { projectId: "35e9" };
const news = { projectId: "7b7e" };

export const issues = [
  { issueId: "020e", ...bridge, num: 1, name: "Needs Painting", state: "open" },
  { issueId: "67d1", ...bridge, num: 2, name: "Check for rust", state: "closed" },
  { issueId: "af34", ...bridge, num: 3, name: "Girder needs replacing", state: "open" },
  { issueId: "3544", ...news, num: 1, name: "Launch new newspaper!", state: "closed" },
  { issueId: "83a4", ...news, num: 2, name: "Hire reporter for showbiz desk", state: "open" },
] as const;

const values = [
  { issueId: "020e", fieldId: "3812", value: "2023-05-01", num: 1 },
  { issueId: "020e", fieldId: "882a", value: "2023-06-01", num: 1 },
  { issueId: "67d1", fieldId: "3812", value: "2023-05-02", num: 2 },
  { issueId: "67d1", fieldId: "882a", value: "2023-06-02", num: 2 },
  { issueId: "af34", fieldId: "3fe6", value: 42, num: 3 },
  { issueId: "af34", fieldId: "47e5", value: "Approved", num: 3 },
];

/** Writes the nineteen rows. The draft's values do not carry their issue's number. */
export const loadWith =
  (numbered: boolean) =>
  async (db: TrackerDb): Promise<void> => {
    for (const tenant of tenants) await db.tenant.create(tenant).orThrow();
    for (const project of projects) await db.project.create(project).orThrow();
    for (const definition of definitions) await db.definition.create(bridge, definition).orThrow();
    for (const issue of issues) await db.issue.create(issue).orThrow();
    for (const { issueId, fieldId, value, num } of values)
      await db.value.link({ issueId }, { fieldId }, numbered ? { value, num } : { value }).orThrow();
  };
