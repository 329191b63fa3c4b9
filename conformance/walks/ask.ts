import type { WalkOptions } from "edgetable";
import type { Social } from "../oracle/model.ts";
import type { NaiveEnd } from "../oracle/naive-graph.ts";
import { idRow } from "./graphs.ts";
import type { PlainHop, PlainStep } from "./naive-walk.ts";

type Db = ReturnType<Social["connect"]>;

/** Walks of a model that the compiler does not follow. */
// oxlint-disable-next-line typescript/no-explicit-any -- steps are generated
export type AnyWalk = any;

const numbers: Readonly<Record<string, string>> = { follows: "weight", likes: "rank", worksOn: "hours" };

/** A hop as the library takes it. */
export const hopOf = (hop: PlainHop): object => ({
  [hop.direction]: hop.edge,
  ...(hop.atLeast === undefined ? {} : { where: { [numbers[hop.edge]!]: { gte: hop.atLeast } } }),
  ...(hop.age === undefined ? {} : { whereNode: { age: { gte: hop.age } } }),
});

const typed = (nodes: readonly NaiveEnd[]): readonly object[] => nodes.map((end) => ({ type: end.type, ...idRow(end) }));

const take = (walk: AnyWalk, step: PlainStep): AnyWalk => {
  switch (step.kind) {
    case "hop": {
      const { where, ...hop } = hopOf(step) as { readonly where?: object };
      if (step.rounds > 1 || step.age !== undefined)
        return walk.repeat({ ...hop, ...(where ? { where } : {}) }, { depth: step.rounds, emit: step.emit });
      const on = walk[step.direction](step.edge);
      return where ? on.where(where) : on;
    }
    case "age":
      return walk.whereNode({ age: { gte: step.atLeast } });
    case "dedupe":
      return walk.dedupe();
    case "among":
      return walk.among(typed(step.nodes));
    case "except":
      return walk.except(typeof step.which === "string" ? step.which : typed(step.which));
  }
};

/** The walk of plain steps. */
export const askWalk = (db: Db, start: string, steps: readonly PlainStep[]): AnyWalk => {
  let walk: AnyWalk = db.person({ personId: start }).walk();
  for (const step of steps) walk = take(walk, step);
  return walk;
};

const nameOfId = (id: Readonly<Record<string, unknown>>): string => {
  const field = Object.keys(id).find((name) => name.endsWith("Id"))!;
  return `${field.slice(0, -2)}/${String(id[field])}`;
};

export const names = (ids: Iterable<Readonly<Record<string, unknown>>>): readonly string[] => [...ids].map(nameOfId).toSorted();
export const pathNames = (paths: Iterable<readonly Readonly<Record<string, unknown>>[]>): readonly string[] =>
  [...paths].map((path) => path.map(nameOfId).join(" ")).toSorted();

/** Every part of an answer that is asked for with a budget, one after the other; `check` sees each. */
export const inParts = async <Part extends { readonly next: string | undefined }>(
  ask: (options: WalkOptions) => { report(): Promise<{ readonly value: Part; readonly cost: { readonly requests: number } }> },
  budget: NonNullable<WalkOptions["budget"]>,
): Promise<readonly { readonly part: Part; readonly requests: number }[]> => {
  const parts: { readonly part: Part; readonly requests: number }[] = [];
  let cursor: string | undefined;
  do {
    const { value, cost } = await ask({ budget, cursor }).report();
    parts.push({ part: value, requests: cost.requests });
    cursor = value.next;
    if (parts.length > 2000) throw new Error("the walk does not end");
  } while (cursor !== undefined);
  return parts;
};
