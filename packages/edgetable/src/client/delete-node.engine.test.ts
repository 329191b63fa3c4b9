import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { edge, node, part } from "../schema/definition.ts";
import { openWriteLab, type Sent, type WriteLab } from "../test-support/write-lab.ts";
import type { Item } from "../transport/operations.ts";
import { jobsOf } from "./jobs.ts";
import { loadOf } from "./load.ts";

const id = z.object({ id: z.string() });
const graph = {
  table: "Cascade",
  nodes: {
    student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), email: z.string().optional() }), unique: ["email"] }),
    course: node({ key: "COURSE#{id}", schema: id }),
    club: node({ key: "CLUB#{id}", schema: id }),
    house: node({ key: "HOUSE#{id}", schema: id, version: true }),
    teacher: node({ key: "TEACHER#{id}", schema: id }),
  },
  parts: {
    room: part({ of: "house", key: "ROOM#{n:5}", schema: z.object({ n: z.int() }) }),
    locker: part({ of: "student", key: "LOCKER#{n:5}", schema: z.object({ n: z.int() }), owner: "checked" }),
  },
  edges: {
    takes: edge({
      from: "student",
      to: "course",
      schema: z.object({ at: z.string().optional() }),
      orderBy: "at",
      onDelete: { from: "cascade", to: "cascade" },
    }),
    belongs: edge({
      from: "student",
      to: "club",
      stored: "twice",
      maxDegree: { from: 500, to: 1000 },
      onDelete: { from: "cascade", to: "cascade" },
    }),
    knows: edge({ from: "student", to: "student", symmetric: true, onDelete: { from: "cascade" } }),
    follows: edge({
      from: "student",
      to: "student",
      key: ["topic"],
      schema: z.object({ topic: z.string() }),
      onDelete: { from: "cascade", to: "cascade" },
    }),
    teaches: edge({ from: "teacher", to: "course", onDelete: { to: "restrict" } }),
    likes: edge({ from: "student", to: "teacher" }),
  },
} as const;

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab(graph);
});
afterAll(() => lab.stop());
const scan = async (): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const output = await lab.driver.session.send(
      "Scan",
      { TableName: lab.catalog.table, Limit: 1000, ...(start ? { ExclusiveStartKey: start } : {}) },
      lab.driver.context({}),
    );
    items.push(...(output.Items ?? []));
    start = output.LastEvaluatedKey;
  } while (start);
  return items;
};
const keys = async (): Promise<readonly string[]> =>
  (await scan()).map((item) => `${(item["pk"] as { S: string }).S} / ${(item["sk"] as { S: string }).S}`).toSorted();
beforeEach(async () => {
  lab.hooks = {};
  for (const item of await scan())
    await lab.driver.session.send(
      "DeleteItem",
      { TableName: lab.catalog.table, Key: { pk: item["pk"]!, sk: item["sk"]! } },
      lab.driver.context({}),
    );
  lab.sent.length = 0;
});

const quick = { indexLag: 0 };
const jobs = () => jobsOf(lab.driver);
const operations = (): readonly string[] =>
  lab.sent.map(({ operation, input }) => (input.IndexName ? `${operation} ${input.IndexName}` : operation));
const errorOf = async (act: () => unknown): Promise<EdgetableError> => {
  try {
    await act();
  } catch (error) {
    return error as EdgetableError;
  }
  throw new Error("nothing was thrown");
};
const create = async (...nodes: readonly (readonly [string, string])[]): Promise<void> => {
  for (const [name, value] of nodes) await lab.node(name).create({ id: value }).orThrow();
};
const link = async (name: string, from: string, to: string, attributes = {}): Promise<void> => {
  await lab.edge(name).link({ id: from }, { id: to }, attributes).orThrow();
};

describe("a small deletion", () => {
  test("takes edges both ways, parts, markers and guards along, in one transaction, and leaves what is to be left", async () => {
    await create(["student", "S2"], ["student", "S3"], ["course", "C1"], ["club", "K1"], ["teacher", "T1"]);
    const before = await keys();
    await lab.node("student").create({ id: "S1", email: "a@b" }).orThrow();
    await link("takes", "S1", "C1", { at: "2024" });
    await link("belongs", "S1", "K1");
    await link("belongs", "S2", "K1");
    await link("knows", "S1", "S2");
    await link("knows", "S3", "S1");
    await link("knows", "S1", "S1");
    await link("follows", "S1", "S2", { topic: "a" });
    await link("follows", "S2", "S1", { topic: "a" });
    await link("follows", "S2", "S1", { topic: "b" });
    await link("follows", "S1", "S1", { topic: "self" });
    await link("follows", "S2", "S3", { topic: "c" });
    await link("likes", "S1", "T1");
    await lab.part("locker").create({ id: "S1" }, { n: 1 }).orThrow();
    lab.sent.length = 0;

    const outcome = await lab.node("student").delete({ id: "S1" }, quick);
    expect(operations()).toEqual(
      ["GetItem", "TransactWriteItems", "Query", "Query gsi1", "TransactWriteItems"].map((one) => one.replace("gsi1", "reverse")),
    );
    expect(outcome).toMatchObject({ ok: true, row: { id: "S1", email: "a@b" }, atomic: { kind: "transaction", items: 18 } });
    expect(await keys()).toEqual(
      [
        ...before,
        "STUDENT#S1 / likes#TEACHER#T1",
        "STUDENT#S2 / belongs#CLUB#K1",
        "CLUB#K1 / ~belongs#STUDENT#S2",
        "STUDENT#S2 / ~degree#belongs#out",
        "CLUB#K1 / ~degree#belongs#in",
        "STUDENT#S2 / follows#STUDENT#S3#c",
      ].toSorted(),
    );
    const items = await lab.items();
    expect(items["CLUB#K1 / ~degree#belongs#in"]).toMatchObject({ "~count": { N: "1" } });
  });

  test("the mark: nothing can be linked to the node while it is read, and its row does not show it", async () => {
    await create(["student", "S1"], ["course", "C1"]);
    const refused: unknown[] = [];
    lab.hooks.after = async (sent) => {
      if (sent.operation !== "Query" || refused.length > 0) return;
      refused.push(null);
      refused.push(
        await lab.edge("takes").link({ id: "S1" }, { id: "C1" }, { at: "2024" }),
        await lab.part("locker").create({ id: "S1" }, { n: 1 }),
      );
      const { "~deleting": mark } = (await lab.items())["STUDENT#S1 / #"] ?? {};
      refused.push(mark, await lab.node("student").put({ id: "S1x", email: "x" }));
    };
    const outcome = (await lab.node("student").delete({ id: "S1" }, quick)) as WriteOutcome<object> & { ok: true };
    expect(outcome.row).toEqual({ id: "S1" });
    expect(refused.slice(1, 4)).toMatchObject([
      { ok: false, reason: "endMissing", end: "from" },
      { ok: false, reason: "endMissing" },
      { S: 'delete student ["S1"]' },
    ]);
    expect((await keys()).filter((key) => !key.includes("S1x") && !key.startsWith("~unique"))).toEqual(["COURSE#C1 / #"]);
  });

  test("restricting edges, a missing node and conditions are outcomes, and leave nothing behind", async () => {
    await create(["teacher", "T1"], ["course", "C1"], ["student", "S1"], ["house", "H1"]);
    await link("teaches", "T1", "C1");
    await link("takes", "S1", "C1", { at: "2024" });
    const before = await keys();
    expect(await lab.node("course").delete({ id: "C1" }, quick)).toMatchObject({
      ok: false,
      reason: "hasEdges",
      edge: "teaches",
      end: "to",
    });
    expect(await lab.node("course").delete({ id: "none" }, quick)).toMatchObject({ ok: false, reason: "notFound" });
    expect(await lab.node("student").delete({ id: "S1" }, { ...quick, if: { email: "x" } })).toMatchObject({
      ok: false,
      reason: "conditionFailed",
      current: { id: "S1" },
    });
    expect(await lab.node("house").delete({ id: "H1" }, { ifVersion: 7 })).toMatchObject({ ok: false, reason: "versionConflict" });
    expect(await keys()).toEqual(before);
    expect((await errorOf(() => lab.node("course").delete({ id: "none" }, quick).orThrow())).code).toBe("execute.notWritten");
    await lab.edge("teaches").unlink({ id: "T1" }, { id: "C1" }).orThrow();
    expect(await lab.node("course").delete({ id: "C1" }, quick)).toMatchObject({ ok: true });
    expect(await keys()).toEqual(["HOUSE#H1 / #", "STUDENT#S1 / #", "TEACHER#T1 / #"]);
  });

  test.each([
    { last: "cascade", reads: ["reverse WORD#w"] },
    { last: "leave", reads: ["reverse WORD#w / means#", "reverse WORD#w / names#TOPIC#"] },
  ] as const)(
    "finds all kinds of edges in a partition of an index by one Query, unless others lie there ($last)",
    async ({ last, reads }) => {
      const onDelete = { from: "cascade", to: "cascade" } as const;
      const words = await openWriteLab({
        table: "Words",
        nodes: { word: node({ key: "WORD#{id}", schema: id }), topic: node({ key: "TOPIC#{id}", schema: id }) },
        edges: {
          means: edge({ from: "word", to: "word", schema: z.object({ rank: z.int() }), orderBy: "rank:3", onDelete }),
          names: edge({ from: "topic", to: "word", onDelete }),
          quotes: edge({ from: "topic", to: "word", onDelete: { from: "cascade", to: last } }),
          heads: edge({ from: "word", to: "topic", onDelete }),
        },
      } as const);
      try {
        for (const one of ["w", "x"]) await words.node("word").create({ id: one }).orThrow();
        for (const one of ["t", "u"]) await words.node("topic").create({ id: one }).orThrow();
        await words.edge("means").link({ id: "x" }, { id: "w" }, { rank: 1 }).orThrow();
        await words.edge("means").link({ id: "w" }, { id: "w" }, { rank: 2 }).orThrow();
        for (const name of ["names", "quotes"])
          for (const topic of ["t", "u"]) await words.edge(name).link({ id: topic }, { id: "w" }, {}).orThrow();
        await words.edge("names").link({ id: "t" }, { id: "x" }, {}).orThrow();
        await words.edge("heads").link({ id: "w" }, { id: "t" }, {}).orThrow();
        words.sent.length = 0;
        const items = last === "cascade" ? 9 : 7;
        expect(await words.node("word").delete({ id: "w" }, quick)).toMatchObject({ ok: true, atomic: { kind: "transaction", items } });
        const queries = words.sent.flatMap(({ operation, input }) => {
          const values = Object.values((input.ExpressionAttributeValues ?? {}) as Readonly<Record<string, { readonly S: string }>>);
          return operation === "Query" && input.IndexName ? [`${input.IndexName} ${values.map(({ S }) => S).join(" / ")}`] : [];
        });
        expect(queries.toSorted()).toEqual(reads);
        const { Items = [] } = await words.driver.session.send("Scan", { TableName: words.catalog.table }, words.driver.context({}));
        const left = Items.map(({ sk }) => (sk as { S: string }).S).filter((sk) => sk.includes("WORD#"));
        expect(left.toSorted()).toEqual(["names#WORD#x", ...(last === "leave" ? ["quotes#WORD#w", "quotes#WORD#w"] : [])]);
      } finally {
        await words.stop();
      }
    },
  );

  test("a node with parts alone needs no mark: one Query, one transaction", async () => {
    await create(["house", "H1"]);
    for (const n of [1, 2]) await lab.part("room").create({ id: "H1" }, { n }).orThrow();
    lab.sent.length = 0;
    expect(await lab.node("house").delete({ id: "H1" })).toMatchObject({ ok: true, atomic: { kind: "transaction", items: 3 } });
    expect(operations()).toEqual(["Query", "TransactWriteItems"]);
    expect(lab.sent[0]?.input).toMatchObject({ ConsistentRead: true, ExpressionAttributeValues: { ":p": { S: "HOUSE#H1" } } });
    expect(await keys()).toEqual([]);
  });

  test("what goes or comes between reading and writing is read again", async () => {
    await create(["student", "S1"], ["student", "S2"]);
    await link("follows", "S1", "S2", { topic: "a" });
    let once = false;
    lab.hooks.after = async (sent) => {
      if (once || sent.operation !== "Query") return;
      once = true;
      await lab
        .edge("follows")
        .unlink({ id: "S1" }, { id: "S2" }, { key: { topic: "a" } })
        .orThrow();
    };
    expect(await lab.node("student").delete({ id: "S1" }, quick)).toMatchObject({ ok: true });
    expect(await keys()).toEqual(["STUDENT#S2 / #"]);
  });

  test("an index is read only when it has had the time to show what preceded the mark", async () => {
    await create(["course", "C1"]);
    const times: Record<string, number> = {};
    lab.hooks.before = ({ operation, input }) => void (times[`${operation} ${input.IndexName ?? ""} ${input.Select ?? ""}`] ??= Date.now());
    await lab.node("course").delete({ id: "C1" }, { indexLag: 150 });
    expect(times["Query reverse "]! - times["TransactWriteItems  "]!).toBeGreaterThanOrEqual(150);
  });

  test("explain tells what is read, without reading it", async () => {
    const explained = await lab.node("student").delete({ id: "S1" }).explain();
    expect(explained).toMatchObject({
      kind: "write",
      plan: { kind: "cascade", marks: true, lags: true },
      requests: [
        { operation: "Query", input: { ConsistentRead: true, ExpressionAttributeValues: { ":p": { S: "STUDENT#S1" } } } },
        { operation: "Query", input: { IndexName: "reverse" } },
      ],
    });
    expect(explained.notes.join("; ")).toMatch(/marks the node first.*waits 1000 ms.*100 items.*what it writes is not in the prediction$/);
    expect(await lab.node("house").delete({ id: "H" }).explain()).toMatchObject({ plan: { kind: "cascade", marks: false, lags: false } });
    expect(await lab.node("teacher").delete({ id: "T" }).explain()).toMatchObject({
      plan: { kind: "ready" },
      requests: [{ operation: "DeleteItem" }],
    });
    expect(lab.sent).toEqual([]);
  });

  test("a transaction of several calls refuses it, and options out of range are refused", async () => {
    expect((await errorOf(() => lab.transact([lab.node("student").delete({ id: "S1" })]))).code).toBe("plan.unsupported");
    expect((await errorOf(() => lab.node("student").delete({ id: "S1" }, { lease: 1 }))).code).toBe("plan.invalidOption");
    expect((await errorOf(() => lab.node("student").delete({ id: "S1" }, { indexLag: -1 }))).code).toBe("plan.invalidOption");
  });
});

describe("a deletion of more than a transaction holds", () => {
  const fill = async (): Promise<readonly string[]> => {
    const many = Array.from({ length: 120 }, (_, at) => `X${at}`);
    const bare = [
      { node: "course", row: { id: "C1" } },
      ...many.map((one) => ({ node: "student", row: { id: one } })),
      { node: "club", row: { id: "K1" } },
    ];
    await loadOf(lab.driver)(bare);
    await lab.node("student").create({ id: "S1", email: "a@b" }).orThrow();
    const before = (await keys()).filter((key) => !key.includes("S1") && !key.startsWith("~"));
    const rows = many.flatMap((one) => [
      { edge: "takes", from: { id: one }, to: { id: "C1" }, attributes: { at: "2024" } },
      { edge: "knows", from: { id: one }, to: { id: "S1" } },
      { edge: "follows", from: { id: one }, to: { id: "S1" }, attributes: { topic: "a" } },
      { edge: "belongs", from: { id: one }, to: { id: "K1" } },
    ]);
    expect((await loadOf(lab.driver)([...rows, { part: "locker", owner: { id: "S1" }, row: { n: 4 } }])).failures).toEqual([]);
    lab.sent.length = 0;
    return before;
  };

  test("is a job: edges first, the node last, and no state left", async () => {
    const before = await fill();
    const progress: number[] = [];
    const student = await lab.node("student").delete({ id: "S1" }, { ...quick, onProgress: ({ items }) => progress.push(items) });
    expect(student).toMatchObject({
      ok: true,
      row: { id: "S1", email: "a@b" },
      atomic: { kind: "job", id: 'delete student ["S1"]', items: 241 },
    });
    expect(progress.at(-1)).toBe(241);
    expect(progress.length).toBeGreaterThan(1);
    const deletions = lab.sent.findLastIndex(
      ({ input }: Sent) => JSON.stringify(input).includes("follows#STUDENT#S1") && JSON.stringify(input).includes("DeleteRequest"),
    );
    const last = lab.sent.findLastIndex(({ operation }) => operation === "TransactWriteItems");
    expect(deletions).toBeLessThan(last);
    expect(JSON.stringify(lab.sent[last]?.input)).toContain('"STUDENT#S1"},"sk":{"S":"#"}');

    expect(await lab.node("club").delete({ id: "K1" }, quick)).toMatchObject({ ok: true, atomic: { kind: "job", items: 120 } });
    expect(await lab.node("course").delete({ id: "C1" }, quick)).toMatchObject({ ok: true, atomic: { kind: "job", items: 120 } });
    const after = await scan();
    const left = after.filter((item) => !JSON.stringify(item).includes("~degree"));
    expect(left.map((item) => (item["pk"] as { S: string }).S + " / #").toSorted()).toEqual(before.filter((key) => !/K1|C1/.test(key)));
    for (const guard of after.filter((item) => !left.includes(item)))
      expect(guard).toMatchObject({ pk: { S: expect.stringMatching(/^STUDENT#X/) }, "~count": { N: "0" } });
  });

  test("that is cut off is listed, resumed by its id or by all, or by deleting again", async () => {
    await fill();
    let sent = 0;
    const cut = (at: number): void => {
      sent = 0;
      lab.hooks.before = ({ operation }) => {
        if ((operation === "BatchWriteItem" || operation === "TransactWriteItems") && ++sent >= at)
          throw new EdgetableError("execute.accessDenied", "cut");
      };
    };
    cut(4);
    const job = await lab.node("student").delete({ id: "S1" }, quick).start();
    expect(job.id).toBe('delete student ["S1"]');
    expect((await errorOf(() => job.done)).code).toBe("execute.accessDenied");
    expect(job.progress().requests).toBeGreaterThan(2);
    lab.hooks = {};
    expect(await jobs().list()).toMatchObject([{ id: job.id, kind: "delete", running: false, runs: 1 }]);
    cut(2);
    expect((await errorOf(async () => (await jobs().resume(job.id, quick)).done)).code).toBe("execute.accessDenied");
    lab.hooks = {};
    const { resumed, leased } = await jobs().resumeAll(quick);
    expect(leased).toEqual([]);
    expect(await resumed[0]?.done).toMatchObject({ ok: true, row: { id: "S1" } });
    expect((await keys()).filter((key) => /S1\b|^~/.test(key))).toEqual([]);
    expect(await jobs().list()).toEqual([]);
    expect((await errorOf(() => jobs().resume(job.id))).code).toBe("job.notFound");

    cut(3);
    await errorOf(() => lab.node("club").delete({ id: "K1" }, quick));
    lab.hooks = {};
    expect(await lab.node("club").delete({ id: "K1" }, quick)).toMatchObject({ ok: true, row: { id: "K1" } });
    expect((await keys()).filter((key) => /K1|^~/.test(key))).toEqual([]);
  });

  test("is refused to a second process while the first is at it, and given to it when the lease has run out", async () => {
    await fill();
    let second: Promise<EdgetableError> | undefined;
    let resuming: ReturnType<ReturnType<typeof jobs>["resumeAll"]> | undefined;
    lab.hooks.after = ({ operation }) => {
      if (operation !== "BatchWriteItem") return;
      second ??= errorOf(() => lab.node("student").delete({ id: "S1" }, quick));
      resuming ??= jobs().resumeAll(quick);
    };
    const begun = Date.now();
    await lab.node("student").delete({ id: "S1" }, quick);
    const { resumed, leased } = (await resuming)!;
    expect(resumed).toEqual([]);
    expect(leased).toMatchObject([{ id: 'delete student ["S1"]', kind: "delete", running: true }]);
    expect(leased[0]?.leasedUntil).toBeGreaterThan(begun);
    expect(await second).toMatchObject({ code: "job.busy", retryable: true });
  });

  test("ends well when somebody writes the node anew meanwhile, or gives the signal", async () => {
    await fill();
    let once = false;
    lab.hooks.before = async ({ operation }) => {
      if (once || operation !== "BatchWriteItem") return;
      once = true;
      await lab.node("student").put({ id: "S1", email: "new" }).orThrow();
    };
    expect(await lab.node("student").delete({ id: "S1" }, quick)).toMatchObject({ ok: true, atomic: { kind: "job" } });
    expect((await keys()).filter((key) => key.includes("S1") || key.startsWith("~"))).toEqual([
      "STUDENT#S1 / #",
      "~unique#student#email#new / #",
    ]);
    const stop = new AbortController();
    let begun = false;
    lab.hooks.before = ({ operation }) => {
      if (begun) stop.abort();
      begun ||= operation === "TransactWriteItems";
    };
    expect((await errorOf(() => lab.node("club").delete({ id: "K1" }, quick).run({ signal: stop.signal }))).code).toBe("execute.aborted");
    lab.hooks = {};
    expect((await jobs().list()).map(({ running }) => running)).toEqual([false]);
    await pause(1);
    expect(await lab.node("club").delete({ id: "K1" }, quick)).toMatchObject({ ok: true });
  });

  test("of an edge of which only half is left, the half goes", async () => {
    await fill();
    await lab.driver.session.send(
      "DeleteItem",
      { TableName: lab.catalog.table, Key: { pk: { S: "STUDENT#X7" }, sk: { S: "belongs#CLUB#K1" } } },
      lab.driver.context({}),
    );
    expect(await lab.node("club").delete({ id: "K1" }, quick)).toMatchObject({ ok: true });
    expect((await keys()).filter((key) => key.includes("K1"))).toEqual([]);
  });
});

test("a load's job can be forgotten, a deletion's cannot; neither is mistaken for the other", async () => {
  lab.hooks.before = ({ operation }) => {
    if (operation === "BatchWriteItem") throw new EdgetableError("execute.accessDenied", "cut");
  };
  await errorOf(() => loadOf(lab.driver)([{ node: "course", row: { id: "C" } }], { job: "import" }));
  expect((await errorOf(() => jobs().resume("import"))).code).toBe("job.mismatch");
  expect(await jobs().resumeAll()).toEqual({ resumed: [], leased: [], refused: [] });
  await jobs().forget("import");
  expect(await jobs().list()).toEqual([]);
  expect((await errorOf(() => jobs().forget("import"))).code).toBe("job.notFound");
});
