import { exampleTable, type System } from "../system.ts";
import { draft, published } from "./expected.ts";
import { tracker, trackerDraft } from "./model.ts";
import { draftPatterns, patterns } from "./patterns.ts";
import { loadWith } from "./rows.ts";

export const system: System = {
  name: "tracker",
  title: "Tenants, projects and issues, with fields that projects define for themselves",
  source: "The Candid Startup, DynamoDB database grid view: as published, and as drafted",
  tables: async () => [
    exampleTable({ graph: tracker, variant: "keys as published", load: loadWith(true), patterns, expected: published }),
    exampleTable({ graph: trackerDraft, variant: "keys as drafted", load: loadWith(false), patterns: draftPatterns, expected: draft }),
  ],
};
