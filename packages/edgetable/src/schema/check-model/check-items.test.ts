import { describe, expect, test } from "vitest";
import { z } from "zod";
import { people } from "../adopted-models.test-support.ts";
import { checkModel } from "../check-model.ts";
import { type GraphDefinition, edge } from "../definition.ts";
import { count } from "../derived.ts";
import type { Layout } from "../layout.ts";
import { cases, found, inLayout, item, joined, link, type Loose, model, reverse, team, text, user } from "./cases.test-support.ts";

describe("items", () => {
  const long = "x".repeat(1100);
  const twoReferences = model({
    edges: {
      owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" } } as never),
      runs: edge({ from: "team", to: "user", stored: "reference", by: { id: "teamId" } } as never),
    },
  });
  const mirrorAndReference = model({
    nodes: { user: user(), team: team({ mirror: true }) },
    edges: { owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" } } as never) },
  });
  const onlyUser = { nodes: { user: user() } };
  const referenceInLayout = (keys: Loose): GraphDefinition =>
    inLayout(
      { indexes: reverse, nodes: { team: { keys: { G1: "{owner}", G2: "{key}" } } }, edges: { owns: { keys } } },
      { edges: { owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" } } as never) } },
    );
  cases({
    "two node types with one key": {
      model: model({ nodes: { user: user(), guest: user() } }),
      rule: "collision",
      place: "nodes.guest",
      says: ['"user" (USER#{id} / #)', '"guest"', "overwrite the other", "Begin one of them differently."],
    },
    "an edge and a node": {
      model: inLayout({}, { edges: { knows: link({ to: "user" }) } }),
      rule: "collision",
      place: "edges.knows",
      says: ['"user"', "USER#{from.id} / USER#{to.id}"],
    },
    "an edge and its mirror": {
      model: inLayout({ nodes: { user: { keys: { SK: "A" } } } }, { edges: { knows: link({ to: "user", stored: "twice" }) } }),
      rule: "collision",
      place: "edges.knows",
      says: ['"knows:mirror"'],
    },
    "an attribute called as the mark of a deletion": {
      model: model({ nodes: { user: user({ schema: z.object({ id: text, "~deleting": text }) } as never) } }),
      rule: "storedName",
      place: "nodes.user.~deleting",
      says: ["Edgetable's own", "Rename"],
    },
    "two parts": {
      model: model({ parts: { item: item(), other: item() } }),
      rule: "collision",
      place: "parts.other",
      says: ["ITEM#{n:4}"],
    },
    "a derived attribute of a node whose key holds more than its id": {
      model: inLayout(
        { indexes: reverse, nodes: { user: { keys: { SK: "AT#{name}" } } }, edges: { knows: { keys: { G1: "{to}", G2: "{from}" } } } },
        {
          nodes: { user: user({ derived: { known: count({ out: "knows", freshness: "stream" }) } } as never) },
          edges: { knows: link({ to: "user" }) },
        },
      ),
      rule: "setting",
      place: "nodes.user.derived.known",
      says: ['the table key of "user" holds "name" too', "index"],
    },
    "a copy from a node whose key holds more than its id": {
      model: inLayout(
        { indexes: reverse, nodes: { user: { keys: { SK: "AT#{name}" } } }, edges: { knows: { keys: { G1: "{to}", G2: "{from}" } } } },
        { nodes: { user: user() }, edges: { knows: link({ to: "user", copies: { to: { friend: "name" } } } as never) } },
      ),
      rule: "setting",
      place: "edges.knows.copies.friend",
      says: ['the table key of "user" holds "name" too', "leave the copy out"],
    },
    ...Object.fromEntries(
      [
        ["maxDegree", { maxDegree: { to: 2 } }],
        ["multiplicity", { multiplicity: "one-to-many" }],
        ["onDelete", { onDelete: { to: "restrict" } }],
        ["copies", { copies: { to: { lead: "owner" } } }],
      ].map(([setting, more]) => [
        `edges that are counted at nodes which share a partition: ${String(setting)}`,
        {
          model: inLayout(
            {
              indexes: reverse,
              nodes: { team: { keys: { PK: "TEAMS", SK: "{key}" } } },
              edges: { joins: { keys: { G1: "{to}", G2: "{from}" } } },
            },
            { edges: { joins: link(more as Loose) } },
          ),
          rule: "setting",
          place: `edges.joins.${String(setting)}`,
          says: ['the partition of each "team" (TEAMS)', 'does not distinguish every "teamId"'],
        } as const,
      ]),
    ),
    "a node's key without its id": {
      model: inLayout({ nodes: { user: { keys: { PK: "USER#{id:shard(4)}", SK: "A" } } } }, onlyUser),
      rule: "identity",
      place: "nodes.user",
      says: ["{id}", "USER#{id:shard(4)} / A", "one item", "Add it"],
    },
    "an edge's key without its target": {
      model: inLayout({ edges: { joins: { keys: { SK: "JOINS" } } } }, joined),
      rule: "identity",
      place: "edges.joins",
      says: ["{to.teamId}", "JOINS"],
    },
    "an edge's key without its own key": {
      model: inLayout({}, { edges: { joins: link({ key: ["role"] }) } }),
      rule: "identity",
      place: "edges.joins",
      says: ["{role}"],
    },
    "an attribute of the default layout's names": {
      model: model({ nodes: { user: user({ schema: z.object({ id: text, pk: text }) }) } }),
      rule: "storedName",
      place: "nodes.user.pk",
      says: ['stored as "pk"', "Rename"],
    },
    "an attribute stored as a table key": {
      model: inLayout({ nodes: { user: { attributes: { name: "SK" } } } }),
      rule: "storedName",
      place: "nodes.user.name",
      says: ['"SK"', "layout attributes"],
    },
    "two attributes with one stored name": {
      model: inLayout(
        { nodes: { team: { attributes: { owner: "Name" } }, user: { keys: { SK: "A" }, attributes: { name: "N" } } } },
        { nodes: { user: user({ schema: z.object({ id: text, name: text, N: text }) }), team: team() } },
      ),
      rule: "storedName",
      place: "nodes.user.N",
      says: ['which is "name"'],
    },
    "an attribute stored over a computed one": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "{id}", G2: "A" }, attributes: { name: "G2" } } } }, onlyUser),
      rule: "storedName",
      place: "nodes.user.name",
      says: ["computed attribute"],
    },
    "a stored name for a field of the key": {
      model: inLayout({ nodes: { user: { attributes: { id: "UserId" } } } }, onlyUser),
      rule: "storedName",
      place: "nodes.user.id",
      says: ['"id" is read from "PK" (USER#{id})', '"UserId" would not be stored', 'keys: { "UserId": "{id}" }'],
    },
    "a type attribute that is computed": {
      model: inLayout({ typeAttribute: "T", nodes: { user: { keys: { T: "{name}" } } } }, onlyUser),
      rule: "storedName",
      place: "nodes.user",
      says: ['"T"', "template too"],
    },
    "an index attribute that one computes and another stores": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "{name}", G2: "{id}" } }, team: { attributes: { owner: "G1" } } } }),
      rule: "indexAttribute",
      place: 'index attribute "G1"',
      says: ['"user" computes it ({name})', '"team" stores', "Compute it in both"],
    },
    "an index attribute with two delimiters": {
      model: inLayout({
        indexes: reverse,
        nodes: {
          user: { keys: { G1: "A", G2: "{name}|{id}" }, delimiters: { G2: "|" } },
          team: { keys: { G1: "A", G2: "{owner}#{teamId}" } },
        },
      }),
      rule: "indexAttribute",
      place: 'index attribute "G2"',
      says: ['by "|"', 'by "#"', "one delimiter"],
    },
    "fixed text beyond a sort key": {
      model: inLayout({ nodes: { user: { keys: { SK: long } } } }, onlyUser),
      rule: "keyLength",
      place: "nodes.user.SK",
      says: ["1100 bytes", "1024", "Shorten"],
    },
    "fixed text beyond a partition key": {
      model: model({ nodes: { user: user({ key: `${long}${long}#{id}` }) } }),
      rule: "keyLength",
      place: "nodes.user.pk",
      says: ["2202 bytes", "2048"],
    },
    "two references in one index slot": {
      model: twoReferences,
      rule: "slot",
      place: "edges.runs",
      says: ['"owns" and "runs"', '"gsi1pk"', '"team"', 'Store the edge "once"'],
    },
    "a mirror and a reference in one index slot": {
      model: mirrorAndReference,
      rule: "slot",
      place: "edges.owns",
      says: ['the mirror of "team"', '"owns"'],
    },
    "a reference against its node's own template": {
      model: referenceInLayout({ G1: "{to}" }),
      rule: "slot",
      place: "edges.owns",
      says: ['"G1"'],
    },
  });

  test.each([
    ["type", false],
    ["attributes", { owner: "Owner" }],
    ["match", { name: { exists: true } }],
    ["fill", { name: ["{owner}"] }],
  ])("a reference edge has no item to which %s would apply", (setting, value) => {
    const schema = z.object({ owner: text });
    const references = { edges: { owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" }, schema } as never) } };
    const layout = { indexes: reverse, edges: { owns: { keys: { G1: "{to}", G2: "{from}" }, [setting]: value } } };
    expect(found(inLayout(layout, references), "setting")).toMatchObject({
      place: `layout.edges.owns.${setting}`,
      message: expect.stringContaining(`layout.nodes.team.${setting}`) as string,
    });
  });

  test("nodes whose ids differ in their case alone share a partition that holds the id in one case", () => {
    const edges = { knows: edge({ from: "user", to: "user", symmetric: true, maxDegree: { from: 3, to: 3 } }) };
    const knows = { keys: { PK: "USER#{from.id:lower}", SK: "KNOWS#{from.id}#{to.id}" } };
    const inCase = (SK: string) =>
      inLayout({ nodes: { user: { keys: { PK: "USER#{id:lower}", SK } } }, edges: { knows } }, { nodes: { user: user() }, edges });
    expect(found(inCase("USER#{id}"), "setting")).toMatchObject({
      place: "edges.knows.maxDegree",
      message: expect.stringContaining('(USER#{id:lower}), which does not distinguish every "id"') as string,
    });
    expect(checkModel(inCase("USER")).filter(({ rule }) => rule === "setting")).toEqual([]);
  });

  test("what agrees is no finding", () => {
    expect(checkModel(referenceInLayout({ G2: "{from}" }))).toEqual([]);
    expect(
      checkModel(inLayout({ edges: { joins: { keys: { SK: "TEAM" } } } }, { edges: { joins: link({ multiplicity: "many-to-one" }) } })),
    ).toEqual([]);
  });

  test("shared ids exempt only partitions of different node types that are made alike", () => {
    const layout = { ...people.layout, sharedIds: false } as Layout;
    expect(found({ ...people, layout }, "collision")).toMatchObject({
      place: "edges.has",
      message: expect.stringContaining("layout.sharedIds") as string,
    });
    const twice = { nodes: { user: { keys: { PK: "{id}", SK: "A" } }, guest: { keys: { PK: "X{id}", SK: "A" } } } };
    const guests = { nodes: { user: user(), guest: user() } };
    expect(found(inLayout({ sharedIds: true, ...twice }, guests), "collision").place).toBe("nodes.guest");
    const alike = { nodes: { user: { keys: { PK: "{id}", SK: "A" } }, guest: { keys: { PK: "{id}", SK: "A" } } } };
    expect(checkModel(inLayout({ sharedIds: true, ...alike }, guests))).toEqual([]);
  });
});
