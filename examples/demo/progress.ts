import type { WriteStream } from "node:tty";

/** A line that says what is under way, and goes away. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

const EVERY = 80;
const EVERY_LINE = 3000;
const clearLine = "\r\u001b[2K";

const onTerminal = (stream: WriteStream): Progress => {
  let last = 0;
  let shown = false;
  return {
    show: (text) => {
      if (performance.now() - last < EVERY) return;
      last = performance.now();
      shown = true;
      stream.write(`${clearLine}  ${text}`);
    },
    clear: () => {
      if (shown) stream.write(clearLine);
      shown = false;
    },
  };
};

// A log keeps what is written to it: a line only where the wait is long.
const inLog = (stream: WriteStream): Progress => {
  let last = performance.now();
  return {
    show: (text) => {
      if (performance.now() - last < EVERY_LINE) return;
      last = performance.now();
      stream.write(`${text}\n`);
    },
    clear: () => undefined,
  };
};

/** Progress on a stream: one line that is rewritten on a terminal, a line every few seconds elsewhere. */
export const progressOn = (stream: WriteStream): Progress => (stream.isTTY ? onTerminal(stream) : inLog(stream));
