import { definePatterns } from "edgetable";
import { billingDocs } from "./model.ts";

/** The guide's two questions, and the cheap ones that its rows also answer. */
export const patterns = definePatterns(billingDocs, {
  invoiceWithBills: {
    question: "What is in an invoice?",
    example: { invoiceId: "92551" },
    ask: (db, id) => db.invoice(id).collection(),
  },
  billWithInvoices: {
    question: "What is a bill, and which invoices contain it?",
    example: { billId: "4224687" },
    ask: (db, id) => db.bill(id).incoming(),
  },
  billsOfInvoice: {
    question: "Which bills does an invoice contain, with all that is known of each?",
    example: { invoiceId: "92551" },
    ask: (db, id) => db.invoice(id).out("contains").nodes(),
  },
  invoicesOfBill: {
    question: "Which invoices contain a bill, with all that is known of each?",
    example: { billId: "4224687" },
    ask: (db, id) => db.bill(id).in("contains").nodes(),
  },
  invoice: {
    question: "What is known of an invoice itself?",
    example: { invoiceId: "92552" },
    ask: (db, id) => db.invoice.get(id),
  },
  bill: {
    question: "What is known of a bill itself?",
    example: { billId: "4224663" },
    ask: (db, id) => db.bill.get(id),
  },
  billInInvoice: {
    question: "What does an invoice say of a bill?",
    example: { invoiceId: "92552", billId: "4224687" },
    ask: (db, { invoiceId, billId }) => db.contains.get({ invoiceId }, { billId }),
  },
});
