import type { TableDesign } from "edgetable/check";
import { camel } from "../draft/infer-keys.ts";

/** Units a second that a table in provisioned mode has for reads and for writes, as has each of its indexes. */
export interface Capacity {
  readonly read: number;
  readonly write: number;
}

type Input = TableDesign["input"];
type Index = NonNullable<Input["GlobalSecondaryIndexes"]>[number];

const keysOf = (schema: Input["KeySchema"], type: "HASH" | "RANGE"): readonly string[] =>
  schema.flatMap(({ KeyType, AttributeName }) => (KeyType === type ? [AttributeName] : []));

const typeOf = ({ AttributeDefinitions }: Input, attribute: string): "S" | "N" | "B" =>
  AttributeDefinitions.find(({ AttributeName }) => AttributeName === attribute)?.AttributeType ?? "S";

/** A name in capitals at each word: `OrderItems` of `order-items`. */
const pascal = (text: string): string => {
  const name = camel(text) ?? "table";
  return name.charAt(0).toUpperCase() + name.slice(1);
};

/** What a printed table is made of. */
export interface Printed {
  readonly design: TableDesign;
  readonly capacity: Capacity | undefined;
}

/** The CloudFormation template of a table, as data. */
export const cloudFormation = ({ design, capacity }: Printed): object => {
  const { input, ttl, deletionProtection, pointInTimeRecovery } = design;
  const { GlobalSecondaryIndexes: indexes = [], StreamSpecification: stream } = input;
  const throughput = capacity && { ProvisionedThroughput: { ReadCapacityUnits: capacity.read, WriteCapacityUnits: capacity.write } };
  const name = `${pascal(input.TableName)}Table`;
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Description: `The table ${input.TableName} of an Edgetable model.`,
    Resources: {
      [name]: {
        Type: "AWS::DynamoDB::Table",
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          TableName: input.TableName,
          BillingMode: capacity ? "PROVISIONED" : "PAY_PER_REQUEST",
          ...throughput,
          AttributeDefinitions: input.AttributeDefinitions,
          KeySchema: input.KeySchema,
          ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map((index) => ({ ...index, ...throughput })) }),
          ...(ttl !== undefined && { TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } }),
          ...(stream?.StreamViewType && { StreamSpecification: { StreamViewType: stream.StreamViewType } }),
          ...(pointInTimeRecovery !== undefined && {
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: pointInTimeRecovery },
          }),
          ...(deletionProtection !== undefined && { DeletionProtectionEnabled: deletionProtection }),
        },
      },
    },
    Outputs: {
      TableName: { Value: { Ref: name } },
      TableArn: { Value: { "Fn::GetAtt": [name, "Arn"] } },
      ...(stream && { StreamArn: { Value: { "Fn::GetAtt": [name, "StreamArn"] } } }),
    },
  };
};

// YAML reads other words as booleans, dates and numbers. A text in JSON's quotes is a text in YAML.
const PLAIN_TEXT = /^[A-Za-z][A-Za-z0-9_]*(?:::[A-Za-z]+)*$/;
const WORDS = /^(?:y|yes|n|no|true|false|on|off|null|nan|inf)$/i;

const scalar = (value: unknown): string =>
  typeof value === "string" && PLAIN_TEXT.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);

/** Plain data as YAML. */
export const toYaml = (value: unknown, indent = ""): string => {
  if (typeof value !== "object" || value === null) return ` ${scalar(value)}\n`;
  const entries = Object.entries(value);
  if (entries.length === 0) return Array.isArray(value) ? " []\n" : " {}\n";
  const inner = indent === "" ? "" : `\n`;
  if (!Array.isArray(value)) return inner + entries.map(([name, one]) => `${indent}${scalar(name)}:${toYaml(one, `${indent}  `)}`).join("");
  // The first member of a map stands behind the dash.
  return inner + value.map((one: unknown) => `${indent}-${toYaml(one, `${indent}  `).replace(/^\n\s+/, " ")}`).join("");
};

const hclText = (text: string): string =>
  JSON.stringify(text)
    .replaceAll("${", () => "$${")
    .replaceAll("%{", "%%{");

/** The table as a Terraform resource of the AWS provider. */
export const terraform = ({ design, capacity }: Printed): string => {
  const { input, ttl, deletionProtection, pointInTimeRecovery } = design;
  const { GlobalSecondaryIndexes: indexes = [], StreamSpecification: stream } = input;
  const block = (name: string, members: readonly (readonly [string, string] | undefined)[], indent = "  "): string => {
    const given = members.filter((one) => one !== undefined);
    const width = Math.max(...given.map(([member]) => member.length));
    return `\n${indent}${name} {\n${given.map(([member, value]) => `${indent}  ${member.padEnd(width)} = ${value}\n`).join("")}${indent}}\n`;
  };
  const pair = (name: string, value: string | undefined): readonly [string, string] | undefined =>
    value === undefined ? undefined : [name, hclText(value)];
  const units: readonly (readonly [string, string])[] = capacity
    ? [
        ["read_capacity", String(capacity.read)],
        ["write_capacity", String(capacity.write)],
      ]
    : [];
  const keys = (schema: Input["KeySchema"]) => [pair("hash_key", keysOf(schema, "HASH")[0]), pair("range_key", keysOf(schema, "RANGE")[0])];
  const indexBlock = ({ IndexName, KeySchema, Projection }: Index): string => {
    // Only blocks can say that a key has several attributes. The provider has them since 6.29.
    const hasSeveral = (["HASH", "RANGE"] as const).some((type) => keysOf(KeySchema, type).length > 1);
    const index = block("global_secondary_index", [
      pair("name", IndexName),
      ...(hasSeveral ? [] : keys(KeySchema)),
      pair("projection_type", Projection.ProjectionType),
      Projection.NonKeyAttributes ? ["non_key_attributes", `[${Projection.NonKeyAttributes.map(hclText).join(", ")}]`] : undefined,
      ...units,
    ]);
    if (!hasSeveral) return index;
    const elements = KeySchema.map(({ AttributeName, KeyType }) =>
      block("key_schema", [pair("attribute_name", AttributeName), pair("key_type", KeyType)], "    "),
    );
    return `${index.slice(0, -"  }\n".length)}${elements.join("")}  }\n`;
  };
  const own = [
    pair("name", input.TableName),
    pair("billing_mode", capacity ? "PROVISIONED" : "PAY_PER_REQUEST"),
    ...units,
    ...keys(input.KeySchema),
    ...(stream?.StreamViewType ? [["stream_enabled", "true"] as const, pair("stream_view_type", stream.StreamViewType)] : []),
    deletionProtection === undefined ? undefined : (["deletion_protection_enabled", String(deletionProtection)] as const),
  ];
  const label = (camel(input.TableName) ?? "table").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const blocks = [
    ...input.AttributeDefinitions.map(({ AttributeName, AttributeType }) =>
      block("attribute", [pair("name", AttributeName), pair("type", AttributeType)]),
    ),
    ...indexes.map(indexBlock),
    ...(ttl === undefined ? [] : [block("ttl", [pair("attribute_name", ttl), ["enabled", "true"]])]),
    ...(pointInTimeRecovery === undefined ? [] : [block("point_in_time_recovery", [["enabled", String(pointInTimeRecovery)]])]),
    block("lifecycle", [["prevent_destroy", "true"]]),
  ];
  const head = block(`resource "aws_dynamodb_table" ${hclText(label)}`, own, "").trimStart();
  return `${head.slice(0, -2)}${blocks.join("")}}\n`;
};

const CDK_TYPES = { S: "STRING", N: "NUMBER", B: "BINARY" } as const;

/** The table as a function that makes a TableV2 of the AWS CDK, in TypeScript. */
export const cdk = ({ design, capacity }: Printed): string => {
  const { input, ttl, deletionProtection, pointInTimeRecovery } = design;
  const { GlobalSecondaryIndexes: indexes = [], StreamSpecification: stream } = input;
  const attribute = (name: string): string => `{ name: ${JSON.stringify(name)}, type: AttributeType.${CDK_TYPES[typeOf(input, name)]} }`;
  const keys = (schema: Input["KeySchema"], indent: string): string => {
    const key = (name: string, [first, ...others]: readonly string[]): string => {
      if (first === undefined) return "";
      if (others.length === 0) return `${indent}${name}: ${attribute(first)},\n`;
      return `${indent}${name}s: [\n${[first, ...others].map((one) => `${indent}  ${attribute(one)},\n`).join("")}${indent}],\n`;
    };
    return key("partitionKey", keysOf(schema, "HASH")) + key("sortKey", keysOf(schema, "RANGE"));
  };
  const indexText = ({ IndexName, KeySchema, Projection }: Index): string =>
    `      {\n        indexName: ${JSON.stringify(IndexName)},\n${keys(KeySchema, "        ")}        projectionType: ProjectionType.${Projection.ProjectionType ?? "ALL"},\n${
      Projection.NonKeyAttributes ? `        nonKeyAttributes: ${JSON.stringify(Projection.NonKeyAttributes)},\n` : ""
    }      },\n`;
  // A TableV2 in provisioned mode scales its writes: between equal bounds, they stay.
  const billing = capacity
    ? `Billing.provisioned({\n      readCapacity: Capacity.fixed(${capacity.read}),\n      writeCapacity: Capacity.autoscaled({ minCapacity: ${capacity.write}, maxCapacity: ${capacity.write} }),\n    })`
    : "Billing.onDemand()";
  const names = [
    "AttributeType",
    "Billing",
    ...(capacity ? ["Capacity"] : []),
    ...(indexes.length > 0 ? ["ProjectionType"] : []),
    ...(stream ? ["StreamViewType"] : []),
    "TableV2",
  ];
  const lines = [
    `    tableName: ${JSON.stringify(input.TableName)},\n`,
    keys(input.KeySchema, "    "),
    `    billing: ${billing},\n`,
    indexes.length > 0 ? `    globalSecondaryIndexes: [\n${indexes.map(indexText).join("")}    ],\n` : "",
    ttl === undefined ? "" : `    timeToLiveAttribute: ${JSON.stringify(ttl)},\n`,
    stream?.StreamViewType ? `    dynamoStream: StreamViewType.${stream.StreamViewType},\n` : "",
    pointInTimeRecovery === undefined
      ? ""
      : `    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: ${pointInTimeRecovery} },\n`,
    deletionProtection === undefined ? "" : `    deletionProtection: ${deletionProtection},\n`,
    "    removalPolicy: RemovalPolicy.RETAIN,\n",
  ];
  return `import { RemovalPolicy } from "aws-cdk-lib";
import { ${names.join(", ")} } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";

/** The table ${input.TableName.replaceAll("*/", "*\\/")} of an Edgetable model. */
export const create${pascal(input.TableName)}Table = (scope: Construct, id: string = ${JSON.stringify(pascal(input.TableName))}): TableV2 =>
  new TableV2(scope, id, {
${lines.join("")}  });
`;
};
