import { describe, expectTypeOf, test } from "vitest";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import * as mini from "zod/mini";
import { defineGraph, edge, node, part } from "../index.ts";
import type { KeyOf } from "../schema/definition.ts";

const student = node({
  key: "STUDENT#{studentId}",
  schema: z.object({ studentId: z.string(), name: z.string(), email: z.email(), yearLevel: z.int() }),
  unique: ["email"],
});
const course = node({ key: "COURSE#{courseId}", schema: v.object({ courseId: v.string(), name: v.string(), credits: v.number() }) });
const teacher = node({ key: "TEACHER#{teacherId:6}", schema: type({ teacherId: "number", "nickname?": "string" }) });
const enrolledIn = edge({
  from: "student",
  to: "course",
  schema: z.object({ enrolledAt: z.string(), grade: z.string().optional() }),
  orderBy: "enrolledAt",
});
const friend = edge({ from: "student", to: "student", symmetric: true });
const teaches = edge({ from: "teacher", to: ["course", "student"], schema: z.object({ term: z.string(), hours: z.number() }), key: ["term"], stored: "twice" });
const line = part({ of: "course", key: "LINE#{line:4}", schema: z.object({ line: z.int(), text: z.string() }) });
const graph = defineGraph({ table: "Education", nodes: { student, course, teacher }, edges: { enrolledIn, friend, teaches }, parts: { line } });
const db = graph.connect();

describe("rows are inferred from any Standard Schema", () => {
  test("zod", () => {
    expectTypeOf(db.student({ studentId: "S1" }).get()).resolves.toEqualTypeOf<
      { studentId: string; name: string; email: string; yearLevel: number } | undefined
    >();
  });
  test("zod/mini", () => {
    const club = node({ key: "CLUB#{clubId}", schema: mini.object({ clubId: mini.string(), size: mini._default(mini.number(), 1) }) });
    const clubs = defineGraph({ table: "T", nodes: { club } }).connect();
    expectTypeOf(clubs.club({ clubId: "C1" }).get()).resolves.toEqualTypeOf<{ clubId: string; size: number } | undefined>();
    void (() => clubs.club.create({ clubId: "C1" }));
  });
  test("valibot", () => {
    expectTypeOf(db.course({ courseId: "C1" }).get()).resolves.toEqualTypeOf<{ courseId: string; name: string; credits: number } | undefined>();
  });
  test("arktype", () => {
    expectTypeOf(db.teacher({ teacherId: 1 }).get()).resolves.toEqualTypeOf<{ teacherId: number; nickname?: string } | undefined>();
  });
});

describe("selections of point reads", () => {
  test("a row has the selected attributes", () => {
    expectTypeOf(db.student.get({ studentId: "S1" }, { select: ["name", "yearLevel"] })).resolves.toEqualTypeOf<
      { name: string; yearLevel: number } | undefined
    >();
    expectTypeOf(db.teacher({ teacherId: 1 }).get({ select: ["nickname"], consistent: true })).resolves.toEqualTypeOf<
      { nickname?: string } | undefined
    >();
    expectTypeOf(db.student.getMany([{ studentId: "S1" }], { select: ["name"] })).resolves.toEqualTypeOf<
      readonly ({ name: string } | undefined)[]
    >();
  });
  test("without one, options leave the row whole", () => {
    interface Course {
      courseId: string;
      name: string;
      credits: number;
    }
    expectTypeOf(db.course.get({ courseId: "C1" }, { consistent: true })).resolves.toEqualTypeOf<Course | undefined>();
    expectTypeOf(db.course.getMany([{ courseId: "C1" }], { select: undefined })).resolves.toEqualTypeOf<readonly (Course | undefined)[]>();
    const assigned: Promise<Course | undefined> = db.course.get({ courseId: "C1" });
    void assigned;
  });
  test("an unknown attribute is refused", () => {
    // @ts-expect-error Type '"nmae"' is not assignable to type '"name" | "studentId" | "email" | "yearLevel"'
    void (() => db.student.get({ studentId: "S1" }, { select: ["nmae"] }));
    // @ts-expect-error Type '"credits"' is not assignable to type '"name" | "studentId" | "email" | "yearLevel"'
    void (() => db.student.getMany([{ studentId: "S1" }], { select: ["name", "credits"] }));
  });
});

describe("edges", () => {
  test("an edge has its attributes and the ids of its ends", () => {
    const edges = db.course({ courseId: "C1" }).in("enrolledIn").edges();
    type Edge = Awaited<typeof edges>[number];
    expectTypeOf<Edge["grade"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Edge["to"]["courseId"]>().toEqualTypeOf<string>();
  });
  test("only edges of the node type are offered", () => {
    // @ts-expect-error a course has no outgoing enrolledIn
    db.course({ courseId: "C1" }).out("enrolledIn");
    // @ts-expect-error there is no such edge
    db.student({ studentId: "S1" }).out("enroledIn");
  });
  test("conditions are of the attribute's type", () => {
    db.student({ studentId: "S1" }).out("enrolledIn").where({ enrolledAt: { gte: "2024" } });
    // @ts-expect-error enrolledAt is text
    db.student({ studentId: "S1" }).out("enrolledIn").where({ enrolledAt: { gte: 2024 } });
    // @ts-expect-error there is no such attribute
    db.student({ studentId: "S1" }).out("enrolledIn").where({ enroledAt: "2024" });
  });
});

describe("a read by a unique value", () => {
  test("takes the value of one unique attribute and gives the row", () => {
    const call = () => db.student.by({ email: "ann@x.org" }, { consistent: true });
    expectTypeOf<Awaited<ReturnType<typeof call>>>().toEqualTypeOf<{ studentId: string; name: string; email: string; yearLevel: number } | undefined>();
    // @ts-expect-error name is not unique
    void (() => db.student.by({ name: "Ann" }));
    // @ts-expect-error email is text
    void (() => db.student.by({ email: 5 }));
    // @ts-expect-error a value is needed
    void (() => db.student.by({}));
  });
  test("is a sentence for a node type without one", () => {
    expectTypeOf<Parameters<typeof db.course.by>[0]>().toEqualTypeOf<"This node type declares no unique attribute: declare unique, or search it by find().">();
  });
  test("of a node declared in place, and of an optional attribute", () => {
    const inPlace = defineGraph({
      table: "T",
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), badge: z.number().optional(), email: z.string() }), unique: ["badge", "email"] }),
        team: node({ key: "TEAM#{id}", schema: z.object({ id: z.string() }) }),
      },
    }).connect();
    expectTypeOf<Parameters<typeof inPlace.user.by>[0]>().toEqualTypeOf<{ readonly badge: number } | { readonly email: string }>();
    expectTypeOf<Parameters<typeof inPlace.team.by>[0]>().toEqualTypeOf<"This node type declares no unique attribute: declare unique, or search it by find().">();
  });
});

describe("a chain keeps what it knows", () => {
  const chain = db.student({ studentId: "S1" }).out("enrolledIn").where({ grade: "A" }).reverse().using("reverse").limit(3);
  type Of<Rows> = Rows extends PromiseLike<readonly (infer Row)[]> ? Row : never;
  test("its edges, nodes and ids, page by page and one by one", () => {
    const asked = () => ({ edges: chain.edges(), nodes: chain.nodes(), ids: chain.ids(), entries: chain.page({ of: "entries" }) });
    type Asked = ReturnType<typeof asked>;
    expectTypeOf<Of<Asked["edges"]>["enrolledAt"]>().toEqualTypeOf<string>();
    expectTypeOf<Of<Asked["nodes"]>>().toEqualTypeOf<{ courseId: string; name: string; credits: number }>();
    expectTypeOf<Of<Asked["ids"]>["courseId"]>().toEqualTypeOf<string>();
    expectTypeOf<Awaited<Asked["entries"]>["items"][number]["node"]>().toEqualTypeOf<{ courseId: string; name: string; credits: number } | undefined>();
    expectTypeOf<(typeof chain extends AsyncIterable<infer One> ? One : never)["grade"]>().toEqualTypeOf<string | undefined>();
    // @ts-expect-error there is no such page
    void (() => chain.page({ of: "rows" }));
  });
  test("an order given up is given up for all that follows, and what is selected is all there is", () => {
    const loose = chain.unordered().limit(2).consistent().select("grade").first();
    expectTypeOf<keyof NonNullable<Awaited<typeof loose>>>().toEqualTypeOf<"grade" | "from" | "to">();
    // @ts-expect-error enrolledAt is not selected
    void (() => chain.select("grade").select("enrolledAt"));
  });
});

describe("a strongly consistent read that only an index can answer does not compile", () => {
  test("incoming edges of an edge stored once", () => {
    const incoming = db.course({ courseId: "C1" }).in("enrolledIn").unordered();
    expectTypeOf<ThisParameterType<typeof incoming.consistent>>().toEqualTypeOf<`"enrolledIn" is read in this direction from an index, and an index cannot be read consistently.`>();
    // @ts-expect-error the sentence is the type of what it may be called on
    incoming.consistent();
  });
  test("edges in their declared order", () => {
    const ordered = db.student({ studentId: "S1" }).out("enrolledIn");
    expectTypeOf<ThisParameterType<typeof ordered.consistent>>().toEqualTypeOf<`"enrolledIn" is ordered by an index, and an index cannot be read consistently: call unordered() first.`>();
    ordered.unordered().consistent();
  });
  test("an edge that lies in both partitions can be read consistently both ways", () => {
    db.course({ courseId: "C1" }).in("teaches").consistent();
    db.student({ studentId: "S1" }).in("friend").consistent();
  });
});

describe("an edge declared in place", () => {
  const inPlace = defineGraph({
    table: "T",
    nodes: { student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string() }) }) },
    edges: {
      friend: edge({ from: "student", to: "student" }),
      likes: edge({ from: "student", to: "student", schema: z.object({ since: z.string().optional() }) }),
      marks: edge({ from: "student", to: "student", schema: z.object({ term: z.string(), mark: z.int() }) }),
    },
  }).connect();
  test("has the same types as one declared before", () => {
    const incoming = inPlace.student({ studentId: "S1" }).in("friend");
    expectTypeOf<ThisParameterType<typeof incoming.consistent>>().toEqualTypeOf<`"friend" is read in this direction from an index, and an index cannot be read consistently.`>();
    expectTypeOf<Parameters<typeof inPlace.marks.link>[2]>().toEqualTypeOf<{ term: string; mark: number }>();
  });
  test("asks for an edge's attributes where it must have some", () => {
    const [from, to] = [{ studentId: "S1" }, { studentId: "S2" }];
    void (() => inPlace.friend.link(from, to));
    void (() => inPlace.friend.put(from, to));
    void (() => inPlace.likes.link(from, to));
    // @ts-expect-error -- term and mark are missing
    void (() => inPlace.marks.link(from, to));
    // @ts-expect-error -- mark is missing
    void (() => inPlace.marks.put(from, to, { term: "T1" }));
  });
  test("is not asked how a number begins", () => {
    const marks = inPlace.student({ studentId: "S1" }).out("marks");
    void (() => marks.where({ term: { beginsWith: "T" } }));
    // @ts-expect-error a mark is a number
    void (() => marks.where({ mark: { beginsWith: "1" } }));
  });
  test("keeps no attribute from being changed where it has no key", () => {
    void (() => inPlace.marks.relink({ studentId: "S1" }, { studentId: "S2" }, { term: "T1", mark: 1 }));
    // @ts-expect-error there is no such attribute
    void (() => inPlace.marks.relink({ studentId: "S1" }, { studentId: "S2" }, { trem: "T1" }));
  });
});

describe("mistakes of the model", () => {
  test("a key that names no attribute", () => {
    // @ts-expect-error The key names {studentID}, which is not an attribute of the schema.
    node({ key: "STUDENT#{studentID}", schema: z.object({ studentId: z.string() }) });
    // @ts-expect-error The key names {n}, which is not an attribute of the schema.
    part({ of: "course", key: "LINE#{n:4}", schema: z.object({ line: z.int() }) });
    expectTypeOf<KeyOf<"STUDENT#{studentID}", { studentId: string }>>().toEqualTypeOf<"The key names {studentID}, which is not an attribute of the schema.">();
    expectTypeOf<KeyOf<"STUDENT#{studentId:6}", { studentId: number }>>().toEqualTypeOf<"STUDENT#{studentId:6}">();
  });
  test("an edge to an unknown node", () => {
    // @ts-expect-error There is no node type "cours".
    defineGraph({ table: "T", nodes: { student, course }, edges: { takes: edge({ from: "student", to: "cours" }) } });
  });
  test("a part of an unknown node", () => {
    // @ts-expect-error There is no node type "cours".
    defineGraph({ table: "T", nodes: { course }, parts: { line: part({ of: "cours", key: "L#{n:4}", schema: z.object({ n: z.int() }) }) } });
  });
  test("an order that is not text says its format", () => {
    const ranked = edge({ from: "student", to: "course", schema: z.object({ rank: z.number() }), orderBy: "rank:number" });
    defineGraph({ table: "T", nodes: { student, course }, edges: { ranked } });
    const unranked = edge({ from: "student", to: "course", schema: z.object({ rank: z.number() }), orderBy: "rank" });
    // @ts-expect-error orderBy names "rank", which is not text: add its format, such as "rank:number", "rank:6" or "rank:date".
    defineGraph({ table: "T", nodes: { student, course }, edges: { unranked } });
    expectTypeOf<(typeof unranked)["~disorder"]>().toEqualTypeOf<'orderBy names "rank", which is not text: add its format, such as "rank:number", "rank:6" or "rank:date".'>();
    // @ts-expect-error there is no such attribute
    edge({ from: "student", to: "course", schema: z.object({ rank: z.number() }), orderBy: "rnak:number" });
  });
  test("an unknown unique attribute", () => {
    // @ts-expect-error there is no such attribute
    node({ key: "A#{a}", schema: z.object({ a: z.string() }), unique: ["b"] });
  });
});
