import { EdgetableError } from "../errors/edgetable-error.ts";
import { abortedByClose } from "../executor/jobs/run-job.ts";
import type { LoadReport, LoadSettings } from "../executor/load/write-rows.ts";
import { runLoad } from "../executor/load/load-rows.ts";
import type { LogicalWrite, PutEdgeWrite, PutWrite } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import { jobNameOf } from "../schema/tenant-keys.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { edgePut, nodePut, partPut } from "./writes.ts";
import { checkJobName, INDEX_LAG, jobChecks, LEASE, type LoadOptions } from "./job-options.ts";
import type { WriteDriver } from "./write-call.ts";

const loadChecks: OptionChecks<LoadOptions> = {
  order: ["any", "kept"],
  collisions: ["report", "refuse", "ignore"],
  strict: "boolean",
  ends: ["checked", "unchecked"],
  job: checkJobName,
  fingerprint: "string",
  lease: jobChecks.lease,
  concurrency: [1, 1000],
  deadline: [1, 86_400_000],
  named: [0, 100_000],
  signal: checkSignal,
  onProgress: "function",
  progressEvery: [1, 600_000],
  onFailure: "function",
  onCollision: "function",
};

/** Checked options with their defaults. */
export const loadSettings = (options: LoadOptions, validates: boolean): Omit<LoadSettings, "from" | "check"> => ({
  order: "any",
  collisions: "report",
  strict: false,
  concurrency: 16,
  deadline: 60_000,
  named: 100,
  progressEvery: 1000,
  copies: { indexLag: INDEX_LAG, lease: LEASE },
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

const KINDS = ["node", "part", "edge"] as const;
const UNKNOWN = { node: "schema.unknownNode", part: "schema.unknownNode", edge: "schema.unknownEdge" } as const;

/**
 * Gives what turns a row of an input into a write.
 *
 * @throws {schema.unknownNode} {schema.unknownEdge} {schema.invalidValue} for a row that names nothing of the model
 */
const rowReader = ({ catalog, idempotent }: WriteDriver, ends: "checked" | "unchecked"): ((given: unknown) => LogicalWrite) => {
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
    // A scan gives an item's version along; a load that makes the item again must not set it back.
    const version = (kind === "edge" ? (row["attributes"] as Row | undefined) : (row["row"] as Row))?.[VERSION];
    return typeof version === "number" && Number.isSafeInteger(version) ? { ...write, leastVersion: version } : write;
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
  const { job: id, fingerprint = "", lease = LEASE, ends = "unchecked" } = given;
  const { session, validates } = driver;
  const source = { rows, toWrite: rowReader(driver, ends) };
  if (id === undefined) return runLoad(session, source, { job: undefined, settings: loadSettings(given, validates) });
  const { signal, track } = abortedByClose(session, given.signal);
  const settings = loadSettings({ ...given, signal }, validates);
  return track(runLoad(session, source, { job: { id: jobNameOf(driver.catalog, id), fingerprint, lease }, settings }));
};
