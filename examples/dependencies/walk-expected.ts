import type { Expected, ExpectedOf } from "../system.ts";
import { mostOf, type walksAbout } from "./walk-patterns.ts";
import type { Lockfile } from "./read-lockfile.ts";
import type { Subject } from "./subject.ts";
import { waysTo } from "./ways.ts";

// The same answers without any graph: by going through the lockfile's list of dependencies again and again.

type Ends = "from" | "to";

/** Everything that dependencies lead to from some packages, a round at a time. */
const reached = ({ dependencies }: Lockfile, start: string, [near, far]: readonly [Ends, Ends]): readonly (readonly string[])[] => {
  const known = new Set([start]);
  const layers: (readonly string[])[] = [[start]];
  for (;;) {
    const last = new Set(layers.at(-1));
    const next = new Set(dependencies.filter((one) => last.has(one[near]) && !known.has(one[far])).map((one) => one[far]));
    if (next.size === 0) return layers;
    for (const location of next) known.add(location);
    layers.push([...next]);
  }
};

const listing = (location: string): string =>
  `Query pk = 'PACKAGE#${location}' AND begins_with(sk, 'dependsOn#PACKAGE#') (limit 10000, only sk)`;
const listingBack = (location: string): string =>
  `Query reverse: gsi1pk = 'PACKAGE#${location}' AND begins_with(gsi1sk, 'dependsOn#') (limit 10000, only pk)`;

const walk = (answer: unknown, requests: readonly string[]): Expected => ({ answer, anyOrder: true, sideBySide: true, requests });

/** The answers to the questions over several hops: each package is asked once, whatever number of ways lead to it. */
export const walksExpectedFor = (
  lockfile: Lockfile,
  { root, needed, explained, shared }: Subject,
): ExpectedOf<ReturnType<typeof walksAbout>> => {
  const back = ["to", "from"] as const;
  const layers = reached(lockfile, needed.location, back);
  const dependents = layers.flat();
  const near = layers.slice(0, 4);
  const below = reached(lockfile, root.location, ["from", "to"]).flat();
  const degree = (location: string): number => lockfile.dependencies.filter(({ to }) => to === location).length;
  const neededBy = (location: string): readonly string[] =>
    lockfile.dependencies.filter(({ from }) => from === location).map(({ to }) => to);
  const leading = reached(
    { ...lockfile, dependencies: lockfile.dependencies.filter(({ to }) => to !== root.location) },
    explained.location,
    back,
  ).flat();
  return {
    whyInstalled: walk(
      waysTo(lockfile, { start: root.location, target: explained.location })?.map((way) => way.join(" → ")),
      // The project's own dependencies are looked at too, to tell from which end the search is cheaper.
      [listing(root.location), ...leading.filter((one) => one !== root.location).map(listingBack)],
    ),
    allDependents: walk(dependents.slice(1), dependents.map(listingBack)),
    mostDependedUpon: walk(mostOf(below.slice(1).map((location) => ({ location, dependents: degree(location) }))), [
      ...below.map(listing),
      ...below.slice(1).map(listingBack),
    ]),
    whatAnUpdateCanBreak: walk(near.flat().slice(1), near.slice(0, 3).flat().map(listingBack)),
    sharedDependencies: walk(
      [...new Set(neededBy(shared.location))].filter((one) => neededBy(shared.other).includes(one)),
      [shared.location, shared.other].map(listing),
    ),
  };
};
