import type { BillingLabDb } from "./model.ts";

/** The columns of the lab's file, which has no line of headings. */
export const csvColumns = [
  "invoice",
  "date",
  "balance",
  "status",
  "due",
  "bill",
  "billDue",
  "billAmount",
  "billBalance",
  "customer",
  "customerName",
  "state",
] as const;

/** One row of the file, by column. */
export type CsvRow = Readonly<Record<(typeof csvColumns)[number], string>>;

type LoadRow = Parameters<BillingLabDb["load"]>[0] extends Iterable<infer Row> | AsyncIterable<unknown> ? Row : never;

/** An id without its letter: `1420` of `I#1420`. */
const idOf = (text: string): string => text.slice(2);

const statusOf = (text: string): "Open" | "Closed" | "Cancelled" => text as "Open" | "Closed" | "Cancelled";

/** An invoice, its bill and its customer: five items, because both edges stand in both partitions. */
export function* graphRows(rows: Iterable<CsvRow>): Generator<LoadRow> {
  for (const row of rows) {
    const [invoiceId, billId, customerId] = [idOf(row.invoice), idOf(row.bill), idOf(row.customer)];
    const { date, balance, due, customerName, state } = row;
    yield { node: "invoice", row: { invoiceId, date, balance, status: statusOf(row.status), due } };
    yield {
      edge: "bills",
      from: { invoiceId },
      to: { billId },
      attributes: { amount: row.billAmount, balance: row.billBalance, due: row.billDue },
    };
    yield { edge: "billedTo", from: { invoiceId }, to: { customerId }, attributes: { customerName, state } };
  }
}
