import { exampleTable, type System } from "../system.ts";
import { expected } from "./expected.ts";
import { people } from "./model.ts";
import { patterns } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "people",
  title: "Persons, friends, births and skills, as a materialized graph with shards",
  source: "AWS DynamoDB developer guide, best practices for many-to-many relationships, materialized graph",
  tables: async () => [exampleTable({ graph: people, load, patterns, expected })],
};
