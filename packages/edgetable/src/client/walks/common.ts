import { createCall, type Report, type RunOptions } from "../../executor/call.ts";
import type { WalkBudget } from "../../executor/walk/budget.ts";
import type { AnyHop } from "../walk.ts";
import { budgetOf, type WalkOptions } from "../walk-options.ts";
import type { WalkCall, Walked, WalkStop } from "../walk-types.ts";
import { walked } from "../walked.ts";
import type { Start } from "./answers.ts";

type Row = Readonly<Record<string, unknown>>;
type Found = Report<Walked<Row>>;

const SAMPLE = 10;

const attemptsOf = ({ cost, requests }: Found): number =>
  requests.reduce((sum, request) => sum + request.attempts, Math.max(0, cost.requests - requests.length));

const total = (found: readonly Found[], pick: (one: Found) => number): number => found.reduce((sum, one) => sum + pick(one), 0);

const spentOf = ({ requests, readUnits, time }: WalkBudget): WalkStop["by"] | undefined =>
  requests < 1 ? "requests" : readUnits <= 0 ? "units" : time < 1 ? "time" : undefined;

const inAll = (found: readonly Found[]): readonly Row[] => {
  const lists = found.map(({ value }) => new Set(value.items.map((id) => JSON.stringify(id))));
  return (found[0]?.value.items ?? []).filter((id) => lists.every((list) => list.has(JSON.stringify(id))));
};

interface Search {
  readonly start: Start;
  readonly hop: AnyHop;
  readonly options: WalkOptions;
}

const callOf = ({ start, hop, options }: Search, id: Row, budget: WalkBudget): WalkCall<Walked<Row>> =>
  start.from(start.node, id).hop(hop).idsWithin(budget, options);

// One node after the other, for the budget is of all of them; and where nothing is in common already, nothing more is read.
const readAll = async (
  search: Search,
  ids: readonly Row[],
  run: RunOptions,
): Promise<{ readonly found: readonly Found[]; readonly stopped: WalkStop | undefined }> => {
  const { node, driver } = search.start;
  const whole = budgetOf(search.options.budget);
  const began = driver.session.effects.now();
  const found: Found[] = [];
  for (const [at, id] of ids.entries()) {
    if (at > 0 && inAll(found).length === 0) break;
    const budget: WalkBudget = {
      ...whole,
      requests: whole.requests - total(found, attemptsOf),
      readUnits: whole.readUnits - total(found, ({ cost }) => cost.readUnits),
      time: whole.time - (driver.session.effects.now() - began),
    };
    const by = spentOf(budget);
    const left = { nodes: ids.length - at, sample: ids.slice(at, at + SAMPLE).map((one) => ({ type: node, id: one })) };
    if (by) return { found, stopped: { by, hop: 1, left } };
    found.push(await callOf(search, id, budget).report(run));
  }
  return { found, stopped: found.find(({ value }) => value.stopped)?.value.stopped };
};

/** Nodes that are neighbours of this one and of every other. */
export const common = (search: Search, others: readonly Row[]): WalkCall<Walked<Row>> => {
  const ids = [search.start.id, ...others];
  const make = async (run: RunOptions): Promise<Found> => {
    const { found, stopped } = await readAll(search, ids, run);
    // What a node that was not read is next to is not known.
    const items = stopped && found.length < ids.length ? [] : inAll(found);
    return {
      value: walked(items, { complete: stopped === undefined, stopped, next: undefined }),
      cost: { requests: total(found, ({ cost }) => cost.requests), readUnits: total(found, ({ cost }) => cost.readUnits), writeUnits: 0 },
      requests: found.flatMap(({ requests }) => requests),
      missing: [],
    };
  };
  return createCall(() => callOf(search, search.start.id, budgetOf(search.options.budget)).explain(), make);
};
