import { afterEach, expect, test, vi } from "vitest";
import type { RowChange, WireRow, WriteAnswer } from "../wire.ts";
import { RowEdits } from "./row-edits.ts";

/** Rows that are saved, each answer held back until it is let go. */
const saving = () => {
  const sent: RowChange[] = [];
  const waiting: ((answer: WriteAnswer) => void)[] = [];
  vi.stubGlobal("fetch", async (_: string, { body }: { readonly body: string }) => {
    sent.push(JSON.parse(body) as RowChange);
    return new Response(JSON.stringify(await new Promise<WriteAnswer>((resolve) => waiting.push(resolve))));
  });
  /** Answers the request under way, and waits until the next one is sent or the save has ended. */
  const answer = async (row: WireRow, problem?: string): Promise<void> => {
    const cost = { requests: 1, readUnits: 0, writeUnits: 1 };
    waiting.shift()?.({ ok: problem === undefined, row, cost, ...(problem === undefined ? {} : { problem }) });
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { sent, answer };
};

const row = (id: string, name: string, more: WireRow = {}) => ({ id: { id }, was: { id, name, ...more } });
const text = (value: string) => ({ text: value });

afterEach(() => vi.unstubAllGlobals());

test("a cell that is taken back and changed again while it is written still waits", async () => {
  const { sent, answer } = saving();
  const edits = new RowEdits("student");
  edits.change("a", row("a", "Ann"), "name", text("One"));
  const saved = edits.save(() => undefined);
  edits.undo();
  edits.change("a", row("a", "Ann"), "name", text("Two"));
  await answer({ id: "a", name: "One" });
  await saved;
  expect(edits.cell("a", "name")).toEqual(text("Two"));
  void edits.save(() => undefined);
  expect(sent.at(-1)).toMatchObject({ set: { name: text("Two") }, was: { name: "One" } });
});

test("a save writes what waited when it began, unless it was taken back before its turn", async () => {
  const { sent, answer } = saving();
  const edits = new RowEdits("student");
  for (const key of ["a", "b", "c"]) edits.change(key, row(key, "old"), "name", text("new"));
  const saved = edits.save(() => undefined);
  edits.undo();
  edits.change("b", row("b", "old"), "name", text("newer"));
  edits.change("d", row("d", "old"), "name", text("new"));
  await answer({ id: "a", name: "new" });
  await saved;
  expect(sent.map(({ id }) => id)).toEqual([{ id: "a" }]);
  expect(["a", "b", "c", "d"].map((key) => edits.cell(key, "name"))).toEqual([undefined, text("newer"), undefined, text("new")]);
});

test("a cell that is changed while its row is written is compared with what was seen then", async () => {
  const { sent, answer } = saving();
  const edits = new RowEdits("student");
  edits.change("a", row("a", "Ann", { year: 1 }), "name", text("One"));
  const saved = edits.save(() => undefined);
  edits.change("a", row("a", "Ann", { year: 1 }), "year", text("2"));
  // Somebody else has changed the year meanwhile.
  await answer({ id: "a", name: "One", year: 7 });
  await saved;
  void edits.save(() => undefined);
  expect(sent.at(-1)).toMatchObject({ set: { year: text("2") }, was: { year: 1 } });
});

test("what was written is not taken back, though another cell of its row waits", async () => {
  const { answer } = saving();
  const edits = new RowEdits("student");
  edits.change("a", row("a", "Ann"), "name", text("Once"));
  edits.change("a", row("a", "Ann"), "name", text("One"));
  const saved = edits.save(() => undefined);
  edits.change("a", row("a", "Ann"), "year", text("2"));
  await answer({ id: "a", name: "One" });
  await saved;
  edits.undo();
  edits.undo();
  expect(edits.count).toBe(0);
});
