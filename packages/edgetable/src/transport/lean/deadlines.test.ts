import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createDeadlines, type Limited } from "./deadlines.ts";

const limitedTo = (expired: string[], name: string): Limited => ({ due: 0, place: 0, expire: () => expired.push(name) });

test("each expires in its own time, once, and not when it was removed", async () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const began = performance.now();
  const times: number[] = [];
  const timed = (name: string): Limited => ({
    due: 0,
    place: 0,
    expire: () => times.push(performance.now() - began) && expired.push(name),
  });
  const removed = timed("removed");
  deadlines.add(timed("late"), 60);
  deadlines.add(removed, 20);
  deadlines.add(timed("early"), 20);
  deadlines.remove(removed);
  // However busy the machine: timers ring in the order in which they are due, so that a plain one says what has expired by then.
  await delay(45);
  expect(expired[0]).toBe("early");
  await delay(45);
  expect(expired).toEqual(["early", "late"]);
  expect(times[0]).toBeGreaterThanOrEqual(20);
  expect(times[1]).toBeGreaterThanOrEqual(60);
});

test("after a rest it goes on", async () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const first = limitedTo(expired, "first");
  deadlines.add(first, 10);
  deadlines.remove(first);
  await delay(30);
  deadlines.add(limitedTo(expired, "second"), 10);
  await delay(30);
  expect(expired).toEqual(["second"]);
});

test("what expires may add another", async () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  deadlines.add({ due: 0, place: 0, expire: () => deadlines.add(limitedTo(expired, "next"), 10) }, 5);
  await vi.waitFor(() => expect(expired).toEqual(["next"]), { timeout: 4000, interval: 10 });
});
