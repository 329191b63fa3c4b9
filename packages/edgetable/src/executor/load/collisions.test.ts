import fc from "fast-check";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { propertyRuns } from "../../../../../conformance/engines/property-runs.ts";
import { openTemporaryFiles, tellsOpenFiles } from "../../test-support/temporary-files.ts";
import { hashText } from "../../util/hash-text.ts";
import { contentHash, type KeyTable, openKeyTable } from "./collisions.ts";

test("the content of an item is told from any other, whatever the order of its attributes", () => {
  expect(contentHash({ a: { S: "x" }, b: { N: "1" } })).toBe(contentHash({ b: { N: "1" }, a: { S: "x" } }));
  const items = [
    {},
    { a: { S: "x" } },
    { b: { S: "x" } },
    { a: { S: "y" } },
    { a: { N: "1" } },
    { a: { S: "1" } },
    { a: { S: "x" }, b: { S: "y" } },
    { a: { S: "y" }, b: { S: "x" } },
    { ab: { S: "c" } },
    { a: { S: "bc" } },
    { a: { L: [{ S: "x" }, { S: "y" }] } },
    { a: { L: [{ S: "y" }, { S: "x" }] } },
    { a: { M: {} } },
    { a: { NULL: true as const } },
    { a: { BOOL: true } },
    { a: { BOOL: false } },
  ];
  expect(new Set(items.map(contentHash)).size).toBe(items.length);
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "key-table-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
  if (tellsOpenFiles) expect(openTemporaryFiles()).toEqual([]);
});

const keyOf = (at: number): string => `[{"S":"STUDENT#${at}"},{"S":"#"}]`;

/** What a table must say, from a Map. */
const openPlain = (): KeyTable => {
  const known = new Map<string, { readonly row: number; readonly content: number }>();
  return {
    note: (key, row, content) => {
      const before = known.get(key);
      known.set(key, { row, content });
      return before && { row: before.row, differs: before.content !== content };
    },
    close: () => undefined,
  };
};

/** Notes rows, of which so many keys come again and again. Gives the first answers that a Map would not have given. */
const wrongAnswers = (table: KeyTable, { rows, keys, seed }: { readonly rows: number; readonly keys: number; readonly seed: number }) => {
  const plain = openPlain();
  const wrong: unknown[] = [];
  let state = seed >>> 0;
  for (let row = 0; row < rows; row++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const [key, content] = [keyOf((state >>> 4) % keys), (state >>> 2) & 1];
    const [said, right] = [table.note(key, row, content), plain.note(key, row, content)];
    if (said?.row !== right?.row || said?.differs !== right?.differs) wrong.push({ row, key, said, right });
  }
  return wrong.slice(0, 3);
};

test("a key is known again, with the row that made it last, and whether that held something else", () => {
  const table = openKeyTable();
  expect(table.note("a", 0, 7)).toBeUndefined();
  expect(table.note("b", 1, 7)).toBeUndefined();
  expect(table.note("a", 2, 8)).toEqual({ row: 0, differs: true });
  expect(table.note("a", 3, 8)).toEqual({ row: 2, differs: false });
  expect(table.note("b", 4_294_967_294, 0)).toEqual({ row: 1, differs: true });
  expect(table.note("b", 4, 0)).toEqual({ row: 4_294_967_294, differs: false });
  table.close();
});

test("both halves of a hash depend on the whole text", () => {
  const texts = ["", "a", "b", "ab", "ba", "aa", "a ", " a", "ä", "😀"];
  for (const half of [0, 1]) expect(new Set(texts.map((text) => hashText(text)[half])).size).toBe(texts.length);
});

test("keys that differ in little are all told apart, in memory, in a file, and across both", () => {
  for (const pagesInMemory of [2 ** 30, 0, 300]) {
    const table = openKeyTable(pagesInMemory);
    const keys = Array.from({ length: 60_000 }, (_, at) => keyOf(at));
    expect(keys.filter((key, row) => table.note(key, row, 0) !== undefined)).toEqual([]);
    expect(keys.filter((key, row) => table.note(key, row, 0)?.row !== row)).toEqual([]);
    table.close();
  }
});

test("whatever comes again, memory, file and a Map give the same answers", () => {
  fc.assert(
    fc.property(
      fc.record({ rows: fc.nat(6000), keys: fc.integer({ min: 1, max: 6000 }), seed: fc.nat() }),
      fc.constantFrom(2 ** 30, 0, 1, 5, 17),
      // A page has room for 256: beyond that, pages are split because one has none.
      fc.constantFrom(84, 3, 200, 10_000),
      (load, pagesInMemory, keysAPage) => {
        const table = openKeyTable(pagesInMemory, keysAPage);
        expect(wrongAnswers(table, load)).toEqual([]);
        table.close();
      },
    ),
    propertyRuns(100),
  );
});

describe.runIf(tellsOpenFiles)("the file", () => {
  test("is opened when memory has its share, has no name, and is nobody else's to read", () => {
    const table = openKeyTable(4);
    for (let row = 0; row < 4 * 84; row++) table.note(keyOf(row), row, 0);
    expect(openTemporaryFiles()).toEqual([]);
    for (let row = 0; row < 1000; row++) table.note(keyOf(row), row, 0);
    const [file, ...others] = openTemporaryFiles();
    expect(others).toEqual([]);
    expect(file!.name).toMatch(/ \(deleted\)$/);
    expect(file!.name.startsWith(folder)).toBe(true);
    expect(statSync(file!.path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual([]);
    table.close();
  });

  test("takes 49 bytes a key", () => {
    const table = openKeyTable(40);
    for (let row = 0; row < 100_000; row++) table.note(keyOf(row), row, 0);
    expect(statSync(openTemporaryFiles()[0]!.path).size / 100_000).toBeCloseTo(4096 / 84, 0);
    table.close();
  });

  test("holds no key, no hash that others could compute, and nothing that two loads have in common but numbers of rows", () => {
    const keys = Array.from({ length: 2000 }, (_, at) => keyOf(at));
    const contents = keys.map((key) => hashText(key)[0]);
    const [one, other] = [openKeyTable(0), openKeyTable(0)];
    for (const [row, key] of keys.entries()) for (const table of [one, other]) table.note(key, row, contents[row]!);
    const files = openTemporaryFiles().map(({ path }) => readFileSync(path));
    expect(files).toHaveLength(2);
    const words = files.map((file) => new Set(new Uint32Array(new Uint8Array(file).buffer).filter((word) => word > keys.length)));
    // Three words of nearly all of the keys: the first page stays in memory where it was never split.
    for (const set of words) expect(set.size).toBeGreaterThan(3 * 1900);
    const guessed = keys.flatMap((key) => hashText(key));
    expect(guessed.filter((word) => words.some((set) => set.has(word))).length).toBeLessThan(3);
    expect([...words[0]!].filter((word) => words[1]!.has(word)).length).toBeLessThan(3);
    for (const file of files) expect(file.includes("STUDENT")).toBe(false);
    one.close();
    other.close();
  });
});

describe("without a file", () => {
  const unusable: Readonly<Record<string, () => string>> = {
    "a folder that is not there": () => join(folder, "none"),
    "a folder that is a file": () => {
      writeFileSync(join(folder, "file"), "");
      return join(folder, "file");
    },
    "a folder that nobody writes to": () => {
      // Whoever is root may write to a folder of that mode, but not here.
      if (process.getuid?.() === 0) return "/proc";
      chmodSync(folder, 0o500);
      return folder;
    },
  };
  test.each(Object.keys(unusable))("%s: all stays in memory, with the same answers", (kind) => {
    vi.stubEnv("TMPDIR", unusable[kind]!());
    const table = openKeyTable(3);
    expect(wrongAnswers(table, { rows: 20_000, keys: 9000, seed: 1 })).toEqual([]);
    if (tellsOpenFiles) expect(openTemporaryFiles()).toEqual([]);
    table.close();
  });

  test("what memory took meanwhile goes to the file once there is one", () => {
    const late = join(folder, "late");
    vi.stubEnv("TMPDIR", late);
    const [table, plain] = [openKeyTable(3), openPlain()];
    const wrong: number[] = [];
    for (let row = 0; row < 60_000; row++) {
      if (row === 10_000) mkdirSync(late);
      const key = keyOf(row % 40_000);
      if (table.note(key, row, row & 1)?.row !== plain.note(key, row, row & 1)?.row) wrong.push(row);
    }
    expect(wrong).toEqual([]);
    if (tellsOpenFiles) expect(openTemporaryFiles()).toHaveLength(1);
    table.close();
  });
});
