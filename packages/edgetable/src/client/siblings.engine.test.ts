import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { edge, node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

const user = node({ key: "USER#{id}", schema: z.object({ id: z.string(), email: z.string().optional() }), unique: ["email"] });
const team = node({ key: "TEAM#{id}", schema: z.object({ id: z.string() }) });
const leads = edge({ from: "user", to: "team", multiplicity: "one-to-one" });
const joins = edge({ from: "user", to: "team", maxDegree: { from: 2 } });

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({ table: "Siblings", nodes: { user, team }, edges: { leads, joins } as never });
});
afterAll(() => lab.stop());

let round = 0;
let ann: { id: string };
let bob: { id: string };
let [red, blue, green]: readonly { id: string }[] = [];
const mail = (name: string): string => `${name}${round}@example.com`;
beforeEach(async () => {
  round++;
  const id = (name: string) => ({ id: `${name}${round}` });
  [ann, bob, red, blue, green] = [id("ann"), id("bob"), id("red"), id("blue"), id("green")];
  for (const one of [red, blue, green]) await lab.node("team").create(one).orThrow();
  await lab
    .node("user")
    .create({ ...ann, email: mail("a") })
    .orThrow();
  await lab
    .node("user")
    .create({ ...bob, email: mail("b") })
    .orThrow();
  lab.sent.length = 0;
});

const operations = (): readonly string[] => lab.sent.map(({ operation }) => operation);
const answer = async (calls: readonly unknown[]): Promise<unknown> => {
  try {
    const { ok, outcomes } = await lab.transact(calls as never);
    return ok ? "ok" : (outcomes as readonly { readonly reason: string }[]).map(({ reason }) => reason);
  } catch (error) {
    return isEdgetableError(error) ? error.code : error;
  }
};
const valueAt = async (key: string, attribute: string): Promise<unknown> => {
  const value = (await lab.items())[key]?.[attribute];
  return value && Object.values(value)[0];
};
const ownerOf = (email: string): Promise<unknown> => valueAt(`~unique#user#email#${email} / #`, "~owner");
const countOf = (key: string): Promise<unknown> => valueAt(key, "~count");

describe("unique values that pass from one call of a transaction to another", () => {
  test("two nodes swap them, in two reads and one transaction", async () => {
    const users = lab.node("user");
    expect(await answer([users.update(ann, { email: mail("b") }), users.update(bob, { email: mail("a") })])).toBe("ok");
    expect(operations()).toEqual(["BatchGetItem", "TransactWriteItems"]);
    const puts = lab.sent[1]?.input.TransactItems.filter((item: object) => "Put" in item);
    expect(puts.map(({ Put }: { Put: object }) => Put)).toEqual(
      ["a", "b"].map((name) => ({
        TableName: "Siblings",
        Item: {
          pk: { S: `~unique#user#email#${mail(name)}` },
          sk: { S: "#" },
          type: { S: "~unique" },
          "~owner": { S: JSON.stringify([name === "a" ? bob.id : ann.id]) },
        },
        // The marker passes on: it is the one of the node that gives the value up, or missing.
        ConditionExpression: "(attribute_not_exists(#0) OR #0 = :0)",
        ExpressionAttributeNames: { "#0": "~owner" },
        ExpressionAttributeValues: { ":0": { S: JSON.stringify([name === "a" ? ann.id : bob.id]) } },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      })),
    );
    expect(await ownerOf(mail("a"))).toBe(JSON.stringify([bob.id]));
    expect(await ownerOf(mail("b"))).toBe(JSON.stringify([ann.id]));
    expect(await users.create({ id: `eve${round}`, email: mail("a") })).toMatchObject({ ok: false, reason: "notUnique" });
  });

  test("one gives its value up, by a change or a deletion, and another takes it", async () => {
    const users = lab.node("user");
    const eve = { id: `eve${round}`, email: mail("a") };
    expect(await answer([users.update(ann, { email: mail("c") }), users.create(eve)])).toBe("ok");
    expect(await answer([users.create({ id: `dan${round}`, email: mail("b") }), users.delete(bob)])).toBe("ok");
    expect(await answer([users.put({ id: eve.id }), users.put({ ...ann, email: mail("a") })])).toBe("ok");
    expect(await ownerOf(mail("a"))).toBe(JSON.stringify([ann.id]));
    expect(await ownerOf(mail("b"))).toBe(JSON.stringify([`dan${round}`]));
    expect(await ownerOf(mail("c"))).toBeUndefined();
  });

  test("a value that a third node has taken meanwhile does not pass on", async () => {
    const users = lab.node("user");
    const key = { pk: { S: `~unique#user#email#${mail("a")}` }, sk: { S: "#" } };
    lab.hooks.before = async ({ operation }) => {
      if (operation !== "TransactWriteItems") return;
      lab.hooks = {};
      await lab.put({ ...key, type: { S: "~unique" }, "~owner": { S: JSON.stringify(["zoe"]) } });
    };
    const calls = [users.update(ann, { email: mail("c") }), users.create({ id: `eve${round}`, email: mail("a") })];
    expect(await answer(calls)).toEqual(["rolledBack", "notUnique"]);
    expect(await ownerOf(mail("a"))).toBe(JSON.stringify(["zoe"]));
  });

  test("two nodes that ask for the same one do not both get it, and nothing is sent but the reads", async () => {
    const users = lab.node("user");
    const same = { email: mail("c") };
    const eve = { id: `eve${round}` };
    expect(await answer([users.create({ ...eve, ...same }), users.update(ann, same)])).toEqual(["rolledBack", "notUnique"]);
    expect(operations()).toEqual(["GetItem"]);
    // The node that has the value keeps it.
    const kept = users.put({ ...ann, email: mail("a") });
    expect(await answer([users.create({ ...eve, email: mail("a") }), kept])).toEqual(["notUnique", "rolledBack"]);
  });
});

describe("edges of one transaction that count towards one limit", () => {
  test("to a node that the same transaction creates", async () => {
    const eve = { id: `eve${round}` };
    const join = (to: { id: string } | undefined) => lab.edge("joins").link(eve, to!);
    expect(await answer([lab.node("user").create(eve), join(red), join(blue), join(green)])).toEqual([
      "rolledBack",
      "degreeExceeded",
      "degreeExceeded",
      "degreeExceeded",
    ]);
    expect(await answer([lab.node("user").create(eve), join(red), join(blue)])).toBe("ok");
    expect(await countOf(`USER#${eve.id} / ~degree#joins#out`)).toBe("2");
  });

  test("one gives way to another", async () => {
    await lab.edge("leads").link(ann, red!).orThrow();
    lab.sent.length = 0;
    expect(await answer([lab.edge("leads").link(ann, blue!), lab.edge("leads").unlink(ann, red!)])).toBe("ok");
    // The count of the common node stays as it is: its counter is neither read nor written.
    expect(operations()).toEqual(["GetItem", "Query", "TransactWriteItems"]);
    expect(await countOf(`USER#${ann.id} / ~degree#leads#out`)).toBe("1");
    expect(await countOf(`TEAM#${red!.id} / ~degree#leads#in`)).toBe("0");
  });
});
