// npm run test:spark: every batch job on Apache Spark, compared with DuckDB value by value: over generated graphs, over the systems
// of the demo, and over the dependencies of this repository.
//
// Takes the Python that EDGETABLE_PYTHON names, or makes one with pyspark from PyPI in .cache/spark (518 MB, once). Where there
// is no Python or Java, it says so, and the tests compare DuckDB with the library's own calls only, or are skipped.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const venv = join(root, ".cache", "spark");
const pyspark = "pyspark==4.3.0";

const works = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const skip = (reason) => console.log(`Tests on Spark are skipped: ${reason}`);

/** A Python with pyspark, or undefined after saying why there is none. */
const findPython = () => {
  const given = process.env.EDGETABLE_PYTHON;
  if (given) return given;
  if (!works("java", "-version")) return skip("there is no Java; Spark 4 needs 17 or newer.");
  const python = join(venv, "bin", "python");
  if (existsSync(python) && works(python, "-c", "import pyspark")) return python;
  if (!works("python3", "--version")) return skip("there is no python3.");
  rmSync(venv, { recursive: true, force: true });
  if (!works("python3", "-m", "venv", venv)) return skip("python3 cannot make a virtual environment (Debian: python3-venv).");
  const pip = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", pyspark], { encoding: "utf8" });
  if (pip.status === 0) return python;
  rmSync(venv, { recursive: true, force: true });
  return skip(`pip cannot install ${pyspark}: ${pip.stderr.trim().split("\n").at(-1)}`);
};

const python = findPython();
const args = [join(root, "conformance", "run-tests.mjs"), "packages/analytics", "examples/batch-jobs", "-t", "Spark|Python"];
// Each test starts a Spark of its own for a few seconds. Without the second compiler that takes less than half of the time.
const JDK_JAVA_OPTIONS = process.env.JDK_JAVA_OPTIONS ?? "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
const { status } = spawnSync(process.execPath, args, {
  stdio: "inherit",
  env: { ...process.env, JDK_JAVA_OPTIONS, ...(python ? { EDGETABLE_PYTHON: python } : {}) },
});
process.exit(status ?? 1);
