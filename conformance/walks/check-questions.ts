import type { WalkOptions } from "edgetable";
import { expect } from "vitest";
import { valueText } from "../hostile/values.ts";
import { nameOf, type NaiveGraph } from "../naive/graph.ts";
import { common, edgesAt, endOf, levels, shortest, simplePaths, walkNaively } from "../naive/walk.ts";
import { hopOf, names, onePart, pathName, pathNames, type AnyWalk, type Ask, type Db, type Part } from "./ask.ts";
import { givenId, nameOfId, type Id } from "./node-ids.ts";
import { checkParts, checkWhole, cuts, type Asking, type Bounds, type Cut } from "./check-parts.ts";
import { naiveHop, naivePlan, numberFields, type PlainStep } from "./plain-walk.ts";
import type { Question } from "./questions.ts";

interface Asked {
  readonly question: Question;
  readonly graph: NaiveGraph;
  readonly person: AnyWalk;
  readonly bounds: Omit<Bounds, "requests">;
  readonly budget: Cut["budget"];
}

const person = (id: string): { readonly type: string; readonly id: string } => ({ type: "person", id });
const hopStep = ({ hop }: Question, rounds: number): PlainStep => ({ kind: "hop", rounds, emit: "all", ...hop });

const ends = ({ question, graph }: Asked, steps: readonly PlainStep[]): readonly string[] =>
  walkNaively(graph, naivePlan({ start: question.start, first: undefined, steps })).paths.map((path) => nameOf(endOf(path)));

/** Answers that go on by a cursor. */
const walked = (asked: Asked): Asking | undefined => {
  const { question, graph, person: from } = asked;
  const { hop, most, depth } = question;
  switch (question.kind) {
    case "neighbourhood": {
      const steps: readonly PlainStep[] = [hopStep(question, depth ?? 2), { kind: "except", which: "start" }];
      const ask: Ask = (options) => from.neighbourhood(hopOf(hop), depth ?? 2).ids(options);
      return { name: "neighbourhood", ask, adds: true, show: names, expected: [...new Set(ends(asked, steps))].toSorted() };
    }
    case "subtree": {
      const field = most % 2 === 0 ? numberFields[hop.edge] : undefined;
      const options = { ...(depth === undefined ? {} : { depth }), ...(field === undefined ? {} : { sum: field }) };
      const ask: Ask = (budget) => from.subtree(hopOf(hop), { ...options, ...budget });
      const rounds = { hop: naiveHop(hop), depth: depth ?? Number.POSITIVE_INFINITY, sums: field, isFirst: true };
      return { name: "subtree", ask, adds: false, show: (items) => items, expected: levels(graph, [person(question.start)], rounds) };
    }
    case "suggest": {
      const steps: readonly PlainStep[] = [hopStep(question, 1), hopStep(question, 1), { kind: "except", which: "passed" }];
      const counts = new Map<string, number>();
      for (const name of ends(asked, steps)) counts.set(name, (counts.get(name) ?? 0) + 1);
      const expected = [...counts.values()].toSorted((a, b) => b - a).slice(0, most);
      const show = (items: readonly { readonly id: Id; readonly count: number }[]): readonly unknown[] =>
        items.map(({ id, count }) => (counts.get(nameOfId(id)) === count ? count : `${nameOfId(id)}: ${count}`));
      return { name: "suggest", ask: (options) => from.suggest(hopOf(hop), { top: most, ...options }), adds: false, show, expected };
    }
    default:
      return undefined;
  }
};

const MOST_PARTS = 5;

// Of several paths of one length, whichever is met first is given.
const isOne = ({ kind }: Question): boolean => kind === "shortestPath" || kind === "cycle";

/** Goes on from a part: with its budget a few times, then with none. */
const restOf = async ({ budget }: Asked, ask: Ask, from: Part): Promise<readonly unknown[]> => {
  const items: unknown[] = [];
  let part = from;
  for (let parts = 1; part.next !== undefined; parts++) {
    ({ part } = await onePart(ask, { cursor: part.next, ...(parts < MOST_PARTS ? { budget } : {}) }));
    items.push(...part.items);
  }
  expect(part.complete, `what goes on from ${JSON.stringify(budget)} comes to its end`).toBe(true);
  return items;
};

/** Within a budget an answer may be less; then it says so, and its parts are the whole. */
const checkShort = async (
  asked: Asked,
  { ask, whole }: { readonly ask: Ask; readonly whole: Part },
  check: (part: Part) => void,
): Promise<void> => {
  const { budget, bounds } = asked;
  const { part, requests: sent } = await onePart(ask, { budget });
  const label = JSON.stringify(budget);
  expect(sent, label).toBeLessThanOrEqual(budget["requests"] ?? 1000);
  expect(part.complete, label).toBe(part.stopped === undefined);
  if (part.stopped && part.stopped.by !== "limit") {
    expect(Object.keys(budget), label).toContain(part.stopped.by);
    expect(part.stopped.left.nodes, label).toBeGreaterThan(0);
    for (const { id } of part.stopped.left.sample) expect([...bounds.stood]).toContain(nameOfId(id));
  }
  check(part);
  expect(part.complete, label).toBe(part.next === undefined);
  const shown = (item: unknown): unknown => (isOne(asked.question) ? (item as readonly unknown[]).length : item);
  const texts = (items: readonly unknown[]): readonly string[] => items.map((item) => valueText(shown(item))).toSorted();
  expect(texts([...part.items, ...(await restOf(asked, ask, part))]), label).toEqual(texts(whole.items));
};

const checkCommon = async (asked: Asked): Promise<void> => {
  const { question, graph, person: from } = asked;
  const { hop, start, others } = question;
  const ids = others.map((id) => givenId(person(id)));
  const ask: Ask = (options) => from.common(hopOf(hop), ids, options);
  const expected = common(graph, [start, ...others].map(person), naiveHop(hop));
  const { part } = await onePart(ask, {});
  expect(names(part.items), "common").toEqual(expected);
  expect(part.complete).toBe(true);
  await checkShort(asked, { ask, whole: part }, ({ items, complete }) => {
    if (complete) expect(names(items)).toEqual(expected);
    else expect(expected).toEqual(expect.arrayContaining([...names(items)]));
  });
};

const isPath = ({ graph, question }: Asked, path: string): boolean => {
  const ends = path.split(" ").map((name) => ({ type: name.slice(0, name.indexOf("/")), id: name.slice(name.indexOf("/") + 1) }));
  return ends.every(
    (end, at) => at === 0 || edgesAt(graph, ends[at - 1]!, naiveHop(question.hop)).some(({ far }) => nameOf(far) === nameOf(end)),
  );
};

const checkPaths = async (asked: Asked): Promise<void> => {
  const { question, graph, person: from } = asked;
  const { kind, hop, start, to, depth, most } = question;
  const target = kind === "cycle" ? start : to;
  const rounds = { hop: naiveHop(hop), depth: depth ?? Number.POSITIVE_INFINITY };
  const ask =
    (limit: number): Ask =>
    (budget: WalkOptions) => {
      const options = { ...(depth === undefined ? {} : { depth }), ...(kind.endsWith("s") ? { limit } : {}), ...budget };
      return kind === "cycle" ? from.cycle(hopOf(hop), options) : from[kind](givenId(person(to)), hopOf(hop), options);
    };
  const all = (kind === "allPaths" ? simplePaths : shortest)(graph, [person(start), person(target)], rounds);
  const { part } = await onePart(ask(100_000), {});
  expect(part, kind).toMatchObject({ complete: true, next: undefined });
  if (kind.endsWith("s")) expect(pathNames(part.items), kind).toEqual(all);
  else {
    expect(part.items, `one of ${all.length} paths`).toHaveLength(Math.min(1, all.length));
    for (const path of part.items) expect(all).toContain(pathName(path));
  }
  await checkShort(asked, { ask: ask(100_000), whole: part }, ({ items, complete }) => {
    for (const path of items as readonly (readonly Id[])[]) {
      expect(isPath(asked, pathName(path))).toBe(true);
      expect(path.length - 1).toBeLessThanOrEqual(asked.budget["depth"] ?? 100);
    }
    if (complete) expect(items).toHaveLength(part.items.length);
  });
  if (!kind.endsWith("s")) return;
  const { part: few } = await onePart(ask(most), {});
  expect(few.items).toHaveLength(Math.min(most, all.length));
  expect(few.stopped?.by).toBe(all.length > most ? "limit" : undefined);
};

/** A question by name is answered right, whole and within budgets. */
export const checkQuestion = async (
  db: Db,
  graph: NaiveGraph,
  { question, cut }: { readonly question: Question; readonly cut: number },
): Promise<void> => {
  const stood = new Set(graph.nodes.map(nameOf));
  for (const { from, to } of graph.edges()) stood.add(nameOf(from)).add(nameOf(to));
  for (const id of [question.start, question.to, ...question.others]) stood.add(nameOf(person(id)));
  const bounds = { stood, hops: 20 };
  const one = cuts[cut % cuts.length]!;
  const asked: Asked = { question, graph, person: db.person(givenId(person(question.start)) as never), bounds, budget: one.budget };
  const asking = walked(asked);
  if (asking) {
    const { requests } = await checkWhole(asking);
    return checkParts(asking, one, { ...bounds, requests });
  }
  return question.kind === "common" ? checkCommon(asked) : checkPaths(asked);
};
