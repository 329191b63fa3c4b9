import { expect, test } from "vitest";
import { textAt } from "../schema/system-items.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import { refreshFacts } from "../streams/refresh-facts.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { verify, type VerifyOptions } from "./index.ts";
import { streamedCourse } from "./streamed-course.test-support.ts";

const USERS = ["u0", "u1", "u2", "u3"] as const;

/** A table of which each fact has been written several times. */
const filled = async () => {
  const opened = await openFactsLab(streamedCourse);
  const { db, lab, session } = opened;
  for (const user of USERS) await db.user.create({ id: user }).orThrow();
  await db.course.create({ id: "c" }).orThrow();
  await db.room.create({ id: "r" }).orThrow();
  await db.buys.link({ id: "u0" }, { id: "r" }).orThrow();
  const add = async (at: number) => {
    const [from, grade] = [{ id: USERS[at]! }, at + 1];
    await db.takes.put(from, { id: "c" }, { grade });
    await db.uses.put(from, { id: "r" }, { seats: grade });
    await db.orders.put({ id: "u0" }, { id: "r" }, { no: String(at), amount: grade });
    await lab.drain(session);
  };
  for (const at of [0, 1, 2]) await add(at);
  const shown = async () => ({
    course: await db.course.get({ id: "c" }),
    room: await db.room.get({ id: "r" }),
    buys: await db.buys.get({ id: "u0" }, { id: "r" }),
    bought: await db.room({ id: "r" }).in("buys").edges(),
  });
  return { ...opened, add, shown };
};

const after = (edges: number) => {
  const amount = (edges * (edges + 1)) / 2;
  const bought = { from: { id: "u0" }, to: { id: "r" }, amount };
  return {
    course: { id: "c", users: edges, points: amount, best: edges, grades: edges },
    room: { id: "r", most: edges },
    buys: bought,
    bought: [bought],
  };
};

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, ...options });
  const found = Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]]));
  const reasons = kinds.flatMap(({ examples }) => examples.map(({ reason }) => reason)).toSorted();
  return { clean, found, reasons };
};

const CLEAN = { clean: true, found: {}, reasons: [] };

type Opened = Awaited<ReturnType<typeof filled>>;
const isFacts = (item: Item): boolean => textAt(item, "pk").startsWith("~facts#") && textAt(item, "sk") === "#";
const isShowing = (item: Item): boolean => "~streamed" in item;

const change = async (
  { lab }: Opened,
  which: (item: Item) => boolean,
  edit: (item: Record<string, AttributeValue>) => Item | undefined,
): Promise<number> => {
  const items = (await lab.items()).filter(which);
  for (const item of items) {
    const { pk, sk } = item;
    const edited = edit({ ...item });
    const isSame = edited && textAt(edited, "pk") === textAt(item, "pk");
    if (!isSame) await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: pk!, sk: sk! } });
    if (edited) await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: edited });
  }
  return items.length;
};

const damages = {
  "the facts' items are lost": { which: isFacts, edit: () => undefined, items: 3 },
  "the facts' items are older": { which: isFacts, edit: (item) => ({ ...item, "~revision": { N: "1" } }), items: 3 },
  "the items show a later revision": { which: isShowing, edit: (item) => ({ ...item, "~streamed": { N: "1000" } }), items: 4 },
  "the items show a text for a revision": { which: isShowing, edit: (item) => ({ ...item, "~streamed": { S: "z" } }), items: 4 },
  "the items show a revision without end": { which: isShowing, edit: (item) => ({ ...item, "~streamed": { N: "9e125" } }), items: 4 },
  "the facts' items have a text for a revision": {
    which: isFacts,
    edit: (item) => ({ ...item, "~revision": { S: "z" } }),
    items: 3,
  },
  "the sums are texts": {
    which: isFacts,
    edit: (item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, name.startsWith("~sum#") ? { S: "x" } : value])),
    items: 3,
  },
  "the numbers behind counts are texts": {
    which: (item) => isFacts(item) && "~count#users" in item,
    edit: (item) => ({ ...item, "~count#users": { S: "x" } }),
    items: 1,
  },
} satisfies Record<
  string,
  {
    readonly which: (item: Item) => boolean;
    readonly edit: (item: Record<string, AttributeValue>) => Item | undefined;
    readonly items: number;
  }
>;

for (const [name, { which, edit, items }] of Object.entries(damages)) {
  test(`${name}: a repair makes the next changes count`, async () => {
    const opened = await filled();
    const { db, lab, add, shown } = opened;
    try {
      expect(await verified(db)).toEqual(CLEAN);
      expect(await shown()).toEqual(after(3));
      expect(await change(opened, which, edit)).toBe(items);
      const { clean, found } = await verified(db);
      expect([clean, Object.keys(found)]).toEqual([false, ["staleFact"]]);
      const repaired = await verified(db, { repair: true });
      expect(repaired.clean).toBe(true);
      expect(repaired.found["staleFact"]?.[1]).toBe(repaired.found["staleFact"]?.[0]);
      expect(await verified(db)).toEqual(CLEAN);
      await add(3);
      expect(await shown()).toEqual(after(4));
      expect(await verified(db)).toEqual(CLEAN);
    } finally {
      await lab.stop();
    }
  });

  test(`${name}: refreshFacts makes the next changes count`, async () => {
    const opened = await filled();
    const { db, lab, add, shown } = opened;
    try {
      await change(opened, which, edit);
      await lab.take();
      expect((await refreshFacts(db)).failed).toEqual([]);
      await lab.take();
      await add(3);
      expect(await shown()).toEqual(after(4));
      expect(await verified(db)).toEqual(CLEAN);
    } finally {
      await lab.stop();
    }
  });

  test(`${name}: the processor counts the next change and all before it`, async () => {
    const opened = await filled();
    const { db, lab, add, shown } = opened;
    try {
      await change(opened, which, edit);
      await lab.take();
      await add(3);
      expect(await shown()).toEqual(after(4));
      expect(await verified(db)).toEqual(CLEAN);
    } finally {
      await lab.stop();
    }
  });
}

test("a text in a sum to which a change adds nothing is not taken for 0", async () => {
  const opened = await filled();
  const { db, lab, session, shown } = opened;
  try {
    await change(opened, isFacts, (item) => ("~sum#points" in item ? { ...item, "~sum#points": { S: "x" } } : item));
    await lab.take();
    await db.takes.put({ id: "u3" }, { id: "c" }, { grade: 0 });
    await lab.drain(session);
    expect((await shown()).course).toEqual({ id: "c", users: 4, points: 6, best: 3, grades: 4 });
    expect(await verified(db)).toEqual(CLEAN);
  } finally {
    await lab.stop();
  }
});

test("a node that was moved to another key as it was has its facts computed anew", async () => {
  for (const mend of ["repair", "refresh", "processor"] as const) {
    const opened = await filled();
    const { db, lab, session } = opened;
    try {
      const isCourse = (item: Item): boolean => textAt(item, "pk") === "COURSE#c";
      expect(await change(opened, isCourse, (item) => ({ ...item, pk: { S: "COURSE#moved" } }))).toBe(1);
      if (mend === "processor") await lab.drain(session);
      else {
        await lab.take();
        expect((await verified(db)).reasons).toContainEqual(expect.stringMatching(/^"users" is 3; the edges of "takes" make it 0[.]/));
        if (mend === "refresh") expect((await refreshFacts(db)).failed).toEqual([]);
        // The last one is what was kept of the edges to the old key, which the repair unlinks.
        else expect((await verified(db, { repair: true, deleteOrphans: true })).found["staleFact"]).toEqual([5, 5]);
      }
      expect(await db.course.get({ id: "moved" })).toEqual({ id: "moved", users: 0, points: 0, grades: 0 });
      await db.takes.put({ id: "u3" }, { id: "moved" }, { grade: 7 });
      await lab.drain(session);
      expect(await db.course.get({ id: "moved" })).toEqual({ id: "moved", users: 1, points: 7, best: 7, grades: 1 });
      const { found } = await verified(db, { deleteOrphans: true, repair: true });
      expect(found["staleFact"]).toEqual(mend === "repair" ? undefined : [1, 1]);
      expect((await verified(db)).found).toEqual({});
    } finally {
      await lab.stop();
    }
  }
});
