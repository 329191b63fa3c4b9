import type { Io } from "../io.ts";
import { control } from "./visible.ts";
import { wrap } from "./width.ts";

/** A line that is written over on a terminal, and a plain line now and then elsewhere. */
export interface Progress {
  show(text: string): void;
  /** Writes a lasting line above it. */
  say(text: string): void;
  clear(): void;
}

const often = 150;
const seldom = 5000;

/** Milliseconds between two updates: often on a terminal, seldom in a log. */
export const progressEvery = ({ err }: Io): number => (err.isTTY ? often : seldom);

export const createProgress = ({ err }: Io): Progress => {
  let shown = "";
  let said = Date.now();
  const clear = (): void => {
    if (shown !== "") err.write(control("\r[K"));
    shown = "";
  };
  const show = (text: string): void => {
    if (!err.isTTY) {
      if (Date.now() - said < seldom) return;
      said = Date.now();
      err.write(`${text}\n`);
      return;
    }
    clear();
    // A line that breaks cannot be written over.
    shown = wrap(text, Math.max(20, (err.columns ?? 80) - 1))[0] ?? "";
    err.write(shown);
  };
  const say = (text: string): void => {
    const before = shown;
    clear();
    err.write(`${text}\n`);
    if (before !== "") show(before);
  };
  return { show, say, clear };
};
