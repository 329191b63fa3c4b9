import { describe, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { adoptedModels, billingLab, defaults, education, people, school, trackerPublished } from "./adopted-models.test-support.ts";
import { assertModel, checkModel, RESERVED_NAMES, type ModelFinding } from "./check-model.ts";
import type { GraphDefinition } from "./definition.ts";
import { edge } from "./edge.ts";
import type { Layout } from "./layout.ts";
import { node } from "./node.ts";
import { part } from "./part.ts";

test.each(Object.entries({ ...adoptedModels, defaults }))("%s has no findings", (_, model) => {
  expect(checkModel(model)).toEqual([]);
});

type Loose = Readonly<Record<string, unknown>>;
const text = z.string();
const user = (more: Loose = {}): never => node({ key: "USER#{id}", schema: z.object({ id: text, name: text }), ...more }) as never;
const team = (more: Loose = {}): never => node({ key: "TEAM#{teamId}", schema: z.object({ teamId: text, owner: text }), ...more }) as never;
const link = (more: Loose = {}): never => edge({ from: "user", to: "team", schema: z.object({ role: text, at: text }), ...more }) as never;
const item = (more: Loose = {}): never =>
  part({ of: "team", key: "ITEM#{n:4}", schema: z.object({ n: z.int(), note: text }), ...more }) as never;
const model = (more: Loose = {}): GraphDefinition => ({ table: "Teams", nodes: { user: user(), team: team() }, ...more });
const withEdge = (more: Loose, name = "joins"): GraphDefinition => model({ edges: { [name]: link(more) } });
const inLayout = (layout: Loose, more: Loose = {}): GraphDefinition =>
  model({ layout: { partitionKey: "PK", sortKey: "SK", ...layout }, ...more });
const reverse = { byTeam: { partitionKey: "G1", sortKey: "G2" } };
const joined = { edges: { joins: link() } };

const found = (definition: GraphDefinition, rule: ModelFinding["rule"]): ModelFinding => {
  const findings = checkModel(definition);
  expect(findings.map((one) => one.rule)).toEqual([rule]);
  return findings[0] as ModelFinding;
};

interface Case {
  readonly model: GraphDefinition;
  readonly rule: ModelFinding["rule"];
  readonly place: string;
  /** Texts that the message must hold: the value, what is wrong, the mend. */
  readonly says: readonly string[];
}

const cases = (all: Readonly<Record<string, Case>>): void => {
  test.each(Object.entries(all))("%s", (_, one) => {
    const finding = found(one.model, one.rule);
    expect(finding.place).toBe(one.place);
    for (const words of one.says) expect(finding.message).toContain(words);
  });
};

describe("names", () => {
  cases({
    "a name that cannot follow a dot": {
      model: withEdge({}, "joins-in"),
      rule: "name",
      place: "edges.joins-in",
      says: ['"joins-in"', "use letters"],
    },
    "a name that every object has": {
      model: withEdge({}, "toString"),
      rule: "name",
      place: "edges.toString",
      says: ["member of every object", "another name"],
    },
    "a name twice": {
      model: model({ parts: { user: item() } }),
      rule: "duplicateName",
      place: "parts.user",
      says: ['"user"', "nodes", "Rename one"],
    },
    "an edge to an unknown node": {
      model: withEdge({ to: "teem" }),
      rule: "nodeType",
      place: "edges.joins.to",
      says: ['"teem" is no node type.', 'Did you mean "team"?'],
    },
    "an edge from nothing": { model: withEdge({ from: [] }), rule: "nodeType", place: "edges.joins.from", says: ["empty", "at least one"] },
    "an end named twice": {
      model: withEdge({ to: ["team", "team"] }),
      rule: "nodeType",
      place: "edges.joins.to",
      says: ['"team" is named twice', "once"],
    },
    "a part of an unknown node": {
      model: model({ parts: { item: item({ of: "tem" }) } }),
      rule: "nodeType",
      place: "parts.item.of",
      says: ['"tem"', 'Did you mean "team"?'],
    },
    "from as an attribute": {
      model: withEdge({ schema: z.object({ from: text }) }),
      rule: "reservedName",
      place: "edges.joins",
      says: ['"from" is an end', "Rename"],
    },
    "version beside version: true": {
      model: model({ nodes: { user: user({ version: true, schema: z.object({ id: text, version: z.int() }) }) } }),
      rule: "reservedName",
      place: "nodes.user",
      says: ['"version"', "Rename"],
    },
    "a part's key field that its node has": {
      model: model({ parts: { item: item({ key: "ITEM#{teamId}", schema: z.object({ teamId: text }) }) } }),
      rule: "reservedName",
      place: "parts.item.key",
      says: ['"teamId"', '"team"', "Rename one"],
    },
    "type as an id where an end has several types": {
      model: model({
        nodes: { user: user(), team: team({ key: "TEAM#{type}", schema: z.object({ type: text }) }) },
        edges: { joins: link({ to: ["team", "user"] }) },
      }),
      rule: "reservedName",
      place: "edges.joins.to",
      says: ['"type"', '"team"', "Rename"],
    },
  });

  test.each(RESERVED_NAMES)("%s is reserved", (name) => {
    expect(found(withEdge({}, name), "reservedName")).toMatchObject({
      place: `edges.${name}`,
      message: `"${name}" is a member of the connection (db.${name}). Choose another name.`,
    });
  });
});

describe("templates", () => {
  cases({
    "an unknown attribute in a node's key": {
      model: model({ nodes: { user: user({ key: "USER#{idd}" }) } }),
      rule: "attribute",
      place: "nodes.user.key",
      says: ["{idd}", '"user"', 'Did you mean "id"?'],
    },
    "an unknown attribute in a part's key": {
      model: model({ parts: { item: item({ key: "ITEM#{m}" }) } }),
      rule: "attribute",
      place: "parts.item.key",
      says: ["{m}", 'Did you mean "n"?'],
    },
    "an unknown attribute in a node's layout": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "N#{nmae}", G2: "{id}" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.keys.G1",
      says: ["{nmae}", 'Did you mean "name"?'],
    },
    "an unknown id field of an edge's end": {
      model: inLayout({ edges: { joins: { keys: { SK: "{to}#{to.teemId}#{at}" } } } }, joined),
      rule: "attribute",
      place: "layout.edges.joins.keys.SK",
      says: ["{to.teemId}", "id of to", 'Did you mean "teamId"?'],
    },
    "a misspelt macro": {
      model: inLayout({ nodes: { user: { keys: { SK: "{kez}" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.keys.SK",
      says: ["{kez}", 'Did you mean "key"?'],
    },
    "an edge without schema has no attributes": {
      model: inLayout({ edges: { joins: { keys: { SK: "{to}#{role}" } } } }, { edges: { joins: link({ schema: undefined }) } }),
      rule: "attribute",
      place: "layout.edges.joins.keys.SK",
      says: ["{role}"],
    },
    "a part's layout knows its node's id": {
      model: inLayout({ parts: { item: { keys: { SK: "ITEM#{n:4}#{teamId}#{m}" } } } }, { parts: { item: item() } }),
      rule: "attribute",
      place: "layout.parts.item.keys.SK",
      says: ["{m}"],
    },
    "an edge's mirror": {
      model: inLayout({ edges: { joins: { mirror: { keys: { SK: "{from}#{rol}" } } } } }, { edges: { joins: link({ stored: "twice" }) } }),
      rule: "attribute",
      place: "layout.edges.joins.mirror.keys.SK",
      says: ['Did you mean "role"?'],
    },
    "a brace that is never closed": {
      model: model({ nodes: { user: user({ key: "USER#{id" }) } }),
      rule: "template",
      place: "nodes.user.key",
      says: ['"USER#{id"', "never closed"],
    },
    "an unknown format": {
      model: withEdge({ orderBy: "at:nmber" }),
      rule: "template",
      place: "edges.joins.orderBy",
      says: ["nmber", 'Did you mean "number"?'],
    },
    "a delimiter that is none": {
      model: inLayout({ delimiter: "##" }, { nodes: { user: user() } }),
      rule: "template",
      place: "nodes.user.key",
      says: ['"##"', "one character"],
    },
  });

  test("schemas that do not list their attributes are not checked", () => {
    const unknown = z.object({ id: text }).transform((row) => ({ ...row, name: "x" }));
    expect(checkModel(model({ nodes: { user: user({ schema: unknown, key: "USER#{name}", unique: ["name"] }) } }))).toEqual([]);
  });
});

describe("settings", () => {
  const reference = (more: Loose = {}): GraphDefinition =>
    model({ edges: { owns: edge({ from: "team", to: "user", stored: "reference", by: { id: "owner" }, ...more } as never) as never } });
  cases({
    unique: {
      model: model({ nodes: { user: user({ unique: ["nme"] }) } }),
      rule: "attribute",
      place: "nodes.user.unique",
      says: ['"nme"', 'Did you mean "name"?'],
    },
    immutable: {
      model: model({ nodes: { user: user({ immutable: ["nme"] }) } }),
      rule: "attribute",
      place: "nodes.user.immutable",
      says: ['"nme"'],
    },
    ttl: {
      model: model({ nodes: { user: user({ ttl: "until" }) } }),
      rule: "attribute",
      place: "nodes.user.ttl",
      says: ['"until"', "Known: id, name."],
    },
    dates: { model: model({ parts: { item: item({ dates: ["born"] }) } }), rule: "attribute", place: "parts.item.dates", says: ['"born"'] },
    "an edge's key": {
      model: withEdge({ key: ["roll"] }),
      rule: "attribute",
      place: "edges.joins.key",
      says: ['"roll"', 'Did you mean "role"?'],
    },
    orderBy: {
      model: withEdge({ orderBy: "att" }),
      rule: "attribute",
      place: "edges.joins.orderBy",
      says: ['"att"', 'Did you mean "at"?'],
    },
    sides: {
      model: withEdge({ stored: "twice", sides: { from: ["role", "at", "a"], to: [] } }),
      rule: "attribute",
      place: "edges.joins.sides.from",
      says: ['"a"'],
    },
    "sides that leave an attribute out": {
      model: withEdge({ stored: "twice", sides: { from: ["role"], to: ["role"] } }),
      rule: "setting",
      place: "edges.joins.sides",
      says: ['"at"', "lost", "Add it"],
    },
    "sides of an edge that is stored once": {
      model: withEdge({ sides: { from: ["role"], to: ["at"] } }),
      rule: "setting",
      place: "edges.joins.sides",
      says: ['stored: "twice"'],
    },
    "by of an edge that is no reference": {
      model: withEdge({ by: { teamId: "name" } }),
      rule: "setting",
      place: "edges.joins.by",
      says: ['"reference"', "Leave it out"],
    },
    "by of an unknown id": {
      model: reference({ by: { id: "owner", ide: "owner" } }),
      rule: "attribute",
      place: "edges.owns.by",
      says: ['"ide"', 'Did you mean "id"?'],
    },
    "a source that cannot hold the target's id": {
      model: reference({ by: undefined }),
      rule: "attribute",
      place: "edges.owns.by",
      says: ['"id" is no attribute of "team"', '"user"'],
    },
    "a reference with a key": {
      model: reference({ key: [] }),
      rule: "setting",
      place: "edges.owns.key",
      says: ["key has no effect", "Leave it out"],
    },
    "a reference to many": {
      model: reference({ multiplicity: "one-to-many" }),
      rule: "setting",
      place: "edges.owns.stored",
      says: ["one target", "many-to-one"],
    },
    "a reference ordered by what its source lacks": {
      model: reference({ orderBy: "age" }),
      rule: "attribute",
      place: "edges.owns.orderBy",
      says: ['"age" is no attribute of the source'],
    },
    "a symmetric edge between different types": {
      model: withEdge({ symmetric: true }),
      rule: "setting",
      place: "edges.joins.symmetric",
      says: ["from is user", "to is team", "Leave symmetric out"],
    },
    "a symmetric edge that has a direction": {
      model: withEdge({ to: "user", symmetric: true, multiplicity: "many-to-one" }),
      rule: "setting",
      place: "edges.joins.multiplicity",
      says: ['"many-to-one"', '"one-to-one"'],
    },
    "a symmetric edge with two limits": {
      model: withEdge({ to: "user", symmetric: true, maxDegree: { from: 2, to: 3 } }),
      rule: "setting",
      place: "edges.joins.maxDegree",
      says: ["2 and 3", "Give one"],
    },
    "a degree out of range": {
      model: withEdge({ maxDegree: { to: 0 } }),
      rule: "setting",
      place: "edges.joins.maxDegree.to",
      says: ["0 is not", "1 to 1000000"],
    },
    "a degree that its multiplicity contradicts": {
      model: withEdge({ maxDegree: { from: 3 }, multiplicity: "many-to-one" }),
      rule: "setting",
      place: "edges.joins.maxDegree.from",
      says: ["3 contradicts", '"many-to-one"'],
    },
    "an unknown multiplicity": {
      model: withEdge({ multiplicity: "many-to-man" }),
      rule: "setting",
      place: "edges.joins.multiplicity",
      says: ['"many-to-man"', 'Did you mean "many-to-many"?'],
    },
    "an unknown onDelete": {
      model: withEdge({ onDelete: { to: "cascad" } }),
      rule: "setting",
      place: "edges.joins.onDelete.to",
      says: ['Did you mean "cascade"?'],
    },
    "expected bytes beyond an item": {
      model: model({ nodes: { user: user({ expect: { bytes: 500_000 } }) } }),
      rule: "setting",
      place: "nodes.user.expect.bytes",
      says: ["500000", "409600"],
    },
    "an expected number of nodes below one": {
      model: model({ nodes: { user: user({ expect: { count: 0 } }) } }),
      rule: "setting",
      place: "nodes.user.expect.count",
      says: ["0", "1 or more"],
    },
  });

  test("a reference to several types, a version and a symmetric reference are told apart from the rest", () => {
    const places = checkModel(reference({ to: ["user", "team"], version: true, symmetric: true })).map((one) => one.place);
    expect(places).toEqual(expect.arrayContaining(["edges.owns.to", "edges.owns.version", "edges.owns.stored"]));
  });
});

describe("the table", () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`index${at}`, { partitionKey: `P${at}`, sortKey: `S${at}` }]));
  cases({
    "a table's name": { model: model({ table: "my table" }), rule: "table", place: "table", says: ['"my table"', "3 to 255"] },
    "an index's name": {
      model: inLayout({ indexes: { "a b": { partitionKey: "G1" } } }),
      rule: "table",
      place: "layout.indexes.a b",
      says: ['"a b"'],
    },
    "an index's equal keys": {
      model: inLayout({ indexes: { gsi: { partitionKey: "G1", sortKey: "G1" } } }),
      rule: "table",
      place: "layout.indexes.gsi",
      says: ['"G1"', "Name two"],
    },
    "an attribute without a name": {
      model: inLayout({ indexes: { gsi: { partitionKey: "" } } }),
      rule: "table",
      place: "layout.indexes.gsi",
      says: ["0 characters", "1 to 255"],
    },
    "too many indexes": { model: inLayout({ indexes: many }), rule: "table", place: "layout.indexes", says: ["21 indexes", "20"] },
    "a type attribute that is a key": {
      model: inLayout({ typeAttribute: "SK" }, { nodes: { user: user() } }),
      rule: "table",
      place: "layout.typeAttribute",
      says: ['"SK"', "name another"],
    },
    "a layout of an unknown node": {
      model: inLayout({ nodes: { usr: {} } }),
      rule: "layout",
      place: "layout.nodes",
      says: ['"usr"', 'Did you mean "user"?'],
    },
    "a layout of an unknown edge": {
      model: inLayout({ edges: { join: {} } }, joined),
      rule: "layout",
      place: "layout.edges",
      says: ['Did you mean "joins"?'],
    },
    "a layout of a part where there are none": {
      model: inLayout({ parts: { item: {} } }),
      rule: "layout",
      place: "layout.parts",
      says: ['"item"', "leave it out"],
    },
    "a mirror of an edge stored once": {
      model: inLayout({ edges: { joins: { mirror: {} } } }, joined),
      rule: "layout",
      place: "layout.edges.joins.mirror",
      says: ["stored once", '"twice"'],
    },
    "a stored name of an unknown attribute": {
      model: inLayout({ nodes: { user: { attributes: { nme: "Name" } } } }),
      rule: "attribute",
      place: "layout.nodes.user.attributes",
      says: ['Did you mean "name"?'],
    },
    "a delimiter of an attribute that is not computed": {
      model: inLayout({ nodes: { user: { delimiters: { G1: "|" } } } }),
      rule: "layout",
      place: "layout.nodes.user.delimiters",
      says: ['"G1"', "Known: PK, SK."],
    },
    "a sparse table key": {
      model: inLayout({ indexes: reverse, nodes: { user: { keys: { G1: "{id}", G2: "{id}" }, sparse: ["SK"] } } }),
      rule: "layout",
      place: "layout.nodes.user.sparse",
      says: ['"SK"', "G1, G2"],
    },
  });

  test("partition and sort key are one attribute", () => {
    expect(checkModel({ ...model({ nodes: { user: user() } }), layout: { partitionKey: "PK", sortKey: "PK" } })[0]).toMatchObject({
      rule: "table",
      place: "layout",
    });
  });
});

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
      says: ['"user" (USER#{id} / #)', '"guest"', "overwrites", "Begin one of them differently."],
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
    "two parts": {
      model: model({ parts: { item: item(), other: item() } }),
      rule: "collision",
      place: "parts.other",
      says: ["ITEM#{n:4}"],
    },
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
      model: model({ nodes: { user: user({ schema: z.object({ id: text, type: text }) }) } }),
      rule: "storedName",
      place: "nodes.user.type",
      says: ['stored as "type"', "the type attribute", "Rename"],
    },
    "an attribute stored as a table key": {
      model: inLayout({ nodes: { user: { attributes: { name: "SK" } } } }),
      rule: "storedName",
      place: "nodes.user.name",
      says: ['"SK"', "layout attributes"],
    },
    "two attributes with one stored name": {
      model: inLayout(
        { nodes: { team: { attributes: { owner: "Name", teamId: "Id" } }, user: { keys: { SK: "A" }, attributes: { name: "N" } } } },
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

describe("all at once", () => {
  const wrong = model({
    table: "x",
    nodes: { user: user({ unique: ["nme"] }), guest: user(), team: team() },
    edges: { close: link(), joins: link({ orderBy: "when", maxDegree: { from: -1 } }) },
  });

  test("one error lists every finding", () => {
    let thrown: unknown;
    try {
      assertModel(wrong);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(EdgetableError);
    const { code, details, message } = thrown as EdgetableError;
    expect(code).toBe("schema.invalidModel");
    expect((details["findings"] as ModelFinding[]).map((one) => one.rule).toSorted()).toEqual([
      "attribute",
      "attribute",
      "collision",
      "reservedName",
      "setting",
      "table",
    ]);
    expect(message).toMatch(/^The model has 6 mistakes:\n- edges\.close: /);
  });

  test("a right model gives its catalog", () => {
    for (const one of [education, billingLab, school, people, trackerPublished]) expect(assertModel(one).table).toBe(one.table);
  });
});

describe("indexes by value", () => {
  const indexed = (entries: Loose, more: Loose = {}, rest: Loose = joined): GraphDefinition =>
    model({ ...rest, indexes: { byValue: { entries, ...more } } });
  test("what can be declared has no findings", () => {
    const entries = {
      user: "name",
      team: { by: ["owner"], split: 1, sparse: true, shards: { count: [4, 2], per: "owner", hot: { ann: [16, 4] } } },
      joins: { by: ["role", "at:date"], shards: { count: 8, by: "to.teamId" } },
    };
    expect(checkModel(indexed(entries, { shards: [32, 8, 4] }))).toEqual([]);
  });
  cases({
    "a name that is no definition": {
      model: indexed({ usr: "name" }),
      rule: "setting",
      place: "indexes.byValue.entries",
      says: ['"usr"', 'Did you mean "user"'],
    },
    "an attribute that is not there": {
      model: indexed({ user: ["nam"] }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.by",
      says: ['"nam"', 'Did you mean "name"'],
    },
    "no attribute at all": { model: indexed({ user: [] }), rule: "setting", place: "indexes.byValue.entries.user.by", says: ["empty"] },
    "a split beyond the levels": {
      model: indexed({ user: { by: "name", split: 2 } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.split",
      says: ["2", "0 to 1"],
    },
    "no shards": {
      model: indexed({ user: { by: "name", shards: { count: 4, per: "name", hot: { ann: 0 } } } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards.hot.ann",
      says: ["0", "1 to 65536"],
    },
    "counts that are no multiples": {
      model: indexed({ user: "name" }, { shards: [12, 8] }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards",
      says: ["12", "8", "Take 16"],
    },
    "a shard from what may change": {
      model: indexed({ user: { by: "name", shards: { count: 4, by: "name" } } }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.shards.by",
      says: ['"name"', "never changes"],
    },
    "counts by an attribute that is not there": {
      model: indexed({ user: { by: "name", shards: { count: 4, per: "state" } } }),
      rule: "attribute",
      place: "indexes.byValue.entries.user.shards.per",
      says: ['"state"'],
    },
    "counts by values of nothing": {
      model: indexed({ user: { by: "name", shards: { count: 4, hot: { a: 8 } } } }),
      rule: "setting",
      place: "indexes.byValue.entries.user.shards.hot",
      says: ["per"],
    },
    "an index that Edgetable has": {
      model: model({ indexes: { reverse: { entries: { user: "name" } } } }),
      rule: "reservedName",
      place: "indexes.reverse",
      says: ['"reverse"'],
    },
    "an attribute under the index's name": {
      model: model({
        nodes: { user: node({ key: "U#{id}", schema: z.object({ id: text, byNamePk: text }) }) },
        indexes: { byName: { entries: { user: "byNamePk" } } },
      }),
      rule: "storedName",
      place: "nodes.user.byNamePk",
      says: ['"byNamePk"', "computed attribute"],
    },
    "a node without an item": {
      model: model({ nodes: { user: user({ stored: false }), team: team() }, indexes: { byName: { entries: { user: "name" } } } }),
      rule: "setting",
      place: "indexes.byName.entries.user",
      says: ["stored: false"],
    },
    "more indexes than a table has": {
      model: model({ indexes: Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`index${at}`, { entries: { user: "name" } }])) }),
      rule: "table",
      place: "indexes",
      says: ["21", "20"],
    },
    "beside a layout of one's own": {
      model: {
        ...inLayout({ indexes: reverse, nodes: { user: { keys: { SK: "A" } }, team: { keys: { SK: "A" } } } }),
        indexes: { byName: { entries: { user: "name" } } },
      },
      rule: "layout",
      place: "indexes",
      says: ["own layout"],
    },
    "a sharding of a layout": {
      model: inLayout({ shards: { hot: { count: 0 } }, nodes: { user: { keys: { SK: "A" } }, team: { keys: { SK: "A" } } } }),
      rule: "setting",
      place: "layout.shards.hot",
      says: ["0"],
    },
  });
});
