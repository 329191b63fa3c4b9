import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJiti } from "jiti";
import { startEngine } from "@edgetable/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bin, createFolder, educationModel, type Folder } from "./test-support/lab.ts";

// The built program in a process of its own: what the tests beside it cannot see.
let folder: Folder;
beforeAll(() => {
  folder = createFolder({ "edgetable.ts": educationModel });
});
afterAll(() => folder.remove());

const start = (...argv: readonly string[]) => spawnSync(process.execPath, [bin, ...argv], { cwd: folder.path, encoding: "utf8" });

test("prints its answer and returns its exit code", () => {
  expect(start("--version")).toMatchObject({ status: 0, stdout: "0.1.0\n", stderr: "" });
  expect(start("explain", "recentCourses")).toMatchObject({ status: 0, stdout: expect.stringContaining("gsi2pk = ") });
  expect(start("explain", "nothing")).toMatchObject({ status: 2, stdout: "" });
  expect(start("get", "student", "S1", "--endpoint", "http://127.0.0.1:1")).toMatchObject({ status: 4, stdout: "" });
});

test("a model's output does not appear in the answer", () => {
  folder.write("loud.ts", `console.log("loud");\nconsole.info("louder");\n${educationModel}`);
  const { status, stdout, stderr } = start("patterns", "--model", "loud.ts", "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "loud\nlouder\n" });
  expect(JSON.parse(stdout)).toHaveLength(2);
});

test.each([
  ["in a timer", 'setTimeout(() => { throw new Error("too late"); }, 1);'],
  ["in a promise that nobody awaits", 'void Promise.resolve().then(() => { throw new Error("too late"); });'],
])("an error that the model throws %s is told as every other, without a stack", (_, code) => {
  folder.write("late.ts", `${educationModel}\n${code}\n`);
  const { status, stderr } = start("patterns", "--model", "late.ts");
  expect(status).toBe(3);
  expect(stderr).toMatch(/^error: The model threw an error that nothing catches, [^]*too late \(\S+late\.ts:\d+\)\. Catch it there\.\n/);
  expect(stderr).toMatch(/\n {2}cli\.modelUnreadable · \S+\n$/);
  const { error } = JSON.parse(start("patterns", "--model", "late.ts", "--json").stderr) as { readonly error: { readonly code: string } };
  expect(error.code).toBe("cli.modelUnreadable");
});

describe("compiled models", () => {
  const patterns = (model: string, temporary: string) =>
    spawnSync(process.execPath, [bin, "patterns", "--model", model, "--json"], {
      cwd: folder.path,
      encoding: "utf8",
      env: { ...process.env, TMPDIR: temporary, TMP: temporary, TEMP: temporary },
    });
  // A cached file that keeps the seal of the source it was made of, and does something else.
  const plant = (cache: string): void => {
    for (const name of readdirSync(cache)) {
      const text = readFileSync(join(cache, name), "utf8");
      writeFileSync(join(cache, name), `console.error("planted");\n${text}`);
    }
  };

  test("are neither read from nor written to the shared temporary folder", async () => {
    folder.write("deep/model.ts", educationModel);
    const temporary = join(folder.path, "tmp");
    const shared = join(temporary, "jiti");
    mkdirSync(shared, { recursive: true });
    // What the model's compiler would find there, had another account put it there first.
    await createJiti(join(folder.path, "deep/model.ts"), { fsCache: shared, interopDefault: true, moduleCache: false }).import(
      join(folder.path, "deep/model.ts"),
    );
    plant(shared);
    const before = readdirSync(shared);
    expect(before).not.toEqual([]);
    expect(patterns("deep/model.ts", temporary)).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(temporary)).toEqual(["jiti"]);
    expect(readdirSync(shared)).toEqual(before);
  });

  test.skipIf(process.platform === "win32")("are kept in the project, if no other account can write there (skipped on Windows)", () => {
    const project = createFolder({ "package.json": "{}", "project/src/model.ts": educationModel });
    const cache = join(project.path, "project", "node_modules", ".cache", "edgetable");
    const ask = () => spawnSync(process.execPath, [bin, "patterns", "--json"], { cwd: join(project.path, "project"), encoding: "utf8" });
    try {
      expect(ask()).toMatchObject({ status: 0, stderr: "" });
      expect(existsSync(cache), "no node_modules, no cache").toBe(false);
      mkdirSync(join(project.path, "project", "node_modules"), { mode: 0o755 });
      expect(ask()).toMatchObject({ status: 0, stderr: "" });
      expect(readdirSync(cache)).not.toEqual([]);
      expect(statSync(cache).mode & 0o777).toBe(0o700);
      plant(cache);
      expect(ask(), "the cache is used").toMatchObject({ status: 0, stderr: expect.stringContaining("planted") });
      for (const open of [cache, join(cache, ".."), join(cache, "..", "..")]) {
        const mode = statSync(open).mode & 0o777;
        chmodSync(open, 0o777);
        expect(ask(), `others may write to ${open}`).toMatchObject({ status: 0, stderr: "" });
        chmodSync(open, mode);
      }
    } finally {
      project.remove();
    }
  });
});

test("a model that never finishes is reported", () => {
  folder.write("stuck.ts", `await new Promise(() => {});\n${educationModel}`);
  expect(start("check", "--model", "stuck.ts")).toMatchObject({
    status: 3,
    stdout: "",
    stderr:
      "error: stuck.ts cannot be read: its top-level await never resolves.\n  cli.modelUnreadable · docs/errors.md#climodelunreadable\n",
  });
});

test("a schema that never answers is reported", () => {
  folder.write("silent.ts", educationModel.replace("name: z.string(), year", "name: z.string().refine(() => new Promise(() => {})), year"));
  folder.write("row.ndjson", '{"node":"student","row":{"studentId":"S1","name":"Ann"}}\n');
  const { status, stdout, stderr } = start("load", "row.ndjson", "--model", "silent.ts", "--endpoint", "http://127.0.0.1:1");
  expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
  expect(stderr).toMatch(
    /^error: The command cannot end: it waits for a promise that never resolves, such as that of an asynchronous schema/m,
  );
});

test("a reader that closes the pipe early is not an error", () => {
  const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", `"${process.execPath}" "${bin}" --help | head -1`], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

const inShell = (script: string) => {
  const command = `"${process.execPath}" "${bin}"`;
  return spawnSync("bash", ["-c", script.replaceAll("edgetable", command)], { cwd: folder.path, encoding: "utf8" });
};

test("a reader that closes the pipe early does not change what a command found", () => {
  folder.write("unplanned.ts", educationModel.replace('.in("enrolledIn").entries()', '.in("enrolledIn").using("none").entries()'));
  for (const argv of ["patterns", "check", "patterns --json"]) {
    const { status, stderr } = inShell(`set -o pipefail; edgetable ${argv} --model unplanned.ts | true`);
    expect({ argv, status, stderr: stderr.includes("error") }).toEqual({ argv, status: 1, stderr: false });
  }
});

test("a dump ends with its reader", async () => {
  await using engine = await startEngine();
  const at = ["--endpoint", engine.bareEndpoint];
  const rows = Array.from({ length: 3000 }, (_, place) =>
    JSON.stringify({ node: "student", row: { studentId: `S${place}`, name: "x".repeat(200) } }),
  );
  folder.write("many.ndjson", rows.join("\n"));
  expect(start("table", "create", ...at).status).toBe(0);
  expect(start("load", "many.ndjson", ...at).status).toBe(0);
  const { status, stdout, stderr } = inShell(`set -o pipefail; edgetable dump ${at.join(" ")} | head -1`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ node: "student" });
});

describe.skipIf(!existsSync("/dev/full"))("a full disk (skipped where there is no /dev/full)", () => {
  const told = "error: Standard output cannot be written: the disk is full. The output is incomplete.\n";

  test.each(["--version", "--help", "patterns", "completion bash"])("under the answer of %s exits with 74", (argv) => {
    const { status, stderr } = inShell(`edgetable ${argv} > /dev/full`);
    expect({ status, stderr }).toEqual({ status: 74, stderr: expect.stringContaining(told) });
    expect(stderr).toContain("cli.output · docs/errors.md#clioutput");
    expect(stderr).not.toContain("    at ");
  });

  test("under a JSON answer is reported as JSON", () => {
    const { status, stderr } = inShell("edgetable patterns --json > /dev/full");
    expect(status).toBe(74);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "cli.output", details: { output: "Standard output" } } });
  });

  test("under the notes has no effect", () => {
    expect(inShell("edgetable patterns 2> /dev/full")).toMatchObject({ status: 0, stdout: expect.stringContaining("studentsOfCourse") });
  });
});

const mounts: string[] = [];
afterAll(() => {
  for (const path of mounts) spawnSync("umount", ["-l", path]);
});
/** A disk of its own in a folder of the tests; undefined where this user cannot mount one. */
const mountDisk = (name: string, options: string): string | undefined => {
  const path = mkdtempSync(join(tmpdir(), name));
  if (spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]).status !== 0) return undefined;
  mounts.push(path);
  return path;
};
const [readOnly, small] = [mountDisk("read-only-", "ro"), mountDisk("small-", "size=16k")];

describe.skipIf(!readOnly || !small)("a disk that cannot be written to (skipped where this user cannot mount one)", () => {
  test.each([
    ["init project", /error: .*: the disk is read-only/, 74],
    ["dev --file graph/dev.db", /The lock .* cannot be written: EROFS/, 4],
  ])("%s on a read-only one says so", (argv, told, status) => {
    const answer = spawnSync(process.execPath, [bin, ...argv.split(" ")], { cwd: readOnly, encoding: "utf8" });
    expect(answer).toMatchObject({ status, stderr: expect.stringMatching(told) });
    expect(answer.stderr).toMatch(/read-only/);
  });

  test("a project is created whole or not at all", () => {
    const answer = spawnSync(process.execPath, [bin, "init", "project"], { cwd: small, encoding: "utf8" });
    expect(answer).toMatchObject({ status: 74, stderr: expect.stringContaining("the disk is full") });
    expect(answer.stderr).toContain("cli.output · docs/errors.md#clioutput");
    expect(readdirSync(small ?? "")).toEqual([]);
  });
});

test("a command that waits for standard input ends with the first Ctrl-C", async () => {
  for (const argv of ["load - --format ndjson", "load - --format json", "load - --format csv --node student"]) {
    const child = spawn(process.execPath, [bin, ...argv.split(" "), "--endpoint", "http://127.0.0.1:1"], {
      cwd: folder.path,
      stdio: ["pipe", "ignore", "pipe"],
    });
    const said: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // More than a pipe holds: once all is written, the command reads.
    child.stdin.on("error", () => undefined).write(" ".repeat(1 << 20), () => child.kill("SIGINT"));
    const late = setTimeout(() => child.kill("SIGKILL"), 15_000);
    expect([argv, await ended]).toEqual([argv, 130]);
    clearTimeout(late);
    expect(Buffer.concat(said).toString()).not.toContain("bug");
  }
});

test.skipIf(process.platform === "win32")("an answer that is written only in part is reported (skipped on Windows)", () => {
  const { status, stderr } = inShell("ulimit -f 1; edgetable --help > help.txt");
  expect({ status, stderr }).toEqual({ status: 74, stderr: expect.stringContaining("error: Standard output cannot be written: ") });
  expect(statSync(join(folder.path, "help.txt")).size).toBeLessThanOrEqual(1024);
});

test("closing standard error early does not stop a command", () => {
  const { status, stdout } = spawnSync("bash", ["-c", `"${process.execPath}" "${bin}" patterns 2> >(true); echo "ended with $?"`], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/studentsOfCourse[^]*ended with 0\n$/) });
});

test("the variable that dev prints is the only configuration that other programs need", async () => {
  const child = spawn(process.execPath, [bin, "dev", "--memory"], { cwd: folder.path, stdio: ["ignore", "pipe", "pipe"] });
  const banner = await new Promise<string>((resolve) => child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())));
  const [, name = "", endpoint = ""] = /(?:export |\$env:)(\w+) ?= ?"?(http:[\d./:]+)/.exec(banner) ?? [];
  const environment = { PATH: process.env["PATH"], HOME: folder.path, USERPROFILE: folder.path, [name]: endpoint };
  const edgetable = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [bin, ...argv], { cwd: folder.path, encoding: "utf8", env: environment });
  expect(edgetable("table", "diff")).toMatchObject({ status: 0, stdout: expect.stringContaining("matches the model") });
  folder.write(
    "script.mjs",
    `import { createJiti } from "jiti";
const { education } = await createJiti(import.meta.url).import("./edgetable.ts");
const db = education.connect();
await db.student.create({ studentId: "S7", name: "Gil" });
console.log((await db.student.get({ studentId: "S7" })).name);
await db.close();`,
  );
  expect(spawnSync(process.execPath, ["script.mjs"], { cwd: folder.path, encoding: "utf8", env: environment })).toMatchObject({
    stderr: "",
    stdout: "Gil\n",
  });
  expect(edgetable("get", "student", "S7")).toMatchObject({ status: 0, stdout: expect.stringContaining("Gil") });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  const after = edgetable("get", "student", "S7");
  expect(after).toMatchObject({ status: 4, stderr: expect.stringMatching(/nothing listens at 127\.0\.0\.1:\d+\.\s+Start\s+an\s+engine/) });
});

test.each(["SIGINT", "SIGTERM"] as const)("dev exits with 0 on %s and leaves no engine running", async (signal) => {
  const child = spawn(process.execPath, [bin, "dev", "--memory", "--json"], { cwd: folder.path, stdio: ["ignore", "pipe", "pipe"] });
  const ready = JSON.parse(
    await new Promise<string>((resolve) => child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()))),
  ) as { readonly pid: number };
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  child.kill(signal);
  expect(await ended).toBe(0);
  expect(() => process.kill(ready.pid, 0)).toThrow("ESRCH");
});
