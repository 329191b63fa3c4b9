import { EdgetableError } from "../errors/edgetable-error.ts";
import { abortedByClose } from "../executor/jobs/run-job.ts";
import { LOAD, type LoadReport, type LoadSettings } from "../executor/load/load-state.ts";
import { runLoad } from "../executor/load/load-rows.ts";
import type { LogicalWrite, PutEdgeWrite, PutWrite } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import type { EdgeEntry, NodeEntry, PartEntry } from "../schema/catalog.ts";
import { type TimeForm, timeIn, timeNames, timesOf } from "../schema/timestamps.ts";
import { jobNameOf } from "../schema/tenant-keys.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import { own, type Row } from "../util/row.ts";
import { setTime } from "./changes.ts";
import { edgePut, nodePut, partPut } from "./writes.ts";
import { checkJobName, INDEX_LAG, jobChecks, LEASE, type LoadOptions } from "./job-options.ts";
import type { WriteDriver } from "./write-call.ts";

const loadChecks: OptionChecks<LoadOptions> = {
  order: ["any", "kept"],
  collisions: ["report", "refuse", "ignore"],
  strict: "boolean",
  ends: ["checked", "unchecked"],
  times: ["given", "now", "refused"],
  job: checkJobName,
  fingerprint: "string",
  lease: jobChecks.lease,
  concurrency: [1, 1000],
  deadline: [1, 86_400_000],
  named: [0, 100_000],
  signal: checkSignal,
  onProgress: "function",
  estimated: (given: unknown) => {
    if (typeof given === "function" || (typeof given === "number" && given >= 0 && given <= Number.MAX_SAFE_INTEGER)) return;
    throw new EdgetableError("plan.invalidOption", `estimated takes a number of rows or a function, got ${jsonText(given)}.`);
  },
  progressEvery: [1, 600_000],
  onFailure: "function",
  onCollision: "function",
};

/** Checked options with their defaults. */
export const loadSettings = (
  { estimated, ...options }: LoadOptions,
  validates: boolean,
): Omit<LoadSettings, "from" | "refused" | "check"> => ({
  order: "any",
  collisions: "report",
  strict: false,
  concurrency: 16,
  deadline: 60_000,
  named: 100,
  progressEvery: 1000,
  copies: { indexLag: INDEX_LAG, lease: LEASE },
  estimated: typeof estimated === "function" ? estimated : () => estimated,
  ...(options as Pick<LoadSettings, "signal" | "onProgress" | "onFailure" | "onCollision">),
  validates,
});

type Put = PutWrite | PutEdgeWrite;
type RowReader = (given: Row) => Put;

const FORM = 'Give { node, row }, { part, owner, row } or { edge, from, to, attributes }, such as { node: "student", row: { ... } }.';

const objectIn = (given: Row, field: string): Row => {
  const value = given[field];
  if (typeof value === "object" && value !== null) return value as Row;
  throw new EdgetableError("schema.invalidValue", `The row has no object "${field}". ${FORM}`, { details: { row: given, field } });
};

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/;

/** Reads a time that a row contains, in the form that rows of its type have. */
const statedTime = (name: string, as: TimeForm, given: unknown): unknown => {
  if (as === "seconds" || as === "milliseconds") {
    if (Number.isSafeInteger(given) && (given as number) >= 0) return given;
  } else if (given instanceof Date || (typeof given === "string" && ISO.test(given) && !Number.isNaN(Date.parse(given)))) {
    const time = new Date(given);
    if (!Number.isNaN(time.getTime())) return as === "date" ? time : typeof given === "string" ? given : time.toISOString();
  }
  const form =
    as === "seconds" || as === "milliseconds" ? `whole ${as} since 1970` : 'ISO 8601 text in UTC, such as "2026-01-31T09:30:00Z"';
  throw new EdgetableError("schema.invalidValue", `"${name}" is ${jsonText(given)}, and this type keeps it as ${form}.`, {
    details: { attribute: name, value: given },
  });
};

/** The times of a loaded row, by the load's option `timestamps`; undefined for a type without times. */
const timesOfRow = (
  { session }: WriteDriver,
  { name, definition }: NodeEntry | EdgeEntry | PartEntry,
  given: Row,
  times: LoadOptions["times"] = "given",
): Row | undefined => {
  const kept = timesOf(definition);
  if (!kept) return undefined;
  const row: Record<string, unknown> = {};
  for (const attribute of timeNames(definition)) {
    const stated = own(given, attribute) ?? undefined;
    if (stated !== undefined && times === "refused")
      throw setTime({ name }, attribute, 'Leave it out, or load with times: "given" to keep it.');
    if (times === "now") row[attribute] = timeIn(kept.as, session.effects.now());
    else if (stated !== undefined) row[attribute] = statedTime(attribute, kept.as, stated);
  }
  return row;
};

const KINDS = ["node", "part", "edge"] as const;
const UNKNOWN = { node: "schema.unknownNode", part: "schema.unknownNode", edge: "schema.unknownEdge" } as const;

/**
 * Makes the function that turns a row of the input into a write.
 *
 * @throws {schema.unknownNode} {schema.unknownEdge} {schema.invalidValue} for a row that does not fit the model
 */
const rowReader = (
  driver: WriteDriver,
  { ends = "unchecked", times }: Pick<LoadOptions, "ends" | "times">,
): ((given: unknown) => LogicalWrite) => {
  const { catalog, idempotent } = driver;
  const readers: Readonly<Record<(typeof KINDS)[number], Map<string, RowReader>>> = { node: new Map(), part: new Map(), edge: new Map() };
  for (const [name, entry] of Object.entries(catalog.nodes)) {
    const put = nodePut(catalog, entry);
    readers.node.set(name, (given) => put(objectIn(given, "row")));
  }
  for (const [name, entry] of Object.entries(catalog.parts)) {
    const put = partPut(catalog, entry);
    readers.part.set(name, (given) => ({ ...put(objectIn(given, "owner"), objectIn(given, "row")), ends }));
  }
  for (const [name, entry] of Object.entries(catalog.edges)) {
    const put = edgePut(catalog, entry);
    readers.edge.set(name, (given) => {
      const attributes = given["attributes"] === undefined ? {} : objectIn(given, "attributes");
      const reverse = given["reverse"] === undefined ? {} : { reverse: objectIn(given, "reverse") };
      return { ...put(objectIn(given, "from"), objectIn(given, "to"), attributes, reverse), ends };
    });
  }
  return (given) => {
    const row = (typeof given === "object" && given !== null ? given : {}) as Row;
    const kind = KINDS.find((one) => row[one] !== undefined);
    if (!kind)
      throw new EdgetableError("schema.invalidValue", `The row says neither node, part nor edge. ${FORM}`, { details: { row: given } });
    const name = String(row[kind]);
    const read = readers[kind].get(name);
    if (!read)
      throw new EdgetableError(UNKNOWN[kind], `There is no ${kind} "${name}".${didYouMean(name, [...readers[kind].keys()])}`, {
        details: { [kind]: name },
      });
    const put = read(row);
    const write = idempotent === true ? { ...put, idempotent } : put;
    // Rows of a scan contain the item's version. Loading an item again must not lower it.
    const stated = (kind === "edge" ? (row["attributes"] as Row | undefined) : (row["row"] as Row)) ?? {};
    const entry = { node: catalog.nodes, part: catalog.parts, edge: catalog.edges }[kind][name]!;
    const kept = timesOfRow(driver, entry, stated, times);
    const timed = kept ? { ...write, times: kept } : write;
    const version = stated[VERSION];
    return typeof version === "number" && Number.isSafeInteger(version) ? { ...timed, leastVersion: version } : timed;
  };
};

/** Loads rows; see `Load`. */
export const loadRows = (
  driver: WriteDriver,
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  options: LoadOptions,
): Promise<LoadReport> => {
  const given = checkOptions(options, loadChecks);
  if (typeof rows !== "object" || rows === null || !(Symbol.asyncIterator in rows || Symbol.iterator in rows))
    throw new EdgetableError("plan.invalidOption", `Expected an array of rows, got ${jsonText(rows)}.`);
  const { job: id, fingerprint = "", lease = LEASE } = given;
  const { length, size } = rows as { readonly length?: unknown; readonly size?: unknown };
  const known = [length, size].find((one) => typeof one === "number");
  const described = { ...given, estimated: given.estimated ?? known };
  const { session, validates } = driver;
  const source = { rows, toWrite: rowReader(driver, given) };
  if (id === undefined) return runLoad(session, source, { job: undefined, settings: loadSettings(described, validates) });
  const { signal, track } = abortedByClose(session, given.signal, LOAD);
  const settings = loadSettings({ ...described, signal }, validates);
  return track(runLoad(session, source, { job: { id: jobNameOf(driver.catalog, id), fingerprint, lease }, settings }));
};
