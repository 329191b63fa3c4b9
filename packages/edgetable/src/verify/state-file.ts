import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import { hexHashOf } from "../util/hash-text.ts";
import type { KindReport } from "./collect.ts";
import type { Differing } from "./relations.ts";
import { openTallies, type Tallies } from "./tallies.ts";

/** How far a verification has come, as it is saved. */
export interface SavedState {
  /** Names the run: the job in the table holds the same. */
  readonly run: string;
  /** The model and settings with which the tallies were made. */
  readonly fingerprint: string;
  readonly pass: 1 | 2;
  /** Where the first pass goes on; undefined: at its beginning. */
  readonly position: string | undefined;
  readonly items: number;
  readonly unsettled: number;
  /** How often the table was looked at again: see `Verification`. */
  readonly again?: number | undefined;
  readonly kinds: readonly KindReport[];
}

interface Header extends SavedState {
  readonly seed: number;
  readonly bits: number;
}

/** Tells apart what makes tallies differ: the keys and facts of the model, and which differences count. */
export const fingerprintOf = ({ table, shapes, facts }: Catalog, differing: Differing): string => {
  const keys = shapes.map(({ id, keys: templates, sparse, typeValue, match }) => [
    id,
    typeValue,
    ...(match.length > 0 ? [match] : []),
    sparse,
    Object.entries(templates).map(([attribute, { source, when }]) => [
      attribute,
      source,
      when?.map(({ path, values }) => [path, values?.map(String)]),
    ]),
  ]);
  return hexHashOf(JSON.stringify([table, keys, facts, differing]));
};

/** Where a job's state is kept if the caller does not say. */
export const stateFileOf = (table: string, job: string): string => join(tmpdir(), `edgetable-verify-${table}-${hexHashOf(job)}.state`);

const bytesOf = (array: Uint32Array): Uint8Array => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

const notWritable = (path: string, cause: unknown): EdgetableError => {
  const reason = cause instanceof Error ? cause.message : "for an unknown reason";
  return new EdgetableError("plan.invalidOption", `The state cannot be written: ${reason}. Name another file with \`state\`.`, {
    cause,
    details: { option: "state", value: path },
  });
};

/**
 * Saves a verification in one step: a process that is killed leaves the state before.
 *
 * @throws {plan.invalidOption} when the file cannot be written
 */
export const saveState = async (path: string, state: SavedState, tallies: Tallies): Promise<void> => {
  try {
    const { seed, bits, memory } = tallies;
    const header = Buffer.from(`${JSON.stringify({ ...state, seed, bits } satisfies Header)}\n`);
    const unfinished = `${path}.${process.pid}`;
    // Findings hold keys of the table.
    const file = await open(unfinished, "w", 0o600);
    try {
      for (const bytes of [header, ...memory.map(bytesOf)]) await file.writeFile(bytes);
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (cause) {
    throw notWritable(path, cause);
  }
};

/**
 * Tells, before anything is begun, whether a state can be saved. Leaves the state that is there as it is.
 *
 * @throws {plan.invalidOption} when it cannot
 */
export const checkStateFile = async (path: string): Promise<void> => {
  const probe = `${path}.${process.pid}.probe`;
  try {
    const found = await stat(path).catch(() => undefined);
    if (found && !found.isFile()) throw new Error(`"${path}" is not a file`);
    await (await open(probe, "w", 0o600)).close();
    await rm(probe, { force: true });
  } catch (cause) {
    throw notWritable(path, cause);
  }
};

const NEWLINE = 10;

/** Reads a saved verification; undefined if there is none of this run and model, or only a damaged one. */
export const readState = async (
  path: string,
  { run, fingerprint }: Pick<SavedState, "run" | "fingerprint">,
): Promise<{ readonly state: SavedState; readonly tallies: Tallies } | undefined> => {
  const file = await readFile(path).catch(() => undefined);
  const end = file?.indexOf(NEWLINE) ?? -1;
  if (!file || end < 0) return undefined;
  let header: Header;
  try {
    header = JSON.parse(file.toString("utf8", 0, end)) as Header;
  } catch {
    return undefined;
  }
  if (header.run !== run || header.fingerprint !== fingerprint) return undefined;
  const tallies = openTallies({ seed: header.seed, bits: header.bits });
  let at = end + 1;
  const length = tallies.memory.reduce((sum, one) => sum + one.byteLength, at);
  if (file.length !== length) return undefined;
  for (const array of tallies.memory) {
    bytesOf(array).set(file.subarray(at, at + array.byteLength));
    at += array.byteLength;
  }
  return { state: header, tallies };
};

/** Removes a saved verification. */
export const removeState = (path: string): Promise<void> => rm(path, { force: true });
