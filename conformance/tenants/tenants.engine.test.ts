import { type Random, seededRandom } from "@edgetable/testing";
import { count, defineGraph, edge, isEdgetableError, type Layout, node, type Operation, part, type Transport } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const of = { tenantId: text };

/** Keys that begin with the tenant, in the table and in every index. */
const ownLayout = (table: string) =>
  defineGraph({
    table,
    nodes: {
      account: node({ key: "TENANT#{tenantId}", schema: z.object({ ...of, plan: text }) }),
      user: node({
        key: "TENANT#{tenantId}#USER#{userId}",
        schema: z.object({ ...of, userId: text, name: text, email: text }),
        unique: ["email"],
        version: true,
      }),
      team: node({
        key: "TENANT#{tenantId}#TEAM#{teamId}",
        schema: z.object({ ...of, teamId: text, name: text }),
        derived: { members: count({ in: "joins" }), notes: count({ parts: "note" }) },
      }),
      site: node({ key: "TENANT#{tenantId}#SITE#{region}#{siteId}", schema: z.object({ ...of, region: text, siteId: text }) }),
    },
    edges: {
      joins: edge({
        from: "user",
        to: "team",
        orderBy: "at",
        schema: z.object({ at: text }),
        maxDegree: { from: 3 },
        onDelete: { from: "cascade", to: "cascade" },
      }),
      follows: edge({ from: "user", to: ["user", "team"], schema: z.object({ at: text }), ends: "unchecked" }),
      knows: edge({ from: "user", to: "user", symmetric: true, ends: "unchecked" }),
      owns: edge({ from: "team", to: "site", stored: "twice", schema: z.object({ since: text }), ends: "unchecked" }),
    },
    parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: text, says: text.optional() }) }) },
    indexes: {
      byName: {
        entries: {
          user: { by: ["tenantId", "name"], split: 1 },
          team: { by: ["tenantId", "name"], split: 1, shards: { count: 2 } },
        },
      },
    },
  });

// The table turned round: the index's partition key is the table's sort key.
const adopted = {
  partitionKey: "PK",
  sortKey: "SK",
  typeAttribute: "type",
  indexes: { turned: { partitionKey: "SK", sortKey: "PK" } },
  edges: { joins: { keys: { SK: "{to}#J" } }, follows: { keys: { SK: "{to}#F" } }, owns: { keys: { SK: "{to}#O" } } },
} satisfies Layout;

const adoptedLayout = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "{tenantId}#U#{userId}", schema: z.object({ ...of, userId: text, name: text, email: text }) }),
      team: node({ key: "{tenantId}#T#{teamId}", schema: z.object({ ...of, teamId: text, name: text }) }),
      site: node({ key: "{tenantId}#S#{region}#{siteId}", schema: z.object({ ...of, region: text, siteId: text }) }),
    },
    edges: {
      joins: edge({ from: "user", to: "team", schema: z.object({ at: text }), onDelete: { to: "cascade" } }),
      follows: edge({ from: "user", to: ["user", "team"], schema: z.object({ at: text }), ends: "unchecked" }),
      owns: edge({ from: "team", to: "site", schema: z.object({ since: text }), ends: "unchecked" }),
    },
    layout: adopted,
  });

type Row = Readonly<Record<string, unknown>>;
// The commands are made for both models, and name what only one of them has.
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type AnyDb = any;

interface World {
  readonly db: AnyDb;
  /** An id or row as the connection takes it. */
  readonly own: (row: Row) => Row;
}

/** A call, made of a tenant's connection and of one that gives the tenant itself. */
type Command = (world: World) => Promise<unknown>;

const below = (random: Random, end: number): number => Math.floor(random() * end);
const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;

const outcomeOf = ({ ok, row, reason, created, atomic }: AnyDb): unknown => ({ ok, row, reason, created, atomic: atomic?.kind });

const pages = async (read: (cursor: string | undefined) => AnyDb): Promise<unknown> => {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    rows.push(page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return rows;
};

const sorted = (found: readonly unknown[] | { readonly items: readonly unknown[] }): readonly unknown[] =>
  ("items" in found ? found.items : found).map((row) => JSON.stringify(row)).toSorted();

/** Commands on few ids, so that they meet. Unique values hold the tenant, because they are unique in the table. */
const commandOf = (random: Random, tenant: string, isAdopted: boolean): readonly [name: string, command: Command] => {
  const [u, v] = [oneOf(random, ["u1", "u2", "u$3"]), oneOf(random, ["u1", "u2", "u$3"])];
  const [t, n] = [oneOf(random, ["t1", "t2"]), oneOf(random, ["n1", "n2", "n3"])];
  const name = oneOf(random, ["Ann", "Bob"]);
  const at = `2026-0${1 + below(random, 9)}`;
  const user = { userId: u };
  const other = { userId: v };
  const team = { teamId: t };
  const site = { region: oneOf(random, ["n", "s"]), siteId: oneOf(random, ["1", "2"]) };
  const email = `${oneOf(random, ["a", "b"])}@${tenant}`;
  const to = oneOf(random, [
    { type: "user", ...other },
    { type: "team", ...team },
  ]);
  const both: readonly (readonly [string, Command])[] = [
    ["create user", async ({ db, own }) => outcomeOf(await db.user.create(own({ ...user, name, email })))],
    ["put user", async ({ db, own }) => outcomeOf(await db.user.put(own({ ...user, name, email })))],
    ["upsert user", async ({ db, own }) => outcomeOf(await db.user.upsert(own({ ...user, name, email }), { name }))],
    ["update user", async ({ db, own }) => outcomeOf(await db.user.update(own(user), { name }, { if: { name: { exists: true } } }))],
    ["delete user", async ({ db, own }) => outcomeOf(await db.user.delete(own(user), { indexLag: 0 }))],
    ["put team", async ({ db, own }) => outcomeOf(await db.team.put(own({ ...team, name })))],
    ["delete team", async ({ db, own }) => outcomeOf(await db.team.delete(own(team), { indexLag: 0 }))],
    ["put site", async ({ db, own }) => outcomeOf(await db.site.put(own(site)))],
    ["link joins", async ({ db, own }) => outcomeOf(await db.joins.link(own(user), own(team), { at }))],
    ["relink joins", async ({ db, own }) => outcomeOf(await db.joins.relink(own(user), own(team), { at }))],
    ["unlink joins", async ({ db, own }) => outcomeOf(await db.joins.unlink(own(user), own(team)))],
    [
      "link follows",
      async ({ db, own }) => outcomeOf(await db.follows.link(own(user), own(isAdopted ? { type: "team", ...team } : team), { at })),
    ],
    ["put follows", async ({ db, own }) => outcomeOf(await db.follows.put(own(user), own(to), { at }))],
    ["link owns", async ({ db, own }) => outcomeOf(await db.owns.link(own(team), own(site), { since: at }))],
    [
      "transact",
      async ({ db, own }) => {
        const { ok, outcomes } = await db.transact([
          db.team.put(own({ ...team, name })),
          db.user.check(own(user)),
          db.follows.put(own(user), own(to), { at }),
        ]);
        return [ok, outcomes.map(outcomeOf)];
      },
    ],
    ["batch", async ({ db, own }) => (await db.batch([db.site.put(own(site)), db.site.delete(own({ region: "n", siteId: "3" }))])).ok],
    [
      "load",
      async ({ db, own }) => {
        const rows = [
          { node: "site", row: own(site) },
          { edge: "follows", from: own(user), to: own(to), attributes: { at } },
        ];
        const { loaded, failures, ...rest } = await db.load(rows, { job: "import" });
        return [loaded, failures, rest.rows];
      },
    ],
    ["get", async ({ db, own }) => db.user.get(own(user), { consistent: true })],
    ["handle", async ({ db, own }) => db.user(own(user)).get({ select: ["name"] })],
    ["getMany", async ({ db, own }) => db.user.getMany([own(user), own(other)])],
    ["edge", async ({ db, own }) => db.joins.get(own(user), own(team))],
    ["has", async ({ db, own }) => db.user(own(user)).has("joins", own(team))],
    ["collection", async ({ db, own }) => db.user(own(user)).collection()],
    ["out", async ({ db, own }) => sorted(await db.user(own(user)).out("follows").edges())],
    ["out nodes", async ({ db, own }) => sorted(await db.user(own(user)).out("joins").nodes())],
    ["in", async ({ db, own }) => sorted(await db.team(own(team)).in("follows").edges())],
    ["in ids", async ({ db, own }) => sorted(await db.team(own(team)).in("follows").ids())],
    ["in count", async ({ db, own }) => db.team(own(team)).in("follows").count()],
    ["in entries", async ({ db, own }) => sorted(await db.team(own(team)).in("joins").entries())],
    ["incoming", async ({ db, own }) => db.user(own(user)).incoming()],
    ["pages out", async ({ db, own }) => pages((cursor) => db.user(own(user)).out("joins").page({ limit: 1, cursor }))],
    ["pages in", async ({ db, own }) => pages((cursor) => db.team(own(team)).in("joins").page({ limit: 2, cursor }))],
    ["walk", async ({ db, own }) => sorted(await db.user(own(user)).walk().out("follows").in("follows").dedupe().nodes())],
    ["walk ids", async ({ db, own }) => sorted(await db.team(own(team)).walk().in("follows").in("follows").dedupe().ids())],
    ["walk count", async ({ db, own }) => (await db.team(own(team)).walk().in("follows").count()).count],
    ["closure", async ({ db, own }) => sorted(await db.user(own(user)).dependencies("follows").ids())],
    [
      "within",
      async ({ db, own }) =>
        sorted(
          await db.site
            .within(own({ region: site.region }))
            .in("owns")
            .edges(),
        ),
    ],
  ];
  const more: readonly (readonly [string, Command])[] = [
    ["put account", async ({ db, own }) => outcomeOf(await db.account.put(own({ plan: name })))],
    ["get account", async ({ db, own }) => db.account(own({})).collection()],
    ["by", async ({ db }) => db.user.by({ email })],
    ["link knows", async ({ db, own }) => outcomeOf(await db.knows.put(own(user), own(other)))],
    ["knows", async ({ db, own }) => sorted(await db.user(own(user)).both("knows").edges())],
    ["put note", async ({ db, own }) => outcomeOf(await db.note.create(own(team), { n, says: name }))],
    ["delete note", async ({ db, own }) => outcomeOf(await db.note.delete(own(team), { n }))],
    ["note", async ({ db, own }) => db.note.get(own(team), { n })],
    ["parts", async ({ db, own }) => db.team(own(team)).parts("note").all()],
    ["part pages", async ({ db, own }) => pages((cursor) => db.team(own(team)).parts("note").page({ limit: 1, cursor }))],
    ["members", async ({ db, own }) => db.team(own(team)).in("joins").count()],
    ["find users", async ({ db, own }) => db.find("user").where(own({ name })).rows()],
    ["find teams", async ({ db, own }) => sorted(await db.find("team").where(own({})).rows())],
    [
      "find both",
      async ({ db, own }) =>
        sorted(
          await db
            .find(["user", "team"])
            .where(own({ name: { gte: "B" } }))
            .rows(),
        ),
    ],
    ["count teams", async ({ db, own }) => db.find("team").where(own({ name })).count()],
    ["pages of users", async ({ db, own }) => pages((cursor) => db.find("user").where(own({})).page({ limit: 1, cursor }))],
  ];
  return oneOf(random, isAdopted ? both : [...both, ...more]);
};

interface Sent {
  readonly operation: Operation;
  readonly input: Row;
}

const recorded = (sent: Sent[]): Transport => ({
  send: (operation, input, options) => {
    sent.push({ operation, input: input as unknown as Row });
    return engine.transport.send(operation, input, options);
  },
  close: () => undefined,
});

// As keys hold a tenant, without the library's own code: characters up to "$" take two.
const inKey = (tenant: string, isAdopted: boolean): string =>
  isAdopted ? tenant : tenant.replaceAll(/[\0-$]/g, (character) => `$${String.fromCharCode(character.charCodeAt(0) + 0x30)}`);

/** Every key attribute's text in a request: of items, of keys, and of the partition that a Query reads. */
const keysIn = (given: unknown, attributes: readonly string[]): readonly string[] => {
  if (typeof given !== "object" || given === null) return [];
  return Object.entries(given).flatMap(([name, value]): readonly string[] => {
    const key = (value as { readonly S?: string } | null)?.S;
    if ((attributes.includes(name) || name === ":p") && key !== undefined) return [key];
    return keysIn(value, attributes);
  });
};

const assertOwn = ({ operation, input }: Sent, tenant: string, others: readonly string[], isAdopted: boolean): void => {
  expect(["Scan", "CreateTable", "UpdateTable", "DeleteTable"]).not.toContain(operation);
  const attributes = isAdopted ? ["PK"] : ["pk", "gsi1pk", "gsi2pk", "byNamePk"];
  const keys = keysIn(input, attributes);
  expect(keys.length).toBeGreaterThan(0);
  const mine = inKey(tenant, isAdopted);
  const begins = isAdopted ? [mine] : [`TENANT#${mine}`, `user#${mine}`, `team#${mine}`];
  for (const key of keys) {
    if (key.startsWith("~")) {
      // Jobs and markers hold ids as JSON, whose quotes are escaped.
      for (const other of others) expect(key).not.toContain(`[$R${inKey(other, false)}$R`);
    } else
      expect(
        begins.some((one) => key === one || key.startsWith(`${one}#`)),
        `${operation} names ${key} as ${tenant}`,
      ).toBe(true);
  }
};

const refusal = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return error.code;
  }
};

const OPERATIONS = 120;

test.each([
  ["Edgetable's own layout", ownLayout, ["ac", "acme", "ac#me", "acme$"]],
  ["an adopted layout turned round by its index", adoptedLayout, ["ac", "acme", "acme$", "a c"]],
] as const)(
  "calls of a tenant's connection name its keys only, and give what a table of its own gives: %s",
  async (_, graphOf, tenants) => {
    const seed = testSeed();
    const isAdopted = graphOf === adoptedLayout;
    for (let run = 0; run < testRuns(2); run++) {
      const random = seededRandom(seed + run);
      const shared = (graphOf as typeof ownLayout)(engine.freshTableName("shared"));
      const alone = (graphOf as typeof ownLayout)(engine.freshTableName("alone"));
      const whole: AnyDb = shared.connect({ transport: engine.transport });
      await whole.table.create();
      const [subject = ""] = tenants;
      const mirror: World = { db: alone.connect({ transport: engine.transport }), own: (row) => ({ tenantId: subject, ...row }) };
      await mirror.db.table.create();
      const worlds = tenants.map((tenantId) => {
        const sent: Sent[] = [];
        const db: AnyDb = shared.connect({ transport: recorded(sent) });
        return { tenantId, sent, db: db.as({ tenantId }) as AnyDb, own: (row: Row): Row => row };
      });
      // Programs without a tenant have written edges from others to the subject: it must not see them.
      for (const tenantId of tenants.slice(1)) {
        for (const teamId of ["t1", "t2"])
          await whole.follows.put({ tenantId, userId: "u1" }, { type: "team", tenantId: subject, teamId }, { at: "2020" }).orThrow();
      }
      const done: string[] = [];
      for (let at = 0; at < OPERATIONS; at++) {
        const world = worlds[at % 3 === 0 ? 1 + below(random, worlds.length - 1) : 0]!;
        const { tenantId, sent } = world;
        const [name, command] = commandOf(random, tenantId, isAdopted);
        done.push(`${tenantId} ${name}`);
        const label = `seed ${seed}, run ${run}: ${done.slice(-8).join(", ")}`;
        const answer = await refusal(() => command(world));
        if (tenantId === subject) expect(answer, label).toEqual(await refusal(() => command(mirror)));
        const others = tenants.filter((other) => other !== tenantId);
        for (const one of sent.splice(0)) assertOwn(one, tenantId, others, isAdopted);
      }
      // With every id of another tenant, the same calls are refused before anything is sent.
      const [world] = worlds;
      const foreign: World = { db: world!.db, own: (row) => ({ ...row, tenantId: tenants[1] }) };
      for (let at = 0; at < OPERATIONS / 2; at++) {
        const [name, command] = commandOf(random, subject, isAdopted);
        if (["by", "find users", "find teams", "find both", "count teams", "pages of users", "load"].includes(name)) continue;
        expect(await refusal(() => command(foreign)), `seed ${seed}, run ${run}: foreign ${name}`).toBe("request.otherTenant");
        expect(world!.sent.splice(0), name).toEqual([]);
      }
    }
  },
);
