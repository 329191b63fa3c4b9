import { csvRows } from "../billing-lab/rows.ts";
import { courses, enrolments, students } from "../education/rows.ts";
import { issues, projects, tenants } from "../tracker/rows.ts";
import type { TotalsDb } from "./model.ts";

type LoadRow = Parameters<TotalsDb["load"]>[0] extends Iterable<infer Row> | AsyncIterable<unknown> ? Row : never;

const amountOf = (text: string): number => Number(text.replaceAll(/[$, ]/g, ""));
const idOf = (text: string): string => text.slice(2);

function* nodes(): Generator<LoadRow> {
  for (const invoiceId of new Set(csvRows.map(({ invoice }) => idOf(invoice)))) yield { node: "invoice", row: { invoiceId } };
  for (const billId of new Set(csvRows.map(({ bill }) => idOf(bill)))) yield { node: "bill", row: { billId } };
  for (const { tenantId, name } of tenants) yield { node: "tenant", row: { tenantId, name } };
  for (const { projectId, name } of projects) yield { node: "project", row: { projectId, name } };
  for (const { issueId, name } of issues) yield { node: "issue", row: { issueId, name } };
  for (const { studentId, name } of students) yield { node: "student", row: { studentId, name } };
  for (const { courseId, name } of courses) yield { node: "course", row: { courseId, name } };
}

function* edges(): Generator<LoadRow> {
  for (const { invoice, bill, billAmount } of csvRows)
    yield { edge: "bills", from: { invoiceId: idOf(invoice) }, to: { billId: idOf(bill) }, attributes: { amount: amountOf(billAmount) } };
  for (const { projectId, tenantId } of projects) yield { edge: "ofTenant", from: { projectId }, to: { tenantId } };
  for (const { issueId, projectId } of issues) {
    yield { edge: "inProject", from: { issueId }, to: { projectId } };
    const { tenantId = "" } = projects.find((project) => project.projectId === projectId) ?? {};
    yield { edge: "inTenant", from: { issueId }, to: { tenantId } };
  }
  for (const { studentId, courseId } of enrolments) yield { edge: "enrolledIn", from: { studentId }, to: { courseId } };
}

/** Loads what the three systems publish, as far as it is totalled. */
export const load = async (db: TotalsDb): Promise<void> => {
  await db.load(nodes(), { strict: true });
  await db.load(edges(), { strict: true });
};
