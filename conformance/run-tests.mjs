// npm test: builds the programs that tests start, runs vitest, and ends with one line "N passed, N failed, N skipped".
//
//   node conformance/run-tests.mjs [--engine dynoxide|dynamodb-local] [--nightly] [vitest's own arguments: filters, -t NAME, ...]
//
// --nightly runs every test on both engines, with new seeds and ten times the random cases.
// EDGETABLE_BUILT=1 says that the working copy is built.
// Exit code 0 if at least one test ran and nothing failed: no test, type, import or unhandled error.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const engines = ["dynoxide", "dynamodb-local"];

const rest = process.argv.slice(2);
let engine = process.env.EDGETABLE_TEST_ENGINE || "dynoxide";
const engineAt = rest.findIndex((argument) => argument === "--engine" || argument.startsWith("--engine="));
if (engineAt !== -1) {
  const [, inline] = rest[engineAt].split("=");
  engine = inline ?? rest[engineAt + 1];
  rest.splice(engineAt, inline === undefined ? 2 : 1);
}
const nightlyAt = rest.indexOf("--nightly");
if (nightlyAt !== -1) rest.splice(nightlyAt, 1);
const nightly = nightlyAt !== -1;

if (!engines.includes(engine)) {
  console.error(`run-tests: there is no engine ${JSON.stringify(engine)}; give one of ${engines.join(", ")}`);
  process.exit(2);
}

/** Runs a program in the foreground. Resolves to its exit code, or 1 if a signal ended it. */
const run = (command, args, environment = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...environment },
      shell: process.platform === "win32",
    });
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => [signal, () => child.kill(signal)]);
    for (const [signal, pass] of signals) process.on(signal, pass);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const [name, pass] of signals) process.off(name, pass);
      resolve(signal === null ? (code ?? 1) : 1);
    });
  });

/** Runs vitest and counts its tests by its JSON report. A file that failed before its first test counts as one failed test. */
const runVitest = async (environment) => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-tests-"));
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const code = await run(
    process.execPath,
    [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...rest],
    environment,
  );
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    const broken = testResults.filter(
      ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
    );
    counts.passed = numPassedTests;
    counts.failed = numFailedTests + broken.length;
    counts.skipped = numPendingTests + numTodoTests;
  } catch {
    // No report: the exit code tells.
  }
  rmSync(folder, { recursive: true, force: true });
  // An unhandled error, a type error in a source file or an empty selection fails the run without a failed test.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
};

const total = { passed: 0, failed: 0, skipped: 0 };
if (!process.env.EDGETABLE_BUILT && (await run("npm", ["run", "--silent", "build"])) !== 0) {
  console.error("run-tests: the build failed (above); it counts as one failed test");
  total.failed++;
}
for (const name of nightly ? engines : [engine]) {
  const effort = nightly ? { EDGETABLE_EFFORT: "10", EDGETABLE_SEED: "" } : {};
  const { passed, failed, skipped } = await runVitest({ EDGETABLE_TEST_ENGINE: name, ...effort });
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
