import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();
const rated = z.object({ at: text, term: text.optional() });
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: text }) }),
      film: node({ key: "FILM#{film}", schema: z.object({ film: text }) }),
    },
    edges: {
      follows: edge({ from: "person", to: "person", schema: rated, orderBy: "at" }),
      saw: edge({ from: "person", to: "film", schema: rated, orderBy: "at" }),
      played: edge({ from: "person", to: "film", schema: z.object({ at: text, term: text }), orderBy: "at", key: ["term"] }),
      likes: edge({ from: "person", to: "film", schema: rated, orderBy: "at", stored: "twice" }),
    },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
const sent: SentRequest[] = [];

const people = ["a", "b", "c"];
const films = ["x", "y"];

beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("far")).connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  await db.transact([...people.map((id) => db.person.create({ id })), ...films.map((film) => db.film.create({ film }))]).run();
  for (const id of people) for (const other of people) await db.follows.link({ id }, { id: other }, { at: `1${other}` }).orThrow();
  for (const id of people)
    for (const film of films) {
      await db.saw.link({ id }, { film }, { at: `2${id}` }).orThrow();
      await db.likes.link({ id }, { film }, { at: `3${id}` }).orThrow();
      for (const term of ["s", "t"]) await db.played.link({ id }, { film }, { at: `4${term}`, term }).orThrow();
    }
});
afterAll(() => engine.close());

const ends = (edges: readonly { readonly from: object; readonly to: object }[]): readonly unknown[] =>
  edges.map(({ from, to }) => [from, to]);

/** Conditions on the far end's id: whatever index they lead to, the node that was asked about stays one. */
describe("an edge between two named nodes", () => {
  test.each([true, false])("is the one edge, whichever end is asked (ordered: %s)", async (ordered) => {
    const [out, back] = [db.person({ id: "a" }).out("follows"), db.person({ id: "b" }).in("follows")];
    const between = [
      ordered ? out.where({ to: { id: "b" } }) : out.unordered().where({ to: { id: "b" } }),
      ordered ? back.where({ from: { id: "a" } }) : back.unordered().where({ from: { id: "a" } }),
    ] as const;
    for (const asked of between) {
      sent.length = 0;
      expect(ends(await asked.edges())).toEqual([[{ id: "a" }, { id: "b" }]]);
      // One key holds it: the table is asked for that key, in order or not.
      expect(sent).toHaveLength(1);
      expect(sent[0]).toMatchObject({ operation: "Query", index: undefined, input: { KeyConditionExpression: "pk = :p AND sk = :s" } });
      expect(await asked.count()).toBe(1);
      expect(ends((await asked.page({ limit: 5 })).items)).toEqual([[{ id: "a" }, { id: "b" }]]);
    }
  });

  test.each(["saw", "likes"] as const)("of two types, %s", async (name) => {
    expect(
      ends(
        await db
          .person({ id: "a" })
          .out(name)
          .where({ to: { film: "x" } })
          .edges(),
      ),
    ).toEqual([[{ id: "a" }, { film: "x" }]]);
    expect(
      ends(
        await db
          .film({ film: "x" })
          .in(name)
          .where({ from: { id: "a" } })
          .edges(),
      ),
    ).toEqual([[{ id: "a" }, { film: "x" }]]);
    expect(
      await db
        .person({ id: "a" })
        .out(name)
        .where({ to: { film: "x" } })
        .nodes(),
    ).toEqual([{ film: "x" }]);
  });

  test("that are several, told apart by an attribute, come in their order", async () => {
    const played = db
      .person({ id: "a" })
      .out("played")
      .where({ to: { film: "x" } });
    expect((await played.edges()).map(({ from, to, term }) => [from, to, term])).toEqual([
      [{ id: "a" }, { film: "x" }, "s"],
      [{ id: "a" }, { film: "x" }, "t"],
    ]);
    expect((await played.reverse().edges()).map(({ term }) => term)).toEqual(["t", "s"]);
  });

  test("is not looked for in an index that does not say whose it is", async () => {
    await expect(async () =>
      db
        .person({ id: "a" })
        .out("follows")
        .using("reverse")
        .where({ to: { id: "b" } })
        .explain(),
    ).rejects.toThrow(expect.objectContaining({ code: "plan.noIndex" }));
  });

  test("asked for by the end that it was asked from is never another node's", async () => {
    for (const other of ["a", "b"]) {
      const own = other === "a" ? people.map((id) => [{ id: "a" }, { id }]) : [];
      for (const asked of [db.person({ id: "a" }).out("follows"), db.person({ id: "a" }).out("follows").unordered()])
        expect(ends(await asked.where({ from: { id: other } }).edges())).toEqual(own);
      expect(
        await db
          .person({ id: "a" })
          .in("follows")
          .where({ to: { id: other } })
          .count(),
      ).toBe(own.length);
      const { items } = await db
        .person({ id: "a" })
        .out("follows")
        .where({ from: { id: other } })
        .walk()
        .ids();
      expect(items).toHaveLength(own.length);
    }
    expect(
      ends(
        await db
          .person({ id: "b" })
          .both("follows")
          .where({ from: { id: "a" } })
          .edges(),
      ),
    ).toEqual([[{ id: "a" }, { id: "b" }]]);
  });

  test("is one step of a walk", async () => {
    const { items } = await db
      .person({ id: "a" })
      .out("follows")
      .where({ to: { id: "b" } })
      .out("saw")
      .where({ to: { film: "x" } })
      .count()
      .then((n) => ({ items: [n.count] }));
    expect(items).toEqual([1]);
  });
});
