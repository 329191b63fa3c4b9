import { expect, test } from "vitest";
import { virtualClock } from "@edgetable/testing";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { Meter } from "./call.ts";
import { bookkeeping } from "./jobs/job-store.ts";
import { createSession, limitConcurrency, type Patience } from "./session.ts";

const forever = Number.POSITIVE_INFINITY;

const lab = (limit: number) => {
  const clock = virtualClock({ automatic: false });
  const gate = limitConcurrency(limit, clock);
  const told: string[] = [];
  const ask = (name: string, patience: Partial<Patience> = {}): void => {
    const turn = gate.enter("GetItem", { deadline: forever, ...patience });
    if (!turn) told.push(name);
    void turn?.then(
      () => told.push(name),
      (error: { readonly code: string }) => told.push(`${name} ${error.code}`),
    );
  };
  return { clock, gate, told, ask };
};

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("requests enter in the order in which they asked, and those that gave up are passed over", async () => {
  const { gate, told, ask, clock } = lab(2);
  const abort = new AbortController();
  for (const name of ["a", "b", "c"]) ask(name);
  ask("d", { signal: abort.signal });
  ask("e");
  expect(told).toEqual(["a", "b"]);
  abort.abort();
  gate.leave();
  gate.leave();
  await settled();
  expect(told).toEqual(["a", "b", "d execute.aborted", "c", "e"]);
  expect(clock.sleepers).toBe(0);
});

test("each is refused at its own deadline, whoever asked first, and what time it is for the others does not matter", async () => {
  const { gate, told, ask, clock } = lab(1);
  for (const [name, deadline] of [
    ["a", forever],
    ["b", 3000],
    ["c", 1000],
    ["d", 2000],
    ["e", forever],
  ] as const)
    ask(name, { deadline });
  expect(clock.sleepers).toBe(1);
  await clock.advance(999 - 5);
  expect(told).toEqual(["a"]);
  await clock.advance(10);
  expect(told).toEqual(["a", "c execute.timeout"]);
  gate.leave();
  await settled();
  await clock.advance(5000);
  expect(told).toEqual(["a", "c execute.timeout", "b", "d execute.timeout"]);
  gate.leave();
  await settled();
  expect(told.at(-1)).toBe("e");
  expect(clock.sleepers).toBe(0);
  gate.leave();
  ask("f");
  expect(told.at(-1)).toBe("f");
});

test("a place is neither lost nor doubled where turn, deadline and signal come together", async () => {
  const { gate, told, ask, clock } = lab(1);
  const abort = new AbortController();
  ask("a");
  ask("b", { deadline: 10, signal: abort.signal });
  ask("c");
  gate.leave();
  abort.abort();
  await clock.advance(20);
  await settled();
  expect(told).toEqual(["a", "b"]);
  gate.leave();
  await settled();
  expect(told).toEqual(["a", "b", "c"]);
});

test("sleeps that end too early, as in a user's tests, refuse nobody and spin nowhere", async () => {
  const gate = limitConcurrency(1, { now: () => 0, random: () => 0, sleep: async () => undefined });
  void gate.enter("GetItem", { deadline: forever });
  const turn = gate.enter("GetItem", { deadline: 1000 });
  await settled();
  gate.leave();
  await expect(turn).resolves.toBeUndefined();
});

test("a job's bookkeeping does not wait for the job's own requests", async () => {
  const answers: (() => void)[] = [];
  const send = (operation: string): Promise<never> =>
    new Promise<unknown>((resolve) => {
      if (operation === "GetItem") answers.push(() => resolve({}));
      else resolve({});
    }) as Promise<never>;
  const session = createSession({
    catalog: {} as never,
    transport: { send, close: () => undefined },
    effects: virtualClock({ automatic: false }),
    concurrency: 2,
  });
  const work = Array.from({ length: 5 }, () =>
    session.send("GetItem", { TableName: "T", Key: {} }, { meter: new Meter(), deadline: forever }),
  );
  await session.send("UpdateItem", { TableName: "T", Key: {} }, bookkeeping(session, 10_000));
  // It took no turn of another request, and gives none back.
  for (let at = 0; at < 5; at++) {
    expect(answers).toHaveLength(Math.min(5, at + 2));
    answers[at]!();
    await settled();
  }
  await Promise.all(work);
});

test("a request whose job lost its lease is given up at once", async () => {
  const clock = virtualClock();
  let checks = 0;
  const session = createSession({
    catalog: {} as never,
    transport: { send: () => Promise.reject(new Error("sent")), close: () => undefined },
    effects: clock,
  });
  const guard = (): void => {
    checks++;
    throw new EdgetableError("job.busy", "The job lost its lease.", { retryable: true });
  };
  const context = { meter: new Meter(), signal: undefined, deadline: forever, guard };
  await expect(session.send("GetItem", { TableName: "T", Key: {} }, context)).rejects.toMatchObject({ code: "job.busy", retryable: true });
  expect(checks).toBe(1);
  expect(clock.now()).toBe(0);
});

test.each([
  ["that may have taken effect is not sent again once the service has forgotten its token", true, "T1", 540_000],
  ["that did not take effect is sent again", false, "T1", forever],
  ["without a token is sent again: who asks for it says whether it may be", true, undefined, forever],
])("a transaction %s", async (_, ambiguous, token, last) => {
  const clock = virtualClock();
  const sentAt: number[] = [];
  const session = createSession({
    catalog: {} as never,
    transport: {
      send: () => {
        sentAt.push(clock.now());
        throw new EdgetableError("execute.timeout", "no answer", { retryable: true, details: { ambiguous } });
      },
      close: () => undefined,
    },
    effects: { now: () => clock.now(), sleep: (time, signal) => clock.sleep(time, signal), random: () => 0.9 },
    retry: { attempts: 10, baseDelay: 100_000, maxDelay: 600_000 },
  });
  const input = { TransactItems: [], ...(token && { ClientRequestToken: token }) };
  const sent = session.send("TransactWriteItems", input, { meter: new Meter(), deadline: forever });
  await expect(sent).rejects.toMatchObject({ code: "execute.timeout", message: "no answer" });
  expect(sentAt.length).toBe(last === forever ? 10 : 3);
  expect(sentAt.every((at) => at < last)).toBe(true);
});
