import { type AdvancedOptions, EdgetableError, type OperationOutputs, type Transport } from "edgetable";

/** Milliseconds that each request takes. */
export const TAKES = 10;

interface Slow {
  readonly transport: Transport;
  readonly advanced: AdvancedOptions;
}

// DynamoDB gives the items of a batch in any order.
const shuffled = <T extends object>(output: T): T => {
  const { Responses } = output as Partial<OperationOutputs["BatchGetItem"]>;
  if (Responses === undefined || Array.isArray(Responses)) return output;
  return {
    ...output,
    Responses: Object.fromEntries(
      Object.entries(Responses).map(([table, items]) => [
        table,
        items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? 1 : -1)),
      ]),
    ),
  };
};

/**
 * The engine as one that answers one request after another, each in its time, by a clock that stands still
 * meanwhile: what is asked for later than its timeout allows is given up, as a transport gives it up.
 *
 * @param rulesOff planner rules to switch off
 */
export const slowed = (engine: Transport, rulesOff: readonly string[] = []): Slow => {
  let [now, busyUntil] = [1_000_000_000_000, 0];
  let before: Promise<unknown> = Promise.resolve();
  const pass = (until: number): void => {
    now = Math.max(now, until);
  };
  const send: Transport["send"] = async (operation, input, options = {}) => {
    const { timeout = Number.POSITIVE_INFINITY, ...rest } = options;
    const [due, done] = [now + timeout, Math.max(now, busyUntil) + TAKES];
    if (done > due) {
      await before;
      pass(due);
      throw new EdgetableError("execute.timeout", `${operation}: no answer in ${timeout} ms`, { retryable: true });
    }
    busyUntil = done;
    const answer = engine.send(operation, input, rest);
    before = answer.catch(() => undefined);
    const output = await answer;
    pass(done);
    return shuffled(output);
  };
  const sleep = async (milliseconds: number): Promise<void> => pass(now + milliseconds);
  return { transport: { send, close: () => undefined }, advanced: { effects: { now: () => now, random: () => 0.5, sleep }, rulesOff } };
};
