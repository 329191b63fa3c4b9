import type { Scanning, ScanReport } from "../executor/scan/run-scan.ts";
import { checkSignal, namesIn } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import { linkAbort } from "../util/time.ts";
import type { Driver } from "./driver.ts";
import type { EdgeRow, Edges, EndId, Ends, Nodes, PartRow, Parts } from "./graph-types.ts";
import type { ScanOptions } from "./scan-rows.ts";

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
  | { readonly [Name in keyof P & string]: ScannedPart<Name, N[P[Name]["of"]]["~types"]["id"], PartRow<N, P[Name]>> }[keyof P & string]
  | {
      readonly [Name in keyof E & string]: ScannedEdge<
        Name,
        EndId<Ends<N, P>, E[Name]["~from"]>,
        EndId<Ends<N, P>, E[Name]["~to"]>,
        EdgeRow<N, E[Name]>,
        E[Name]["~types"]["changes"]
      >;
    }[keyof E & string];

/** A scan. Each iteration starts from the beginning; `report` covers the last one. */
export interface Scan<Row> extends AsyncIterable<Row> {
  /** What was read so far, and the position from which another scan can continue. */
  report(): ScanReport;
}

/**
 * Reads the whole table by Scan and yields every node, edge and part as a row that `db.load` accepts. A table loaded from these
 * rows has the same items, without attributes that the model does not know. An edge stored twice comes once; `reverse` has the
 * attributes that differ on its second copy. Edgetable's own items are left out, because loading creates them again. Rows are
 * unordered. A scan is not a snapshot: rows may or may not include concurrent writes.
 *
 * Costs half a read unit for each 4 KB of the whole table, in requests of 1,000 items, even if only some kinds are wanted. Copies
 * that are far apart cost more, see `held`. Memory does not grow with the table.
 *
 * @throws {scan.strayItem} for an item that is not a row, unless `onStray` is given
 * @throws {plan.invalidOption} for a number out of range, or a name that the model does not have
 * @throws {cursor.invalid} if `from` is not a position in this table
 * @throws errors of the service; `details.report` has the progress of the scan
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
    if (options.signal !== undefined) checkSignal(options.signal);
    let scanning: Scanning | undefined;
    async function* rows(): AsyncGenerator<Row> {
      // Few processes scan, so the first scan loads the code.
      const { scanRows } = await import("./scan-rows.ts");
      // A caller that stops early must not leave requests in flight.
      const ended = new AbortController();
      const unlink = linkAbort(ended, options.signal);
      scanning = scanRows(driver, { ...options, signal: ended.signal });
      try {
        yield* scanning.rows;
      } finally {
        unlink();
        ended.abort();
      }
    }
    return { [Symbol.asyncIterator]: rows, report: () => scanning?.report() ?? { ...unread, position: options.from } };
  };
