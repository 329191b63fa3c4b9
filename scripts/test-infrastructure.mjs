// Checks what `edgetable model` prints with the tools that read it: cfn-lint, a parser of HCL, the types and the synthesis of the
// AWS CDK. Installs them once into .cache/infrastructure (Python 3 with venv, npm), and then runs the tests that need them.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const cache = join(root, ".cache", "infrastructure");
const run = (command, args, cwd = root, env = process.env) => execFileSync(command, args, { cwd, env, stdio: "inherit" });

mkdirSync(cache, { recursive: true });
const python = join(cache, "venv", "bin", "python");
if (!existsSync(python)) run("python3", ["-m", "venv", join(cache, "venv")]);
if (!existsSync(join(cache, "venv", "bin", "cfn-lint"))) run(python, ["-m", "pip", "install", "--quiet", "cfn-lint", "python-hcl2"]);
if (!existsSync(join(cache, "node_modules", "aws-cdk-lib"))) {
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run("npm", ["install", "--no-audit", "--no-fund", "aws-cdk-lib", "constructs"], cache);
}
run("npx", ["vitest", "run", "conformance/infrastructure", ...process.argv.slice(2)], root, {
  ...process.env,
  EDGETABLE_INFRASTRUCTURE: cache,
});
