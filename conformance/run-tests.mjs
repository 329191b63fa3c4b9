// npm test: builds the programs that tests start, runs vitest, and ends with one line "N passed, N failed, N skipped".
//
//   node conformance/run-tests.mjs [--engine dynoxide|dynamodb-local] [--nightly] [vitest's own arguments: filters, -t NAME, ...]
//
// --nightly runs with new seeds and ten times the random cases, every test on both engines unless one is named. `npm run
// test:nightly` runs it with everything else (.ci/run --nightly).
// EDGETABLE_BUILT=1 says that the working copy is built. EDGETABLE_SECOND_TRY=1 runs files that failed once more, one at a time,
// and names the tests that passed only then: each is a defect, of the test or of what it tests, and fails no run on a busy machine.
// Exit code 0 if at least one test ran and nothing failed: no test, type, import or unhandled error.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

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

const nothing = { passed: 0, failed: 0, skipped: 0 };
const add = (one, other) => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
});

/** Counts the tests of one file of vitest's report. A file that failed before its first test counts as one failed test. */
const countFile = ({ status, assertionResults }) => {
  const countOf = (...states) => assertionResults.filter((test) => states.includes(test.status)).length;
  const failed = countOf("failed");
  return {
    passed: countOf("passed"),
    failed: status === "failed" ? Math.max(1, failed) : failed,
    skipped: countOf("pending", "skipped", "todo", "disabled"),
  };
};

/** Runs vitest. Resolves to its exit code, and the files of its JSON report. */
const runVitest = async (args, environment) => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-tests-"));
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const code = await run(
    process.execPath,
    [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...args],
    environment,
  );
  let files = [];
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    // No report: the exit code tells.
  }
  rmSync(folder, { recursive: true, force: true });
  return { code, files };
};

const failedIn = ({ assertionResults }) => assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);

/** Runs and counts all tests, those of failed files twice if that is wanted. */
const countTests = async (environment) => {
  const first = await runVitest(rest, environment);
  printSlowest(first.files);
  const failed = first.files.filter((file) => countFile(file).failed > 0);
  const counted = new Map(first.files.map((file) => [file.name, countFile(file)]));
  let { code } = first;
  // Many failures have one cause, which a second try does not remove.
  if (process.env.EDGETABLE_SECOND_TRY === "1" && failed.length > 0 && failed.length <= 5) {
    const second = await runVitest([...failed.map(({ name }) => relative(root, name)), "--maxWorkers=1"], environment);
    for (const file of second.files) counted.set(file.name, countFile(file));
    const better = failed.filter(({ name }) => counted.get(name).failed === 0);
    for (const file of better)
      for (const test of failedIn(file)) console.log(`\nPassed at the second try only: ${relative(root, file.name)} > ${test}`);
    // An unhandled error of the first run, which no file tells of, is forgiven with it.
    if (better.length === failed.length && second.code === 0) code = 0;
  }
  const counts = [...counted.values()].reduce(add, nothing);
  // An unhandled error, a type error in a source file or an empty selection fails the run without a failed test.
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
};

/** Prints the files that took longest: files run side by side, and wait for engines and processes. */
const printSlowest = (files, shown = 12) => {
  const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000;
  const sorted = files.filter((file) => seconds(file) >= 1).toSorted((one, other) => seconds(other) - seconds(one));
  if (sorted.length === 0) return;
  const all = files.reduce((sum, file) => sum + seconds(file), 0);
  console.log(`\nThe slowest of ${files.length} files, which took ${all.toFixed(0)} s together:`);
  for (const file of sorted.slice(0, shown)) console.log(`${seconds(file).toFixed(1).padStart(7)} s  ${relative(root, file.name)}`);
};

let total = nothing;
if (!process.env.EDGETABLE_BUILT && (await run("npm", ["run", "--silent", "build"])) !== 0) {
  console.error("run-tests: the build failed (above); it counts as one failed test");
  total = { ...total, failed: 1 };
}
for (const name of nightly && engineAt === -1 ? engines : [engine]) {
  const effort = nightly ? { EDGETABLE_EFFORT: "10", EDGETABLE_SEED: "" } : {};
  total = add(total, await countTests({ EDGETABLE_TEST_ENGINE: name, ...effort }));
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
