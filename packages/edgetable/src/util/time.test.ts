import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort, sleep } from "./time.ts";

test("onAbort calls registered callbacks, skips removed ones, and adds one listener", () => {
  const controller = new AbortController();
  const told: number[] = [];
  const ends = Array.from({ length: 20 }, (_, at) => onAbort(controller.signal, () => told.push(at)));
  for (const end of ends.slice(2)) end();
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort();
  expect(told).toEqual([0, 1]);
});

test("an aborted signal ends sleeps, a new one at once; twenty sleeps share one listener", async () => {
  const controller = new AbortController();
  const sleeps = Array.from({ length: 20 }, async () => sleep(60_000, controller.signal));
  await sleep(1, controller.signal);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort(new Error("enough"));
  const ended = await Promise.allSettled([...sleeps, sleep(60_000, controller.signal)]);
  expect(ended).toHaveLength(21);
  for (const one of ended)
    expect(one).toMatchObject({ status: "rejected", reason: { code: "execute.aborted", cause: { message: "enough" } } });
});
