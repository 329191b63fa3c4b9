import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDeadlines, type Limited } from "./connection.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limitedTo = (expired: string[], name: string): Limited => ({ due: 0, place: 0, expire: () => expired.push(name) });

test("each expires in its own time, once, and not when it was removed", () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const removed = limitedTo(expired, "removed");
  deadlines.add(limitedTo(expired, "late"), 60);
  deadlines.add(removed, 20);
  deadlines.add(limitedTo(expired, "early"), 20);
  deadlines.remove(removed);
  vi.advanceTimersByTime(19);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["early"]);
  vi.advanceTimersByTime(39);
  expect(expired).toEqual(["early"]);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(["early", "late"]);
});

test("after a rest it goes on", () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const first = limitedTo(expired, "first");
  deadlines.add(first, 10);
  deadlines.remove(first);
  vi.advanceTimersByTime(30);
  deadlines.add(limitedTo(expired, "second"), 10);
  vi.advanceTimersByTime(30);
  expect(expired).toEqual(["second"]);
});

test("timers that are numbers, as those of jsdom, are not held or let go", () => {
  const { setTimeout } = globalThis;
  vi.stubGlobal("setTimeout", (...given: Parameters<typeof setTimeout>) => Number(setTimeout(...given)));
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const answered = limitedTo(expired, "answered");
  deadlines.add(answered, 10);
  deadlines.remove(answered);
  deadlines.add(limitedTo(expired, "late"), 5);
  vi.advanceTimersByTime(30);
  vi.unstubAllGlobals();
  expect(expired).toEqual(["late"]);
});

test("what expires may add another", () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  deadlines.add({ due: 0, place: 0, expire: () => deadlines.add(limitedTo(expired, "next"), 10) }, 5);
  vi.advanceTimersByTime(14);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["next"]);
});
