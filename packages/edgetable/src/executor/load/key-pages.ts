import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";

/** Words of a slot. */
export const SLOT = 4;
/** Words of a page: 256 slots, 4 KB. */
export const PAGE = 1024;

/** Pages of a table: the first ones are kept in memory, the others in a temporary file. */
export interface KeyPages {
  /** What was written as this page, until another one is read. */
  read(page: number): Uint32Array;
  /** Writes a page; with `at`, one that was read and whose slot there was changed. */
  write(page: number, words: Uint32Array, at?: number): void;
  readonly close: () => void;
}

const quietly = <Of>(act: (of: Of) => void, of: Of): void => {
  try {
    act(of);
  } catch {
    // There is nothing to be done, and nobody who needs to know.
  }
};

/** Opens pages, so many of them in memory: and those that no file takes, because there is none or the disk is full. */
export const openKeyPages = (inMemory: number): KeyPages => {
  const kept = new Map([[0, new Uint32Array(PAGE)]]);
  const buffer = new Uint32Array(PAGE);
  const path = `${tmpdir()}/edgetable-${randomUUID()}`;
  let file: number | undefined;

  const open = (): number => {
    file = openSync(path, "wx+", 0o600);
    // At once, so that nothing is left however the process ends.
    quietly(unlinkSync, path);
    return file;
  };
  const store = (page: number, words: Uint32Array, at?: number): boolean => {
    const length = 4 * (at === undefined ? PAGE : SLOT);
    const from = 4 * (at ?? 0);
    try {
      return writeSync(file ?? open(), words, from, length, 4 * PAGE * page + from) === length;
    } catch {
      return false;
    }
  };

  return {
    read: (page) => {
      const words = kept.get(page);
      if (!words) readSync(file ?? -1, buffer, 0, 4 * PAGE, 4 * PAGE * page);
      return words ?? buffer;
    },
    write: (page, words, at) => {
      const known = kept.get(page);
      if (known === words) return;
      if (page >= inMemory && store(page, words, at)) kept.delete(page);
      else if (known) known.set(words);
      else kept.set(page, words.slice());
    },
    close: () => {
      if (file === undefined) return;
      quietly(closeSync, file);
      // Where an open file keeps its name, it loses it now.
      quietly(unlinkSync, path);
    },
  };
};
