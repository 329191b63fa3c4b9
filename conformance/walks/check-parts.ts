import { expect } from "vitest";
import { inParts, onePart, type Ask, type Cost, type Part } from "./ask.ts";
import { nameOfId } from "./node-ids.ts";
import { TAKES } from "./slow-engine.ts";

/** A budget that cuts an answer into parts: the first has it, and the others have what `rest` says. */
export interface Cut {
  readonly budget: Readonly<Record<string, number>>;
  readonly rest: Readonly<Record<string, number>>;
}

const each = (budget: Readonly<Record<string, number>>): Cut => ({ budget, rest: budget });

export const cuts: readonly Cut[] = [
  each({ requests: 1 }),
  each({ breadth: 1 }),
  each({ requests: 3 }),
  each({ breadth: 2, requests: 2 }),
  each({ units: 1 }),
  { budget: { depth: 1 }, rest: {} },
  { budget: { memory: 1000 }, rest: {} },
  each({ breadth: 1, units: 2, depth: 100 }),
  each({ time: 2.5 * TAKES }),
];

const widen = (budget: Cut["budget"], least: Cut["budget"]): Cut["budget"] =>
  Object.fromEntries(Object.entries(budget).map(([name, most]) => [name, Math.max(most, least[name] ?? 0)]));

/** The same cut with as many requests, units and milliseconds in a part as make an answer of this cost no more than so many parts. */
export const widened = ({ budget, rest }: Cut, { requests, units }: Cost, parts: number): Cut => {
  const least = { requests: Math.ceil(requests / parts), units: Math.ceil(units / parts), time: Math.ceil(requests / parts) * TAKES };
  return { budget: widen(budget, least), rest: widen(rest, least) };
};

/** Of one answer to a walk. */
export interface Asking {
  readonly name: string;
  readonly ask: Ask;
  /** Whether the parts' items are one list, or the last part is the whole answer. */
  readonly adds: boolean;
  /** What can be compared. */
  readonly show: (items: readonly never[], part: Part) => unknown;
  readonly expected: unknown;
  /** The same in its order, where one is promised. */
  readonly order?: { readonly show: (items: readonly never[]) => unknown; readonly expected: unknown };
  /** Hops that it makes beyond the walk's. */
  readonly further?: number;
}

/** What is known of the walk. */
export interface Bounds {
  /** Nodes on which it may stand. */
  readonly stood: ReadonlySet<string>;
  /** The most hops. */
  readonly hops: number;
  /** The first hop, 0 for the search at the start. @default 1 */
  readonly least?: number;
  /** Requests for the whole answer. */
  readonly requests: number;
}

const MOST_SAMPLE = 10;

/** A part says why it ended, and names what it left. */
const checkEnd = (
  { complete, stopped, next }: Part,
  { stood, hops, least = 1 }: Omit<Bounds, "requests">,
  { budget, label }: { readonly budget: Readonly<Record<string, number>>; readonly label: string },
): void => {
  expect(complete, label).toBe(stopped === undefined);
  if (next !== undefined) expect(stopped, label).toBeDefined();
  if (!stopped) return;
  expect([...Object.keys(budget), "limit"], label).toContain(stopped.by);
  expect(stopped.hop, label).toBeGreaterThanOrEqual(least);
  expect(stopped.hop, label).toBeLessThanOrEqual(hops);
  if (stopped.by === "limit") return;
  const { nodes, sample } = stopped.left;
  expect(nodes, label).toBeGreaterThan(0);
  expect(sample, label).toHaveLength(Math.min(nodes, MOST_SAMPLE));
  for (const { type, id } of sample) {
    // What is left of the search at the start is no node yet.
    if (least === 0 && Object.keys(id).length === 0) continue;
    expect(nameOfId(id).startsWith(`${type}/`), label).toBe(true);
    expect([...stood], label).toContain(nameOfId(id));
  }
};

/** The whole answer is right, and complete. Tells what it took. */
export const checkWhole = async ({ name, ask, show, expected, order }: Asking): Promise<Cost> => {
  const { part, ...cost } = await onePart(ask, {});
  expect(show(part.items, part), name).toEqual(expected);
  expect(part, name).toMatchObject({ complete: true, stopped: undefined, next: undefined });
  if (order) expect(order.show(part.items), `${name} in order`).toEqual(order.expected);
  return cost;
};

// Nodes are read side by side: a part may end in the midst of several. Between rounds, or one request at a time, none is left half read.
const isOrderly = ({ budget }: Cut): boolean =>
  Object.entries(budget).every(([name, most]) => name === "depth" || (name === "requests" && most === 1));

/** The answer in parts is the same, and no part takes more than it may. */
export const checkParts = async (asking: Asking, cut: Cut, bounds: Bounds): Promise<void> => {
  const { name, ask, adds, show, expected, order, further = 0 } = asking;
  const label = `${name} within ${JSON.stringify(cut)}`;
  const first = await onePart(ask, { budget: cut.budget });
  const rest =
    first.part.next === undefined
      ? []
      : await inParts((options) => ask({ ...options, cursor: options.cursor ?? first.part.next }), { budget: cut.rest });
  const parts = [first, ...rest];
  if (bounds.requests * TAKES > (cut.budget["time"] ?? Number.POSITIVE_INFINITY)) expect(first.part.stopped?.by, label).toBe("time");
  for (const [at, { part, requests }] of parts.entries()) {
    const budget = at === 0 ? cut.budget : cut.rest;
    expect(requests, label).toBeLessThanOrEqual(budget["requests"] ?? 1000);
    checkEnd(part, { ...bounds, hops: bounds.hops + further }, { budget, label });
    if (part.stopped) expect(part.next, `${label}: a cut answer goes on`).toBeDefined();
  }
  const last = parts.at(-1)!.part;
  const items = adds ? parts.flatMap(({ part }) => part.items) : last.items;
  expect(show(items, last), label).toEqual(expected);
  if (order && isOrderly(cut)) expect(order.show(items), `${label} in order`).toEqual(order.expected);
};
