// npm run test:composite-keys: index keys of several attributes, on moto's server: neither engine of the other tests has them.
//
// Makes a Python with moto from PyPI in .cache/moto (once), and starts its server on a free port. EDGETABLE_COMPOSITE_KEYS_ENDPOINT
// names a server that runs. Where there is no Python, it says so, and the tests are skipped.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
const venv = join(root, ".cache", "moto");
const moto = "moto[server]==5.2.5";

const works = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const skip = (reason) => console.log(`Tests of index keys of several attributes are skipped: ${reason}`);

/** A Python with moto, or undefined after saying why there is none. */
const findPython = () => {
  const python = join(venv, "bin", "python");
  if (existsSync(python) && works(python, "-c", "import moto.server")) return python;
  if (!works("python3", "--version")) return skip("there is no python3.");
  rmSync(venv, { recursive: true, force: true });
  if (!works("python3", "-m", "venv", venv)) return skip("python3 cannot make a virtual environment (Debian: python3-venv).");
  const pip = spawnSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", moto], { encoding: "utf8" });
  if (pip.status === 0) return python;
  rmSync(venv, { recursive: true, force: true });
  return skip(`pip cannot install ${moto}: ${pip.stderr.trim().split("\n").at(-1)}`);
};

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Starts moto's server, and resolves once it answers. */
const startMoto = async (python) => {
  const port = await freePort();
  const server = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 600 && server.exitCode === null; attempt++) {
    const isUp = await fetch(`${endpoint}/moto-api/data.json`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { endpoint, stop: () => server.kill() };
    await sleep(100);
  }
  server.kill();
  throw new Error("moto's server does not answer.");
};

const given = process.env.EDGETABLE_COMPOSITE_KEYS_ENDPOINT;
const python = given ? undefined : findPython();
const server = python ? await startMoto(python) : { endpoint: given, stop: () => undefined };
const { endpoint } = server;
const tests = spawn(
  process.execPath,
  [join(root, "conformance", "run-tests.mjs"), "conformance/composite-keys", ...process.argv.slice(2)],
  {
    stdio: "inherit",
    env: { ...process.env, ...(endpoint ? { EDGETABLE_COMPOSITE_KEYS_ENDPOINT: endpoint } : {}) },
  },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => tests.kill(signal));
const status = await new Promise((resolve) => tests.once("exit", (code) => resolve(code ?? 1)));
server.stop();
process.exit(status);
