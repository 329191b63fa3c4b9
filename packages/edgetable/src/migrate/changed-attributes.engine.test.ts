import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node, part } from "../schema/definition.ts";
import { count } from "../schema/derived.ts";
import { verify } from "../verify/index.ts";
import type { Renaming, Retyping } from "../schema/former.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const id = z.string();
const digits: Retyping = { from: z.string().regex(/^\d+$/), with: Number, back: String };

/** Models of the same issues, which name or type one attribute otherwise. */
const model = (
  attributes: Readonly<Record<string, z.ZodType>>,
  former: { renamed?: Readonly<Record<string, Renaming>>; retyped?: Readonly<Record<string, Retyping>> } = {},
) =>
  defineGraph({
    table: lab.table,
    nodes: {
      issue: node({ key: "I#{id}", schema: z.object({ id, ...attributes }) as z.ZodObject<{ id: typeof id }>, ...(former as object) }),
    },
  }).connect({ transport: lab.engine.transport });

const named = {
  before: () => model({ name: id }),
  one: () => model({ title: id }, { renamed: { title: "name" } }),
  two: () => model({ title: id }, { renamed: { title: { from: "name", stored: "new" } } }),
  three: () => model({ title: id }),
};
const typed = {
  before: () => model({ prio: z.string() }),
  one: () => model({ prio: z.int() }, { retyped: { prio: digits } }),
  two: () => model({ prio: z.int() }, { retyped: { prio: { ...digits, stored: "new" } } }),
  three: () => model({ prio: z.int() }),
};

const begin = async (db: ReturnType<typeof model>, row: object): Promise<void> => {
  await db.table.create();
  await db.issue.put({ id: "1", ...row }).orThrow();
};
const finish = async (db: ReturnType<typeof model>, options: object = {}) => db.migrations.run({ ...fast, finish: true, ...options });

const UNSUPPORTED = "migrate.unsupported";

test("after a renaming has ended, the model from before it is refused, and the way back is told and works", async () => {
  for (const ended of [false, true]) {
    await lab.engine.transport.send("DeleteTable", { TableName: lab.table }).catch(() => undefined);
    await begin(named.before(), { name: "n" });
    await finish(named.one());
    await finish(named.two());
    if (ended) await finish(named.three());
    expect((await named.before().migrations.plan()).refusals).toEqual([
      'Items of "issue" hold "name" as "title": it was renamed. To go back, migrate with finish to the model with renamed: { title: "name" }, which stores the old name again, and then to this model. Or pass inPlace if "name" is now another attribute.',
    ]);
    await expect(finish(named.before())).rejects.toMatchObject({ code: UNSUPPORTED });
    expect(await finish(named.one())).toMatchObject({ complete: true, changed: 1 });
    expect(await finish(named.before())).toMatchObject({ complete: true });
    await named.before().table.create();
    expect(await named.before().issue.get({ id: "1" })).toEqual({ id: "1", name: "n" });
  }
});

test("after a retyping has ended, the model of the old type is refused, and the way back is told and works", async () => {
  await begin(typed.before(), { prio: "7" });
  await finish(typed.one());
  await finish(typed.two());
  expect((await typed.before().migrations.plan()).refusals).toEqual([
    'Items of "issue" hold "prio" in its new type (number), and the model says text. To go back, migrate with finish to the model with prio in retyped, which uses back to store the old type again, and then to this model. Or pass inPlace if no item holds the new type.',
  ]);
  await expect(finish(typed.before())).rejects.toMatchObject({ code: UNSUPPORTED });
  expect((await typed.three().migrations.plan()).refusals).toEqual([]);
  await finish(typed.one());
  await finish(typed.before(), { inPlace: true });
  expect(await typed.before().issue.get({ id: "1" })).toEqual({ id: "1", prio: "7" });
});

test("a plan notes attributes that existing rows lack or hold in another type", async () => {
  await begin(named.before(), { name: "n" });
  expect(await named.three().migrations.plan()).toMatchObject({
    refusals: [],
    notes: [expect.stringContaining('Existing rows of "issue" have no "title", which the schema requires') as string],
  });
  expect((await model({ name: id, title: id.optional() }).migrations.plan()).notes).toEqual([]);
  expect((await model({ name: id, title: id.default("") }).migrations.plan()).notes).toEqual([]);
  expect((await named.one().migrations.plan()).notes).toEqual([]);
  expect((await model({ name: z.int() }).migrations.plan()).notes).toEqual([
    expect.stringContaining('Rows of "issue" hold "name" as text, and the model says number'),
  ]);
  // A row may lack what was optional.
  await lab.engine.transport.send("DeleteTable", { TableName: lab.table });
  await begin(model({ name: id.optional() }), {});
  expect((await model({ name: id.default("") }).migrations.plan()).notes).toEqual([]);
  expect((await model({ name: id }).migrations.plan()).notes).toEqual([
    expect.stringContaining('Existing rows of "issue" may lack "name", which the schema now requires') as string,
  ]);
  await finish(model({ name: id, title: id.optional() }), { again: true });
  expect((await model({ name: id, title: id }).migrations.plan()).notes).toEqual([expect.stringContaining('may lack "title"') as string]);
  // Also once the retyping is forgotten.
  await lab.engine.transport.send("DeleteTable", { TableName: lab.table });
  await begin(typed.before(), { prio: "7" });
  for (const step of [typed.one, typed.two, typed.three]) {
    expect((await step().migrations.plan()).notes.filter((text) => !text.includes("again and finish"))).toEqual([]);
    await finish(step());
  }
  expect((await typed.before().migrations.plan()).notes).toEqual([
    expect.stringContaining('Rows of "issue" hold "prio" as number, and the model says text'),
  ]);
});

test("the plan of the last step says to look again for what programs from before a renaming wrote", async () => {
  await begin(named.before(), { name: "n" });
  await finish(named.one());
  await finish(named.two());
  expect((await named.three().migrations.plan()).notes).toEqual([
    expect.stringMatching(/"name".*run the migration to the recorded model with again and finish first/),
  ]);
});

test("what repeats or counts a retyped attribute is computed of its new values, and back", async () => {
  const connectTo = (prio: z.ZodType, retyped?: Retyping) => {
    const retyping = retyped ? { retyped: { prio: retyped } } : {};
    const schema = z.object({ id, prio });
    const restless = { onDelete: { from: "cascade", to: "cascade" } } as const;
    const derived = { urgent: count({ parts: "note", where: { prio: prio instanceof z.ZodString ? "7" : 7 } }) };
    // oxlint-disable-next-line typescript/no-explicit-any -- a model made of variable parts has no types
    return (defineGraph as any)({
      table: lab.table,
      nodes: { issue: node({ key: "I#{id}", schema, derived, ...retyping } as never) },
      edges: { blocks: edge({ from: "issue", to: "issue", copies: { to: { other: "prio" } }, ...restless } as never) },
      parts: {
        note: part({ of: "issue", key: "N#{n}", schema: z.object({ n: id, prio }), copies: { own: "prio" }, ...retyping } as never),
      },
    }).connect({ transport: lab.engine.transport });
  };
  const before = connectTo(z.string());
  await before.table.create();
  for (const one of ["1", "2"]) await before.issue.put({ id: one, prio: "7" }).orThrow();
  await before.blocks.link({ id: "1" }, { id: "2" }).orThrow();
  await before.note.create({ id: "1" }, { n: "1", prio: "7" }).orThrow();
  const first = connectTo(z.int(), digits);
  await first.migrations.run(fast);
  await first.blocks.link({ id: "2" }, { id: "1" }).orThrow();

  expect((await first.migrations.undo()).notes.join(" ")).toContain('"blocks.other"');
  const steps = [
    [before, "7"],
    [connectTo(z.int(), digits), 7],
    [connectTo(z.int(), { ...digits, stored: "new" }), 7],
    [connectTo(z.int()), 7],
    [connectTo(z.int(), digits), 7],
    [before, "7"],
  ] as const;
  for (const [db, value] of steps) {
    expect(await db.migrations.run({ ...fast, finish: true, inPlace: db === before })).toMatchObject({ complete: true });
    for (const one of ["1", "2"]) expect(await db.issue({ id: one }).out("blocks").edges()).toMatchObject([{ other: value }]);
    expect(await db.issue({ id: "1" }).parts("note").all()).toMatchObject([{ own: value, prio: value }]);
    expect(await db.issue.get({ id: "1" })).toMatchObject({ urgent: 1 });
    expect((await verify(db, { settle: 0 })).kinds).toEqual([]);
  }
});
