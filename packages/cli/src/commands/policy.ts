import type { AnyGraph } from "edgetable";
import { tenantKeys, type TenantKey } from "edgetable/check";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";

const ROLES = ["read", "write", "verify", "migrate", "stream"] as const;

interface Options {
  readonly for?: (typeof ROLES)[number];
  readonly tenant?: string;
  readonly account?: string;
}

type Catalog = AnyGraph["catalog"];

interface Statement {
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: object;
}

// A transaction needs the permissions of the single operations: "Using IAM with DynamoDB transactions", DynamoDB's guide.
const READ = ["GetItem", "BatchGetItem", "Query"];
const WRITE = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem"];
const SCAN = ["Scan"];
const DESCRIBE = ["DescribeTable"];
const ADMINISTER = ["UpdateTable", "DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups", "UpdateContinuousBackups"];
const STREAM = ["ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"];

const actions: Readonly<Record<(typeof ROLES)[number], readonly string[]>> = {
  read: READ,
  write: [...READ, ...WRITE],
  verify: [...READ, ...WRITE, ...SCAN],
  migrate: [...READ, ...WRITE, ...SCAN, ...DESCRIBE, ...ADMINISTER],
  stream: [...READ, ...WRITE, ...DESCRIBE],
};

const named = (operations: readonly string[]): readonly string[] => operations.map((one) => `dynamodb:${one}`);

// In a policy, * and ? stand for any text, and ${ begins a variable: "Use policy variables for special characters", IAM's guide.
const literal = (text: string): string => text.replaceAll(/[*?]|[$](?=[{])/g, "$${$&}");

/** A tenant's value: a text of which policy variables stay what they are. */
const valuePattern = (value: string): string =>
  value
    .split(/([$][{][^}]*[}])/)
    .map((part, at) => (at % 2 === 1 ? part : literal(part)))
    .join("");

/** What the partition keys of a tenant's items are like, in the table and in every index; the value may be a policy variable. */
const leadingKeys = (covered: readonly TenantKey[], value: string): readonly string[] => [
  ...new Set(
    covered.map(({ beginning, whole }) => {
      const text = beginning.map((part) => (part.kind === "literal" ? literal(part.text) : valuePattern(value))).join("");
      return whole ? text : `${text}*`;
    }),
  ),
];

const CURSORS = ["~secret#cursor", "~cursor#*"];

/** Edgetable's own items that calls of a role need beside a tenant's: they belong to no tenant. */
const ownKeys = ({ nodes, facts }: Catalog, writes: boolean): readonly string[] => {
  const markers = Object.values(nodes).flatMap(({ name, definition }) =>
    (definition.unique ?? []).map((attribute: string) => `~unique#${literal(name)}#${literal(attribute)}#*`),
  );
  const counters = facts.aggregates.some(({ shards }) => shards !== undefined) ? ["~counter#*"] : [];
  return [...CURSORS, "~model", ...markers, ...counters, ...(writes ? ["~job", "~job#*"] : [])];
};

const keysAre = (patterns: readonly string[]): object => ({
  // Without keys in the request "ForAllValues" is true: "Null" refuses what names none.
  "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns },
  Null: { "dynamodb:LeadingKeys": "false" },
});

interface Place {
  readonly table: string;
  readonly indexes: string;
  readonly stream: string;
}

const placeOf = (catalog: Catalog, { options }: Invocation<Options>): Place => {
  const { region = "*", account = "*" } = options;
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  const table = `arn:${partition}:dynamodb:${region}:${account}:table/${catalog.table}`;
  return { table, indexes: `${table}/index/*`, stream: `${table}/stream/*` };
};

/** What the keys of a tenant cover; `composite` are indexes whose partition key has several attributes, which no condition covers. */
const keysOfTenant = (catalog: Catalog, attribute: string) => {
  const composite = catalog.indexes.filter(({ partitionKeys }) => partitionKeys.length > 1);
  const indexes = catalog.indexes.filter((index) => !composite.includes(index));
  return { composite, indexes, ...tenantKeys({ ...catalog, indexes }, [attribute]) };
};

const statementsOf = (catalog: Catalog, call: Invocation<Options>): readonly Statement[] => {
  const { for: role = "write", tenant } = call.options;
  const place = placeOf(catalog, call);
  const allow = (Sid: string, operations: readonly string[], Resource: readonly string[], Condition?: object): Statement => ({
    Sid,
    Effect: "Allow",
    Action: named(operations),
    Resource,
    ...(Condition && { Condition }),
  });
  const both = [place.table, place.indexes];
  const isText = catalog.layout.types?.[catalog.index.partitionKey] !== "N";
  // The first page of a table stores the secret that signs cursors, and large cursors are stored.
  const cursors =
    role === "read" && isText ? [allow("Cursors", ["PutItem", "UpdateItem", "BatchWriteItem"], [place.table], keysAre(CURSORS))] : [];
  if (tenant === undefined) {
    const whole = allow("Items", actions[role], both);
    return [whole, ...cursors, ...(role === "stream" ? [allow("Changes", STREAM, [place.stream])] : [])];
  }
  const [attribute, value] = [tenant.slice(0, tenant.indexOf("=")), tenant.slice(tenant.indexOf("=") + 1)];
  if (!tenant.includes("=") || attribute === "" || value === "")
    throw usageError("--tenant takes an attribute and its value, such as --tenant 'tenantId=${aws:PrincipalTag/tenantId}'.");
  if (role !== "read" && role !== "write") throw usageError(`--tenant is for the roles read and write: "${role}" reads the whole table.`);
  const { composite, indexes, covered } = keysOfTenant(catalog, attribute);
  const others = indexes.map(({ name }) => `${place.table}/index/${name}`);
  if (covered.length === 0)
    throw usageError(`No partition key begins with "${attribute}", so no policy can tell tenants apart. Let node keys begin with it.`);
  return [
    allow("ItemsOfTenant", actions[role], composite.length === 0 ? both : [place.table, ...others], keysAre(leadingKeys(covered, value))),
    allow("OwnItems", actions[role], [place.table], keysAre(ownKeys(catalog, role === "write"))),
    ...cursors,
  ];
};

export const policyCommand: CommandSpec = defineCommand<Options>({
  name: "policy",
  group: "Model:",
  summary: "Print the IAM policy that a program needs, as JSON",
  description:
    "Sends no requests. The roles: read (reads, pages, searches, walks), write (also all writes, jobs and grids), verify (also Scan: db.scan, verify, dump, an extraction), migrate (also UpdateTable, expiry and backups), stream (the processor: also the table's stream). With --tenant, a program can only name items whose partition key begins with that tenant's, by dynamodb:LeadingKeys.",
  options: [
    { flags: "--for <role>", text: "what the program does (default: write)", choices: ROLES },
    {
      flags: "--tenant <attribute=value>",
      text: "only items of one tenant; the value may be a policy variable, such as ${aws:PrincipalTag/tenantId}",
    },
    { flags: "--account <id>", text: "account in the table's ARN (default: *)" },
  ],
  examples: [
    "edgetable policy --for read --region eu-central-1 --account 123456789012",
    "edgetable policy --for write --tenant 'tenantId=${aws:PrincipalTag/tenantId}'",
    "edgetable policy --for migrate > migrate-policy.json",
  ],
  run: async (call) => {
    const { io, options } = call;
    const model = await loadModel(options.model, io.cwd);
    const { catalog } = theGraph(model);
    const policy = { Version: "2012-10-17", Statement: statementsOf(catalog, call) };
    io.out.write(`${JSON.stringify(policy, undefined, 2)}\n`);
    if (options.tenant !== undefined) {
      const { composite, uncovered } = keysOfTenant(catalog, options.tenant.slice(0, options.tenant.indexOf("=")));
      if (composite.length > 0)
        note(
          call,
          `Not allowed, because AWS does not say what dynamodb:LeadingKeys compares where a partition key has several attributes: the index ${composite.map(({ name }) => `"${name}"`).join(", ")}.`,
        );
      const shared = uncovered.map(({ attribute, definition, template }) => `${attribute} of "${definition}" (${template.source})`);
      if (shared.length > 0)
        note(
          call,
          `Not allowed, because these partition keys do not begin with the tenant: ${[...new Set(shared)].join(", ")}. For a declared index, name the tenant first, with split: 1.`,
        );
      note(
        call,
        "Scan is not allowed: it names no key. All tenants share Edgetable's own items: a tenant can find out whether another one has a unique value.",
      );
      note(call, 'Keys write characters up to "$" in ids as two: give tenants ids without them.');
    }
    return exitCode.ok;
  },
});
