import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, defineGraph, edge, node, part, type Operation, type Transport } from "edgetable";
import { tenantKeys } from "edgetable/check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

const model = `
import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
const schema = z.object({ tenantId: z.string(), id: z.string(), name: z.string() });
export const shop = defineGraph({
  table: "Shop",
  nodes: {
    user: node({ key: "TENANT#{tenantId}#USER#{id}", schema, unique: ["name"] }),
    team: node({ key: "TENANT#{tenantId}#TEAM#{id}", schema }),
    group: node({ key: "TENANT#{tenantId}#GROUP#{groupId}", schema: z.object({ tenantId: z.string(), groupId: z.string() }) }),
    issue: node({
      key: "TENANT#{tenantId}#ISSUE#{id}",
      schema: z.object({ tenantId: z.string(), id: z.string(), groupId: z.string(), num: z.int() }),
      fields: { of: "group", orderBy: "num:6" },
    }),
  },
  edges: { joins: edge({ from: "user", to: "team", orderBy: "at", schema: z.object({ at: z.string() }), maxDegree: { to: 5 } }) },
  parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: z.string() }) }) },
  indexes: { byName: { entries: { team: { by: ["tenantId", "name"], split: 1 } } } },
});
export const crossing = defineGraph({
  table: "Shop",
  nodes: { user: node({ key: "USER#{id}#{tenantId}", schema }), team: node({ key: "TENANT#{tenantId}#TEAM#{id}", schema }) },
  indexes: { byName: { entries: { user: "name" } } },
});
export const composite = defineGraph({
  table: "Shop",
  nodes: { user: node({ key: "TENANT#{tenantId}#USER#{id}", schema }) },
  layout: {
    partitionKey: "pk",
    sortKey: "sk",
    indexes: { byName: { partitionKey: ["tenantId", "name"] }, byTenant: { partitionKey: "tenantKey", sortKey: ["name", "id"] } },
    nodes: { user: { keys: { tenantKey: "TENANT#{tenantId}#NAMES" } } },
  },
});
`;

const schema = z.object({ tenantId: z.string(), id: z.string(), name: z.string() });
const crossing = defineGraph({
  table: "Shop",
  nodes: { user: node({ key: "USER#{id}#{tenantId}", schema }), team: node({ key: "TENANT#{tenantId}#TEAM#{id}", schema }) },
  indexes: { byName: { entries: { user: "name" } } },
});

interface Statement {
  readonly Sid: string;
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: { readonly "ForAllValues:StringLike": { readonly "dynamodb:LeadingKeys": readonly string[] } };
}

let folder: Folder;
let engine: LocalEngine;
beforeAll(async () => {
  folder = createFolder({ "edgetable.ts": model });
  engine = await startEngine();
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});

const policy = async (...argv: readonly string[]): Promise<readonly Statement[]> => {
  const { code, out, err } = await run(["policy", "--model", "edgetable.ts#shop", ...argv], { cwd: folder.path });
  expect(code, err).toBe(0);
  return (JSON.parse(out) as { readonly Statement: readonly Statement[] }).Statement;
};

test("names the operations of each role, and the table with its indexes", async () => {
  const [read] = await policy("--for", "read", "--region", "eu-central-1", "--account", "123456789012");
  const table = "arn:aws:dynamodb:eu-central-1:123456789012:table/Shop";
  expect(read).toEqual({
    Sid: "Items",
    Effect: "Allow",
    Action: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"],
    Resource: [table, `${table}/index/*`],
  });
  const [write] = await policy();
  expect(write?.Action).toContain("dynamodb:ConditionCheckItem");
  expect(write?.Action).not.toContain("dynamodb:Scan");
  const [migrate] = await policy("--for", "migrate");
  expect(migrate?.Action).toEqual(expect.arrayContaining(["dynamodb:Scan", "dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive"]));
  const [, changes] = await policy("--for", "stream", "--region", "cn-north-1");
  expect(changes).toMatchObject({ Sid: "Changes", Resource: ["arn:aws-cn:dynamodb:cn-north-1:*:table/Shop/stream/*"] });
});

test("covers the keys that begin with the tenant, as a tenant's connection does, and names the others", async () => {
  const argv = ["policy", "--model", "edgetable.ts#crossing", "--tenant", "tenantId=a"];
  const { code, out, err } = await run(argv, { cwd: folder.path });
  expect(code, err).toBe(0);
  const [items] = (JSON.parse(out) as { readonly Statement: readonly Statement[] }).Statement;
  expect(items?.Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]).toEqual(["TENANT#a#TEAM#*"]);
  const notes = err.replaceAll(/\s+/g, " ");
  expect(notes).toContain('pk of "user" (USER#{id}#{tenantId})');
  expect(notes).toContain("split: 1");
  const { covered, uncovered } = tenantKeys(crossing.catalog, ["tenantId"]);
  expect(covered.map(({ definition, attribute }) => `${attribute} of ${definition}`)).toEqual(["pk of team"]);
  for (const { attribute, definition } of uncovered) expect(notes).toContain(`${attribute} of "${definition}"`);
});

test.each([
  ["a*", "a${*}"],
  ["a?b", "a${?}b"],
  ["${aws:PrincipalTag/tenantId}", "${aws:PrincipalTag/tenantId}"],
  ["eu-*-${aws:PrincipalTag/tenantId}", "eu-${*}-${aws:PrincipalTag/tenantId}"],
  ["${aws", "${$}{aws"],
])("the tenant %s is one tenant, and no pattern of several", async (tenant, written) => {
  const argv = ["policy", "--model", "edgetable.ts#crossing", "--tenant", `tenantId=${tenant}`];
  const { out } = await run(argv, { cwd: folder.path });
  const [items] = (JSON.parse(out) as { readonly Statement: readonly Statement[] }).Statement;
  expect(items?.Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]).toEqual([`TENANT#${written}#TEAM#*`]);
});

test("leaves out an index whose partition key has several attributes, and says why", async () => {
  const argv = ["policy", "--model", "edgetable.ts#composite", "--tenant", "tenantId=a"];
  const { code, out, err } = await run(argv, { cwd: folder.path });
  expect(code, err).toBe(0);
  const [items] = (JSON.parse(out) as { readonly Statement: readonly Statement[] }).Statement;
  const table = "arn:aws:dynamodb:*:*:table/Shop";
  expect(items?.Resource).toEqual([table, `${table}/index/byTenant`]);
  expect(items?.Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]).toEqual(["TENANT#a#USER#*", "TENANT#a#NAMES*"]);
  expect(err.replaceAll(/\s+/g, " ")).toContain(
    'AWS does not say what dynamodb:LeadingKeys compares where a partition key has several attributes: the index "byName"',
  );
});

test("refuses a tenant by which no key begins, and roles that read the whole table", async () => {
  const refused = async (...more: readonly string[]) => run(["policy", "--model", "edgetable.ts#shop", ...more], { cwd: folder.path });
  expect(await refused("--tenant", "a")).toMatchObject({ code: 2 });
  expect(await refused("--tenant", "name=a")).toMatchObject({ code: 2, err: expect.stringContaining("No partition key begins with") });
  expect(await refused("--tenant", "tenantId=a", "--for", "verify")).toMatchObject({
    code: 2,
    err: expect.stringContaining("reads the whole table"),
  });
});

type Fields = Readonly<Record<string, unknown>>;
const textOf = (value: unknown): string => (value as { readonly S: string }).S;

/** Each operation of a request, with the partition keys that it names. */
const namedBy = (operation: Operation, input: Fields): readonly (readonly [operation: string, keys: readonly string[]])[] => {
  const keyOf = ({ Key, Item }: Fields): string => textOf(((Key ?? Item) as Fields)["pk"]);
  if (operation === "Query") return [[operation, [textOf((input["ExpressionAttributeValues"] as Fields)[":p"])]]];
  if (operation === "BatchGetItem") {
    const all = Object.values(input["RequestItems"] as Record<string, { readonly Keys: readonly Fields[] }>);
    return [[operation, all.flatMap(({ Keys }) => Keys.map((Key) => keyOf({ Key })))]];
  }
  if (operation !== "TransactWriteItems") return [[operation, [keyOf(input)]]];
  return (input["TransactItems"] as readonly Readonly<Record<string, Fields>>[]).flatMap((item) =>
    Object.entries(item).map(
      ([kind, action]) => [kind === "ConditionCheck" ? "ConditionCheckItem" : `${kind}Item`, [keyOf(action)]] as const,
    ),
  );
};

const matches = (pattern: string, key: string): boolean =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((text) => text.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`))
      .join(".*")}$`,
  ).test(key);

const allows = (statements: readonly Statement[], [operation, keys]: readonly [string, readonly string[]]): boolean =>
  statements.some(({ Action, Condition }) => {
    const patterns = Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? [];
    return Action.includes(`dynamodb:${operation}`) && keys.every((key) => patterns.some((pattern) => matches(pattern, key)));
  });

test("of a tenant allows every request of its calls, and none of another tenant's", async () => {
  const graph = defineGraph({
    table: "Shop",
    nodes: {
      user: node({ key: "TENANT#{tenantId}#USER#{id}", schema, unique: ["name"] }),
      team: node({ key: "TENANT#{tenantId}#TEAM#{id}", schema }),
      group: node({ key: "TENANT#{tenantId}#GROUP#{groupId}", schema: z.object({ tenantId: z.string(), groupId: z.string() }) }),
      issue: node({
        key: "TENANT#{tenantId}#ISSUE#{id}",
        schema: z.object({ tenantId: z.string(), id: z.string(), groupId: z.string(), num: z.int() }),
        fields: { of: "group", orderBy: "num:6" },
      }),
    },
    edges: { joins: edge({ from: "user", to: "team", orderBy: "at", schema: z.object({ at: z.string() }), maxDegree: { to: 5 } }) },
    parts: { note: part({ of: "team", key: "NOTE#{n}", schema: z.object({ n: z.string() }) }) },
    indexes: { byName: { entries: { team: { by: ["tenantId", "name"], split: 1 } } } },
  });
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  let statements: readonly Statement[] = [];
  const refused: string[] = [];
  let asked = 0;
  const guarded: Transport = {
    send: (operation, input, options) => {
      for (const one of namedBy(operation, input as unknown as Fields)) {
        asked++;
        if (!allows(statements, one)) refused.push(one.flat().join(" "));
      }
      return transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const whole = graph.connect({ transport });
  await whole.table.create();
  const calls = async (tenantId: string): Promise<void> => {
    // A tenant's connection covers the same keys: what it sends is allowed.
    const db = graph.connect({ transport: guarded }).as({ tenantId });
    const [user, team, group] = [{ id: "1" }, { id: "2" }, { groupId: "g" }];
    await db.group.create(group).orThrow();
    await db.user.create({ ...user, name: `Ann of ${tenantId}` }).orThrow();
    await db.team.put({ ...team, name: "Red" }).orThrow();
    await db.joins.link(user, team, { at: "2026" }).orThrow();
    await db.note.create(team, { n: "1" }).orThrow();
    await db.user.update(user, { name: `Eve of ${tenantId}` }).orThrow();
    await db.user.by({ name: `Eve of ${tenantId}` });
    await db.user(user).out("joins").page({ limit: 1 });
    await db.team(team).in("joins").nodes();
    await db.team(team).parts("note").all();
    await db.find("team").where({ name: "Red" }).rows();
    await db.user(user).walk().out("joins").nodes();
    await db.user.getMany([user]);
    await db.joins.unlink(user, team).orThrow();
    await db.issue.create({ id: "3", groupId: "g", num: 1 }).orThrow();
    const { fieldId } = await db.issue.fields(group).define({ name: "Size", type: "text" });
    await db.issue.values({ id: "3" }).set({ [fieldId]: "large" });
    expect((await db.issue.grid(group).sort(`field:${fieldId}`).page()).items).toHaveLength(1);
    await db.team.delete(team, { indexLag: 0 }).orThrow();
  };
  statements = await policy("--tenant", "tenantId=acme");
  await calls("acme");
  expect(refused).toEqual([]);
  expect(asked).toBeGreaterThan(30);
  await calls("acmes");
  const foreign = refused.filter((one) => one.includes("TENANT#") && !one.includes("TENANT#acmes#"));
  expect(foreign).toEqual([]);
  expect(refused.filter((one) => one.includes("TENANT#acmes#")).length).toBeGreaterThan(15);
  await transport.close();
});
