// npm run runtimes: see README.md beside this file.
//
//   node conformance/runtimes/run.mjs [node20|node22|node24|node26|bun|deno ...]
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, ".cache", "runtimes");
const modules = join(cache, "node_modules");
const longest = 5 * 60_000;

const platform = process.platform === "win32" ? "win" : process.platform;
const exe = process.platform === "win32" ? ".exe" : "";
const nodeOf = (major) => ({
  dependency: [`node${major}`, `npm:node-${platform}-${process.arch}@${major}`],
  find: () => [join(modules, `node${major}`, "bin", `node${exe}`)],
  args: [],
});
// Some processors have several packages of Bun: the first that runs is taken.
const inScope = (scope, path) => () =>
  existsSync(join(modules, scope)) ? readdirSync(join(modules, scope)).map((name) => join(modules, scope, name, path)) : [];

const runtimes = {
  node20: nodeOf(20),
  node22: nodeOf(22),
  node24: nodeOf(24),
  node26: nodeOf(26),
  bun: { dependency: ["bun", "^1"], find: inScope("@oven", `bin/bun${exe}`), args: [] },
  deno: { dependency: ["deno", "^2"], find: inScope("@deno", `deno${exe}`), args: ["run", "--allow-all"] },
};

const suites = ["transport.engine", "transport-faults"].map((name) => `packages/edgetable/src/transport/${name}.test.ts`);

/** Runs a program to its end; gives its output, its exit code and the seconds that it took. */
const run = (command, args, cwd = root) =>
  new Promise((resolve) => {
    const began = performance.now();
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      shell: command === "npm" && process.platform === "win32",
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), longest);
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const end = (code) => {
      clearTimeout(timer);
      resolve({ code, output, seconds: (performance.now() - began) / 1000 });
    };
    child.once("error", (error) => ((output += error.message), end(1)));
    child.once("close", end);
  });

const install = async (names) => {
  const missing = names.filter((name) => !runtimes[name].find().some(existsSync));
  if (missing.length === 0) return;
  console.log(`installing ${missing.join(", ")} into .cache/runtimes`);
  mkdirSync(cache, { recursive: true });
  const wanted = Object.entries(runtimes).filter(([name, { find }]) => names.includes(name) || find().some(existsSync));
  const dependencies = Object.fromEntries(wanted.map(([, { dependency }]) => dependency));
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies }));
  const { code, output } = await run(
    "npm",
    ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"],
    cache,
  );
  if (code !== 0) console.log(output);
};

/** The program of a runtime that starts on this machine, with its version. */
const startable = async (name) => {
  for (const program of runtimes[name].find().filter(existsSync)) {
    const { code, output } = await run(program, ["--version"]);
    const version = /\d+[.]\d+[.]\d+/.exec(output)?.[0];
    if (code === 0 && version !== undefined) return { program, version };
  }
  return undefined;
};

const runDemo = async (program, args) => {
  const { output, seconds, code } = await run(program, [...args, join(root, "examples/dist/demo.js")]);
  const [, passed = 0, all = 1] = /(\d+) of (\d+) patterns answered as expected/.exec(output) ?? [];
  const failed = Math.max(Number(all) - Number(passed), code === 0 ? 0 : 1);
  return { passed: Number(passed), failed, seconds, output };
};

const runSuites = async (program, args, name) => {
  const report = join(cache, `${name}.json`);
  rmSync(report, { force: true });
  const vitest = [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    ...suites,
    "--typecheck.enabled=false",
    "--reporter=json",
    `--outputFile=${report}`,
  ];
  const { output, seconds, code } = await run(program, [...args, ...vitest]);
  if (!existsSync(report)) return { passed: 0, failed: 1, seconds, output };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
  const told = testResults.flatMap(({ assertionResults, message }) => [
    message,
    ...assertionResults
      .filter(({ status }) => status === "failed")
      .flatMap(({ fullName, failureMessages }) => [fullName, ...failureMessages]),
  ]);
  const failed = Math.max(numFailedTests, code === 0 && numPassedTests > 0 ? 0 : 1);
  return { passed: numPassedTests, failed, seconds, output: `${output}\n${told.filter((text) => text !== "").join("\n")}` };
};

const given = process.argv.slice(2);
const unknown = given.find((name) => !(name in runtimes));
if (unknown !== undefined) {
  console.error(`runtimes: there is no runtime ${JSON.stringify(unknown)}; give one of ${Object.keys(runtimes).join(", ")}`);
  process.exit(2);
}
const names = given.length > 0 ? given : Object.keys(runtimes);
await install(names);

let [passed, failed] = [0, 0];
const cell = (result) => `${result.passed} of ${result.passed + result.failed}`.padStart(12) + result.seconds.toFixed(1).padStart(8);
console.log(`${"runtime".padEnd(18)}${"demo".padStart(12)}${"seconds".padStart(8)}${"transports".padStart(12)}${"seconds".padStart(8)}`);
for (const name of names) {
  const found = await startable(name);
  if (!found) {
    failed++;
    console.log(`${name.padEnd(18)}${"it cannot be installed or started here".padStart(40)}`);
    continue;
  }
  const { args } = runtimes[name];
  const demo = await runDemo(found.program, args);
  const suite = await runSuites(found.program, args, name);
  console.log(`${`${name.replace(/\d+$/, "")} ${found.version}`.padEnd(18)}${cell(demo)}${cell(suite)}`);
  for (const { failed: faults, output } of [demo, suite]) if (faults > 0) console.log(output.trim().split("\n").slice(-40).join("\n"));
  passed += demo.passed + suite.passed;
  failed += demo.failed + suite.failed;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
