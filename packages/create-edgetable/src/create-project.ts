import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const template = fileURLToPath(new URL("../template", import.meta.url));

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readJson = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

/** Version of this package, which all packages of Edgetable share. */
export const version: string = readJson(fileURLToPath(new URL("../package.json", import.meta.url))).version;

/** What became of a request for a project. */
export interface Project {
  /** Whether it was made. Nothing is written where it was not. */
  readonly created: boolean;
  /** Absolute path of its folder. */
  readonly folder: string;
  /** Its files, relative to the folder. */
  readonly files: readonly string[];
  /** What is there and would be overwritten, relative to the folder; `.` where the folder itself is a file. */
  readonly inTheWay: readonly string[];
}

// npm leaves a file named .gitignore out of a package.
const target = (name: string): string => (name === "gitignore" ? ".gitignore" : name);

const packageName = (folder: string): string => {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "");
  return name === "" || name === "node_modules" ? "graph" : name.slice(0, 214);
};

/** The manifest asks for the packages of Edgetable in the version that made the project. */
const manifest = (folder: string): string => {
  const { dependencies, devDependencies, ...rest } = readJson(join(template, "package.json"));
  const own = (versions: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(versions).map(([name, wanted]) => [name, /^@?edgetable\b/.test(name) ? `^${version}` : wanted]));
  const made = { ...rest, name: packageName(folder), dependencies: own(dependencies), devDependencies: own(devDependencies) };
  return `${JSON.stringify(made, undefined, 2)}\n`;
};

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** What is there instead of a file that is to be written, or of a folder around it. */
const obstacle = (folder: string, file: string): string | undefined => {
  const around = dirname(file);
  if (around !== "." && exists(join(folder, around)) && !isFolder(join(folder, around))) return around;
  return exists(join(folder, file)) ? file : undefined;
};

/**
 * Makes a project that runs: a model, its questions, a script, a test, a function for AWS Lambda.
 * It writes all files or none, and never overwrites one.
 *
 * @param name path of the folder, made where it is missing
 * @param cwd what a relative path starts at
 */
export const createProject = (name: string, cwd: string): Project => {
  const folder = resolve(cwd, name);
  const names = readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template, join(entry.parentPath, entry.name)))
    .toSorted();
  const files = names.map(target);
  const inTheWay = exists(folder) && !isFolder(folder) ? ["."] : [...new Set(files.flatMap((file) => obstacle(folder, file) ?? []))];
  if (inTheWay.length > 0) return { created: false, folder, files, inTheWay };
  for (const one of names) {
    const path = join(folder, target(one));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, one === "package.json" ? manifest(folder) : readFileSync(join(template, one)), { flag: "wx" });
  }
  return { created: true, folder, files, inTheWay };
};
