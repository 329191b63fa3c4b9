import type { StreamDb } from "./model.ts";

type Row = Readonly<Record<string, unknown>>;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly row: Row;
}

/** All rows of a table. */
interface Rows {
  readonly nodes: ReadonlyMap<string, Row>;
  readonly billed: readonly Edge[];
  readonly mailed: readonly Edge[];
  readonly knows: readonly Edge[];
  readonly lines: readonly { readonly owner: string; readonly row: Row }[];
  readonly remarks: readonly { readonly owner: string; readonly row: Row }[];
}

const allRows = async (db: StreamDb): Promise<Rows> => {
  const nodes = new Map<string, Row>();
  const edges = { billed: [] as Edge[], mailed: [] as Edge[], knows: [] as Edge[] };
  const parts = { line: [] as Rows["lines"][number][], remark: [] as Rows["remarks"][number][] };
  for await (const one of db.scan({ consistent: true } as never)) {
    if ("node" in one) nodes.set(`${one.node} ${one.node === "folder" ? one.row.folderId : one.row.id}`, { ...one.row });
    else if ("part" in one) parts[one.part].push({ owner: one.owner.id, row: { ...one.row } });
    else if (one.edge !== "filedIn") edges[one.edge].push({ from: one.from.id, to: one.to.id, row: { ...one.attributes } });
  }
  return { nodes, ...edges, lines: parts.line, remarks: parts.remark };
};

// Amounts have one decimal.
const total = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + Math.round(Number(value ?? 0) * 10), 0) / 10;

const payerByHand = ({ billed, mailed, knows }: Rows, id: string): Row => {
  const bills = billed.filter(({ to }) => to === id);
  const totals = bills.flatMap(({ row }) => (row["total"] === undefined ? [] : [Number(row["total"])]));
  const friends = knows.filter(({ from, to }) => from === id || to === id).map(({ from, to }) => [from, to].toSorted().join(" "));
  return {
    bills: bills.length,
    high: totals.filter((one) => one >= 5).length,
    owed: total(totals),
    mean: totals.length > 0 ? total(totals) / totals.length : undefined,
    least: totals.length > 0 ? Math.min(...totals) : undefined,
    most: totals.length > 0 ? Math.max(...totals) : undefined,
    totals: new Set(totals).size,
    senders: new Set(mailed.filter(({ to }) => to === id).map(({ from }) => from)).size,
    friends: new Set(friends).size,
  };
};

/** What every derived attribute of a node should be, from the rows. */
const nodeByHand = (rows: Rows, name: string): Row => {
  const [type, id = ""] = name.split(" ");
  if (type === "payer") return payerByHand(rows, id);
  if (type === "folder") {
    const docs = [...rows.nodes].filter(([other, { folderId }]) => other.startsWith("doc ") && folderId === id);
    return { docs: docs.length };
  }
  if (type !== "invoice") return {};
  const lines = rows.lines.filter(({ owner }) => owner === id);
  return { total: total(lines.map(({ row }) => row["amount"])), lines: lines.length };
};

/**
 * Compares every derived attribute with its recomputation from the rows, and every copy with its source. Copies of a node that
 * is gone may stay as they are. Gives what differs.
 */
export const wrongFacts = async (db: StreamDb): Promise<readonly string[]> => {
  const rows = await allRows(db);
  const wrong: string[] = [];
  const compare = (where: string, stored: Row, expected: Row): void => {
    for (const name in expected)
      if (stored[name] !== expected[name]) wrong.push(`${where}: ${name} is ${String(stored[name])} instead of ${String(expected[name])}`);
  };
  const compareCopies = (where: string, stored: Row, source: string, copies: Readonly<Record<string, string>>): void => {
    const node = rows.nodes.get(source);
    if (node) compare(where, stored, Object.fromEntries(Object.entries(copies).map(([copy, of]) => [copy, node[of]])));
  };
  for (const [name, row] of rows.nodes) compare(name, row, nodeByHand(rows, name));
  for (const { from, to, row } of rows.billed) {
    compareCopies(`billed ${from} ${to} ${String(row["term"])}`, row, `invoice ${from}`, { total: "total" });
    compareCopies(`billed ${from} ${to} ${String(row["term"])}`, row, `payer ${to}`, { payerName: "name" });
  }
  for (const { from, to, row } of rows.mailed) compareCopies(`mailed ${from} ${to}`, row, `payer ${to}`, { payerName: "name" });
  for (const { owner, row } of rows.remarks) compareCopies(`remark of ${owner}`, row, `payer ${owner}`, { owner: "name" });
  return wrong;
};
