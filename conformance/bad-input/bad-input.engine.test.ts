import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLeanTransport, defineGraph, edge, node, type ErrorCode } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { adoptedGraph, ownGraph } from "./models.ts";
import { errorOf, expectRefusal, scan } from "./refusal.ts";

/** Each kind of bad input that a caller may hand in: its code, what its message says, and that nothing is written. */
let engine: TestEngine;
let names: { readonly own: string; readonly adopted: string };
type Own = ReturnType<ReturnType<typeof ownGraph>["connect"]>;
type Adopted = ReturnType<ReturnType<typeof adoptedGraph>["connect"]>;
let own: Own;
let adopted: Adopted;

beforeAll(async () => {
  engine = await openEngine();
  names = { own: engine.freshTableName("own"), adopted: engine.freshTableName("adopted") };
  const { transport } = engine;
  own = ownGraph(names.own).connect({ transport });
  adopted = adoptedGraph(names.adopted).connect({ transport });
  await own.table.create();
  await adopted.table.create();
  await own.student.create({ studentId: "S1", name: "Ann" }).orThrow();
  for (const courseId of ["C1", "C2", "C3"]) {
    await own.course.create({ courseId }).orThrow();
    await own.enrolledIn.link({ studentId: "S1" }, { courseId }, { enrolledAt: `2024-0${courseId.slice(1)}` }).orThrow();
  }
  await own.room.create({ floor: 1, door: "a" }).orThrow();
  // The first page of a table leaves the secret of its cursors there; no test below counts that as a write of its own.
  await own.student({ studentId: "S1" }).out("enrolledIn").page({ limit: 1 });
});
afterAll(() => engine.close());

/** What the types refuse, for the callers who have none. */
const untyped = (value: unknown): never => value as never;
const inOwn = () => ({ transport: engine.transport, name: names.own });
const inAdopted = () => ({ transport: engine.transport, name: names.adopted });

type Case = readonly [what: string, code: ErrorCode, says: readonly string[], call: () => unknown];

const ownCases: readonly Case[] = [
  ["an id of the wrong type", "keys.wrongType", ["7", "studentId"], () => own.student.get({ studentId: untyped(7) })],
  [
    "a row whose id is of the wrong type",
    "schema.invalidValue",
    ["studentId", "string"],
    () => own.student.create({ studentId: untyped(7), name: "Bob" }),
  ],
  ["an id that is no object", "schema.invalidValue", ["student", "studentId"], () => own.student.get(untyped("S1"))],
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
    ["2048", "Shorten the id"],
    () => own.student.create({ studentId: "x".repeat(2048), name: "Bob" }),
  ],
  [
    "a value that DynamoDB cannot store",
    "request.unsupportedValue",
    ['"notes"', "Map"],
    () => own.student.create({ studentId: "S2", name: "Bob", notes: new Map() }),
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
    "an edge that there is not",
    "schema.unknownEdge",
    ['"enroledIn"', 'Did you mean "enrolledIn"?'],
    () => own.student({ studentId: "S1" }).out(untyped("enroledIn")),
  ],
  [
    "an edge that is not at this node",
    "schema.unknownEdge",
    ['"course"', "it has student"],
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
    ['"studentId"', "create another"],
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
    "an index that there is not",
    "plan.noIndex",
    ['"reserve"', 'Did you mean "reverse"?'],
    () => own.course({ courseId: "C1" }).in("enrolledIn").using("reserve").edges(),
  ],
  [
    "two writes of one item in a transaction",
    "plan.unsupported",
    ["once", "Join them"],
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
];

const adoptedCases: readonly Case[] = [
  [
    "an id that holds the delimiter",
    "keys.delimiter",
    ['"A#1"', '"#"'],
    () => adopted.bill.create({ billId: "A#1", status: "open", due: "2024" }),
  ],
  ["an id that holds the delimiter, in a read", "keys.delimiter", ['"A#1"', '"#"'], () => adopted.bill.get({ billId: "A#1" })],
  [
    "an attribute of an index key that is missing",
    "keys.incomplete",
    ['"due"', "Give every one"],
    () => adopted.bill.create({ billId: "1", status: "open" }),
  ],
  ["a number that is none", "schema.invalidValue", ['"amount"', "NaN"], () => adopted.bill.update({ billId: "1" }, { amount: Number.NaN })],
  [
    "a direction that no key serves",
    "plan.noIndex",
    ["owes", "Give the layout one"],
    () => adopted.bill({ billId: "1" }).in("owes").edges(),
  ],
];

describe("Edgetable's own layout", () => {
  test.each(ownCases)("%s: %s", async (...[, code, says, call]) => {
    await expectRefusal(call, { code, says }, inOwn());
  });
});

describe("an adopted layout", () => {
  test.each(adoptedCases)("%s: %s", async (...[, code, says, call]) => {
    await expectRefusal(call, { code, says }, inAdopted());
  });

  test("an item whose stored key the model cannot read: keys.unreadable", async () => {
    const Item = { PK: { S: "BILL#odd" }, SK: { S: "BILL" }, Type: { S: "bill" }, Status: { S: "closed" }, Due: { S: "DUE#2024" } };
    await engine.transport.send("PutItem", { TableName: names.adopted, Item });
    const says = ['"Status" is "closed"', "STATUS#{status}"];
    await expectRefusal(() => adopted.bill.get({ billId: "odd" }), { code: "keys.unreadable", says }, inAdopted());
  });
});

describe("a cursor", () => {
  const enrolled = () => own.student({ studentId: "S1" }).out("enrolledIn");
  const cursor = async (): Promise<string> => (await enrolled().page({ limit: 1 })).next!;
  const refused = { code: "cursor.invalid", says: ["of another query", "Start again without it"] } as const;

  test("of the same query goes on", async () => {
    expect((await enrolled().page({ limit: 1, cursor: await cursor() })).items).toMatchObject([{ to: { courseId: "C2" } }]);
  });

  test("of another node, another direction or another filter is refused", async () => {
    const taken = await cursor();
    await expectRefusal(() => own.student({ studentId: "S2" }).out("enrolledIn").page({ cursor: taken }), refused, inOwn());
    await expectRefusal(() => own.course({ courseId: "C1" }).in("enrolledIn").page({ cursor: taken }), refused, inOwn());
    await expectRefusal(() => enrolled().where({ grade: "A" }).page({ cursor: taken }), refused, inOwn());
  });

  test("with one character changed is refused, wherever it stands", async () => {
    const taken = await cursor();
    for (let at = 0; at < taken.length - 1; at += 7) {
      const forged = `${taken.slice(0, at)}${taken[at] === "A" ? "B" : "A"}${taken.slice(at + 1)}`;
      expect((await errorOf(() => enrolled().page({ cursor: forged }))).code).toBe("cursor.invalid");
    }
  });

  test("of another table's secret is refused", async () => {
    const other = ownGraph(names.own).connect({ transport: engine.transport, cursorSecret: "another" });
    await expectRefusal(
      async () =>
        other
          .student({ studentId: "S1" })
          .out("enrolledIn")
          .page({ cursor: await cursor() }),
      refused,
      inOwn(),
    );
  });
});

describe("rows of a load that is not strict", () => {
  test("fail alone, named with position and reason; the others are written", async () => {
    const rows = [
      { node: "course", row: { courseId: "L2" } },
      { node: "course", row: { courseId: 3 } },
      { node: "course", row: { courseId: "" } },
      { node: "course", row: { courseId: "L4" } },
    ];
    const report = await own.load(untyped(rows));
    expect(report.failures.map(({ row, error }) => [row, error.code])).toEqual([
      [1, "schema.invalidValue"],
      [2, "keys.empty"],
    ]);
    expect(await own.course.getMany([{ courseId: "L2" }, { courseId: "L4" }])).toEqual([{ courseId: "L2" }, { courseId: "L4" }]);
  });
});

describe("rows of a load that make one key", () => {
  const rows = ["a", "b", "c"].map((name) => ({ node: "student" as const, row: { studentId: "L1", name } }));

  test("are reported, and stop a load that refuses them before the second is written: load.collision", async () => {
    const error = await errorOf(() => own.load(rows, { collisions: "refuse" }));
    expect(error).toMatchObject({
      code: "load.collision",
      retryable: false,
      details: { rows: [0, 1], of: "student", report: { failed: 0 } },
    });
    expect(error.message).toContain("Mend the input or the key");
    expect((await scan(engine.transport, names.own)).join()).not.toContain('{"S":"b"}');
  });
});

describe("a table that does not fit", () => {
  test("whose keys are called differently is left as it is: table.mismatch", async () => {
    const error = await errorOf(() => ownGraph(names.adopted).connect({ transport: engine.transport }).table.create());
    expect(error.code).toBe("table.mismatch");
    expect(error.message).toContain("the model says HASH pk, RANGE sk, the table HASH PK, RANGE SK");
    expect(error.message).toContain("Change the model's layout, or use another table");
  });

  test("that is not there: execute.tableNotFound, and reading does not create it", async () => {
    const absent = engine.freshTableName("absent");
    const db = ownGraph(absent).connect({ transport: engine.transport });
    expect(await errorOf(() => db.student.get({ studentId: "S1" }))).toMatchObject({ code: "execute.tableNotFound", retryable: false });
    expect(await errorOf(() => db.student.create({ studentId: "S1", name: "Ann" }))).toMatchObject({ code: "execute.tableNotFound" });
    expect(await db.table.diff()).toBeUndefined();
  });
});

describe("a model", () => {
  test("with several mistakes is refused with all of them: schema.invalidModel", async () => {
    const key = "STUDENT#{studntId}" as string;
    const student = node({ key, schema: z.object({ studentId: z.string() }) });
    const enrolledIn = edge({ from: "student", to: "cuorse" });
    const error = await errorOf(() => defineGraph({ table: "x", nodes: { student, course: student }, edges: untyped({ enrolledIn }) }));
    expect(error.code).toBe("schema.invalidModel");
    for (const words of ['"x" is no name', "studntId", '"cuorse" is no node type', 'Did you mean "course"?'])
      expect(error.message).toContain(words);
  });
});

describe("an engine that is not there", () => {
  test("is named, the call may be made again: execute.connection", async () => {
    const transport = createLeanTransport({ endpoint: "http://127.0.0.1:1" });
    const db = ownGraph(names.own).connect({ transport, retry: { attempts: 2, baseDelay: 1 } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    expect(error).toMatchObject({
      code: "execute.connection",
      retryable: true,
      details: { ambiguous: false },
      request: { operation: "GetItem" },
    });
    expect(error.message).toContain("127.0.0.1:1");
  });

  test("and one that never answers ends at the deadline: execute.timeout", async () => {
    const silent = createServer(() => undefined);
    const endpoint = await listen(silent);
    const db = ownGraph(names.own).connect({ endpoint, deadline: 200, requestTimeout: 50, retry: { baseDelay: 1 } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    silent.closeAllConnections();
    silent.close();
    expect(error).toMatchObject({ code: "execute.timeout", retryable: true });
  });

  test("a call whose signal is aborted ends: execute.aborted", async () => {
    const error = await errorOf(() => own.student.create({ studentId: "never", name: "x" }).run({ signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "execute.aborted", retryable: false });
    expect((await scan(engine.transport, names.own)).join()).not.toContain("never");
  });
});

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)));

describe("credentials", () => {
  /** A service that refuses every request in DynamoDB's own words. */
  const refusing = async (
    type: string,
    message: string,
  ): Promise<{ readonly endpoint: string; readonly asked: () => number; close(): void }> => {
    let asked = 0;
    const server = createServer((request, response) => {
      request.resume().once("end", () => {
        asked++;
        response
          .writeHead(400, { "content-type": "application/x-amz-json-1.0" })
          .end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }));
      });
    });
    const endpoint = await listen(server);
    return { endpoint, asked: () => asked, close: () => server.closeAllConnections() ?? server.close() };
  };
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "very-secret", sessionToken: "old-token" };

  test.each([
    ["that have expired", "ExpiredTokenException", "The security token included in the request is expired", "execute.expiredCredentials"],
    ["of someone unknown", "UnrecognizedClientException", "The security token included in the request is invalid.", "execute.credentials"],
    ["that may not do this", "AccessDeniedException", "User is not authorized to perform: dynamodb:PutItem", "execute.accessDenied"],
  ])("%s: nothing is sent twice, and no secret is in the error (%s)", async (...[, type, message, code]) => {
    const service = await refusing(type, message);
    const db = ownGraph(names.own).connect({ endpoint: service.endpoint, credentials });
    const error = await errorOf(() => db.student.create({ studentId: "S9", name: "x" }));
    await db.close();
    service.close();
    expect(error).toMatchObject({ code, retryable: false, details: { fault: type } });
    expect(error.message).toContain(message);
    expect(service.asked()).toBe(1);
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toMatch(/very-secret|old-token/);
  });

  test("that a provider renews: the call asks it again", async () => {
    const service = await refusing("ExpiredTokenException", "expired");
    let given = 0;
    const provider = async () => ({ ...credentials, sessionToken: `token-${++given}` });
    const db = ownGraph(names.own).connect({ endpoint: service.endpoint, credentials: provider, retry: { attempts: 3, baseDelay: 1 } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    service.close();
    expect(error).toMatchObject({ code: "execute.expiredCredentials", retryable: true });
    expect(given).toBe(3);
  });

  test("that are not there at all: execute.credentials, before anything is sent", async () => {
    const db = ownGraph(names.own).connect({ endpoint: "http://127.0.0.1:1", credentials: () => Promise.reject(new Error("no profile")) });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    expect(error).toMatchObject({ code: "execute.credentials", retryable: false });
    expect(error.message).toContain("no profile");
  });
});
