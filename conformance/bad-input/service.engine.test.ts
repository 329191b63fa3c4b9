import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLeanTransport } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemEffects } from "../../packages/edgetable/src/executor/session.ts";
import { ownGraph } from "./models.ts";
import { openTables, type Tables } from "./open-tables.ts";
import { errorOf, scan } from "./refusal.ts";

let engine: Tables["engine"];
let own: Tables["own"];
let inOwn: Tables["inOwn"];

beforeAll(async () => {
  ({ engine, own, inOwn } = await openTables());
});
afterAll(() => engine.close());

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)));

describe("an engine that is not there", () => {
  test("is told by the first attempt, with how to start it: execute.connection", async () => {
    const transport = createLeanTransport({ endpoint: "http://127.0.0.1:1" });
    let slept = 0;
    const effects = { ...systemEffects, sleep: async () => void slept++ };
    const db = ownGraph(inOwn.name).connect({ transport, advanced: { effects } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    expect(error).toMatchObject({
      code: "execute.connection",
      retryable: false,
      details: { ambiguous: false },
      request: { operation: "GetItem" },
    });
    expect(error.message).toContain("nothing listens at 127.0.0.1:1. Start an engine there with `edgetable dev`");
    expect(slept).toBe(0);
  });

  test("and one that speaks http, asked by https, says so: execute.connection", async () => {
    const plain = createServer((request, response) => void request.resume().once("end", () => response.end("{}")));
    const endpoint = (await listen(plain)).replace("http:", "https:");
    const retry = { attempts: 1 };
    const db = ownGraph(inOwn.name).connect({
      endpoint,
      region: "us-east-1",
      retry,
      credentials: { accessKeyId: "A", secretAccessKey: "s" },
    });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    plain.closeAllConnections();
    plain.close();
    expect(error).toMatchObject({ code: "execute.connection", details: { ambiguous: false } });
    expect(error.message).toContain("http://");
    expect(error.message).not.toMatch(/SSL|openssl/);
  });

  test("and one that never answers ends at the deadline: execute.timeout", async () => {
    const silent = createServer(() => undefined);
    const endpoint = await listen(silent);
    const db = ownGraph(inOwn.name).connect({ endpoint, deadline: 200, requestTimeout: 50, retry: { baseDelay: 1 } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    silent.closeAllConnections();
    silent.close();
    expect(error).toMatchObject({ code: "execute.timeout", retryable: true });
  });

  test("a call whose signal is aborted ends: execute.aborted", async () => {
    const error = await errorOf(() => own.student.create({ studentId: "never", name: "x" }).run({ signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "execute.aborted", retryable: false });
    expect((await scan(inOwn)).join()).not.toContain("never");
  });
});

test.each([
  ["GetItem", (db: Tables["own"]) => db.student.get({ studentId: "S1" })],
  ["BatchGetItem", (db: Tables["own"]) => db.student.getMany([{ studentId: "S1" }])],
  ["TransactWriteItems", (db: Tables["own"]) => db.transact([db.course.put({ courseId: "a" }), db.course.put({ courseId: "b" })])],
])("a table that is not there is named: execute.tableNotFound (%s)", async (operation, call) => {
  const db = ownGraph(`${inOwn.name}-gone`).connect({ transport: inOwn.transport });
  const error = await errorOf(() => call(db));
  expect(error).toMatchObject({ code: "execute.tableNotFound", request: { operation } });
  expect(error.message).toContain(`"${inOwn.name}-gone"`);
});

describe("credentials", () => {
  /** A service that refuses every request in DynamoDB's own words. */
  const refusing = async (
    type: string,
    message: string,
  ): Promise<{ readonly endpoint: string; readonly asked: () => number; close(): void }> => {
    let asked = 0;
    const server = createServer((request, response) => {
      request.resume().once("end", () => {
        asked++;
        response
          .writeHead(400, { "content-type": "application/x-amz-json-1.0" })
          .end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message }));
      });
    });
    const endpoint = await listen(server);
    return { endpoint, asked: () => asked, close: () => server.closeAllConnections() ?? server.close() };
  };
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "very-secret", sessionToken: "old-token" };

  test.each([
    ["that have expired", "ExpiredTokenException", "The security token included in the request is expired", "execute.expiredCredentials"],
    ["of someone unknown", "UnrecognizedClientException", "The security token included in the request is invalid.", "execute.credentials"],
    ["that may not do this", "AccessDeniedException", "User is not authorized to perform: dynamodb:PutItem", "execute.accessDenied"],
  ])("%s: nothing is sent twice, and no secret is in the error (%s)", async (...[, type, message, code]) => {
    const service = await refusing(type, message);
    const db = ownGraph(inOwn.name).connect({ endpoint: service.endpoint, credentials });
    const error = await errorOf(() => db.student.create({ studentId: "S9", name: "x" }));
    await db.close();
    service.close();
    expect(error).toMatchObject({ code, retryable: false, details: { fault: type } });
    expect(error.message).toContain(message);
    expect(service.asked()).toBe(1);
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toMatch(/very-secret|old-token/);
  });

  test("that a provider renews: the call asks it again", async () => {
    const service = await refusing("ExpiredTokenException", "expired");
    let given = 0;
    const provider = async () => ({ ...credentials, sessionToken: `token-${++given}` });
    const db = ownGraph(inOwn.name).connect({ endpoint: service.endpoint, credentials: provider, retry: { attempts: 3, baseDelay: 1 } });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    service.close();
    expect(error).toMatchObject({ code: "execute.expiredCredentials", retryable: true });
    expect(given).toBe(3);
  });

  test("that are not there at all: execute.credentials, before anything is sent", async () => {
    const db = ownGraph(inOwn.name).connect({ endpoint: "http://127.0.0.1:1", credentials: () => Promise.reject(new Error("no profile")) });
    const error = await errorOf(() => db.student.get({ studentId: "S1" }));
    await db.close();
    expect(error).toMatchObject({ code: "execute.credentials", retryable: false });
    expect(error.message).toContain("no profile");
  });
});
