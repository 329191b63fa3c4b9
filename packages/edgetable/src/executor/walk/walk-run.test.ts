import { expect, test } from "vitest";
import { adaptiveWidth, runInFlight } from "./walk-run.ts";

test("the width halves with each burst of throttling, and grows by one for each round of answers", () => {
  const width = adaptiveWidth(32);
  width.answered();
  // One burst: its requests are throttled together.
  for (let at = 0; at < 10; at++) width.throttled();
  expect(width.now()).toBe(16);
  for (let at = 0; at < 17; at++) width.answered();
  expect(width.now()).toBe(17);
  for (let burst = 0; burst < 20; burst++) {
    width.answered();
    width.throttled();
  }
  expect(width.now()).toBe(1);
  for (let at = 0; at < 1000; at++) width.answered();
  expect(width.now()).toBe(32);
});

test("results are handed on in the order of their jobs, and no more run than the width allows", async () => {
  const jobs = [30, 1, 20, 2, 10, 3].values();
  let [running, most] = [0, 0];
  const done: number[] = [];
  await runInFlight({
    width: { now: () => 3, answered: () => undefined, throttled: () => undefined },
    next: () => jobs.next().value,
    run: async (milliseconds: number) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      running--;
      return milliseconds;
    },
    done: (milliseconds) => done.push(milliseconds),
  });
  expect(done).toEqual([30, 1, 20, 2, 10, 3]);
  expect(most).toBe(3);
});
