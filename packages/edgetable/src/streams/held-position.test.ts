import { expect, test } from "vitest";
import { holdPosition } from "./held-position.ts";

const open = () => {
  const moves: string[] = [];
  return { moves, position: holdPosition((sequence) => moves.push(sequence)) };
};
const later = () => {
  let done = (_fails: boolean): void => undefined;
  const late = new Promise<boolean>((resolve) => (done = resolve));
  return { late, done: (fails = false) => done(fails) };
};

test("pages that hold nothing move the position as they go", () => {
  const { moves, position } = open();
  const page = position.begin();
  page.moveTo("1");
  page.moveTo("2");
  expect(moves).toEqual(["1", "2"]);
  page.end();
  expect(position.isHeld).toBe(false);
});

test("a page that waits holds back the pages behind it, however early they are done", async () => {
  const { moves, position } = open();
  const [first, second] = [later(), later()];
  for (const [sequence, late] of [
    ["1", first.late],
    ["2", second.late],
    ["3", undefined],
  ] as const) {
    const page = position.begin();
    if (late) page.hold(late);
    page.moveTo(sequence);
    page.end();
  }
  second.done();
  await position.settle(3);
  expect([moves, position.isHeld]).toEqual([[], true]);
  first.done();
  await position.settle(0);
  expect(moves.at(-1)).toBe("3");
  expect(position.isHeld).toBe(false);
});

test("what fails late keeps the position before its page", async () => {
  const { moves, position } = open();
  const { late, done } = later();
  const page = position.begin();
  page.hold(late);
  page.moveTo("1");
  page.end();
  const next = position.begin();
  next.moveTo("2");
  next.end();
  done(true);
  await position.settle(0);
  expect([moves, position.hasFailed]).toEqual([[], true]);
});
