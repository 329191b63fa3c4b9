import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Patterns } from "edgetable";
import { exampleTable, type ExampleTable, type System } from "../system.ts";
import { expectedFor } from "./expected.ts";
import { LockfileError } from "./lockfile-error.ts";
import { dependencies } from "./model.ts";
import { patternsAbout } from "./patterns.ts";
import { mayBeMissing, readLockfile, type Lockfile } from "./read-lockfile.ts";
import { load } from "./rows.ts";
import { subjectOf } from "./subject.ts";
import { walksExpectedFor } from "./walk-expected.ts";
import { walksAbout } from "./walk-patterns.ts";

const FILE = "package-lock.json";

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;

// This file runs from its source and from dist, one folder deeper.
const ownLockfile = async (): Promise<string> => {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (await isThere(join(folder, FILE))) return join(folder, FILE);
  }
  throw new LockfileError("unreadable", `There is no ${FILE} in ${import.meta.dirname} or above. Name one.`);
};

// npm runs a script in the package's folder, and says where it was called.
const givenLockfile = async (argument: string): Promise<string> => {
  const path = resolve(process.env["INIT_CWD"] ?? "", argument);
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? join(path, FILE) : path;
};

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "it is not there" : (cause as Error).message;
    throw new LockfileError("unreadable", `${path} cannot be read: ${reason}. Give the path of a ${FILE}, or of its folder.`, { cause });
  }
};

const count = (number: number, unit: string, units = `${unit}s`): string => `${number.toLocaleString("en")} ${number === 1 ? unit : units}`;

const unmet = ({ unresolved }: Lockfile): string => {
  const optional = unresolved.filter(mayBeMissing).length;
  const required = unresolved.length - optional;
  const counts = [...(optional > 0 ? [`${optional} optional`] : []), ...(required > 0 ? [`${required} required`] : [])];
  return counts.length > 0 ? `, unmet: ${counts.join(", ")}` : "";
};

const summary = (lockfile: Lockfile): string =>
  `${count(lockfile.packages.length, "package")}, ${count(lockfile.dependencies.length, "dependency", "dependencies")}${unmet(lockfile)}`;

// Patterns of one graph, in two files.
const together = (first: Patterns, second: Patterns): Patterns => ({ ...first, patterns: { ...first.patterns, ...second.patterns } });

/**
 * The table of a lockfile.
 *
 * @param argument path of the file or of its folder; without it, the lockfile of this repository
 * @throws {LockfileError}
 */
export const lockfileTable = async (argument?: string): Promise<ExampleTable> => {
  const path = argument === undefined ? await ownLockfile() : await givenLockfile(argument);
  const lockfile = readLockfile(await readText(path), path);
  const subject = subjectOf(lockfile);
  return exampleTable({
    graph: dependencies,
    variant: summary(lockfile),
    load: (db) => load(db, lockfile),
    patterns: together(patternsAbout(subject), walksAbout(subject)),
    expected: { ...expectedFor(lockfile, subject), ...walksExpectedFor(lockfile, subject) },
  });
};

export const system: System = {
  name: "dependencies",
  title: "The packages of a package-lock.json, and who needs them",
  source: "a lockfile of npm: this repository's own, or any other",
  argument: { name: "lockfile", about: "path of a package-lock.json, or of its folder" },
  tables: async (argument) => [await lockfileTable(argument)],
};
