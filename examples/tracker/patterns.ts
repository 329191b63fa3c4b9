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
    question: "What is a tenant called?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant.get(id),
  },
  projectWithFields: {
    question: "What is a project, and which fields has it defined, in their order?",
    example: bridge,
    ask: (db, id) =>
      combine({ project: db.project(id).collection() }, ({ project }) => ({
        project: project.node,
        fields: project.parts.definition?.toSorted(byNumber) ?? [],
      })),
  },
  issueWithValues: {
    question: "What is an issue, and what are its fields' values?",
    example: { issueId: "af34" },
    ask: (db, id) => db.issue(id).collection(),
  },
  projectsOfTenant: {
    question: "Which projects has a tenant, by name?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant(id).in("ofTenant").ids(),
  },
  namedProjectsOfTenant: {
    question: "What are a tenant's projects called?",
    example: { tenantId: "0807" },
    ask: (db, id) => db.tenant(id).in("ofTenant").nodes({ given: id }),
  },
  issuesByNumber: {
    question: "Which issues has a project, by number?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").ids(),
  },
  numberedIssues: {
    question: "Which numbers have a project's issues, from one on?",
    example: { ...bridge, from: 2 },
    ask: (db, { from, ...id }) =>
      db
        .project(id)
        .in("inProject")
        .where({ num: { gte: from } })
        .edges(),
  },
  issuesByNumberBackwards: {
    question: "Which issues has a project, the latest first?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").reverse().ids(),
  },
  issuesPage: {
    question: "Which issues are on the first page of a project?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").page({ limit: 2, of: "ids" }),
  },
  issuesByField: {
    question: "Which issues have a field, in the order of its values?",
    example: start,
    ask: (db, field) => db.field(field).in("value").edges(),
  },
  issuesByFieldPage: {
    question: "Which issue is on the first page, in the order of a field?",
    example: start,
    ask: (db, field) => db.field(field).in("value").page({ limit: 1 }),
  },
  issuesFromDate: {
    question: "Which issues start on a day or later?",
    example: { ...start, from: "2023-05-02" },
    ask: (db, { from, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { gte: from } })
        .edges(),
  },
  issuesBetween: {
    question: "Which issues start between two days?",
    example: { ...start, from: "2023-04-01", to: "2023-05-01" },
    ask: (db, { from, to, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { between: [from, to] } })
        .edges(),
  },
  issuesInMonth: {
    question: "Which issues start in a month?",
    example: { ...start, month: "2023-05" },
    ask: (db, { month, ...field }) =>
      db
        .field(field)
        .in("value")
        .where({ value: { beginsWith: month } })
        .edges(),
  },
  issuesOnDay: {
    question: "Which issues start on one day?",
    example: { ...start, day: "2023-05-01" },
    ask: (db, { day, ...field }) => db.field(field).in("value").where({ value: day }).edges(),
  },
  issuesWithout: {
    question: "Which issues of a project have no value for a field?",
    example: { ...bridge, ...start },
    ask: (db, { projectId, ...field }) =>
      combine({ all: db.project({ projectId }).in("inProject").ids(), valued: db.field(field).in("value").ids() }, ({ all, valued }) => {
        const having = new Set(valued.map(({ issueId }) => issueId));
        return all.filter(({ issueId }) => !having.has(issueId));
      }),
  },
  grid: {
    question: "What does a page of the grid show?",
    example: { issueIds: ["020e", "67d1"] },
    ask: (db, { issueIds }) =>
      combine(Object.fromEntries(issueIds.map((issueId) => [issueId, db.issue({ issueId }).collection()])), (issues) =>
        Object.values(issues),
      ),
  },
  gridRows: {
    question: "What are the first issues of a project, without their fields?",
    example: bridge,
    ask: (db, id) => db.project(id).in("inProject").limit(2).nodes({ given: id }),
  },
  gridCells: {
    question: "What are the values of an issue in the fields that are shown?",
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
