import { describeExample } from "../test-support/describe-example.ts";
import { system } from "./system.ts";

const [example] = await system.tables();

/** The figure's rows, with the attributes that it writes out. */
const items = [
  { PK: "Invoice-92551", SK: "Invoice-92551", Dated: "2018-02-07" },
  { PK: "Invoice-92551", SK: "Bill-4224663", Dated: "2017-12-03" },
  { PK: "Invoice-92551", SK: "Bill-4224687", Dated: "2018-01-09" },
  { PK: "Invoice-92552", SK: "Invoice-92552", Dated: "2018-03-04" },
  { PK: "Invoice-92552", SK: "Bill-4224687", Dated: "2018-01-09" },
  { PK: "Bill-4224663", SK: "Bill-4224663", Dated: "2017-12-03" },
  { PK: "Bill-4224687", SK: "Bill-4224687", Dated: "2018-01-09" },
];

describeExample("billing-docs", example!, { items });
