import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import type { Renaming, Retyping, StoredForm } from "../schema/former.ts";
import { verify } from "../verify/index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Item } from "../transport/operations.ts";

let engine: TestEngine;
let table = "";
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(() => {
  table = engine.freshTableName("former");
});

const byName = { entries: { person: "name" } } as const;
const since = z.object({ since: z.string().optional() });

/** The program before: names as `name`, ages as texts. */
const before = () =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: z.string(), name: z.string(), age: z.string().optional(), tags: z.array(z.string()).optional() }),
        version: true,
      }),
    },
    edges: { knows: edge({ from: "person", to: "person", schema: since, stored: "twice" }) },
    indexes: { byName },
  }).connect({ transport: engine.transport });

const age: Retyping = { from: z.string().regex(/^\d+$/), with: Number, back: String };
const renamings = (stored: StoredForm): Renaming => ({ from: "name", stored });

/** The program that knows both forms and writes one of them; the one without them, once all is converted. */
const after = (stored: StoredForm | undefined) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id: z.string(), fullName: z.string(), age: z.int().optional(), labels: z.array(z.string()).optional() }),
        version: true,
        ...(stored && {
          renamed: { fullName: renamings(stored), labels: { from: "tags", stored } },
          retyped: { age: { ...age, stored } },
        }),
      }),
    },
    edges: {
      knows: edge({
        from: "person",
        to: "person",
        schema: z.object({ from_: z.string().optional() }),
        stored: "twice",
        ...(stored && { renamed: { from_: { from: "since", stored } } }),
      }),
    },
    indexes: { byName: { entries: { person: "fullName" } } },
  }).connect({ transport: engine.transport });

const stored = async (id: string): Promise<Item | undefined> => {
  const key = { pk: { S: `PERSON#${id}` }, sk: { S: "#" } };
  const { Item: item } = await engine.transport.send("GetItem", { TableName: table, Key: key, ConsistentRead: true });
  return item;
};

const fast = { share: 100, indexLag: 0 } as const;

const fill = async (): Promise<void> => {
  const old = before();
  await old.table.create();
  await old.load(
    Array.from({ length: 40 }, (_, at) => ({ node: "person" as const, row: { id: `P${at}`, name: `N${at}`, age: String(at) } })),
  );
  await old.knows.link({ id: "P1" }, { id: "P2" }, { since: "2020" }).orThrow();
};

test("programs of both models read and write the same items, each in its own words", async () => {
  await fill();
  const [old, db] = [before(), after("old")];
  expect(await db.person.get({ id: "P7" })).toEqual({ id: "P7", fullName: "N7", age: 7, version: 1 });
  await db.person.update({ id: "P7" }, { fullName: "Seven", age: 77 }).orThrow();
  await db.person.put({ id: "new", fullName: "New", age: 5, labels: ["a"] }).orThrow();
  expect(await old.person.get({ id: "P7" })).toEqual({ id: "P7", name: "Seven", age: "77", version: 2 });
  expect(await old.person.get({ id: "new" })).toMatchObject({ name: "New", age: "5", tags: ["a"] });
  await old.person.update({ id: "new" }, { age: "6" }).orThrow();
  expect(await db.person.get({ id: "new" })).toMatchObject({ fullName: "New", age: 6 });
  // Keys have the values, whatever the attribute's name: each program finds what the other one wrote.
  expect(await old.find("person").where({ name: "Seven" }).rows()).toHaveLength(1);
  expect(await db.find("person").where({ fullName: "N9" }).rows()).toMatchObject([{ id: "P9", age: 9 }]);
  expect(await db.person({ id: "P1" }).out("knows").edges()).toMatchObject([{ from_: "2020" }]);
  await db.knows.relink({ id: "P1" }, { id: "P2" }, { from_: "2021" }).orThrow();
  expect(await old.person({ id: "P2" }).in("knows").edges()).toMatchObject([{ since: "2021" }]);
});

test("conditions, sums and appended lists work on either form", async () => {
  await fill();
  const [one, two] = [after("old"), after("new")];
  for (const [db, id, name] of [
    [one, "P3", "N3"],
    [two, "P4", "N4"],
  ] as const) {
    const was = Number(id.slice(1));
    expect(await db.person.update({ id }, { labels: ["x"] }, { if: { fullName: name, age: was } })).toMatchObject({ ok: true });
    expect(await db.person.update({ id }, { labels: ["y"] }, { if: { age: { ne: was } } })).toMatchObject({ reason: "conditionFailed" });
    expect(await db.person.update({ id }, { add: { age: 10 }, append: { labels: ["z"] } })).toMatchObject({ ok: true });
    expect(await db.person.get({ id })).toMatchObject({ age: was + 10, labels: ["x", "z"] });
    expect(await db.person.update({ id }, { remove: ["labels"] }, { if: { age: { in: [was + 10] } } })).toMatchObject({ ok: true });
    expect((await db.person.get({ id }))?.labels).toBeUndefined();
    await expect(db.person.update({ id }, { labels: [] }, { if: { age: { gt: 1 } } })).rejects.toMatchObject({ code: "plan.unsupported" });
  }
  // Reads compare in memory: ranges too.
  expect(
    await one
      .find("person")
      .using("byName")
      .where({ age: { gte: 38 } })
      .rows(),
  ).toHaveLength(2);
  expect(
    await two
      .find("person")
      .using("byName")
      .where({ age: { gte: 38 } })
      .count(),
  ).toBe(2);
  expect(
    await one
      .find("person")
      .using("byName")
      .where({ age: { gte: 39 } })
      .select("fullName")
      .rows(),
  ).toEqual([expect.objectContaining({ fullName: "N39" })]);
});

test("each write leaves one form: the one that its program writes", async () => {
  await fill();
  const [one, two] = [after("old"), after("new")];
  await two.person.update({ id: "P1" }, { fullName: "A", age: 2 }).orThrow();
  expect(await stored("P1")).toMatchObject({ fullName: { S: "A" }, age: { N: "2" } });
  expect(await stored("P1")).not.toHaveProperty("name");
  expect(await one.person.get({ id: "P1" })).toMatchObject({ fullName: "A", age: 2 });
  await one.person.update({ id: "P1" }, { fullName: "B", age: 3 }).orThrow();
  expect(await stored("P1")).toMatchObject({ name: { S: "B" }, age: { S: "3" } });
  expect(await stored("P1")).not.toHaveProperty("fullName");
  // What a program with the model before writes beside a new form is newer.
  await two.person.update({ id: "P1" }, { fullName: "C" }).orThrow();
  await before().person.update({ id: "P1" }, { name: "D" }).orThrow();
  expect((await two.person.get({ id: "P1" }))?.fullName).toBe("D");
});

test("the migration checks every value first, then converts, and the model may forget the old form", async () => {
  await fill();
  const first = after("old");
  const { steps, refusals } = await first.migrations.plan();
  expect(refusals).toEqual([]);
  expect(steps.map(({ kind }) => kind)).toEqual(["convert", "record"]);
  expect(await first.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 0 });
  expect((await after(undefined).migrations.plan()).refusals).toEqual([
    expect.stringContaining('"knows" hold "from_" as "since"') as string,
    expect.stringContaining('"person" hold "age" in its old type') as string,
    expect.stringContaining('hold "fullName"') as string,
    expect.stringContaining('hold "labels"') as string,
  ]);

  const second = after("new");
  expect(await second.migrations.run({ ...fast, dryRun: true })).toMatchObject({ complete: false, changed: 42 });
  expect(await second.migrations.run(fast)).toMatchObject({ complete: false, changed: 0 });
  await first.person.put({ id: "late", fullName: "Late", age: 1 }).orThrow();
  expect(await second.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 43 });
  expect(await stored("late")).toMatchObject({ fullName: { S: "Late" }, age: { N: "1" } });
  expect(await second.migrations.plan()).toMatchObject({ steps: [] });

  const third = after(undefined);
  expect((await third.migrations.plan()).steps.map(({ kind }) => kind)).toEqual(["record"]);
  expect(await third.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await third.person.get({ id: "P7" })).toMatchObject({ fullName: "N7", age: 7 });
  expect(await third.find("person").where({ fullName: "Late" }).rows()).toHaveLength(1);
  expect((await third.person({ id: "P1" }).out("knows").edges())[0]).toMatchObject({ from_: "2020" });
  expect(await verify(third, { settle: 0 })).toMatchObject({ clean: true });
});

test("back to the old form while no program without it reads", async () => {
  await fill();
  await after("old").migrations.run({ ...fast, finish: true });
  await after("new").migrations.run({ ...fast, finish: true });
  expect(await stored("P7")).toMatchObject({ fullName: { S: "N7" } });
  expect(await after("old").migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 42 });
  expect(await before().person.get({ id: "P7" })).toEqual({ id: "P7", name: "N7", age: "7", version: 1 });
});

test("values that do not convert are named before anything is written", async () => {
  await fill();
  await before().person.put({ id: "odd", name: "Odd", age: "many" }).orThrow();
  await before().person.put({ id: "zero", name: "Zero", age: "-1" }).orThrow();
  const db = after("old");
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({
    code: "migrate.notConvertible",
    message: expect.stringContaining("2 of the items") as string,
    details: { items: 2 },
  });
  expect(await db.migrations.status()).toMatchObject({ state: "migrating" });
  await before().person.put({ id: "odd", name: "Odd", age: "3" }).orThrow();
  await before().person.put({ id: "zero", name: "Zero", age: "0" }).orThrow();
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
});

test("new values that would be taken for old ones are named by the first step, which converts nothing yet", async () => {
  const model = (retyped: object) =>
    defineGraph({
      table,
      nodes: { mark: node({ key: "MARK#{id}", schema: z.object({ id: z.string(), grade: z.string() }), ...({ retyped } as object) }) },
    }).connect({ transport: engine.transport });
  const grade = { with: (value: unknown) => `${String(value)}!`, back: (value: unknown) => String(value).slice(0, -1) };
  await model({}).table.create();
  await model({}).mark.put({ id: "1", grade: "2" }).orThrow();
  const loose = model({ grade: { ...grade, from: z.string() } });
  const refused = { code: "migrate.notConvertible", message: expect.stringContaining('`from` accepts "2!" too') as string };
  await expect(loose.migrations.run(fast)).rejects.toMatchObject(refused);
  await expect(loose.migrations.run({ ...fast, dryRun: true })).rejects.toMatchObject(refused);
  const strict = model({ grade: { ...grade, from: z.string().regex(/^\d+$/) } });
  expect(await strict.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await strict.mark.get({ id: "1" })).toEqual({ id: "1", grade: "2!" });
});

test("a value that would not come back, or that would be converted again, is not written", async () => {
  const model = (retyped: Readonly<Record<"grade", Retyping>>) =>
    defineGraph({
      table,
      nodes: { mark: node({ key: "MARK#{id}", schema: z.object({ id: z.string(), grade: z.union([z.string(), z.number()]) }), retyped }) },
    }).connect({ transport: engine.transport });
  const from = z.string();
  const lossy = model({ grade: { from, with: Number, back: (value) => String(Math.round(value as number)) } });
  await lossy.table.create();
  await expect(lossy.mark.put({ id: "1", grade: 1.5 })).rejects.toMatchObject({ code: "migrate.notConvertible" });
  await expect(model({ grade: { from, with: Number, stored: "new" } }).mark.put({ id: "1", grade: "2" })).rejects.toMatchObject({
    code: "migrate.notConvertible",
    message: expect.stringContaining("accepts") as string,
  });
  const throwing = model({
    grade: {
      from,
      with: () => {
        throw new Error("no");
      },
      back: String,
    },
  });
  await expect(throwing.mark.put({ id: "1", grade: 1 })).rejects.toMatchObject({ code: "migrate.notConvertible" });
});

test("lists and dates are made of texts, and texts of them", async () => {
  const key = "NOTE#{id}";
  const id = z.string();
  const old = defineGraph({ table, nodes: { note: node({ key, schema: z.object({ id, tags: z.string(), at: z.int() }) }) } });
  const now = (stored: StoredForm) =>
    defineGraph({
      table,
      nodes: {
        note: node({
          key,
          schema: z.object({ id, tags: z.array(z.string()), at: z.date() }),
          dates: ["at"],
          retyped: {
            tags: { from: z.string(), with: (text: string) => text.split(","), back: (tags: string[]) => tags.join(","), stored },
            at: { from: z.int(), with: (time: number) => new Date(time), back: Number, stored },
          },
        }),
      },
    }).connect({ transport: engine.transport });
  const [before, one, two] = [old.connect({ transport: engine.transport }), now("old"), now("new")];
  await before.table.create();
  await before.note.put({ id: "1", tags: "a,b", at: 1000 }).orThrow();
  expect(await one.note.get({ id: "1" })).toEqual({ id: "1", tags: ["a", "b"], at: new Date(1000) });
  await one.note.update({ id: "1" }, { append: { tags: ["c"] }, set: { at: new Date(2000) } }).orThrow();
  expect(await before.note.get({ id: "1" })).toEqual({ id: "1", tags: "a,b,c", at: 2000 });
  await expect(one.note.update({ id: "1" }, { tags: ["d,e"] })).rejects.toMatchObject({ code: "migrate.notConvertible" });
  await two.note.put({ id: "2", tags: ["x"], at: new Date(3000) }).orThrow();
  expect(await one.note.get({ id: "2" })).toEqual({ id: "2", tags: ["x"], at: new Date(3000) });
  expect(await two.note.get({ id: "1" })).toEqual({ id: "1", tags: ["a", "b", "c"], at: new Date(2000) });
});

test("what the recorded model would not read is refused, unless no program has it", async () => {
  await fill();
  const db = after("new");
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({
    code: "migrate.unsupported",
    message: expect.stringContaining('stored: "old" first, or pass inPlace') as string,
  });
  expect(await db.migrations.run({ ...fast, finish: true, inPlace: true })).toMatchObject({ complete: true, changed: 42 });
  expect(await stored("P2")).toMatchObject({ fullName: { S: "N2" }, age: { N: "2" } });
});

test("the model before a renaming follows its first step again: every item still has the old form", async () => {
  await fill();
  const items = await stored("P2");
  await after("old").migrations.run({ ...fast, finish: true });
  await expect(after(undefined).migrations.run({ ...fast, finish: true })).rejects.toMatchObject({
    code: "migrate.unsupported",
    message: expect.stringMatching(
      /(?=.*hold "fullName" as "name")(?=.*hold "age" in its old type.*inPlace if the model has the old type)/,
    ) as string,
  });
  await expect(before().migrations.run({ ...fast, finish: true })).rejects.toMatchObject({
    message: expect.not.stringContaining("fullName") as string,
  });
  expect(await before().migrations.run({ ...fast, finish: true, inPlace: true })).toMatchObject({ complete: true, changed: 0 });
  expect(await stored("P2")).toEqual(items);
  expect(await before().find("person").where({ name: "N2" }).rows()).toMatchObject([{ name: "N2", age: "2" }]);
  expect(await verify(before(), { settle: 1 })).toMatchObject({ clean: true });
});

test("an index of a retyped attribute needs another name, and finds all by the new values", async () => {
  await fill();
  const indexed = (name: string) =>
    defineGraph({
      table,
      nodes: {
        person: node({
          key: "PERSON#{id}",
          schema: z.object({ id: z.string(), name: z.string(), age: z.int().optional() }),
          version: true,
          retyped: { age },
        }),
      },
      edges: { knows: edge({ from: "person", to: "person", schema: since, stored: "twice" }) },
      indexes: { byName, [name]: { entries: { person: { by: "age:number", sparse: true } } } },
    }).connect({ transport: engine.transport });
  const db = indexed("byYears");
  const old = before();
  await db.migrations.run(fast);
  await old.person.update({ id: "P9" }, { age: "500" }).orThrow();
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(
    await db
      .find("person")
      .where({ age: { gte: 38 } })
      .rows(),
  ).toMatchObject([{ id: "P38" }, { id: "P39" }, { id: "P9" }]);
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true });
});

test("an undone conversion is recorded: a model that reads one form alone is refused until it is taken back", async () => {
  await fill();
  await after("old").migrations.run({ ...fast, finish: true });
  const two = after("new");
  await two.migrations.run(fast);
  // A program of the second step writes while its migration is under way.
  await two.person.update({ id: "P2" }, { fullName: "New" }).orThrow();
  expect(await two.migrations.undo()).toMatchObject({
    undone: true,
    notes: [expect.any(String), expect.stringContaining('"person.fullName"')],
  });
  expect(await stored("P2")).toMatchObject({ fullName: { S: "New" } });
  for (const model of [before(), after(undefined)]) {
    const { refusals } = await model.migrations.plan();
    expect(refusals).toContainEqual(expect.stringMatching(/Items of "person" hold "fullName" under its new name or as "name".*undone/));
    await expect(model.migrations.run({ ...fast, finish: true, inPlace: true })).rejects.toMatchObject({ code: "migrate.unsupported" });
  }
  expect(await after("old").migrations.status()).toMatchObject({ state: "outdated" });
  // Either step goes on from there.
  expect(await after("old").migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 1 });
  expect(await stored("P2")).toMatchObject({ name: { S: "New" }, age: { S: "2" } });
  expect(await after("old").migrations.status()).toMatchObject({ state: "current" });
  expect(await before().migrations.run({ ...fast, finish: true, inPlace: true })).toMatchObject({ complete: true });
  expect(await before().person.get({ id: "P2" })).toMatchObject({ name: "New", age: "2" });
});

test("a conversion back that is undone is recorded as well", async () => {
  await fill();
  await after("old").migrations.run({ ...fast, finish: true });
  await after("new").migrations.run({ ...fast, finish: true });
  await after("old").migrations.run(fast);
  await after("old").person.update({ id: "P2" }, { fullName: "Old" }).orThrow();
  await after("old").migrations.undo();
  expect((await after(undefined).migrations.plan()).refusals).toContainEqual(expect.stringContaining("undone"));
  await after("new").migrations.run({ ...fast, finish: true });
  expect(await after(undefined).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await after(undefined).person.get({ id: "P2" })).toMatchObject({ fullName: "Old", age: 2 });
});

/** The reads of a connection that look at the table's record, and what it says. */
const looks = (db: ReturnType<typeof before> | ReturnType<typeof after>): readonly (() => Promise<unknown>)[] => [
  () => db.table.create(),
  () => db.person({ id: "1" }).in("knows").edges(),
  () => (db as ReturnType<typeof before>).find("person").where({ name: "Ann" }).rows(),
];

test("a program from before a renaming is refused where it looks at the record, once items are stored under the new name", async () => {
  await before().table.create();
  await before().person.create({ id: "1", name: "Ann" }).orThrow();
  await before()
    .person.create({ id: "2", name: "Bob", tags: ["a"] })
    .orThrow();
  await after("old").migrations.run({ ...fast, finish: true });
  for (const look of looks(before())) await look();
  await after("new").migrations.run(fast);
  const refused = {
    code: "plan.unreadForm",
    message:
      'Items of "knows" hold "since" as "from_": it was renamed, and this model does not read that. Deploy a model that names it in renamed or retyped, or the model that the table follows.',
    details: { definition: "knows", attribute: "since" },
  };
  for (const look of looks(before())) await expect(look()).rejects.toMatchObject(refused);
  await after("new").migrations.run({ ...fast, finish: true });
  for (const look of looks(before())) await expect(look()).rejects.toMatchObject(refused);
  // The step before the last one reads both forms.
  await after("old").table.create();
  expect(await after("old").person.get({ id: "1" })).toMatchObject({ fullName: "Ann" });
  // Point reads do not look: an attribute under a name that the model does not know is not there for it.
  expect(await before().person.get({ id: "1" })).toEqual({ id: "1", version: 1 });

  await after(undefined).migrations.run({ ...fast, finish: true });
  expect(await after(undefined).migrations.status()).toMatchObject({ state: "current" });
  for (const look of looks(before())) await expect(look()).rejects.toMatchObject(refused);
  await after(undefined).table.create();
  expect(await after(undefined).person({ id: "1" }).in("knows").edges()).toEqual([]);
  // Who migrates back, without a renaming, says that the old name is now another attribute.
  await before().migrations.run({ ...fast, finish: true, inPlace: true, leaveOut: true });
  for (const look of looks(before())) await look();
});

test("a model that reads one form is refused while items may have either, or still have the other", async () => {
  await before().table.create();
  await before().person.create({ id: "1", name: "Ann", age: "4" }).orThrow();
  await after("old").migrations.run({ ...fast, finish: true });
  await expect(after(undefined).table.create()).rejects.toMatchObject({
    code: "plan.unreadForm",
    message: expect.stringContaining('Items of "knows" hold "from_" as "since", its name before') as string,
  });
  await after("new").migrations.run(fast);
  await after("new").migrations.undo();
  for (const db of [before(), after(undefined)]) await expect(db.table.create()).rejects.toMatchObject({ code: "plan.unreadForm" });
  for (const form of ["old", "new"] as const) await after(form).table.create();
});
