import { exampleTable, type System } from "../system.ts";
import { expected } from "./expected.ts";
import { school } from "./model.ts";
import { patterns } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "school",
  title: "Students, teachers, classes and homes, by hierarchical keys",
  source: "patricktran/aws-dynamodb-best-practices, adjacency lists and the materialized graph",
  tables: async () => [exampleTable({ graph: school, load, patterns, expected })],
};
