import { createLeanTransport, isEdgetableError, type Transport } from "edgetable";
import { seededRandom } from "@edgetable/testing";
import { setTimeout as pause } from "node:timers/promises";
import { connect, LEASE, scenarios, workUntilDone } from "./scenarios.ts";

/** When a worker ends itself; without it, it waits for its parent to do so, or finishes. */
export interface Death {
  /** The request at which it dies, from 0. */
  readonly request: number;
  /**
   * `saved`: after the answer to the nth request that saves a job's state. `stopped`: after the nth answer since
   * it has a job it only stands still, until its parent lets it go on; it does one job, and says how that ended and how
   * many writes it sent after its stop.
   */
  readonly phase: "before" | "during" | "after" | "saved" | "stopped";
}

/** What a worker is told, as JSON in its first argument. */
export interface Orders {
  readonly endpoint: string;
  readonly table: string;
  readonly scenario: string;
  readonly death: Death | undefined;
  /** Seed of the milliseconds that requests are held up, so that they overtake each other. */
  readonly seed: number;
  /** Milliseconds for which the lease of a worker holds that is to stand still. */
  readonly lease?: number;
}

const LONGEST_PAUSE = 6;

const WRITES: ReadonlySet<string> = new Set(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"]);

const writesJob = (input: object): boolean => JSON.stringify(input).includes('"~job"');
const savesState = (operation: string, input: object): boolean => operation === "UpdateItem" && writesJob(input);

const die = (): void => {
  process.kill(process.pid, "SIGKILL");
};

const standStill = (): void => {
  process.stdout.write("stopped\n");
  process.kill(process.pid, "SIGSTOP");
};

interface Mortal extends Transport {
  /** Writes sent since it stood still, those of its job's state left out. */
  sentSinceStop(): number;
}

const mortal = (inner: Transport, { death, seed }: Orders): Mortal => {
  const random = seededRandom(seed);
  // What is held up here would go out after a stop, past every check of the library.
  const longest = death?.phase === "stopped" ? 0 : LONGEST_PAUSE;
  let request = 0;
  let began = death?.phase !== "stopped";
  let stopped = false;
  let sentSinceStop = 0;
  return {
    send: async (operation, input, options) => {
      began ||= writesJob(input);
      const counts = began && (death?.phase !== "saved" || savesState(operation, input));
      const mine = death && counts && request++ === death.request ? death.phase : undefined;
      if (longest > 0) await pause(random() * longest);
      if (stopped && WRITES.has(operation) && !writesJob(input)) sentSinceStop++;
      if (mine === "before") die();
      const answer = inner.send(operation, input, options);
      if (mine === "during") setImmediate(die);
      const output = await answer;
      if (mine === "after" || mine === "saved") die();
      if (mine === "stopped") {
        stopped = true;
        standStill();
      }
      return output;
    },
    sentSinceStop: () => sentSinceStop,
    close: () => inner.close(),
  };
};

const orders = JSON.parse(process.argv[2] ?? "{}") as Orders;
const { endpoint, table, scenario, lease = LEASE } = orders;
const transport = mortal(createLeanTransport({ endpoint }), orders);
const chosen = scenarios[scenario];
if (!chosen) throw new Error(`no scenario ${scenario}`);
process.stdout.write("begun\n");
const db = connect(table, { transport });
if (orders.death?.phase === "stopped") {
  const ended = await (chosen.once ?? chosen.work)(db, lease).then(
    () => "done",
    (error: unknown) => (isEdgetableError(error) ? error.code : String(error)),
  );
  process.stdout.write(`${ended} ${transport.sentSinceStop()}\n`);
} else await workUntilDone(chosen, db);
await transport.close();
