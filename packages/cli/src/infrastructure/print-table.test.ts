import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "../test-support/lab.ts";

const counter = `
import { defineGraph, node } from "edgetable";
import { z } from "zod";
export const counters = defineGraph({
  table: "Counters",
  nodes: { counter: node({ key: "{name}", schema: z.object({ name: z.string(), place: z.number(), until: z.int() }), ttl: "until" }) },
  layout: {
    partitionKey: "name",
    types: { place: "N" },
    indexes: { byPlace: { partitionKey: "name", sortKey: "place", projection: ["until"] } },
    nodes: { counter: { keys: { place: "{place:number}" } } },
  },
  settings: { stream: true, pointInTimeRecovery: true, deletionProtection: true },
});
`;

let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": counter, "education.ts": educationModel });
});
afterAll(() => folder.remove());

const model = (...argv: readonly string[]) => run(["model", ...argv], { cwd: folder.path });

test("prints the table with all its settings for Terraform", async () => {
  const { code, out, err } = await model("--terraform");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`resource "aws_dynamodb_table" "counters" {
  name                        = "Counters"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "name"
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  deletion_protection_enabled = true

  attribute {
    name = "name"
    type = "S"
  }

  attribute {
    name = "place"
    type = "N"
  }

  global_secondary_index {
    name               = "byPlace"
    hash_key           = "name"
    range_key          = "place"
    projection_type    = "INCLUDE"
    non_key_attributes = ["until"]
  }

  ttl {
    attribute_name = "until"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
  }
}
`);
});

test("prints a template of CloudFormation as YAML or JSON, on demand or provisioned", async () => {
  const yaml = await model("--cloudformation", "--provisioned", "10,5");
  expect(yaml.out).toContain("  CountersTable:\n    Type: AWS::DynamoDB::Table\n    DeletionPolicy: Retain\n");
  expect(yaml.out).toContain("      ProvisionedThroughput:\n        ReadCapacityUnits: 10\n        WriteCapacityUnits: 5\n");
  const { out } = await model("--cloudformation", "--json");
  expect(JSON.parse(out)).toMatchObject({
    Resources: {
      CountersTable: {
        Properties: {
          TableName: "Counters",
          BillingMode: "PAY_PER_REQUEST",
          TimeToLiveSpecification: { AttributeName: "until", Enabled: true },
          StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        },
      },
    },
  });
});

test("leaves out settings that the model does not name, and says so", async () => {
  const { out, err } = await model("--cdk", "--model", "education.ts");
  expect(out).toContain('export const createEducationTable = (scope: Construct, id: string = "Education"): TableV2 =>');
  expect(out).not.toMatch(/deletionProtection|pointInTimeRecovery|dynamoStream|timeToLive/);
  expect(err).toContain("The model does not set point-in-time recovery and deletion protection");
});

test("a data model of NoSQL Workbench is read by init --from-workbench", async () => {
  for (const name of ["edgetable.ts", "education.ts"]) {
    const { code, out } = await model("--workbench", "--model", name);
    expect(code).toBe(0);
    folder.write("workbench.json", out);
    const drafted = await run(["init", "--from-workbench", "workbench.json", "--json"], { cwd: folder.path });
    const { DataModel } = JSON.parse(out) as {
      readonly DataModel: readonly [{ readonly TableName: string; readonly TableData: readonly object[] }];
    };
    expect(JSON.parse(drafted.out)).toMatchObject({
      table: DataModel[0].TableName,
      items: DataModel[0].TableData.length,
      rewritten: DataModel[0].TableData.length,
      findings: [],
    });
    expect(DataModel[0].TableData.length).toBeGreaterThan(1);
  }
});

test("asks for one form, and for units that DynamoDB has", async () => {
  expect(await model()).toMatchObject({
    code: 2,
    err: expect.stringContaining("Give one of --cloudformation, --cdk, --terraform, --workbench."),
  });
  expect(await model("--cdk", "--terraform")).toMatchObject({ code: 2 });
  for (const units of ["0,5", "5", "1,2,3", "a,b", "1.5,2"])
    expect(await model("--cdk", "--provisioned", units), units).toMatchObject({
      code: 2,
      err: expect.stringContaining("two whole numbers from 1"),
    });
});

const tournament = `
import { defineGraph, node } from "edgetable";
import { z } from "zod";
const text = z.string();
const schema = z.object({ matchId: text, tournamentId: text, region: text, round: text, score: z.number() });
export const tournament = defineGraph({
  table: "Matches",
  nodes: { match: node({ key: "{matchId}", schema }) },
  layout: {
    partitionKey: "matchId",
    indexes: { byRegion: { partitionKey: ["tournamentId", "region"], sortKey: ["round", "score"] } },
  },
});
`;

test("prints an index key of several attributes, for the tools that have it", async () => {
  folder.write("tournament.ts", tournament);
  const terraform = await model("--terraform", "--model", "tournament.ts");
  expect(terraform.out).toContain(`
  global_secondary_index {
    name            = "byRegion"
    projection_type = "ALL"

    key_schema {
      attribute_name = "tournamentId"
      key_type       = "HASH"
    }

    key_schema {
      attribute_name = "region"
      key_type       = "HASH"
    }

    key_schema {
      attribute_name = "round"
      key_type       = "RANGE"
    }

    key_schema {
      attribute_name = "score"
      key_type       = "RANGE"
    }
  }
`);
  const cdk = await model("--cdk", "--model", "tournament.ts");
  expect(cdk.out).toContain(`        partitionKeys: [
          { name: "tournamentId", type: AttributeType.STRING },
          { name: "region", type: AttributeType.STRING },
        ],
        sortKeys: [
          { name: "round", type: AttributeType.STRING },
          { name: "score", type: AttributeType.NUMBER },
        ],
`);
  const { out } = await model("--cloudformation", "--json", "--model", "tournament.ts");
  expect(out.match(/"KeyType":"?\s*"?(?:HASH|RANGE)/g)).toHaveLength(5);
  expect(await model("--workbench", "--model", "tournament.ts")).toMatchObject({
    code: 2,
    err: expect.stringContaining('The index "byRegion" has a key of several attributes'),
  });
});
