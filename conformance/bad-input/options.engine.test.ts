import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownGraph } from "./models.ts";
import { openTables, type Tables } from "./open-tables.ts";
import { errorOf, expectRefusal } from "./refusal.ts";

/** Options as plain JavaScript may hand them in: null, of the wrong kind, with a misspelt name. */
let engine: Tables["engine"];
let own: Tables["own"];
let inOwn: Tables["inOwn"];
/** The same, callable with anything. */
let any: Untyped;

// oxlint-disable-next-line typescript/no-explicit-any -- what plain JavaScript sees
type Untyped = any;

beforeAll(async () => {
  ({ engine, own, inOwn } = await openTables());
  any = own;
});
afterAll(() => engine.close());

const id = { studentId: "S1" };
const hop = { out: "enrolledIn" };
const walk = (): Untyped => any.student(id).walk().out("enrolledIn");
const neighbours = (): Untyped => any.student(id).out("enrolledIn");
const rows = [{ node: "course", row: { courseId: "C9" } }];

/** Every call that takes options, with the name of one of them. */
const calls: readonly (readonly [what: string, name: string, call: (options: unknown) => unknown])[] = [
  ["get", "consistent", (options) => any.student.get(id, options)],
  ["getMany", "consistent", (options) => any.student.getMany([id], options)],
  ["get of a handle", "consistent", (options) => any.student(id).get(options)],
  ["collection", "consistent", (options) => any.student(id).collection(options)],
  ["incoming", "index", (options) => any.student(id).incoming(options)],
  ["has", "consistent", (options) => any.student(id).has("enrolledIn", { courseId: "C1" }, options)],
  ["get of an edge", "consistent", (options) => any.enrolledIn.get(id, { courseId: "C1" }, options)],
  ["getMany of edges", "where", (options) => any.enrolledIn.getMany(id, [{ courseId: "C1" }], options)],
  ["nodes", "given", (options) => neighbours().nodes(options)],
  ["entries", "given", (options) => neighbours().entries(options)],
  ["page", "limit", (options) => neighbours().page(options)],
  ["page of a search", "limit", (options) => any.find("student").page(options)],
  ["run", "deadline", (options) => neighbours().edges().run(options)],
  ["report", "signal", (options) => neighbours().edges().report(options)],
  ["orThrow", "deadline", (options) => any.course.put({ courseId: "C9" }).orThrow(options)],
  ["ids of a walk", "budget", (options) => walk().ids(options)],
  ["nodes of a walk", "supernode", (options) => walk().nodes(options)],
  ["count of a walk", "cursor", (options) => walk().count(options)],
  ["groupCount", "budget", (options) => walk().groupCount(options)],
  ["sum", "budget", (options) => walk().sum("grade", options)],
  ["min", "storeCursor", (options) => walk().min("grade", options)],
  ["rank", "budget", (options) => walk().rank({ in: "enrolledIn" }, options)],
  ["levels", "budget", (options) => walk().levels(options)],
  ["paths", "simple", (options) => walk().paths(options)],
  ["repeat", "depth", (options) => any.student(id).walk().repeat({ out: "helps" }, options)],
  ["subtree", "depth", (options) => any.student(id).subtree({ out: "helps" }, options)],
  ["common", "budget", (options) => any.student(id).common(hop, [id], options)],
  ["shortestPaths", "depth", (options) => any.student(id).shortestPaths(id, { out: "helps" }, options)],
  ["allPaths", "limit", (options) => any.student(id).allPaths(id, { out: "helps" }, options)],
  ["put", "ifVersion", (options) => any.student.put({ ...id, name: "Bob" }, options)],
  ["update", "ifVersion", (options) => any.student.update(id, { name: "Bob" }, options)],
  ["delete", "indexLag", (options) => any.student.delete(id, options)],
  ["start of a deletion", "deadline", (options) => any.student.delete(id).start(options)],
  ["put of a part", "ifVersion", (options) => any.desk.put({ floor: 1, door: "a" }, { desk: "D" }, options)],
  ["link", "reverse", (options) => any.enrolledIn.link(id, { courseId: "C9" }, { enrolledAt: "2024" }, options)],
  ["put of an edge", "reverse", (options) => any.enrolledIn.put(id, { courseId: "C9" }, { enrolledAt: "2024" }, options)],
  ["relink", "ifVersion", (options) => any.enrolledIn.relink(id, { courseId: "C1" }, { grade: "A" }, options)],
  ["unlink", "ifVersion", (options) => any.enrolledIn.unlink(id, { courseId: "C1" }, options)],
  ["load", "strict", (options) => any.load(rows, options)],
  ["scan", "consistent", (options) => any.scan(options)[Symbol.asyncIterator]().next()],
  ["reshard", "rate", (options) => any.reshard(options)],
  ["jobs.list", "deadline", (options) => any.jobs.list(options)],
  ["jobs.resume", "lease", (options) => any.jobs.resume("none", options)],
  ["jobs.resumeAll", "lease", (options) => any.jobs.resumeAll(options)],
  ["table.create", "deadline", (options) => any.table.create(options)],
  ["table.diff", "deadline", (options) => any.table.diff(options)],
];

describe.each(calls)("%s", (_, name, call) => {
  test.each([[null], ["fast"], [5]])("takes no %j for its options", async (options) => {
    await expectRefusal(() => call(options), { code: "plan.invalidOption", says: ["Expected an object"] }, inOwn);
  });

  test("refuses a misspelt option, and says which was meant", async () => {
    const misspelt = `${name.slice(0, 1)}${name.slice(2)}`;
    const says = [`There is no option "${misspelt}".`, `Did you mean "${name}"?`];
    await expectRefusal(() => call({ [misspelt]: 1 }), { code: "plan.invalidOption", says }, inOwn);
  });
});

describe("values of options", () => {
  const cases: readonly (readonly [what: string, says: string, call: () => unknown])[] = [
    ["consistent that is a text", 'Expected a boolean for consistent, got "no"', () => any.student.get(id, { consistent: "no" })],
    ["a condition that is null", "got null", () => any.student.put({ ...id, name: "B" }, { if: null })],
    ["a version that is a text", 'ifVersion is "2x"', () => any.student.put({ ...id, name: "B" }, { ifVersion: "2x" })],
    [
      "a filter of a hop that is null",
      "got null",
      () =>
        any
          .student(id)
          .walk()
          .hop({ ...hop, where: null }),
    ],
    [
      "a misspelt filter of a hop",
      'Did you mean "where"?',
      () =>
        any
          .student(id)
          .walk()
          .hop({ ...hop, wehre: { grade: "A" } }),
    ],
    ["a budget that is null", "got null", () => walk().ids({ budget: null })],
    ["a misspelt budget", 'Did you mean "budget"?', () => walk().ids({ buget: { requests: 1 } })],
    ["an option of another answer", 'There is no option "top"', () => walk().ids({ top: 3 })],
    ["a page of what there is not", 'Did you mean "nodes"?', () => neighbours().page({ of: "ndoes" })],
    ["a rank by what there is not", 'by: "degree"', () => walk().rank({ in: "enrolledIn" }, { by: "degre" })],
    ["an order that there is not", 'Did you mean "kept"?', () => any.load(rows, { order: "kpet" })],
    ["a job's name that is no text", "job is 5: give a name", () => any.load(rows, { job: 5 })],
    ["names to scan for that are no list", "array of names", () => any.scan({ only: "student" })[Symbol.asyncIterator]().next()],
    ["kinds to find that are no list", "array of kinds", () => any.find({})],
    ["rows that are none", "Expected an array of rows", () => any.load()],
    ["a number for rows", "got 5", () => any.load(5)],
    ["a file's name for rows", 'got "rows.csv"', () => any.load("rows.csv")],
  ];
  test.each(cases)("%s", async (_, says, call) => {
    await expectRefusal(call, { code: "plan.invalidOption", says: [says] }, inOwn);
  });
});

describe("a connection", () => {
  const connect = (options: unknown): unknown => ownGraph(inOwn.name).connect(options as never);
  test.each([
    ["null", null, "Expected an object"],
    ["a misspelt option", { regoin: "eu-central-1" }, 'Did you mean "region"?'],
    ["a transport that is none", { transport: "local" }, "Expected an object for transport"],
    ["a client that is null", { client: null }, "Expected an object for client"],
    ["a retry that is null", { retry: null }, "Expected an object"],
    ["a misspelt retry", { retry: { atempts: 3 } }, 'Did you mean "attempts"?'],
    ["a validation that is a text", { validate: "no" }, "Expected a boolean for validate"],
    ["an advanced option beside the others", { rulesOff: [] }, 'There is no option "rulesOff"'],
    ["advanced rules that are no list", { advanced: { rulesOff: "all" } }, "Expected an array of rules"],
    ["a misspelt advanced option", { advanced: { effect: {} } }, 'There is no option "effect". Did you mean "effects"?'],
    ["a misspelt rule", { advanced: { rulesOff: ["drop-dedup"] } }, 'There is no planner rule "drop-dedup". Did you mean "drop-dedupe"?'],
  ])("%s is refused", async (_, options, words) => {
    const error = await errorOf(() => connect(options));
    expect(error.code).toBe("plan.invalidOption");
    expect(error.message).toContain(words);
  });
});
