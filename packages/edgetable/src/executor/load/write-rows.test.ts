import { expect, test } from "vitest";
import { openInFlight } from "./write-rows.ts";

const gate = (): { readonly open: () => void; readonly opened: Promise<void> } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test("no more writes are in flight than the limit, and the position is the first row that is not written", async () => {
  const inFlight = openInFlight(2);
  const gates = [gate(), gate(), gate()];
  const begun: number[] = [];
  const start = (at: number): Promise<void> =>
    inFlight.start({
      firstRow: at * 10,
      keys: [],
      run: () => {
        begun.push(at);
        return gates[at]!.opened;
      },
    });
  await start(0);
  await start(1);
  const third = start(2);
  await turn();
  expect(begun).toEqual([0, 1]);
  expect(inFlight.position(30)).toBe(0);
  gates[0]!.open();
  await third;
  expect(begun).toEqual([0, 1, 2]);
  expect(inFlight.position(30)).toBe(10);
  gates[1]!.open();
  gates[2]!.open();
  await inFlight.done();
  expect(inFlight.position(30)).toBe(30);
});

test("the rows of a write that waits for room are not written either", async () => {
  const inFlight = openInFlight(1);
  const [first, second] = [gate(), gate()];
  await inFlight.start({ firstRow: 0, keys: [], run: () => first.opened });
  const positions: number[] = [];
  const waiting = inFlight.start({ firstRow: 10, keys: [], run: () => second.opened });
  // Asked in every turn of the queue between the end of the first and the start of the second.
  const watch = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) {
      positions.push(inFlight.position(20));
      await Promise.resolve();
    }
  };
  first.open();
  await watch();
  await waiting;
  expect(Math.max(...positions)).toBe(10);
  second.open();
  await inFlight.done();
  expect(inFlight.position(20)).toBe(20);
});

test("a write waits for every earlier one of the same keys", async () => {
  const inFlight = openInFlight(10);
  const gates = [gate(), gate(), gate()];
  const begun: string[] = [];
  const start = (name: string, keys: readonly string[], wait: Promise<void>): Promise<void> =>
    inFlight.start({
      firstRow: 0,
      keys,
      run: () => {
        begun.push(name);
        return wait;
      },
    });
  await start("a", ["x"], gates[0]!.opened);
  await start("b", ["y"], gates[1]!.opened);
  await start("c", ["x", "y"], gates[2]!.opened);
  await start("d", ["y"], Promise.resolve());
  await start("e", ["z"], Promise.resolve());
  await turn();
  expect(begun).toEqual(["a", "b", "e"]);
  gates[0]!.open();
  await turn();
  expect(begun).toEqual(["a", "b", "e"]);
  gates[1]!.open();
  await turn();
  expect(begun).toEqual(["a", "b", "e", "c"]);
  gates[2]!.open();
  await inFlight.done();
  expect(begun).toEqual(["a", "b", "e", "c", "d"]);
});
