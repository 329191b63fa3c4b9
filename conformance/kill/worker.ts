import { createLeanTransport, type Transport } from "edgetable";
import { seededRandom } from "edgetable/testing";
import { setTimeout as pause } from "node:timers/promises";
import { connect, scenarios, workUntilDone } from "./scenarios.ts";

/** When a worker ends itself; without it, it waits for its parent to do so, or finishes. */
export interface Death {
  /** The request at which it dies, from 0. */
  readonly request: number;
  /** `saved`: after the answer to the nth request that saves a job's state. */
  readonly phase: "before" | "during" | "after" | "saved";
}

/** What a worker is told, as JSON in its first argument. */
export interface Orders {
  readonly endpoint: string;
  readonly table: string;
  readonly scenario: string;
  readonly death: Death | undefined;
  /** Seed of the milliseconds that requests are held up, so that they overtake each other. */
  readonly seed: number;
}

const LONGEST_PAUSE = 6;

const savesState = (operation: string, input: object): boolean => operation === "UpdateItem" && JSON.stringify(input).includes('"~job"');

const die = (): void => {
  process.kill(process.pid, "SIGKILL");
};

const mortal = (inner: Transport, { death, seed }: Orders): Transport => {
  const random = seededRandom(seed);
  let request = 0;
  return {
    send: async (operation, input, options) => {
      const counts = death?.phase !== "saved" || savesState(operation, input);
      const mine = death && counts && request++ === death.request ? death.phase : undefined;
      await pause(random() * LONGEST_PAUSE);
      if (mine === "before") die();
      const answer = inner.send(operation, input, options);
      if (mine === "during") setImmediate(die);
      const output = await answer;
      if (mine === "after" || mine === "saved") die();
      return output;
    },
    close: () => inner.close(),
  };
};

const orders = JSON.parse(process.argv[2] ?? "{}") as Orders;
const { endpoint, table, scenario } = orders;
const transport = mortal(createLeanTransport({ endpoint }), orders);
const chosen = scenarios[scenario];
if (!chosen) throw new Error(`no scenario ${scenario}`);
process.stdout.write("begun\n");
await workUntilDone(chosen, connect(table, { transport }));
await transport.close();
