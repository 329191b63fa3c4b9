import { chainMethods } from "@edgetable/studio";
import { defineGraph, edge, node, offline, part } from "edgetable";
import { expect, test } from "vitest";
import { z } from "zod";
import type { UntypedDb } from "../connection.ts";
import { buildScratch, readScratch, ScratchError } from "./scratch.ts";

const id = z.string();
const graph = defineGraph({
  table: "Scratch",
  nodes: {
    user: node({ key: "USER#{id}", schema: z.object({ id, name: z.string(), at: z.date().optional() }), dates: ["at"], unique: ["name"] }),
  },
  edges: { knows: edge({ from: "user", to: "user", schema: z.object({ since: z.int() }) }) },
  parts: { mail: part({ of: "user", key: "MAIL#{mailId}", schema: z.object({ mailId: id, text: id }) }) },
  indexes: { byName: { entries: { user: "name" } } },
});
const db = graph.connect({ transport: offline }) as unknown as UntypedDb;

const refusal = (text: string): { readonly message: string; readonly marked: string } => {
  try {
    void buildScratch(db, readScratch(db, chainMethods, text));
  } catch (error) {
    if (!(error instanceof ScratchError)) throw error;
    const { message, start, end } = error.problem;
    return { message, marked: text.slice(start, end) };
  }
  throw new Error(`${text} was taken`);
};

test.each([
  'db.user({ id: "1" }).get()',
  ' await db.user.get({ id: "1" });\n',
  'db.user({ "id": `1` }).out("knows").where({ since: { gte: -3 } }).reverse().limit(5).entries()',
  'db.user({ id: "1" }).out("knows").in("knows").dedupe().except("start").nodes({ budget: { requests: 20 } })',
  'db.find("user").where({ name: { beginsWith: "A" } }).using("byName").page({ limit: 3 })',
  'db.find(["user"]).where({ name: "A" }).first()',
  'db.knows.get({ id: "1" }, { id: "2" })',
  'db.user({ id: "1" }).parts("mail").all()',
  'db.mail.get({ id: "1" }, { mailId: "2" })',
])("%s is a read, as its code would make it", async (text) => {
  const call = readScratch(db, chainMethods, text);
  expect(call.writes).toBe(false);
  // oxlint-disable-next-line typescript/no-implied-eval -- the same text as a program
  const program = new Function(
    "db",
    `return ${text
      .trim()
      .replace(/^await /, "")
      .replace(/;$/, "")}`,
  ) as (db: unknown) => { explain(): Promise<unknown> };
  const [mine, theirs] = await Promise.all([buildScratch(db, call).explain(), program(db).explain()]);
  expect(JSON.stringify(mine)).toBe(JSON.stringify(theirs));
});

test.each([
  'db.user.create({ id: "1", name: "A", at: new Date("2024-01-02") })',
  'db.user.update({ id: "1" }, { set: { name: "B" }, remove: ["at"] })',
  'db.user.delete({ id: "1" })',
  'db.knows.link({ id: "1" }, { id: "2" }, { since: 2020 })',
  'db.mail.put({ id: "1" }, { mailId: "1", text: "x" })',
])("%s is a write", (text) => expect(readScratch(db, chainMethods, text).writes).toBe(true));

test.each([
  ["", "This is not a call", ""],
  ["db.user(", "This is not a call: Unexpected token", ""],
  ["process.exit()", 'begins with "db", not with "process"', "process"],
  ["db", "Name a node type", "db"],
  ["db.usr.get({})", 'no "usr". Did you mean "user"?', "usr"],
  ["db.constructor.constructor('return 1')()", "begins with", "db.constructor.constructor('return 1')()"],
  ['db.constructor("x")', 'no "constructor"', "constructor"],
  ['db.user.constructor("x")', '"constructor" cannot be called', "constructor"],
  ['db.user({ id: "1" }).__proto__.get()', '"__proto__" cannot be called', "__proto__"],
  ['db.user({ id: "1" })["get"]()', "Methods are named after a dot", '"get"'],
  ['db["user"].get({ id: "1" })', "Methods are named after a dot", '"user"'],
  ['db.user?.get({ id: "1" })', "A call is a chain", 'db.user?.get({ id: "1" })'],
  ["db.user.get({ id: process.env.HOME })", "Arguments are values", "process.env.HOME"],
  ["db.user.get({ id: name })", '"name" is not known here', "name"],
  ["db.user.get({ id: `${1}` })", "Arguments are values", "`${1}`"],
  ["db.user.get((() => ({ id: 1 }))())", "Arguments are values", "(() => ({ id: 1 }))()"],
  ['db.user.get({ id: fetch("http://x") })', "Arguments are values", 'fetch("http://x")'],
  ['db.user.get({ id: "1" + "2" })', "Arguments are values", '"1" + "2"'],
  ['db.user.get({ ["id"]: "1" })', "Write property names plainly", '"id"'],
  ['db.user.get({ __proto__: { id: "1" } })', "Write property names plainly", "__proto__"],
  ["db.user.get({ get id() { return 1 } })", "Arguments are values", "get id() { return 1 }"],
  ["db.user.get(...[{}])", "Arguments are values", "...[{}]"],
  ["db.user.get({ id: /x/ })", "Arguments are values", "/x/"],
  ['db.user.get({ id: new Function("return 1") })', "Arguments are values", 'new Function("return 1")'],
  ['db.user.get({ id: new Date("never") })', "not a date", 'new Date("never")'],
  ['db.user({ id: "1" }).out("knows")', "not a call yet: end it with one of nodes(…)", ""],
  ['db.user({ id: "1" }).get().report()', "Nothing may follow the end", "report"],
  ['db.user({ id: "1" }).get().then()', "Nothing may follow the end", "then"],
  ['db.user({ id: "1" }).out("know").nodes()', 'Did you mean "knows"?', "out"],
  ['db.user({ id: "1" }).out("knows").wher({}).nodes()', 'Did you mean "where"?', "wher"],
  ['db.user({ id: "1" }).out("knows").where({ sinc: 1 }).nodes()', "since", "where"],
  ["db.table.delete()", 'no "table"', "table"],
  ["db.close()", 'no "close"', "close"],
  ['db.user.get({ id: "1" }), db.user.get({ id: "2" })', "A call is a chain", 'db.user.get({ id: "1" }), db.user.get({ id: "2" })'],
  ['db.user.get({ id: "1" }); db.close()', "One call at a time", "; db.close()"],
  ["db.knows({})", '"knows" is not a node', "knows"],
])("%s is refused with its place", (text, message, marked) => {
  const refused = refusal(text);
  expect(refused.message).toContain(message);
  expect(refused.marked).toBe(marked);
});

test("deep nesting ends in a refusal", () => {
  expect(refusal(`db.user.get(${"[".repeat(30_000)}${"]".repeat(30_000)})`).message).toBeTruthy();
});

test("a method that a chain does not take is refused with those that it takes", () => {
  expect(refusal('db.user.grid({ id: "1" }).page()').message).toMatch(/^"grid" cannot be called here\. Known: get, /);
});
