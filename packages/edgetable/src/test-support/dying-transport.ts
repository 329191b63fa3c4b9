import { setTimeout as pause } from "node:timers/promises";
import type { Transport } from "../transport/transport.ts";

/** A transport that answers for a while only, as that of a process that is killed. */
export interface DyingTransport {
  readonly transport: Transport;
  /** Resolves when nothing more is sent, and nothing that was sent is under way. */
  readonly died: Promise<void>;
}

/**
 * @param answers how many requests take effect; later ones are never sent
 * @param isLastAnswered whether the last of them is answered, too
 */
export const dyingTransport = (whole: Pick<Transport, "send">, answers: number, isLastAnswered = true): DyingTransport => {
  let left = answers;
  let underway = 0;
  let isDead = false;
  let tell = (): void => undefined;
  const died = new Promise<void>((resolve) => (tell = resolve));
  const tellIfDead = (): void => {
    if (isDead && underway === 0) tell();
  };
  const send: Transport["send"] = async (operation, input, options) => {
    isDead ||= left === 0;
    tellIfDead();
    if (isDead) return new Promise(() => undefined);
    left--;
    underway++;
    const output = await whole.send(operation, input, options).finally(() => underway--);
    isDead ||= left === 0 && !isLastAnswered;
    tellIfDead();
    return isDead ? new Promise(() => undefined) : output;
  };
  return { transport: { send, close: async () => undefined }, died };
};

/** Jobs as `db.jobs.list()` gives them. */
interface Jobs {
  readonly jobs: { list(): Promise<readonly { readonly running: boolean }[]> };
}

/** Waits until the leases of all processes that died are over. */
export const leasesEnded = async ({ jobs }: Jobs): Promise<void> => {
  while ((await jobs.list()).some(({ running }) => running)) await pause(20);
};
