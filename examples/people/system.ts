import { exampleTable, type System } from "../system.ts";
import { byTarget, expected } from "./expected.ts";
import { people, peopleByTarget } from "./model.ts";
import { patterns, patternsByTarget } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "people",
  title: "Persons, friends, births and skills, as a materialized graph with shards",
  source: "AWS DynamoDB developer guide, best practices for many-to-many relationships, materialized graph",
  tables: async () => [
    exampleTable({ graph: people, variant: "second index by shard", load, patterns, expected }),
    exampleTable({
      graph: peopleByTarget,
      variant: "second index by type and target",
      load,
      patterns: patternsByTarget,
      expected: byTarget,
    }),
  ],
};
