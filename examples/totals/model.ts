import { count, defineGraph, edge, node, sum } from "edgetable";
import { z } from "zod";

const ends = { from: "cascade", to: "cascade" } as const;
const stream = { freshness: "stream" } as const;
const batch = { freshness: "batch" } as const;
const bills = { out: "bills", of: "amount" } as const;
const invoices = { in: "bills", of: "amount" } as const;
const enrolments = { in: "enrolledIn" } as const;
const issues = { in: "inProject" } as const;
const projects = { in: "ofTenant", of: "issues" } as const;

/** The totals of the billing lab, the tracker and education: each is kept in the transaction, by the stream and in batch. */
export const totals = defineGraph({
  table: "Totals",
  nodes: {
    invoice: node({
      key: "INVOICE#{invoiceId}",
      schema: z.object({ invoiceId: z.string() }),
      derived: { billed: sum(bills), billedByStream: sum({ ...bills, ...stream }), billedInBatch: sum({ ...bills, ...batch }) },
    }),
    bill: node({
      key: "BILL#{billId}",
      schema: z.object({ billId: z.string() }),
      derived: { billed: sum(invoices), billedByStream: sum({ ...invoices, ...stream }), billedInBatch: sum({ ...invoices, ...batch }) },
    }),
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }),
    course: node({
      key: "COURSE#{courseId}",
      schema: z.object({ courseId: z.string(), name: z.string() }),
      derived: {
        students: count(enrolments),
        studentsByStream: count({ ...enrolments, ...stream }),
        studentsInBatch: count({ ...enrolments, ...batch }),
      },
    }),
    tenant: node({
      key: "TENANT#{tenantId}",
      schema: z.object({ tenantId: z.string(), name: z.string() }),
      // Two hops away: a transaction counts edges of the issues' own, the others add up what each project counts.
      derived: {
        issues: count({ in: "inTenant" }),
        issuesByStream: sum({ ...projects, ...stream }),
        issuesInBatch: sum({ ...projects, ...batch }),
      },
    }),
    project: node({
      key: "PROJECT#{projectId}",
      schema: z.object({ projectId: z.string(), name: z.string() }),
      derived: { issues: count(issues), issuesByStream: count({ ...issues, ...stream }), issuesInBatch: count({ ...issues, ...batch }) },
    }),
    issue: node({ key: "ISSUE#{issueId}", schema: z.object({ issueId: z.string(), name: z.string() }) }),
  },
  edges: {
    bills: edge({ from: "invoice", to: "bill", schema: z.object({ amount: z.number() }), onDelete: ends }),
    enrolledIn: edge({ from: "student", to: "course", onDelete: ends }),
    ofTenant: edge({ from: "project", to: "tenant", copies: { from: { issues: { of: "issues", freshness: "stream" } } }, onDelete: ends }),
    inProject: edge({ from: "issue", to: "project", onDelete: ends }),
    inTenant: edge({ from: "issue", to: "tenant", onDelete: ends }),
  },
});

export type TotalsDb = ReturnType<typeof totals.connect>;
