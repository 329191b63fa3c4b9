import { expect, test } from "vitest";
import { limitConcurrency, type Gate, type Turn } from "./limit-concurrency.ts";

const queueUp = (gate: Gate, name: string, came: string[]): Turn => {
  const turn = gate.enter() as Turn;
  void turn.comes.then(() => came.push(name));
  return turn;
};

test("turns come in the order in which they were asked for, and one that gave up is passed over", async () => {
  const gate = limitConcurrency(2);
  expect([gate.enter(), gate.enter()]).toEqual([undefined, undefined]);
  const came: string[] = [];
  const [first, second] = [queueUp(gate, "first", came), queueUp(gate, "second", came)];
  queueUp(gate, "third", came);
  second.giveUp();
  gate.leave();
  gate.leave();
  await first.comes;
  expect(came).toEqual(["first", "third"]);
});

test("a turn that is given up as it comes lets the next one in", async () => {
  const gate = limitConcurrency(1);
  gate.enter();
  const came: string[] = [];
  const first = gate.enter() as Turn;
  const second = queueUp(gate, "second", came);
  gate.leave();
  first.giveUp();
  first.giveUp();
  await second.comes;
  expect(came).toEqual(["second"]);
  expect(gate.enter()).toBeDefined();
  gate.leave();
  expect(gate.enter()).toBeDefined();
});
