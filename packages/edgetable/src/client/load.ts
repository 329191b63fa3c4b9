import type { LoadReport } from "../executor/load/load-state.ts";
import type { LoadOptions } from "./job-options.ts";
import type { Edges, EndId, Ends, Nodes, Parts } from "./graph-types.ts";
import type { WriteDriver } from "./write-call.ts";

interface NodeRow<Name extends string, Row> {
  readonly node: Name;
  readonly row: Row;
}
interface PartRow<Name extends string, Owner, Row> {
  readonly part: Name;
  /** Id of the node that contains it. */
  readonly owner: Owner;
  readonly row: Row;
}
interface EdgeRow<Name extends string, Ends, Input, Changes> {
  readonly edge: Name;
  readonly from: Ends extends { readonly from: infer From } ? From : never;
  readonly to: Ends extends { readonly to: infer To } ? To : never;
  readonly attributes?: Input;
  /** Attributes that differ on the copy in the target's partition, of an edge stored in both. */
  readonly reverse?: Changes;
}

/** One row of a bulk load: a node, a part or an edge. */
export type LoadRow<N extends Nodes, E extends Edges, P extends Parts> =
  | { readonly [Name in keyof N & string]: NodeRow<Name, N[Name]["~types"]["input"]> }[keyof N & string]
  | { readonly [Name in keyof P & string]: PartRow<Name, N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"]["input"]> }[keyof P & string]
  | {
      readonly [Name in keyof E & string]: EdgeRow<
        Name,
        { readonly from: EndId<Ends<N, P>, E[Name]["~from"]>; readonly to: EndId<Ends<N, P>, E[Name]["~to"]> },
        E[Name]["~types"]["input"],
        E[Name]["~types"]["changes"]
      >;
    }[keyof E & string];

/**
 * Loads rows from an iterable, 25 items per request, in memory that does not grow with the input. Each item is written by itself
 * and replaces an existing one. A node with unique attributes or a version, and an edge with a version or a limited degree, takes a
 * read and a transaction, which is some thirty times slower. Afterwards an item's version is at least the row's `version`, which
 * rows of a scan contain.
 *
 * Does not check that the ends of an edge exist, so rows may come in any order. `ends: "checked"` does, in a transaction for each
 * edge. Edges and parts that a node counts need the node: such a row waits until the input brings the node, and fails otherwise.
 *
 * Costs one write unit for each KB of each item, and the same for each index that contains it.
 *
 * @throws {load.invalidRow} for the first invalid row, with `strict`
 * @throws {load.collision} for the first collision, with `collisions: "refuse"`
 * @throws {job.busy} while another process runs the job
 * @throws {job.mismatch} if the job is of another kind or has another input
 * @throws the service's error if it accepts no more requests; `details.report` says what was loaded
 * @example
 * const report = await db.load(rows, { order: "kept", job: "import-2024" });
 * for (const { row, error } of report.failures) console.log(row, error.message);
 */
export type Load<Row> = (rows: Iterable<Row> | AsyncIterable<Row>, options?: LoadOptions) => Promise<LoadReport>;

/** `db.load` of a connection. */
export const loadOf =
  (driver: WriteDriver): Load<unknown> =>
  // Few processes load in bulk, so their first call loads the code.
  async (rows, options = {}) =>
    (await import("./load-rows.ts")).loadRows(driver, rows, options);
