import type { ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const first = { invoiceId: "92551", dated: "2018-02-07" };
const second = { invoiceId: "92552", dated: "2018-03-04" };
const december = { billId: "4224663", dated: "2017-12-03" };
const january = { billId: "4224687", dated: "2018-01-09" };

const contains = ({ invoiceId }: typeof first, { billId, dated }: typeof december): object => ({
  from: { invoiceId },
  to: { billId },
  dated,
});

/** The figures' answers. The index has no sort key: what it gives comes in no promised order. */
export const expected: ExpectedOf<typeof patterns> = {
  invoiceWithBills: {
    answer: { node: first, edges: { contains: [contains(first, december), contains(first, january)] }, parts: {} },
    requests: ["Query PK = 'Invoice-92551'"],
  },
  billWithInvoices: {
    answer: { node: january, edges: { contains: [contains(first, january), contains(second, january)] }, parts: {} },
    anyOrder: true,
    requests: ["Query GSI: SK = 'Bill-4224687'"],
  },
  billsOfInvoice: {
    answer: [december, january],
    requests: [
      "Query PK = 'Invoice-92551' AND begins_with(SK, 'Bill-')",
      "BatchGetItem ('Bill-4224663', 'Bill-4224663'), ('Bill-4224687', 'Bill-4224687')",
    ],
  },
  invoicesOfBill: {
    answer: [first, second],
    anyOrder: true,
    requests: ["Query GSI: SK = 'Bill-4224687'", "BatchGetItem ('Invoice-92551', 'Invoice-92551'), ('Invoice-92552', 'Invoice-92552')"],
  },
  invoice: {
    answer: second,
    requests: ["GetItem PK = 'Invoice-92552', SK = 'Invoice-92552'"],
  },
  bill: {
    answer: december,
    requests: ["GetItem PK = 'Bill-4224663', SK = 'Bill-4224663'"],
  },
  billInInvoice: {
    answer: contains(second, january),
    requests: ["GetItem PK = 'Invoice-92552', SK = 'Bill-4224687'"],
  },
};
