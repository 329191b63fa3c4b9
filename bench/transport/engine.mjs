import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** A dynoxide in memory on a free port of the loopback interface. */
export const startEngine = async () => {
  const binary = join(dirname(createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json")), "dynoxide");
  const port = await freePort();
  const child = spawn(binary, ["--port", String(port)], { stdio: "ignore" });
  process.on("exit", () => child.kill());
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      return { endpoint, stop: () => child.kill() };
    await sleep(20);
  }
  throw new Error("dynoxide did not answer within 4 s");
};

/** The lean transport, from its sources. */
export const bundle = async () => {
  const entry = fileURLToPath(new URL("../../packages/edgetable/src/transport/lean/index.ts", import.meta.url));
  const outfile = join(mkdtempSync(join(tmpdir(), "edgetable-bench-")), "lean.mjs");
  await build({ entryPoints: [entry], outfile, bundle: true, format: "esm", platform: "node", external: ["@aws-sdk/*"] });
  return import(pathToFileURL(outfile).href);
};
