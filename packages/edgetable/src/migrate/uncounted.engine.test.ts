import { expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, sum } from "../index.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

// Edges and parts that are there without their node, in a model that comes to count them there.

openMigrationsLab();

const id = z.string();
const modelOf = (counts: boolean, shards?: number) =>
  defineGraph({
    table: lab.table,
    nodes: {
      post: node({
        key: "POST#{id}",
        schema: z.object({ id }),
        ...(counts && {
          derived: {
            likes: count({ in: "likes", ...(shards && { shards }) }),
            notes: count({ parts: "note" }),
            words: sum({ parts: "note", of: "words" }),
            mean: average({ parts: "note", of: "words", where: { words: { gte: 5 } } }),
          },
        }),
      }),
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
    },
    parts: { note: part({ of: "post", key: "NOTE#{n}", schema: z.object({ n: id, words: z.int() }) }) },
    edges: { likes: edge({ from: "user", to: "post", ...(counts && { onDelete: { from: "cascade", to: "cascade" } as const }) }) },
  }).connect({ transport: lab.engine.transport });

const filled = async () => {
  const db = modelOf(false);
  await db.table.create();
  for (const one of ["u", "v"]) await db.user.create({ id: one }).orThrow();
  for (const one of ["p", "q"]) await db.post.create({ id: one }).orThrow();
  for (const one of ["u", "v"]) await db.likes.link({ id: one }, { id: "p" }).orThrow();
  await db.likes.link({ id: "u" }, { id: "q" }).orThrow();
  // Edges stay by default; parts are written without their node.
  await db.post.delete({ id: "p" }).orThrow();
  await db.note.create({ id: "p" }, { n: "1", words: 7 }).orThrow();
  await db.note.create({ id: "q" }, { n: "1", words: 3 }).orThrow();
};

const refusal = { code: "migrate.uncounted", details: { items: 3 } };

test.each([undefined, 4])("a migration names them, and counts them once their node is created (shards: %s)", async (shards) => {
  await filled();
  const db = modelOf(true, shards);
  const run = (finish: boolean) => db.migrations.run({ ...fast, finish });
  const error = (await run(true).catch((thrown: unknown) => thrown)) as { readonly message: string };
  expect(error).toMatchObject(refusal);
  expect(error.message).toContain('There is no "post" at its end "to". It belongs to "post.likes".');
  await expect(run(false)).rejects.toMatchObject(refusal);
  await expect(db.migrations.run({ ...fast, dryRun: true })).rejects.toMatchObject(refusal);
  // Nothing takes the counts for complete meanwhile.
  expect(await db.post({ id: "p" }).in("likes").count()).toBe(2);
  await db.post.create({ id: "p" }).orThrow();
  expect(await run(true)).toMatchObject({ complete: true });
  expect(await db.post({ id: "p" }).in("likes").count({ kept: "none" })).toBe(2);
  expect(await db.post.get({ id: "p" })).toMatchObject({ likes: 2, notes: 1, words: 7, mean: 7 });
  expect(await db.post.get({ id: "q" })).toMatchObject({ likes: 1, notes: 1, words: 3 });
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
});

test("a migration ends once they are deleted by a repair", async () => {
  await filled();
  const db = modelOf(true);
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject(refusal);
  await verify(db, { settle: 0, repair: true, deleteOrphans: true });
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  await db.post.create({ id: "p" }).orThrow();
  expect(await db.post.get({ id: "p" })).toMatchObject({ likes: 0, notes: 0, words: 0 });
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
});
