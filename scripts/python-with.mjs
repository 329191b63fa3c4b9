import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const works = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

/**
 * A Python with a package from PyPI, in a virtual environment that is made once. Modules are compiled when they are imported:
 * most never are.
 *
 * @param venv the environment's folder
 * @param wanted the packages as pip takes them, and a module of the first
 * @param skip is told why there is none
 * @returns the path of the interpreter; undefined after `skip` was told
 */
export const pythonWith = (venv, { requirements, module }, skip) => {
  const python = join(venv, "bin", "python");
  if (existsSync(python) && works(python, "-c", `import ${module}`)) return python;
  if (!works("python3", "--version")) return skip("there is no python3.");
  rmSync(venv, { recursive: true, force: true });
  if (!works("python3", "-m", "venv", venv)) return skip("python3 cannot make a virtual environment (Debian: python3-venv).");
  const pip = spawnSync(python, ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", ...requirements], {
    encoding: "utf8",
  });
  if (pip.status === 0) return python;
  rmSync(venv, { recursive: true, force: true });
  return skip(`pip cannot install ${requirements.join(", ")}: ${pip.stderr.trim().split("\n").at(-1)}`);
};
