// npm run test:spark: every batch job on Apache Spark, compared with DuckDB value by value: over generated graphs, over the systems
// of the demo, and over the dependencies of this repository. Takes files of tests, to run only those.
// --install only makes the Python.
//
// Takes the Python that EDGETABLE_PYTHON names, or makes one with pyspark from PyPI in .cache/spark (518 MB, once). Where there
// is no Python or Java, it says so, and the tests compare DuckDB with the library's own calls only, or are skipped.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pythonWith } from "./python-with.mjs";

const root = join(import.meta.dirname, "..");
const skip = (reason) => console.log(`Tests on Spark are skipped: ${reason}`);

const findPython = () => {
  if (process.env.EDGETABLE_PYTHON) return process.env.EDGETABLE_PYTHON;
  if (spawnSync("java", ["-version"], { stdio: "ignore" }).status !== 0) return skip("there is no Java; Spark 4 needs 17 or newer.");
  return pythonWith(join(root, ".cache", "spark"), { requirements: ["pyspark==4.3.0"], module: "pyspark" }, skip);
};

const python = findPython();
const given = process.argv.slice(2);
if (given[0] === "--install") process.exit(0);
const files = given.length > 0 ? given : ["packages/analytics", "examples/batch-jobs"];
const args = [join(root, "conformance", "run-tests.mjs"), ...files, "-t", "Spark|Python"];
// Each test starts a Spark of its own for a few seconds. Without the second compiler that takes less than half of the time.
const JDK_JAVA_OPTIONS = process.env.JDK_JAVA_OPTIONS ?? "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
const { status } = spawnSync(process.execPath, args, {
  stdio: "inherit",
  env: { ...process.env, JDK_JAVA_OPTIONS, ...(python ? { EDGETABLE_PYTHON: python } : {}) },
});
process.exit(status ?? 1);
