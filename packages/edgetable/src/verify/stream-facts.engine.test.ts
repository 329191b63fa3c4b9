import { expect, test } from "vitest";
import { z } from "zod";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import { refreshFacts } from "../streams/refresh-facts.ts";
import { average, count, defineGraph, distinct, edge, max, min, node, part, sum } from "../index.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { verify, type VerifyOptions, type VerifyProgress } from "./index.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({
        key: "STUDENT#{id}",
        schema: z.object({ id }),
        derived: { friends: count({ out: "knows", ...stream }), known: count({ in: "knows", ...stream }) },
      }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id }),
        derived: {
          students: count({ in: "takes", ...stream }),
          points: sum({ in: "takes", of: "grade", ...stream }),
          mean: average({ in: "takes", of: "grade", ...stream }),
          notes: count({ parts: "note", ...stream }),
        },
      }),
      room: node({
        key: "ROOM#{id}",
        schema: z.object({ id }),
        derived: {
          best: max({ in: "uses", of: "seats" }),
          least: min({ in: "uses", of: "seats" }),
          kinds: distinct({ in: "uses", of: "seats" }),
          users: count({ in: "uses", ...stream }),
        },
      }),
    },
    parts: { note: part({ of: "course", key: "NOTE#{at}", schema: z.object({ at: z.string() }) }) },
    edges: {
      takes: edge({ from: "student", to: "course", schema: z.object({ grade: z.number().optional() }), stored: "twice" }),
      uses: edge({ from: "student", to: "room", schema: z.object({ seats: z.number() }) }),
      knows: edge({ from: "student", to: "student", symmetric: true }),
    },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

const filled = async () => {
  const opened = await openFactsLab(modelIn);
  const { db, lab, session } = opened;
  for (let at = 0; at < 6; at++) await db.student.create({ id: `s${at}` });
  for (let at = 0; at < 3; at++) await db.course.create({ id: `c${at}` });
  for (let at = 0; at < 2; at++) await db.room.create({ id: `r${at}` });
  for (let at = 0; at < 12; at++) {
    const from = { id: `s${at % 6}` };
    await db.takes.put(from, { id: `c${at % 2}` }, at % 3 ? { grade: at / 4 } : {});
    await db.uses.put(from, { id: "r0" }, { seats: at % 5 });
    await db.knows.put(from, { id: `s${(at * 2 + 1) % 6}` });
    if (at < 4) await db.note.put({ id: "c1" }, { at: String(at) });
  }
  await lab.drain(session);
  return opened;
};

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, ...options });
  const found = Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]]));
  const reasons = kinds.flatMap(({ examples }) => examples.map(({ reason }) => reason)).toSorted();
  return { clean, found, reasons };
};

type Lab = Awaited<ReturnType<typeof filled>>["lab"];
const change = async (lab: Lab, which: (item: Item) => boolean, edit: (item: Record<string, AttributeValue>) => void): Promise<void> => {
  const item: Record<string, AttributeValue> = { ...(await lab.items()).find(which) };
  edit(item);
  await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: item });
};
const has = (item: Item, name: string, text: string): boolean => JSON.stringify(item[name] ?? "").includes(text);
const isNode = (key: string) => (item: Item) => has(item, "pk", key) && !has(item, "pk", "~") && has(item, "sk", '"#"');
const ofFacts = (item: Item, type: string, key: string): boolean => has(item, "pk", `~facts#${type}#`) && has(item, "pk", key);
const isFacts = (type: string, key: string) => (item: Item) => ofFacts(item, type, key) && has(item, "sk", '"#"');
const isMemo = (type: string, key: string) => (item: Item) => ofFacts(item, type, key) && "~source" in item;

test("what the stream keeps is right, and is found and computed anew where somebody changed it", async () => {
  const { db, lab, session } = await filled();
  try {
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
    const rows = async () => ({
      courses: await db.course.getMany([{ id: "c0" }, { id: "c1" }, { id: "c2" }]),
      rooms: await db.room.getMany([{ id: "r0" }, { id: "r1" }]),
      student: await db.student.get({ id: "s1" }),
      bySize: await db.find("course").rows(),
    });
    const before = await rows();
    expect(before.courses[0]).toMatchObject({ students: 6 - 3, notes: 0 });

    await change(lab, isNode("COURSE#c0"), (item) => {
      item["students"] = { N: "77" };
      delete item["notes"];
    });
    await change(lab, isNode("COURSE#c1"), (item) => void (item["mean"] = { N: "99" }));
    await change(lab, isNode("ROOM#r0"), (item) => {
      item["best"] = { N: "12" };
      item["kinds"] = { N: "1" };
    });
    await change(lab, isFacts("course", "c1"), (item) => void (item["~sum#points"] = { N: "1000" }));
    await change(lab, isMemo("student", "s1"), (item) => void (item["~contribution"] = { M: { "~count#friends": { N: "5" } } }));
    const found = await verified(db);
    expect(found.reasons).toEqual([
      expect.stringMatching(/^"best" is 12; the edges of "uses" make it 4[.]/),
      expect.stringMatching(/^"kinds" is 1; the edges of "uses" make it \d[.]/),
      expect.stringMatching(/^"mean" is 99; the edges of "takes" make it [\d.]+[.] The stream processor/),
      '"notes" is missing; the parts of "note" make it 0. The stream processor is behind, or missed a change.',
      '"students" is 77; the edges of "takes" make it 3. The stream processor is behind, or missed a change.',
      expect.stringMatching(/memos differ from their edges and parts[.]$/),
    ]);
    expect(found.found).toEqual({ staleFact: [6, 0] });
    const written: string[] = [];
    expect(await verified(db, { repair: "dryRun", onWrite: ({ operation }) => void written.push(operation) })).toMatchObject(found);
    expect(written).toEqual(["rebuildFacts", "rebuildFacts", "rebuildFacts", "rebuildFacts"]);
    expect(await verified(db, { repair: true })).toMatchObject({ clean: true, found: { staleFact: [6, 6] } });
    expect(await rows()).toEqual(before);
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
    // The next change adds to right sums.
    await db.takes.put({ id: "s5" }, { id: "c1" }, { grade: 2 });
    await lab.drain(session);
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
  } finally {
    await lab.stop();
  }
});

test("changes that the processor has not seen are found, and one that comes while they are judged is none", async () => {
  const { db, lab, session } = await filled();
  try {
    await db.takes.put({ id: "s5" }, { id: "c2" }, { grade: 2 });
    await db.uses.put({ id: "s5" }, { id: "r1" }, { seats: 2 });
    await db.knows.unlink({ id: "s0" }, { id: "s1" });
    expect((await verified(db)).found).toEqual({ staleFact: [11, 0] });
    const late = verified(db, { staleAfter: 12_000 });
    await lab.drain(session);
    expect(await late).toEqual({ clean: true, found: {}, reasons: [] });
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
  } finally {
    await lab.stop();
  }
});

test("a deletion of which no processor was told is made up for", async () => {
  const { db, lab } = await filled();
  try {
    await db.takes.unlink({ id: "s1" }, { id: "c1" });
    await db.note.delete({ id: "c1" }, { at: "2" });
    await lab.take();
    expect(await verified(db, { repair: true })).toMatchObject({ clean: true, found: { staleFact: [4, 4] } });
    expect(await db.course.get({ id: "c1" })).toMatchObject({ notes: 3 });
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
  } finally {
    await lab.stop();
  }
});

test("a sum that somebody changed by hand is added up again by refreshFacts", async () => {
  const { db, lab } = await filled();
  try {
    const before = await db.course.get({ id: "c1" });
    await change(lab, isFacts("course", "c1"), (item) => {
      item["~sum#points"] = { N: "1000" };
      item["~count#students"] = { N: "3000" };
    });
    expect((await refreshFacts(db)).failed).toEqual([]);
    expect(await db.course.get({ id: "c1" })).toEqual(before);
    expect(await verified(db)).toEqual({ clean: true, found: {}, reasons: [] });
  } finally {
    await lab.stop();
  }
});

test("each scan of the table is a pass of its own", async () => {
  const { lab } = await filled();
  try {
    await change(lab, isNode("COURSE#c0"), (item) => void (item["students"] = { N: "77" }));
    const counted: number[] = [];
    const transport: Transport = {
      ...lab.engine.transport,
      send: (operation, input, options) => {
        if (operation === "Scan") counted.push(counted.length);
        return lab.engine.transport.send(operation, input, options);
      },
    };
    const passes = new Set<number>();
    const onProgress = ({ pass }: VerifyProgress): void => void passes.add(pass);
    await verified(modelIn(lab.table).connect({ transport }), { segments: 1, progressEvery: 1, onProgress });
    expect(counted).toHaveLength(3);
    expect(passes).toContain(3);
  } finally {
    await lab.stop();
  }
});
