import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownGraph } from "../../../../conformance/bad-input/models.ts";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import type { Transport } from "../transport/transport.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";

let engine: TestEngine;
beforeAll(async () => (engine = await openEngine()));
afterAll(() => engine.close());

const link = async (table: string, transport: Transport) => {
  const db = ownGraph(table).connect({ transport });
  await db.table.create();
  for (const courseId of ["C1", "C2"]) await db.course.put({ courseId });
  await db.student.put({ studentId: "S1", name: "Ann" });
  for (const courseId of ["C1", "C2"]) await db.enrolledIn.link({ studentId: "S1" }, { courseId }, { enrolledAt: "2024" });
  return db;
};

test("hooks, reports and errors do not show the secret that seals cursors", async () => {
  const table = engine.freshTableName("secret");
  await link(table, engine.transport);
  let secret = "";
  const shown: unknown[] = [];
  // The first write of the secret is refused in the service's name, the second one is made.
  let refusals = 1;
  const transport: Transport = {
    close: () => undefined,
    async send(operation, input, options) {
      if (operation === "UpdateItem" && JSON.stringify(input).includes("~secret")) {
        secret = (input as unknown as { ExpressionAttributeValues: { ":0": { S: string } } }).ExpressionAttributeValues[":0"].S;
        const request = { operation, input };
        if (refusals-- > 0) throw new EdgetableError("execute.accessDenied", "no", { request, cause: new Error(secret) });
      }
      return engine.transport.send(operation, input, options);
    },
  };
  const db = ownGraph(table).connect({ transport, onRequest: (sent) => void shown.push(sent) });
  const page = () => db.student({ studentId: "S1" }).out("enrolledIn").page({ limit: 1 });
  const error = (await page().then(undefined, (thrown: unknown) => thrown)) as EdgetableError;
  expect(secret).toHaveLength(43);
  expect(error).toMatchObject({ code: "execute.accessDenied", request: { operation: "UpdateItem" } });
  expect(error.message).toContain("connect({ cursorSecret })");
  expect(inspect([error, error.request, error.cause], { depth: 20 })).not.toContain(secret);
  const report = await page().report();
  const told = inspect([shown, report], { depth: 20 });
  expect(report.requests.map(({ operation }) => operation)).toContain("UpdateItem");
  expect(told).not.toContain(secret);
  expect(told).toContain("(secret)");
});
