import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();
const student = node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, age: z.number() }) });
const course = node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text, credits: z.number() }) });
const room = node({ key: "ROOM#{roomId:number}", schema: z.object({ roomId: z.number() }) });
const enrolledIn = edge({ from: "student", to: "course", schema: z.object({ grade: z.number() }) });
const heldIn = edge({ from: "course", to: "room" });
const db = defineGraph({ table: "T", nodes: { student, course, room }, edges: { enrolledIn, heldIn } }).connect();
const here = db.student({ studentId: "S" });

describe("a walk knows where it stands", () => {
  test("ids and nodes are those of the last hop", () => {
    const walk = here.out("enrolledIn").out("heldIn");
    expectTypeOf((awaited: Awaited<ReturnType<typeof walk.ids>>) => awaited.items[0]!.roomId).returns.toEqualTypeOf<number>();
    const back = here.out("enrolledIn").in("enrolledIn");
    expectTypeOf((awaited: Awaited<ReturnType<typeof back.nodes>>) => awaited.items[0]!.age).returns.toEqualTypeOf<number>();
  });
  test("only its edges are offered", () => {
    // @ts-expect-error a course has no outgoing enrolledIn
    here.out("enrolledIn").out("enrolledIn");
    // @ts-expect-error there is no such edge
    here.out("enrolledIn").out("heldInn");
    // @ts-expect-error no edge leads on from a room
    here.out("enrolledIn").out("heldIn").out("heldIn");
    // @ts-expect-error a student is at no end of heldIn
    here.neighbourhood({ out: "heldIn" }, 2);
  });
  test("conditions are of the edge's and of the node's attributes", () => {
    here.walk().out("enrolledIn").where({ grade: { gte: 2 } }).whereNode({ credits: 3 });
    // @ts-expect-error grade is a number
    here.walk().out("enrolledIn").where({ grade: "A" });
    // @ts-expect-error a course has no age
    here.walk().out("enrolledIn").whereNode({ age: 3 });
    here.walk().repeat({ out: "enrolledIn", where: { grade: 1 }, whereNode: { credits: 2 } }, { depth: 1 });
    // @ts-expect-error there is no such attribute
    here.walk().repeat({ out: "enrolledIn", where: { garde: 1 } }, { depth: 1 });
  });
  test("what is left out is named by its id", () => {
    here.out("enrolledIn").in("enrolledIn").except([{ studentId: "T" }]);
    // @ts-expect-error a room is not where it stands
    here.out("enrolledIn").in("enrolledIn").except([{ roomId: 1 }]);
  });
});
