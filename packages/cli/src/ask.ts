import { createInterface } from "node:readline/promises";
import type { Io } from "./io.ts";

/** Asks a person for a word; anything else, and Ctrl-C, is a no. */
export const confirms = async (io: Io, question: string, word: string): Promise<boolean> => {
  const lines = createInterface({ input: io.input });
  const close = (): void => lines.close();
  io.signal.addEventListener("abort", close, { once: true });
  const answers = lines[Symbol.asyncIterator]();
  io.err.write(question);
  try {
    const answer = await answers.next();
    return !answer.done && answer.value.trim() === word;
  } finally {
    io.signal.removeEventListener("abort", close);
    close();
  }
};
