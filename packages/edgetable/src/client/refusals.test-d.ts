import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";

// What a call cannot mean is refused where it is written, by a sentence.
const user = node({
  key: "USER#{id}",
  schema: z.object({ id: z.string(), name: z.string(), nick: z.string().optional(), level: z.number().default(1), born: z.string(), tags: z.set(z.string()) }),
  immutable: ["born"],
});
const team = node({ key: "TEAM#{team}", schema: z.object({ team: z.string(), name: z.string() }) });
const memberOf = edge({ from: "user", to: "team", schema: z.object({ role: z.string(), since: z.string(), rank: z.number() }), key: ["role"], immutable: ["since"] });
const knows = edge({ from: "user", to: "user", schema: z.object({ at: z.string().optional() }) });
const manages = edge({ from: "team", to: "user", stored: "reference", schema: z.object({ id: z.string().optional() }) });
const line = part({ of: "user", key: "LINE#{n:4}", schema: z.object({ n: z.number(), text: z.string(), made: z.string() }), immutable: ["made"] });
const model = { table: "T", nodes: { user, team }, edges: { memberOf, knows, manages }, parts: { line } } as const;
const db = defineGraph({ ...model, indexes: { byName: { entries: { user: "name" } } } }).connect();
const [ann, red] = [{ id: "1" }, { team: "2" }];

test("`add`, `append` and `delete` of a value of another type", () => {
  // @ts-expect-error Type 'number' is not assignable to type 'Advice<"Only numbers and sets are added to: …">'
  void (() => db.user.update(ann, { add: { name: 1 } }));
  // @ts-expect-error Type 'string[]' is not assignable to type 'Advice<"Only lists are appended to: …">'
  void (() => db.user.update(ann, { append: { name: ["a"] } }));
  // @ts-expect-error Type 'Set<string>' is not assignable to type 'Advice<"Only members of sets are deleted: …">'
  void (() => db.user.update(ann, { delete: { name: new Set(["a"]) } }));
  void (() => db.user.update(ann, { add: { level: 1, tags: new Set(["a"]) } }));
});

test("`remove` of an attribute that the schema requires", () => {
  // @ts-expect-error Type '"name"' is not assignable to type '"nick" | "level" | Advice<"Only an attribute that the schema makes optional can be removed: …">'
  void (() => db.user.update(ann, { remove: ["name"] }));
  // @ts-expect-error -- of an edge
  void (() => db.memberOf.relink(ann, red, { remove: ["rank"] }, { key: { role: "a" } }));
  // One with a default gets it back.
  void (() => db.user.update(ann, { remove: ["nick", "level"] }));
  void (() => db.knows.relink(ann, ann, { remove: ["at"] }));
});

test("a change of an immutable attribute", () => {
  // @ts-expect-error Type '"x"' is not assignable to type '"\"born\" is immutable: create a new row in place of this one."'
  void (() => db.user.update(ann, { born: "x" }));
  // @ts-expect-error -- in a change set
  void (() => db.user.update(ann, { set: { born: "x" } }));
  // @ts-expect-error -- of an upsert
  void (() => db.user.upsert({ ...ann, name: "Ann", born: "x", tags: new Set() }, { born: "y" }));
  // @ts-expect-error -- of an edge
  void (() => db.memberOf.relink(ann, red, { since: "x" }, { key: { role: "a" } }));
  // @ts-expect-error -- of a part
  void (() => db.line.update(ann, { n: 1 }, { made: "x" }));
  void (() => db.line.update(ann, { n: 1 }, { text: "x" }));
  expectTypeOf<NonNullable<(typeof user)["~types"]["changes"]["born"]>>().toEqualTypeOf<'"born" is immutable: create a new row in place of this one.'>();
});

test("a change of an attribute of the key", async () => {
  // @ts-expect-error Type '"x"' is not assignable to type '"\"id\" is immutable: create a new row in place of this one."'
  void (() => db.user.update(ann, { id: "x" }));
  // @ts-expect-error -- in a change set
  void (() => db.user.update(ann, { set: { id: "x" } }));
  // @ts-expect-error -- of a part
  void (() => db.line.update(ann, { n: 1 }, { n: 2 }));
  // @ts-expect-error -- of an edge's own key
  void (() => db.memberOf.relink(ann, red, { role: "b" }, { key: { role: "a" } }));
  // @ts-expect-error -- with the rest of a row
  void (async () => db.user.update(ann, { ...(await db.user(ann).get())!, name: "x" }));
});

test("names that the schema does not have", () => {
  const schema = z.object({ id: z.string(), name: z.string(), role: z.string() });
  // @ts-expect-error Type '"nam"' is not assignable to type '"id" | "name" | "role"'. Did you mean '"name"'?
  void (() => node({ key: "A#{id}", schema, unique: ["nam"] }));
  // @ts-expect-error -- immutable
  void (() => node({ key: "A#{id}", schema, immutable: ["nam"] }));
  // @ts-expect-error -- of a part
  void (() => part({ of: "user", key: "A#{id}", schema, immutable: ["nam"] }));
  // @ts-expect-error -- of an edge
  void (() => edge({ from: "user", to: "user", schema, immutable: ["nam"] }));
  // @ts-expect-error -- an edge's own key
  void (() => edge({ from: "user", to: "user", schema, key: ["rol"] }));
  const person = node({ key: "A#{id}", schema, unique: ["name"], immutable: ["role"] });
  expectTypeOf<(typeof person)["~unique"]>().toEqualTypeOf<"name">();
});

const edgeWith = <S extends z.ZodObject<{ at: z.ZodString }>>(given: S) => edge({ from: "user", to: "user", schema: given, key: ["at"], immutable: ["at"] });

test("names that generic code gives are not refused", () => {
  const schema = z.object({ id: z.string(), name: z.string(), role: z.string() });
  const nodeWith = <const Name extends "name" | "role">(names: readonly Name[], of: (name: Name) => void) =>
    [node({ key: "A#{id}", schema, unique: names, immutable: names }), of] as const;
  const [made] = nodeWith(["name"], () => undefined);
  const visited = edgeWith(z.object({ at: z.string(), place: z.string() }));
  expectTypeOf<(typeof made)["~unique"]>().toEqualTypeOf<"name">();
  expectTypeOf<(typeof visited)["~types"]["key"]>().toEqualTypeOf<{ readonly at: string }>();
});

test("the format of an order is not refused where the schema takes any attribute", () => {
  const rated = edge({ from: "user", to: "user", schema: z.looseObject({ rank: z.number() }), orderBy: "rank:number" });
  expectTypeOf<(typeof rated)["~disorder"]>().toEqualTypeOf<never>();
  void defineGraph({ table: "T", nodes: { user }, edges: { rated } });
});

test("`ifVersion` of a kind without versions", () => {
  const counted = { version: true } as const;
  const doc = node({ key: "DOC#{id}", schema: z.object({ id: z.string(), text: z.string() }), ...counted });
  const cites = edge({ from: "doc", to: "doc", ...counted });
  const links = edge({ from: "doc", to: "doc" });
  const page = part({ of: "doc", key: "PAGE#{n:4}", schema: z.object({ n: z.number(), text: z.string() }), ...counted });
  const docs = defineGraph({ table: "T", nodes: { doc }, edges: { cites, links }, parts: { page } }).connect();
  // @ts-expect-error Type 'number' is not assignable to type 'Advice<"Only kinds with `version: true` count the changes of a row.">'
  void (() => db.user.update(ann, { name: "x" }, { ifVersion: 1 }));
  // @ts-expect-error -- nor by a deletion
  void (() => db.user.delete(ann, { ifVersion: 1 }));
  // @ts-expect-error -- nor by a check
  void (() => db.user.check(ann, { ifVersion: 1 }));
  // @ts-expect-error -- of an edge
  void (() => docs.links.unlink(ann, ann, { ifVersion: 1 }));
  // @ts-expect-error -- of a part
  void (() => db.line.update(ann, { n: 1 }, { text: "x" }, { ifVersion: 1 }));
  void (() => docs.doc.update(ann, { text: "x" }, { ifVersion: 1, if: { text: "y" } }));
  void (() => docs.doc.upsert({ ...ann, text: "x" }, { text: "x" }, { ifVersion: 1 }));
  void (() => docs.doc.delete(ann, { ifVersion: 1 }));
  void (() => docs.doc.check(ann, { ifVersion: 1 }));
  void (() => docs.cites.unlink(ann, ann, { ifVersion: 1 }));
  void (() => docs.page.update(ann, { n: 1 }, { text: "x" }, { ifVersion: 1 }));
});

test("an edge with a key of its own, without that key", () => {
  // @ts-expect-error Expected 3 arguments, but got 2.
  void (() => db.memberOf.unlink(ann, red));
  // @ts-expect-error -- nor read
  void (() => db.memberOf.get(ann, red));
  // @ts-expect-error -- nor changed
  void (() => db.memberOf.relink(ann, red, { rank: 2 }));
  // @ts-expect-error -- nor read with others
  void (() => db.memberOf.getMany(ann, [red], {}));
  // @ts-expect-error -- nor asked for
  void (() => db.user(ann).has("memberOf", red));
  void (() => db.user(ann).has("memberOf", red, { key: { role: "a" }, consistent: true }));
  void (() => db.memberOf.unlink(ann, red, { key: { role: "a" } }));
  void (() => db.memberOf.getMany(ann, [red], { key: { role: "a" } }));
  // One without is named by its ends.
  void (() => db.knows.unlink(ann, ann));
  void (() => db.knows.unlink(ann, ann, { if: { at: "1" } }));
  void (() => db.knows.relink(ann, ann, { at: "2" }));
  void (() => db.knows.getMany(ann, [ann]));
  void (() => db.user(ann).has("knows", ann));
});

test("a search for what no index holds", () => {
  // An editor offers the texts that an argument may be: a kind, and no sentence.
  const find = db.find<"user" | "team">;
  expectTypeOf<Extract<Parameters<typeof find>[0], string>>().toEqualTypeOf<"user">();
  // @ts-expect-error Argument of type '"team"' is not assignable to parameter of type 'Advice<"No index finds "team": declare one, …">'
  void (() => db.find("team"));
  // @ts-expect-error Argument of type '"usr"' is not assignable to parameter of type 'Advice<"There is no node, edge or part "usr".">'
  void (() => db.find("usr"));
  // @ts-expect-error -- one of several
  void (() => db.find(["user", "team"]));
  void (() => db.find("user").where({ name: "Ann" }));
  void (() => db.find(["user"]).rows());
  // References lie in the items of their nodes.
  void (() => db.find("manages"));
  // @ts-expect-error -- without any index
  void (() => defineGraph(model).connect().find("user"));
  // The indexes of a table's own layout are not known.
  void (() => defineGraph({ ...model, layout: { partitionKey: "pk" } }).connect().find("team"));
  // @ts-expect-error Argument of type '"usr"' is not assignable to parameter of type 'Advice<"There is no node, edge or part "usr".">'
  void (() => defineGraph({ ...model, indexes: { byName: { entries: { usr: "name" } } } }));
});

test("a fold of an attribute that is no number", () => {
  const walk = db.user(ann).walk().out("memberOf");
  void (() => walk.sum("rank"));
  // An earlier hop may have it.
  void (() => walk.in("memberOf").out("knows").sum("rank"));
  // @ts-expect-error -- no edge has it
  void (() => walk.sum("rnak"));
  // @ts-expect-error -- a text
  void (() => walk.max("role"));
  const levels = db.user(ann).out("knows").in("knows");
  void (() => levels.aggregate({ sum: "level", max: ["level"] }));
  // @ts-expect-error -- a text
  void (() => levels.aggregate({ average: "name" }));
  // @ts-expect-error -- one of two is a text
  void (() => levels.groupBy("nick", { sum: ["level", "name"] }));
  void (() => db.user(ann).walk().rank({ out: "memberOf" }, { by: { sum: "rank" } }));
  // @ts-expect-error -- a text
  void (() => db.user(ann).walk().rank({ out: "memberOf" }, { by: { sum: "role" } }));
  // @ts-expect-error -- an edge without it
  void (() => db.user(ann).walk().rank({ out: "knows" }, { by: { sum: "rank" } }));
  void (() => db.user(ann).subtree({ out: "memberOf" }, { sum: "rank" }));
  // @ts-expect-error -- a text
  void (() => db.user(ann).subtree({ out: "memberOf" }, { sum: "role" }));
  void (() => db.find("user").where({ name: "Ann" }).sum("level"));
  // @ts-expect-error -- a text
  void (() => db.find("user").where({ name: "Ann" }).sum("nick"));
});

test("attributes of a new edge whose type has no schema", async () => {
  const edges = { knows: edge({ from: "user", to: "user", timestamps: true }) };
  const { knows } = defineGraph({ table: "T", nodes: { user }, edges }).connect();
  const bob = { id: "2" };
  void (() => knows.link(ann, bob));
  void (() => knows.link(ann, bob, {}, { idempotent: true }));
  // @ts-expect-error Type 'number' is not assignable to type 'Advice<"This edge type has no attributes of its own: declare them in its schema.">'
  void (() => knows.link(ann, bob, { since: 1 }));
  // @ts-expect-error Type 'string' is not assignable to type 'Advice<"This edge type has no attributes of its own: …">'
  void (() => knows.link(ann, bob, { created: "2026-01-01" }));
  // What was read can be put.
  const { from, to, ...rest } = (await knows.get(ann, bob))!;
  void (() => knows.put(from, to, rest));
});

test("a write of an edge that is stored as a reference", () => {
  // @ts-expect-error This expression is not callable. Type 'Advice<"This edge is stored as attributes of its source: set them with an update of that node.">' has no call signatures.
  void (() => db.manages.link(red, ann));
  // @ts-expect-error -- nor is it put
  void (() => db.manages.put(red, ann));
  // @ts-expect-error -- nor changed
  void (() => db.manages.relink(red, ann, {}));
  // @ts-expect-error -- nor removed
  void (() => db.manages.unlink(red, ann));
  void (() => db.manages.get(red, ann));
  void (() => db.team(red).out("manages").nodes());
});
