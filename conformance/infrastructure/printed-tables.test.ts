import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exampleItems, tableDesign } from "edgetable/check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cdk,
  cloudFormation,
  terraform,
  toYaml,
  type Capacity,
  type Printed,
} from "../../packages/cli/src/infrastructure/infrastructure.ts";
import { draftModel } from "../../packages/cli/src/draft/draft-model.ts";
import { readWorkbench } from "../../packages/cli/src/draft/read-workbench.ts";
import { workbench } from "../../packages/cli/src/infrastructure/workbench.ts";
import { designs } from "../adopted/designs.ts";
import { tournamentIn } from "../composite-keys/tournament.ts";
import { shop } from "./shop.ts";

/** A folder with cfn-lint, python-hcl2 and aws-cdk-lib: see `npm run test:infrastructure`. */
const tools = process.env["EDGETABLE_INFRASTRUCTURE"];
const capacity: Capacity = { read: 10, write: 5 };

const graphs = [shop, ...designs.map(({ name, graph }) => graph(`${name}-table`) as never as typeof shop)];
// NoSQL Workbench has no place for its index keys of several attributes.
const composite = tournamentIn("Matches") as never as typeof shop;
const printed = [...graphs, composite].flatMap((graph): readonly Printed[] => [
  { design: tableDesign(graph), capacity: undefined },
  { design: tableDesign(graph), capacity },
]);

interface Resources {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }>>;
}
const propertiesIn = (template: object, type: string): Readonly<Record<string, unknown>> =>
  Object.values((template as Resources).Resources).find((one) => one.Type === type)?.Properties ?? {};

// Run `npm run test:infrastructure`, which installs the tools: together they take 400 MB.
describe.skipIf(tools === undefined)("tables printed for the tools that read them", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "edgetable-infrastructure-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const written = (extension: string, textOf: (one: Printed) => string): readonly string[] =>
    printed.map((one, at) => {
      const path = join(folder, `table${at}.${extension}`);
      writeFileSync(path, textOf(one));
      return path;
    });
  const python = (...argv: readonly string[]): string => execFileSync(join(tools ?? "", "venv/bin/python"), argv, { encoding: "utf8" });

  test("CloudFormation, as YAML and as JSON, passes cfn-lint", { timeout: 300_000 }, () => {
    const yaml = written("yaml", (one) => toYaml(cloudFormation(one)));
    const json = written("json", (one) => JSON.stringify(cloudFormation(one)));
    expect(execFileSync(join(tools ?? "", "venv/bin/cfn-lint"), [...yaml, ...json], { encoding: "utf8" })).toBe("");
    const read = JSON.parse(
      python(
        "-c",
        "import json, sys; from cfnlint.decode import cfn_yaml; print(json.dumps([cfn_yaml.load(f) for f in sys.argv[1:]]))",
        ...yaml,
      ),
    ) as unknown;
    expect(read).toEqual(printed.map((one) => JSON.parse(JSON.stringify(cloudFormation(one))) as unknown));
  });

  test("Terraform is HCL that says the same", () => {
    const files = written("tf", terraform);
    const read = JSON.parse(
      python("-c", "import hcl2, json, sys; print(json.dumps([hcl2.load(open(f)) for f in sys.argv[1:]]))", ...files),
    ) as readonly {
      readonly resource: readonly Record<string, Record<string, Record<string, unknown>>>[];
    }[];
    // The parser keeps the quotes of texts and of labels.
    const unquoted = JSON.parse(
      JSON.stringify(read)
        .replaceAll(String.raw`"\"`, '"')
        .replaceAll(String.raw`\""`, '"'),
    ) as typeof read;
    for (const [at, { design }] of printed.entries()) {
      const [resource] = Object.values(unquoted[at]?.resource[0]?.["aws_dynamodb_table"] ?? {});
      const { input, ttl } = design;
      expect(resource).toMatchObject({ name: input.TableName, hash_key: input.KeySchema[0]?.AttributeName });
      expect(resource?.["attribute"]).toMatchObject(
        input.AttributeDefinitions.map(({ AttributeName: name, AttributeType: type }) => ({ name, type })),
      );
      expect(((resource?.["global_secondary_index"] ?? []) as readonly { readonly name: string }[]).map(({ name }) => name)).toEqual(
        (input.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName),
      );
      expect(resource?.["ttl"]).toEqual(ttl === undefined ? undefined : [expect.objectContaining({ attribute_name: ttl, enabled: true })]);
    }
  });

  test("the CDK's code has its types, and synthesizes the same table", { timeout: 300_000 }, () => {
    symlinkSync(join(tools ?? "", "node_modules"), join(folder, "node_modules"));
    const files = written("ts", cdk);
    const names = printed.map((one) => /export const (\w+)/.exec(cdk(one))?.[1] ?? "");
    const main = files.map((_, at) => `import { ${names[at]} as make${at} } from "./table${at}.ts";`).join("\n");
    const stacks = files.map((_, at) => `make${at}(new Stack(app, "stack${at}"));`).join("\n");
    writeFileSync(
      join(folder, "main.ts"),
      `import { App, Stack } from "aws-cdk-lib";\n${main}\nconst app = new App({ analyticsReporting: false });\n${stacks}\nconst made = app.synth();\nconsole.log(JSON.stringify(Object.fromEntries(made.stacks.map((one) => [one.stackName, one.template]))));\n`,
    );
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const compilerOptions = {
      strict: true,
      module: "nodenext",
      target: "es2022",
      rewriteRelativeImportExtensions: true,
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [fileURLToPath(new URL("../../node_modules/@types", import.meta.url))],
      outDir: "out",
      rootDir: ".",
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const compiler = fileURLToPath(new URL("../../node_modules/typescript7/bin/tsc", import.meta.url));
    execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8", stdio: "pipe" });
    writeFileSync(join(folder, "out/package.json"), JSON.stringify({ type: "module" }));
    const templates = JSON.parse(execFileSync(process.execPath, [join(folder, "out/main.js")], { encoding: "utf8" })) as Readonly<
      Record<string, object>
    >;
    for (const [at, one] of printed.entries()) {
      const own = propertiesIn(cloudFormation(one), "AWS::DynamoDB::Table");
      const made = propertiesIn(templates[`stack${at}`] ?? {}, "AWS::DynamoDB::GlobalTable");
      for (const name of ["TableName", "KeySchema", "BillingMode", "TimeToLiveSpecification", "StreamSpecification"])
        expect(made[name], name).toEqual(own[name]);
      const sorted = (list: unknown): unknown =>
        (list as readonly { readonly AttributeName: string }[]).toSorted((a, b) => (a.AttributeName < b.AttributeName ? -1 : 1));
      expect(sorted(made["AttributeDefinitions"])).toEqual(sorted(own["AttributeDefinitions"]));
      const indexes = (list: unknown): unknown =>
        ((list ?? []) as readonly Record<string, unknown>[]).map(({ IndexName, KeySchema, Projection }) => ({
          IndexName,
          KeySchema,
          Projection,
        }));
      expect(indexes(made["GlobalSecondaryIndexes"])).toEqual(indexes(own["GlobalSecondaryIndexes"]));
    }
  });
});

test("hostile names are quoted", () => {
  const index = {
    IndexName: "i-1.x",
    KeySchema: [{ AttributeName: '${a}"\n%{b}', KeyType: "HASH" as const }],
    Projection: { ProjectionType: "ALL" as const },
  };
  const base = tableDesign(shop);
  const one: Printed = { design: { ...base, input: { ...base.input, GlobalSecondaryIndexes: [index] }, ttl: "yes" }, capacity };
  expect(terraform(one)).toContain(String.raw`hash_key        = "$${"$"}{a}\"\n%%{b}"`.replace('${"$"}', "$"));
  expect(toYaml(cloudFormation(one))).toContain('AttributeName: "yes"');
  expect(cdk(one)).toContain(String.raw`name: "${"$"}{a}\"\n%{b}"`);
});

test.each(graphs.map((graph) => [graph.catalog.table, graph] as const))(
  "the data model of %s for NoSQL Workbench reads back",
  (_, { catalog }) => {
    const { input } = tableDesign(catalog);
    const table = readWorkbench(JSON.stringify(workbench(catalog, undefined, new Date(0))), undefined);
    const [hash, range] = input.KeySchema.map(({ AttributeName }) => AttributeName);
    expect(table).toMatchObject({ name: catalog.table, partitionKey: hash, items: exampleItems(catalog) });
    expect(table.sortKey).toBe(range);
    expect(Object.keys(table.indexes)).toEqual((input.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName));
    // Two items of each kind with items.
    expect(table.items).toHaveLength(catalog.shapes.length * 2);
    const { findings, rewritten, items } = draftModel(table);
    expect({ findings, rewritten }).toEqual({ findings: [], rewritten: items });
  },
);
