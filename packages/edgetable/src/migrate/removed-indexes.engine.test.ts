import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { node } from "../schema/definition.ts";
import type { ValueIndex } from "../schema/layout.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const schema = z.object({ id: z.string(), name: z.string() });

const connectTo = (entries: ValueIndex["entries"] | undefined) =>
  defineGraph({
    table: lab.table,
    nodes: { user: node({ key: "U#{id}", schema }), bot: node({ key: "B#{id}", schema }) },
    // The calls are the same without the index.
    indexes: (entries ? { byName: { entries } } : {}) as { byName: { entries: { user: "name"; bot: "name" } } },
  }).connect({ transport: lab.engine.transport });

const INCOMPLETE = {
  code: "plan.indexIncomplete",
  message: expect.stringContaining('The index "byName" does not find every "user" any more: a migration has begun') as unknown,
};

test.each([
  ["an index that is removed", undefined],
  ["an index that a kind leaves", { bot: "name" }],
] as const)("%s is refused to connections of the model before from the migration on", async (_, left) => {
  const all = { user: "name", bot: "name" } as const;
  const creator = connectTo(all);
  await creator.table.create();
  await creator.user.create({ id: "1", name: "Ann" }).orThrow();
  await creator.bot.create({ id: "1", name: "Ann" }).orThrow();
  const next = connectTo(left);
  expect((await next.migrations.plan()).notes).toContainEqual(
    expect.stringContaining(`Programs with this model do not write the keys of ${left ? '"user"' : '"user", "bot"'} in "byName"`),
  );
  const ann = (db: typeof creator) => db.find("user").where({ name: "Ann" });
  expect(await ann(connectTo(all)).count()).toBe(1);
  expect(await next.migrations.run(fast)).toMatchObject({ complete: false });
  await next.user.create({ id: "2", name: "Ann" }).orThrow();
  await next.user.update({ id: "1" }, { name: "Bea" }).orThrow();
  const before = connectTo(all);
  for (const read of [
    () => ann(before).rows(),
    () => ann(before).count(),
    () => ann(before).page(),
    () => ann(before).walk().ids(),
    () => before.find(["user", "bot"]).where({ name: "Ann" }).rows(),
    () =>
      before
        .find("user")
        .where({ name: { in: ["Ann", "Bea"] } })
        .rows(),
  ])
    await expect((async () => read())()).rejects.toMatchObject(INCOMPLETE);
  // What the other model still writes is found.
  if (left) expect(await before.find("bot").where({ name: "Ann" }).count()).toBe(1);
  expect(await before.user.get({ id: "1" })).toEqual({ id: "1", name: "Bea" });
  // Undone, the index is complete again once a migration to the model before has given every item its keys.
  await next.migrations.undo();
  await expect(ann(before).rows()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
  await before.migrations.run({ ...fast, finish: true });
  expect((await ann(before).rows()).map(({ id }) => id)).toEqual(["2"]);
  expect(await verify(before, { settle: 0 })).toMatchObject({ clean: true });
  expect(await next.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  await expect(ann(connectTo(all)).rows()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
});
