import { fork } from "node:child_process";

/** A child process that answers one question at a time. */
export interface Worker {
  ask<Answer>(question: object): Promise<Answer>;
  end(): Promise<void>;
}

interface Reply {
  readonly answer?: unknown;
  readonly failure?: string;
}

/**
 * Starts `dist/programs/<program>.js` in a process of its own, so that what it collects as garbage
 * is billed to nobody else. `nodeOptions` go to Node itself.
 */
export const startWorker = (program: string, args: readonly string[], nodeOptions: readonly string[] = []): Worker => {
  const child = fork(`dist/programs/${program}.js`, [...args], {
    execArgv: ["--enable-source-maps", ...nodeOptions],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ask = <Answer>(question: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const leave = (code: number | null): void => reject(new Error(`worker ${program} ${args[0] ?? ""} ended with code ${code}`));
      child.once("exit", leave);
      child.once("message", (reply: Reply) => {
        child.off("exit", leave);
        if (reply.failure === undefined) resolve(reply.answer as Answer);
        else reject(new Error(`${program} ${args[0] ?? ""}: ${reply.failure}`));
      });
      child.send(question);
    });
  const end = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    await ended;
  };
  return { ask, end };
};
