import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, distinct, edge, max, node, part, sum } from "../index.ts";
import { fast, lab, openMigrationsLab } from "../migrate/migrations-lab.test-support.ts";
import { refreshFacts } from "../streams/refresh-facts.ts";
import { verify } from "./index.ts";

openMigrationsLab();

const text = z.string();
const stream = { freshness: "stream" } as const;

const connect = (derived: object) =>
  defineGraph({
    table: lab.table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: text }) }),
      club: node({ key: "CLUB#{id}", schema: z.object({ id: text }), derived: derived as {} }),
    },
    edges: {
      member: edge({
        from: "person",
        to: "club",
        schema: z.object({ fee: z.number(), kind: text }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    parts: { note: part({ of: "club", key: "NOTE#{at}", schema: z.object({ at: text }), owner: "checked" }) },
  }).connect({ transport: lab.engine.transport });

const all = {
  notes: count({ parts: "note", ...stream }),
  fees: sum({ in: "member", of: "fee", ...stream }),
  most: max({ in: "member", of: "fee" }),
  kinds: distinct({ in: "member", of: "kind" }),
};
const { notes: _notes, ...withoutNotes } = all;
const { fees: _fees, ...withoutFees } = all;
const { most: _most, ...withoutMost } = all;

test.each<readonly [string, object]>([
  ["a count of parts goes", withoutNotes],
  ["a sum of edges goes", withoutFees],
  ["an extreme of edges goes", withoutMost],
  ["a count comes to be kept by transactions", { ...all, notes: count({ parts: "note" }) }],
  ["a sum comes to be kept by transactions", { ...all, fees: sum({ in: "member", of: "fee" }) }],
  ["a sum comes to be a count", { ...all, fees: count({ in: "member", ...stream }) }],
])("what the stream kept of other attributes before is no finding: %s", async (_, derived) => {
  const old = connect(all);
  await old.table.create();
  const club = { id: "c" };
  await old.club.create(club).orThrow();
  for (const [at, id] of ["p", "q", "r"].entries()) {
    await old.person.create({ id }).orThrow();
    await old.member.link({ id }, club, { fee: at, kind: id }).orThrow();
    await old.note.create(club, { at: id }).orThrow();
  }
  await refreshFacts(old);
  const db = connect(derived);
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  const settings = { settle: 1, staleAfter: 1 };
  expect((await verify(db, settings)).kinds).toEqual([]);
  await db.note.delete(club, { at: "p" }).orThrow();
  await db.member.relink({ id: "p" }, club, { fee: 9 }).orThrow();
  await db.member.unlink({ id: "q" }, club).orThrow();
  await refreshFacts(db);
  expect((await verify(db, settings)).kinds).toEqual([]);
  // What the attributes follow from is still looked at.
  const before = connect(all);
  expect(await before.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await before.club.get(club)).toEqual({ ...club, notes: 2, fees: 11, most: 9, kinds: 2 });
  expect((await verify(before, settings)).kinds).toEqual([]);
});
