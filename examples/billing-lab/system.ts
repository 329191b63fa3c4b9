import { exampleTable, type System } from "../system.ts";
import { expected } from "./expected.ts";
import { billingLab } from "./model.ts";
import { patterns } from "./patterns.ts";
import { load } from "./rows.ts";

export const system: System = {
  name: "billing-lab",
  title: "Invoices, bills and customers, each edge stored in both directions",
  source: "AWS workshop on advanced design patterns for DynamoDB, exercise 7",
  tables: async () => [exampleTable({ graph: billingLab, load, patterns, expected })],
};
