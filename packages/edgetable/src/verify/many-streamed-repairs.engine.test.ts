import { expect, test } from "vitest";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import type { Transport } from "../transport/transport.ts";
import { verify, type VerifyOptions } from "./index.ts";
import { streamedCourse } from "./streamed-course.test-support.ts";

const COURSES = 30;

/** Courses with three users each, and one with 130, of which no processor was told. */
const untold = async () => {
  const opened = await openFactsLab(streamedCourse);
  const { db, lab } = opened;
  const courses = Array.from({ length: COURSES }, (_, at) => ({ id: `c${at}` }));
  await db.load([...courses, { id: "large" }].map((row) => ({ node: "course", row }) as const));
  await db.load(Array.from({ length: 130 }, (_, at) => ({ node: "user", row: { id: `u${at}` } }) as const));
  const takes = (to: { id: string }, users: number) =>
    Array.from({ length: users }, (_, at) => ({ edge: "takes", from: { id: `u${at}` }, to, attributes: { grade: at % 5 } }) as const);
  await db.load([...courses.flatMap((course) => takes(course, 3)), ...takes({ id: "large" }, 130)]);
  await lab.take();
  const sent: { readonly operation: string; readonly input: unknown }[] = [];
  let [flying, most] = [0, 0];
  const transport: Transport = {
    ...lab.engine.transport,
    send: async (operation, input, options) => {
      sent.push({ operation, input });
      most = Math.max(most, ++flying);
      return lab.engine.transport.send(operation, input, options).finally(() => flying--);
    },
  };
  const counted = streamedCourse(lab.table).connect({ transport });
  const repair = async (options: VerifyOptions = {}) => {
    sent.length = 0;
    const { clean, kinds } = await verify(counted, { settle: 1, staleAfter: 1, segments: 1, repair: true, ...options });
    return { clean, found: Object.fromEntries(kinds.map(({ kind, count, repaired }) => [kind, [count, repaired]])) };
  };
  const expected = (id: string, users: number) => {
    const grades = Array.from({ length: users }, (_, at) => at % 5);
    return { id, users, points: grades.reduce((all, one) => all + one, 0), best: Math.max(...grades), grades: new Set(grades).size };
  };
  return { ...opened, courses, sent, repair, expected, most: () => most };
};

test("many facts are computed anew side by side, in twelve requests each", async () => {
  const { db, lab, courses, sent, repair, expected, most } = await untold();
  try {
    expect(await repair()).toEqual({ clean: true, found: { staleFact: [4 * (COURSES + 1), 4 * (COURSES + 1)] } });
    expect(sent.length).toBeLessThan(12 * COURSES + 60);
    expect(most()).toBeGreaterThan(4);
    expect(await db.course.getMany(courses)).toEqual(courses.map(({ id }) => expected(id, 3)));
    expect(await db.course.get({ id: "large" })).toEqual(expected("large", 130));
    expect(await repair()).toEqual({ clean: true, found: {} });
  } finally {
    await lab.stop();
  }
});

test("of many memos, those are written that differ from their edges", async () => {
  const { db, lab, sent, repair, expected } = await untold();
  try {
    await repair();
    await db.takes.put({ id: "u7" }, { id: "large" }, { grade: 9 });
    await lab.take();
    expect(await repair()).toEqual({ clean: true, found: { staleFact: [3, 3] } });
    const written = sent.filter(({ operation }) => operation === "TransactWriteItems");
    expect(written.map(({ input }) => (input as { readonly TransactItems: readonly unknown[] }).TransactItems.length)).toEqual([2]);
    const { points, grades } = expected("large", 130);
    expect(await db.course.get({ id: "large" })).toEqual({ id: "large", users: 130, points: points + 7, best: 9, grades: grades + 1 });
  } finally {
    await lab.stop();
  }
});

test("facts that are computed anew beside writers and their processor are exact in the end", async () => {
  const { db, session, lab, courses, repair } = await untold();
  try {
    const ending = new AbortController();
    const write = async (): Promise<void> => {
      for (let at = 0; !ending.signal.aborted; at++) {
        const to = courses[at % COURSES]!;
        const from = { id: `u${at % 7}` };
        await (at % 3 === 0 ? db.takes.unlink(from, to) : db.takes.put(from, to, { grade: at % 11 }));
        if (at % 20 === 0) await lab.drain(session);
      }
      await lab.drain(session);
    };
    const writing = write();
    await repair({ deadline: 60_000 }).finally(() => ending.abort());
    await writing;
    await repair();
    const rows = await db.course.getMany(courses);
    for (const [at, row] of rows.entries()) {
      const edges = await db.course(courses[at]!).in("takes").edges();
      const grades = edges.map(({ grade }) => grade);
      expect(row).toMatchObject({
        users: grades.length,
        points: grades.reduce((all, one) => all + one, 0),
        grades: new Set(grades).size,
        ...(grades.length > 0 && { best: Math.max(...grades) }),
      });
    }
    expect(await repair()).toEqual({ clean: true, found: {} });
  } finally {
    await lab.stop();
  }
});
