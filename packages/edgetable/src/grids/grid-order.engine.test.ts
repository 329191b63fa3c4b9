import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const parent = { projectId: "p" };
const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("grid-order"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text, state: text, due: z.date().optional() }),
        dates: ["due"],
        fields: { of: "project", orderBy: "num:6", sortable: ["name", "due:date"] },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  // The first page of a table stores the secret of its cursors.
  await db.issue.grid(parent).page();
  return db;
};
type Lab = Awaited<ReturnType<typeof open>>;

const load = (db: Lab, rows: readonly object[]) => db.load(rows.map((row) => ({ node: "issue", row: { ...parent, ...row } })) as never);
const numbers = (page: { readonly items: readonly { readonly row: { readonly num: number } }[] }) => page.items.map(({ row }) => row.num);

const day = (at: number): Date => new Date(Date.UTC(2026, 0, 1 + at));

test("rows with equal values are sorted by a second column, within one index", async () => {
  const db = await open();
  const rank = await db.issue.fields(parent).define({ name: "Rank", type: "number" });
  const rows = ["b", "a", "b", "a", "c", "b"].map((name, num) => ({ issueId: `i${num}`, num, name, state: "open", due: day(5 - num) }));
  await load(db, rows);
  for (const [num, value] of [2, 1, 1, 3].entries()) await db.issue.values({ issueId: `i${num}` }).set({ [rank.fieldId]: value });
  const column = `field:${rank.fieldId}` as const;
  const grid = db.issue.grid(parent);

  const byName = grid.sort("name").sort(column, "desc");
  const { value, requests } = await byName.page({ limit: 5 }).report();
  expect(numbers(value)).toEqual([3, 1, 0, 2, 5]);
  expect(requests.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "BatchGetItem"]);
  expect(numbers(await byName.page({ limit: 5, cursor: value.next }))).toEqual([4]);
  expect(numbers(await byName.empties("first").page())).toEqual([3, 1, 5, 0, 2, 4]);
  expect(numbers(await byName.empties("without").page())).toEqual([3, 1, 0, 2]);
  expect(numbers(await grid.sort("name", "desc").sort("due").page())).toEqual([4, 5, 2, 0, 3, 1]);
  expect(numbers(await grid.sort(column).sort("due").page())).toEqual([2, 1, 0, 3, 5, 4]);
  expect((await byName.page().explain()).notes.join()).toContain('reads the rows with one "name" as a whole');
  await expect(grid.sort("name").sort("name").page()).rejects.toMatchObject({ code: "plan.invalidOption" });
  await expect(byName.sort("due").page()).rejects.toMatchObject({ code: "plan.invalidOption" });
});

test("a value that more than a thousand rows share is read by the order of the second column", async () => {
  const db = await open();
  const many = 1100;
  const rows = Array.from({ length: many + 40 }, (_, num) => ({
    issueId: `i${num}`,
    num,
    name: num < 20 ? "a" : num < many + 20 ? "b" : "c",
    state: num % 2 === 0 ? "open" : "closed",
    ...(num % 11 === 0 ? {} : { due: day((num * 7) % 1009) }),
  }));
  await load(db, rows);
  const time = (row: { readonly due?: Date }) => row.due?.getTime() ?? Infinity;
  for (const direction of ["asc", "desc"] as const) {
    const turned = direction === "asc" ? 1 : -1;
    const expected = rows
      .filter(({ state }) => state === "open")
      .toSorted((a, b) => {
        if (a.name !== b.name) return turned * (a.name < b.name ? -1 : 1);
        return time(a) - time(b) || a.num - b.num;
      })
      .map(({ num }) => num);
    const grid = db.issue.grid(parent).where({ state: "open" }).sort("name", direction).sort("due");
    const forward: number[] = [];
    let page = await grid.page({ limit: 90 });
    for (forward.push(...numbers(page)); page.next !== undefined; forward.push(...numbers(page)))
      page = await grid.page({ limit: 90, cursor: page.next });
    expect(forward).toEqual(expected);
    const backward = numbers(page);
    while (page.previous !== undefined) {
      page = await grid.page({ limit: 170, cursor: page.previous });
      backward.unshift(...numbers(page));
    }
    expect(backward).toEqual(expected);
  }
});

test("filters take or and not, of attributes and fields", async () => {
  const db = await open();
  const fields = db.issue.fields(parent);
  const size = await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] });
  await load(
    db,
    ["a", "b", "c", "d"].map((name, num) => ({ issueId: `i${num}`, num, name, state: num < 2 ? "open" : "closed" })),
  );
  await db.issue.values({ issueId: "i0" }).set({ [size.fieldId]: "small" });
  await db.issue.values({ issueId: "i3" }).set({ [size.fieldId]: "large" });
  const column = `field:${size.fieldId}` as const;
  const grid = db.issue.grid(parent);
  expect(numbers(await grid.where({ or: [{ name: "b" }, { [column]: "large" }] }).page())).toEqual([1, 3]);
  expect(numbers(await grid.where({ state: "open", not: { [column]: { exists: true } } }).page())).toEqual([1]);
  expect(numbers(await grid.where({ not: { or: [{ state: "open" }, { [column]: "large" }] } }).page())).toEqual([2]);
  await expect(grid.where({ or: [{ [column]: "huge" }] }).page()).rejects.toMatchObject({ code: "grid.invalidFilter" });
  await expect(grid.where({ or: [{ [column]: { gt: "small" } }] }).page()).rejects.toMatchObject({ code: "grid.invalidFilter" });
  await expect(grid.where({ or: [] }).page()).rejects.toMatchObject({ code: "plan.invalidOption" });
  expect(
    (
      await grid
        .where({ or: [{ name: "b" }, { [column]: "large" }] })
        .page()
        .explain()
    ).notes.join(),
  ).toContain(`or and not of name, ${column}`);
});

test("a row of many fields is read by a Query of its values", async () => {
  const db = await open();
  const fields = db.issue.fields(parent);
  for (let at = 0; at < 25; at++) await fields.define({ fieldId: `n${at}`, name: `Number ${at}`, type: "number" });
  await load(
    db,
    [0, 1].map((num) => ({ issueId: `i${num}`, num, name: "a", state: "open" })),
  );
  await db.issue.values({ issueId: "i1" }).set({ n3: 3, n24: 24 });
  const { value, requests } = await db.issue.grid(parent).page().report();
  expect(value.items.map(({ cells }) => Object.keys(cells))).toEqual([[], ["n3", "n24"]]);
  expect(requests.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "BatchGetItem", "Query", "Query"]);
  const few = await db.issue.grid(parent).columns("num", "field:n3").page().report();
  expect(few.requests.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "BatchGetItem"]);
  expect(await db.issue.values({ issueId: "i1" }).get()).toEqual({ n3: { type: "number", value: 3 }, n24: { type: "number", value: 24 } });
});

test("rows are counted, and counted by the values of a column", async () => {
  const db = await open();
  const fields = db.issue.fields(parent);
  const size = await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] });
  const note = await fields.define({ name: "Note", type: "text", order: "letters" });
  await load(
    db,
    ["a", "b", "c", "d", "e"].map((name, num) => ({ issueId: `i${num}`, num, name, state: num < 2 ? "open" : "closed" })),
  );
  for (const [num, value] of ["large", "small", "large"].entries())
    await db.issue.values({ issueId: `i${num}` }).set({ [size.fieldId]: value, [note.fieldId]: ["Été", "ETE", "b#"][num] ?? "" });
  const [bySize, byNote] = [`field:${size.fieldId}` as const, `field:${note.fieldId}` as const];
  const grid = db.issue.grid(parent);
  const operations = ({ requests }: { readonly requests: readonly { readonly operation: string }[] }) =>
    requests.map((one) => one.operation);

  const count = await grid.count().report();
  expect(count.value).toEqual({ rows: 5, stopped: undefined });
  expect(operations(count)).toEqual(["BatchGetItem", "Query"]);
  const groups = await grid.groups(bySize).report();
  expect(groups.value).toEqual({
    groups: [
      { value: "small", rows: 1 },
      { value: "large", rows: 2 },
      { value: undefined, rows: 2 },
    ],
    stopped: undefined,
  });
  expect(operations(groups)).toEqual(["BatchGetItem", "Query", "BatchGetItem", "Query"]);
  expect((await grid.groups(byNote)).groups).toMatchObject([{ value: "b#", rows: 1 }, { rows: 2 }, { value: undefined, rows: 2 }]);
  expect((await grid.groups("state")).groups).toEqual([
    { value: "closed", rows: 3 },
    { value: "open", rows: 2 },
  ]);
  const opened = grid.where({ state: "open" });
  expect(await opened.count()).toEqual({ rows: 2, stopped: undefined });
  expect((await opened.groups(bySize)).groups).toEqual([
    { value: "small", rows: 1 },
    { value: "large", rows: 1 },
  ]);
  expect(await grid.where({ [bySize]: "large" }).count()).toEqual({ rows: 2, stopped: undefined });
  expect(await grid.sort(bySize).empties("without").count()).toEqual({ rows: 3, stopped: undefined });
  expect((await grid.groups(bySize).explain()).notes.join()).toContain("counts in the index");
  expect(await grid.where({ state: "open" }).count({ budget: { requests: 4 } })).toEqual({ rows: 2, stopped: undefined });
  await expect(grid.groups("field:none")).rejects.toMatchObject({ code: "grid.unknownField" });
  await expect(grid.groups("nothing" as never)).rejects.toMatchObject({ code: "grid.unknownColumn" });
});

test("a count that its budget ends says so", async () => {
  const db = await open();
  await load(
    db,
    Array.from({ length: 300 }, (_, num) => ({ issueId: `i${num}`, num, name: "a", state: num < 100 ? "open" : "closed" })),
  );
  const { rows, stopped } = await db.issue
    .grid(parent)
    .where({ state: "open" })
    .count({ budget: { requests: 4 } });
  expect(stopped).toBe("requests");
  expect(rows).toBeLessThanOrEqual(100);
  expect(await db.issue.grid(parent).where({ state: "open" }).count()).toEqual({ rows: 100, stopped: undefined });
});

test("conditions on attributes narrow what is read where an index orders them", async () => {
  const db = await open();
  const many = 1200;
  const rows = Array.from({ length: many }, (_, num) => ({
    issueId: `i${num}`,
    num,
    name: `n${String(num % 600).padStart(3, "0")}`,
    state: num === 1100 ? "rare" : "open",
  }));
  await load(db, rows);
  const grid = db.issue.grid(parent);
  const operations = ({ requests }: { readonly requests: readonly { readonly operation: string }[] }) =>
    requests.map((one) => one.operation).join(" ");
  // The order itself: the Query begins where the condition does.
  const deep = await grid
    .where({ num: { gte: 1150, lt: 1160 } })
    .page({ limit: 50 })
    .report();
  expect(numbers(deep.value)).toEqual([1150, 1151, 1152, 1153, 1154, 1155, 1156, 1157, 1158, 1159]);
  expect(operations(deep)).toBe("BatchGetItem Query BatchGetItem");
  expect(deep.value.next).toBeUndefined();
  const descending = grid.where({ num: { lte: 2 } }).sort("num", "desc");
  expect(numbers(await descending.page())).toEqual([2, 1, 0]);
  expect(await grid.where({ num: { between: [3, 7] } }).count()).toEqual({ rows: 5, stopped: undefined });
  expect(numbers(await grid.where({ num: { gt: 7, lt: 3 } }).page())).toEqual([]);
  // Another attribute that an index orders: 50 rows in the order, then those that its index finds.
  const named = await grid.where({ name: "n590" }).page().report();
  expect(numbers(named.value)).toEqual([590, 1190]);
  expect(operations(named)).toBe("BatchGetItem Query BatchGetItem Query BatchGetItem");
  expect((await grid.where({ name: "n590" }).page().explain()).notes.join()).toContain("the index of name");
});

test("an operand that no key of the index holds narrows nothing, and each row is checked", async () => {
  const db = await open();
  const rows = Array.from({ length: 6 }, (_, num) => ({ issueId: `i${num}`, num, name: num % 2 === 0 ? "a" : `n${num}`, state: "open" }));
  await load(db, rows);
  const all = [0, 1, 2, 3, 4, 5];
  const cases: readonly (readonly [object, readonly number[]])[] = [
    [{ num: "x" }, []],
    [{ num: 1.5 }, []],
    [{ num: { gte: 1.5 } }, [2, 3, 4, 5]],
    [{ num: { gt: -5, lt: 1e9 } }, all],
    [{ num: { gt: 1e9 } }, []],
    [{ num: { beginsWith: "0" } }, []],
    [{ num: { eq: 2, gt: 1 } }, [2]],
    [{ num: { eq: 2, gt: 2 } }, []],
    [{ name: 5 }, []],
    [{ name: "" }, []],
    [{ name: { gte: "" } }, all],
    [{ name: { beginsWith: "" } }, all],
    [{ name: { beginsWith: "n", gt: "n1" } }, [3, 5]],
  ];
  for (const [where, expected] of cases)
    for (const column of [undefined, "num", "name"] as const) {
      const grid = db.issue.grid(parent).where(where as never);
      const page = await (column === undefined ? grid : grid.sort(column)).page();
      const found = numbers(page);
      expect(column === "name" ? found.toSorted() : found, JSON.stringify([where, column])).toEqual(expected);
    }
});

test("where no index finds the few rows that pass, a page takes its budget and no more, says so, and leads on", async () => {
  const db = await open();
  const fields = db.issue.fields(parent);
  const size = await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] });
  const column = `field:${size.fieldId}` as const;
  const many = 900;
  const rows = Array.from({ length: many }, (_, num) => ({
    issueId: `i${num}`,
    num,
    name: num % 2 === 0 ? "a" : "b",
    state: num % 300 === 299 ? "rare" : "open",
    ...(num % 3 === 0 ? {} : { due: day(num) }),
  }));
  await load(db, rows);
  for (const { issueId, num } of rows.filter((row) => row.num !== 250))
    if (num < 300) await db.issue.values({ issueId }).set({ [column.slice(6)]: "small" });
  const rare = { state: "rare" } as const;
  const cases = [
    { grid: db.issue.grid(parent).where(rare), expected: [299, 599, 899] },
    { grid: db.issue.grid(parent).where(rare).sort("name").sort("due"), expected: [299, 599, 899] },
    // Nearly all of the first 300 rows have a value.
    { grid: db.issue.grid(parent).where({ [column]: { exists: false }, num: { lt: 300 } }), expected: [250] },
    {
      grid: db.issue
        .grid(parent)
        .where({ num: { lt: 300 } })
        .sort(column)
        .empties("first"),
      expected: [250],
      first: 1,
    },
  ];
  for (const { grid, expected, first } of cases) {
    const found: number[] = [];
    let stops = 0;
    const isEnough = (): boolean => first !== undefined && found.length >= first;
    for (let cursor: string | undefined | null = null; cursor !== undefined && !isEnough();) {
      const from: string | undefined = cursor ?? undefined;
      const { value, requests } = await grid.page({ limit: 10, cursor: from, budget: { requests: 6 } }).report();
      expect(requests.length).toBeLessThanOrEqual(6);
      expect(value.stopped === undefined || value.next !== undefined).toBe(true);
      if (value.stopped) stops++;
      found.push(...numbers(value));
      cursor = value.next;
    }
    expect(found.slice(0, first)).toEqual(expected);
    if (first === undefined && expected.length === 3) expect(stops).toBeGreaterThan(0);
  }
});

test("rows that few filters let pass are found by a filter's own index, and sorted", async () => {
  const db = await open();
  const fields = db.issue.fields(parent);
  const [size, rank] = [
    await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] }),
    await fields.define({ name: "Rank", type: "number" }),
  ];
  const many = 1500;
  await load(
    db,
    Array.from({ length: many }, (_, num) => ({
      issueId: `i${num}`,
      num,
      name: `n${(num * 7) % many}`,
      state: num % 2 === 0 ? "open" : "closed",
    })),
  );
  const large = Array.from({ length: 30 }, (_, at) => at * 47 + 60);
  for (const num of large)
    await db.issue.values({ issueId: `i${num}` }).set({ [size.fieldId]: "large", ...(num % 3 > 0 ? { [rank.fieldId]: -num } : {}) });
  const grid = db.issue.grid(parent).where({ [`field:${size.fieldId}`]: "large", state: "open" });
  const expected = large.filter((num) => num % 2 === 0);
  const operations = ({ requests }: { readonly requests: readonly { readonly operation: string }[] }) =>
    requests.map((one) => one.operation).join(" ");

  const { value, requests } = await grid.sort("num", "desc").page({ limit: 10 }).report();
  expect(numbers(value)).toEqual(expected.toReversed().slice(0, 10));
  // The fields; 50 rows in the order, none of which passes; the 30 that the filter finds.
  expect(operations({ requests })).toBe("BatchGetItem Query BatchGetItem Query BatchGetItem BatchGetItem");
  const last = await grid.sort("num", "desc").page({ limit: 10, cursor: value.next });
  expect(numbers(last)).toEqual(expected.toReversed().slice(10));
  expect(last.next).toBeUndefined();
  expect(numbers(await grid.sort("num", "desc").page({ limit: 10, cursor: last.previous }))).toEqual(expected.toReversed().slice(0, 10));

  const ranked = grid.sort(`field:${rank.fieldId}`);
  const withRank = expected.filter((num) => num % 3 > 0).toReversed();
  const without = expected.filter((num) => num % 3 === 0);
  expect(numbers(await ranked.page())).toEqual([...withRank, ...without]);
  expect(numbers(await ranked.empties("first").page())).toEqual([...without, ...withRank]);
  expect((await ranked.page().explain()).notes.join()).toContain("few rows pass");
});

test("a grid is sorted by an attribute whose schema throws where the value is missing", async () => {
  // Zod hands on what a transform throws, also for undefined.
  const title = z.any().transform((value: string) => value.trim());
  const graph = defineGraph({
    table: engine.freshTableName("grid-throws"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), title }),
        fields: { of: "project", orderBy: "num:6", sortable: ["title"] },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  for (const [num, word] of ["b", "a"].entries()) await db.issue.create({ ...parent, issueId: `i${num}`, num, title: word }).orThrow();
  expect(numbers(await db.issue.grid(parent).sort("title").page())).toEqual([1, 0]);
});

test("rows whose attribute is null come where rows without a value do", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("grid-null"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text.nullable() }),
        fields: { of: "project", orderBy: "num:6", sortable: ["name"] },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  for (const [num, name] of ["b", null, "a"].entries()) await db.issue.create({ issueId: `i${num}`, ...parent, num, name }).orThrow();
  const grid = db.issue.grid(parent).sort("name");
  expect(numbers(await grid.page())).toEqual([2, 0, 1]);
  expect(numbers(await grid.empties("first").page())).toEqual([1, 2, 0]);
  expect(numbers(await grid.where({ name: null }).page())).toEqual([1]);
  expect(numbers(await grid.where({ name: { in: [null, "a"] } }).page())).toEqual([2, 1]);
});

test("texts that differ where their order ends are in order, and a range of them has all its rows", async () => {
  const db = await open();
  const { fieldId } = await db.issue.fields(parent).define({ name: "Remark", type: "text" });
  // An order takes 160 bytes: a character lies across the last of them, or ends or begins there.
  const ends = ["人", "😀", "", "人", "😀", "", "\u0080", "é", "人", "a", "xx"];
  const texts = [157, 157, 158, 158, 158, 159, 159, 159, 159, 160, 160].map((bytes, at) => "x".repeat(bytes) + (ends[at] ?? ""));
  await load(
    db,
    texts.map((_, num) => ({ issueId: `i${num}`, num, name: "a", state: "open" })),
  );
  for (const [num, value] of texts.entries()) await db.issue.values({ issueId: `i${num}` }).set({ [fieldId]: value });
  const column = `field:${fieldId}` as const;
  const grid = db.issue.grid(parent).sort(column);
  const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const shown = numbers(await grid.page()).map((num) => texts[num] ?? "");
  // Those that share what the order takes may come in any order.
  const distinct = texts.filter((one) => !one.startsWith("x".repeat(160)));
  expect(shown.filter((one) => distinct.includes(one))).toEqual(distinct.toSorted(order));
  for (const low of texts) {
    const above = texts.flatMap((one, num) => (order(one, low) >= 0 ? [num] : []));
    expect(numbers(await grid.where({ [column]: { gte: low } }).page()).toSorted((a, b) => a - b)).toEqual(above);
    for (const high of texts.filter((one) => order(low, one) <= 0)) {
      const within = texts.flatMap((one, num) => (order(one, low) >= 0 && order(one, high) <= 0 ? [num] : []));
      const page = await grid.where({ [column]: { between: [low, high] } }).page();
      expect(numbers(page).toSorted((a, b) => a - b)).toEqual(within);
    }
  }
});
