import type { Package } from "./model.ts";
import type { Lockfile } from "./read-lockfile.ts";
import { waysTo } from "./ways.ts";

interface At {
  readonly location: string;
}

/** What the demo's questions are about: parameters that stand for any others. */
export interface Subject {
  readonly root: At;
  readonly needed: At;
  readonly needs: At & { readonly on: string };
  readonly versions: { readonly name: string };
  readonly license: { readonly license: string };
  readonly linked: At;
  /** A package that is needed by several ways, and two that need the same. */
  readonly explained: At;
  readonly shared: At & { readonly other: string };
}

const ROOT = ".";
/** An answer that fits a screen. */
const MOST_UNDER_LICENSE = 10;

const countBy = <T>(list: readonly T[], key: (one: T) => string | undefined): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const one of list) {
    const name = key(one);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

// Of several, the first by name, so that a lockfile always gives the same questions.
const most = (counts: ReadonlyMap<string, number>): string | undefined =>
  [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];

const filterMap = (counts: ReadonlyMap<string, number>, keep: (name: string, count: number) => boolean): ReadonlyMap<string, number> =>
  new Map([...counts].filter(([name, count]) => keep(name, count)));

const commonLicense = (real: readonly Package[]): string => {
  const counts = countBy(real, ({ license }) => license);
  return most(filterMap(counts, (_, count) => count <= MOST_UNDER_LICENSE)) ?? most(counts) ?? "MIT";
};

// Enough ways to be worth a question, and few enough to be read.
const MOST_WAYS = 30;
const MOST_STEPS = 2000;

const explainedOf = (lockfile: Lockfile, locations: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const location of locations) {
    const ways = waysTo(lockfile, { start: ROOT, target: location }, MOST_STEPS)?.length ?? 0;
    if (ways > 0 && ways <= MOST_WAYS) counts.set(location, ways);
  }
  return most(counts) ?? locations[0] ?? ROOT;
};

const sharedOf = ({ dependencies }: Lockfile): Subject["shared"] => {
  const needs = new Map<string, Lockfile["dependencies"]>();
  for (const one of dependencies) needs.set(one.from, [...(needs.get(one.from) ?? []), one]);
  const pairs = new Map<string, number>();
  for (const [location, own] of needs) {
    for (const [other, others] of needs) {
      const targets = new Set(others.map(({ to }) => to));
      const count = location < other && location !== ROOT ? own.filter(({ to }) => targets.has(to)).length : 0;
      if (count > 0) pairs.set(JSON.stringify([location, other]), count);
    }
  }
  const [location = ROOT, other = ROOT] = JSON.parse(most(pairs) ?? "[]") as readonly string[];
  return { location, other };
};

/** Chooses the packages of a lockfile that show most: one that needs many and is needed by many, the name with the most copies. */
export const subjectOf = (lockfile: Lockfile): Subject => {
  const { packages, dependencies } = lockfile;
  const real = packages.filter(({ target }) => target === undefined);
  const outDegrees = countBy(dependencies, ({ from }) => from);
  const inDegrees = countBy(dependencies, ({ to }) => to);
  const paths = new Map([...inDegrees].map(([location, count]) => [location, count * (outDegrees.get(location) ?? 0)]));
  const needed = most(paths) ?? ROOT;
  const user = dependencies.find(({ to }) => to === needed)?.from ?? ROOT;
  return {
    root: { location: ROOT },
    needed: { location: needed },
    needs: { location: user, on: needed },
    versions: { name: most(countBy(real, ({ name }) => name)) ?? ROOT },
    license: { license: commonLicense(real) },
    linked: { location: packages.find(({ target }) => target !== undefined)?.target ?? ROOT },
    explained: { location: explainedOf(lockfile, [...inDegrees.keys()].toSorted()) },
    shared: sharedOf(lockfile),
  };
};
