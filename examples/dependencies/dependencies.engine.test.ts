import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampled } from "../../conformance/engines/property-runs.ts";
import { sameAnswer } from "../demo/run-system.ts";
import { dependentsOf, needsOf } from "./expected.ts";
import { handmade } from "./handmade.test-support.ts";
import { dependencies, type DependenciesDb } from "./model.ts";
import { type Lockfile, readLockfile } from "./read-lockfile.ts";
import { lockfileTable } from "./system.ts";
import { type ExampleLab, inOneOrder, openExampleLab } from "../test-support/example-lab.ts";

const workspace = resolve(import.meta.dirname, "../..");
const SECONDS = 1000;

// What npm says is on its standard output even where it exits with 1, for a dependency that is missing.
const npm = async (folder: string, ...given: readonly string[]): Promise<unknown> => {
  const run = promisify(execFile)("npm", [...given, "--json", "--offline", "--no-audit", "--loglevel=silent"], {
    cwd: folder,
    maxBuffer: 2 ** 29,
    env: { ...process.env, NODE_ENV: "", npm_config_omit: "" },
  });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  return JSON.parse(stdout);
};

/** A package in the tree of `npm ls --long`; one that is not installed has no path. */
interface Listed {
  readonly name: string;
  readonly version?: string;
  readonly path?: string;
  readonly extraneous?: boolean;
  readonly license?: string;
  readonly integrity?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, Listed>>;
}

interface Ls {
  readonly entries: ReadonlyMap<string, Listed>;
  /** Who needs whom: `from name to`, sorted. */
  readonly edges: readonly string[];
}

/** Flattens the tree; npm shows a link's target as the link itself, each package's dependencies once, and what nobody needs under the root. */
const npmLs = async (folder: string, lockfile: Lockfile): Promise<Ls> => {
  const root = await realpath(folder);
  const targets = new Map(lockfile.packages.map(({ location, target }) => [location, target ?? location]));
  const entries = new Map<string, Listed>();
  const edges = new Set<string>();
  const locationOf = ({ path }: Listed): string => relative(root, path ?? "") || ".";
  const visit = (one: Listed): void => {
    entries.set(locationOf(one), one);
    for (const [name, dependency] of Object.entries(one.dependencies ?? {})) {
      if (dependency.path === undefined) continue;
      if (!(locationOf(one) === "." && dependency.extraneous))
        edges.add(`${targets.get(locationOf(one))} ${name} ${locationOf(dependency)}`);
      visit(dependency);
    }
  };
  visit((await npm(folder, "ls", "--all", "--long", "--package-lock-only")) as Listed);
  return { entries, edges: [...edges].toSorted() };
};

const edgesOf = ({ dependencies: found }: Lockfile): readonly string[] =>
  found.map(({ from, wanted, to }) => `${from} ${wanted} ${to}`).toSorted();

interface Dependent {
  readonly type: string;
  readonly name: string;
  readonly spec: string;
  /** What the package itself says, where the project overrides it. */
  readonly rawSpec?: string;
  readonly from: Explained;
}

/** A package as `npm explain` has it. */
interface Explained {
  readonly location?: string;
  readonly name?: string;
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly bundled?: boolean;
  readonly dependents?: readonly Dependent[];
  readonly linksIn?: readonly Explained[];
}

const npmExplain = async (folder: string, locations: readonly string[]): Promise<readonly Explained[]> => {
  // Each answer holds the ways to the project from every dependent: a hundred of them fill 40 MB.
  const batches = Array.from({ length: Math.ceil(locations.length / 100) }, (_, at) => locations.slice(at * 100, at * 100 + 100));
  // Without a slash a folder would be taken for a package's name.
  return (
    await Promise.all(batches.map((batch) => npm(folder, "explain", ...batch.map((location) => `./${location}`)) as Promise<Explained[]>))
  ).flat();
};

// npm knows the project, and the folders of its workspaces, by their absolute paths. Of a workspace that it meets again on a
// cycle it gives the name alone, which is its folder's link; so it does of any package within a cycle.
const locationOfDependent = ({ location, name = "" }: Explained): string => {
  const named = own.packages.find((one) => one.location === `node_modules/${name}`);
  return location === workspace ? "." : (location ?? named?.target ?? named?.location ?? name);
};
const dependentLine = ({ type, name, spec, rawSpec = spec, from }: Dependent): string =>
  `${type} ${name} ${type === "workspace" ? rawSpec.replace(`${workspace}/`, "") : rawSpec} ${locationOfDependent(from)}`;

const noFlags = { dev: false, optional: false, peer: false, inBundle: false };
const root = { location: "." };
const ownText = await readFile(join(workspace, "package-lock.json"), "utf8");
const own = readLockfile(ownText);

/** npm explains no optional peer that is installed in a later version than its range allows. */
const isBeyond = (version: string | undefined, range: string): boolean => {
  const bound = /<\s*(\d+)(?:\.0)*$/.exec(range)?.[1];
  return bound !== undefined && Number(version?.split(".")[0]) >= Number(bound);
};

describe("this repository's lockfile", () => {
  let lab: ExampleLab;
  let db: DependenciesDb;
  beforeAll(async () => {
    lab = await openExampleLab(await lockfileTable());
    db = dependencies.connect({ transport: lab.transport });
  }, 300 * SECONDS);
  afterAll(() => lab.stop());

  test("answers every pattern by the expected requests", async () => {
    for (const pattern of lab.table.patterns) {
      const { answer, requests } = await lab.ask(pattern);
      // The search for all paths reads nodes of many edges in probes, whose sizes follow from the data.
      const shown = (line: string): string => (pattern.name === "whyInstalled" ? line.replace(/limit \d+, /, "") : line);
      const inOrder = (lines: readonly string[]): readonly string[] => (pattern.expected.sideBySide ? lines.map(shown).toSorted() : lines);
      expect.soft(inOrder(requests), `requests of ${pattern.name}`).toEqual(inOrder(pattern.expected.requests));
      if (!sameAnswer(answer, pattern.expected)) expect.soft(answer, `answer of ${pattern.name}`).toEqual(pattern.expected.answer);
      expect.soft(answer, `answer of ${pattern.name}`).not.toEqual([]);
    }
  });

  test("a table loaded from its scan holds the same items", async () => {
    const scan = lab.table.scan({ segments: 4, held: 500 });
    const copy = await openExampleLab(await lockfileTable(), scan);
    try {
      expect(inOneOrder(await copy.items())).toEqual(inOneOrder(await lab.items()));
      expect(scan.report()).toMatchObject({ stray: 0, uneven: 0 });
    } finally {
      await copy.stop();
    }
  });

  test("every package has its entry, its needs and its dependents in the table, in order", async () => {
    expect(own.packages.length).toBeGreaterThan(100);
    for (const one of sampled(own.packages, 120)) {
      const id = { location: one.location };
      expect(await db.package.get(id)).toEqual(JSON.parse(JSON.stringify(one)));
      expect(await db.package(id).out("dependsOn").edges()).toEqual(needsOf(own, one.location));
      expect(await db.package(id).in("dependsOn").edges()).toEqual(dependentsOf(own, one.location));
    }
  });

  test("direct dependencies and entries are those of npm ls --all", async () => {
    const { entries, edges } = await npmLs(workspace, own);
    expect(edges.length).toBeGreaterThan(own.packages.length);
    const found: string[] = [];
    for (const { location } of own.packages) {
      for (const { from, wanted, to } of await db.package({ location }).out("dependsOn").edges())
        found.push(`${from.location} ${wanted} ${to.location}`);
      const [listed, entry] = [entries.get(location), await db.package.get({ location })];
      // A folder stands under its link in npm's tree, and a package that nobody needs not at all.
      if (!listed || entry?.target !== undefined || location === ".") continue;
      const { version, license, integrity, engines } = listed;
      expect(entry).toMatchObject(JSON.parse(JSON.stringify({ version, license, integrity, engines })) as object);
    }
    expect(found.toSorted()).toEqual(edges);
  });

  test(
    "direct dependents and flags are those of npm explain, for every installed package",
    async () => {
      const isInstalled = (location: string): boolean => existsSync(join(workspace, location));
      const locations = own.packages
        .map(({ location }) => location)
        .filter((location) => location.includes("node_modules/") && isInstalled(location));
      const asked = sampled(locations, 120);
      const explained = await npmExplain(workspace, asked);
      expect(explained.length).toBeGreaterThanOrEqual(100);
      expect(explained.map(({ location }) => location)).toEqual(asked);
      for (const { location = "", version, dependents = [], dev, optional, peer, bundled } of explained) {
        const entry = await db.package.get({ location });
        // npm gives a link the flags of the folder that it leads to.
        const flags = entry?.target === undefined ? { dev, optional, peer, inBundle: bundled } : {};
        expect({ ...noFlags, ...entry }, location).toMatchObject({ version, ...flags });
        const edges = await db.package({ location }).in("dependsOn").edges();
        const ours = edges
          .filter(({ from, kind, range }) => isInstalled(from.location) && !(kind === "peerOptional" && isBeyond(version, range)))
          .map(({ kind, wanted, range, from }) => `${kind} ${wanted} ${range} ${from.location}`);
        expect(ours.toSorted(), location).toEqual(dependents.map(dependentLine).toSorted());
      }
    },
    300 * SECONDS,
  );

  test("the links to a workspace, and what follows from them, are those of npm explain", async () => {
    const folders = own.packages.flatMap(({ target }) => target ?? []);
    const explained = await npmExplain(workspace, folders);
    expect(explained.map(({ location }) => location)).toEqual(folders);
    for (const { location = "", linksIn = [] } of explained) {
      expect(await db.package({ location }).in("linksTo").ids()).toEqual(linksIn.map((link) => ({ location: link.location })));
    }
  });

  test("every copy of a name is found by it, an alias by what it stands for", async () => {
    const explained = (await npm(workspace, "explain", "typescript")) as Explained[];
    const copies = await db.name({ name: "typescript" }).out("installed").nodes();
    const placed = (one: { readonly location?: string; readonly version?: string | undefined }): string => `${one.location} ${one.version}`;
    expect(copies.map(placed)).toEqual(explained.map(placed).toSorted());
    expect(await db.package(root).out("dependsOn").where({ kind: "dev" }).edges()).toContainEqual(
      expect.objectContaining({ wanted: "typescript7", to: { location: "node_modules/typescript7" } }),
    );
  });
});

describe("handmade lockfiles", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "edgetable-lockfile-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.for(sampled(Object.entries(handmade), 4))(
    "%s: direct dependencies are those of npm ls --all",
    { concurrent: true, timeout: 300 * SECONDS },
    async ([name, packages], { expect }) => {
      const place = join(folder, name.replaceAll(" ", "-"), "project");
      await mkdir(place, { recursive: true });
      await writeFile(join(place, "package.json"), JSON.stringify(packages[""]));
      for (const [location, entry] of Object.entries(packages)) {
        if (location.includes("node_modules") || location === "") continue;
        await mkdir(join(place, location), { recursive: true });
        await writeFile(join(place, location, "package.json"), JSON.stringify(entry));
      }
      const text = JSON.stringify({ name: "project", lockfileVersion: 3, requires: true, packages });
      await writeFile(join(place, "package-lock.json"), text);
      const lockfile = readLockfile(text);
      expect(edgesOf(lockfile)).toEqual((await npmLs(place, lockfile)).edges);
    },
  );

  test("a lockfile of another project is read by its path, and by its folder's", async () => {
    const path = join(folder, "other", "package-lock.json");
    await mkdir(dirname(path));
    await writeFile(path, JSON.stringify({ lockfileVersion: 2, packages: handmade["nested duplicates"], dependencies: {} }));
    for (const argument of [path, dirname(path)]) {
      const lab = await openExampleLab(await lockfileTable(argument));
      for (const pattern of lab.table.patterns) {
        const { answer } = await lab.ask(pattern);
        expect.soft(sameAnswer(answer, pattern.expected), pattern.name).toBe(true);
      }
      await lab.stop();
    }
  });

  test("a lockfile that is not there is refused by its path", async () => {
    await expect(lockfileTable(join(folder, "nowhere"))).rejects.toMatchObject({
      code: "unreadable",
      message: expect.stringContaining("it is not there") as string,
    });
  });
});
