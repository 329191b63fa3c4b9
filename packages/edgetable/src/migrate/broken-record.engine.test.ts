import { expect, test } from "vitest";
import type { Item } from "../transport/operations.ts";
import { byAge, connectTo, fast, fill, lab, old, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const recordOf = async (): Promise<Item> => {
  const { Items = [] } = await lab.engine.transport.send("Scan", { TableName: lab.table });
  return Items.find((item) => "~model" in item)!;
};

test("a record that cannot be read is named with a remedy, and the remedy works", async () => {
  await fill(6);
  await connectTo({ byAge }).migrations.run({ ...fast, finish: true });
  await old().person.put({ id: "late", name: "Late", age: 30 }).orThrow();
  const record = await recordOf();
  for (const text of ["{broken", "null", "{}"]) {
    await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: { ...record, "~model": { S: text } } });
    const db = connectTo({ byAge });
    const calls = [
      () => db.migrations.plan(),
      () => db.migrations.status(),
      () => db.migrations.run(fast),
      () => db.migrations.undo(),
      () =>
        db
          .find("person")
          .where({ age: { gte: 0 } } as never)
          .rows(),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        code: "migrate.brokenRecord",
        message: `The record of the model of "${lab.table}" cannot be read: "~model" of the item {"pk":{"S":"~model"},"sk":{"S":"#"}} is invalid. Restore the item from a backup; or delete it, and run the migration with again and finish.`,
        details: { table: lab.table, attribute: "~model" },
      });
  }
  const { pk, sk } = record;
  await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: pk!, sk: sk! } });
  expect(await connectTo({ byAge }).migrations.run({ ...fast, again: true, finish: true })).toMatchObject({ complete: true, changed: 1 });
  expect(await connectTo({ byAge }).migrations.status()).toMatchObject({ state: "current" });
});
