import { startEngine, type LocalEngine } from "@edgetable/local";
import { parse } from "csv-parse/sync";
import { createLeanTransport } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeExample } from "../test-support/describe-example.ts";
import { seedFile, withoutSeedFile, type ExampleLab } from "../test-support/example-lab.ts";
import { csvColumns, graphRows, type CsvRow } from "./csv-row.ts";
import { billingLab, type BillingLabDb } from "./model.ts";
import { system } from "./system.ts";

const [example] = await system.tables();

// The lines that the lab's scripts print.
const outputs = {
  invoice: [
    "Invoice ID:I#1420, BillID:B#2485, BillAmount:$135,986.00 , BillBalance:$28,322,352.00",
    "Invoice ID:I#1420, BillID:B#2823, BillAmount:$592,769.00 , BillBalance:$8,382,270.00",
    "Invoice ID:I#1420, Customer ID:C#1420",
    "Invoice ID:I#1420, InvoiceStatus:Cancelled, InvoiceBalance:$28,458,338.00 , InvoiceDate:10/31/17, InvoiceDueDate:11/20/17",
  ],
  customer: ["Invoice ID: I#661, Customer ID: C#1249", "Invoice ID: I#1249, Customer ID: C#1249"],
  bill: [
    "Invoice ID: I#506, Bill ID: B#3392, BillAmount: $383,572.00 , BillBalance: $5,345,699.00",
    "Invoice ID: I#1721, Bill ID: B#3392, BillAmount: $401,844.00 , BillBalance: $25,408,787.00",
    "Invoice ID: I#390, Bill ID: B#3392, BillAmount: $581,765.00 , BillBalance: $11,588,362.00",
  ],
};

const printInvoice = async (db: BillingLabDb): Promise<readonly string[]> => {
  const { node, edges } = await db.invoice({ invoiceId: "1420" }).collection();
  const lead = `Invoice ID:I#${node?.invoiceId}`;
  return [
    ...(edges.bills ?? []).map(
      ({ to, amount, balance }) => `${lead}, BillID:B#${to.billId}, BillAmount:${amount}, BillBalance:${balance.trimEnd()}`,
    ),
    ...(edges.billedTo ?? []).map(({ to }) => `${lead}, Customer ID:C#${to.customerId}`),
    `${lead}, InvoiceStatus:${node?.status}, InvoiceBalance:${node?.balance}, InvoiceDate:${node?.date}, InvoiceDueDate:${node?.due}`,
  ];
};

const printCustomer = async (db: BillingLabDb): Promise<readonly string[]> => {
  const ids = await db.customer({ customerId: "1249" }).in("billedTo").using("GSI_1").ids();
  return ids.map(({ invoiceId }) => `Invoice ID: I#${invoiceId}, Customer ID: C#1249`);
};

const printBill = async (db: BillingLabDb): Promise<readonly string[]> => {
  const edges = await db.bill({ billId: "3392" }).in("bills").using("GSI_1").edges();
  return edges.map(
    ({ from, to, amount, balance }) =>
      `Invoice ID: I#${from.invoiceId}, Bill ID: B#${to.billId}, BillAmount: ${amount}, BillBalance: ${balance.trimEnd()}`,
  );
};

const expectOutputs = async (db: BillingLabDb): Promise<void> => {
  expect(await printInvoice(db)).toEqual(outputs.invoice);
  // The index has no sort key, so its order is nobody's promise.
  expect((await printCustomer(db)).toSorted()).toEqual(outputs.customer.toSorted());
  expect((await printBill(db)).toSorted()).toEqual(outputs.bill.toSorted());
};

const further = (lab: () => ExampleLab): void => {
  test("prints the lab's three outputs from the rows that ship", async () => {
    await expectOutputs(billingLab.connect({ transport: lab().transport }));
  });

  test("writes five items for a row, each with the attributes of its side", async () => {
    const items = await lab().items();
    const item = (partition: string, sort: string): unknown => items.find(({ PK, SK }) => PK === partition && SK === sort);
    expect(item("I#390", "root")).toEqual({
      PK: "I#390",
      SK: "root",
      InvoiceDate: "9/18/17",
      InvoiceBalance: "$12,170,127.00 ",
      InvoiceStatus: "Open",
      InvoiceDueDate: "10/8/17",
    });
    expect(item("I#390", "C#390")).toEqual({ PK: "I#390", SK: "C#390" });
    expect(item("I#390", "B#3392")).toEqual({ PK: "I#390", SK: "B#3392", BillAmount: "$581,765.00 ", BillBalance: "$11,588,362.00 " });
    expect(item("C#390", "I#390")).toEqual({ PK: "C#390", SK: "I#390", CustomerName: "Britteny Lacaze", State: "TX" });
    expect(item("B#3392", "I#390")).toEqual({ PK: "B#3392", SK: "I#390", BillDueDate: "8/29/17", BillAmount: "$581,765.00 " });
  });
};

describeExample("billing-lab", example!, { further });

const file = "invoices.csv";
const csv = seedFile(file);

describe.skipIf(csv === undefined)(`billing-lab, the whole file${csv === undefined ? ` (${withoutSeedFile(file)})` : ""}`, () => {
  let engine: LocalEngine;
  let db: BillingLabDb;
  let report: Awaited<ReturnType<BillingLabDb["load"]>>;

  beforeAll(async () => {
    engine = await startEngine();
    db = billingLab.connect({ endpoint: engine.endpoint });
    await db.table.create();
    const rows = parse<CsvRow>(csv ?? "", { columns: [...csvColumns] });
    expect(rows).toHaveLength(1000);
    report = await db.load(graphRows(rows), { order: "kept" });
  });
  afterAll(async () => {
    await db.close();
    await engine.stop();
  });

  const scan = async (): Promise<readonly Readonly<Record<string, string>>[]> => {
    const transport = createLeanTransport({ endpoint: engine.endpoint });
    const items: Record<string, string>[] = [];
    let start: Parameters<typeof transport.send<"Scan">>[1]["ExclusiveStartKey"];
    do {
      const page = await transport.send("Scan", { TableName: "InvoiceAndBills", ...(start ? { ExclusiveStartKey: start } : {}) });
      items.push(
        ...(page.Items ?? []).map((item) =>
          Object.fromEntries(Object.entries(item).map(([name, value]) => [name, "S" in value ? value.S : ""])),
        ),
      );
      start = page.LastEvaluatedKey;
    } while (start);
    await transport.close();
    return items;
  };

  const dollars = (text: string | undefined): number => Number((text ?? "").replaceAll(/[$,() ]/g, "")) * (text?.startsWith("(") ? -1 : 1);

  test("names every overwrite of the load", () => {
    expect(report.collisions.by).toEqual({
      invoice: { items: 220, differing: 220 },
      // An invoice's edge to its customer has no attributes that could differ.
      billedTo: { items: 215, differing: 0 },
      "billedTo:mirror": { items: 215, differing: 215 },
    });
  });

  test("ends with the lab's 4,350 items, sums and outputs", async () => {
    const items = await scan();
    const kind = ({ PK, SK }: Readonly<Record<string, string>>): string => `${PK?.slice(0, 1)}→${SK === "root" ? "root" : SK?.slice(0, 1)}`;
    const counts: Record<string, number> = {};
    for (const item of items) counts[kind(item)] = (counts[kind(item)] ?? 0) + 1;
    expect(items).toHaveLength(4350);
    expect(counts).toEqual({ "I→root": 780, "I→C": 785, "I→B": 1000, "C→I": 785, "B→I": 1000 });
    const billed = items.filter((item) => kind(item) === "I→B");
    const sum = (of: typeof billed): number => of.reduce((total, { BillAmount }) => total + dollars(BillAmount), 0);
    expect(sum(billed)).toBe(373_741_051);
    expect(sum(billed.filter(({ PK }) => PK === "I#1420"))).toBe(728_755);
    expect(sum(billed.filter(({ SK }) => SK === "B#3392"))).toBe(1_367_181);
    const totals = new Map<string, number>();
    for (const { PK = "", BillAmount } of billed) totals.set(PK, (totals.get(PK) ?? 0) + dollars(BillAmount));
    expect([...totals].toSorted(([, a], [, b]) => b - a).slice(0, 5)).toEqual([
      ["I#1285", 1_630_799],
      ["I#80", 1_512_143],
      ["I#694", 1_472_580],
      ["I#1075", 1_445_524],
      ["I#649", 1_363_486],
    ]);
    await expectOutputs(db);
  });

  test("answers the customer whose invoices and names differ", async () => {
    expect(await db.customer({ customerId: "1249" }).in("billedTo").edges()).toEqual([
      { from: { invoiceId: "1249" }, to: { customerId: "1249" }, customerName: "Fianna Richardon", state: "MD" },
      { from: { invoiceId: "661" }, to: { customerId: "1249" }, customerName: "Andriana Gauvain", state: "CA" },
    ]);
    const { edges } = await db.invoice({ invoiceId: "661" }).collection();
    expect([edges.bills?.map(({ to }) => to.billId), edges.billedTo?.map(({ to }) => to.customerId)]).toEqual([
      ["2134", "2345", "2506"],
      ["1249", "661"],
    ]);
  });
});
