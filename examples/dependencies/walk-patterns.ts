import { combine, definePatterns, type Walked } from "edgetable";
import { dependencies } from "./model.ts";
import type { Subject } from "./subject.ts";

interface At {
  readonly location: string;
}

// As many as a large project takes; a walk would end at 1,000 otherwise, and say so.
const budget = { requests: 20_000 };

/** Everything that a walk found: a part of it would be a wrong answer. */
const all = <T>({ items, complete, stopped }: Walked<T>): readonly T[] => {
  if (!complete) throw new Error(`The walk ended early, by ${stopped?.by}: give it a larger budget.`);
  return items;
};

const locationsOf = (ids: readonly object[]): readonly string[] => ids.map((id) => (id as At).location);

const MOST = 10;

/** The most, with equal ones by their place. */
export const mostOf = (ranked: readonly { readonly location: string; readonly dependents: number }[]): typeof ranked =>
  ranked.toSorted((a, b) => b.dependents - a.dependents || (a.location < b.location ? -1 : 1)).slice(0, MOST);

/** The questions that take more than one hop. */
export const walksAbout = ({ root, needed, explained, shared }: Subject) =>
  definePatterns(dependencies, {
    whyInstalled: {
      question: "Why is a package installed: by which ways does the project come to need it?",
      example: explained,
      ask: (db, id) =>
        combine({ found: db.package(root).allPaths(id, { out: "dependsOn" }, { budget }) }, ({ found }) =>
          all(found).map((path) => locationsOf(path).join(" → ")),
        ),
    },
    allDependents: {
      question: "Who needs a package, directly or through others?",
      example: needed,
      ask: (db, id) => combine({ found: db.package(id).dependents("dependsOn").ids({ budget }) }, ({ found }) => locationsOf(all(found))),
    },
    mostDependedUpon: {
      question: "Which packages do most others depend on?",
      example: root,
      ask: (db, id) =>
        combine({ found: db.package(id).dependencies("dependsOn").rank({ in: "dependsOn" }, { by: "degree", budget }) }, ({ found }) =>
          mostOf(all(found).map((one) => ({ location: one.id.location, dependents: Number(one.count) }))),
        ),
    },
    whatAnUpdateCanBreak: {
      question: "What can an update of a package break, up to three steps away?",
      example: needed,
      ask: (db, id) =>
        combine({ found: db.package(id).neighbourhood({ in: "dependsOn" }, 3).ids({ budget }) }, ({ found }) => locationsOf(all(found))),
    },
    sharedDependencies: {
      question: "Which packages do two packages both need?",
      example: shared,
      ask: (db, { location, other }) =>
        combine({ found: db.package({ location }).common({ out: "dependsOn" }, [{ location: other }]) }, ({ found }) =>
          locationsOf(all(found)),
        ),
    },
  });
