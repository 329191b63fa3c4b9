import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine } from "../test-support/engine.ts";

const text = z.string();
const ends = "unchecked";
const FORMS = [
  { named: "an id as it is", member: "MEMBER#{id}", from: "{from.id}", to: "{to.id}", ids: {} },
  {
    named: "an id in lower case",
    member: "MEMBER#{id:lower}",
    from: "{from.id:lower}",
    to: "{to.id:lower}",
    ids: { FromId: "from.id", ToId: "to.id" },
  },
] as const;

/** Members of a team, their notes and their edges, all in the partition of the team; edges in an index by their target's team. */
const modelIn = (table: string, { member, from, to, ids }: (typeof FORMS)[number]) =>
  defineGraph({
    table,
    nodes: { member: node({ key: `TEAM#{team}#${member}`, schema: z.object({ team: text, id: text }) }) },
    parts: { note: part({ of: "member", key: "NOTE#{n}", schema: z.object({ n: text }) }) },
    edges: {
      knows: edge({ from: "member", to: "member", ends }),
      twice: edge({ from: "member", to: "member", ends, stored: "twice" }),
      paired: edge({ from: "member", to: "member", ends, symmetric: true }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { member: { keys: { PK: "TEAM#{team}", SK: member }, verbatim: ["id"] } },
      parts: { note: { keys: { PK: "TEAM#{team}", SK: `${member}#NOTE#{n}` }, verbatim: ["id"] } },
      edges: {
        knows: { keys: { PK: "TEAM#{from.team}", SK: `KNOWS#${from}#{to.team}#${to}` }, verbatim: ids },
        twice: {
          keys: { PK: "TEAM#{from.team}", SK: `TWICE#${from}#{to.team}#${to}` },
          verbatim: ids,
          mirror: {
            keys: { PK: "TEAM#{to.team}", SK: `TWICE-OF#${to}#{from.team}#${from}` },
            verbatim: ids,
          },
        },
        paired: { keys: { PK: "TEAM#{from.team}", SK: `PAIR#${from}#{to.team}#${to}` }, verbatim: ids },
      },
    },
  });

test.each(FORMS)("a collection has no part and no edge of another node in the partition: $named", async (form) => {
  const engine = await startEngine();
  try {
    const db = modelIn(engine.freshTableName("shared"), form).connect({ transport: engine.transport });
    await db.table.create();
    const at = (id: string) => ({ team: "T", id });
    for (const id of ["Ann", "Bob", "Cy"]) {
      await db.member.create(at(id)).orThrow();
      await db.note.create(at(id), { n: "1" }).orThrow();
    }
    for (const [from, to] of [
      ["Ann", "Bob"],
      ["Bob", "Cy"],
      ["Cy", "Cy"],
    ] as const) {
      await db.knows.link(at(from), at(to)).orThrow();
      await db.twice.link(at(from), at(to)).orThrow();
      await db.paired.link(at(from), at(to)).orThrow();
    }
    const edgeOf = (from: string, to: string) => ({ from: at(from), to: at(to) });
    const read = async (id: string) => db.member(at(id)).collection();
    expect(await read("Ann")).toEqual({
      node: at("Ann"),
      parts: { note: [{ ...at("Ann"), n: "1" }] },
      edges: { knows: [edgeOf("Ann", "Bob")], twice: [edgeOf("Ann", "Bob")], paired: [edgeOf("Ann", "Bob")] },
    });
    expect(await read("Cy")).toEqual({
      node: at("Cy"),
      parts: { note: [{ ...at("Cy"), n: "1" }] },
      edges: {
        knows: [edgeOf("Cy", "Cy")],
        twice: [edgeOf("Cy", "Cy"), edgeOf("Bob", "Cy")],
        paired: [edgeOf("Cy", "Bob"), edgeOf("Cy", "Cy")],
      },
    });
    expect(await read("Dan")).toEqual({ node: undefined, parts: {}, edges: {} });
  } finally {
    await engine.stop();
  }
});

test("a collection has the edges that a layout puts into the partition of their target", async () => {
  const engine = await startEngine();
  try {
    const db = defineGraph({
      table: engine.freshTableName("atTarget"),
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id: text }), mirror: true }),
        team: node({ key: "TEAM#{team}", schema: z.object({ team: text }) }),
      },
      edges: { joins: edge({ from: "user", to: "team", ends }), follows: edge({ from: "user", to: "user", ends }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
        nodes: { user: { keys: { SK: "USER", G1: "{key}", G2: "USER" } } },
        edges: {
          joins: { keys: { PK: "{to}", SK: "JOINS#{from}", G1: "{from}", G2: "JOINS#{to}" } },
          follows: { keys: { PK: "{to}", SK: "FOLLOWS#{from}", G1: "{from}", G2: "FOLLOWS#{to}" } },
        },
      },
    }).connect({ transport: engine.transport });
    await db.table.create();
    const [a, b, team] = [{ id: "a" }, { id: "b" }, { team: "T" }];
    await db.team.create(team).orThrow();
    for (const user of [a, b]) {
      await db.user.create(user).orThrow();
      await db.joins.link(user, team).orThrow();
    }
    await db.follows.link(a, b).orThrow();
    const [joins, follows] = [[a, b].map((from) => ({ from, to: team })), [{ from: a, to: b }]];
    expect(await db.team(team).collection()).toEqual({ node: team, parts: {}, edges: { joins } });
    expect(await db.user(b).collection()).toEqual({ node: b, parts: {}, edges: { follows } });
    expect(await db.user(a).collection()).toEqual({ node: a, parts: {}, edges: {} });
    expect(await db.user(a).incoming()).toEqual({ node: a, parts: {}, edges: { joins: joins.slice(0, 1), follows } });
  } finally {
    await engine.stop();
  }
});
