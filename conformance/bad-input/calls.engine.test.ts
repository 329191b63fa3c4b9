import { afterAll, beforeAll, describe, test } from "vitest";
import { openTables, untyped, type Tables } from "./open-tables.ts";
import { type Case, expectRefusal } from "./refusal.ts";

/** Each kind of bad input that a caller may hand in, in Edgetable's own layout: its code, what its message says, and that nothing is written. */
let engine: Tables["engine"];
let own: Tables["own"];
let adopted: Tables["adopted"];
let inOwn: Tables["inOwn"];

beforeAll(async () => {
  ({ engine, own, adopted, inOwn } = await openTables());
});
afterAll(() => engine.close());

const circle: Record<string, unknown> = {};
circle["self"] = circle;
const ring: unknown[] = [];
ring.push(ring);

const ownCases: readonly Case[] = [
  ["an id of the wrong type", "keys.wrongType", ["7", "studentId"], () => own.student.get({ studentId: untyped(7) })],
  [
    "a row whose id is of the wrong type",
    "schema.invalidValue",
    ["studentId", "string"],
    () => own.student.create({ studentId: untyped(7), name: "Bob" }),
  ],
  ["an id that is no object", "schema.invalidValue", ["student", "studentId"], () => own.student.get(untyped("S1"))],
  [
    "no end at all",
    "schema.invalidValue",
    ['The id of "student" must be an object; it is undefined.'],
    () => own.helps.link({ studentId: "S1" }, untyped(undefined), untyped({})),
  ],
  [
    "a null where a key is asked for",
    "keys.wrongType",
    ['"enrolledAt" is in a key', "no key holds null"],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where({ enrolledAt: untyped(null) })
        .edges(),
  ],
  ["a text where an id is asked for", "schema.invalidValue", ['it is "S1"'], () => own.student(untyped("S1"))],
  [
    "no level at all",
    "schema.invalidValue",
    ['The id of "room" must be an object; it is undefined.'],
    () => own.room.within(untyped(undefined)),
  ],
  [
    "an edge named like what every object has",
    "schema.unknownEdge",
    ['no edge "constructor"'],
    () => own.student({ studentId: "S1" }).out(untyped("constructor")),
  ],
  [
    "a part named like what every object has",
    "schema.unknownNode",
    ['no part "toString"'],
    () => own.room({ floor: 1, door: "a" }).parts(untyped("toString")),
  ],
  [
    "a list in place of names",
    "plan.invalidOption",
    ["Expected attribute names", '["grade"]'],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .select(untyped(["grade"])),
  ],
  [
    "a sum of nothing",
    "plan.invalidOption",
    ["Expected attribute names", "undefined"],
    () => own.student({ studentId: "S1" }).out("helps").walk().sum(untyped(undefined)),
  ],
  [
    "a number in quotes",
    "plan.invalidOption",
    ['limit is "2": give a whole number'],
    () => own.student({ studentId: "S1" }).out("helps").limit(untyped("2")),
  ],
  [
    "a depth in quotes",
    "traverse.depth",
    ['got "2"'],
    () => own.student({ studentId: "S1" }).neighbourhood({ out: "helps" }, untyped("2")),
  ],
  [
    "an edge's key that it does not have",
    "schema.unknownAttribute",
    ['"hours" is not part of the id of "helps"'],
    () => own.helps.get({ studentId: "S1" }, { studentId: "S2" }, untyped({ key: { hours: 1 } })),
  ],
  ...(
    [
      ["get", (id) => own.student.get(id)],
      ["getMany", (id) => own.student.getMany([id])],
      ["a handle", (id) => own.student(id).get()],
      ["neighbours", (id) => own.student(id).out("helps").edges()],
      ["a collection", (id) => own.student(id).collection()],
      ["a walk", (id) => own.student(id).walk().out("helps").ids()],
    ] as readonly (readonly [string, (id: never) => unknown])[]
  ).map(([what, call]): Case => [
    `a field in an id that it does not have: ${what}`,
    "schema.unknownAttribute",
    ['"studentid" is not part of the id of "student"', 'Did you mean "studentId"?'],
    () => call(untyped({ studentId: "S1", studentid: "S2" })),
  ]),
  [
    "the same of whether there is one",
    "schema.unknownAttribute",
    ['"hours" is not part of the id of "helps"'],
    () => own.student({ studentId: "S1" }).has("helps", { studentId: "S2" }, untyped({ key: { hours: 1 } })),
  ],
  [
    "what is to differ on the other copy of an edge stored once",
    "plan.invalidOption",
    ['"helps" is stored once', "Store it twice"],
    () => own.helps.link({ studentId: "S1" }, { studentId: "S2" }, { hours: 1 }, { reverse: { hours: 2 } }),
  ],
  [
    "a transaction with a call of another graph",
    "plan.unsupported",
    ["Call 2 belongs to another tenant, model or table", "Use its own connection"],
    () => own.transact([own.student.create({ studentId: "S9", name: "Ann" }), adopted.bill.create({ billId: "B9" })]),
  ],
  [
    "a batch with one",
    "plan.unsupported",
    ["Call 1 belongs to another tenant, model or table"],
    () => own.batch([adopted.bill.put({ billId: "B9" }), own.student.put({ studentId: "S9", name: "Ann" })]),
  ],
  ["an id that lacks a field", "schema.invalidValue", ['lacks "door"', "Give"], () => own.room.get(untyped({ floor: 1 }))],
  ["an empty id", "keys.empty", ["{studentId}", "at least one character"], () => own.student.create({ studentId: "", name: "Bob" })],
  ["an empty id in a read", "keys.empty", ['"studentId"', "at least one character"], () => own.student.get({ studentId: "" })],
  [
    "an empty id at an edge's end",
    "keys.empty",
    ['"courseId"', "at least one character"],
    () => own.enrolledIn.link({ studentId: "S1" }, { courseId: "" }, { enrolledAt: "2024" }),
  ],
  [
    "a number that its key's format cannot write",
    "keys.notEncodable",
    ["-1", "{floor:number}"],
    () => own.room.create({ floor: -1, door: "a" }),
  ],
  [
    "an id longer than a key may be",
    "keys.tooLong",
    ["2048", "Shorten the values in it"],
    () => own.student.create({ studentId: "x".repeat(2048), name: "Bob" }),
  ],
  [
    "a value that DynamoDB cannot store",
    "request.unsupportedValue",
    ['"notes"', "Map"],
    () => own.student.create({ studentId: "S2", name: "Bob", notes: new Map() }),
  ],
  [
    "a value that holds itself",
    "request.unsupportedValue",
    ['"notes.self.self.', "more than 32 levels"],
    () => own.student.create({ studentId: "S2", name: "Bob", notes: circle }),
  ],
  [
    "a list that holds itself, in an update",
    "request.unsupportedValue",
    ['"notes[0][0]', "more than 32 levels"],
    () => own.student.update({ studentId: "S1" }, { notes: ring }),
  ],
  [
    "a Date that is not declared",
    "request.unsupportedValue",
    ['"notes"', "Declare the attribute in `dates`"],
    () => own.student.create({ studentId: "S2", name: "Bob", notes: new Date(0) }),
  ],
  [
    "an item over 400 KB",
    "request.itemTooLarge",
    ["409600", "Split it"],
    () => own.student.create({ studentId: "S2", name: "x".repeat(410_000) }),
  ],
  [
    "an item over 400 KB in a batch",
    "request.itemTooLarge",
    ["409600", "Split it"],
    () => own.batch([own.course.put({ courseId: "C9" }), own.student.put({ studentId: "S2", name: "x".repeat(410_000) })]),
  ],
  [
    "a transaction over 100 items",
    "request.transactionTooLarge",
    ["101 items", "Split the call"],
    () => own.transact(Array.from({ length: 101 }, (_, at) => own.course.put({ courseId: `T${at}` }))),
  ],
  [
    "a read in a transaction",
    "plan.invalidOption",
    ["Call 2", "Reads", "cannot be part of a transaction"],
    () => own.transact([own.course.put({ courseId: "C9" }), untyped(own.student.get({ studentId: "S1" }))]),
  ],
  ["a transaction without a write", "plan.invalidOption", ["at least one"], () => own.transact([])],
  [
    "an attribute that is not of the model",
    "schema.unknownAttribute",
    ['"nmae"', 'Did you mean "name"?'],
    () => own.student.create(untyped({ studentId: "S2", name: "Bob", nmae: "Bob" })),
  ],
  [
    "a filter on an unknown attribute of an edge",
    "schema.unknownAttribute",
    ['"garde"', 'Did you mean "grade"?'],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where(untyped({ garde: "A" }))
        .edges(),
  ],
  [
    "a filter on an unknown attribute of a part",
    "schema.unknownAttribute",
    ['"wibe"', 'Did you mean "wide"?'],
    () =>
      own
        .room({ floor: 1, door: "a" })
        .parts("desk")
        .where(untyped({ wibe: true }))
        .all(),
  ],
  ["a limit of no parts", "plan.invalidOption", ["limit is 0", "from 1"], () => own.room({ floor: 1, door: "a" }).parts("desk").limit(0)],
  [
    "a deadline that is none",
    "plan.invalidOption",
    ["deadline is 0", "from 1 to 86400000"],
    () => own.student.put({ studentId: "S2", name: "Bob" }).run({ deadline: 0 }),
  ],
  [
    "a condition on an unknown attribute",
    "schema.unknownAttribute",
    ['"nmae"', 'Did you mean "name"?'],
    () => own.student.update({ studentId: "S1" }, { name: "Bob" }, { if: untyped({ nmae: "Ann" }) }),
  ],
  [
    "a comparison that there is not",
    "plan.invalidOption",
    ['"gth"', "enrolledAt"],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where(untyped({ enrolledAt: { gth: "2024" } }))
        .edges(),
  ],
  [
    "a filter on what is no part of the far end's id",
    "schema.unknownAttribute",
    ['"to.cuorseId"', 'Did you mean "to.courseId"?'],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where({ to: untyped({ cuorseId: "C1" }) })
        .edges(),
  ],
  ...(
    [
      ["between", "2024", "a list of two values"],
      ["in", [], "a list of 1 to 100 values"],
      ["beginsWith", 5, "a string"],
      ["exists", "no", "true or false"],
    ] as const
  ).map(([operator, operand, takes]): Case => [
    `a comparison by ${operator} that is given something else`,
    "plan.invalidOption",
    [`"${operator}" of "grade" takes ${takes}`],
    () =>
      own
        .student({ studentId: "S1" })
        .out("enrolledIn")
        .where({ grade: untyped({ [operator]: operand }) })
        .edges(),
  ]),
  ...(
    [
      ["a node", () => own.student.create(untyped(null))],
      ["a filter", () => own.student({ studentId: "S1" }).out("enrolledIn").where(untyped(null))],
      ["changes", () => own.student.update({ studentId: "S1" }, untyped("name"))],
    ] as const
  ).map(([what, call]): Case => [`no object as ${what}`, "plan.invalidOption", ["Expected an object"], call]),
  [
    "a filter that is null",
    "plan.invalidOption",
    ["Expected an object for where"],
    () => own.student({ studentId: "S1" }).out("enrolledIn").where(untyped(null)),
  ],
  ["no list of ids", "plan.invalidOption", ["array of ids"], () => own.student.getMany(untyped({ studentId: "S1" }))],
  ["no list of calls", "plan.invalidOption", ["array of calls"], () => own.transact(untyped(own.course.put({ courseId: "C9" })))],
  [
    "a signal that is none",
    "plan.invalidOption",
    ["AbortController"],
    () => own.student.get({ studentId: "S1" }).run({ signal: untyped(new AbortController()) }),
  ],
  [
    "an edge that there is not",
    "schema.unknownEdge",
    ['"enroledIn"', 'Did you mean "enrolledIn"?'],
    () => own.student({ studentId: "S1" }).out(untyped("enroledIn")),
  ],
  [
    "an edge that is not at this node",
    "schema.unknownEdge",
    ['"course"', "is student, not"],
    () => own.course({ courseId: "C1" }).out(untyped("enrolledIn")),
  ],
  [
    "a part that there is not",
    "schema.unknownNode",
    ['"dask"', 'Did you mean "desk"?'],
    () => own.room({ floor: 1, door: "a" }).parts(untyped("dask")),
  ],
  [
    "an end that may be of several types, of none of them",
    "schema.unknownNode",
    ['"room"', "Known: student, course"],
    () => own.reserves.link(untyped({ type: "room", floor: 1, door: "a" }), { floor: 1, door: "a" }),
  ],
  [
    "a change of the key",
    "schema.immutableAttribute",
    ['"studentId"', "Create a new item"],
    () => own.student.update({ studentId: "S1" }, untyped({ studentId: "S2" })),
  ],
  [
    "an option out of its range",
    "plan.invalidOption",
    ["limit", "1 to"],
    () => own.student({ studentId: "S1" }).out("enrolledIn").limit(0),
  ],
  [
    "a consistent read of what only an index has",
    "plan.notConsistent",
    ["index", "Leave out consistent()"],
    () => (own.course({ courseId: "C1" }).in("enrolledIn") as unknown as { consistent(): { edges(): unknown } }).consistent().edges(),
  ],
  [
    "a consistent read in an order that only an index has",
    "plan.notConsistent",
    ["index", "unordered()"],
    () => (own.student({ studentId: "S1" }).out("enrolledIn") as unknown as { consistent(): { edges(): unknown } }).consistent().edges(),
  ],
  [
    "an index that there is not",
    "plan.noIndex",
    ['"reserve"', 'Did you mean "reverse"?'],
    () => own.course({ courseId: "C1" }).in("enrolledIn").using("reserve").edges(),
  ],
  [
    "an index that does not serve the direction",
    "plan.noIndex",
    ['The index "reverse" cannot answer out("enrolledIn") of "student"', 'Leave out using("reverse")'],
    () => own.student({ studentId: "S1" }).out("enrolledIn").using("reverse").edges(),
  ],
  [
    "two writes of one item in a transaction",
    "plan.unsupported",
    ["calls 1 and 2 both write STUDENT#S2 / #.", "once", "Join them"],
    () => own.transact([own.student.put({ studentId: "S2", name: "a" }), own.student.put({ studentId: "S2", name: "b" })]),
  ],
  [
    "a write that may be refused, by orThrow",
    "execute.notWritten",
    ['"student"', "exists"],
    () => own.student.create({ studentId: "S1", name: "Ann" }).orThrow(),
  ],
  [
    "a row of a strict load",
    "load.invalidRow",
    ["Row 0", "studentId"],
    () => own.load([untyped({ node: "student", row: { studentId: 7, name: "Bob" } })], { strict: true }),
  ],
  [
    "a cursor that is none",
    "cursor.invalid",
    ["cursor", "Start again without it"],
    () => own.student({ studentId: "S1" }).out("enrolledIn").page({ cursor: "next" }),
  ],
  ...[null, "", 3, { next: "x" }].flatMap((cursor): readonly Case[] => [
    [
      `the cursor ${JSON.stringify(cursor)} of a page`,
      "cursor.invalid",
      [`cursor is ${JSON.stringify(cursor)}: pass the text next of a page, or leave it out for the first one.`],
      () =>
        own
          .student({ studentId: "S1" })
          .out("enrolledIn")
          .page({ cursor: untyped(cursor) }),
    ],
    [
      `the cursor ${JSON.stringify(cursor)} of a walk`,
      "cursor.invalid",
      [`cursor is ${JSON.stringify(cursor)}: pass the text next of a part of the walk, or leave it out for the first one.`],
      () =>
        own
          .student({ studentId: "S1" })
          .out("enrolledIn")
          .in("enrolledIn")
          .ids({ cursor: untyped(cursor) }),
    ],
  ]),
];

describe("Edgetable's own layout", () => {
  test.each(ownCases)("%s: %s", async (...[, code, says, call]) => {
    await expectRefusal(call, { code, says }, inOwn);
  });
});
