import type { ScanReport, Scanning } from "../executor/scan/run-scan.ts";
import { namesIn } from "../util/check-options.ts";
import type { Driver } from "./driver.ts";
import type { Edges, EndId, Nodes, Parts } from "./graph-types.ts";
import type { ScanOptions } from "./scan-options.ts";
import type { Row } from "../util/row.ts";

interface ScannedNode<Name, Stored> {
  readonly node: Name;
  readonly row: Stored;
}
interface ScannedPart<Name, Owner, Stored> {
  readonly part: Name;
  readonly owner: Owner;
  readonly row: Stored;
}
interface ScannedEdge<Name, From, To, Stored, Changes> {
  readonly edge: Name;
  readonly from: From;
  readonly to: To;
  readonly attributes: Stored;
  /** Attributes that differ on the copy in the target's partition, of an edge stored in both. */
  readonly reverse?: Changes;
}

/** One row of a scan, in the form that `db.load` takes. */
export type ScanRow<N extends Nodes, E extends Edges, P extends Parts> =
  | { readonly [Name in keyof N & string]: ScannedNode<Name, N[Name]["~types"]["row"]> }[keyof N & string]
  | { readonly [Name in keyof P & string]: ScannedPart<Name, N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"]["row"]> }[keyof P & string]
  | {
      readonly [Name in keyof E & string]: ScannedEdge<
        Name,
        EndId<N, E[Name]["~from"]>,
        EndId<N, E[Name]["~to"]>,
        E[Name]["~types"]["row"],
        E[Name]["~types"]["changes"]
      >;
    }[keyof E & string];

/** A scan: its rows, each time from its beginning, and how far the last reading has come. */
export interface Scan<Row> extends AsyncIterable<Row> {
  /** What was read so far, and the position from which another scan goes on. */
  report(): ScanReport;
}

/**
 * Reads the whole table by Scan and gives every node, edge and part as a row that `db.load` takes:
 * a table loaded from the rows has the same items. Edges that are stored twice come once, with what
 * differs between their copies as `reverse`. Edgetable's own items are left out: loading makes them
 * anew. Rows come in no order, and what is written meanwhile may be in them or not: a scan is no
 * snapshot.
 *
 * Costs half a read unit for each 4 KB of the whole table, in requests of 1,000 items, whatever is
 * taken of it; for copies that come far apart see `held`. Memory does not grow with the table.
 *
 * @throws {scan.strayItem} for an item that gives no row, without `onStray`
 * @throws {plan.invalidOption} for a number out of its range, or a name that the model does not have
 * @throws {cursor.invalid} when `from` is no position of this table
 * @throws what the service said: `details.report` has how far it came
 * @example
 * const scan = db.scan({ segments: 4, onStray: ({ key, reason }) => console.log(key, reason) });
 * for await (const row of scan) console.log(JSON.stringify(row));
 * console.log(scan.report().cost.readUnits);
 */
export type ScanTable<Row> = (options?: ScanOptions) => Scan<Row>;

const unread: ScanReport = {
  items: 0,
  rows: 0,
  system: 0,
  stray: 0,
  uneven: 0,
  drifted: { items: 0, first: [] },
  cost: { requests: 0, readUnits: 0, writeUnits: 0 },
  position: undefined,
};

/** `db.scan` of a connection. */
export const scanOf =
  (driver: Driver): ScanTable<Row> =>
  (options = {}) => {
    namesIn(options);
    let scanning: Scanning | undefined;
    async function* rows(): AsyncGenerator<Row> {
      // Few processes scan: the code is loaded by those that do.
      const { scanRows } = await import("./scan-rows.ts");
      // A caller who stops early must not leave requests under way.
      const ended = new AbortController();
      const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
      scanning = scanRows(driver, { ...options, signal });
      try {
        yield* scanning.rows;
      } finally {
        ended.abort();
      }
    }
    return { [Symbol.asyncIterator]: rows, report: () => scanning?.report() ?? { ...unread, position: options.from } };
  };
