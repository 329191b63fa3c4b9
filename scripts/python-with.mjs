import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const works = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

/**
 * A Python with a package from PyPI, in a virtual environment that is made once.
 *
 * @param venv the environment's folder
 * @param wanted the package with its version, and a module of it
 * @param skip is told why there is none
 * @returns the path of the interpreter; undefined after `skip` was told
 */
export const pythonWith = (venv, { requirement, module }, skip) => {
  const python = join(venv, "bin", "python");
  if (existsSync(python) && works(python, "-c", `import ${module}`)) return python;
  if (!works("python3", "--version")) return skip("there is no python3.");
  rmSync(venv, { recursive: true, force: true });
  if (!works("python3", "-m", "venv", venv)) return skip("python3 cannot make a virtual environment (Debian: python3-venv).");
  const pip = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement], { encoding: "utf8" });
  if (pip.status === 0) return python;
  rmSync(venv, { recursive: true, force: true });
  return skip(`pip cannot install ${requirement}: ${pip.stderr.trim().split("\n").at(-1)}`);
};
