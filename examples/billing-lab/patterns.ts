import { combine, definePatterns } from "edgetable";
import { billingLab } from "./model.ts";

const inIndex = "GSI_1";

/** The lab's three questions, as it asks them and as it means them, and the cheap ones beside them. */
export const patterns = definePatterns(billingLab, {
  invoiceWithAll: {
    question: "What is an invoice, whose is it, and which bills are in it?",
    example: { invoiceId: "1420" },
    ask: (db, id) => db.invoice(id).collection(),
  },
  invoicesOfCustomer: {
    question: "Which invoices has a customer?",
    example: { customerId: "1249" },
    ask: (db, id) => db.customer(id).in("billedTo").using(inIndex).ids(),
  },
  invoicesOfBill: {
    question: "Which invoices is a bill in, with how much?",
    example: { billId: "3392" },
    ask: (db, id) => db.bill(id).in("bills").using(inIndex).edges(),
  },
  customerOnInvoices: {
    question: "Under which name and state is a customer on their invoices?",
    example: { customerId: "1249" },
    ask: (db, id) => db.customer(id).in("billedTo").edges(),
  },
  billOnInvoices: {
    question: "When is a bill due, on each of its invoices?",
    example: { billId: "3392" },
    ask: (db, id) => db.bill(id).in("bills").edges(),
  },
  billInFull: {
    question: "What is known of a bill, and of each invoice that it is in?",
    example: { billId: "3392" },
    ask: (db, id) =>
      combine({ amounts: db.bill(id).in("bills").using(inIndex).entries(), dues: db.bill(id).in("bills").edges() }, ({ amounts, dues }) => {
        const dueOf = new Map(dues.map(({ from, due }) => [from.invoiceId, due]));
        return {
          bill: amounts.map(({ edge }) => ({ ...edge, due: dueOf.get(edge.from.invoiceId) })),
          invoices: amounts.map(({ node }) => node),
        };
      }),
  },
  invoice: {
    question: "What is an invoice itself?",
    example: { invoiceId: "1721" },
    ask: (db, id) => db.invoice.get(id),
  },
  billsOfInvoice: {
    question: "Which bills are in an invoice?",
    example: { invoiceId: "1249" },
    ask: (db, id) => db.invoice(id).out("bills").edges(),
  },
  isBilledIn: {
    question: "Is a bill in an invoice?",
    example: { invoiceId: "506", billId: "3392" },
    ask: (db, { invoiceId, billId }) => db.invoice({ invoiceId }).has("bills", { billId }),
  },
});
