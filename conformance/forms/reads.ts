import { expect } from "vitest";
import type { Command, Read } from "./commands.ts";
import { type Condition, filterOn } from "./conditions.ts";
import { same } from "../naive/graph.ts";
import { edgeTypes, type End, type NaiveEdge, type NodeType, type Row } from "./vocabulary.ts";
import { checkRefusal, compareRows, edgeRow, endAt, endRow, heldOf, nodeRow, pick, textOf, type World } from "./world.ts";
import { edgeAt, keyOf } from "./writes.ts";

interface Source {
  readonly kind: string;
  readonly index?: string | undefined;
}

/** An edge as a read meets it: in which direction, and which end of it is far. */
interface Met {
  readonly edge: NaiveEdge;
  readonly direction: "out" | "in";
  readonly far: End;
}

interface Asked {
  readonly label: string;
  readonly exact: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- a query of a model that the compiler does not follow
  readonly query: any;
  readonly met: readonly Met[];
  /** A row of an edge, as far as it is asked for and held. */
  readonly row: (one: Met) => Row;
}

const fieldsOf = ({ edge }: Pick<Read, "edge">): readonly string[] => [...edgeTypes[edge].attributes, ...(edgeTypes[edge].key ?? [])];

const directionsOf = ({ edge, direction }: Pick<Read, "edge" | "direction">): readonly ("out" | "in")[] =>
  edgeTypes[edge].symmetric ? ["out"] : direction === "both" ? ["out", "in"] : [direction];

/** Where a read stands: at a node that the edge has at that end. */
const startOf = (world: World, { edge, direction, from, to }: Read): End => {
  const type = edgeTypes[edge];
  const shared = type.from.filter((one) => type.to.includes(one));
  if (direction === "both" && shared.length > 0) return endAt(world, pick(shared, from), from);
  return direction === "in" ? endAt(world, pick(type.to, to), to) : endAt(world, pick(type.from, from), from);
};

const meet = (world: World, at: End, read: Read): readonly Met[] =>
  directionsOf(read).flatMap((direction) =>
    world.graph
      .neighbours(at, { edge: read.edge, direction, ordered: read.ordered })
      .map((edge): Met => ({ edge, direction, far: direction === "out" ? edge.to : edge.from })),
  );

const isOrdered = (world: World, { edge, direction, ordered, reverse }: Read): boolean =>
  world.place.own && (ordered || edgeTypes[edge].orderBy === undefined) && !(direction === "both" && reverse);

/** The call of a read, and what it is to give. */
const ask = async (world: World, command: Read): Promise<{ readonly asked: Asked; readonly fields: readonly string[] } | undefined> => {
  const { edge, ordered, reverse, limit } = command;
  const type = edgeTypes[edge];
  const at = startOf(world, command);
  const standing = at.type as NodeType;
  if (command.direction === "both" && !(type.from.includes(standing) && type.to.includes(standing))) return undefined;
  const names = fieldsOf(command);
  const condition: Condition | undefined = command.where && filterOn(world, pick(names, command.where.field), command.where);
  const selected = command.select === undefined ? undefined : [pick(names, command.select)];
  const far =
    command.far && command.direction !== "both"
      ? endAt(world, pick(command.direction === "out" ? type.to : type.from, command.role), command.role)
      : undefined;
  let query = world.db[at.type](at.id)[command.direction](edge);
  if (!ordered) query = query.unordered();
  if (reverse) query = query.reverse();
  if (condition) query = query.where(condition.where);
  if (far) query = query.where({ [command.direction === "out" || type.symmetric ? "to" : "from"]: far.id });
  if (selected) query = query.select(...selected);
  // Ends are asked for by id alone: of another type, none of this id is there in these models.
  const all = meet(world, at, command)
    .filter((one) => !condition || condition.holds(one.edge.attributes))
    .filter((one) => !far || same(one.far, far));
  const exact = isOrdered(world, command);
  const takes = limit !== undefined && (exact || command.want === "count") && !["pages", "nodePages", "range"].includes(command.want);
  if (takes) query = query.limit(limit);
  const turned = reverse ? all.toReversed() : all;
  const sources: readonly Source[] = await query.explain().then(
    (explanation: { readonly plan: { readonly sources: readonly Source[] } }) => explanation.plan.sources,
    () => [],
  );
  const row = ({ edge: one, direction }: Met): Row => {
    const index = sources[directionsOf(command).indexOf(direction)]?.index;
    const whole = heldOf(world, index, { kind: edge, row: edgeRow(one) });
    return selected ? Object.fromEntries(["from", "to", ...selected].map((field) => [field, whole[field]])) : whole;
  };
  const asked = { label: JSON.stringify(command), exact, query, met: takes ? turned.slice(0, limit) : turned, row };
  return { asked, fields: [...(condition ? [condition.field] : []), ...(selected ?? [])] };
};

interface Page {
  readonly items: readonly unknown[];
  readonly next?: string;
  readonly previous?: string;
}

/** Every page forth, and from each back to the one before it. */
export const comparePages = async (
  at: { readonly label: string; readonly exact: boolean; readonly limit: number },
  page: (options: { readonly limit: number; readonly cursor: string | undefined }) => Promise<Page>,
  expected: readonly unknown[],
): Promise<void> => {
  const { limit, label } = at;
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const one = await page({ limit, cursor });
    if (one.next !== undefined) expect(one.items.length, `${label}: a page that has a next one is full`).toBe(limit);
    if (one.previous !== undefined) {
      const back = await page({ limit, cursor: one.previous });
      expect(back.items.map(textOf), `${label}, backwards`).toEqual(found.slice(-limit).map(textOf));
    }
    found.push(...one.items);
    cursor = one.next;
  } while (cursor !== undefined);
  compareRows(found, expected, at);
};

const compare = async (world: World, command: Read, { label, exact, query, met, row }: Asked): Promise<void> => {
  const rows = met.map(row);
  const { from, to } = edgeTypes[command.edge];
  const kinds = new Set([...(command.direction === "in" ? [] : to), ...(command.direction === "out" ? [] : from)]);
  const nodes = met.map(({ far }) => nodeRow(world, far, kinds));
  const ids = met.map((one) => endRow(command.edge, one.far));
  const same = (actual: readonly unknown[], expected: readonly unknown[]): void => compareRows(actual, expected, { label, exact });
  const pages = { label, exact, limit: command.limit ?? 2 };
  switch (command.want) {
    case "edges":
      return same(await query.edges(), rows);
    case "ids":
      return same(await query.ids(), ids);
    case "count":
      return expect(await query.count(), label).toBe(Math.min(met.length, command.limit ?? Number.POSITIVE_INFINITY));
    case "nodes":
      return same(
        await query.nodes(),
        nodes.filter((node) => node !== undefined),
      );
    case "entries":
      return same(
        await query.entries(),
        rows.map((edge, at) => ({ edge, node: nodes[at] })),
      );
    case "first": {
      const first: unknown = await query.first();
      if (exact) return expect(textOf(first), label).toBe(textOf(rows[0]));
      return expect(first === undefined ? "none" : rows.map(textOf), label).toEqual(
        rows.length === 0 ? "none" : expect.arrayContaining([textOf(first)]),
      );
    }
    case "range": {
      const range: readonly unknown[] = await query.range(1, command.limit ?? 2);
      if (exact) return same(range, rows.slice(1, 1 + (command.limit ?? 2)));
      return expect(range.length, label).toBe(Math.min(Math.max(0, rows.length - 1), command.limit ?? 2));
    }
    case "each": {
      const each: unknown[] = [];
      for await (const one of query) each.push(one);
      return same(each, rows);
    }
    case "pages":
      return comparePages(pages, (options) => query.page(options), rows);
    case "nodePages":
      return comparePages(
        pages,
        (options) => query.page({ ...options, of: "entries" }),
        rows.map((edge, at) => ({ edge, node: nodes[at] })),
      );
  }
};

/** Asks for neighbours, and compares; where an index lacks what is asked of it, it has to say so. */
export const readNeighbours = async (world: World, command: Read): Promise<void> => {
  const { asked, fields } = (await ask(world, command)) ?? {};
  if (!asked || !fields) return;
  try {
    await compare(world, command, asked);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    checkRefusal(world, error, { kind: command.edge, asked: fields, label: asked.label });
  }
};

/** Asks for one edge by its ends, in each way there is. */
export const readPoint = async (world: World, command: Extract<Command, { readonly kind: "point" }>): Promise<void> => {
  const { edge } = command;
  const wanted = edgeAt(world, command);
  const [from, to, key] = [endRow(edge, wanted.from), endRow(edge, wanted.to), keyOf(wanted)];
  const there = world.graph
    .directedEdges(edge)
    .find(
      (one) =>
        same(one.from, wanted.from) &&
        same(one.to, wanted.to) &&
        textOf(keyOf({ ...one, attributes: Object.fromEntries(Object.keys(key ?? {}).map((name) => [name, one.attributes[name]])) })) ===
          textOf(key),
    );
  const label = JSON.stringify(command);
  expect(await world.db[wanted.from.type](wanted.from.id).has(edge, to, key ? { key } : {}), `${label} has`).toBe(there !== undefined);
  expect(textOf(await world.db[edge].get(from, to, key ? { key } : {})), `${label} get`).toBe(textOf(there && edgeRow(there)));
  const many = [to, to, endRow(edge, endAt(world, pick(edgeTypes[edge].to, command.to + 1), command.to + 1))];
  const found: readonly unknown[] = await world.db[edge].getMany(from, many, key ? { key } : {});
  const isThere = found.some((row) => there !== undefined && textOf(row) === textOf(edgeRow(there)));
  expect(isThere, `${label} getMany`).toBe(there !== undefined);
  expect(textOf(await world.db[wanted.from.type].get(wanted.from.id)), `${label} node`).toBe(textOf(world.graph.node(wanted.from)?.row));
};
