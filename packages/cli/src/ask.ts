import { createInterface } from "node:readline/promises";
import type { Io } from "./io.ts";

/** Asks a person for a word; anything else, and Ctrl-C, is a no. */
export const confirms = async (io: Io, question: string, word: string): Promise<boolean> => {
  io.err.write(question);
  const lines = createInterface({ input: io.input });
  try {
    const answer = await lines[Symbol.asyncIterator]().next();
    return !answer.done && answer.value.trim() === word;
  } finally {
    lines.close();
  }
};
