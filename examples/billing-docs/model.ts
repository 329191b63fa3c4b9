import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

const dated = z.iso.date();

/**
 * Invoices and bills, as the AWS developer guide draws them: a node's own item stands under its own
 * id, an edge is stored once, and the index turns the sort key into a partition key, so that it holds
 * a bill together with every invoice that it is in.
 */
export const billingDocs = defineGraph({
  table: "Billing",
  nodes: {
    invoice: node({ key: "Invoice-{invoiceId}", schema: z.object({ invoiceId: z.string(), dated }), mirror: true, expect: { bytes: 60 } }),
    bill: node({ key: "Bill-{billId}", schema: z.object({ billId: z.string(), dated }), mirror: true, expect: { bytes: 60 } }),
  },
  edges: {
    contains: edge({ from: "invoice", to: "bill", schema: z.object({ dated }), expect: { from: 2, to: 2, bytes: 60 } }),
  },
  layout: {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "-",
    indexes: { GSI: { partitionKey: "SK" } },
    nodes: { invoice: { attributes: { dated: "Dated" } }, bill: { attributes: { dated: "Dated" } } },
    edges: { contains: { attributes: { dated: "Dated" } } },
  },
});

export type BillingDocsDb = ReturnType<typeof billingDocs.connect>;
