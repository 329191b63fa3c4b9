import { afterAll, beforeAll, describe, test } from "vitest";
import { openTables, type Tables } from "./open-tables.ts";
import { type Case, expectRefusal } from "./refusal.ts";

/** What a caller may hand in that a layout of somebody's own cannot take. */
let engine: Tables["engine"];
let adopted: Tables["adopted"];
let inAdopted: Tables["inAdopted"];

beforeAll(async () => {
  ({ engine, adopted, inAdopted } = await openTables());
});
afterAll(() => engine.close());

const adoptedCases: readonly Case[] = [
  [
    "an id that holds the delimiter",
    "keys.delimiter",
    ['"A#1"', '"#"'],
    () => adopted.bill.create({ billId: "A#1", status: "open", due: "2024" }),
  ],
  ["an id that holds the delimiter, in a read", "keys.delimiter", ['"A#1"', '"#"'], () => adopted.bill.get({ billId: "A#1" })],
  [
    "an attribute of an index key that is missing",
    "keys.incomplete",
    ['"due"', "Give it. Items may lack it only in an index whose entry is sparse."],
    () => adopted.bill.create({ billId: "1", status: "open" }),
  ],
  ["a number that is none", "schema.invalidValue", ['"amount"', "NaN"], () => adopted.bill.update({ billId: "1" }, { amount: Number.NaN })],
  [
    "a direction that no key serves",
    "plan.noIndex",
    ["owes", "Add such an index to the layout"],
    () => adopted.bill({ billId: "1" }).in("owes").edges(),
  ],
];

describe("an adopted layout", () => {
  test.each(adoptedCases)("%s: %s", async (...[, code, says, call]) => {
    await expectRefusal(call, { code, says }, inAdopted);
  });

  test("an item whose stored key the model cannot read: keys.unreadable", async () => {
    const Item = { PK: { S: "BILL#odd" }, SK: { S: "BILL" }, Type: { S: "bill" }, Status: { S: "closed" }, Due: { S: "DUE#2024" } };
    await engine.transport.send("PutItem", { TableName: inAdopted.name, Item });
    const says = ['"Status" is "closed"', "STATUS#{status}"];
    await expectRefusal(() => adopted.bill.get({ billId: "odd" }).run({ onStray: "throw" }), { code: "keys.unreadable", says }, inAdopted);
  });
});
