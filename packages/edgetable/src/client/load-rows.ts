import { EdgetableError } from "../errors/edgetable-error.ts";
import { abortedByClose } from "../executor/jobs/run-job.ts";
import { runLoad } from "../executor/load/run-load.ts";
import type { LoadReport } from "../executor/load/tally.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import { edgeWrites } from "./edge-writes.ts";
import { LEASE } from "./job-options.ts";
import { checkLoadOptions, loadSettings, type LoadOptions } from "./load-options.ts";
import { nodeWrites, partWrites } from "./node-writes.ts";
import { writeOf, type WriteDriver } from "./write-call.ts";
import type { Row } from "../util/row.ts";

type Reader = (given: Row) => LogicalWrite;

const FORM = 'Give { node, row }, { part, owner, row } or { edge, from, to, attributes }, such as { node: "student", row: { ... } }.';

const object = (given: Row, field: string): Row => {
  const value = given[field];
  if (typeof value === "object" && value !== null) return value as Row;
  throw new EdgetableError("schema.invalidValue", `The row has no object "${field}". ${FORM}`, { details: { row: given, field } });
};

// A scan gives an item's version along; a load that makes the item anew must not set it back.
const restored = (write: LogicalWrite, row: Row | undefined): LogicalWrite => {
  const version = row?.[VERSION];
  return typeof version === "number" && Number.isSafeInteger(version) ? ({ ...write, leastVersion: version } as LogicalWrite) : write;
};

const readers = (
  driver: WriteDriver,
  ends: "checked" | "unchecked",
): Readonly<Record<"node" | "part" | "edge", ReadonlyMap<string, Reader>>> => {
  const { nodes, parts, edges } = driver.catalog;
  const map = <Entry>(entries: Readonly<Record<string, Entry>>, make: (entry: Entry) => Reader): ReadonlyMap<string, Reader> =>
    new Map(Object.entries(entries).map(([name, entry]) => [name, make(entry)]));
  return {
    node: map(nodes, (entry) => {
      const writes = nodeWrites(driver, entry);
      return (given) => restored(writeOf(writes.put(object(given, "row"))), object(given, "row"));
    }),
    part: map(parts, (entry) => {
      const writes = partWrites(driver, entry);
      return (given) => {
        const row = object(given, "row");
        return restored({ ...writeOf(writes.put(object(given, "owner"), row)), ends } as LogicalWrite, row);
      };
    }),
    edge: map(edges, (entry) => {
      const writes = edgeWrites(driver, entry);
      return (given) => {
        const attributes = given["attributes"] === undefined ? {} : object(given, "attributes");
        const reverse = given["reverse"] === undefined ? {} : { reverse: object(given, "reverse") };
        const write = { ...writeOf(writes.put(object(given, "from"), object(given, "to"), attributes, reverse)), ends } as LogicalWrite;
        return restored(write, attributes);
      };
    }),
  };
};

const kinds = ["node", "part", "edge"] as const;
const codes = { node: "schema.unknownNode", part: "schema.unknownNode", edge: "schema.unknownEdge" } as const;

/**
 * What turns a row of an input into a write.
 *
 * @throws {schema.unknownNode} {schema.unknownEdge} {schema.invalidValue} for a row that names nothing of the model
 */
const rowReader = (driver: WriteDriver, ends: "checked" | "unchecked"): ((given: unknown) => LogicalWrite) => {
  const known = readers(driver, ends);
  return (given) => {
    const row = (typeof given === "object" && given !== null ? given : {}) as Row;
    const kind = kinds.find((one) => row[one] !== undefined);
    if (!kind)
      throw new EdgetableError("schema.invalidValue", `The row says neither node, part nor edge. ${FORM}`, { details: { row: given } });
    const name = String(row[kind]);
    const read = known[kind].get(name);
    if (read) return read(row);
    throw new EdgetableError(codes[kind], `There is no ${kind} "${name}".${didYouMean(name, [...known[kind].keys()])}`, {
      details: { [kind]: name },
    });
  };
};

const checkRows = (rows: unknown): void => {
  if (typeof rows === "object" && rows !== null && (Symbol.asyncIterator in rows || Symbol.iterator in rows)) return;
  throw new EdgetableError("plan.invalidOption", `Expected an array of rows, got ${jsonText(rows)}.`);
};

/** Loads rows; see `Load`. */
export const loadRows = (
  driver: WriteDriver,
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  options: LoadOptions,
): Promise<LoadReport> => {
  const given = checkLoadOptions(options);
  const { job, fingerprint = "", lease = LEASE, ends = "unchecked" } = given;
  checkRows(rows);
  const source = { rows, toWrite: rowReader(driver, ends) };
  const { session, validates } = driver;
  if (job === undefined) return runLoad(session, source, { job, settings: loadSettings(given, validates) });
  const { signal, track } = abortedByClose(session, given.signal);
  return track(runLoad(session, source, { job: { id: job, fingerprint, lease }, settings: loadSettings({ ...given, signal }, validates) }));
};
