import type { Expected, ExpectedOf } from "../system.ts";
import type { Package } from "./model.ts";
import type { patternsAbout } from "./patterns.ts";
import type { Dependency, Lockfile } from "./read-lockfile.ts";
import type { Subject } from "./subject.ts";

// The answers, found by going through the whole lockfile once for each question.

interface At {
  readonly location: string;
}

interface DependencyRow {
  readonly from: At;
  readonly to: At;
  readonly wanted: string;
  readonly range: string;
  readonly kind: string;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const rowOf = ({ from, to, ...attributes }: Dependency): DependencyRow => ({
  from: { location: from },
  to: { location: to },
  ...attributes,
});

const inOrder = (rows: readonly DependencyRow[], end: "from" | "to"): readonly DependencyRow[] =>
  rows.toSorted((a, b) => byBytes(a.kind, b.kind) || byBytes(a[end].location, b[end].location));

/** What a package needs, by kind and location. */
export const needsOf = ({ dependencies }: Lockfile, location: string): readonly DependencyRow[] =>
  inOrder(dependencies.filter(({ from }) => from === location).map(rowOf), "to");

/** Who needs a package, by kind and location. */
export const dependentsOf = ({ dependencies }: Lockfile, location: string): readonly DependencyRow[] =>
  inOrder(dependencies.filter(({ to }) => to === location).map(rowOf), "from");

const packageAt = ({ packages }: Lockfile, at: string): Package | undefined => packages.find(({ location }) => location === at);

const realPackages = ({ packages }: Lockfile): readonly Package[] =>
  packages.filter(({ target }) => target === undefined).toSorted((a, b) => byBytes(a.location, b.location));

/** Every copy of a name, by location. */
const installedAs = (lockfile: Lockfile, name: string): readonly Package[] => realPackages(lockfile).filter((one) => one.name === name);

/** Where every package under a licence is, by location. */
const coveredBy = (lockfile: Lockfile, license: string): readonly At[] =>
  realPackages(lockfile)
    .filter((one) => one.license === license)
    .map(({ location }) => ({ location }));

/** The links that lead to a folder. */
const linksTo = ({ packages }: Lockfile, location: string): readonly At[] =>
  packages
    .filter(({ target }) => target === location)
    .map((one) => ({ location: one.location }))
    .toSorted((a, b) => byBytes(a.location, b.location));

const MOST_KEYS_SHOWN = 4;
const BATCH = 100;

const batchLines = (locations: readonly string[]): readonly string[] => {
  if (locations.length === 0) return [];
  const batch = locations.slice(0, BATCH);
  const shown = batch.slice(0, MOST_KEYS_SHOWN).map((location) => `('PACKAGE#${location}', '#')`);
  const more = batch.length > MOST_KEYS_SHOWN ? [`${batch.length - MOST_KEYS_SHOWN} more`] : [];
  return [`BatchGetItem ${[...shown, ...more].join(", ")}`, ...batchLines(locations.slice(BATCH))];
};

const whole = (lockfile: Lockfile, { needed: { location } }: Subject): Expected => ({
  answer: {
    node: packageAt(lockfile, location),
    edges: { ...notEmpty("dependsOn", needsInTable(lockfile, location)), ...linkEdge(lockfile, location) },
    parts: {},
  },
  requests: [`Query pk = 'PACKAGE#${location}'`],
});

const notEmpty = (name: string, rows: readonly unknown[]): Readonly<Record<string, readonly unknown[]>> =>
  rows.length > 0 ? { [name]: rows } : {};

// In the table itself edges lie by their target alone.
const needsInTable = (lockfile: Lockfile, location: string): readonly DependencyRow[] =>
  needsOf(lockfile, location).toSorted((a, b) => byBytes(a.to.location, b.to.location));

const linkEdge = (lockfile: Lockfile, location: string): Readonly<Record<string, readonly unknown[]>> => {
  const target = packageAt(lockfile, location)?.target;
  return target === undefined ? {} : { linksTo: [{ from: { location }, to: { location: target } }] };
};

/** The answers to the demo's questions, and the requests that they take. */
export const expectedFor = (lockfile: Lockfile, subject: Subject): ExpectedOf<ReturnType<typeof patternsAbout>> => {
  const [root, needed] = [subject.root.location, subject.needed.location];
  const needs = needsOf(lockfile, needed);
  const dependents = dependentsOf(lockfile, needed);
  const versions = installedAs(lockfile, subject.versions.name);
  const ofPackage = `Query ordered: gsi2pk = 'PACKAGE#${needed}' AND begins_with(gsi2sk, 'dependsOn#')`;
  const ofDependents = `Query reverse: gsi1pk = 'PACKAGE#${needed}' AND begins_with(gsi1sk, 'dependsOn#')`;
  return {
    needsOfProject: {
      answer: needsOf(lockfile, root),
      requests: ["Query ordered: gsi2pk = 'PACKAGE#.' AND begins_with(gsi2sk, 'dependsOn#')"],
    },
    developmentNeedsOfProject: {
      answer: needsOf(lockfile, root).filter(({ kind }) => kind === "dev"),
      requests: ["Query ordered: gsi2pk = 'PACKAGE#.' AND begins_with(gsi2sk, 'dependsOn#dev#PACKAGE#')"],
    },
    needsOfPackage: {
      answer: needs.map((edge) => ({ edge, node: packageAt(lockfile, edge.to.location) })),
      requests: [ofPackage, ...batchLines(needs.map(({ to }) => to.location))],
    },
    whoNeeds: { answer: dependents, requests: [ofDependents] },
    howManyNeed: { answer: dependents.length, requests: [`${ofDependents} (count)`] },
    isNeededBy: {
      answer: lockfile.dependencies.some(({ from, to }) => from === subject.needs.location && to === subject.needs.on),
      requests: [`GetItem pk = 'PACKAGE#${subject.needs.location}', sk = 'dependsOn#PACKAGE#${subject.needs.on}'`],
    },
    entry: { answer: packageAt(lockfile, needed), requests: [`GetItem pk = 'PACKAGE#${needed}', sk = '#'`] },
    packageWithNeeds: whole(lockfile, subject),
    versionsOfName: {
      answer: versions,
      requests: [
        `Query pk = 'NAME#${subject.versions.name}' AND begins_with(sk, 'installed#PACKAGE#')`,
        ...batchLines(versions.map(({ location }) => location)),
      ],
    },
    packagesUnderLicense: {
      answer: coveredBy(lockfile, subject.license.license),
      requests: [`Query pk = 'LICENSE#${subject.license.license}' AND begins_with(sk, 'covers#PACKAGE#')`],
    },
    linksToFolder: {
      answer: linksTo(lockfile, subject.linked.location),
      requests: [`Query reverse: gsi1pk = 'PACKAGE#${subject.linked.location}' AND begins_with(gsi1sk, 'linksTo#PACKAGE#')`],
    },
  };
};
