import { expect, test } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { node } from "../schema/definition.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab, watched } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const schema = z.object({ id: z.string(), email: z.string().optional() });
const person = node({ key: "P#{id}", schema });
const reserved = node({ key: "P#{id}", schema, unique: ["email"] });

const connectTo = (unique: boolean, options: ConnectOptions = {}) =>
  defineGraph({ table: lab.table, nodes: { person: unique ? reserved : (person as unknown as typeof reserved) } }).connect({
    transport: lab.engine.transport,
    ...options,
  });

const INCOMPLETE = {
  code: "plan.uniqueIncomplete",
  message:
    'by() does not find every "person" by its "email" yet: the table has not been migrated to this model, which makes the attribute unique. Finish the migration: db.migrations.run({ finish: true }) or edgetable migrate run --finish.',
  details: { node: "person", attribute: "email" },
};

test("reads by an attribute that becomes unique are refused until the migration has ended", async () => {
  const old = connectTo(false);
  await old.table.create();
  await old.person.create({ id: "old", email: "old@x.org" }).orThrow();
  const { sent, options } = watched();
  const db = connectTo(true, options);
  const read = () => db.person.by({ email: "old@x.org" });
  await expect(read()).rejects.toMatchObject(INCOMPLETE);
  // New rows are covered at once.
  await db.person.create({ id: "new", email: "new@x.org" }).orThrow();
  expect(await db.person.create({ id: "late", email: "new@x.org" })).toMatchObject({ ok: false, reason: "notUnique" });
  await db.person.create({ id: "none" }).orThrow();
  await db.person.update({ id: "none" }, { email: "none@x.org" }).orThrow();
  expect(await db.person.create({ id: "late", email: "none@x.org" })).toMatchObject({ ok: false, reason: "notUnique" });
  await expect(read()).rejects.toMatchObject(INCOMPLETE);
  expect(await db.migrations.run(fast)).toMatchObject({ complete: false });
  await expect(read()).rejects.toMatchObject(INCOMPLETE);
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await read()).toEqual({ id: "old", email: "old@x.org" });
  // The record is not read again.
  sent.length = 0;
  expect(await db.person.by({ email: "new@x.org" })).toMatchObject({ id: "new" });
  expect(sent).toEqual(["GetItem", "GetItem"]);
});

test("the record is read once for a connection, beside the first read, and by none that created the table", async () => {
  const { sent, options } = watched();
  const creator = connectTo(true, options);
  await creator.table.create();
  await creator.person.create({ id: "1", email: "a@x.org" }).orThrow();
  sent.length = 0;
  expect(await creator.person.by({ email: "a@x.org" })).toMatchObject({ id: "1" });
  expect(sent).toHaveLength(2);
  const other = connectTo(true, options);
  sent.length = 0;
  expect(await other.person.by({ email: "a@x.org" }).report()).toMatchObject({ value: { id: "1" }, cost: { requests: 2 } });
  expect(sent).toHaveLength(3);
  expect(await other.person.by({ email: "a@x.org" })).toMatchObject({ id: "1" });
  expect(await other.person.get({ id: "1" })).toMatchObject({ id: "1" });
  expect(sent).toHaveLength(6);
});

test.each(["before the model makes it unique", "by programs of either model"])(
  "two nodes that took one value %s are both named",
  async (when) => {
    const old = connectTo(false);
    await old.table.create();
    const db = connectTo(true);
    await old.person.create({ id: "1", email: "a@x.org" }).orThrow();
    await (when.startsWith("before") ? old : db).person.create({ id: "2", email: "a@x.org" }).orThrow();
    for (const finish of [false, true]) {
      const error: unknown = await db.migrations.run({ ...fast, finish }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "migrate.duplicates",
        details: { items: 1, first: [{ definition: "person", attribute: "email", problem: "duplicate" }] },
      });
      const { message, details } = error as { message: string; details: { first: readonly [{ key: object; other: object }] } };
      for (const id of ["1", "2"]) expect(message).toContain(`"P#${id}`);
      const [{ key, other }] = details.first;
      expect(JSON.stringify([key, other].toSorted())).toMatch(/P#1.*P#2|P#2.*P#1/);
    }
    await expect(db.person.by({ email: "a@x.org" })).rejects.toMatchObject(INCOMPLETE);
    await db.person.update({ id: "2" }, { email: "b@x.org" }).orThrow();
    expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
    expect(await db.person.by({ email: "a@x.org" })).toMatchObject({ id: "1" });
    expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true });
  },
);

test("a node type that the record lacks has had its markers from the first", async () => {
  const other = node({ key: "O#{id}", schema });
  const creator = defineGraph({ table: lab.table, nodes: { other } }).connect({ transport: lab.engine.transport });
  await creator.table.create();
  const nodes = { other, person: reserved };
  const connect = () => defineGraph({ table: lab.table, nodes }).connect({ transport: lab.engine.transport });
  const db = connect();
  await db.person.create({ id: "1", email: "a@x.org" }).orThrow();
  expect(await db.person.by({ email: "a@x.org" })).toMatchObject({ id: "1" });
  await db.table.create();
  expect(await connect().person.by({ email: "a@x.org" })).toMatchObject({ id: "1" });
  expect((await db.migrations.plan()).steps).toEqual([]);
});

test("while an attribute ceases to be unique, and after that was undone, reads by it are refused", async () => {
  const creator = connectTo(true);
  await creator.table.create();
  await creator.person.create({ id: "1", email: "a@x.org" }).orThrow();
  const entries = { person: { by: "email", sparse: true } } as const;
  const next = defineGraph({ table: lab.table, nodes: { person }, indexes: { byEmail: { entries } } }).connect({
    transport: lab.engine.transport,
  });
  expect(await next.migrations.run(fast)).toMatchObject({ complete: false });
  await next.person.create({ id: "2", email: "b@x.org" }).orThrow();
  const read = () => connectTo(true).person.by({ email: "b@x.org" });
  await expect(read()).rejects.toMatchObject({
    code: "plan.uniqueIncomplete",
    message: expect.stringContaining("any more: a migration has begun to a model in which the attribute is not unique") as string,
  });
  expect((await next.migrations.status()).undo).toContain('Values of "person.email" may not be reserved');
  const { notes } = await next.migrations.undo();
  expect(notes.join(" ")).toContain('Values of "person.email" may not be reserved');
  await expect(read()).rejects.toMatchObject(INCOMPLETE);
  expect(await connectTo(true).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await read()).toMatchObject({ id: "2" });
});
