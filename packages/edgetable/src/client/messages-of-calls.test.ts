import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();
const graph = defineGraph({
  table: "Clinics",
  nodes: {
    patient: node({ key: "TENANT#{tenantId}#PATIENT#{id}", schema: z.object({ tenantId: text, id: text, name: text, fee: z.number() }) }),
    ward: node({ key: "TENANT#{tenantId}#WARD#{ward}", schema: z.object({ tenantId: text, ward: text }) }),
  },
  edges: {
    treats: edge({
      from: "patient",
      to: "patient",
      schema: z.object({ at: text }),
      copies: { from: { giver: "name" }, to: { taker: "name" } },
    }),
  },
  indexes: { people: { entries: { patient: { by: ["tenantId", "name"], split: 1 } } }, byFee: { entries: { patient: "fee:number" } } },
});
const db = graph.connect({ endpoint: "http://127.0.0.1:1" });
const ann = { tenantId: "t", id: "1" };

const refusal = async (call: () => unknown): Promise<string> => {
  try {
    await call();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("what a refused or explained call says", () => {
  test.for([undefined, null, ""])("a tenant of %j is refused where the connection is made", (tenantId) => {
    expect(() => db.as({ tenantId } as never)).toThrow(/tenantId/);
  });

  test("a search of an index without the first of its levels", async () => {
    const expected = /"tenantId"/;
    expect(await refusal(() => db.find("patient").using("people").rows().explain())).toBe(
      'The index "people" does not find "patient" without "tenantId", with which its keys begin. Give that in where().',
    );
    expect(await refusal(() => db.find("patient").where({ name: "Ann" }).rows().explain())).toMatch(expected);
  });

  test("an explanation of one partition speaks of no shards", async () => {
    const { requests, notes } = await db.find("patient").where({ fee: 5 }).rows().explain();
    expect([requests.map(({ times }) => times), notes]).toEqual([[1], []]);
  });

  test("an attribute beside the members of a change set", () => {
    expect(() => db.patient.update(ann, { set: { fee: 3 }, name: "x" } as never)).toThrow(/"name".*`set`/);
  });

  test("a batch of what has two copies gives the reason once", async () => {
    const message = await refusal(() => db.batch([db.treats.put(ann, { ...ann, id: "2" }, { at: "1" })]));
    expect(message.match(/copied/g)).toHaveLength(1);
  });

  test("a transaction of another connection's call", () => {
    const write = db.as({ tenantId: "t" }).patient.delete({ id: "1" });
    expect(() => db.transact([write])).toThrow(/another tenant/);
  });
});
