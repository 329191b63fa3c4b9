import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EdgetableError } from "edgetable";
import { accepts, type Address } from "./loopback.ts";

/**
 * One engine to a database file. The lock is a small JSON file beside it that names its owner.
 *
 * Laws: a lock whose owner lives is never taken; one whose owner is gone always is; of two processes
 * that find the same stale lock, one gets it. "Lives" asks the pid *and* the port, because a pid is
 * used again after a restart and a zombie still answers to its own.
 */
export interface FileLock {
  /** Writes down the engine that now uses the file. */
  record(engine: RunningEngine): Promise<void>;
  /** Takes the lock away, unless it is someone else's by now. Never rejects: what cannot be removed is stale to the next start. */
  release(): Promise<void>;
}

/** What a lock says of the engine that uses the file. */
export interface RunningEngine {
  readonly pid: number;
  /** Where the engine itself listens, and not its guards: they end with the parent, the engine a moment later. */
  readonly bare: Address;
  /** Where clients connect. */
  readonly endpoint: string;
}

interface Owner {
  /** The process that started the engine. */
  readonly parent: number;
  /** Tells two locks of one process apart. */
  readonly id?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly engine?: RunningEngine;
}

// A starting engine has no port yet; a start that takes longer than this has died.
const longestStart = 60_000;
// How long an owner that still lives may take to go: the watchdog of a parent that was just killed
// needs some milliseconds, on a busy machine more.
const patience = 1_000;

// A process id would not do: a container's are few, and what a dead process left has the same.
const unused = (path: string): string => `${path}.${randomUUID()}`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

const isHeld = async ({ parent, since, engine }: Owner): Promise<boolean> =>
  engine === undefined
    ? isAlive(parent) && Math.abs(Date.now() - since) < longestStart
    : isAlive(engine.pid) && (await accepts(engine.bare));

const read = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

const parse = (text: string): Owner | undefined => {
  try {
    const owner = JSON.parse(text) as Partial<Owner> | null;
    const isWhole = owner?.engine === undefined || typeof owner.engine.bare.port === "number";
    return typeof owner?.parent === "number" && typeof owner.since === "number" && isWhole ? (owner as Owner) : undefined;
  } catch {
    return undefined;
  }
};

const unwritable = (path: string, error: unknown): EdgetableError =>
  new EdgetableError(
    "local.engineFailed",
    `The lock ${path} cannot be written: ${(error as Error).message}. Choose a folder that can be written to, with space left.`,
    { cause: error, details: { lock: path } },
  );

const create = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // On a full disk there is a file by now, with nothing in it.
    await rm(path, { force: true }).catch(() => undefined);
    throw unwritable(path, error);
  }
};

/** Puts a lock in the place of another in one step. */
const replace = async (path: string, text: string): Promise<void> => {
  const next = unused(path);
  try {
    await create(next, text);
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw unwritable(path, error instanceof EdgetableError ? error.cause : error);
  }
};

// Who died while taking over leaves its claim behind.
const dropDeadClaim = async (claim: string): Promise<void> => {
  const claimant = Number(await read(claim));
  if (claimant > 0 && !isAlive(claimant)) await rm(claim, { force: true });
};

/**
 * Puts a lock in the place of a stale one; false where somebody else does. A claim that is named after the
 * stale lock lets one in, and the new lock replaces the old one in one step: at no time is there none, or
 * could a newer one be taken for it.
 */
const takeOver = async (path: string, stale: string, mine: string): Promise<boolean> => {
  const claim = `${path}.${createHash("sha256").update(stale).digest("hex").slice(0, 16)}`;
  if (!(await create(claim, String(process.pid)))) {
    await dropDeadClaim(claim);
    return false;
  }
  try {
    if ((await read(path)) !== stale) return false;
    await replace(path, mine);
    return true;
  } finally {
    await rm(claim, { force: true });
  }
};

const inUse = (file: string, path: string, owner: Owner): EdgetableError => {
  const { engine, parent } = owner;
  const by = engine === undefined ? `process ${parent}, which is starting an engine on it` : `engine ${engine.pid} at ${engine.endpoint}`;
  return new EdgetableError(
    "local.engineFailed",
    `${file} is in use by ${by}. Use that endpoint, stop it, or choose another file; if you are sure that nothing uses it, delete ${path}.`,
    { details: { file, lock: path, owner } },
  );
};

const handle = (path: string, first: Owner): FileLock => {
  let text = JSON.stringify(first);
  return {
    record: async (engine) => {
      const named = JSON.stringify({ ...first, engine });
      await replace(path, named);
      text = named;
    },
    release: async () => {
      if ((await read(path)) === text) await rm(path, { force: true }).catch(() => undefined);
    },
  };
};

interface Waiting {
  readonly mine: Owner;
  /** Whether the owner has had the time to go. */
  readonly late: boolean;
}

/** Waits for the owner of the lock to go, and takes its place once it has. */
const takeTurn = async (file: string, path: string, { mine, late }: Waiting): Promise<boolean> => {
  const text = await read(path);
  const owner = parse(text ?? "");
  if (owner !== undefined && late && (await isHeld(owner))) throw inUse(file, path, owner);
  // Unreadable: its owner is between creating and writing it, or died there.
  const isStale = text !== undefined && (owner === undefined ? late : !(await isHeld(owner)));
  if (isStale && (await takeOver(path, text, JSON.stringify(mine)))) return true;
  await sleep(20);
  return false;
};

/**
 * Takes the lock of a database file, making the folder when it is missing.
 *
 * @throws {local.engineFailed} when a living engine holds it, or it cannot be written.
 */
export const lockFile = async (file: string): Promise<FileLock> => {
  const path = `${resolve(file)}.lock`;
  const mine: Owner = { parent: process.pid, id: randomUUID(), since: Date.now() };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => undefined);
  const began = performance.now();
  for (let waited = 0; waited < 4 * patience; waited = performance.now() - began) {
    if ((await create(path, JSON.stringify(mine))) || (await takeTurn(file, path, { mine, late: waited > patience })))
      return handle(path, mine);
  }
  throw new EdgetableError(
    "local.engineFailed",
    `The lock ${path} can be neither read nor replaced: see what is there, and delete it when no engine uses ${file}.`,
    { details: { file, lock: path } },
  );
};
