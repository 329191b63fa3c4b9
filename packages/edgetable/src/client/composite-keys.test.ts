import { expect, test } from "vitest";
import { z } from "zod";
import { checkGraph, tableDesign } from "../check/index.ts";
import { defineGraph, edge, node, offline, part, type IndexLayout, type ReadExplanation } from "../index.ts";

const text = z.string();

/** The tournament matches of the developer guide: index keys that are attributes of the schema. */
const tournament = defineGraph({
  table: "TournamentMatches",
  nodes: {
    match: node({
      key: "{matchId}",
      schema: z.object({
        matchId: text,
        tournamentId: text,
        region: text,
        round: text,
        bracket: text,
        player1Id: text.optional(),
        matchDate: text.optional(),
        score: z.number().optional(),
      }),
    }),
  },
  layout: {
    partitionKey: "matchId",
    indexes: {
      byRegion: { partitionKey: ["tournamentId", "region"], sortKey: ["round", "bracket", "matchId"] },
      byPlayer: { partitionKey: "player1Id", sortKey: ["matchDate", "round"] },
      byScore: { partitionKey: ["region", "round"], sortKey: ["score", "matchId"], projection: ["bracket"] },
    },
  },
});
const db = tournament.connect({ transport: offline });

type Explained = Pick<ReadExplanation, "requests" | "plan">;
const queryOf = ({ requests }: Explained): Record<string, unknown> => requests[0]?.input as Record<string, unknown>;

test("the table has all key attributes, those of the partition key first", () => {
  const { input } = tableDesign(tournament);
  expect(input.GlobalSecondaryIndexes?.[0]?.KeySchema).toEqual([
    { AttributeName: "tournamentId", KeyType: "HASH" },
    { AttributeName: "region", KeyType: "HASH" },
    { AttributeName: "round", KeyType: "RANGE" },
    { AttributeName: "bracket", KeyType: "RANGE" },
    { AttributeName: "matchId", KeyType: "RANGE" },
  ]);
  expect(input.AttributeDefinitions).toContainEqual({ AttributeName: "score", AttributeType: "N" });
  expect(input.AttributeDefinitions).toHaveLength(8);
});

/** A key condition with names and values in place of its placeholders. */
const conditionOf = (query: Record<string, unknown>): string => {
  const names = (query["ExpressionAttributeNames"] ?? {}) as Record<string, string>;
  const values = query["ExpressionAttributeValues"] as Record<string, object>;
  const condition = String(query["KeyConditionExpression"]).replaceAll(/#\w+/g, (name) => names[name] ?? "?");
  return condition.replaceAll(/:\w+/g, (name) => JSON.stringify(Object.values(values[name] ?? {})[0]));
};

const place = { tournamentId: "W", region: "NA" };
const PLACE = 'tournamentId = "W" AND region = "NA"';

test.each([
  ["the partition key", place, PLACE],
  ["the first sort attribute", { ...place, round: "F" }, `${PLACE} AND round = "F"`],
  ["the first two", { ...place, round: "F", bracket: "U" }, `${PLACE} AND round = "F" AND bracket = "U"`],
  ["a range of the first", { ...place, round: { gte: "Q" } }, `${PLACE} AND round >= "Q"`],
  [
    "a range of the second",
    { ...place, round: "F", bracket: { between: ["L", "U"] } },
    `${PLACE} AND round = "F" AND bracket BETWEEN "L" AND "U"`,
  ],
  [
    "a prefix of the second",
    { ...place, round: "F", bracket: { beginsWith: "U" } },
    `${PLACE} AND round = "F" AND begins_with(bracket, "U")`,
  ],
] as const)("a search by %s takes all of it into the key condition", async (_, where, condition) => {
  const query = queryOf(await db.find("match").where(where).explain());
  expect(query).toMatchObject({ IndexName: "byRegion" });
  expect(query).not.toHaveProperty("FilterExpression");
  expect(conditionOf(query)).toBe(condition);
});

test("attributes behind one that is not given, or has a range, are filtered", async () => {
  for (const where of [
    { ...place, bracket: "U" },
    { ...place, round: { gte: "F" }, bracket: "U" },
  ]) {
    const { plan, ...explained } = await db.find("match").where(where).explain();
    const query = queryOf({ plan, ...explained });
    expect(conditionOf(query)).toBe("round" in where ? `${PLACE} AND round >= "F"` : PLACE);
    // A filter expression may not name key attributes of the index (Query.FilterExpression).
    expect(query).not.toHaveProperty("FilterExpression");
    expect(plan.filter?.conditions).toMatchObject([{ path: "bracket" }]);
  }
});

test("a number among the attributes is compared as a number", async () => {
  const query = queryOf(
    await db
      .find("match")
      .where({ region: "NA", round: "F", score: { lt: -2 } })
      .using("byScore")
      .explain(),
  );
  expect(Object.values(query["ExpressionAttributeValues"] as object)).toContainEqual({ N: "-2" });
});

test("explain() shows each equality", async () => {
  const { plan } = await db.find("match").where({ player1Id: "P1", matchDate: "2024-01-18", round: "F" }).explain();
  expect(plan.sources).toMatchObject([
    {
      index: "byPlayer",
      partitionKey: "player1Id",
      equal: [{ attribute: "matchDate", template: { source: "{matchDate}" } }],
      sortKey: "round",
      sort: { kind: "equals", template: { source: "{round}" } },
    },
  ]);
});

test("a search that lacks an attribute of the partition key says so", async () => {
  await expect(db.find("match").where({ region: "NA", bracket: "U" }).explain()).rejects.toMatchObject({
    code: "plan.noIndex",
    message: expect.stringContaining('"byRegion" needs its leading level "tournamentId" too') as unknown,
  });
});

/** Memberships by organization and department, found by several attributes that templates make. */
const company = defineGraph({
  table: "Company",
  nodes: {
    team: node({ key: "T#{teamId}", schema: z.object({ teamId: text, name: text }) }),
    user: node({ key: "U#{userId}", schema: z.object({ userId: text, name: text }) }),
  },
  parts: { note: part({ of: "user", key: "N#{noteId}", schema: z.object({ noteId: text, at: text }) }) },
  edges: { member: edge({ from: "team", to: "user", orderBy: "since", schema: z.object({ since: text, role: text, grade: z.number() }) }) },
  layout: {
    partitionKey: "pk",
    sortKey: "sk",
    types: { grade: "N" },
    indexes: {
      byUser: { partitionKey: ["userKey", "shard"], sortKey: ["kind", "since"] },
      byRole: { partitionKey: ["kind", "role"], sortKey: ["grade", "pk"] },
    },
    edges: {
      member: { keys: { userKey: "{to}", shard: "{from.teamId:shard(2)}", kind: "MEMBER" } },
    },
    parts: { note: { keys: { userKey: "U#{userId}", shard: "{noteId:shard(2)}", kind: "NOTE", since: "{at}" } } },
  },
});
const org = company.connect({ transport: offline });

test("edges are read by an index whose partition key has a shard beside another attribute", async () => {
  const { requests, plan } = await org.user({ userId: "u" }).in("member").edges().explain();
  expect(plan.sources).toMatchObject([{ index: "byUser", partitionKey: "shard", scatter: {}, sortKey: "since" }]);
  expect(requests[0]).toMatchObject({ partitions: ["0", "1"] });
  expect(conditionOf(queryOf({ plan, requests }))).toBe('shard = "0" AND userKey = "U#u" AND kind = "MEMBER"');
});

test.each<[string, Partial<IndexLayout>, string]>([
  ["five attributes", { sortKey: ["a", "b", "c", "d", "e"] }, "layout.indexes.one"],
  ["none", { sortKey: [] }, "layout.indexes.one"],
  ["one twice", { partitionKey: ["a", "a"] }, "layout.indexes.one"],
])("a key of %s is refused", (_, index, at) => {
  const layout = { partitionKey: "id", indexes: { one: { partitionKey: "p", ...index } } };
  const define = () => defineGraph({ table: "Things", nodes: { thing: node({ key: "{id}", schema: z.object({ id: text }) }) }, layout });
  expect(define).toThrow(expect.objectContaining({ code: "schema.invalidModel", message: expect.stringContaining(at) as unknown }));
  expect(define).toThrow(/1 to 4 attributes, each named once/);
});

test("an attribute in both keys is refused, and a shard in two attributes of a partition key", () => {
  const thing = node({ key: "{id}", schema: z.object({ id: text, a: text }) });
  const defined = (index: IndexLayout, keys: Record<string, string> = {}) =>
    defineGraph({ table: "Things", nodes: { thing }, layout: { partitionKey: "id", indexes: { one: index }, nodes: { thing: { keys } } } });
  expect(() => defined({ partitionKey: ["a", "b"], sortKey: ["c", "a"] })).toThrow('"a" is both partition and sort key');
  expect(() => defined({ partitionKey: ["b", "c"] }, { b: "{id:shard(2)}", c: "{a:shard(2)}" })).toThrow(
    "one attribute of a partition key",
  );
});

test("edgetable check finds nothing amiss with such indexes", () => {
  expect(checkGraph(tournament).map(({ rule }) => rule)).toEqual(["costlyProjection"]);
});

const entry = z.object({ id: text, team: text, at: text });
/** Two kinds in one partition of an index, told apart by its first sort attribute. */
const diaryWith = (second: Record<string, string>) =>
  defineGraph({
    table: "Diary",
    nodes: { task: node({ key: "TASK#{id}", schema: entry }), event: node({ key: "EVENT#{id}", schema: entry }) },
    layout: {
      partitionKey: "pk",
      indexes: { byTeam: { partitionKey: ["teamKey", "year"], sortKey: ["kind", "at"] } },
      nodes: {
        task: { keys: { teamKey: "{team}", year: "2026", kind: "TASK" } },
        event: { keys: { teamKey: "{team}", year: "2026", ...second } },
      },
    },
  }).connect({ transport: offline });

test("several kinds with another value of a sort attribute have a Query each, merged by the next one", async () => {
  const { plan, requests } = await diaryWith({ kind: "EVENT" }).find(["task", "event"]).where({ team: "red" }).explain();
  expect(plan).toMatchObject({ merged: true, sources: [{ sortKey: "at" }, { sortKey: "at" }] });
  const conditions = requests.map(({ input }) => conditionOf(input as Record<string, unknown>));
  expect(conditions).toEqual(["TASK", "EVENT"].map((kind) => `teamKey = "red" AND year = "2026" AND kind = "${kind}"`));
});

test("several kinds whose rows would come in the order of different attributes are refused", async () => {
  const search = diaryWith({ kind: "EVENT#{id}" }).find(["task", "event"]).where({ team: "red" });
  await expect(search.explain()).rejects.toMatchObject({
    code: "plan.unsupported",
    message: "The index orders these kinds by different attributes. Ask for each alone.",
  });
});
