import { afterAll, beforeAll, beforeEach, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";

const open = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{id}",
        schema: z.object({ id: z.string(), name: z.string(), email: z.string(), about: z.string().optional() }),
        unique: ["email"],
        version: true,
      }),
      team: node({ key: "TEAM#{id}", schema: z.object({ id: z.string(), name: z.string(), size: z.int() }) }),
    },
    parts: { post: part({ of: "user", key: "POST#{n:4}", schema: z.object({ n: z.int(), title: z.string(), text: z.string() }) }) },
    edges: {
      joined: edge({ from: "user", to: "team", schema: z.object({ role: z.string(), note: z.string().optional() }) }),
      follows: edge({ from: "user", to: ["user", "team"], schema: z.object({ term: z.string(), why: z.string() }), key: ["term"] }),
      rates: edge({
        from: "user",
        to: "team",
        schema: z.object({ a: z.int(), b: z.int() }),
        stored: "twice",
        sides: { from: ["a"], to: ["b"] },
      }),
    },
    indexes: { byTerm: { entries: { joined: "role", follows: "term" } } },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof open>["connect"]>;
const sent: SentRequest[] = [];
const [ann, bob, art] = [{ id: "ann" }, { id: "bob" }, { id: "art" }];
beforeAll(async () => {
  engine = await openEngine();
  db = open(engine.freshTableName("select")).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  for (const { id } of [ann, bob]) await db.user.create({ id, name: `N${id}`, email: `${id}@x`, about: "long" }).orThrow();
  await db.team.create({ ...art, name: "Art", size: 3 }).orThrow();
  for (let n = 1; n <= 3; n++) await db.post.create(ann, { n, title: `t${n}`, text: "long" }).orThrow();
  await db.joined.link(ann, art, { role: "r", note: "n" }).orThrow();
  await db.joined.link(bob, art, { role: "s" }).orThrow();
  await db.follows.link(ann, { type: "user", ...bob }, { term: "1", why: "x" }).orThrow();
  await db.follows.link(ann, { type: "team", ...art }, { term: "1", why: "y" }).orThrow();
  await db.rates.link(ann, art, { a: 1, b: 2 }).orThrow();
});
afterAll(() => engine.close());
beforeEach(() => void (sent.length = 0));

/** The attributes that a request asks for; undefined for all. */
const asked = (one: SentRequest | undefined): readonly string[] | undefined => {
  const input = one?.input as { RequestItems?: Readonly<Record<string, object>> } & Projected;
  const { ProjectionExpression, ExpressionAttributeNames = {} } = (
    input?.RequestItems ? Object.values(input.RequestItems)[0] : input
  ) as Projected;
  return ProjectionExpression?.split(", ")
    .map((name) => ExpressionAttributeNames[name] ?? name)
    .toSorted();
};
interface Projected {
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}

test("neighbours come with the selected attributes, and as many units", async () => {
  const call = db
    .team(art)
    .in("joined")
    .nodes({ select: ["name"] });
  const report = await call.report();
  expect(report.value).toEqual([
    { name: "Nann", version: 1 },
    { name: "Nbob", version: 1 },
  ]);
  expectTypeOf(report.value[0]!).toEqualTypeOf<{ name: string; version: number }>();
  expect(asked(sent[1])).toEqual(["name", "pk", "sk", "type", "version"]);
  const whole = await db.team(art).in("joined").nodes().report();
  expect(report.cost.readUnits).toBe(whole.cost.readUnits);
  const entries = await db
    .team(art)
    .in("joined")
    .select("role")
    .entries({ select: ["id", "email"] });
  expect(entries[0]).toEqual({ edge: { from: ann, to: art, role: "r" }, node: { id: "ann", email: "ann@x", version: 1 } });
});

test("neighbours of several types each have what they have of the selection", async () => {
  const nodes = await db
    .user(ann)
    .out("follows")
    .nodes({ select: ["name"] });
  expect(nodes).toEqual([
    { kind: "team", row: { name: "Art" } },
    { kind: "user", row: { name: "Nbob", version: 1 } },
  ]);
  expect(
    await db
      .user(ann)
      .out("follows")
      .nodes({ select: ["size"] as never }),
  ).toEqual([
    { kind: "team", row: { size: 3 } },
    { kind: "user", row: {} },
  ]);
  expect(() =>
    db
      .user(ann)
      .out("follows")
      .nodes({ select: ["sise"] as never }),
  ).toThrow('"sise" is not an attribute');
});

test("a node by a unique value, selected: the value itself is read to check it, and not given", async () => {
  const row = await db.user.by({ email: "ann@x" }, { select: ["about"] });
  expect(row).toEqual({ about: "long", version: 1 });
  expect(asked(sent[1])).toEqual(["about", "email", "pk", "sk", "type", "version"]);
  expectTypeOf(row!).toEqualTypeOf<{ about?: string | undefined; version: number }>();
});

test("edges and parts are selected by key, one and many", async () => {
  const one = await db.joined.get(ann, art, { select: ["role"], consistent: true });
  expect(one).toEqual({ from: ann, to: art, role: "r" });
  expectTypeOf(one!.role).toEqualTypeOf<string>();
  expect(asked(sent[0])).toEqual(["pk", "role", "sk", "type"]);
  // @ts-expect-error -- it was not selected
  void one!.note;
  const many = await db.joined.getMany(ann, [art], { select: ["role"], where: { note: "n" } });
  expect(many).toEqual([{ from: ann, to: art, role: "r" }]);
  expect(asked(sent[1])).toEqual(["note", "pk", "role", "sk", "type"]);
  expect(await db.follows.get(ann, { type: "user", ...bob }, { key: { term: "1" }, select: ["term"] })).toEqual({
    from: { type: "user", id: "ann" },
    to: { type: "user", id: "bob" },
    term: "1",
  });
  sent.length = 0;
  expect(await db.post.get(ann, { n: 2 }, { select: ["title"] })).toEqual({ title: "t2" });
  expect(await db.post.getMany(ann, [{ n: 3 }, { n: 9 }, { n: 1 }], { select: ["id" as never, "title"] })).toEqual([
    { id: "ann", title: "t3" },
    undefined,
    { id: "ann", title: "t1" },
  ]);
  // An item may hold copies of what its key carries, which others have stored.
  expect(asked(sent[1])).toEqual(["id", "n", "pk", "sk", "title", "type"]);
});

test("a list of parts is selected, in rows and pages", async () => {
  const list = db.user(ann).parts("post").where({ text: "long" }).select("title");
  expect(await list.all()).toEqual([{ title: "t1" }, { title: "t2" }, { title: "t3" }]);
  expect(asked(sent[0])).toEqual(["pk", "sk", "title", "type"]);
  const page = await list.page({ limit: 2 });
  expect(page.items).toEqual([{ title: "t1" }, { title: "t2" }]);
  expect((await list.page({ limit: 2, cursor: page.next })).items).toEqual([{ title: "t3" }]);
  expect(await list.first()).toEqual({ title: "t1" });
  expect(await list.count()).toBe(3);
});

test("a selection names attributes that there are, on this copy", async () => {
  expect(() => db.joined.get(ann, art, { select: ["rol"] as never })).toThrow('Did you mean "role"');
  expect(() => db.post.get(ann, { n: 1 }, { select: [] })).toThrow("Name at least one attribute");
  expect(() =>
    db
      .user(ann)
      .parts("post")
      .select("txt" as never),
  ).toThrow('Did you mean "text"');
  expect(() => db.rates.get(ann, art, { select: ["b"] })).toThrow('"b" of "rates" is only in the copy');
  const select = ["nme"] as const;
  // @ts-expect-error -- a node has no such attribute
  expect(() => db.team(art).in("joined").nodes({ select })).toThrow('Did you mean "name"');
});

test("a page gives selected attributes of nodes, and its cursor goes on with any selection", async () => {
  const members = db.team(art).in("joined");
  const page = await members.page({ limit: 1, of: "nodes", select: ["name"] });
  expect(page.items).toEqual([{ name: "Nann", version: 1 }]);
  expectTypeOf(page.items[0]!).toEqualTypeOf<{ name: string; version: number }>();
  expect(asked(sent.find(({ operation }) => operation === "BatchGetItem"))).toEqual(["name", "pk", "sk", "type", "version"]);
  const next = await members.page({ limit: 1, of: "entries", select: ["email"], cursor: page.next });
  expect(next.items).toEqual([{ edge: { from: bob, to: art, role: "s" }, node: { email: "bob@x", version: 1 } }]);
  expectTypeOf(next.items[0]!.edge.role).toEqualTypeOf<string>();
  expectTypeOf(next.items[0]!.node!).toEqualTypeOf<{ email: string; version: number }>();
  expect((await members.page({ limit: 1, of: "nodes", cursor: page.next })).items).toMatchObject([{ about: "long" }]);
  // @ts-expect-error -- edges have no nodes to select of
  expect(() => members.page({ of: "edges", select: ["name"] })).toThrow('give it with of: "nodes" or of: "entries"');
  // @ts-expect-error -- a node has no such attribute
  expect(() => members.page({ of: "nodes", select: ["nme"] })).toThrow('Did you mean "name"');
});

test("the nodes of a walk come with the selected attributes, in parts too", async () => {
  const walk = db.user(ann).out("joined").in("joined");
  const { items } = await walk.nodes({ select: ["name"] });
  expect(items).toEqual([
    { name: "Nann", version: 1 },
    { name: "Nbob", version: 1 },
  ]);
  expectTypeOf(items[0]!).toEqualTypeOf<{ name: string; version: number }>();
  expect(asked(sent.at(-1))).toEqual(["name", "pk", "sk", "type", "version"]);
  const explained = await walk.nodes({ select: ["name"] }).explain();
  expect(explained.requests.at(-1)?.input).toBe("keys of the nodes found, 100 a request, for name, version");
  // Nodes that a filter has read are cut to the selection.
  expect((await walk.whereNode({ email: "bob@x" }).nodes({ select: ["id"] })).items).toEqual([{ id: "bob", version: 1 }]);
  const several = await db
    .user(ann)
    .walk()
    .out("follows")
    .nodes({ select: ["name"] });
  expect(several.items).toEqual([
    { kind: "team", row: { name: "Art" } },
    { kind: "user", row: { name: "Nbob", version: 1 } },
  ]);
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const part = await walk.nodes({ select: ["id"], cursor, budget: { requests: 4 } });
    found.push(...part.items);
    cursor = part.next;
  } while (cursor !== undefined);
  expect(found).toEqual([
    { id: "ann", version: 1 },
    { id: "bob", version: 1 },
  ]);
  // @ts-expect-error -- a node has no such attribute
  expect(() => walk.nodes({ select: ["nme"] })).toThrow('Did you mean "name"');
});

test("a search for edges gives selected attributes of the nodes at an end", async () => {
  const joined = db.find("joined").where({ role: "r" });
  const sources = await joined.sources({ select: ["name"] });
  expect(sources).toEqual([{ name: "Nann", version: 1 }]);
  expectTypeOf(sources[0]!).toEqualTypeOf<{ name: string; version: number }>();
  expect(asked(sent.at(-1))).toEqual(["name", "pk", "sk", "type", "version"]);
  expect(await joined.targets({ select: ["size"] })).toEqual([{ size: 3 }]);
  const entries = await joined.select("role").entries("to", { select: ["name"] });
  expect(entries).toEqual([{ edge: { from: ann, to: art, role: "r" }, node: { name: "Art" } }]);
  expectTypeOf(entries[0]!.node!).toEqualTypeOf<{ name: string }>();
  const followed = await db
    .find("follows")
    .where({ term: "1" })
    .targets({ select: ["name", "size"] });
  expect(followed).toEqual([
    { kind: "team", row: { name: "Art", size: 3 } },
    { kind: "user", row: { name: "Nbob", version: 1 } },
  ]);
  expect(await joined.sources()).toMatchObject([{ about: "long" }]);
  // @ts-expect-error -- a node has no such attribute
  expect(() => joined.sources({ select: ["size"] })).toThrow('"size" is not an attribute');
});

test("a cursor continues with any selection, both ways: of edges, of parts, of a search", async () => {
  interface Paged {
    page(options: { readonly limit: number; readonly cursor?: string | undefined }): PromiseLike<{
      readonly items: readonly unknown[];
      readonly next: string | undefined;
      readonly previous: string | undefined;
    }>;
  }
  const reads: Readonly<Record<string, readonly [whole: () => Paged, some: () => Paged, fields: readonly string[]]>> = {
    edges: [() => db.team(art).in("joined"), () => db.team(art).in("joined").select("role"), ["from", "to", "role"]],
    parts: [() => db.user(ann).parts("post"), () => db.user(ann).parts("post").select("title"), ["title"]],
    search: [() => db.find("joined"), () => db.find("joined").select("role"), ["from", "to", "role"]],
  };
  for (const [what, [whole, some, fields]] of Object.entries(reads)) {
    const { items: all } = await whole().page({ limit: 100 });
    const picked = all.map((row) => Object.fromEntries(fields.map((field) => [field, (row as Record<string, unknown>)[field]])));
    const first = await whole().page({ limit: 1 });
    const second = await some().page({ limit: 1, cursor: first.next });
    expect({ what, items: second.items }).toEqual({ what, items: picked.slice(1, 2) });
    expect((await whole().page({ limit: 1, cursor: second.previous })).items).toEqual(all.slice(0, 1));
    const other = await some().page({ limit: 1 });
    expect({ what, items: (await whole().page({ limit: 1, cursor: other.next })).items }).toEqual({ what, items: all.slice(1, 2) });
  }
});
