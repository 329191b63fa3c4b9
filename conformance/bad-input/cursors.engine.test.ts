import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownGraph } from "./models.ts";
import { openTables, type Tables } from "./open-tables.ts";
import { errorOf, expectRefusal } from "./refusal.ts";

let engine: Tables["engine"];
let own: Tables["own"];
let inOwn: Tables["inOwn"];

beforeAll(async () => {
  ({ engine, own, inOwn } = await openTables());
});
afterAll(() => engine.close());

describe("a cursor", () => {
  const enrolled = () => own.student({ studentId: "S1" }).out("enrolledIn");
  const cursor = async (): Promise<string> => (await enrolled().page({ limit: 1 })).next!;
  const refused = { code: "cursor.invalid", says: ["from another query", "Start again without it"] } as const;

  test("of the same query goes on", async () => {
    expect((await enrolled().page({ limit: 1, cursor: await cursor() })).items).toMatchObject([{ to: { courseId: "C2" } }]);
  });

  test("of another node, another direction or another filter is refused", async () => {
    const taken = await cursor();
    await expectRefusal(() => own.student({ studentId: "S2" }).out("enrolledIn").page({ cursor: taken }), refused, inOwn);
    await expectRefusal(() => own.course({ courseId: "C1" }).in("enrolledIn").page({ cursor: taken }), refused, inOwn);
    await expectRefusal(() => enrolled().where({ grade: "A" }).page({ cursor: taken }), refused, inOwn);
  });

  test("with one character changed is refused, wherever it stands", async () => {
    const taken = await cursor();
    for (let at = 0; at < taken.length - 1; at += 7) {
      const forged = `${taken.slice(0, at)}${taken[at] === "A" ? "B" : "A"}${taken.slice(at + 1)}`;
      expect((await errorOf(() => enrolled().page({ cursor: forged }))).code).toBe("cursor.invalid");
    }
  });

  test("of another table's secret is refused", async () => {
    const other = ownGraph(inOwn.name).connect({ transport: engine.transport, cursorSecret: "another".padEnd(43, "-") });
    await expectRefusal(
      async () =>
        other
          .student({ studentId: "S1" })
          .out("enrolledIn")
          .page({ cursor: await cursor() }),
      refused,
      inOwn,
    );
  });

  test("of a table that this connection deleted is refused by its successor", async () => {
    const db = ownGraph(engine.freshTableName("anew")).connect({ transport: engine.transport });
    const fill = async (): Promise<void> => {
      await db.table.create();
      await db.student.put({ studentId: "S1", name: "Ann" }).orThrow();
      for (const courseId of ["C1", "C2"]) {
        await db.course.put({ courseId }).orThrow();
        await db.enrolledIn.put({ studentId: "S1" }, { courseId }, { enrolledAt: courseId });
      }
    };
    const page = (options: object) =>
      db
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .page({ limit: 1, ...options });
    await fill();
    const { next } = await page({});
    await db.table.delete();
    await fill();
    expect((await errorOf(() => page({ cursor: next }))).code).toBe("cursor.invalid");
    expect((await page({ cursor: (await page({})).next })).items).toMatchObject([{ to: { courseId: "C2" } }]);
    expect((await errorOf(() => page({ cursor: next }))).code).toBe("cursor.invalid");
    await db.table.delete();
  });
});
