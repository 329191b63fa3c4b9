import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { Io } from "../io.ts";
import { createFolder } from "../test-support/lab.ts";
import { openCsv } from "./read-csv.ts";
import { formats, openFile } from "./read-file.ts";

const folder = createFolder();
afterAll(() => folder.remove());

const latin1 = Buffer.from("id,name\nS1,Zoé\n", "latin1");
const ioOf = (input: Readable): Pick<Io, "cwd" | "input" | "signal"> => ({ cwd: folder.path, input, signal: new AbortController().signal });

// Whoever loads rows opens the file, and begins to read it once it has asked the table.
const readLater = async (records: AsyncIterable<unknown>): Promise<number> => {
  await sleep(50);
  let read = 0;
  for await (const _ of records) read++;
  return read;
};

test.each(formats)("what cannot be read of %s is an error, however late its reading begins", { timeout: 5000 }, async (format) => {
  writeFileSync(join(folder.path, "latin1"), latin1);
  const io = ioOf(new PassThrough()) as Io;
  await expect(readLater(openFile("latin1", { format }, io).records)).rejects.toThrow("It is not UTF-8");
  const piped = ioOf(Readable.from([latin1])) as Io;
  await expect(readLater(openFile("-", { format }, piped).records)).rejects.toThrow("It is not UTF-8");
});

test("so is what cannot be read of a CSV file of a grid", { timeout: 5000 }, async () => {
  writeFileSync(join(folder.path, "latin1.csv"), latin1);
  const source = await openCsv("latin1.csv", { delimiter: undefined }, ioOf(new PassThrough()) as Io);
  if (typeof source !== "function") throw new Error("a file is read more than once");
  await expect(readLater(source() as AsyncIterable<unknown>)).rejects.toThrow("It is not UTF-8");
});

test("cells that mean no value are empty for a grid", async () => {
  folder.write("na.csv", "id,name,NA\nNA,NAN,x\n1,NA,NA\n");
  const source = await openCsv("na.csv", { missing: ["NA"] }, ioOf(new PassThrough()) as Io);
  if (typeof source !== "function") throw new Error("a file is read more than once");
  const records: unknown[] = [];
  for await (const record of source() as AsyncIterable<unknown>) records.push(record);
  expect(records).toEqual([
    ["id", "name", "NA"],
    ["", "NAN", "x"],
    ["1", "", ""],
  ]);
});
