import type { ErrorCode } from "edgetable";
import { afterAll, beforeAll, test } from "vitest";
import { openTables, untyped, type Tables } from "./open-tables.ts";
import { expectRefusal } from "./refusal.ts";

/** Walks as a caller without types may write them: each mistake has its code, says what to give, and costs no request. */
let tables: Tables;
let sent = 0;

beforeAll(async () => {
  tables = await openTables((request) => (sent += request.attempts));
});
afterAll(() => tables.engine.close());

const start = () => tables.own.student({ studentId: "S1" });
const hop = { both: "helps" } as const;
const walk = () => start().out("helps").out("helps");
const other = { studentId: "S2" };

const cases: readonly (readonly [what: string, code: ErrorCode, says: readonly string[], call: () => unknown])[] = [
  [
    "common() with its arguments swapped",
    "traverse.start",
    ["{ out:", "names no edge"],
    () => start().common(untyped([other]), untyped(hop)),
  ],
  ["common() without the others", "plan.invalidOption", ["array of ids", "undefined"], () => start().common(hop, untyped(undefined))],
  ["common() with one id", "plan.invalidOption", ["array of ids", "S2"], () => start().common(hop, untyped(other))],
  ["common() of nothing", "traverse.start", ["{ out:"], () => start().common(untyped(undefined), [])],
  ["suggest() without how many", "plan.invalidOption", ["top is undefined"], () => start().suggest(hop, untyped(undefined))],
  ["suggest() with its arguments swapped", "traverse.start", ["names no edge"], () => start().suggest(untyped({ top: 3 }), untyped(hop))],
  ["suggest() of nobody", "plan.invalidOption", ["top is 0", "1 to"], () => start().suggest(hop, { top: 0 })],
  ["suggest() of nothing", "traverse.start", ["{ out:"], () => start().suggest(untyped(undefined), { top: 1 })],
  ["shortestPath() without a hop", "traverse.start", ["{ out:"], () => start().shortestPath(untyped(other), untyped(undefined))],
  [
    "shortestPath() with its arguments swapped",
    "traverse.start",
    ["names no edge"],
    () => start().shortestPath(untyped(hop), untyped(other)),
  ],
  ["cycle() without a hop", "traverse.start", ["{ out:"], () => start().cycle(untyped(undefined))],
  ["subtree() without a hop", "traverse.start", ["{ out:"], () => start().subtree(untyped(undefined))],
  ["a repeat without a depth", "traverse.depth", ["got undefined"], () => start().walk().repeat(hop, untyped(undefined)).ids()],
  [
    "a repeat that hands on nothing known",
    "plan.invalidOption",
    ["emit", '"al"', 'Did you mean "all"?'],
    () =>
      start()
        .walk()
        .repeat(hop, untyped({ depth: 2, emit: "al" }))
        .ids(),
  ],
  ["an edge that is not said", "schema.unknownEdge", ['"undefined"', "Known: "], () => start().out(untyped(undefined))],
  ["an empty list of edges", "traverse.start", ["out: [] names no edge"], () => start().out(untyped([]))],
  [
    "a list with an unknown edge",
    "schema.unknownEdge",
    ['Did you mean "helps"?'],
    () =>
      start()
        .walk()
        .out(untyped(["helps", "helsp"])),
  ],
  [
    "a hop in several directions",
    "traverse.start",
    ["out and in", "one direction"],
    () =>
      start()
        .walk()
        .repeat(untyped({ out: ["helps"], in: ["helps"] }), { depth: 1 }),
  ],
  [
    "a list of lists of edges",
    "plan.invalidOption",
    ["names of edges"],
    () =>
      start()
        .walk()
        .out(untyped([["helps"]])),
  ],
  ["top() without how many", "plan.invalidOption", ["top is undefined"], () => walk().top(untyped(undefined))],
  ["a rank by nothing", "plan.invalidOption", ["by"], () => walk().rank({ out: "helps" }, untyped(undefined))],
  [
    "a rank by an attribute that there is not",
    "schema.unknownAttribute",
    ['"huors"', 'Did you mean "hours"?'],
    () => walk().rank({ out: "helps" }, { by: { sum: "huors" as never } }),
  ],
  ["a sum of an attribute that there is not", "schema.unknownAttribute", ['Did you mean "hours"?'], () => walk().sum("huors" as never)],
  ["a least of an attribute that there is not", "schema.unknownAttribute", ['Did you mean "hours"?'], () => walk().min("huors" as never)],
  ["a most of an attribute that there is not", "schema.unknownAttribute", ['Did you mean "hours"?'], () => walk().max("huors" as never)],
  [
    "levels with a sum of an attribute that there is not",
    "schema.unknownAttribute",
    ['Did you mean "hours"?'],
    () => start().subtree(hop, { sum: "huors" as never }),
  ],
  ["nodes left out that are no list", "plan.invalidOption", ["array of ids", "strat"], () => walk().except(untyped("strat"))],
  ["nothing left out", "plan.invalidOption", ["array of ids"], () => walk().except(untyped(undefined))],
  ["among no list", "plan.invalidOption", ["array of ids"], () => walk().among(untyped(other))],
  [
    "a budget with a misspelt name",
    "plan.invalidOption",
    ['"request"', 'Did you mean "requests"?'],
    () => walk().ids({ budget: untyped({ request: 5 }) }),
  ],
  ["a budget that is a number", "plan.invalidOption", ["budget", "5", "requests"], () => walk().ids({ budget: untyped(5) })],
  [
    "the budget of a search for paths, misspelt",
    "plan.invalidOption",
    ['Did you mean "requests"?'],
    () => start().shortestPath(other, hop, { budget: untyped({ request: 5 }) }),
  ],
  [
    "the budget of common(), misspelt",
    "plan.invalidOption",
    ['Did you mean "requests"?'],
    () => start().common(hop, [other], { budget: untyped({ request: 5 }) }),
  ],
  [
    "a supernode that is treated in no known way",
    "plan.invalidOption",
    ["supernode", '"smaple"', 'Did you mean "sample"?'],
    () => walk().ids({ supernode: untyped("smaple") }),
  ],
];

test.each(cases)("%s: %s", async (...[, code, says, call]) => {
  const before = sent;
  await expectRefusal(call, { code, says }, tables.inOwn);
  if (sent !== before) throw new Error(`${sent - before} requests were sent`);
});
