import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLeanTransport } from "edgetable";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { findOnPath } from "./binary.ts";
import { startEngine } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "edgetable-ddb-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

// What `npm run test:dynamodb-local` has fetched.
const jar = fileURLToPath(new URL("../../../.cache/dynamodb-local/2.6.1/jars/DynamoDBLocal-2.6.1.jar", import.meta.url));
const canRun = findOnPath("java") !== undefined && existsSync(jar);

const listening = (port: string): string => execFileSync("ss", ["-Hltn", `sport = :${port}`], { encoding: "utf8" });

describe.skipIf(!canRun)("DynamoDB Local (skipped where there is no Java, or `npm run test:dynamodb-local` has not fetched it)", () => {
  test("starts on loopback, behind the same protection from web pages, and leaves no process and no file", async () => {
    vi.stubEnv("TMPDIR", folder);
    const engine = await startEngine({ engine: "dynamodb-local", jar });
    expect(engine).toMatchObject({ engine: "dynamodb-local", endpoint: `http://127.0.0.1:${engine.port}` });
    const transport = createLeanTransport({ endpoint: engine.endpoint });
    expect(await transport.send("ListTables", {})).toEqual({ TableNames: [] });
    await transport.close();
    expect((await fetch(engine.endpoint, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const { port } = new URL(engine.bareEndpoint);
    expect(listening(port)).toMatch(/ \S*127\.\d+\.\d+\.\d+\]?:\d+ /);
    expect(listening(port)).not.toMatch(/ (?:\*|0\.0\.0\.0|\[::\]):\d+ +\S*:\*\s*$/);
    await engine.stop();
    expect(() => process.kill(engine.pid, 0)).toThrow("ESRCH");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a jar that is none ends with Java's own words", async () => {
    const wrong = join(folder, "DynamoDBLocal.jar");
    writeFileSync(wrong, "no jar");
    await expect(startEngine({ engine: "dynamodb-local", jar: wrong })).rejects.toMatchObject({
      code: "local.engineFailed",
      message: expect.stringMatching(/DynamoDB Local .*DynamoDBLocal\.jar\) ended with exit code 1\. Its last lines:\n[^]*error/) as string,
    });
  });
});

test("without Java and Docker the error says what would do", async () => {
  vi.stubEnv("PATH", folder);
  await expect(startEngine({ engine: "dynamodb-local" })).rejects.toMatchObject({
    code: "local.engineNotFound",
    message: expect.stringMatching(/needs a JDK 17 or Docker, and neither `java` nor `docker` is on PATH/) as string,
  });
});

test("with Java alone it says where a jar comes from", async () => {
  writeFileSync(join(folder, "java"), "#!/bin/sh\n", { mode: 0o755 });
  vi.stubEnv("PATH", folder);
  await expect(startEngine({ engine: "dynamodb-local" })).rejects.toMatchObject({
    code: "local.engineNotFound",
    message: expect.stringMatching(/Java is installed, but DynamoDB Local is not.*--jar.*Maven.*Docker/) as string,
  });
  await expect(startEngine({ engine: "dynamodb-local", jar: join(folder, "none.jar") })).rejects.toMatchObject({
    code: "local.engineFailed",
    message: expect.stringContaining("give the path of DynamoDBLocal.jar") as string,
  });
});

test("options that do not go together are refused", async () => {
  for (const options of [
    { engine: "dynamodb-local", file: "x.db" },
    { engine: "dynamodb-local", binary: "dynoxide" },
    { jar: "x.jar" },
    { engine: "other" as "dynoxide" },
    { sweepEvery: 1 },
    { allowOrigins: ["http://localhost:5173/"] },
    { allowHosts: ["localhost:80"] },
  ] as const)
    await expect(startEngine(options)).rejects.toMatchObject({ code: "plan.invalidOption" });
});
