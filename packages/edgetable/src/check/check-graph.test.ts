import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { definePatterns, explainPatterns } from "../client/patterns.ts";
import {
  billingDocs,
  billingLab,
  defaults,
  education,
  people,
  school,
  trackerDraft,
  trackerPublished,
} from "../schema/adopted-models.test-support.ts";
import { assertModel } from "../schema/check-model.ts";
import { edge, node } from "../schema/definition.ts";
import { count } from "../schema/derived.ts";
import { about, cases, indexes, inLayout, joins, note, team, user, warning } from "./advice-lab.test-support.ts";
import { checkGraph, type CheckedPattern } from "./index.ts";

const text = z.string();

cases("hotIndexPartition", {
  "every root item under one key": {
    model: billingLab,
    advice: [warning("throughput", "invoice", '"GSI_1"', '"SK" is always "root"', "1,000 writes a second", "key attributes of its own")],
  },
  "a constant index key": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "USERS", G2: "{name}" } } } }),
    advice: [warning("throughput", "user", '"G1" is always "USERS"', "{id:shard(16)}")],
  },
  "a country as the index key": { model: school, advice: [note("throughput", "livesIn", "{to.country}", "few values")] },
  "a boolean as the index key": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "A#{active:boolean}", G2: "{name}" } } } }),
    advice: [note("throughput", "user", "{active}")],
  },
  "a shard or an id is none": {
    model: inLayout({
      indexes,
      nodes: { user: { keys: { G1: "U#{id:shard(8)}", G2: "{name}" } }, team: { keys: { G1: "{owner}", G2: "T" } } },
    }),
    advice: [],
  },
  "METADATA items that stay out of the index": { model: education, advice: [] },
});

const found = (entry: object) => ({
  model: { table: "Teams", nodes: { user: user() }, indexes: { byName: { entries: { user: entry } } } } as never,
});
cases("hotIndexPartition", {
  "few values of a level in Edgetable's own layout": {
    ...found({ by: ["active:boolean", "name"], split: 1 }),
    advice: [note("throughput", "user", 'in the index "byName": {active} takes few values.', "declare shards: 8")],
  },
  "one shard in it": { ...found({ by: "name" }), advice: [note("throughput", "user", "which has one shard", "declare shards: 8")] },
});
cases("fewShards", {
  "fewer than the expected writes need": {
    ...found({ by: "name", shards: 4, expect: { writesPerSecond: 5000 } }),
    advice: [warning("throughput", "user", "5,000 writes", "4 shards take", "to 8", "[8, 4]", "edgetable reshard")],
  },
  "one shard for many reads": {
    ...found({ by: "name", expect: { readsPerSecond: 600_000 } }),
    advice: [warning("throughput", "user", "600,000 rows read", "one shard takes", "[12, 1]")],
  },
  "far more than are needed": {
    ...found({ by: "name", shards: 64, expect: { writesPerSecond: 10 } }),
    advice: [note("throughput", "user", "1 would do", "64 shards")],
  },
  "more searches than any number of shards answers": {
    ...found({ by: "name", shards: 16, expect: { readsPerSecond: 70_000, pageRows: 10 } }),
    advice: [warning("cost", "user", "7,000 searches", "6,000 at most", "split"), note("throughput", "user", "3 would do")],
  },
  "as many as are needed": { ...found({ by: "name", shards: 6, expect: { writesPerSecond: 5000 } }), advice: [] },
  "an index of a layout": {
    model: inLayout({
      indexes: { byName: { partitionKey: "G1", sortKey: "G2", expect: { writesPerSecond: 3000 } } },
      nodes: { user: { keys: { G1: "U{id:shard(2)}", G2: "{name}" } } },
    }),
    advice: [warning("throughput", "byName", "2 shards take", "to 4")],
  },
});

cases("unboundedCollection", {
  "an edge without a limit": {
    model: education,
    advice: [note("cost", "enrolledIn", '"student"', "nothing bounds", "maxDegree: { from: … }", 'out("enrolledIn").page()')],
  },
  "both copies of an edge stored twice": {
    model: inLayout({ nodes: { user: {}, team: {} } }, { edges: { joins: joins({ stored: "twice" }) } }),
    advice: [note("cost", "joins", '"user"'), note("cost", "joins", '"team"', 'in("joins").page()')],
  },
  "an edge with a limit": { model: inLayout({}, { edges: { joins: joins({ maxDegree: { from: 10 } }) } }), advice: [] },
  "an edge of which there is one": { model: inLayout({}, { edges: { joins: joins({ multiplicity: "many-to-one" }) } }), advice: [] },
  "more than a page by its expectations": {
    model: inLayout({}, { edges: { joins: joins({ expect: { from: 10_000, bytes: 500 } }) } }),
    advice: [warning("cost", "joins", "5 requests of 1 MB")],
  },
});

cases("staleCopy", {
  "a date copied onto each edge": {
    model: billingDocs,
    advice: [warning("stale copies", "contains", '"Dated"', '"invoice" and "bill"', "immutable", "entries()")],
  },
  "an attribute of an immutable name": {
    model: inLayout(
      {},
      {
        nodes: { user: user(), team: team({ immutable: ["owner"] }) },
        edges: { joins: joins({ schema: z.object({ owner: text, teamId: text }) }) },
      },
    ),
    advice: [],
  },
  "an end without an item": { model: billingLab, advice: [] },
});

cases("mutableKey", {
  "a parent's id in the table key": {
    model: trackerDraft,
    advice: [
      note("index keys", "project", '"SK"', "{tenantId}", "deletes the item", "a second item of the same id"),
      note("index keys", "issue", "{projectId}"),
    ],
  },
  "a shard of a name": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "{name:shard(8)}", G2: "{id}" } } } }),
    advice: [warning("index keys", "user", "{name}", "another shard", "from the id")],
  },
  "a node's attribute in an edge's key": {
    model: inLayout(
      { indexes, nodes: { team: { keys: { SK: "{owner}" } } }, edges: { joins: { keys: { G1: "{to.owner}", G2: "{from}" } } } },
      { edges: { joins: joins() } },
    ),
    advice: [warning("index keys", "joins", "{to.owner}", "old key"), note("index keys", "team", "{owner}")],
  },
  "an index key of the item's own is recomputed": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "{name}", G2: "{id}" } } } }),
    advice: [],
  },
});

cases("prefixHazard", {
  "an id at the end": {
    model: billingLab,
    advice: [note("key design", "bills", 'begins_with "B#42" also meets "B#420"', "compare whole keys by =")],
  },
  "a key that goes on where another ends": {
    model: inLayout(
      { nodes: { user: {} }, edges: { joins: { keys: { SK: "TEAM#{to.teamId}" } }, leads: { keys: { SK: "TEAM#{to.teamId}#LEADS" } } } },
      { edges: { joins: joins(), leads: joins() } },
    ),
    advice: [
      warning(
        "key design",
        "joins",
        '"leads" (TEAM#{to.teamId}#LEADS) goes on',
        'begins_with "TEAM#42" also meets "TEAM#420"',
        'every "leads" of "TEAM#42"',
      ),
      note("key design", "user", '"USER#42" also meets "USER#420"'),
    ],
  },
  "Edgetable's own layout": { model: defaults, advice: [] },
});

cases("lostOrder", {
  "an unpadded number": { model: trackerDraft, advice: [warning("key design", "issue", "{num}", "1, 10, 2", "{num:6}")] },
  "a text with more behind it": {
    model: trackerPublished,
    advice: [warning("key design", "value", "{value}#{num:6}", 'below "#"', '"Data"', "lower delimiter")],
  },
  "Edgetable's own layout": { model: defaults, advice: [] },
});

cases("highDelimiter", {
  "a bar": { model: people, advice: [note("key design", "friend", '"|"', '"TypeTarget"', "above digits", 'use "#"')] },
  "a hash": { model: school, advice: [] },
});

cases("refusedValues", {
  "a name under a hyphen": {
    model: inLayout(
      { delimiter: "-", indexes, nodes: { user: { keys: { G1: "A", G2: "{name}" } } } },
      { nodes: { user: user({ key: "user-{id}" }) } },
    ),
    advice: [note("key design", "user", "{name}", 'contains "-" is refused', 'delimiters: { "G2": "\\u0001" }')],
  },
  "a name under a delimiter of its own": { model: trackerDraft, advice: [] },
});

cases("sharedPartition", {
  "two node types in one partition": {
    model: inLayout({ nodes: { user: { keys: { PK: "{id}", SK: "U" } }, team: { keys: { PK: "{teamId}", SK: "T" } } } }),
    advice: [warning("key design", "team", '"user" ({id})', "collection()", "layout.sharedIds")],
  },
  "shared ids": { model: people, advice: [] },
});

cases("idleIndexKey", {
  "half an index key": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "{name}" } } } }),
    advice: [warning("index keys", "user", 'fills "G1" but not "G2"', '"gsi"', 'Fill "G2" too')],
  },
  "a misspelt index key": {
    model: inLayout({ indexes, nodes: { user: { keys: { G11: "{name}" } } } }),
    advice: [note("index keys", "user", '"G11"', 'Did you mean "G1"?')],
  },
  "attributes that repeat a field or hold a constant": {
    model: inLayout({ indexes, nodes: { user: { keys: { Version: "1", UserId: "{id}" }, verbatim: { Name: "name" } } } }),
    advice: [],
  },
  "an index that shares the table's key": { model: trackerPublished, advice: [] },
});

const open = z.object({ id: text, name: text, due: text.optional() });

cases("requiredByIndex", {
  "an entry by an optional attribute": {
    model: { table: "Teams", nodes: { user: user({ schema: open }) }, indexes: { byDue: { entries: { user: "due" } } } },
    advice: [warning("index keys", "user", '"byDue" needs "due"', "is rejected", "sparse: true")],
  },
  "a sparse entry": {
    model: {
      table: "Teams",
      nodes: { user: user({ schema: open }) },
      indexes: { byDue: { entries: { user: { by: "due", sparse: true } } } },
    },
    advice: [],
  },
  "an adopted index": {
    model: inLayout({ indexes, nodes: { user: { keys: { G1: "{due}", G2: "{name}" } } } }, { nodes: { user: user({ schema: open }) } }),
    advice: [warning("index keys", "user", '"gsi" needs "due"', 'Name "G1" and "G2" in sparse')],
  },
  "an attribute with a default": {
    model: {
      table: "Teams",
      nodes: { user: user({ schema: z.object({ id: text, due: text.default("never") }) }) },
      indexes: { byDue: { entries: { user: "due" } } },
    },
    advice: [],
  },
});

cases("hotCounter", {
  "one item for very many edges": {
    model: {
      table: "Teams",
      nodes: { user: user(), team: team({ derived: { members: count({ in: "joins" }) } }) },
      edges: { joins: joins({ onDelete: { to: "cascade" }, expect: { to: 50_000 } }) },
    },
    advice: [{ concern: "throughput", definition: "team", severity: "warning", says: ["50,000 edges", "shards: 8"] }],
  },
  "counters of its own": {
    model: {
      table: "Teams",
      nodes: { user: user(), team: team({ derived: { members: count({ in: "joins", shards: 16 }) } }) },
      edges: { joins: joins({ onDelete: { to: "cascade" }, expect: { to: 50_000 } }) },
    },
    advice: [{ concern: "throughput", definition: "team", severity: "note", says: ["16 counters", "1,000 writes a second"] }],
  },
  "few edges": {
    model: {
      table: "Teams",
      nodes: { user: user(), team: team({ derived: { members: count({ in: "joins" }) } }) },
      edges: { joins: joins({ onDelete: { to: "cascade" } }) },
    },
    advice: [],
  },
});

cases("unusedIndex", {
  "an index by a stored attribute": {
    model: inLayout({ indexes: { gsi: { partitionKey: "Owner", sortKey: "Team" } }, nodes: { team: { attributes: { owner: "Owner" } } } }),
    advice: [warning("index keys", "team", '"owner" as "Owner"', '"gsi"', 'keys: { "Owner": "{owner}", "Team": "{…}" }')],
  },
  "the same, computed": {
    model: inLayout({ indexes: { gsi: { partitionKey: "Owner" } }, nodes: { team: { keys: { Owner: "{owner}" } } } }),
    advice: [],
  },
});

test("a projection for which a pattern reads the same items twice is a warning", () => {
  const plan = { kind: "read", sources: [{ kind: "query", index: "byRelated" }], hydrate: { nodes: ["issue"], by: "query" } };
  const [advice] = about(trackerDraft, "costlyProjection", [
    { name: "issuesOfProject", explanation: { requests: [], cost: { requests: 4 }, plan } },
  ]);
  expect(advice).toMatchObject({
    severity: "warning",
    definition: "issue",
    message: expect.stringContaining('"issuesOfProject" therefore reads each item once more') as string,
  });
});

describe("patternRequests", () => {
  const pattern = (name: string, ...requests: CheckedPattern["explanation"]["requests"]): CheckedPattern => ({
    name,
    explanation: { requests, cost: { requests: requests.reduce((sum, one) => sum + (one.times ?? 1), 0) } },
  });

  test("a pattern of one request is as it should be", () => {
    expect(about(education, "patternRequests", [pattern("one", { operation: "Query", times: 1 })])).toEqual([]);
  });

  test("several requests are listed, with what to do", () => {
    const hydrated = pattern("names", { operation: "Query" }, { operation: "BatchGetItem", times: 2, after: 'the "to" of each edge' });
    expect(about(education, "patternRequests", [hydrated])).toEqual([
      {
        rule: "patternRequests",
        concern: "cost",
        definition: "names",
        severity: "note",
        message: 'the pattern "names" needs 3 requests: Query, BatchGetItem × 2.',
        mend: "Ask for edges() or ids() where the nodes' attributes are not needed, or copy immutable ones to the edge.",
      },
    ]);
    expect(
      about(education, "patternRequests", [pattern("each", { operation: "Query" }, { operation: "Query", times: 9, after: "each" })])[0]
        ?.mend,
    ).toContain("{ given }");
    expect(about(education, "patternRequests", [pattern("two", { operation: "Query" }, { operation: "Query" })])[0]?.mend).toContain(
      "one partition",
    );
  });

  test("a walk is advised on degrees and budget, a search over shards on their number", async () => {
    const graph = defineGraph({
      table: "Cooks",
      nodes: { cook: node({ key: "COOK#{id}", schema: z.object({ id: text, name: text }) }) },
      edges: { follows: edge({ from: "cook", to: "cook" }) },
      indexes: { byValue: { entries: { cook: "name" }, shards: 4 } },
    });
    const patterns = definePatterns(graph, {
      friends: { question: "Whom do they follow?", example: { id: "C" }, ask: (db, id) => db.cook(id).out("follows").out("follows").ids() },
      named: { question: "Who is called so?", example: { name: "N" }, ask: (db, name) => db.find("cook").where(name).rows() },
    });
    const mends = checkGraph(graph, await explainPatterns(patterns)).flatMap((one) => (one.rule === "patternRequests" ? [one.mend] : []));
    expect(mends).toEqual([expect.stringContaining("expect.from and expect.to"), expect.stringContaining("recommendShards")]);
  });

  test("a Scan is an error and comes first", () => {
    const [first] = checkGraph(assertModel(billingLab), [pattern("all", { operation: "Scan" })]);
    expect(first).toMatchObject({ rule: "patternRequests", severity: "error", concern: "no Scan", definition: "all" });
  });

  test("takes a graph and what explainPatterns gives", async () => {
    const graph = defineGraph({
      table: "Teams",
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id: text }) }),
        team: node({ key: "TEAM#{teamId}", schema: z.object({ teamId: text }) }),
      },
      edges: { joins: edge({ from: "user", to: "team" }) },
    });
    const patterns = definePatterns(graph, {
      teams: { question: "Which teams?", example: { id: "U1" }, ask: (db, id: { id: string }) => db.user(id).out("joins").ids() },
      members: {
        question: "Who are its members?",
        example: { teamId: "T1" },
        ask: (db, id: { teamId: string }) => db.team(id).in("joins").entries(),
      },
    });
    const advice = checkGraph(graph, await explainPatterns(patterns)).filter((one) => one.rule === "patternRequests");
    expect(advice.map((one) => one.definition)).toEqual(["members"]);
  });
});

test("warnings come before notes", () => {
  const severities = checkGraph(assertModel(people)).map((advice) => advice.severity);
  expect(severities).toEqual(severities.toSorted().toReversed());
});

test("a search by an attribute that an index holds but no template computes says which key to compute", async () => {
  const layout = {
    partitionKey: "PK",
    sortKey: "SK",
    indexes: { gsi: { partitionKey: "Owner" } },
    nodes: { team: { attributes: { owner: "Owner" } } },
  };
  const graph = defineGraph({
    table: "Teams",
    nodes: { team: node({ key: "TEAM#{teamId}", schema: z.object({ teamId: text, owner: z.union([text, z.number()]) }) }) },
    layout,
  });
  const patterns = definePatterns(graph, {
    teams: { question: "Whose?", example: { owner: "Ann" }, ask: (db, { owner }) => db.find("team").where({ owner }).rows() },
  });
  await expect(explainPatterns(patterns)).rejects.toThrow('for "gsi" compute its key: keys: { "Owner": "{owner}" } in place of attributes');
});

cases("neededStream", {
  "facts that the stream keeps": {
    model: {
      table: "Teams",
      nodes: {
        user: user(),
        team: team({
          derived: { members: count({ in: "joins", freshness: "stream" }), admins: count({ in: "joins", freshness: "stream" }) },
        }),
      },
      edges: { joins: joins() },
    },
    advice: [
      { concern: "stale copies", definition: "Teams", severity: "note", says: ['"members" and 1 more', "they do not follow", "--stream"] },
    ],
  },
  "facts of transactions": {
    model: {
      table: "Teams",
      nodes: { user: user(), team: team({ derived: { members: count({ in: "joins" }) } }) },
      edges: { joins: joins({ onDelete: { to: "cascade" } }) },
    },
    advice: [],
  },
});
