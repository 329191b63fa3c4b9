import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node, part } from "../schema/definition.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const kept = { onDelete: { from: "cascade", to: "cascade" } } as const;
const schema = z.object({ id: z.string(), n: z.int(), parentId: z.string().optional() });
const attributes = z.object({ w: z.int(), k: z.string() });

const relabelled = z.object({ w: z.int(), label: z.string() });

interface Definitions {
  readonly a?: object;
  readonly e?: object;
  readonly nodes?: object;
  readonly edges?: object;
  readonly parts?: object;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
const connectTo = ({ a = {}, e = {}, nodes = {}, edges, parts = {} }: Definitions): any =>
  defineGraph({
    table: lab.table,
    nodes: { a: node({ key: "A#{id}", schema, ...a }), b: node({ key: "B#{id}", schema }), ...nodes },
    edges: edges ?? { e: edge({ from: "a", to: "a", schema: attributes, ...kept, ...e } as never) },
    parts,
  } as never).connect({ transport: lab.engine.transport });

const sided = (from: readonly string[], to: readonly string[]) => ({ stored: "twice", sides: { from, to } });
const note = (key: string, given: object = {}) => part({ of: "a", key, schema: z.object({ n: z.int() }), ...given } as never);
const one = { multiplicity: "many-to-one" };

/** docs/migrations.md, "Changes of a definition": what a migration does with each. */
const changes: Readonly<
  Record<
    string,
    readonly [Definitions, Definitions, "migrated" | "nothing" | (string & {}), { readonly left?: string; readonly notes?: string }?]
  >
> = {
  "once to twice": [{}, { e: { stored: "twice" } }, 'Edges of "e" are stored once, and the model stores them twice'],
  "once to symmetric": [{}, { e: { symmetric: true } }, 'Edges of "e" are stored once, and the model stores them without direction'],
  "symmetric to once": [{ e: { symmetric: true } }, {}, 'Edges of "e" are stored without direction'],
  "symmetric to twice": [{ e: { symmetric: true } }, { e: { stored: "twice" } }, 'Edges of "e" are stored without direction'],
  "twice to symmetric": [{ e: { stored: "twice" } }, { e: { symmetric: true } }, 'Edges of "e" are stored twice'],
  "twice to once": [
    { e: { stored: "twice" } },
    {},
    "migrated",
    { left: "unclaimed", notes: 'The second copies of "e" are no longer needed' },
  ],
  "once to reference": [
    { e: one },
    { edges: { e: edge({ from: "a", to: "a", stored: "reference", by: { id: "parentId" }, ...one } as never) } },
    'Edges of "e" are stored once, and the model stores them in the items of their sources',
  ],
  "more in a side": [{ e: sided(["w"], ["k"]) }, { e: { stored: "twice" } }, '"e" holds "w" and nothing else'],
  "less in a side": [{ e: { stored: "twice" } }, { e: sided(["w", "k"], ["k"]) }, "nothing"],
  "an edge key": [{}, { e: { key: ["w"] } }, 'The key of "e" changes'],
  "no edge key": [{ e: { key: ["w"] } }, {}, 'The key of "e" changes'],
  "an end more": [{}, { e: { to: ["a", "b"] } }, "migrated"],
  "an end less": [{ e: { to: ["a", "b"] } }, {}, "nothing", { notes: 'The model has no "e(a>b)"' }],
  "an end more and an edge key": [{}, { e: { to: ["a", "b"], key: ["w"] } }, 'The key of "e(a>a)" changes'],
  "an end less and an edge key": [{ e: { to: ["a", "b"] } }, { e: { key: ["w"] } }, 'The key of "e" changes'],
  "an end more and an order": [{}, { e: { to: ["a", "b"], orderBy: "w:number" } }, 'The keys of "e(a>a)" in "reverse" change'],
  "an end more and more in a side": [
    { e: sided(["w"], ["k"]) },
    { e: { stored: "twice", to: ["a", "b"] } },
    '"e(a>a)" holds "w" and nothing else',
  ],
  "an end more and a new name": [
    {},
    { e: { to: ["a", "b"], schema: relabelled, renamed: { label: { from: "k", stored: "new" } } } },
    '"label" of "e" would be stored under its new name',
  ],
  "other ends": [{}, { e: { from: "b" } }, 'The key of "e" changes'],
  "an order": [{ e: { stored: "twice" } }, { e: { stored: "twice", orderBy: "w:number" } }, "migrated"],
  mirror: [{}, { a: { mirror: true } }, "migrated"],
  "a degree limit": [{}, { e: { maxDegree: { to: 9 } } }, "migrated"],
  "a multiplicity": [{}, { e: one }, "migrated"],
  restrict: [{}, { e: { onDelete: { from: "cascade", to: "restrict" } } }, "migrated"],
  versions: [{}, { a: { version: true }, e: { version: true } }, "nothing"],
  "a node's key": [{}, { a: { key: "AA#{id}" } }, 'The key of "a" changes'],
  "a node's id": [{}, { a: { key: "A#{n:3}" } }, 'The key of "a" changes'],
  "a part's key": [{ parts: { note: note("N#{n:3}") } }, { parts: { note: note("N#{n:4}") } }, 'The key of "note" changes'],
  "part to node": [
    { parts: { note: note("N#{n:3}") } },
    { nodes: { note: node({ key: "N#{n:3}", schema: z.object({ n: z.int() }) }) } },
    'The key of "note" changes',
  ],
  "part to part of another node": [
    { parts: { note: note("N#{n:3}") } },
    { parts: { note: note("N#{n:3}", { of: "b" }) } },
    'The key of "note" changes',
  ],
};

for (const [name, [before, after, becomes, { left, notes = "" } = {}]] of Object.entries(changes))
  test(`a change of a definition: ${name}`, async () => {
    const old = connectTo(before);
    const several = before.e !== undefined && "to" in before.e;
    await old.table.create();
    for (let at = 0; at < 4; at++) await old.a.create({ id: `n${at}`, n: at }).orThrow();
    for (let at = 1; at < 4; at++)
      await old.e.link({ id: `n${at}` }, several ? { type: "a", id: "n0" } : { id: "n0" }, { w: at, k: `${at}` }).orThrow();
    const db = connectTo(after);
    const plan = await db.migrations.plan();
    if (becomes !== "migrated" && becomes !== "nothing") {
      expect(plan.refusals.join(" ")).toContain(becomes);
      await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({ code: "migrate.unsupported" });
      return;
    }
    expect(plan.refusals).toEqual([]);
    expect(plan.notes.join(" ")).toContain(notes);
    expect(plan.steps.every(({ kind }: { kind: string }) => kind === "record")).toBe(becomes === "nothing");
    expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
    expect((await db.a({ id: "n0" }).in("e").edges()).map(({ w, k }: { w: number; k: string }) => w ?? Number(k)).toSorted()).toEqual([
      1, 2, 3,
    ]);
    expect(await db.a({ id: "n1" }).out("e").count()).toBe(1);
    expect((await verify(db, { settle: 1 })).kinds.map(({ kind }) => kind)).toEqual(left === undefined ? [] : [left]);
  });

test("a kind that the model drops stays with its keys, and the plan says so", async () => {
  const old = connectTo({});
  await old.table.create();
  for (const id of ["x", "y"]) await old.a.create({ id, n: 1 }).orThrow();
  await old.e.link({ id: "y" }, { id: "x" }, { w: 1, k: "1" }).orThrow();
  const db = connectTo({ edges: { f: edge({ from: "a", to: "a", ...kept }) } });
  const plan = await db.migrations.plan();
  expect(
    plan.steps.flatMap((one: { entries?: readonly { shapes: readonly string[] }[] }) => one.entries?.flatMap(({ shapes }) => shapes) ?? []),
  ).toEqual(["f"]);
  expect(plan.notes.join(" ")).toContain('The model has no "e": its items stay, with their keys in "reverse".');
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 0 });
  expect(await old.a({ id: "x" }).in("e").count()).toBe(1);
});

test("unique values of existing nodes are reserved, and duplicates are named", async () => {
  const old = connectTo({});
  await old.table.create();
  for (const [id, n] of [
    ["x", 1],
    ["y", 2],
    ["z", 2],
    ["u", 3],
  ] as const)
    await old.a.create({ id, n }).orThrow();
  const db = connectTo({ a: { unique: ["n"] } });
  expect((await db.migrations.plan()).steps).toMatchObject([{ kind: "reserve", attributes: ["a.n"] }, { kind: "record" }]);
  expect(await db.migrations.run({ ...fast, dryRun: true })).toMatchObject({ complete: false, changed: 4 });
  await expect(db.migrations.run(fast)).rejects.toMatchObject({
    code: "migrate.duplicates",
    details: { items: 1, first: [{ definition: "a", attribute: "n", problem: "duplicate" }] },
  });
  await old.a.update({ id: "y" }, { n: 4 }).orThrow();
  // What a program of the older model writes has no marker, and its old value keeps one.
  await old.a.create({ id: "v", n: 5 }).orThrow();
  await old.a.update({ id: "u" }, { n: 6 }).orThrow();
  expect(await db.migrations.run(fast)).toMatchObject({ complete: false });
  await old.a.create({ id: "w", n: 7 }).orThrow();
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  for (const n of [1, 2, 4, 5, 6, 7]) expect(await db.a.create({ id: "new", n })).toMatchObject({ ok: false, reason: "notUnique" });
  expect(await db.a.create({ id: "new", n: 3 })).toMatchObject({ ok: true });
  expect((await verify(db, { settle: 1 })).kinds).toEqual([]);
  expect((await db.migrations.plan()).steps).toEqual([]);
});

test("an attribute of an edge is converted to its new name, though the edge gets another type at its end", async () => {
  const old = connectTo({});
  await old.table.create();
  for (const id of ["x", "y"]) await old.a.create({ id, n: 1 }).orThrow();
  await old.e.link({ id: "y" }, { id: "x" }, { w: 1, k: "one" }).orThrow();
  await connectTo({ e: { schema: relabelled, renamed: { label: "k" } } }).migrations.run({ ...fast, finish: true });
  const ends = { to: ["a", "b"], schema: relabelled } as const;
  const [last, next] = [connectTo({ e: ends }), connectTo({ e: { ...ends, renamed: { label: { from: "k", stored: "new" } } } })];
  expect((await last.migrations.plan()).refusals).toEqual([expect.stringContaining('Items of "e" hold "label" as "k"')]);
  expect(await next.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 1 });
  expect(await last.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await last.a({ id: "y" }).out("e").edges()).toMatchObject([{ label: "one" }]);
  await expect(connectTo({}).table.create()).rejects.toMatchObject({ code: "plan.unreadForm" });
});

test("another name of a node or a part under the same key is refused: items hold the name", async () => {
  const old = connectTo({ nodes: { dog: node({ key: "D#{id}", schema }) }, parts: { note: note("N#{n:3}") } });
  await old.table.create();
  await old.dog.create({ id: "x", n: 1 }).orThrow();
  const db = connectTo({ nodes: { hound: node({ key: "D#{id}", schema }) }, parts: { remark: note("N#{n:3}") } });
  expect(await db.hound.get({ id: "x" })).toBeUndefined();
  const { refusals } = await db.migrations.plan();
  expect(refusals.join(" ")).toMatch(/"hound" has the key that "dog".*"remark" has the key that "note"/);
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({ code: "migrate.unsupported" });
});
