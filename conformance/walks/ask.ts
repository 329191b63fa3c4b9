import type { Report, WalkExplanation, WalkOptions } from "edgetable";
import type { Social } from "../oracle/model.ts";
import type { NaiveEnd } from "../naive/graph.ts";
import { givenId, nameOfId, type Id } from "./node-ids.ts";
import { numberFields, type PlainFirst, type PlainHop, type PlainStep, type PlainWalk } from "./plain-walk.ts";

export type Db = ReturnType<Social["connect"]>;

/** Walks of a model that the compiler does not follow. */
// oxlint-disable-next-line typescript/no-explicit-any -- steps are generated
export type AnyWalk = any;

const conditionOf = ({ edge, atLeast }: Pick<PlainHop, "edge" | "atLeast">): object => ({ [numberFields[edge]!]: { gte: atLeast } });

const edgesOf = ({ edge, others }: Pick<PlainHop, "edge" | "others">): string | readonly string[] => (others ? [edge, ...others] : edge);

/** A hop as the library takes it. */
export const hopOf = (hop: PlainHop): object => ({
  [hop.direction]: edgesOf(hop),
  ...(hop.atLeast === undefined ? {} : { where: conditionOf(hop) }),
  ...(hop.age === undefined ? {} : { whereNode: { age: { gte: hop.age } } }),
});

const typed = (nodes: readonly NaiveEnd[]): readonly object[] => nodes.map((end) => ({ type: end.type, ...givenId(end) }));

const takeHop = (walk: AnyWalk, hop: Extract<PlainStep, { kind: "hop" }>): AnyWalk => {
  if (hop.rounds === Number.POSITIVE_INFINITY)
    return hop.direction === "out" ? walk.dependencies(edgesOf(hop)) : walk.dependents(edgesOf(hop));
  if (hop.rounds > 1 || hop.age !== undefined) return walk.repeat(hopOf(hop), { depth: hop.rounds, emit: hop.emit });
  const on = walk[hop.direction](edgesOf(hop));
  return hop.atLeast === undefined ? on : on.where(conditionOf(hop));
};

const take = (walk: AnyWalk, step: PlainStep): AnyWalk => {
  switch (step.kind) {
    case "hop":
      return takeHop(walk, step);
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

const takeFirst = (person: AnyWalk, first: PlainFirst): AnyWalk => {
  let query = person[first.direction](first.edge);
  if (first.atLeast !== undefined) query = query.where(conditionOf(first));
  if (first.reverse) query = query.reverse();
  return (first.limit === undefined ? query : query.limit(first.limit)).walk();
};

const beginning = (person: AnyWalk, { first, steps }: PlainWalk): AnyWalk => {
  if (first) return takeFirst(person, first);
  const [step] = steps;
  return step?.kind === "hop" && step.rounds === Number.POSITIVE_INFINITY ? person : person.walk();
};

/** The walk of plain steps. */
export const askWalk = (db: Db, plain: PlainWalk): AnyWalk => {
  let walk = beginning(db.person(givenId({ type: "person", id: plain.start }) as never), plain);
  for (const step of plain.steps) walk = take(walk, step);
  return walk;
};

export const names = (ids: Iterable<Id>): readonly string[] => [...ids].map(nameOfId).toSorted();
export const pathName = (path: readonly Id[]): string => path.map(nameOfId).join(" ");
export const pathNames = (paths: Iterable<readonly Id[]>): readonly string[] => [...paths].map(pathName).toSorted();

/** What every answer of a walk says. */
export interface Part {
  readonly items: readonly never[];
  readonly count: number | bigint;
  readonly complete: boolean;
  readonly stopped:
    | {
        readonly by: string;
        readonly hop: number;
        readonly left: { readonly nodes: number; readonly sample: readonly { readonly type: string; readonly id: Id }[] };
      }
    | undefined;
  readonly next: string | undefined;
}

interface Asked {
  report(): Promise<Report<Part>>;
  explain(): Promise<WalkExplanation>;
}

export type Ask = (options: WalkOptions) => Asked;

const MOST_PARTS = 3000;

/** What an answer took. */
export interface Cost {
  readonly requests: number;
  readonly units: number;
}

/** One part of an answer, with what it took. */
export const onePart = async (ask: Ask, options: WalkOptions): Promise<{ readonly part: Part } & Cost> => {
  const { value, cost } = await ask(options).report();
  return { part: value, requests: cost.requests, units: cost.readUnits };
};

/** Every part of an answer, one after the other. */
export const inParts = async (ask: Ask, options: WalkOptions): Promise<readonly ({ readonly part: Part } & Cost)[]> => {
  const parts: ({ readonly part: Part } & Cost)[] = [];
  let cursor: string | undefined;
  do {
    const one = await onePart(ask, { ...options, cursor });
    parts.push(one);
    cursor = one.part.next;
    if (parts.length > MOST_PARTS) throw new Error("the walk does not end");
  } while (cursor !== undefined);
  return parts;
};
