import type { ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const i1420 = { from: { invoiceId: "1420" } };
const i1249 = { from: { invoiceId: "1249" } };
const c1249 = { to: { customerId: "1249" } };
const b3392 = { to: { billId: "3392" } };

const i390 = { invoiceId: "390", date: "9/18/17", balance: "$12,170,127.00 ", status: "Open", due: "10/8/17" };
const i506 = { invoiceId: "506", date: "11/7/17", balance: "$5,729,271.00 ", status: "Cancelled", due: "11/27/17" };
const i1721 = { invoiceId: "1721", date: "1/1/17", balance: "$25,810,631.00 ", status: "Open", due: "1/21/17" };

const in506 = { from: { invoiceId: "506" }, ...b3392, amount: "$383,572.00 ", balance: "$5,345,699.00 " };
const in1721 = { from: { invoiceId: "1721" }, ...b3392, amount: "$401,844.00 ", balance: "$25,408,787.00 " };
const in390 = { from: { invoiceId: "390" }, ...b3392, amount: "$581,765.00 ", balance: "$11,588,362.00 " };

/** The lab's outputs. Its index has no sort key: what it gives comes in no promised order. */
export const expected: ExpectedOf<typeof patterns> = {
  invoiceWithAll: {
    answer: {
      node: { invoiceId: "1420", date: "10/31/17", balance: "$28,458,338.00 ", status: "Cancelled", due: "11/20/17" },
      edges: {
        bills: [
          { ...i1420, to: { billId: "2485" }, amount: "$135,986.00 ", balance: "$28,322,352.00 " },
          { ...i1420, to: { billId: "2823" }, amount: "$592,769.00 ", balance: "$8,382,270.00 " },
        ],
        billedTo: [{ ...i1420, to: { customerId: "1420" } }],
      },
      parts: {},
    },
    requests: ["Query PK = 'I#1420'"],
  },
  invoicesOfCustomer: {
    answer: [{ invoiceId: "661" }, { invoiceId: "1249" }],
    anyOrder: true,
    requests: ["Query GSI_1: SK = 'C#1249'"],
  },
  invoicesOfBill: {
    answer: [in506, in1721, in390],
    anyOrder: true,
    requests: ["Query GSI_1: SK = 'B#3392'"],
  },
  customerOnInvoices: {
    answer: [
      { ...i1249, ...c1249, customerName: "Fianna Richardon", state: "MD" },
      { from: { invoiceId: "661" }, ...c1249, customerName: "Andriana Gauvain", state: "CA" },
    ],
    requests: ["Query PK = 'C#1249' AND begins_with(SK, 'I#')"],
  },
  billOnInvoices: {
    answer: [
      { from: { invoiceId: "1721" }, ...b3392, due: "12/12/16", amount: "$401,844.00 " },
      { from: { invoiceId: "390" }, ...b3392, due: "8/29/17", amount: "$581,765.00 " },
      { from: { invoiceId: "506" }, ...b3392, due: "10/18/17", amount: "$383,572.00 " },
    ],
    requests: ["Query PK = 'B#3392' AND begins_with(SK, 'I#')"],
  },
  // The lab's one request gives neither the due dates nor the invoices: they take two more.
  billInFull: {
    answer: {
      bill: [
        { ...in506, due: "10/18/17" },
        { ...in1721, due: "12/12/16" },
        { ...in390, due: "8/29/17" },
      ],
      invoices: [i506, i1721, i390],
    },
    anyOrder: true,
    requests: [
      "Query GSI_1: SK = 'B#3392'",
      "BatchGetItem ('I#506', 'root'), ('I#1721', 'root'), ('I#390', 'root')",
      "Query PK = 'B#3392' AND begins_with(SK, 'I#')",
    ],
  },
  invoice: {
    answer: i1721,
    requests: ["GetItem PK = 'I#1721', SK = 'root'"],
  },
  billsOfInvoice: {
    answer: [
      { ...i1249, to: { billId: "2240" }, amount: "$187,459.00 ", balance: "$5,715,775.00 " },
      { ...i1249, to: { billId: "2763" }, amount: "$248,614.00 ", balance: "$7,111,315.00 " },
      { ...i1249, to: { billId: "3203" }, amount: "$606,233.00 ", balance: "$12,346,258.00 " },
    ],
    requests: ["Query PK = 'I#1249' AND begins_with(SK, 'B#')"],
  },
  isBilledIn: {
    answer: true,
    requests: ["GetItem PK = 'I#506', SK = 'B#3392'"],
  },
};
