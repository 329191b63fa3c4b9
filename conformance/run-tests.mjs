// npm test: builds what the tests start as a program, runs vitest, and closes with one line "N passed, N failed, N skipped".
//
//   node conformance/run-tests.mjs [--engine dynoxide|dynamodb-local] [vitest's own arguments: filters, -t NAME, ...]
//
// Takes: the environment (EDGETABLE_SEED, EDGETABLE_RUNS, ...) and hands it on, with EDGETABLE_TEST_ENGINE set.
// Gives: exit code 0 where at least one test ran and nothing failed: no test, no type, no import, no unhandled error.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const engines = ["dynoxide", "dynamodb-local"];

const readArguments = (given) => {
  const at = given.findIndex((argument) => argument === "--engine" || argument.startsWith("--engine="));
  if (at === -1) return { engine: process.env.EDGETABLE_TEST_ENGINE || "dynoxide", rest: given };
  const inline = given[at].split("=")[1];
  return { engine: inline ?? given[at + 1], rest: given.toSpliced(at, inline === undefined ? 2 : 1) };
};

/** Runs a program of node_modules in the foreground; resolves to its exit code, 1 where a signal ended it. */
const run = (program, args, environment = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "node_modules", program), ...args], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...environment },
    });
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => [signal, () => child.kill(signal)]);
    for (const [signal, pass] of signals) process.on(signal, pass);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const [name, pass] of signals) process.off(name, pass);
      resolve(signal === null ? (code ?? 1) : 1);
    });
  });

/** What vitest's JSON report counts. A file that failed before its first test counts as one failed test. */
const readReport = (path) => {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(readFileSync(path, "utf8"));
    const files = testResults.filter(
      ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
    );
    return { passed: numPassedTests, failed: numFailedTests + files.length, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
};

const runVitest = async (engine, rest) => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-tests-"));
  const report = join(folder, "report.json");
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...rest];
  const code = await run("vitest/vitest.mjs", args, { EDGETABLE_TEST_ENGINE: engine });
  const counts = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  // An unhandled error, a type error in a source file or an empty selection fails the run, and no test is to blame.
  return { ...counts, failed: code === 0 ? counts.failed : Math.max(1, counts.failed) };
};

const { engine, rest } = readArguments(process.argv.slice(2));
if (!engines.includes(engine)) {
  console.error(`run-tests: there is no engine ${JSON.stringify(engine)}; give one of ${engines.join(", ")}`);
  process.exit(2);
}

const buildCode =
  (await run("typescript/bin/tsc", [
    "-b",
    "packages/edgetable",
    "packages/local",
    "packages/testing",
    "packages/create-edgetable",
    "packages/cli",
    "examples",
  ])) ||
  (await run("../scripts/bundle-library.mjs", [])) ||
  (await run("../scripts/bundle-commonjs.mjs", []));
if (buildCode !== 0) console.error("run-tests: the build failed (above); it counts as one failed test");
const counts = await runVitest(engine, rest);
const failed = counts.failed + (buildCode === 0 ? 0 : 1);
console.log(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed === 0 && counts.passed > 0 ? 0 : 1;
