import { expect, test } from "vitest";
import type { MigrationProgress } from "../index.ts";
import type { ShardCounts } from "../schema/layout.ts";
import { byName, connectTo, fast, fill, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const spread = (shards: ShardCounts) => connectTo({ byName: byName(shards) });
const found = async (shards: ShardCounts) => spread(shards).find("person").using("byName").count();
const refused = { code: "plan.indexIncomplete", details: { index: "byName", shape: "person" } };
const ITEMS = 40;

const begin = async (shards: ShardCounts): Promise<void> => {
  await fill(ITEMS);
  await spread(shards).migrations.run({ ...fast, finish: true });
};

test("a model that does not look in the shards of the table's items is refused", async () => {
  await begin(4);
  for (const counts of [[4], [2, 4], [8, 4]] as const) expect(await found(counts)).toBe(ITEMS);
  for (const counts of [[1], [2], [8]] as const)
    await expect(found(counts)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(
        `spread over 4 shards, and this model looks in ${counts[0]}. List both counts, [${counts[0]}, 4]`,
      ) as string,
    });
});

test("while a migration moves items, and after it was undone, models have to look in both shards", async () => {
  await begin(2);
  await spread([4, 2]).migrations.run(fast);
  await spread([4, 2]).person.put({ id: "new", name: "N" }).orThrow();
  await expect(found(2)).rejects.toMatchObject(refused);
  expect(await found([2, 4])).toBe(ITEMS + 1);
  expect((await spread([4, 2]).migrations.undo()).notes).toContainEqual(
    expect.stringMatching(/"person" may be in the shards of either model/),
  );
  await expect(found(2)).rejects.toMatchObject(refused);
  expect((await spread(2).migrations.plan()).refusals).toEqual([expect.stringContaining("List the old count")]);
  // Back: the items are moved, and the model before looks where they are.
  expect(await spread([2, 4]).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 1 });
  expect(await found(2)).toBe(ITEMS + 1);
});

test("a resharding tells the record where the items are", async () => {
  await begin(2);
  const { moved } = await spread([4, 2]).reshard({ rate: 10_000, indexLag: 0 });
  expect(moved).toBeGreaterThan(0);
  expect((await spread([4, 2]).migrations.plan()).steps).toEqual([]);
  expect((await spread(4).migrations.plan()).refusals).toEqual([]);
  expect(await found(4)).toBe(ITEMS);
  await expect(found(2)).rejects.toMatchObject(refused);
});

test("a run tells what moving items consumed", async () => {
  await begin(1);
  const { changed, cost } = await spread([4, 1]).migrations.run({ ...fast, finish: true });
  expect(changed).toBeGreaterThan(0);
  expect(cost.writeUnits).toBeGreaterThan(changed);
  expect(lab.table).not.toBe("");
});

test("a run tells how far it has come while it moves items", async () => {
  await begin(1);
  const told: MigrationProgress[] = [];
  await spread([4, 1]).migrations.run({ ...fast, finish: true, onProgress: (one: MigrationProgress) => void told.push(one) });
  const moving = told.filter(({ step }) => step === "reshard");
  expect(moving[0]).toMatchObject({ seen: 0, changed: 0 });
  const [first, last] = [moving.filter(({ pass }) => pass === 1).at(-1), moving.at(-1)];
  expect(first).toMatchObject({ seen: ITEMS, stale: first?.changed });
  expect(first?.changed).toBeGreaterThan(ITEMS / 2);
  expect(last).toMatchObject({ pass: 2, stale: 0, changed: first?.changed });
  expect(last?.seen).toBeLessThan(ITEMS);
});

test("a value that no longer has shards of its own is one whose count changes", async () => {
  const hot = (shards: ShardCounts | object) =>
    connectTo({ byName: { entries: { person: { by: "name", sparse: true, shards: shards as never } } } } as never);
  await fill(ITEMS);
  await hot({ count: 1, per: "city", hot: { Rome: 8 } }).migrations.run({ ...fast, finish: true });
  expect((await hot({ count: 1, per: "city", hot: { Oslo: 1 } }).migrations.plan()).refusals).toEqual([
    expect.stringMatching(/spread over 8 shards .* for "Rome"/),
  ]);
});
