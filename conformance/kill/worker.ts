import { createLeanTransport, type Transport } from "edgetable";
import { connect, scenarios, workUntilDone } from "./scenarios.ts";

/** When a worker ends itself; without it, it waits for its parent to do so, or finishes. */
export interface Death {
  /** The request at which it dies, from 0. */
  readonly request: number;
  readonly phase: "before" | "during" | "after";
}

/** What a worker is told, as JSON in its first argument. */
export interface Orders {
  readonly endpoint: string;
  readonly table: string;
  readonly scenario: string;
  readonly death: Death | undefined;
}

const die = (): void => {
  process.kill(process.pid, "SIGKILL");
};

const mortal = (inner: Transport, death: Death | undefined): Transport => {
  let request = 0;
  return {
    send: async (operation, input, options) => {
      const mine = death && request++ === death.request ? death.phase : undefined;
      if (mine === "before") die();
      const answer = inner.send(operation, input, options);
      if (mine === "during") setImmediate(die);
      const output = await answer;
      if (mine === "after") die();
      return output;
    },
    close: () => inner.close(),
  };
};

const { endpoint, table, scenario, death } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const transport = mortal(createLeanTransport({ endpoint }), death);
const chosen = scenarios[scenario];
if (!chosen) throw new Error(`no scenario ${scenario}`);
process.stdout.write("begun\n");
await workUntilDone(chosen, connect(table, transport));
await transport.close();
