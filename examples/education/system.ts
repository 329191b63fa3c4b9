import { exampleTable, type System } from "../system.ts";
import { expected } from "./expected.ts";
import { education } from "./model.ts";
import { patterns } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "education",
  title: "Students and courses, with the names that the article claims",
  source: "AWS re:Post, DynamoDB single table design: many-to-many with adjacency lists",
  tables: async () => [exampleTable({ graph: education, load, patterns, expected })],
};
