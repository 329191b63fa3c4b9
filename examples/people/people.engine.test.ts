import { expect, test } from "vitest";
import { describeExample } from "../test-support/describe-example.ts";
import { inOneOrder, seedFile, withoutSeedFile, type ExampleLab, type PlainItem } from "../test-support/example-lab.ts";
import { people, type PeopleDb } from "./model.ts";
import { system } from "./system.ts";

const [example, byTarget] = await system.tables();

const withoutShard = ({ GSIPK: _shard, ...item }: PlainItem): PlainItem => item;
const shardsOf = (items: readonly PlainItem[], ids: readonly string[]): readonly unknown[] => [
  ...new Set(items.filter((item) => ids.includes(String(item["NodeId"]))).map((item) => item["GSIPK"])),
];

const further = (lab: () => ExampleLab): void => {
  test("holds exactly the items of people.json, with shards of its own", async (context) => {
    const rows = seedFile("people.json") ?? context.skip(withoutSeedFile("people.json"));
    const items = await lab().items();
    expect(inOneOrder(items.map(withoutShard))).toEqual(inOneOrder((JSON.parse(rows) as PlainItem[]).map(withoutShard)));
  });

  test("all items of one person share one shard, and every reference node is in shard 0", async () => {
    const items = await lab().items();
    expect(items).toHaveLength(15);
    const [john, jane] = [shardsOf(items, ["1"]), shardsOf(items, ["5"])];
    expect([john, jane]).toEqual([[expect.stringMatching(/^P[0-2]$/)], [expect.stringMatching(/^P[0-2]$/)]]);
    expect(shardsOf(items, ["2", "3", "4", "6", "7"])).toEqual(["0"]);
  });

  test("both indexes hold every item", async () => {
    expect([await lab().items("GSI1"), await lab().items("GSI2")].map((items) => items.length)).toEqual([15, 15]);
  });

  test("a person who is renamed stays in their shard, and a friendship ends on both sides at once", async () => {
    const db: PeopleDb = people.connect({ transport: lab().transport });
    const [ann, bob] = [{ personId: "8" }, { personId: "9" }];
    await db.person.create({ ...ann, name: "Ann" }).orThrow();
    await db.person.create({ ...bob, name: "Bob" }).orThrow();
    await db.friendOf.link(ann, bob, { name: "Bob" }, { reverse: { name: "Ann" } }).orThrow();
    const before = shardsOf(await lab().items(), ["8"]);
    // The name is immutable in the table of this model whose shards it makes.
    await db.person.update(ann, { name: "Anna" } as object).orThrow();
    expect(shardsOf(await lab().items(), ["8"])).toEqual(before);
    expect(await db.person(bob).out("friendOf").edges()).toEqual([{ from: bob, to: ann, name: "Ann" }]);
    await db.friendOf.unlink(bob, ann).orThrow();
    expect(await db.person(ann).has("friendOf", bob)).toBe(false);
  });
};

describeExample("people", example!, { further });
describeExample("people, the second index by type and target", byTarget!, {});
