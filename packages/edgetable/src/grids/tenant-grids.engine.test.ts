import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

test.each(["items", "document"] as const)(
  "a tenant's connection imports, changes and exports its own rows, with values in %s",
  async (storage) => {
    const graph = defineGraph({
      table: engine.freshTableName("tenant-grids"),
      nodes: {
        project: node({ key: "PROJECT#{tenantId}#{projectId}", schema: z.object({ tenantId: text, projectId: text }) }),
        issue: node({
          key: "ISSUE#{tenantId}#{issueId}",
          schema: z.object({ tenantId: text, issueId: text, projectId: text, num: z.int() }),
          fields: { of: "project", orderBy: "num:6", storage },
        }),
      },
      settings: { stream: true },
    });
    const root = graph.connect({ transport: engine.transport });
    await root.table.create();
    // Both tenants have a project and issues of the same ids.
    const parent = { projectId: "p" };
    const [one, other] = [root.as({ tenantId: "T#1" }), root.as({ tenantId: "T" })];
    for (const db of [one, other]) await db.project.create(parent).orThrow();
    const records = (rows: number) => [
      ["issueId", "num", "Size"],
      ...Array.from({ length: rows }, (_, at) => [`i${at}`, String(at), String(at * 2)]),
    ];
    expect(await one.issue.grid(parent).importCsv(records(5))).toMatchObject({ created: 5 });
    expect(await other.issue.grid(parent).importCsv(records(3))).toMatchObject({ created: 3 });
    expect(await one.issue.grid(parent).count()).toMatchObject({ rows: 5 });
    const large = await one.issue
      .grid(parent)
      .where({ "field:f1": { gte: 4 } })
      .page();
    expect(large.items.map(({ row }) => [row.tenantId, row.num])).toEqual([
      ["T#1", 2],
      ["T#1", 3],
      ["T#1", 4],
    ]);
    expect(await one.issue.fields(parent).retype("f1", { type: "text" }, { indexLag: 0 })).toMatchObject({ values: 5 });
    expect(await other.issue.fields(parent).list()).toMatchObject([{ type: "number" }]);
    const pieces: string[] = [];
    for await (const piece of other.issue.grid(parent).exportCsv()) pieces.push(piece);
    expect(pieces.join("")).toBe("tenantId,issueId,projectId,num,Size\r\nT,i0,p,0,0\r\nT,i1,p,1,2\r\nT,i2,p,2,4\r\n");
    const foreign = [
      ["tenantId", "issueId", "num"],
      ["T", "i9", "9"],
    ];
    await expect(one.issue.grid(parent).importCsv(foreign).run()).rejects.toMatchObject({ code: "grid.unfitRows" });
  },
);
