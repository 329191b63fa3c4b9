import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

interface Model {
  readonly club?: object;
  readonly member?: object;
  readonly knows?: object;
  readonly indexes?: object;
}

const text = z.string();

const connect = ({ club = {}, member = {}, knows = {}, indexes = {} }: Model = {}) =>
  defineGraph({
    table: lab.table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: text, name: text }) }),
      club: node({ key: "CLUB#{id}", schema: z.object({ id: text, title: text }), ...club }),
    },
    edges: {
      member: edge({
        from: "person",
        to: "club",
        schema: z.object({ since: text }),
        onDelete: { from: "cascade", to: "cascade" },
        ...member,
      }),
      knows: edge({ from: "person", to: "person", schema: z.object({ since: text }), symmetric: true, ...knows }),
    },
    indexes: indexes as {},
  }).connect({ transport: lab.engine.transport });

type Db = ReturnType<typeof connect>;

const [chess, ann, bob] = [{ id: "chess" }, { id: "ann" }, { id: "bob" }];

const fill = async (db: Db): Promise<void> => {
  await db.table.create();
  await db.club.create({ ...chess, title: "Chess" }).orThrow();
  for (const one of [ann, bob]) {
    await db.person.create({ ...one, name: one.id }).orThrow();
    await db.member.link(one, chess, { since: "2020" }).orThrow();
  }
  await db.knows.link(ann, bob, { since: "2021" }).orThrow();
};

const finish = { ...fast, finish: true };

const findings = async (db: Db) => (await verify(db, { settle: 1 })).kinds.map(({ kind }) => kind);

const byTitle = { entries: { club: "title" } };
const byName = { entries: { person: "name" } };
const byBoth = { entries: { person: "name", club: "title" } };

const CASES: Readonly<Record<string, readonly [before: Model, undone: Model]>> = {
  "a mirrored node": [{}, { club: { mirror: true } }],
  "an order of edges without direction, in an index that others use": [
    { member: { orderBy: "since" } },
    { member: { orderBy: "since" }, knows: { orderBy: "since" } },
  ],
  "a kind in an index by value": [{ indexes: { byName } }, { indexes: { byName: byBoth } }],
  "an edge in an index by value": [
    { indexes: { byName } },
    { indexes: { byName: { entries: { person: "name", member: { by: "since", sparse: true } } } } },
  ],
};

for (const [name, [before, undone]] of Object.entries(CASES)) {
  test(`items lose the keys of an undone migration with the next one: ${name}`, async () => {
    const old = connect(before);
    await fill(old);
    await connect(undone).migrations.run(fast);
    expect(await old.migrations.undo()).toMatchObject({ undone: true });
    expect(await old.migrations.run(finish)).toMatchObject({ complete: true });
    expect(await findings(old)).toEqual([]);
    expect((await old.migrations.plan()).steps).toEqual([]);
  });

  test(`an undone migration can be run again: ${name}`, async () => {
    const old = connect(before);
    await fill(old);
    await connect(undone).migrations.run(fast);
    await old.migrations.undo();
    // This program does not write the keys of the undone model.
    await old.club.create({ id: "go", title: "Go" }).orThrow();
    await old.member.link(bob, { id: "go" }, { since: "2022" }).orThrow();
    const db = connect(undone);
    expect((await db.migrations.plan()).refusals).toEqual([]);
    expect(await db.migrations.run(finish)).toMatchObject({ complete: true });
    expect(await findings(db)).toEqual([]);
  });
}

test("an index that is created again holds no kinds that were in it before", async () => {
  const old = connect({ indexes: { byName: byBoth } });
  await fill(old);
  expect(await connect().migrations.run(finish)).toMatchObject({ complete: true });
  const db = connect({ indexes: { byName: byTitle } });
  expect(await db.migrations.run(finish)).toMatchObject({ complete: true });
  expect(await findings(db)).toEqual([]);
});

const twice: Model = { member: { stored: "twice" } };

/** A table whose edges were stored once for a while: one has an old second copy, one has none, and one has nothing else. */
const mixed = async (): Promise<void> => {
  const old = connect(twice);
  await fill(old);
  const once = connect();
  await once.migrations.run(fast);
  await once.member.relink(ann, chess, { since: "2030" }).orThrow();
  await once.member.unlink(bob, chess).orThrow();
  await once.person.create({ id: "cid", name: "Cid" }).orThrow();
  await once.member.link({ id: "cid" }, chess, { since: "2031" }).orThrow();
  const { notes } = await once.migrations.undo();
  expect(notes).toContainEqual(expect.stringContaining('Second copies of "member" may be missing or outdated'));
};

const members = [
  { from: ann, to: chess, since: "2030" },
  { from: { id: "cid" }, to: chess, since: "2031" },
];

test("second copies are not read after a migration to edges stored once was undone, until it has ended", async () => {
  await mixed();
  const old = connect(twice);
  await expect(old.club(chess).in("member").edges()).rejects.toMatchObject({ code: "plan.otherStorage" });
  expect(await old.person(bob).out("member").edges()).toEqual([]);
  const once = connect();
  await expect(once.club(chess).in("member").edges()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  expect(await once.migrations.run(finish)).toMatchObject({ complete: true });
  expect(await once.club(chess).in("member").edges()).toEqual(members);
  expect(await findings(once)).toEqual(["unclaimed"]);
});

test("a migration back to edges stored twice is refused until second copies are mended", async () => {
  await mixed();
  const old = connect(twice);
  await expect(old.migrations.run(finish)).rejects.toMatchObject({
    code: "migrate.unsupported",
    message: expect.stringContaining("edgetable verify --repair --differing mend"),
  });
  expect(await verify(old, { settle: 1, repair: true, differing: "mend" })).toMatchObject({ clean: true });
  expect(await old.migrations.run({ ...finish, inPlace: true })).toMatchObject({ complete: true });
  const db = connect(twice);
  expect(await db.club(chess).in("member").edges()).toEqual(members);
  expect(await findings(db)).toEqual([]);
});
