import { someCursor, type ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const bridge = { projectId: "35e9", tenantId: "0807", name: "Forth Rail Bridge" };
const inBridge = { projectId: "35e9" };
const painting = { issueId: "020e", ...inBridge, num: 1, name: "Needs Painting", state: "open" };
const rust = { issueId: "67d1", ...inBridge, num: 2, name: "Check for rust", state: "closed" };
const girder = { issueId: "af34", ...inBridge, num: 3, name: "Girder needs replacing", state: "open" };
const ids = [{ issueId: "020e" }, { issueId: "67d1" }, { issueId: "af34" }];

const fields = [
  { ...inBridge, fieldId: "3812", name: "Start", num: 1, type: "date" },
  { ...inBridge, fieldId: "882a", name: "End", num: 2, type: "date" },
  { ...inBridge, fieldId: "35e6", name: "Num Items", num: 3, type: "int" },
  { ...inBridge, fieldId: "47e5", name: "Sign Off", num: 4, type: "text" },
];

/** What differs between the two key formats. */
interface Format {
  readonly value: "value" | "xvalue";
  /** How a value is followed by its issue's number. */
  readonly followed: boolean;
  readonly fromDay: string;
  readonly betweenDays: string;
  readonly inMonth: string;
  readonly onDay: string;
}

const answersOf = ({ value: name, followed, fromDay, betweenDays, inMonth, onDay }: Format): ExpectedOf<typeof patterns> => {
  const cell = (issueId: string, fieldId: string, rest: { readonly value: string | number; readonly num: number }): object => {
    const { value, num } = rest;
    return { from: { issueId }, to: { fieldId }, value, ...(followed ? { num } : {}) };
  };
  const start1 = cell("020e", "3812", { value: "2023-05-01", num: 1 });
  const start2 = cell("67d1", "3812", { value: "2023-05-02", num: 2 });
  const end1 = cell("020e", "882a", { value: "2023-06-01", num: 1 });
  const end2 = cell("67d1", "882a", { value: "2023-06-02", num: 2 });
  const items = cell("af34", "3fe6", { value: 42, num: 3 });
  const approved = cell("af34", "47e5", { value: "Approved", num: 3 });
  const issues = "Query byRelated: SK = 'project-35e9'";
  const starts = `Query byRelated: SK = '${name}-3812'`;
  return {
    tenant: { answer: { tenantId: "0807", name: "ACME Engineering" }, requests: ["GetItem PK = 'tenant-0807', SK = '*'"] },
    projectWithFields: { answer: { project: bridge, fields }, requests: ["Query PK = 'project-35e9'"] },
    issueWithValues: { answer: { node: girder, edges: { value: [items, approved] }, parts: {} }, requests: ["Query PK = 'issue-af34'"] },
    projectsOfTenant: { answer: [inBridge], requests: ["Query byRelated: SK = 'tenant-0807'"] },
    // The index holds keys only, and they are all that there is to a project.
    namedProjectsOfTenant: {
      answer: [bridge],
      requests: ["Query byRelated: SK = 'tenant-0807'"],
    },
    issuesByNumber: { answer: ids, requests: [issues] },
    // The draft's numbers do not sort as numbers: all are read, and those below are passed over.
    numberedIssues: {
      answer: ids.slice(1).map((from, at) => ({ from, to: inBridge, num: at + 2 })),
      requests: [followed ? `${issues} AND Data >= '000002'` : issues],
    },
    issuesByNumberBackwards: { answer: ids.toReversed(), requests: [`${issues} (descending)`] },
    issuesPage: { answer: { items: ids.slice(0, 2), next: someCursor }, requests: [`${issues} (limit 2)`] },
    issuesByField: { answer: [start1, start2], requests: [starts] },
    issuesByFieldPage: { answer: { items: [start1], next: someCursor }, requests: [`${starts} (limit 1)`] },
    issuesFromDate: { answer: [start2], requests: [`${starts} AND ${fromDay}`] },
    issuesBetween: { answer: [start1], requests: [`${starts} AND ${betweenDays}`] },
    issuesInMonth: { answer: [start1, start2], requests: [`${starts} AND ${inMonth}`] },
    issuesOnDay: { answer: [start1], requests: [`${starts} AND ${onDay}`] },
    issuesWithout: { answer: [{ issueId: "af34" }], requests: [issues, starts] },
    grid: {
      answer: [
        { node: painting, edges: { value: [start1, end1] }, parts: {} },
        { node: rust, edges: { value: [start2, end2] }, parts: {} },
      ],
      requests: ["Query PK = 'issue-020e'", "Query PK = 'issue-67d1'"],
    },
    gridRows: {
      answer: [painting, rust],
      requests: [`${issues} (limit 2)`, "BatchGetItem ('issue-020e', 'project-35e9'), ('issue-67d1', 'project-35e9')"],
    },
    // Four keys are asked for, two are there: what has no value is not in the answer.
    gridCells: { answer: [start1, end1], requests: [cellKeys(name)] },
    project: { answer: bridge, requests: ["GetItem PK = 'project-35e9', SK = 'tenant-0807'"] },
    cell: { answer: items, requests: [`GetItem PK = 'issue-af34', SK = '${name}-3fe6'`] },
    issueCount: { answer: 3, requests: [`${issues} (only PK, SK, Data)`] },
  };
};

const cellKeys = (name: string): string =>
  `BatchGetItem ${["3812", "882a", "47e5", "3fe6"].map((fieldId) => `('issue-020e', '${name}-${fieldId}')`).join(", ")}`;

/** The draft's answers: a value is the whole sort key. */
export const draft = answersOf({
  value: "value",
  followed: false,
  fromDay: "Data >= '2023-05-02'",
  betweenDays: "Data BETWEEN '2023-04-01' AND '2023-05-01'",
  inMonth: "begins_with(Data, '2023-05')",
  onDay: "Data = '2023-05-01'",
});

/** The published answers. A value is followed by "#" and an issue's number: a range reaches to the next character, "$". */
export const published = answersOf({
  value: "xvalue",
  followed: true,
  fromDay: "Data >= '2023-05-02'",
  betweenDays: "Data BETWEEN '2023-04-01' AND '2023-05-01$'",
  inMonth: "begins_with(Data, '2023-05')",
  onDay: "begins_with(Data, '2023-05-01#')",
});
