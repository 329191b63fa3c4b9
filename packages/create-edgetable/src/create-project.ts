import { accessSync, constants, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const template = fileURLToPath(new URL("../template", import.meta.url));

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readJson = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

/** The version of this package. All packages of Edgetable share it. */
export const version: string = readJson(fileURLToPath(new URL("../package.json", import.meta.url))).version;

/** The result of creating a project. */
export interface Project {
  /** False if nothing was written. */
  readonly created: boolean;
  /** The absolute path of its folder. */
  readonly folder: string;
  /** Its files, relative to the folder. */
  readonly files: readonly string[];
  /** Existing files that would be overwritten, relative to the folder; `.` if the folder itself is a file. */
  readonly inTheWay: readonly string[];
}

// npm omits files named .gitignore from packages, and this repository would lint the template by its .oxlintrc.json.
const target = (name: string): string => (["gitignore", "oxlintrc.json"].includes(name) ? `.${name}` : name);

const packageName = (folder: string): string => {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .replace(/-+$/, "");
  return name === "" || name === "node_modules" ? "graph" : name.slice(0, 214);
};

/** The manifest depends on Edgetable's packages in the version of this package. */
const manifest = (folder: string): string => {
  const { dependencies, devDependencies, ...rest } = readJson(join(template, "package.json"));
  const own = (versions: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(versions).map(([name, wanted]) => [name, /^@?edgetable\b/.test(name) ? `^${version}` : wanted]));
  const made = { ...rest, name: packageName(folder), dependencies: own(dependencies), devDependencies: own(devDependencies) };
  return `${JSON.stringify(made, undefined, 2)}\n`;
};

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The existing file that is in the way of a file or of its folder. */
const obstacle = (folder: string, file: string): string | undefined => {
  const around = dirname(file);
  if (around !== "." && exists(join(folder, around)) && !isFolder(join(folder, around))) return around;
  return exists(join(folder, file)) ? file : undefined;
};

/**
 * Creates a project: a model with access patterns, a script, a test and an AWS Lambda function.
 * It writes all files or none, and never overwrites a file.
 *
 * @param name path of the folder, created if it does not exist
 * @param cwd the base of a relative path
 * @throws the file system's error if the folder cannot be written to or the disk is full
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
  let parent = folder;
  while (!exists(parent)) parent = dirname(parent);
  // Of a folder on a read-only disk, mkdir says that it does not exist.
  accessSync(parent, constants.W_OK);
  const made: string[] = [];
  try {
    for (const one of names) {
      const path = join(folder, target(one));
      const first = mkdirSync(dirname(path), { recursive: true });
      if (first !== undefined) made.unshift(first);
      made.unshift(path);
      writeFileSync(path, one === "package.json" ? manifest(folder) : readFileSync(join(template, one)), { flag: "wx" });
    }
  } catch (error) {
    // Another program's file that has come meanwhile stays.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") made.shift();
    for (const path of made) rmSync(path, { recursive: true, force: true });
    throw error;
  }
  return { created: true, folder, files, inTheWay };
};

const contents: Readonly<Record<string, string>> = {
  "src/model.ts": "the graph and its access patterns",
  "src/main.ts": "a script that writes and reads",
  "src/model.test.ts": "a test with its own engine",
  "src/handler.ts": "an AWS Lambda function",
};

const steps: readonly (readonly [command: string, effect: string])[] = [
  ["npm install", ""],
  ["npm test", "runs the test on an in-memory engine"],
  ["npm run dev", "starts a local engine; leave it running"],
  ["npm start", "in another terminal: writes rows and queries them"],
  ["npx edgetable patterns", "shows the cost of each access pattern"],
];

const lines = (pairs: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...pairs.map(([first]) => first.length));
  return pairs.map(([first, second]) => `  ${first.padEnd(width)}   ${second}`.trimEnd()).join("\n");
};

// A shell needs quotes unless the name is one word.
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);

/** Describes the created project and the next steps, or the files that are in the way. */
export const describeProject = ({ created, folder, files, inTheWay }: Project, cwd: string): string => {
  const place = relative(cwd, folder);
  if (!created) {
    const found =
      inTheWay[0] === "."
        ? `${place === "" ? folder : place} is not a folder`
        : `${place === "" ? "This folder" : place} already has ${inTheWay.join(", ")}`;
    return `${found}. Nothing was written. Give the name of another folder.`;
  }
  const others = files.filter((file) => contents[file.replaceAll("\\", "/")] === undefined);
  const enter: typeof steps = place === "" ? [] : [[`cd ${quoted(place)}`, ""]];
  return `Created a project in ${place === "" ? "this folder" : place}:

${lines(Object.entries(contents))}
  ${others.join(", ")}

Next:

${lines([...enter, ...steps])}
`;
};
