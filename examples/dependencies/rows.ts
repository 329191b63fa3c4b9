import type { DependenciesDb, Package } from "./model.ts";
import type { Dependency, Lockfile } from "./read-lockfile.ts";

type GraphRow = Parameters<DependenciesDb["load"]>[0] extends Iterable<infer Row> | AsyncIterable<unknown> ? Row : never;

function* packageRows(one: Package): Generator<GraphRow> {
  const { name, license, target } = one;
  const location = { location: one.location };
  yield { node: "package", row: one };
  if (target !== undefined) {
    yield { edge: "linksTo", from: location, to: { location: target } };
    return;
  }
  yield { edge: "installed", from: { name }, to: location };
  if (license !== undefined) yield { edge: "covers", from: { license }, to: location };
}

const dependencyRow = ({ from, to, ...attributes }: Dependency): GraphRow => ({
  edge: "dependsOn",
  from: { location: from },
  to: { location: to },
  attributes,
});

/** A lockfile's nodes and edges. A link is found by what it leads to; names and licences name the packages themselves. */
function* graphRows({ packages, dependencies }: Lockfile): Generator<GraphRow> {
  for (const one of packages) yield* packageRows(one);
  for (const one of dependencies) yield dependencyRow(one);
}

/** Writes them, each item once. */
export const load = async (db: DependenciesDb, lockfile: Lockfile): Promise<void> => {
  await db.load(graphRows(lockfile), { strict: true, collisions: "refuse" });
};
