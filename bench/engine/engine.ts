import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";

export interface Engine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const manifest = createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json");
export const engineBinary: string = join(manifest, "..", "dynoxide");
/** The engine's version, as its package names it. */
export const engineVersion = `dynoxide ${(createRequire(import.meta.url)(manifest) as { readonly version: string }).version}`;

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
    return true;
  } catch {
    return false;
  }
};

const untilItAnswers = async (endpoint: string): Promise<void> => {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await answers(endpoint)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the engine did not answer on ${endpoint} within 10 s`);
};

/** Starts an engine in a process of its own, on a free loopback port: fresh and in memory, or on a database file. */
export const startEngine = async (file?: string): Promise<Engine> => {
  const port = await freePort();
  const on = file === undefined ? [] : ["--db-path", file];
  const child = spawn(engineBinary, ["--host", "127.0.0.1", "--port", String(port), ...on], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  process.once("exit", () => child.kill("SIGKILL"));
  const endpoint = `http://127.0.0.1:${port}`;
  await untilItAnswers(endpoint);
  return { endpoint, stop };
};
