import type { BillingDocsDb } from "./model.ts";

const invoices = [
  { invoiceId: "92551", dated: "2018-02-07", bills: ["4224663", "4224687"] },
  { invoiceId: "92552", dated: "2018-03-04", bills: ["4224687"] },
];

const bills = [
  { billId: "4224663", dated: "2017-12-03" },
  { billId: "4224687", dated: "2018-01-09" },
];

/** Writes the seven rows: an edge says when its bill is dated. */
export const load = async (db: BillingDocsDb): Promise<void> => {
  for (const bill of bills) await db.bill.create(bill).orThrow();
  for (const { invoiceId, dated, bills: contained } of invoices) {
    await db.invoice.create({ invoiceId, dated }).orThrow();
    for (const bill of bills) {
      if (contained.includes(bill.billId)) await db.contains.link({ invoiceId }, { billId: bill.billId }, { dated: bill.dated }).orThrow();
    }
  }
};
