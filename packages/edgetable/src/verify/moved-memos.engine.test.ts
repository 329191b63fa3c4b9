import { expect, test } from "vitest";
import { textAt } from "../schema/system-items.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import type { Item } from "../transport/operations.ts";
import { verify, type VerifyOptions } from "./index.ts";
import { streamedCourse } from "./streamed-course.test-support.ts";

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, ...options });
  return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]])), kinds };
};

interface Keys {
  readonly pk: string;
  readonly sk: string;
}
const damages: Readonly<Record<string, (at: Keys) => Keys & { readonly stays: boolean }>> = {
  "lies under another key": ({ pk, sk }) => ({ pk, sk: `${sk}x`, stays: false }),
  "is there twice": ({ pk, sk }) => ({ pk, sk: `${sk}x`, stays: true }),
  "lies with another node": ({ pk, sk }) => ({ pk: pk.replace("$Sc$S", "$Sd$S"), sk, stays: false }),
  "lies with another node, too": ({ pk, sk }) => ({ pk: pk.replace("$Sc$S", "$Sd$S"), sk, stays: true }),
  "lies with no node": ({ pk, sk }) => ({ pk: `${pk}x`, sk, stays: true }),
};

const filled = async () => {
  const opened = await openFactsLab(streamedCourse);
  const { db, lab, session } = opened;
  for (const user of ["a", "b", "e"]) await db.user.create({ id: user }).orThrow();
  for (const course of ["c", "d"]) await db.course.create({ id: course }).orThrow();
  await db.takes.put({ id: "a" }, { id: "c" }, { grade: 1 });
  await db.takes.put({ id: "b" }, { id: "c" }, { grade: 2 });
  await db.takes.put({ id: "e" }, { id: "d" }, { grade: 3 });
  await lab.drain(session);
  expect((await verified(db)).found).toEqual({});
  return opened;
};

test("the processor takes no value of a memo under another key", async () => {
  const { db, lab, session } = await filled();
  try {
    const memo = (await lab.items()).find((item) => textAt(item, "~node").includes('"d"') && "~source" in item)!;
    const moved = { ...memo, pk: { S: textAt(memo, "pk").replace("$Sd$S", "$Sc$S") } };
    await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: moved });
    await lab.take();
    await db.takes.put({ id: "a" }, { id: "c" }, { grade: 0 });
    await lab.drain(session);
    expect(await db.course.get({ id: "c" })).toEqual({ id: "c", users: 2, points: 2, best: 2, grades: 2 });
    const { kinds } = await verified(db);
    expect(kinds.flatMap(({ examples }) => examples.map(({ reason }) => reason))).toEqual([
      expect.stringMatching(/^A memo has the wrong key/),
    ]);
    expect((await verified(db, { repair: true })).clean).toBe(true);
    expect((await verified(db)).found).toEqual({});
  } finally {
    await lab.stop();
  }
});

const unreadable: Readonly<Record<string, (memo: Item) => Item>> = {
  "whose node is no place": (memo) => ({ ...memo, "~node": { S: "x" } }),
  "whose node is no text": (memo) => ({ ...memo, "~node": { N: "1" } }),
  "without its node": ({ "~node": _node, ...memo }) => memo,
  "whose row's key is a text": (memo) => ({ ...memo, "~source": { S: "x" } }),
};
for (const [name, damage] of Object.entries(unreadable))
  test.each(["is there", "is gone"])(`a memo ${name} is named and repaired, and its row %s`, async (row) => {
    const { db, lab, session } = await filled();
    try {
      const memo = (await lab.items()).find((item) => textAt(item, "~node").includes('"c"') && "~source" in item)!;
      const { M: source } = memo["~source"] as { readonly M: Item };
      await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: damage(memo) });
      if (row === "is gone") await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: source as never });
      await lab.take();
      const { clean, kinds } = await verified(db);
      expect(clean).toBe(false);
      expect(kinds.flatMap(({ kind, examples }) => (kind === "unreadable" ? examples : []))).toMatchObject([
        { key: { pk: memo["pk"], sk: memo["sk"] }, reason: expect.stringMatching(/^A memo does not name/) as string },
      ]);
      expect((await verified(db, { repair: true })).clean).toBe(true);
      expect((await verified(db)).found).toEqual({});
      await lab.drain(session);
      expect((await verified(db)).found).toEqual({});
      expect((await db.course.get({ id: "c" }))?.users).toBe(row === "is there" ? 2 : 1);
      for (const user of ["a", "b"]) await db.takes.unlink({ id: user }, { id: "c" });
      await lab.drain(session);
      expect(await db.course.get({ id: "c" })).toEqual({ id: "c", users: 0, points: 0, grades: 0 });
    } finally {
      await lab.stop();
    }
  });

for (const [name, move] of Object.entries(damages))
  test(`a memo that ${name} is found and removed, and the facts are right`, async () => {
    const { db, lab, session } = await openFactsLab(streamedCourse);
    try {
      for (const user of ["a", "b", "e"]) await db.user.create({ id: user }).orThrow();
      for (const course of ["c", "d"]) await db.course.create({ id: course }).orThrow();
      await db.takes.put({ id: "a" }, { id: "c" }, { grade: 1 });
      await db.takes.put({ id: "b" }, { id: "c" }, { grade: 2 });
      await db.takes.put({ id: "e" }, { id: "d" }, { grade: 3 });
      await lab.drain(session);
      expect((await verified(db)).found).toEqual({});
      const rows = async () => [await db.course.get({ id: "c" }), await db.course.get({ id: "d" })];
      const right = [
        { id: "c", users: 2, points: 3, best: 2, grades: 2 },
        { id: "d", users: 1, points: 3, best: 3, grades: 1 },
      ];
      expect(await rows()).toEqual(right);
      const memo = (await lab.items()).find((item) => textAt(item, "~node").includes('"c"') && "~source" in item)!;
      const { stays, ...moved } = move({ pk: textAt(memo, "pk"), sk: textAt(memo, "sk") });
      const key = { pk: { S: moved.pk }, sk: { S: moved.sk } };
      const { transport } = lab.engine;
      if (!stays) await transport.send("DeleteItem", { TableName: lab.table, Key: { pk: memo["pk"]!, sk: memo["sk"]! } });
      await transport.send("PutItem", { TableName: lab.table, Item: { ...memo, ...key } });

      const { clean, kinds } = await verified(db);
      expect(clean).toBe(false);
      expect(kinds.flatMap(({ examples }) => examples)).toContainEqual(
        expect.objectContaining({
          kind: "staleFact",
          key,
          definition: "course",
          other: { pk: memo["pk"], sk: memo["sk"] },
          reason: expect.stringMatching(/^A memo has the wrong key/) as string,
        }),
      );
      const repaired = await verified(db, { repair: true });
      expect(repaired.clean).toBe(true);
      expect(await rows()).toEqual(right);
      expect((await verified(db)).found).toEqual({});
      expect((await lab.items()).some((item) => textAt(item, "pk") === moved.pk && textAt(item, "sk") === moved.sk)).toBe(false);
      await lab.drain(session);
      for (const user of ["a", "b"]) await db.takes.unlink({ id: user }, { id: "c" });
      await lab.drain(session);
      expect(await rows()).toEqual([{ id: "c", users: 0, points: 0, grades: 0 }, right[1]]);
      expect((await verified(db)).found).toEqual({});
    } finally {
      await lab.stop();
    }
  });
