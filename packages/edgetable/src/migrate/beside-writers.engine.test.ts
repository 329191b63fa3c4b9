import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import { count } from "../schema/derived.ts";
import type { Transport } from "../transport/transport.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const id = z.string();
const user = node({ key: "U#{id}", schema: z.object({ id }) });
const schema = z.object({ id, title: id });
const ends = { from: "user", to: "post", onDelete: { from: "cascade", to: "cascade" } } as const;

const before = () =>
  defineGraph({
    table: lab.table,
    nodes: { user, post: node({ key: "P#{id}", schema }) },
    edges: { likes: edge(ends) },
  }).connect({ transport: lab.engine.transport });

/** A post counts its likes, and each like has the title of its post, by which it is found. */
const after = (transport: Transport = lab.engine.transport) =>
  defineGraph({
    table: lab.table,
    nodes: { user, post: node({ key: "P#{id}", schema, derived: { likes: count({ in: "likes" }) } }) },
    edges: { likes: edge({ ...ends, copies: { to: ["title"] } }) },
    indexes: { byTitle: { entries: { likes: "title" } } },
  }).connect({ transport });

const fill = async (): Promise<void> => {
  const db = before();
  await db.table.create();
  for (const at of [1, 2, 3]) {
    await db.post.create({ id: `p${at}`, title: `t${at}` }).orThrow();
    await db.user.create({ id: `u${at}` }).orThrow();
  }
  for (const from of [1, 2, 3]) for (const to of [1, 2, 3]) await db.likes.link({ id: `u${from}` }, { id: `p${to}` }).orThrow();
};

test("one run computes what a node counts and what is copied from it", async () => {
  await fill();
  const db = after();
  expect(await db.migrations.run(fast)).toMatchObject({
    complete: false,
    next: "Items have their keys. Once every process that writes uses this model, run it again with finish: the last passes, then the indexes.",
  });
  expect((await db.user({ id: "u1" }).out("likes").edges()).map(({ title }) => title)).toEqual(["t1", "t2", "t3"]);
  expect(await db.post.get({ id: "p1" })).toEqual({ id: "p1", title: "t1", likes: 3 });
});

test("a run beside older writers leaves what they write to the run with finish, and says so", async () => {
  await fill();
  const writer = before();
  let [isFilling, isWritten] = [false, false];
  // An older program links between the pass that copies and the one that fills the index.
  const send: Transport["send"] = async (operation, input, options) => {
    if (operation === "Scan" && isFilling && !isWritten) {
      isWritten = true;
      await writer.post.create({ id: "p4", title: "t4" }).orThrow();
      await writer.likes.link({ id: "u1" }, { id: "p4" }).orThrow();
    }
    return lab.engine.transport.send(operation, input, options);
  };
  const db = after({ send, close: () => undefined });
  const onProgress = ({ step }: { readonly step: string }): void => void (isFilling ||= step === "backfill");
  const { complete, next, leftOut } = await db.migrations.run({ ...fast, onProgress });
  expect({ complete, next, leftOut }).toEqual({
    complete: false,
    next: 'Items have their keys, except those that lack "title", which the migration computes: a program with the older model has written these items since, or the source of the value does not exist. Once every process that writes uses this model, run it again with finish: the last passes, then the indexes.',
    leftOut: { items: 0, first: [] },
  });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, next: undefined });
  expect(await db.find("likes").where({ title: "t4" }).count()).toBe(1);
  expect(await db.post.get({ id: "p4" })).toEqual({ id: "p4", title: "t4", likes: 1 });
});
