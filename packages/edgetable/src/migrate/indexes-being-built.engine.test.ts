import { expect, test } from "vitest";
import { attemptError } from "../index.ts";
import type { TableDescription } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { byName, connectTo, fast, fill, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

// DynamoDB builds an index for minutes or hours. A run that ends meanwhile leaves an index that is described and not complete.

openMigrationsLab();

/** A service that builds each index for some descriptions, and a program that ends once it has asked for one: it releases its lease. */
const building = (descriptions: number, dies: boolean) => {
  const sent: string[] = [];
  let [left, isDead] = [descriptions, false];
  const transport: Transport = {
    send: async (operation, input, options) => {
      if (isDead && operation !== "UpdateItem")
        throw attemptError({ operation, input }, { code: "execute.connection", message: "killed", ambiguous: false });
      sent.push(operation);
      const output = await lab.engine.transport.send(operation, input, options);
      if (operation === "UpdateTable" && dies) isDead = true;
      if (operation !== "DescribeTable" || left-- <= 0) return output;
      const { Table } = output as { readonly Table: TableDescription };
      const GlobalSecondaryIndexes = Table.GlobalSecondaryIndexes?.map((one) =>
        one.IndexName === "byName" ? { ...one, IndexStatus: "CREATING", Backfilling: true } : one,
      );
      return { Table: { ...Table, GlobalSecondaryIndexes } } as never;
    },
    close: () => undefined,
  };
  return { transport, sent };
};

test("a run that is resumed waits until DynamoDB has built the index, and looks at every item once more", async () => {
  await fill(40);
  const indexes = { byName: byName() };
  const dying = connectTo(indexes, { transport: building(0, true).transport, retry: { attempts: 1 } });
  await expect(dying.migrations.run({ ...fast, finish: true })).rejects.toThrow("killed");
  const { transport, sent } = building(8, false);
  const db = connectTo(indexes, { transport });
  const plan = (await db.migrations.status()).plan;
  expect(plan.steps.map(({ kind, says }) => [kind, says])).toContainEqual([
    "createIndex",
    'wait until DynamoDB has built the index "byName"',
  ]);
  sent.length = 0;
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(sent).not.toContain("UpdateTable");
  const [last, built] = [sent.lastIndexOf("Scan"), sent.lastIndexOf("DescribeTable")];
  expect(sent.filter((one) => one === "DescribeTable").length).toBeGreaterThan(6);
  expect(last).toBeGreaterThan(built);
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
});

test("undoing a migration leaves an index that another program had begun to build before it", async () => {
  await fill(10);
  const indexes = { byName: byName() };
  const dying = connectTo(indexes, { transport: building(0, true).transport, retry: { attempts: 1 } });
  await expect(dying.migrations.run({ ...fast, finish: true })).rejects.toThrow("killed");
  const db = connectTo(indexes, { transport: building(100, false).transport });
  await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: { S: "~model" }, sk: { S: "#" } } }, {});
  expect(await db.migrations.run({ ...fast })).toMatchObject({ complete: false });
  expect(await connectTo(indexes).migrations.undo()).toMatchObject({ undone: true, deleted: [] });
});
