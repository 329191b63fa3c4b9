// npm run test:composite-keys: index keys of several attributes, on moto's server: neither engine of the other tests has them.
//
// Makes a Python with moto from PyPI in .cache/moto (once), and starts its server on a free port. EDGETABLE_COMPOSITE_KEYS_ENDPOINT
// names a server that runs; --install only makes the Python. Where there is no Python, it says so, and the tests are skipped.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pythonWith } from "./python-with.mjs";

const root = join(import.meta.dirname, "..");
const skip = (reason) => console.log(`Tests of index keys of several attributes are skipped: ${reason}`);

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

// The server with DynamoDB alone: moto[server] brings what all of AWS takes, five times as much work for pip.
const moto = ["moto[dynamodb]==5.2.5", "flask", "flask-cors"];
const given = process.env.EDGETABLE_COMPOSITE_KEYS_ENDPOINT;
const python = given ? undefined : pythonWith(join(root, ".cache", "moto"), { requirements: moto, module: "moto.server" }, skip);
if (process.argv[2] === "--install") process.exit(0);
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
