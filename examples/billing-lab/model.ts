import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

// As the lab's CSV has them: dates such as 12/10/17, money such as "$323,201.00 " and "($104,745.00)".
const day = z.string().regex(/^\d{1,2}\/\d{1,2}\/\d{2}$/);
const money = z.string().regex(/^\(?\$[\d,]+\.\d{2}\)? ?$/);
const id = z.string().regex(/^\d+$/);

/**
 * Invoices, bills and customers, as the AWS lab loads them: every edge stands in both partitions, each
 * copy with attributes of its own; only invoices have an item of their own, called `root`; the index
 * turns the sort key around and has none itself.
 */
export const billingLab = defineGraph({
  table: "InvoiceAndBills",
  nodes: {
    invoice: node({
      key: "I#{invoiceId}",
      schema: z.object({ invoiceId: id, date: day, balance: money, status: z.enum(["Open", "Closed", "Cancelled"]), due: day }),
      expect: { bytes: 130 },
    }),
    bill: node({ key: "B#{billId}", schema: z.object({ billId: id }), stored: false }),
    customer: node({ key: "C#{customerId}", schema: z.object({ customerId: id }), stored: false }),
  },
  edges: {
    bills: edge({
      from: "invoice",
      to: "bill",
      stored: "twice",
      schema: z.object({ amount: money, balance: money, due: day }),
      sides: { from: ["amount", "balance"], to: ["due", "amount"] },
      expect: { from: 2, to: 3, bytes: 80 },
    }),
    billedTo: edge({
      from: "invoice",
      to: "customer",
      stored: "twice",
      schema: z.object({ customerName: z.string(), state: z.string().length(2) }),
      sides: { from: [], to: ["customerName", "state"] },
      expect: { from: 1, to: 2, bytes: 60 },
    }),
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    indexes: { GSI_1: { partitionKey: "SK" } },
    nodes: {
      invoice: {
        keys: { SK: "root" },
        attributes: { date: "InvoiceDate", balance: "InvoiceBalance", status: "InvoiceStatus", due: "InvoiceDueDate" },
      },
    },
    edges: {
      bills: {
        attributes: { amount: "BillAmount", balance: "BillBalance" },
        mirror: { attributes: { due: "BillDueDate", amount: "BillAmount" } },
      },
      billedTo: { mirror: { attributes: { customerName: "CustomerName", state: "State" } } },
    },
  },
});

export type BillingLabDb = ReturnType<typeof billingLab.connect>;
