import { expect, test } from "vitest";
import { openFlights } from "./flights.ts";

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

test("no more are under way than the limit, and the position is the first row that has not landed", async () => {
  const flights = openFlights(2);
  const gates = [gate(), gate(), gate()];
  const begun: number[] = [];
  const fly = (at: number): Promise<void> =>
    flights.start({
      firstRow: at * 10,
      holds: [],
      run: () => {
        begun.push(at);
        return gates[at]!.opened;
      },
    });
  await fly(0);
  await fly(1);
  const third = fly(2);
  await turn();
  expect(begun).toEqual([0, 1]);
  expect(flights.position(30)).toBe(0);
  gates[0]!.open();
  await third;
  expect(begun).toEqual([0, 1, 2]);
  expect(flights.position(30)).toBe(10);
  gates[1]!.open();
  gates[2]!.open();
  await flights.landed();
  expect(flights.position(30)).toBe(30);
});

test("the rows of a flight that waits for its place are not written either", async () => {
  const flights = openFlights(1);
  const [first, second] = [gate(), gate()];
  await flights.start({ firstRow: 0, holds: [], run: () => first.opened });
  const positions: number[] = [];
  const waiting = flights.start({ firstRow: 10, holds: [], run: () => second.opened });
  // Asked in every turn of the queue between the landing of the first and the start of the second.
  const watch = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) {
      positions.push(flights.position(20));
      await Promise.resolve();
    }
  };
  first.open();
  await watch();
  await waiting;
  expect(Math.max(...positions)).toBe(10);
  second.open();
  await flights.landed();
  expect(flights.position(20)).toBe(20);
});

test("a flight waits for every earlier one that holds one of its keys", async () => {
  const flights = openFlights(10);
  const gates = [gate(), gate(), gate()];
  const begun: string[] = [];
  const fly = (name: string, holds: readonly string[], wait: Promise<void>): Promise<void> =>
    flights.start({
      firstRow: 0,
      holds,
      run: () => {
        begun.push(name);
        return wait;
      },
    });
  await fly("a", ["x"], gates[0]!.opened);
  await fly("b", ["y"], gates[1]!.opened);
  await fly("c", ["x", "y"], gates[2]!.opened);
  await fly("d", ["y"], Promise.resolve());
  await fly("e", ["z"], Promise.resolve());
  await turn();
  expect(begun).toEqual(["a", "b", "e"]);
  gates[0]!.open();
  await turn();
  expect(begun).toEqual(["a", "b", "e"]);
  gates[1]!.open();
  await turn();
  expect(begun).toEqual(["a", "b", "e", "c"]);
  gates[2]!.open();
  await flights.landed();
  expect(begun).toEqual(["a", "b", "e", "c", "d"]);
});
