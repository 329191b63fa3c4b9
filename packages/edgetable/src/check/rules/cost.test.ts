import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../../index.ts";
import { education, trackerDraft } from "../../schema/adopted-models.test-support.ts";
import type { GraphDefinition } from "../../schema/definition.ts";
import { count } from "../../schema/derived.ts";
import { checkGraph } from "../check-graph.ts";
import { cases, indexes, inLayout, joins, note, team, user, warning } from "../advice-lab.test-support.ts";

cases("costlyProjection", {
  "keys only, on small items": {
    model: trackerDraft,
    advice: [note("cost", "issue", '"byRelated"', "name, state", "200 bytes", "one write unit", 'project "ALL"')],
  },
  "keys only, on larger items": {
    model: inLayout(
      { indexes: { gsi: { ...indexes.gsi, projection: "KEYS_ONLY" } }, nodes: { user: { keys: { G1: "{name}", G2: "{id}" } } } },
      { nodes: { user: user({ expect: { bytes: 5000 } }) } },
    ),
    advice: [note("cost", "user", "leaves active out", "Name what reads need")],
  },
  "everything, of large items": {
    model: inLayout(
      { indexes, nodes: { user: { keys: { G1: "{name}", G2: "{id}" } } } },
      { nodes: { user: user({ expect: { bytes: 9000 } }) } },
    ),
    advice: [note("cost", "user", "9000 bytes", "9 write units", '"KEYS_ONLY"')],
  },
  "a name that no item stores": {
    model: inLayout({
      indexes: { gsi: { ...indexes.gsi, projection: ["activ", "active"] } },
      nodes: { user: { keys: { G1: "{name}", G2: "{id}" } } },
    }),
    advice: [warning("cost", "gsi", '"activ"', 'Did you mean "active"?')],
  },
  "everything, of small items": { model: education, advice: [] },
});

const byName = { entries: { team: "owner" } };
const kept = (...facts: readonly unknown[]): GraphDefinition => ({
  table: "Teams",
  nodes: {
    user: user(),
    team: team({ derived: Object.fromEntries(facts.map((fact, at) => [`members${at}`, fact])) }),
  },
  edges: { joins: joins({ onDelete: { to: "cascade" } }) },
});

cases("countedEntries", {
  "counts in the transaction, and two indexes of everything": {
    model: {
      ...kept(count({ in: "joins" }), count({ in: "joins", where: { role: "lead" } })),
      indexes: { byName, byOther: byName, byKeys: { ...byName, projection: "KEYS_ONLY" } },
    },
    advice: [
      note(
        "cost",
        "team",
        'each change of "members0", "members1" writes',
        '"byName", "byOther"',
        "2 write units beside those of the item",
        'freshness: "stream"',
        'projection: "KEYS_ONLY"',
      ),
    ],
  },
  "a count in the transaction beside one by the stream": {
    model: { ...kept(count({ in: "joins" }), count({ in: "joins", freshness: "stream" })), indexes: { byName } },
    advice: [note("cost", "team", 'each change of "members0", "members1" writes', 'let the stream keep "members0" (freshness: "stream")')],
  },
  "items of several kilobytes, a count by the stream": {
    model: {
      ...kept(count({ in: "joins", freshness: "stream" })),
      nodes: {
        user: user(),
        team: team({ derived: { members0: count({ in: "joins", freshness: "stream" }) }, expect: { bytes: 3000 } }),
      },
      indexes: { byName },
    },
    advice: [note("cost", "team", "3 write units", "3000 bytes", "KEYS_ONLY")],
  },
  "an index by the count itself": {
    model: { ...kept(count({ in: "joins" })), indexes: { byCount: { entries: { team: { by: "members0:number" } } } } },
    advice: [],
  },
  "indexes by two counts, each of which the other one changes": {
    model: {
      ...kept(count({ in: "joins" }), count({ in: "joins", where: { role: "lead" } })),
      indexes: {
        byAll: { entries: { team: { by: "members0:number" } } },
        byLeads: { entries: { team: { by: "members1:number" } } },
        byName,
      },
    },
    advice: [
      note("cost", "team", 'each change of "members1" writes', 'in "byAll" too, which projects all attributes: 1 write unit beside'),
      note("cost", "team", 'each change of "members0" writes', 'in "byLeads" too'),
      note("cost", "team", 'each change of "members0", "members1" writes', 'in "byName" too'),
    ],
  },
  "counters of its own, and what a batch job keeps": {
    model: { ...kept(count({ in: "joins", shards: 4 }), count({ in: "joins", freshness: "batch" })), indexes: { byName } },
    advice: [],
  },
  "an index of keys alone, and one without the node": {
    model: {
      ...kept(count({ in: "joins" })),
      indexes: { byKeys: { ...byName, projection: "KEYS_ONLY" }, ofUsers: { entries: { user: "name" } } },
    },
    advice: [],
  },
});

test("the indexes of a grid are no advice: no model can name their projection", () => {
  const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string() }) });
  const schema = z.object({ issueId: z.string(), projectId: z.string(), name: z.string(), state: z.string() });
  const issue = node({ key: "ISSUE#{issueId}", schema, fields: { of: "project", sortable: ["name"] } });
  const graph = defineGraph({ table: "Tracker", nodes: { project, issue } });
  expect(checkGraph(graph, []).filter(({ rule }) => rule === "costlyProjection")).toEqual([]);
});

test("edges that nothing bounds are told of at every node type of the end", () => {
  const ids = z.object({ id: z.string() });
  const [doctor, nurse, patient] = ["DOCTOR", "NURSE", "PATIENT"].map((name) => node({ key: `${name}#{id}`, schema: ids }));
  const treats = edge({ from: ["doctor", "nurse"], to: ["patient", "doctor"], stored: "twice" });
  const graph = defineGraph({ table: "Clinic", nodes: { doctor: doctor!, nurse: nurse!, patient: patient! }, edges: { treats } });
  const told = checkGraph(graph).filter(({ rule }) => rule === "unboundedCollection");
  expect(told.map(({ message }) => message)).toEqual([
    'collection() of "doctor" or "nurse" reads all its "treats" edges, and nothing bounds their number.',
    'collection() of "patient" or "doctor" reads all its "treats" edges, and nothing bounds their number.',
  ]);
});
