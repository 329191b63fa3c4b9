import { type Random, seededRandom } from "@edgetable/testing";
import { defineGraph, node, type FieldInput, type GridRow, type NewField } from "edgetable";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { openFactsLab } from "../../packages/edgetable/src/streams/facts-lab.test-support.ts";
import { deliver } from "../streams/deliver.ts";
import {
  fittingValues,
  naiveAnswer,
  naiveGroups,
  naiveRank,
  type NaiveAsk,
  type NaiveCondition,
  type NaiveField,
  type NaiveFilter,
  type NaiveRow,
} from "./naive-grid.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
type Storage = "items" | "document";
const graphOf = (table: string, shards: number, storage: Storage) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text, state: text, estimate: z.number().optional() }),
        fields: { of: "project", orderBy: "num:6", sortable: ["name", "estimate:number"], shards, storage },
      }),
    },
  });

const choices = ["small", "medium", "large"];
const definitions: readonly NewField[] = [
  { fieldId: "bytes", name: "Bytes", type: "text" },
  { fieldId: "letters", name: "Letters", type: "text", order: "letters" },
  { fieldId: "number", name: "Number", type: "number" },
  { fieldId: "date", name: "Date", type: "date" },
  { fieldId: "flag", name: "Flag", type: "boolean" },
  { fieldId: "size", name: "Size", type: "choice", choices },
  { fieldId: "sizes", name: "Sizes", type: "choices", choices },
  { fieldId: "owner", name: "Owner", type: "reference", node: "person" },
];
const naiveField = (field: NewField): NaiveField => ({
  fieldId: field.fieldId ?? "",
  type: field.type,
  ...("choices" in field ? { choices: field.choices } : {}),
  ...("order" in field && field.order === "letters" ? { letters: true } : {}),
});

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  text: ["eq", "ne", "lt", "lte", "gt", "gte", "between", "in", "exists", "beginsWith", "contains"],
  number: ["eq", "ne", "lt", "lte", "gt", "gte", "between", "in", "exists"],
  date: ["eq", "ne", "lt", "lte", "gt", "gte", "between", "in", "exists", "beginsWith"],
  boolean: ["eq", "ne", "in", "exists"],
  choice: ["eq", "ne", "in", "exists"],
  choices: ["eq", "ne", "contains", "exists"],
  reference: ["eq", "ne", "in", "exists"],
};

/** A table, and what lets the stream's processor come to rest, told of changes twice, late and in any order, and killed. */
const openTable = async (random: Random, shards: number, storage: Storage) => {
  if (storage === "items") {
    const db = graphOf(engine.freshTableName("grid-oracle"), shards, storage).connect({ transport: engine.transport });
    await db.table.create();
    const settle = async (users: Promise<unknown>): Promise<void> => void (await users);
    return { db, settle, stop: () => Promise.resolve() };
  }
  const { db, lab } = await openFactsLab((table) => graphOf(table, shards, storage));
  const settle = async (users: Promise<unknown>): Promise<void> => {
    const delivered = deliver({ random, catalog: db.catalog, transport: lab.engine.transport, take: () => lab.take(), users });
    await users;
    expect((await delivered).ended, "the processors never come to rest").toBe(true);
  };
  return { db, settle, stop: () => lab.stop() };
};

const open = async (seed: number, storage: Storage) => {
  const random = seededRandom(seed);
  const below = (most: number): number => Math.floor(random() * most);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const { db, settle, stop } = await openTable(random, pick([1, 1, 3]), storage);
  const parent = { projectId: "P#1" };
  // Another parent with the same fields: none of its rows may ever be seen.
  const other = { projectId: "P" };
  const rows: NaiveRow[] = [];
  for (const project of [parent, other]) {
    await db.project.create(project).orThrow();
    for (const field of definitions) await db.issue.fields(project).define(field);
  }
  const add = async (at: number): Promise<void> => {
    const estimate = pick([undefined, 1, 2, 0.5]);
    const row = {
      issueId: `i${at}`,
      num: below(20),
      name: pick(["a", "b", "B", "c#"]),
      state: pick(["open", "closed"]),
      ...(estimate === undefined ? {} : { estimate }),
    };
    await db.issue.create({ ...row, ...parent }).orThrow();
    rows.push({ ...row, values: new Map() });
  };
  const stranger = async (at: number): Promise<void> => {
    await db.issue.create({ issueId: `x${at}`, ...other, num: at, name: "a", state: "open" }).orThrow();
    await db.issue.values({ issueId: `x${at}` }).set({ number: 1, bytes: "a", size: "small" });
  };
  await Promise.all([...Array.from({ length: pick([30, 90]) }, (_, at) => add(at)), stranger(1), stranger(2)]);
  rows.sort((a, b) => (a.issueId < b.issueId ? -1 : 1));
  return { db, settle, stop, parent, rows, below, pick };
};
type Lab = Awaited<ReturnType<typeof open>>;

const write = async ({ db, pick, below }: Lab, fields: readonly NaiveField[], row: NaiveRow): Promise<void> => {
  const given: Record<string, FieldInput> = {};
  for (let some = 1 + below(4); some > 0; some--) {
    const field = pick(fields);
    given[field.fieldId] = below(5) === 0 ? null : pick(fittingValues(field));
  }
  expect(await db.issue.values({ issueId: row.issueId }).set(given)).toMatchObject({ ok: true });
  for (const [fieldId, value] of Object.entries(given)) {
    if (value === null) row.values.delete(fieldId);
    else row.values.set(fieldId, value);
  }
};

const filterOf = ({ pick, below }: Lab, fields: readonly NaiveField[]): NaiveFilter => {
  if (below(4) === 0) {
    const comparison = pick(["eq", "ne", "lt", "lte", "gt", "gte", "between"]);
    const attribute = pick(["state", "num", "name", "estimate"]);
    const values: readonly (string | number)[] =
      { state: ["open", "closed"], num: [0, 3, 10, 19], name: ["a", "b", "B", "c#"], estimate: [1, 0.5] }[attribute] ?? [];
    return { column: attribute, operator: comparison, operand: comparison === "between" ? [pick(values), pick(values)] : pick(values) };
  }
  const field = pick(fields);
  const column = `field:${field.fieldId}`;
  const operator = pick(OPERATORS[field.type] ?? []);
  const letters = (value: unknown): unknown =>
    field.letters ? String(value).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase() : value;
  const one = (): unknown => letters(pick(fittingValues(field)));
  const operand =
    operator === "exists"
      ? pick([true, false])
      : operator === "in" || operator === "between"
        ? [one(), one()]
        : operator === "contains" && field.type === "choices"
          ? pick(choices)
          : operator === "beginsWith" && field.type === "date"
            ? "2023-05"
            : one();
  return { column, operator, operand };
};

const conditionOf = (lab: Lab, fields: readonly NaiveField[], depth = 0): NaiveCondition => {
  const { below } = lab;
  const some = (): readonly NaiveCondition[] => Array.from({ length: 1 + below(3) }, () => conditionOf(lab, fields, depth + 1)).slice(0, 3);
  const kind = depth < 2 ? below(6) : 5;
  return kind === 0 ? { or: some() } : kind === 1 ? { not: some() } : filterOf(lab, fields);
};

const askOf = (lab: Lab, fields: readonly NaiveField[]): NaiveAsk => {
  const { pick, below } = lab;
  const filters = Array.from({ length: pick([0, 0, 1, 1, 2]) }, () => conditionOf(lab, fields));
  const columns = ["num", "name", "estimate", ...fields.map(({ fieldId }) => `field:${fieldId}`)];
  const first = pick(columns);
  const second = pick(columns);
  const sort = [first, ...(second === first ? [] : [second])].slice(0, below(3)).map((column) => ({ column, descending: below(2) === 0 }));
  return { sort, filters, empties: pick(["last", "first", "without"]) };
};

// Two conditions on one column, in one object, would be one.
const whereOf = (conditions: readonly NaiveCondition[]): object => {
  const given = conditions.map((one): object => {
    if ("or" in one) return { or: one.or.map((each) => whereOf([each])) };
    if ("not" in one) return { not: whereOf(one.not) };
    return { [one.column]: { [one.operator]: one.operand } };
  });
  if (given.length === 1) return given[0] ?? {};
  // All of them hold if none of their opposites does.
  return { not: { or: given.map((each) => ({ not: each })) } };
};

const gridOf = ({ db, parent }: Lab, { sort, filters, empties }: NaiveAsk) => {
  let grid = db.issue.grid(parent).empties(empties);
  for (const filter of filters) grid = grid.where(whereOf([filter]) as never);
  for (const { column, descending } of sort) grid = grid.sort(column as "num", descending ? "desc" : "asc");
  return grid;
};

const ids = (items: readonly GridRow<{ readonly issueId: string }>[]): readonly string[] => items.map(({ row }) => row.issueId);

const seed = testSeed();

const cases = Array.from({ length: testRuns(1) }, (_, at) =>
  (["items", "document"] as const).map((storage) => [storage, seed + at] as const),
);

test.each(cases.flat())(
  "grids are as the naive one says, with values in %s (seed %i)",
  async (storage, own) => {
    const lab = await open(own, storage);
    const { db, settle, parent, rows, pick, below } = lab;
    onTestFinished(lab.stop);
    let fields = definitions.map(naiveField);
    for (let round = 0; round < 3; round++) {
      // Two writers at once, each with rows of its own.
      const half = (part: number) => rows.filter((_, at) => at % 2 === part);
      await settle(
        Promise.all(
          [0, 1].map(async (part) => {
            for (let some = 0; some < 12; some++) await write(lab, fields, pick(half(part)));
          }),
        ),
      );
      const change = async (): Promise<void> => {
        await db.issue.fields(parent).retype("size", { type: "choice", choices: choices.toReversed() }, { indexLag: 0 });
        fields = fields.map((field) => (field.fieldId === "size" ? { ...field, choices: choices.toReversed() } : field));
        await db.issue.fields(parent).delete("flag", { indexLag: 0 });
        fields = fields.filter(({ fieldId }) => fieldId !== "flag");
        for (const row of rows) row.values.delete("flag");
      };
      if (round === 1) await settle(change());
      const context = (ask: NaiveAsk): string => JSON.stringify({ own, round, ask });
      for (let asked = 0; asked < 8; asked++) {
        const ask = askOf(lab, fields);
        const expected = naiveAnswer(fields, rows, ask);
        const grid = gridOf(lab, ask);
        const whole = await grid.page({ limit: 100 });
        expect(ids(whole.items), context(ask)).toEqual(expected);
        for (const { row, cells } of whole.items)
          expect(Object.fromEntries(Object.entries(cells).map(([fieldId, cell]) => [fieldId, cell.value]))).toEqual(
            Object.fromEntries(rows.find(({ issueId }) => issueId === row.issueId)?.values ?? []),
          );
        expect(await grid.count(), context(ask)).toEqual({
          rows: expected.length,
          stopped: undefined,
        });
        const column = pick(["state", "num", "estimate", ...fields.map(({ fieldId }) => `field:${fieldId}`)]);
        const { groups } = await grid.groups(column as "num");
        const counted = groups.map((group) => [naiveRank(fields, column, group.value), group.rows]);
        expect(counted, `${context(ask)} by ${column}`).toEqual(naiveGroups(fields, rows, { ...ask, column }));
        const forward: string[] = [];
        let page = await grid.page({ limit: 1 + below(12) });
        for (forward.push(...ids(page.items)); page.next !== undefined; forward.push(...ids(page.items))) {
          const budget = below(3) === 0 ? { requests: 6 } : {};
          page = await grid.page({ limit: 1 + below(12), cursor: page.next, budget });
        }
        expect(forward, context(ask)).toEqual(expected);
        const backward = [...ids(page.items)];
        while (page.previous !== undefined) {
          page = await grid.page({ limit: 1 + below(12), cursor: page.previous });
          backward.unshift(...ids(page.items));
        }
        expect(backward, context(ask)).toEqual(expected);
      }
      // Rows are changed between pages: those that are not come once.
      const column = { column: "field:number", descending: below(2) === 0 };
      const ask: NaiveAsk = {
        sort: pick([[column], [column, { column: "name", descending: below(2) === 0 }]]),
        filters: [],
        empties: "last",
      };
      const changing = rows.filter(() => below(3) === 0);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await gridOf(lab, ask).page({ limit: 4, cursor });
        seen.push(...ids(page.items));
        for (const row of changing.slice(0, 3)) {
          const value = pick([1, 5, -3, 7]);
          await db.issue.values({ issueId: row.issueId }).set({ number: value });
          row.values.set("number", value);
        }
        cursor = page.next;
      } while (cursor !== undefined);
      const still = rows.filter((row) => !changing.includes(row)).map(({ issueId }) => issueId);
      expect(seen.filter((issueId) => still.includes(issueId)).toSorted(), context(ask)).toEqual(still.toSorted());
    }
  },
  120_000,
);
