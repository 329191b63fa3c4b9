import { exampleTable, type System } from "../system.ts";
import { expected } from "./expected.ts";
import { billingDocs } from "./model.ts";
import { patterns } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "billing-docs",
  title: "Invoices and bills, each edge stored once",
  source: "AWS DynamoDB developer guide, best practices for many-to-many relationships, adjacency list",
  tables: async () => [exampleTable({ graph: billingDocs, load, patterns, expected })],
};
