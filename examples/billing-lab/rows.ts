import { csvColumns, graphRows, type CsvRow } from "./csv-row.ts";
import type { BillingLabDb } from "./model.ts";

// The rows of the lab's file that its three published outputs show, in the file's order. An invoice
// that is in it twice (I#1420, I#1249, I#661) keeps the values of the later row.
const lines = [
  "I#1420|11/27/17|$8,975,039.00 |Open|12/17/17|B#2823|11/7/17|$592,769.00 |$8,382,270.00 |C#1420|Gratia Belcher|MA",
  "I#1249|6/11/17|$5,903,234.00 |Open|7/1/17|B#2240|5/22/17|$187,459.00 |$5,715,775.00 |C#1249|Shir Pawson|MD",
  "I#661|7/9/17|$24,942,402.00 |Closed|7/29/17|B#2506|6/19/17|$538,115.00 |$24,404,287.00 |C#1249|Andriana Gauvain|CA",
  "I#1249|4/20/17|$12,952,491.00 |Cancelled|5/10/17|B#3203|3/31/17|$606,233.00 |$12,346,258.00 |C#1249|Britte Rhubottom|NC",
  "I#390|9/18/17|$12,170,127.00 |Open|10/8/17|B#3392|8/29/17|$581,765.00 |$11,588,362.00 |C#390|Britteny Lacaze|TX",
  "I#506|11/7/17|$5,729,271.00 |Cancelled|11/27/17|B#3392|10/18/17|$383,572.00 |$5,345,699.00 |C#506|Germayne Barthrup|TX",
  "I#661|7/23/17|$12,725,100.00 |Cancelled|8/12/17|B#2134|7/3/17|$262,119.00 |$12,462,981.00 |C#661|Roderich Millmore|NC",
  "I#1249|9/1/17|$7,359,929.00 |Closed|9/21/17|B#2763|8/12/17|$248,614.00 |$7,111,315.00 |C#1249|Fianna Richardon|MD",
  "I#661|9/18/17|$29,405,924.00 |Open|10/8/17|B#2345|8/29/17|$404,715.00 |$29,001,209.00 |C#661|Oby Peniello|TX",
  "I#1721|1/1/17|$25,810,631.00 |Open|1/21/17|B#3392|12/12/16|$401,844.00 |$25,408,787.00 |C#1721|Rita Nacey|MD",
  "I#1420|10/31/17|$28,458,338.00 |Cancelled|11/20/17|B#2485|10/11/17|$135,986.00 |$28,322,352.00 |C#1420|Melba Borleace|CA",
];

const csvRow = (line: string): CsvRow => {
  const cells = line.split("|");
  return Object.fromEntries(csvColumns.map((column, at) => [column, cells[at] ?? ""])) as CsvRow;
};

/** The rows, by column. */
export const csvRows: readonly CsvRow[] = lines.map(csvRow);

/** Loads the rows as the lab does: in order, the later of two that make the same item standing. */
export const load = async (db: BillingLabDb): Promise<void> => {
  await db.load(graphRows(csvRows), { order: "kept", strict: true });
};
