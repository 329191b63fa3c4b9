import { combine, definePatterns } from "edgetable";
import { tracker, trackerDraft } from "./model.ts";

const bridge = { projectId: "35e9" };
const start = { fieldId: "3812" };

interface Numbered {
  readonly num: number;
}
const byNumber = (a: Numbered, b: Numbered): number => a.num - b.num;

/** The nine questions of the grid, and the cheap ones beside them. */
export const patterns = definePatterns(tracker, {
  tenant: {
    question: "1. What is a tenant called?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant.get(id),
  },
  projectWithFields: {
    question: "2. What is a project, and which fields has it defined, in their order?",
    example: bridge,
    ask: (db, id) =>
      combine({ project: db.project(id).collection() }, ({ project }) => ({
        project: project.node,
        fields: project.parts.definition?.toSorted(byNumber) ?? [],
      })),
  },
  issueWithValues: {
    question: "3. What is an issue, and what are its fields' values?",
    example: { issueId: "af34" },
    ask: (db, id) => db.issue(id).collection(),
  },
  projectsOfTenant: {
    question: "4. Which projects has a tenant, by name?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant(id).in("ofTenant").ids(),
  },
  namedProjectsOfTenant: {
    question: "4. ... and what are they called?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant(id).in("ofTenant").nodes({ given: id }),
  },
  issuesByNumber: {
    question: "5. Which issues has a project, by number?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").ids(),
  },
  issuesByNumberBackwards: {
    question: "5. ... the latest first?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").reverse().ids(),
  },
  issuesPage: {
    question: "5. ... a page at a time?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").page({ limit: 2, of: "ids" }),
  },
  issuesByField: {
    question: "6. Which issues have a field, in the order of its values?",
    example: start,
    ask: (db, field) => db.field(field).in("value").edges(),
  },
  issuesByFieldPage: {
    question: "6. ... a page at a time?",
    example: start,
    ask: (db, field) => db.field(field).in("value").page({ limit: 1 }),
  },
  issuesFromDate: {
    question: "7. Which issues start on a day or later?",
    example: { ...start, from: "2023-05-02" },
    ask: (db, { from, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { gte: from } })
        .edges(),
  },
  issuesBetween: {
    question: "7. ... between two days?",
    example: { ...start, from: "2023-04-01", to: "2023-05-01" },
    ask: (db, { from, to, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { between: [from, to] } })
        .edges(),
  },
  issuesInMonth: {
    question: "7. ... in a month?",
    example: { ...start, month: "2023-05" },
    ask: (db, { month, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { beginsWith: month } })
        .edges(),
  },
  issuesOnDay: {
    question: "7. ... on one day?",
    example: { ...start, day: "2023-05-01" },
    ask: (db, { day, ...field }) => db.field(field).in("value").where({ value: day }).edges(),
  },
  issuesWithout: {
    question: "8. Which issues of a project have no value for a field?",
    example: { ...bridge, ...start },
    ask: (db, { projectId, ...field }) =>
      combine({ all: db.project({ projectId }).in("inProject").ids(), valued: db.field(field).in("value").ids() }, ({ all, valued }) => {
        const having = new Set(valued.map(({ issueId }) => issueId));
        return all.filter(({ issueId }) => !having.has(issueId));
      }),
  },
  grid: {
    question: "9. What does a page of the grid show?",
    example: { issueIds: ["020e", "67d1"] },
    ask: (db, { issueIds }) =>
      combine(Object.fromEntries(issueIds.map((issueId) => [issueId, db.issue({ issueId }).collection()])), (issues) =>
        Object.values(issues),
      ),
  },
  gridRows: {
    question: "9. ... of its issues alone?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").limit(2).nodes({ given: id }),
  },
  gridCells: {
    question: "9. ... of the cells of one issue, by the fields that are shown?",
    example: { issueId: "020e", fieldIds: ["3812", "882a", "47e5", "3fe6"] },
    ask: (db, { issueId, fieldIds }) =>
      db.value.getMany(
        { issueId },
        fieldIds.map((fieldId) => ({ fieldId })),
      ),
  },
  project: {
    question: "What is a project called, when its tenant is known?",
    example: { ...bridge, tenantId: "0807" },
    ask: (db, { projectId, tenantId }) => db.project.get({ projectId }, { given: { tenantId } }),
  },
  cell: {
    question: "What is the value of one field for one issue?",
    example: { issueId: "af34", fieldId: "3fe6" },
    ask: (db, { issueId, fieldId }) => db.value.get({ issueId }, { fieldId }),
  },
  issueCount: {
    question: "How many issues has a project?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").count(),
  },
});

/** The same questions of the drafted keys. */
export const draftPatterns = definePatterns(trackerDraft, patterns.patterns);
