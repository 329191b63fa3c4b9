import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, educationModel, run, type Folder } from "./test-support/lab.ts";

let folder: Folder;
let server: Server;
let fault = "";
const endpoint = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  folder = createFolder({ "edgetable.ts": educationModel });
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(400, { "content-type": "application/x-amz-json-1.0", date: new Date().toUTCString() });
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${fault}`, message: "as the service puts it" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  folder.remove();
  server.close();
});

const calls: readonly (readonly string[])[] = [["get", "student", "S1"], ["query", "student", "S1"], ["table", "diff"], ["dump"]];

test.each([
  ["ExpiredTokenException", "execute.expiredCredentials", "aws sso login"],
  ["UnrecognizedClientException", "execute.credentials", "AWS_ACCESS_KEY_ID"],
  ["AccessDeniedException", "execute.accessDenied", "--profile"],
])("%s exits with 4, suggests a remedy and shows no stack", async (name, code, mend) => {
  fault = name;
  for (const argv of calls) {
    const ran = await run([...argv, "--endpoint", endpoint()], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 4, out: "" });
    for (const words of ["as the service puts it", code, mend, `docs/errors.md#${code.toLowerCase().replace(".", "")}`])
      expect(ran.err).toContain(words);
    expect(ran.err).not.toContain("    at ");
  }
});

test("a missing table is reported with the command that creates it", async () => {
  fault = "ResourceNotFoundException";
  expect(await run(["get", "student", "S1", "--endpoint", endpoint()], { cwd: folder.path })).toMatchObject({
    code: 4,
    err: expect.stringContaining("`edgetable table create` creates it"),
  });
});

test("a missing engine is reported within seconds", async () => {
  for (const argv of calls) {
    const started = Date.now();
    const ran = await run([...argv, "--endpoint", "http://127.0.0.1:1"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 4, out: "", err: expect.stringContaining("execute.connection") });
    expect(ran.err).toContain("Start an engine there with `edgetable dev`");
    // Well before the 30 s that a call has elsewhere, however busy the machine.
    expect(Date.now() - started).toBeLessThan(25_000);
  }
});

test("plain HTTP to another machine is rejected before sending", async () => {
  expect(await run(["get", "student", "S1", "--endpoint", "http://example.com"], { cwd: folder.path })).toMatchObject({
    code: 2,
    err: expect.stringContaining("unencrypted"),
  });
});

test("uses the environment's endpoint by default", async () => {
  fault = "AccessDeniedException";
  expect(await run(["get", "student", "S1"], { cwd: folder.path, env: { AWS_ENDPOINT_URL_DYNAMODB: endpoint() } })).toMatchObject({
    code: 4,
    err: expect.stringContaining("execute.accessDenied"),
  });
});
