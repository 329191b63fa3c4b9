import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDeadlines, type Limited } from "./deadlines.ts";

const limitedTo = (expired: string[], name: string): Limited => ({ due: 0, place: 0, expire: () => expired.push(name) });

test("each expires in its own time, once, and not when it was removed", async () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const removed = limitedTo(expired, "removed");
  deadlines.add(limitedTo(expired, "late"), 60);
  deadlines.add(removed, 20);
  deadlines.add(limitedTo(expired, "early"), 20);
  deadlines.remove(removed);
  await delay(45);
  expect(expired).toEqual(["early"]);
  await delay(45);
  expect(expired).toEqual(["early", "late"]);
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
  await delay(60);
  expect(expired).toEqual(["next"]);
});
