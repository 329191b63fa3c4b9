import { expect, test } from "vitest";
import { virtualClock } from "./virtual-clock.ts";

test("sleepers wake in the order of their moments, and time stands at each", async () => {
  const clock = virtualClock({ start: 100 });
  const seen: string[] = [];
  const one = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    seen.push(`${name}@${String(clock.now())}`);
  };
  await Promise.all([one("c", 30), one("a", 10), one("b", 10)]);
  expect(seen).toEqual(["a@110", "b@110", "c@130"]);
});

test("a sleeper that sleeps again is overtaken by nobody earlier", async () => {
  const clock = virtualClock();
  const seen: number[] = [];
  const ticking = async (step: number): Promise<void> => {
    for (let tick = 0; tick < 3; tick++) {
      await clock.sleep(step);
      seen.push(clock.now());
    }
  };
  await Promise.all([ticking(7), ticking(5)]);
  expect(seen).toEqual([5, 7, 10, 14, 15, 21]);
});

test("without automatic time only advance wakes, step by step", async () => {
  const clock = virtualClock({ automatic: false });
  const seen: number[] = [];
  const both = Promise.all([10, 20].map((ms) => clock.sleep(ms).then(() => seen.push(clock.now()))));
  await clock.advance(15);
  expect(seen).toEqual([10]);
  expect(clock.sleepers).toBe(1);
  await clock.advance(15);
  await both;
  expect(seen).toEqual([10, 20]);
  expect(clock.now()).toBe(30);
});

test("time stands still while outside work is held", async () => {
  const clock = virtualClock();
  const seen: string[] = [];
  const work = new Promise<void>((resolve) => setTimeout(resolve, 20));
  const held = clock.hold(work).then(() => seen.push("work"));
  const slept = clock.sleep(1).then(() => seen.push("slept"));
  await Promise.all([held, slept]);
  expect(seen).toEqual(["work", "slept"]);
});

test("an aborted sleeper leaves with execute.aborted", async () => {
  const clock = virtualClock({ automatic: false });
  const controller = new AbortController();
  const slept = clock.sleep(10, controller.signal);
  controller.abort(new Error("enough"));
  await expect(slept).rejects.toMatchObject({ code: "execute.aborted", cause: { message: "enough" } });
  await expect(clock.sleep(10, controller.signal)).rejects.toMatchObject({ code: "execute.aborted" });
  expect(clock.sleepers).toBe(0);
});

test("time never goes back: advance past a moment that time has jumped over leaves it there", async () => {
  const clock = virtualClock();
  const slept = clock.sleep(100);
  await clock.advance(10);
  await slept;
  expect(clock.now()).toBe(100);
});

test("clocks without a seed draw different numbers, those of one seed the same", () => {
  const draw = (seed?: number): number => virtualClock(seed === undefined ? {} : { seed }).random();
  expect(draw()).not.toBe(draw());
  expect(draw(7)).toBe(draw(7));
});
