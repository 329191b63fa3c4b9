import { expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, sum } from "../index.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import { readCounters } from "../streams/roll-up-counters.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { verify, type VerifyOptions } from "./index.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;
const cascade = { from: "cascade", to: "cascade" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id, name: z.string() }), unique: ["name"] }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id }),
        derived: {
          users: count({ in: "takes" }),
          mean: average({ in: "takes", of: "grade" }),
          points: sum({ in: "takes", of: "grade", ...stream }),
          likes: count({ in: "likes", shards: 2 }),
        },
      }),
    },
    edges: {
      takes: edge({
        from: "user",
        to: "course",
        schema: z.object({ grade: z.number() }),
        copies: { from: { userName: { of: "name", freshness: "stream" } } },
        maxDegree: { from: 5 },
        onDelete: cascade,
      }),
      likes: edge({ from: "user", to: "course", onDelete: cascade }),
    },
  });

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, ...options });
  return { clean, kinds: kinds.map(({ kind }) => kind), all: kinds.flatMap(({ count: all, repaired }) => [all, repaired]) };
};

const textAt = (item: Item, name: string): string => {
  const value = item[name];
  return value && "S" in value ? value.S : "";
};
const lies = (pk: string, sk: string) => (item: Item) => textAt(item, "pk").startsWith(pk) && textAt(item, "sk").startsWith(sk);
const isCounter = (one: string) => (item: Item) => textAt(item, "pk").startsWith("~counter#") && textAt(item, "pk").endsWith(one);

/** Opens a table in which `a` and `b` take and like `c`, and nobody takes or likes `d`. */
const filled = async () => {
  const opened = await openFactsLab(modelIn);
  const { db, lab, session } = opened;
  for (const user of ["a", "b", "e"]) await db.user.create({ id: user, name: user }).orThrow();
  for (const course of ["c", "d"]) await db.course.create({ id: course }).orThrow();
  for (const user of ["a", "b"]) await db.takes.link({ id: user }, { id: "c" }, { grade: 3 }).orThrow();
  for (const user of ["a", "b"]) await db.likes.link({ id: user }, { id: "c" }).orThrow();
  await db.likes.link({ id: "a" }, { id: "d" }).orThrow();
  await db.likes.unlink({ id: "a" }, { id: "d" }).orThrow();
  await lab.drain(session);
  const change = async (which: (item: Item) => boolean, changes: Item, removed: readonly string[] = []): Promise<number> => {
    const items = (await lab.items()).filter(which);
    for (const item of items) {
      const left = Object.entries({ ...item, ...changes }).filter(([attribute]) => !removed.includes(attribute));
      await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: Object.fromEntries(left) });
    }
    return items.length;
  };
  /** Links once more, and tells what each course shows. */
  const linkAndShow = async () => {
    for (const course of ["c", "d"]) {
      await db.takes.link({ id: "e" }, { id: course }, { grade: 3 }).orThrow();
      await db.likes.link({ id: "e" }, { id: course }).orThrow();
    }
    await db.user.update({ id: "a" }, { name: "anna" }).orThrow();
    await lab.drain(session);
    const courses = await db.course.getMany([{ id: "c" }, { id: "d" }]);
    const counters = [await readCounters(db, "course", { id: "c" }), await readCounters(db, "course", { id: "d" })];
    return { courses, counters, copy: (await db.takes.get({ id: "a" }, { id: "c" }))?.userName };
  };
  return { ...opened, change, linkAndShow };
};

const LINKED = {
  courses: [
    { id: "c", users: 3, mean: 3, points: 9, likes: 3 },
    { id: "d", users: 1, mean: 3, points: 3, likes: 1 },
  ],
  counters: [{ likes: 3 }, { likes: 1 }],
  copy: "anna",
};

const z9: AttributeValue = { S: "z" };
const damages: Readonly<Record<string, readonly [which: (item: Item) => boolean, changes: Item, items: number]>> = {
  "the revision of a node": [lies("COURSE#", "#"), { "~derived": z9 }, 2],
  "the sums and numbers of a node": [lies("COURSE#", "#"), { "~sum#mean": z9, "~count#mean": z9, users: z9 }, 2],
  "the revision of a node's counters": [lies("COURSE#", "#"), { "~rolled": z9 }, 2],
  "the facts that a node shows": [lies("COURSE#", "#"), { "~streamed": z9, points: z9 }, 2],
  "the revision of copies": [lies("USER#", "takes#"), { "~copies": z9 }, 2],
  "a guard": [lies("USER#", "~degree#"), { "~count": z9, "~revision": z9 }, 2],
  "sums of facts": [lies("~facts#", "#"), { "~sum#points": z9 }, 1],
  "the revision of a memo": [lies("~facts#", "in."), { "~revision": z9 }, 2],
  "what a memo says": [lies("~facts#", "in."), { "~contribution": z9 }, 2],
  counters: [isCounter(""), { "~count#likes": z9 }, 3],
  "the revisions of counters": [isCounter(""), { "~counter": z9 }, 3],
  "the node that counters name": [isCounter(""), { "~node": z9 }, 3],
};

test("a table without a damage is clean", async () => {
  const { db, lab } = await filled();
  try {
    expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
  } finally {
    await lab.stop();
  }
});

for (const [name, [which, changes, items]] of Object.entries(damages))
  test(`a text in the place of ${name} is found and mended in one run, and links count`, async () => {
    const { db, lab, session, change, linkAndShow } = await filled();
    try {
      expect(await change(which, changes)).toBe(items);
      expect((await verified(db)).clean).toBe(false);
      const { clean, all } = await verified(db, { repair: true });
      expect(clean).toBe(true);
      expect(all.filter((_, at) => at % 2)).toEqual(all.filter((_, at) => at % 2 === 0));
      expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
      await lab.drain(session);
      expect(await linkAndShow()).toEqual(LINKED);
      expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
    } finally {
      await lab.stop();
    }
  });

const losses: Readonly<Record<string, readonly [which: (item: Item) => boolean, attribute: string, items: number]>> = {
  "the number of a guard": [lies("USER#", "~degree#"), "~count", 2],
  "the revision of a guard": [lies("USER#", "~degree#"), "~revision", 2],
  "the revision of a memo": [lies("~facts#", "in."), "~revision", 2],
  "the row of a memo": [lies("~facts#", "in."), "~source", 2],
  "the node of a memo": [lies("~facts#", "in."), "~node", 2],
  "what a memo says": [lies("~facts#", "in."), "~contribution", 2],
  "the revision of sums of facts": [lies("~facts#", "#"), "~revision", 1],
  "sums of facts": [lies("~facts#", "#"), "~sum#points", 1],
  "the revisions of counters": [isCounter(""), "~counter", 3],
  counters: [isCounter(""), "~count#likes", 3],
  "the node that counters name": [isCounter(""), "~node", 3],
  "the owner of a marker": [lies("~unique#", ""), "~owner", 3],
};

for (const [name, [which, attribute, items]] of Object.entries(losses))
  test(`${name} that somebody removed is mended in one run, and the table can be scanned before`, async () => {
    const { db, lab, session, change, linkAndShow } = await filled();
    try {
      expect(await change(which, {}, [attribute])).toBe(items);
      const rows: unknown[] = [];
      for await (const row of db.scan()) rows.push(row);
      expect(rows).toHaveLength(9);
      const { kinds } = await verified(db);
      expect(kinds).not.toContain("unclaimed");
      expect(await verified(db, { repair: true })).toMatchObject({ clean: true, kinds });
      expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
      await lab.drain(session);
      expect(await linkAndShow()).toEqual(LINKED);
      expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
    } finally {
      await lab.stop();
    }
  });

test("counters of a node that name another one are mended, and those of no node are deleted", async () => {
  const { db, lab, change, linkAndShow } = await filled();
  try {
    const [c] = (await lab.items()).filter(isCounter("#0")).filter((item) => textAt(item, "~node").includes('"c"'));
    const wrong = { "~node": { S: textAt(c!, "~node").replace('"c"', '"d"') } };
    expect(await change((item) => textAt(item, "pk") === textAt(c!, "pk"), wrong)).toBe(1);
    const orphan = { ...c, pk: { S: textAt(c!, "pk").replace(/c(?=[^#]*#in[.])/, "x") }, "~node": z9 };
    await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: orphan });
    expect((await verified(db)).kinds).toEqual(["drift", "idleGuard"]);
    expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: ["drift", "idleGuard"], all: [2, 2, 1, 1] });
    expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
    expect((await lab.items()).some((item) => textAt(item, "pk") === textAt(orphan, "pk"))).toBe(false);
    expect(await linkAndShow()).toEqual(LINKED);
  } finally {
    await lab.stop();
  }
});

test("a type that is no text drifts from the key, and is written", async () => {
  const { db, lab, change } = await filled();
  try {
    for (const type of [{ N: "1" }, { L: [] }, { SS: ["user"] }] satisfies AttributeValue[]) {
      expect(await change(lies("USER#", "#"), { type })).toBe(3);
      expect((await verified(db)).kinds).toEqual(["drift"]);
      expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: ["drift"], all: [3, 3] });
      expect((await lab.items()).filter(lies("USER#", "#")).map((item) => item["type"])).toEqual([
        { S: "user" },
        { S: "user" },
        { S: "user" },
      ]);
    }
  } finally {
    await lab.stop();
  }
});

test("a record of the model that does not read is removed", async () => {
  const { db, lab, change } = await filled();
  try {
    for (const record of [{ S: '{"hash":"x' }, { S: "7" }, { N: "1" }] satisfies AttributeValue[]) {
      await change(lies("~model", "#"), { "~model": record });
      expect((await verified(db)).kinds).toEqual(["unreadable"]);
      expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: ["unreadable"], all: [1, 1] });
      expect((await lab.items()).filter(lies("~model", "#"))).toEqual([]);
      await lab.engine.transport.send("PutItem", {
        TableName: lab.table,
        Item: { pk: { S: "~model" }, sk: { S: "#" }, type: { S: "~model" }, "~model": record },
      });
    }
  } finally {
    await lab.stop();
  }
});

const counted = {
  "a limit at the target": { multiplicity: "one-to-many" },
  "a restriction at the target": { onDelete: { from: "cascade", to: "restrict" } },
  "copies of the target": { copies: { to: ["name"] } },
} as const;

for (const [name, settings] of Object.entries(counted))
  test(`a record that does not read hides no wrong guard of ${name}`, async () => {
    const leadersIn = (table: string) =>
      defineGraph({
        table,
        nodes: { user: node({ key: "USER#{id}", schema: z.object({ id, name: z.string() }) }) },
        edges: { leads: edge({ from: "user", to: "user", onDelete: cascade, ...settings }) },
      });
    const { db, lab } = await openFactsLab(leadersIn);
    const other = leadersIn(lab.table).connect({ transport: lab.engine.transport });
    const send = async (item: Item) => lab.engine.transport.send("PutItem", { TableName: lab.table, Item: item });
    try {
      for (const user of ["a", "b"]) await db.user.create({ id: user, name: user }).orThrow();
      await db.leads.link({ id: "a" }, { id: "b" }).orThrow();
      for (const item of (await lab.items()).filter(lies("USER#b", "~degree#"))) await send({ ...item, "~count": { N: "7" } });
      await send({ pk: { S: "~model" }, sk: { S: "#" }, type: { S: "~model" }, "~model": { S: "{" } });
      expect(await verified(other)).toEqual({ clean: false, kinds: ["unreadable", "wrongCount"], all: [1, 0, 1, 0] });
      await expect(other.user({ id: "b" }).in("leads").edges()).rejects.toMatchObject({ code: "migrate.brokenRecord" });
      expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: ["unreadable", "wrongCount"], all: [1, 1, 1, 1] });
      expect(await verified(db)).toEqual({ clean: true, kinds: [], all: [] });
    } finally {
      await lab.stop();
    }
  });
