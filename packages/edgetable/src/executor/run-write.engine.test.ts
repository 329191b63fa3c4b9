import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { edge, node, part } from "../schema/definition.ts";
import type { Layout } from "../schema/layout.ts";
import { openWriteLab, type Sent, type WriteLab } from "../test-support/write-lab.ts";
import { systemEffects } from "./session.ts";

let lab: WriteLab;
const operations = (): readonly string[] => lab.sent.map(({ operation }) => operation);

/** Lets the first request of an operation through and then loses its answer. */
const loseAnswer = (operation: string): void => {
  let lost = false;
  lab.hooks.after = (sent: Sent) => {
    if (lost || sent.operation !== operation) return;
    lost = true;
    throw new EdgetableError("execute.connection", "reset", { retryable: true, details: { ambiguous: true } });
  };
};

/** Does something once, after the first answer to an operation. */
const meanwhile = (operation: string, act: () => Promise<unknown>): void => {
  let done = false;
  lab.hooks.after = async (sent: Sent) => {
    if (done || sent.operation !== operation) return;
    done = true;
    await act();
  };
};

describe("the tracker's layout", () => {
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "-",
    indexes: { gsi: { partitionKey: "SK", sortKey: "Data", projection: "KEYS_ONLY" } },
    nodes: {
      tenant: { keys: { SK: "*" }, attributes: { name: "Name" } },
      project: { keys: { SK: "tenant-{tenantId}", Data: "{name}" } },
      issue: { keys: { SK: "project-{projectId}", Data: "{num:6}" }, attributes: { name: "Name", state: "State" } },
    },
    parts: { value: { keys: { SK: "xvalue-{attribute}", Data: "{value}#{num:6}" }, delimiters: { Data: "#" } } },
  };
  const tenant = node({ key: "tenant-{tenantId}", schema: z.object({ tenantId: z.string(), name: z.string() }) });
  const project = node({
    key: "project-{projectId}",
    schema: z.object({ projectId: z.string(), tenantId: z.string(), name: z.string(), note: z.string().optional() }),
  });
  const issue = node({
    key: "issue-{issueId}",
    schema: z.object({ issueId: z.string(), projectId: z.string(), num: z.int(), name: z.string(), state: z.string() }),
    unique: ["name"],
  });
  const value = part({
    of: "issue",
    key: "xvalue-{attribute}",
    schema: z.object({ attribute: z.string(), value: z.string(), num: z.int() }),
  });

  beforeAll(async () => {
    lab = await openWriteLab({ table: "Tracker", layout, nodes: { tenant, project, issue }, parts: { value } });
  });
  afterAll(() => lab.stop());
  beforeEach(() => {
    lab.sent.length = 0;
    lab.hooks = {};
  });

  test("a write whose last answer is lost says that it may have taken effect", async () => {
    const lose = (): never => {
      throw new EdgetableError("execute.connection", "reset", { details: { ambiguous: true } });
    };
    lab.hooks.after = ({ operation }) => (operation === "Query" ? undefined : lose());
    const lost = { code: "execute.connection", message: "reset. The write may have taken effect.", details: { ambiguous: true } };
    await expect(lab.node("tenant").create({ tenantId: "lost", name: "x" }).run()).rejects.toMatchObject(lost);
    const created = lab.node("tenant").create({ tenantId: "lost2", name: "x" });
    await expect(lab.transact([created, lab.node("tenant").put({ tenantId: "lost3", name: "x" })] as never).run()).rejects.toMatchObject(
      lost,
    );
    lab.hooks = {
      before: () => {
        throw new EdgetableError("execute.connection", "refused", { details: { ambiguous: false } });
      },
    };
    await expect(lab.node("tenant").put({ tenantId: "lost", name: "y" }).run()).rejects.toMatchObject({ message: "refused" });
  });

  test("an error is retryable only if the same call, made again, ends as it would have ended", async () => {
    const quick = await openWriteLab(
      {
        table: "Again",
        nodes: {
          tenant: node({ key: "TENANT#{id}", schema: z.object({ id: z.string(), name: z.string().optional(), n: z.number().optional() }) }),
        },
      },
      { effects: { ...systemEffects, sleep: () => Promise.resolve() } },
    );
    const tenants = quick.node("tenant");
    const [id, other] = [{ id: "1" }, { id: "2" }];
    quick.hooks.before = () => {
      throw new EdgetableError("execute.unavailable", "503", { retryable: true, details: { ambiguous: true } });
    };
    const retryable = (call: { run(): Promise<unknown> }): Promise<unknown> =>
      call
        .run()
        .catch((error: EdgetableError) => (error.message.endsWith("The write may have taken effect.") ? error.retryable : error.code));
    const together = (...calls: readonly unknown[]): Promise<unknown> => retryable(quick.transact(calls as never));
    expect(await retryable(tenants.put({ ...id, name: "y" }))).toBe(true);
    expect(await retryable(tenants.update(id, { name: "z" }))).toBe(true);
    expect(await together(tenants.put(id), tenants.update(other, { name: "y" }))).toBe(true);
    expect(await retryable(tenants.put(id, { if: { name: "y" } }))).toBe(false);
    expect(await retryable(tenants.update(id, { name: "w" }, { if: { name: "z" } }))).toBe(false);
    expect(await together(tenants.put(id), tenants.create(other))).toBe(false);
    expect(await together(tenants.put(id), tenants.update(other, { add: { n: 1 } }))).toBe(false);
    expect(await retryable(tenants.update(id, { add: { n: 1 } }))).toBe("execute.ambiguous");
    expect(await retryable(tenants.create(id))).toBe(false);
    // A token makes a repeated request exact, and not a repeated call, which has a token of its own.
    expect(await retryable(tenants.create(id, { idempotent: true }))).toBe(false);
    expect(await retryable(tenants.delete(id))).toBe(false);
    await quick.stop();
  });

  test("a node whose sort key holds more than its id is found by a Query of its partition", async () => {
    await lab.node("project").create({ projectId: "35e9", tenantId: "0807", name: "Forth Rail Bridge" }).orThrow();
    lab.sent.length = 0;
    const update = lab.node("project").update({ projectId: "35e9" }, { name: "Tay Bridge" });
    expect(await update.explain()).toMatchObject({
      plan: { kind: "needs", reads: [{ kind: "find" }] },
      requests: [{ operation: "Query" }],
    });
    expect(await update).toMatchObject({ ok: true, row: { projectId: "35e9", tenantId: "0807", name: "Tay Bridge" } });
    expect(operations()).toEqual(["Query", "UpdateItem"]);
    expect((await lab.items())["project-35e9 / tenant-0807"]).toEqual({
      PK: { S: "project-35e9" },
      SK: { S: "tenant-0807" },
      Data: { S: "Tay Bridge" },
    });
    lab.sent.length = 0;
    expect(await lab.node("project").update({ projectId: "35e9", tenantId: "0807" }, { name: "Forth Rail Bridge" })).toMatchObject({
      ok: true,
    });
    expect(operations()).toEqual(["UpdateItem"]);
    expect(await lab.node("project").update({ projectId: "none" }, { name: "x" })).toMatchObject({ ok: false, reason: "notFound" });
  });

  test("a write of an id that two items have names their keys and the option that tells them apart", async () => {
    const [id, projects] = [{ projectId: "twice" }, lab.node("project")];
    await projects.create({ ...id, tenantId: "a", name: "One" }).orThrow();
    await projects.create({ ...id, tenantId: "b", name: "Two" }).orThrow();
    const refused = {
      code: "plan.unsupported",
      message:
        '2 items of "project" have this id: project-twice / tenant-a, project-twice / tenant-b. Say by `given` which one is meant, and delete what should not be there.',
      details: { keys: [{ SK: { S: "tenant-a" } }, { SK: { S: "tenant-b" } }] },
    };
    await expect(projects.update(id, { name: "x" }).run()).rejects.toMatchObject(refused);
    await expect(projects.delete(id).run()).rejects.toMatchObject(refused);
    expect(await projects.delete(id, { given: { tenantId: "b" } } as never)).toMatchObject({ ok: true, row: { name: "Two" } });
    expect(await projects.update(id, { name: "x" })).toMatchObject({ ok: true, row: { tenantId: "a", name: "x" } });
  });

  test("an item whose table key changes moves in a transaction, with everything it holds", async () => {
    await lab.node("project").create({ projectId: "7b7e", tenantId: "a", name: "News", note: "keep" }).orThrow();
    lab.sent.length = 0;
    expect(await lab.node("project").update({ projectId: "7b7e" }, { tenantId: "b" })).toMatchObject({
      ok: true,
      row: { tenantId: "b", note: "keep" },
      atomic: { items: 2 },
    });
    expect(operations()).toEqual(["Query", "TransactWriteItems"]);
    const items = await lab.items();
    expect(items["project-7b7e / tenant-a"]).toBeUndefined();
    expect(items["project-7b7e / tenant-b"]).toEqual({
      PK: { S: "project-7b7e" },
      SK: { S: "tenant-b" },
      Data: { S: "News" },
      note: { S: "keep" },
    });
  });

  test("a computed attribute that needs what is not in the call is computed from a read, and again when that changed meanwhile", async () => {
    const values = lab.part("value");
    await values.create({ issueId: "i1" }, { attribute: "a", value: "x", num: 3 }).orThrow();
    lab.sent.length = 0;
    meanwhile("GetItem", () => values.update({ issueId: "i1" }, { attribute: "a" }, { value: "x", num: 7 }).orThrow());
    expect(await values.update({ issueId: "i1" }, { attribute: "a" }, { value: "y" })).toMatchObject({
      ok: true,
      row: { value: "y", num: 7 },
    });
    expect(operations()).toEqual(["GetItem", "UpdateItem", "UpdateItem", "UpdateItem"]);
    expect(lab.sent.at(-1)?.input).toMatchObject({
      UpdateExpression: "SET #0 = :0",
      ConditionExpression: "attribute_exists(PK) AND #0 = :1",
    });
    expect((await lab.items())["issue-i1 / xvalue-a"]).toEqual({ PK: { S: "issue-i1" }, SK: { S: "xvalue-a" }, Data: { S: "y#000007" } });
  });

  test("racing additions to a carried number all count", async () => {
    const values = lab.part("value");
    await values.create({ issueId: "i2" }, { attribute: "a", value: "x", num: 0 }).orThrow();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => values.update({ issueId: "i2" }, { attribute: "a" }, { add: { num: 1 } })),
    );
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
    expect((await lab.items())["issue-i2 / xvalue-a"]).toMatchObject({ Data: { S: "x#000008" } });
  });

  test("a sum that was read first is not sent again where it may have been written", async () => {
    const values = lab.part("value");
    const add = (): Promise<unknown> => values.update({ issueId: "i3" }, { attribute: "a" }, { add: { num: 1 } }).orThrow();
    await values.create({ issueId: "i3" }, { attribute: "a", value: "x", num: 0 }).orThrow();
    let first = true;
    lab.hooks.before = async (sent) => {
      if (!first || sent.operation === "GetItem") return;
      first = false;
      await add();
      throw new EdgetableError("execute.connection", "reset", { retryable: true, details: { ambiguous: true } });
    };
    await expect(add()).rejects.toMatchObject({ code: "execute.ambiguous" });
    expect((await lab.items())["issue-i3 / xvalue-a"]).toMatchObject({ Data: { S: "x#000001" } });
  });

  test("an issue moves to another project with its unique name", async () => {
    await lab.node("issue").create({ issueId: "af34", projectId: "p1", num: 3, name: "Girder", state: "open" }).orThrow();
    const moved = await lab.node("issue").update({ issueId: "af34" }, { projectId: "p2", name: "Beam" });
    expect(moved).toMatchObject({ ok: true, row: { projectId: "p2", num: 3 } });
    const keys = Object.keys(await lab.items()).filter((key) => key.includes("af34") || key.startsWith("~"));
    expect(keys.toSorted()).toEqual(["issue-af34 / project-p2", "~unique#issue#name#Beam / #"]);
    expect(await lab.node("issue").delete({ issueId: "af34" }, { if: { num: { gte: 2 } } })).toMatchObject({ ok: true });
    expect(Object.keys(await lab.items()).filter((key) => key.startsWith("~"))).toEqual([]);
  });
});

describe("other adopted layouts", () => {
  afterAll(() => lab.stop());

  test("education: hyphenated index attributes", async () => {
    lab = await openWriteLab({
      table: "Education",
      nodes: {
        student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }),
        course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), name: z.string() }) }),
      },
      edges: {
        enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: z.string(), grade: z.string().optional() }) }) as never,
      },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        typeAttribute: "EntityType",
        indexes: { GSI1: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" } },
        nodes: {
          student: { type: "STUDENT", keys: { SK: "METADATA" }, attributes: { name: "Name" } },
          course: { type: "COURSE", keys: { SK: "METADATA" }, attributes: { name: "Name" } },
        },
        edges: {
          enrolledIn: {
            type: "ENROLLMENT",
            keys: { SK: "{to}", "GSI1-PK": "{to}", "GSI1-SK": "{from}" },
            attributes: { at: "EnrollmentDate", grade: "Grade" },
          },
        },
      },
    });
    await lab.node("student").create({ studentId: "S1", name: "John Doe" }).orThrow();
    await lab.node("course").create({ courseId: "C1", name: "Maths" }).orThrow();
    await lab.edge("enrolledIn").link({ studentId: "S1" }, { courseId: "C1" }, { at: "2024-03-31T10:00:00" }).orThrow();
    await lab.edge("enrolledIn").relink({ studentId: "S1" }, { courseId: "C1" }, { grade: "A" }).orThrow();
    expect(await lab.items()).toEqual({
      "STUDENT#S1 / METADATA": { PK: { S: "STUDENT#S1" }, SK: { S: "METADATA" }, EntityType: { S: "STUDENT" }, Name: { S: "John Doe" } },
      "COURSE#C1 / METADATA": { PK: { S: "COURSE#C1" }, SK: { S: "METADATA" }, EntityType: { S: "COURSE" }, Name: { S: "Maths" } },
      "STUDENT#S1 / COURSE#C1": {
        PK: { S: "STUDENT#S1" },
        SK: { S: "COURSE#C1" },
        "GSI1-PK": { S: "COURSE#C1" },
        "GSI1-SK": { S: "STUDENT#S1" },
        EntityType: { S: "ENROLLMENT" },
        EnrollmentDate: { S: "2024-03-31T10:00:00" },
        Grade: { S: "A" },
      },
    });
    await lab.stop();
  });

  test("people: friends at both ends, each with the other's name", async () => {
    lab = await openWriteLab({
      table: "People",
      nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
      edges: { friend: edge({ from: "person", to: "person", symmetric: true, schema: z.object({ name: z.string() }) }) as never },
      layout: {
        partitionKey: "NodeId",
        sortKey: "TypeTarget",
        delimiter: "|",
        sharedIds: true,
        indexes: { GSI1: { partitionKey: "GSIPK", sortKey: "Data" }, GSI2: { partitionKey: "GSIPK", sortKey: "TypeTarget" } },
        nodes: { person: { keys: { TypeTarget: "PERSON|{id}", Data: "{name}", GSIPK: "{id:shard(4)}" } } },
        edges: {
          friend: { keys: { NodeId: "{from.id}", TypeTarget: "PERSON|{to.id}|FRIEND", Data: "{name}", GSIPK: "{from.id:shard(4)}" } },
        },
      },
    });
    await lab.node("person").create({ id: "1", name: "John Doe" }).orThrow();
    await lab.node("person").create({ id: "5", name: "Jane Smith" }).orThrow();
    const linked = await lab.edge("friend").link({ id: "1" }, { id: "5" }, { name: "Jane Smith" }, { reverse: { name: "John Doe" } });
    expect(linked).toMatchObject({ ok: true, atomic: { items: 4 } });
    const items = await lab.items();
    expect(items["1 / PERSON|5|FRIEND"]).toMatchObject({ Data: { S: "Jane Smith" }, GSIPK: items["1 / PERSON|1"]?.["GSIPK"] });
    expect(items["5 / PERSON|1|FRIEND"]).toMatchObject({ Data: { S: "John Doe" }, GSIPK: items["5 / PERSON|5"]?.["GSIPK"] });
    expect(await lab.edge("friend").unlink({ id: "5" }, { id: "1" })).toMatchObject({ ok: true });
    expect(Object.keys(await lab.items())).toHaveLength(2);
    expect(await lab.node("person").update({ id: "1" }, { name: "J. Doe" }, { if: { name: "John Doe" } })).toMatchObject({
      ok: true,
      row: { id: "1", name: "J. Doe" },
    });
  });
});

describe("lost answers and races", () => {
  const item = node({
    key: "ITEM#{id}",
    schema: z.object({ id: z.string(), n: z.int().optional(), text: z.string().optional() }),
    version: true,
  });
  const plain = node({ key: "PLAIN#{id}", schema: z.object({ id: z.string(), n: z.int().optional(), text: z.string().optional() }) });
  const linked = edge({ from: "plain", to: "item", maxDegree: { from: 5 } });
  beforeAll(async () => {
    lab = await openWriteLab({ table: "Lost", nodes: { item, plain }, edges: { linked: linked as never } });
  });
  afterAll(() => lab.stop());
  beforeEach(() => {
    lab.sent.length = 0;
    lab.hooks = {};
  });

  test("a contested write whose answer was lost is ambiguous, and says that the item is as it would have left it", async () => {
    const plain = lab.node("plain");
    const writes: readonly (readonly [string, () => PromiseLike<unknown>, string])[] = [
      ["PutItem", () => plain.create({ id: "1", n: 1 }), "asWritten"],
      ["PutItem", () => plain.create({ id: "1", n: 2 }), "exists"],
      ["UpdateItem", () => plain.update({ id: "1" }, { n: 2 }, { if: { n: 1 } }), "asWritten"],
      ["DeleteItem", () => plain.delete({ id: "1" }), "asWritten"],
    ];
    for (const [operation, write, found] of writes) {
      loseAnswer(operation);
      const outcome = await write().then(
        (value) => (value as { readonly reason?: string }).reason,
        (error: EdgetableError) => `${error.code} ${String(error.details["found"])}`,
      );
      expect(outcome).toBe(found === "exists" ? found : `execute.ambiguous ${found}`);
    }
  });

  test("a write that nobody can lose succeeds though its answer was lost", async () => {
    await lab.node("plain").create({ id: "2" }).orThrow();
    loseAnswer("UpdateItem");
    expect(await lab.node("plain").update({ id: "2" }, { text: "x" })).toMatchObject({ ok: true, row: { text: "x" } });
    loseAnswer("PutItem");
    expect(await lab.node("item").put({ id: "2", text: "x" })).toMatchObject({ ok: true, row: { version: 1, text: "x" } });
    loseAnswer("UpdateItem");
    // The set value is the same, and a version that rises twice harms no one.
    expect(await lab.node("item").update({ id: "2" }, { text: "y" })).toMatchObject({ ok: true, row: { version: 3, text: "y" } });
  });

  test("an idempotent write is a transaction of one, and exact", async () => {
    const plain = lab.node("plain");
    const idempotent = { idempotent: true };
    const writes = [
      () => plain.create({ id: "9", n: 1 }, idempotent),
      () => plain.update({ id: "9" }, { n: 2 }, { if: { n: 1 }, ...idempotent }),
      () => plain.update({ id: "9" }, { add: { n: 1 } }, idempotent),
      () => plain.put({ id: "9", n: 3 }, { if: { n: 3 }, ...idempotent }),
      () => plain.delete({ id: "9" }, idempotent),
    ];
    for (const write of writes) {
      lab.sent.length = 0;
      loseAnswer("TransactWriteItems");
      const explained = await write().explain();
      expect(explained.atomic).toEqual({ kind: "transaction", items: 1 });
      expect(explained.notes.join()).toMatch(/idempotent.*twice/);
      expect(await write()).toMatchObject({ ok: true, atomic: { kind: "transaction", items: 1 } });
      expect(operations()).toEqual(["TransactWriteItems", "TransactWriteItems"]);
      const [one, other] = lab.sent.map(({ input }) => input.ClientRequestToken as string);
      expect(one).toBe(other);
    }
  });

  test("a lost answer that another writer has overtaken is ambiguous, not a success and not a failure", async () => {
    await lab.node("item").create({ id: "3" }).orThrow();
    let first = true;
    lab.hooks.after = async (sent) => {
      if (!first || sent.operation !== "UpdateItem") return;
      first = false;
      await lab.node("item").update({ id: "3" }, { text: "other" }, { ifVersion: 2 });
      throw new EdgetableError("execute.connection", "reset", { retryable: true, details: { ambiguous: true } });
    };
    await expect(lab.node("item").update({ id: "3" }, { text: "mine" }, { ifVersion: 1 }).orThrow()).rejects.toMatchObject({
      code: "execute.ambiguous",
    });
  });

  test("an addition is one UpdateItem that is never sent again where it may have taken effect", async () => {
    await lab.node("plain").create({ id: "4", n: 1 }).orThrow();
    expect(await lab.node("plain").update({ id: "4" }, { add: { n: 1 } })).toMatchObject({ ok: true, row: { n: 2 } });
    lab.sent.length = 0;
    loseAnswer("UpdateItem");
    await expect(
      lab
        .node("plain")
        .update({ id: "4" }, { add: { n: 1 } })
        .run(),
    ).rejects.toMatchObject({ code: "execute.ambiguous", retryable: false });
    expect(operations()).toEqual(["UpdateItem"]);
    let throttled = false;
    lab.hooks.before = () => {
      if (throttled) return;
      throttled = true;
      throw new EdgetableError("execute.throttled", "slow down", { retryable: true, details: { ambiguous: false } });
    };
    expect(await lab.node("plain").update({ id: "4" }, { add: { n: 1 } })).toMatchObject({ ok: true, row: { n: 4 } });
  });

  test("a link whose answer was lost counts once", async () => {
    await lab.node("plain").put({ id: "4", n: 1 }).orThrow();
    await lab.node("item").create({ id: "4" }).orThrow();
    loseAnswer("TransactWriteItems");
    expect(await lab.edge("linked").link({ id: "4" }, { id: "4" })).toMatchObject({ ok: true });
    expect((await lab.items())["PLAIN#4 / ~degree#linked#out"]).toMatchObject({ "~count": { N: "1" } });
  });

  test("of racing updates of one version one wins", async () => {
    await lab.node("item").create({ id: "6" }).orThrow();
    const outcomes = await Promise.all(["a", "b", "c"].map((text) => lab.node("item").update({ id: "6" }, { text }, { ifVersion: 1 })));
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    expect(outcomes.filter((outcome) => !outcome.ok && outcome.reason === "versionConflict")).toHaveLength(2);
  });

  test("racing puts raise the version by one each", async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, (_, n) => lab.node("item").put({ id: "7", n })));
    expect(outcomes.every((outcome) => outcome.ok)).toBe(true);
    expect((await lab.items())["ITEM#7 / #"]).toMatchObject({ version: { N: "5" } });
  });

  test("an item that others change every time ends in a conflict", async () => {
    await lab.node("item").create({ id: "8" }).orThrow();
    let busy = false;
    lab.hooks.before = async (sent) => {
      if (sent.operation !== "PutItem" || busy) return;
      busy = true;
      await lab.node("item").update({ id: "8" }, { text: "again" }).orThrow();
      busy = false;
    };
    await expect(lab.node("item").put({ id: "8" }).orThrow()).rejects.toMatchObject({ code: "execute.conflict", retryable: true });
  });

  test("validation can be switched off", async () => {
    const free = await openWriteLab({ table: "Free", nodes: { plain } }, { validates: false });
    expect(await free.node("plain").create({ id: "1", n: "no number" })).toMatchObject({ ok: true });
    await free.stop();
  });
});
