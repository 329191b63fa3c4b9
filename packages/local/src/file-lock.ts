import { createHash, randomUUID } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EdgetableError } from "edgetable";
import { accepts, type Address } from "./launch.ts";

/**
 * Gives a database file to one engine at a time. The lock is a small JSON file beside it that names its owner.
 *
 * A lock whose owner is alive is never taken, and one whose owner has ended always is. Of two processes that find the same
 * stale lock, one gets it. "Alive" checks the pid *and* the port: a pid is reused after a restart, and a zombie has its pid.
 */
export interface FileLock {
  /** Records the engine that now uses the file. */
  record(engine: RunningEngine): Promise<void>;
  /** Removes the lock, unless another process owns it by now. Never rejects: the next start takes a lock that is left. */
  release(): Promise<void>;
}

/** The engine in a lock. */
export interface RunningEngine {
  readonly pid: number;
  /** Where the engine itself listens. The guard server is not checked: it ends with the parent, the engine slightly later. */
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

// Milliseconds after which a start without a port has failed.
const longestStart = 60_000;
// Milliseconds that a living owner may take to end: the watchdog of a parent that was just killed needs a few, more on a busy
// machine.
const patience = 1_000;

// Not the pid: containers have few, so that a file of a dead process could have the same.
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

/** Replaces a lock atomically. */
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

/**
 * Replaces a stale lock; false if another process does. A claim file named after the stale lock admits one process, and the
 * new lock replaces the old one atomically: there is always a lock, and a newer one is never taken for the stale one.
 */
const takeOver = async (path: string, stale: string, mine: string): Promise<boolean> => {
  const claim = `${path}.${createHash("sha256").update(stale).digest("hex").slice(0, 16)}`;
  if (!(await create(claim, String(process.pid)))) {
    // A process that died while taking over leaves its claim behind.
    const claimant = Number(await read(claim));
    if (claimant > 0 && !isAlive(claimant)) await rm(claim, { force: true });
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

interface Waiting {
  readonly mine: Owner;
  /** True if the owner has had time to end. */
  readonly late: boolean;
}

/** Takes the lock if its owner has ended; otherwise waits a moment. */
const takeTurn = async (file: string, path: string, { mine, late }: Waiting): Promise<boolean> => {
  const text = await read(path);
  const owner = parse(text ?? "");
  if (owner !== undefined && late && (await isHeld(owner))) throw inUse(file, path, owner);
  // An unreadable lock: its owner is writing it, or died meanwhile.
  const isStale = text !== undefined && (owner === undefined ? late : !(await isHeld(owner)));
  if (isStale && (await takeOver(path, text, JSON.stringify(mine)))) return true;
  await sleep(20);
  return false;
};

/**
 * Takes the lock of a database file. Creates the folder if it is missing.
 *
 * @throws {local.engineFailed} if a living engine has it, or it cannot be written
 */
export const lockFile = async (file: string): Promise<FileLock> => {
  const path = `${resolve(file)}.lock`;
  const mine: Owner = { parent: process.pid, id: randomUUID(), since: Date.now() };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(async () => {
    // Of a folder on a read-only disk, mkdir says that it does not exist.
    let parent = dirname(path);
    while (!existsSync(parent)) parent = dirname(parent);
    await access(parent, constants.W_OK).catch((error: unknown) => {
      throw unwritable(path, error);
    });
  });
  const began = performance.now();
  for (let waited = 0; waited < 4 * patience; waited = performance.now() - began) {
    if (!(await create(path, JSON.stringify(mine))) && !(await takeTurn(file, path, { mine, late: waited > patience }))) continue;
    let text = JSON.stringify(mine);
    return {
      record: async (engine) => {
        const named = JSON.stringify({ ...mine, engine });
        await replace(path, named);
        text = named;
      },
      release: async () => {
        if ((await read(path)) === text) await rm(path, { force: true }).catch(() => undefined);
      },
    };
  }
  throw new EdgetableError(
    "local.engineFailed",
    `The lock ${path} can be neither read nor replaced: look at it, and delete it when no engine uses ${file}.`,
    { details: { file, lock: path } },
  );
};
