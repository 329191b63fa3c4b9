import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { edge } from "../schema/edge.ts";
import { node } from "../schema/node.ts";
import { openWriteLab, type WriteLab } from "../testing/test-support/write-lab.ts";

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
const ownerOf = async (email: string): Promise<string | undefined> =>
  (await lab.items())[`~unique#user#email#${email} / #`]?.["~owner"]?.S as string | undefined;
const countOf = async (key: string): Promise<string | undefined> => (await lab.items())[key]?.["~count"]?.N as string | undefined;

describe("unique values that pass from one call of a transaction to another", () => {
  test("two nodes swap them", async () => {
    const users = lab.node("user");
    expect(await answer([users.update(ann, { email: mail("b") }), users.update(bob, { email: mail("a") })])).toBe("plan.unsupported");
  });

  test("one gives its value up, by a change or a deletion, and another takes it", async () => {
    const users = lab.node("user");
    const eve = { id: `eve${round}`, email: mail("a") };
    expect(await answer([users.update(ann, { email: mail("c") }), users.create(eve)])).toBe("plan.unsupported");
    expect(await answer([users.create(eve), users.delete(ann)])).toBe("plan.unsupported");
    expect(await answer([users.put({ ...ann }), users.put({ ...bob, email: mail("a") })])).toBe("plan.unsupported");
  });

  test("two nodes ask for the same one", async () => {
    const users = lab.node("user");
    const same = { email: mail("c") };
    expect(await answer([users.create({ id: `eve${round}`, ...same }), users.update(ann, same)])).toBe("plan.unsupported");
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
    expect(operations()).toEqual(["BatchGetItem", "Query", "TransactWriteItems"]);
    expect(await countOf(`USER#${ann.id} / ~degree#leads#out`)).toBe("1");
    expect(await countOf(`TEAM#${red!.id} / ~degree#leads#in`)).toBe("0");
  });
});
