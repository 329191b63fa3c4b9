import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";

export interface Engine {
  readonly endpoint: string;
  /** The engine's version, as it names it itself. */
  readonly version: string;
  stop(): Promise<void>;
}

const packageFolder = join(createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json"), "..");

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

/** Starts a fresh engine in memory, in a process of its own, on a free loopback port. */
export const startEngine = async (): Promise<Engine> => {
  const port = await freePort();
  const child = spawn(join(packageFolder, "dynoxide"), ["--host", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  process.once("exit", () => child.kill("SIGKILL"));
  const endpoint = `http://127.0.0.1:${port}`;
  await untilItAnswers(endpoint);
  const manifest = createRequire(import.meta.url)("@dynoxide/linux-x64/package.json") as { readonly version: string };
  return { endpoint, version: `dynoxide ${manifest.version}`, stop };
};
