import { expect } from "vitest";
import type { Find } from "./commands.ts";
import { conditionOn, type Condition, filterOn } from "./conditions.ts";
import { compareLists } from "../naive/condition.ts";
import { identity } from "../naive/graph.ts";
import { comparePages } from "./reads.ts";
import { edgeTypes, idFields, type EdgeName, type End, type NodeType, type Row } from "./vocabulary.ts";
import { checkRefusal, compareRows, edgeRow, heldOf, nodeRow, pick, textOf, type World } from "./world.ts";

interface Entry {
  readonly kind: NodeType | EdgeName;
  readonly index: "byKey" | "bySome" | "byNode";
  readonly levels: readonly string[];
  readonly split?: number;
  readonly sparse?: true;
}

/** What the model's own indexes find. */
const entries: readonly Entry[] = [
  { kind: "stop", index: "byKey", levels: ["name", "line"] },
  { kind: "doc", index: "byKey", levels: ["title"] },
  { kind: "passes", index: "byKey", levels: ["at"] },
  { kind: "rates", index: "byKey", levels: ["score"] },
  { kind: "serves", index: "byKey", levels: ["role", "since"], split: 1 },
  { kind: "near", index: "byKey", levels: ["metres"] },
  { kind: "stop", index: "bySome", levels: ["size"], sparse: true },
  { kind: "childOf", index: "bySome", levels: ["rank"], sparse: true },
  { kind: "childOf", index: "byNode", levels: ["rank"] },
  { kind: "stopsAt", index: "byNode", levels: ["size"], sparse: true },
  { kind: "visit", index: "byNode", levels: ["size"], sparse: true },
  { kind: "passes", index: "bySome", levels: ["km"], sparse: true },
  { kind: "copied", index: "bySome", levels: ["level"] },
];

interface Thing {
  readonly row: Row;
  readonly own: Row;
  readonly ends: { readonly from: End; readonly to: End } | undefined;
  readonly place: readonly unknown[];
}

const isNode = (kind: Entry["kind"]): kind is NodeType => kind in idFields;

const thingsOf = (world: World, { kind, levels }: Entry): readonly Thing[] => {
  const place = (row: Row, rest: readonly unknown[]): readonly unknown[] => [...levels.map((level) => row[level]), ...rest];
  if (isNode(kind))
    return world.graph.nodes
      .filter(({ type }) => type === kind)
      .map((node) => ({ row: node.row, own: node.row, ends: undefined, place: place(node.row, identity(node)) }));
  return world.graph.directedEdges(kind).map((edge) => ({
    row: edgeRow(edge),
    own: edge.attributes,
    ends: edge,
    place: place(edge.attributes, world.graph.edgeIdentity(edge)),
  }));
};

const conditionsOf = (world: World, command: Find, entry: Entry): readonly Condition[] => {
  const { levels, split = 0, kind } = entry;
  const given = Math.min(Math.max(split, command.levels), levels.length);
  const equal = levels
    .slice(0, given)
    .map((field, at) => conditionOn(world, field, { ...command.where, operator: "eq", low: command.where.low + at }));
  const next = levels[given];
  const ranges = ["lt", "lte", "gt", "gte", "between", "beginsWith"];
  // Without a condition the index is told by name, or it is whichever holds all of them.
  const operator = ranges.includes(command.where.operator) ? command.where.operator : entry.sparse && !command.using ? "gte" : undefined;
  const range = next !== undefined && operator ? [conditionOn(world, next, { ...command.where, operator })] : [];
  const names = isNode(kind) ? [...idFields[kind], "size"] : [...edgeTypes[kind].attributes, ...(edgeTypes[kind].key ?? [])];
  const more = names.filter((name) => !levels.includes(name));
  const filter = command.filter && more.length > 0 ? [filterOn(world, pick(more, command.filter.field), command.filter)] : [];
  return [...equal, ...range, ...filter];
};

// oxlint-disable-next-line typescript/no-explicit-any -- a query of a model that the compiler does not follow
const indexOf = async (query: any): Promise<string | undefined> => {
  try {
    return (await query.explain()).plan.sources[0].index;
  } catch {
    return undefined;
  }
};

/** Searches by value, and compares; where the index lacks what is asked of it, it has to say so. */
export const findThings = async (world: World, command: Find): Promise<void> => {
  if (!world.place.own) return;
  const entry = pick(entries, command.entry);
  const { kind, index, levels } = entry;
  const conditions = conditionsOf(world, command, entry);
  const names = isNode(kind) ? [...idFields[kind], ...levels] : [...edgeTypes[kind].attributes];
  const selected = command.select === undefined ? undefined : [pick(names, command.select)];
  const label = `${JSON.stringify(command)} ${kind} ${index} ${conditions.map(({ where }) => textOf(where)).join(" ")}`;
  let query = world.db.find(kind);
  if (command.using) query = query.using(index);
  for (const { where } of conditions) query = query.where(where);
  if (command.reverse) query = query.reverse();
  if (selected) query = query.select(...selected);
  const read = await indexOf(query);
  const all = thingsOf(world, entry)
    .filter(({ own }) => !entry.sparse || levels.every((level) => own[level] !== undefined))
    .filter(({ own }) => conditions.every(({ holds }) => holds(own)))
    .toSorted((a, b) => compareLists(a.place, b.place));
  const turned = command.reverse ? all.toReversed() : all;
  const limited = command.limit !== undefined && command.want !== "pages" && read === index;
  if (limited) query = query.limit(command.limit);
  const found = limited ? turned.slice(0, command.limit) : turned;
  const rows = found.map(({ row }): Row => {
    const held = heldOf(world, read, { kind, row });
    return selected
      ? Object.fromEntries([...(isNode(kind) ? [] : ["from", "to"]), ...selected].map((field) => [field, held[field]]))
      : held;
  });
  const asked = [...conditions.map(({ field }) => field), ...(selected ?? [])];
  try {
    await compare(world, { command, query, label, exact: read === index }, { rows, found });
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    checkRefusal(world, error, { kind, asked, label });
  }
};

const compare = async (
  world: World,
  // oxlint-disable-next-line typescript/no-explicit-any -- a query of a model that the compiler does not follow
  { command, query, label, exact }: { readonly command: Find; readonly query: any; readonly label: string; readonly exact: boolean },
  { rows, found }: { readonly rows: readonly Row[]; readonly found: readonly Thing[] },
): Promise<void> => {
  const same = (actual: readonly unknown[], expected: readonly unknown[]): void => compareRows(actual, expected, { label, exact });
  const { kind } = pick(entries, command.entry);
  switch (command.want) {
    case "rows":
      return same(await query.rows(), rows);
    case "count":
      return expect(await query.count(), label).toBe(rows.length);
    case "first":
      return exact ? expect(textOf(await query.first()), label).toBe(textOf(rows[0])) : undefined;
    case "each": {
      const each: unknown[] = [];
      for await (const one of query) each.push(one);
      return same(each, rows);
    }
    case "pages":
      return comparePages({ label, exact, limit: command.limit ?? 2 }, (options) => query.page(options), rows);
    case "ends": {
      if (found[0] && !found[0].ends) return;
      if (isNode(kind)) return;
      const nodesAt = (end: "from" | "to"): readonly unknown[] =>
        found.map(({ ends }) => ends && nodeRow(world, ends[end], new Set(edgeTypes[kind][end])));
      same(
        await query.sources(),
        nodesAt("from").filter((node) => node !== undefined),
      );
      same(
        await query.targets(),
        nodesAt("to").filter((node) => node !== undefined),
      );
      for (const end of ["from", "to"] as const)
        same(
          await query.entries(end),
          nodesAt(end).map((node, at) => ({ edge: rows[at], node })),
        );
    }
  }
};
