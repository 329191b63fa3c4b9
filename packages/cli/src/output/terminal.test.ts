import { type LocalEngine, startEngine } from "@edgetable/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toExactJson, toJson } from "./json.ts";
import { visible, visibleLine, widthOf } from "./terminal.ts";
import { createFolder, educationModel, type Folder, run } from "../test-support/lab.ts";

test.each([
  ["a terminal's escapes", "\u001b]0;owned\u0007\u001b[2J", String.raw`\x1b]0;owned\x07\x1b[2J`],
  ["C1 controls", "\u009b31m\u0085", String.raw`\x9b31m\x85`],
  ["what moves the cursor back", "safe\rrisk\b\t\u007f", String.raw`safe\rrisk\x08\t\x7f`],
  ["what reorders the text around it", "a\u202eb\u2066c\u200f", String.raw`a\u202eb\u2066c\u200f`],
  ["what takes no room", "ad\u200bmin\u00ad\ufeff\u2060\u{e0041}", String.raw`ad\u200bmin\xad\ufeff\u2060\u{e0041}`],
  ["joiners between Latin letters", "ad\u200dmin\u200c", String.raw`ad\u200dmin\u200c`],
  ["variants of letters", "a\ufe0f", String.raw`a\ufe0f`],
  ["half of a surrogate pair", "\ud83d", String.raw`\ud83d`],
  ["line separators", "a\u2028b", String.raw`a\u2028b`],
])("%s are written out", (_, text, expected) => {
  expect(visible(text)).toBe(expected);
  expect(widthOf(text)).toBe(expected.length);
  expect(JSON.parse(toJson({ text }))).toEqual({ text });
  for (const json of [toJson({ [text]: text }, 2), toExactJson({ [text]: text })]) expect(json).toMatch(/^[\n\x20-\x7e]+$/);
});

test.each(["tab-free text\nof two lines", "naïve 日本語", "👩‍❤️‍👩 1️⃣ ❤️", "می‌خواهم", "क्‍ष"])("%s stays as it is", (text) => {
  expect(visible(text)).toBe(text);
});

test("a line of a table is one line", () => {
  expect(visibleLine("a\nb")).toBe(String.raw`a\nb`);
});

describe("stored data, names and arguments never control the terminal", () => {
  const hostile = "Ann\u001b[2J\u001b]0;x\u0007\u009b8m\u202ennA\u200b\rBob\nroot  admin";
  const model = `${educationModel.replace("name: z.string(), year: z.int().optional()", 'name: z.string(), "na\\u001b[2Jme": z.string().optional(), year: z.int().optional()')}
export const more = definePatterns(education, {
  hostile: { question: ${JSON.stringify(hostile)}, example: { courseId: ${JSON.stringify(hostile)} }, ask: (db, id) => db.course(id).in("enrolledIn").entries() },
  broken: { question: "?", example: {}, ask: () => { throw new Error(${JSON.stringify(hostile)}); } },
});`;
  let folder: Folder;
  let engine: LocalEngine;
  const edgetable = (argv: readonly string[], columns?: number) =>
    run([...argv, "--endpoint", engine.endpoint], {
      cwd: folder.path,
      env: { NO_COLOR: "", TERM: "xterm" },
      ...(columns !== undefined && { columns }),
    });

  beforeAll(async () => {
    engine = await startEngine();
    const rows = [
      { node: "student", row: { studentId: hostile, name: hostile, "na\u001b[2Jme": hostile } },
      { node: "course", row: { courseId: "C1", name: hostile } },
      { edge: "enrolledIn", from: { studentId: hostile }, to: { courseId: "C1" }, attributes: { at: hostile } },
      { node: "student", row: { studentId: hostile, name: 5 } },
    ];
    folder = createFolder({
      "edgetable.ts": model,
      "rows.ndjson": rows.map((row) => JSON.stringify(row)).join("\n"),
      "bad.ndjson": `{"node":"student","row":{"studentId":"\u001b[2J","name":7}}\n\u001b[2J\u009b\n`,
      "bad.ts": `throw new Error(${JSON.stringify(hostile)});`,
    });
    expect((await edgetable(["table", "create"])).code).toBe(0);
  });
  afterAll(async () => {
    folder.remove();
    await engine.stop();
  });

  // Colours and the progress line are ours; whatever else of this kind reaches a terminal came from outside.
  const foreign = (text: string): readonly string[] =>
    text.replaceAll(/\r\u001b\[K|\u001b\[(?:1|2|4|22|24|31|33|36|39)m/g, "").match(/[^\n\P{C}]|[\u2028\u2029]/gu) ?? [];

  test.each([
    ["load", "rows.ndjson"],
    ["load", "bad.ndjson"],
    ["load", "\u001b[2J.ndjson"],
    ["get", "student", hostile],
    ["get", "student", `${hostile}?`],
    ["get", hostile],
    ["query", "student", hostile],
    ["query", "course", "C1", "--in", "enrolledIn", "--entries"],
    ["query", "course", "C1", "--in", hostile],
    ["dump"],
    ["patterns"],
    ["explain", "hostile"],
    ["explain", "hostile", "--param", `courseId=${hostile}`],
    ["explain", hostile],
    ["check"],
    ["check", "--model", "bad.ts"],
    ["check", "--model", hostile],
    [hostile],
    ["completion", hostile],
    ["load", "rows.ndjson", "--format", hostile],
  ])("%j", async (...argv) => {
    for (const columns of [undefined, 60])
      for (const json of [[], ["--json"]]) {
        const { out, err } = await edgetable([...argv, ...json], columns);
        expect({ out: foreign(out), err: foreign(err) }).toEqual({ out: [], err: [] });
        expect(out + err).not.toBe("");
      }
  });

  test("a stored line break makes no row of its own in a table", async () => {
    const { out } = await edgetable(["query", "course", "C1", "--in", "enrolledIn"]);
    expect(out.trimEnd().split("\n")).toHaveLength(2);
  });
});
