import { basename, dirname, normalize } from "node:path/posix";
import { LockfileError } from "./lockfile-error.ts";
import { parseLockfileText, type LockEntry } from "./lockfile-text.ts";
import { packageSchema, type kinds, type Package } from "./model.ts";
import { workspaceFolders } from "./workspaces.ts";

export type Kind = (typeof kinds)[number];

/** What a package asks for. */
export interface Need {
  readonly from: string;
  /** The name that it asks by. */
  readonly wanted: string;
  readonly range: string;
  readonly kind: Kind;
}

/** What it gets. */
export interface Dependency extends Need {
  readonly to: string;
}

/** A lockfile as a graph. Locations are paths from the project's folder, which is `.` itself. */
export interface Lockfile {
  readonly packages: readonly Package[];
  readonly dependencies: readonly Dependency[];
  /** Needs that nothing fulfils. Optional ones may be so; others npm calls missing. */
  readonly unresolved: readonly Need[];
}

type Entries = ReadonlyMap<string, LockEntry>;

const ROOT = ".";

// npm omits the name where the folder says it.
const folderName = (location: string): string => {
  const scope = basename(dirname(location));
  return scope.startsWith("@") ? `${scope}/${basename(location)}` : basename(location);
};

const targetOf = (entry: LockEntry): string | undefined =>
  entry.link ? normalize(entry.resolved ?? "").replace(/(.)\/$/, "$1") : undefined;

const nameOf = (location: string, entry: LockEntry): string => entry.name ?? (location === ROOT ? ROOT : folderName(location));

const attributes: ReadonlySet<string> = new Set(Object.keys(packageSchema.shape));

const ownAttributes = (entry: LockEntry): Partial<Package> =>
  Object.fromEntries(Object.entries(entry).filter(([name, value]) => name !== "name" && value !== undefined && attributes.has(name)));

// A link says where it leads; it is called what its target is called.
const linkOf = (entries: Entries, location: string, target: string): Package => {
  const real = entries.get(target);
  if (!real || real.link) {
    const mend = "Remove the link, or write the lockfile anew: npm install --package-lock-only.";
    throw new LockfileError("targetMissing", `"${location}" links to "${target}", which the lockfile does not have. ${mend}`);
  }
  return { location, name: nameOf(target, real), ...(real.version === undefined ? {} : { version: real.version }), target };
};

const packageOf = (entries: Entries, location: string, entry: LockEntry): Package => {
  const target = targetOf(entry);
  return target === undefined ? { location, name: nameOf(location, entry), ...ownAttributes(entry) } : linkOf(entries, location, target);
};

// A package within node_modules was published, and came without what only its developers need.
const isDeveloped = (location: string): boolean => {
  const parent = dirname(location);
  return basename(basename(parent).startsWith("@") ? dirname(parent) : parent) !== "node_modules";
};

const workspaceNeeds = (entries: Entries): readonly Need[] =>
  workspaceFolders(entries.get(ROOT)?.workspaces ?? [], [...entries.keys()]).map((folder) => {
    const entry = entries.get(folder);
    return { from: ROOT, wanted: entry?.name ?? folderName(folder), range: `file:${folder}`, kind: "workspace" };
  });

// A name that stands in several lists counts once, as npm counts it: the last list wins, but a workspace stays one.
const needsOf = (entries: Entries, from: string, entry: LockEntry): readonly Need[] => {
  const { peerDependencies, peerDependenciesMeta: meta, dependencies, optionalDependencies, devDependencies } = entry;
  const list = (ranges: Readonly<Record<string, string>>, kind: (name: string) => Kind): readonly Need[] =>
    Object.entries(ranges).map(([wanted, range]) => ({ from, wanted, range, kind: kind(wanted) }));
  const needs = [
    ...list(peerDependencies, (name) => (meta[name]?.optional ? "peerOptional" : "peer")),
    ...list(dependencies, () => "prod"),
    ...list(optionalDependencies, () => "optional"),
    ...(isDeveloped(from) ? list(devDependencies, () => "dev") : []),
    ...(from === ROOT ? workspaceNeeds(entries) : []),
  ];
  return [...new Map(needs.map((need) => [need.wanted, need])).values()];
};

/** Where Node looks for a package that a module in `from` asks for: there, then in each folder above, up to the project's. */
const resolve = (entries: Entries, from: string, name: string): string | undefined => {
  for (let folder = from; basename(folder) !== ".."; folder = dirname(folder)) {
    const location = folder === ROOT ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (entries.has(location)) return location;
    if (dirname(folder) === folder) return undefined;
  }
  return undefined;
};

/**
 * Reads a package-lock.json or npm-shrinkwrap.json of lockfileVersion 2 or 3, and finds for every
 * need the package that fulfils it.
 *
 * @param content the file's text
 * @param file its name, for messages
 * @throws {LockfileError} `notJson`, `unsupportedVersion`, `invalid` or `targetMissing`
 */
export const readLockfile = (content: string, file = "package-lock.json"): Lockfile => {
  const read = parseLockfileText(content, file);
  const entries: Entries = new Map([...read].map(([location, entry]) => [location === "" ? ROOT : location, entry]));
  const dependencies: Dependency[] = [];
  const unresolved: Need[] = [];
  for (const [location, entry] of entries) {
    for (const need of needsOf(entries, location, entry)) {
      const to = resolve(entries, location, need.wanted);
      if (to === undefined) unresolved.push(need);
      else dependencies.push({ ...need, to });
    }
  }
  return { packages: [...entries].map(([location, entry]) => packageOf(entries, location, entry)), dependencies, unresolved };
};

/** Whether a need may go unfulfilled. */
export const mayBeMissing = ({ kind }: Need): boolean => kind === "optional" || kind === "peerOptional";
