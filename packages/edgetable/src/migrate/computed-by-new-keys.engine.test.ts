import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import type { Layout } from "../schema/layout.ts";
import { average, count, sum } from "../schema/derived.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

interface Model {
  readonly edge?: object;
  readonly derived?: object;
  readonly indexes?: object;
  readonly layout?: object;
}

const connect = ({ edge: settings = {}, derived = {}, indexes, layout }: Model) =>
  defineGraph({
    table: lab.table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) }),
      club: node({ key: "CLUB#{id}", schema: z.object({ id: z.string(), title: z.string() }), derived: derived as {} }),
    },
    edges: {
      member: edge({
        from: "person",
        to: "club",
        schema: z.object({ since: z.string(), fee: z.number() }),
        onDelete: { from: "cascade", to: "cascade" },
        ...settings,
      }),
    },
    ...(indexes ? { indexes: indexes as {} } : {}),
    ...(layout ? { layout: layout as Layout } : {}),
  }).connect({ transport: lab.engine.transport });

const ordered: Model = { edge: { orderBy: "since" } };
const twice: Model = { edge: { stored: "twice" } };
const members = count({ in: "member" });
const copies = { to: { club: { of: "title" } } };
const layoutWith = (isIndexed: boolean) => ({
  partitionKey: "PK",
  sortKey: "SK",
  typeAttribute: "type",
  indexes: isIndexed ? { incoming: { partitionKey: "ToPK", sortKey: "ToSK" } } : {},
  nodes: { person: { keys: { SK: "-" } }, club: { keys: { SK: "-" } } },
  edges: { member: { keys: { PK: "{from}", SK: "{to}", ...(isIndexed ? { ToPK: "{to}", ToSK: "{from}" } : {}) } } },
});
const layoutByFee = {
  ...layoutWith(true),
  indexes: { ...layoutWith(true).indexes, byFee: { partitionKey: "FeePK", sortKey: "FeeSK" } },
  nodes: { person: { keys: { SK: "-" } }, club: { keys: { SK: "-", FeePK: "CLUBS", FeeSK: "{fee:number}" } } },
};

const CASES: Readonly<Record<string, readonly [before: Model, after: Model, row?: object]>> = {
  "a count, and an order goes": [ordered, { derived: { members } }, { members: 3 }],
  "a sum, and an order goes": [ordered, { derived: { fees: sum({ in: "member", of: "fee" }) } }, { fees: 6 }],
  "a count over counters, and an order goes": [ordered, { derived: { members: count({ in: "member", shards: 2 }) } }, { members: 3 }],
  "a count of an index, and an order goes": [
    ordered,
    { derived: { members }, indexes: { bySize: { entries: { club: "members:number" } } } },
    { members: 3 },
  ],
  "a count in place of the stream's, and an order goes": [
    { ...ordered, derived: { members: count({ in: "member", freshness: "stream" }) } },
    { derived: { members } },
    { members: 3 },
  ],
  "a limit, and an order goes": [ordered, { edge: { maxDegree: { to: 3 } } }],
  "a copy that orders edges, which come to be stored once": [twice, { edge: { copies, orderBy: "club" } }],
  "a copy that orders edges and a count, and an order goes": [
    ordered,
    { edge: { copies, orderBy: "club" }, derived: { members } },
    { members: 3 },
  ],
  "a copy of an index, and edges come to be stored once": [
    twice,
    { edge: { copies }, indexes: { byClub: { entries: { member: "club" } } }, derived: { members } },
    { members: 3 },
  ],
  "a count by an index that a layout gets": [
    { layout: layoutWith(false) },
    { layout: layoutWith(true), derived: { members } },
    { members: 3 },
  ],
  "an average by an index that a layout gets, with one by the average": [
    { layout: layoutWith(false) },
    { layout: layoutByFee, derived: { fee: average({ in: "member", of: "fee" }) } },
    { fee: 2 },
  ],
};

for (const [name, [before, after, row = {}]] of Object.entries(CASES))
  for (const isPrepared of [false, true])
    test(`what in-edges make is computed by their new keys: ${name}${isPrepared ? ", after a run without finish" : ""}`, async () => {
      const old = connect(before);
      await old.table.create();
      // A table with a layout has no record yet.
      await old.migrations.run({ ...fast, finish: true });
      await old.club.create({ id: "c", title: "Chess" }).orThrow();
      for (const [at, id] of ["p", "q", "r"].entries()) {
        await old.person.create({ id }).orThrow();
        await old.member.link({ id }, { id: "c" }, { since: `202${at}`, fee: at + 1 }).orThrow();
      }
      const db = connect(after);
      if (isPrepared) expect(await db.migrations.run({ ...fast, inPlace: true })).toMatchObject({ complete: false });
      expect(await db.migrations.run({ ...fast, inPlace: true, finish: true })).toMatchObject({ complete: true });
      expect(await db.club.get({ id: "c" })).toMatchObject(row);
      const { kinds } = await verify(db, { settle: 1, staleAfter: 1 });
      // Second copies stay.
      expect(kinds.filter(({ kind }) => kind !== "unclaimed")).toEqual([]);
      expect(await db.club({ id: "c" }).in("member").count()).toBe(3);
      if (!("maxDegree" in (after.edge ?? {}))) return;
      await db.person.create({ id: "s" }).orThrow();
      expect(await db.member.link({ id: "s" }, { id: "c" }, { since: "2029", fee: 1 })).toMatchObject({ reason: "degreeExceeded" });
    });
