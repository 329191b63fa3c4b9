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

test.each([
  [2, 8],
  [8, 2],
])("after an undone migration from %i shards to %i, the next one moves what is in the old ones", async (was, now) => {
  await begin(was);
  for (const time of ["once", "again"]) {
    await spread([now, was]).migrations.run(fast);
    await spread([now, was])
      .person.put({ id: `new ${time}`, name: "N" })
      .orThrow();
    await spread([now, was]).migrations.undo();
    await spread(was)
      .person.put({ id: `old ${time}`, name: "N" })
      .orThrow();
    // No model may leave out one of the counts.
    for (const counts of [now, was] as const) {
      await expect(found(counts)).rejects.toMatchObject(refused);
      expect((await spread(counts).migrations.plan()).refusals).toEqual([expect.stringContaining("List the old count")]);
    }
  }
  expect((await spread([now, was]).migrations.plan()).steps.map(({ kind }) => kind)).toContain("reshard");
  const report = await spread([now, was]).migrations.run({ ...fast, finish: true });
  expect(report).toMatchObject({ complete: true });
  expect(report.changed).toBeGreaterThan(ITEMS / 2);
  expect(await found(now)).toBe(ITEMS + 4);
});

test("a resharding by a model that does not list the shards of the table's items leaves the record", async () => {
  await begin(8);
  await spread([2, 4]).reshard({ rate: 10_000, indexLag: 0 });
  await expect(found(2)).rejects.toMatchObject(refused);
  expect(await found([2, 8])).toBe(ITEMS);
});

test("a migration moves items from the beginning after another one was stopped and undone", async () => {
  await begin(8);
  const stopping = new AbortController();
  let pages = 0;
  // Near the end of the pass that finds nothing more to move.
  const onProgress = ({ step, pass }: MigrationProgress): void => {
    if (step === "reshard" && pass === 2 && ++pages === 7) stopping.abort();
  };
  const run = spread([2, 8]).migrations.run({ ...fast, finish: true, signal: stopping.signal, onProgress });
  await expect(run).rejects.toMatchObject({ code: "execute.aborted" });
  await spread([2, 8]).migrations.undo();
  // Programs of the model before write into a partition that the stopped run had been through.
  let written = 0;
  for (let at = 0; at < 2 * ITEMS; at++) {
    await spread(8)
      .person.put({ id: `O${at}`, name: "N" })
      .orThrow();
    const key = { pk: { S: `PERSON#O${at}` }, sk: { S: "#" } };
    const { Item: item } = await lab.engine.transport.send("GetItem", { TableName: lab.table, Key: key });
    if (/#2"/.test(JSON.stringify(item?.["byNamePk"]))) written++;
    else
      await spread(8)
        .person.delete({ id: `O${at}` })
        .orThrow();
  }
  expect(written).toBeGreaterThan(0);
  expect(await spread([2, 8]).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await found(2)).toBe(ITEMS + written);
});
