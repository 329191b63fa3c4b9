import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLeanTransport } from "../../transport/lean/index.ts";
import type { Transport } from "../../transport/transport.ts";

/** A real engine of its own for one test file, in memory, on a free port of 127.0.0.1. */
export interface TestEngine {
  readonly transport: Transport;
  stop(): Promise<void>;
}

const binary = fileURLToPath(new URL("../../../../../node_modules/@dynoxide/linux-x64/dynoxide", import.meta.url));

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const untilReady = async (transport: Transport): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt++) {
    const ready = await transport.send("ListTables", {}).then(
      () => true,
      () => false,
    );
    if (ready) return;
    await pause(25);
  }
  throw new Error(`the engine did not answer: ${binary}`);
};

const stopped = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** Starts dynoxide and waits until it answers. */
export const startEngine = async (): Promise<TestEngine> => {
  const port = await freePort();
  const child = spawn(binary, ["serve", "--port", String(port)], { stdio: "ignore" });
  const end = (): boolean => child.kill();
  process.once("exit", end);
  const transport = createLeanTransport({ endpoint: `http://127.0.0.1:${String(port)}` });
  await untilReady(transport);
  return {
    transport,
    stop: async () => {
      await transport.close();
      process.off("exit", end);
      await stopped(child);
    },
  };
};
