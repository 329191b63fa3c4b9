import { isEdgetableError } from "edgetable";
import type { Client, Clients } from "./clients.ts";
import { counts, type Command, type History, type NodeType } from "./commands.ts";
import { idRow, nodeAttribute, nodeId } from "./names.ts";
import { member, stepOf, type Reported, type WriteStep } from "./perform.ts";
import type { CallRecord, Ending, Observation, WriteRecord } from "./record.ts";

interface Outcome {
  readonly ok: boolean;
  readonly reason?: string;
}

/** What the checkers start from: every node there, with the name `first`. */
export const FIRST = "first";

const createAll = async ({ calm }: Clients): Promise<void> => {
  for (const type of Object.keys(counts) as NodeType[]) {
    for (let at = 0; at < counts[type]; at++)
      await member(calm, type)["create"]?.({ ...idRow(type, nodeId(type, at)), [nodeAttribute[type]]: FIRST });
  }
  for (const accountId of ["a0", "a1"]) await member(calm, "account")["create"]?.({ accountId, alias: `own${accountId.slice(1)}` });
};

/** Whether what failed may have happened all the same. */
export const isAmbiguous = (error: unknown): boolean =>
  !isEdgetableError(error) ||
  error.code === "execute.ambiguous" ||
  error.details["ambiguous"] === true ||
  error.details["afterAmbiguity"] === true;

type Made = Pick<CallRecord, "writes" | "observations" | "error">;

const written = (steps: readonly WriteStep[], endings: readonly Ending[], repeated: boolean): readonly WriteRecord[] =>
  steps.flatMap(({ effects }, at) => effects.map((effect) => ({ effect, ending: endings[at] ?? "missing outcome", repeated })));

const endingOf = ({ ok, reason }: Outcome): Ending => (ok ? "ok" : (reason ?? "no reason"));

const write = async ({ db, lostAnswers }: Client, steps: readonly WriteStep[]): Promise<Made> => {
  const before = lostAnswers();
  const repeated = (): boolean => lostAnswers() > before;
  try {
    const call =
      steps.length === 1 ? (steps[0] as WriteStep).call : (db.transact(steps.map((step) => step.call) as never) as unknown as Reported);
    const { value } = await call.report();
    const outcomes = steps.length === 1 ? [value as Outcome] : (value as { readonly outcomes: readonly Outcome[] }).outcomes;
    return { writes: written(steps, outcomes.map(endingOf), repeated()), observations: [], error: undefined };
  } catch (error) {
    const ending = isAmbiguous(error) ? "ambiguous" : "failed";
    return {
      writes: written(
        steps,
        steps.map(() => ending),
        repeated(),
      ),
      observations: [],
      error,
    };
  }
};

const read = async (look: () => Promise<readonly Observation[]>): Promise<Made> => {
  try {
    return { writes: [], observations: await look(), error: undefined };
  } catch (error) {
    return { writes: [], observations: [], error };
  }
};

/** Makes the calls of all clients, each client's one after the other, all clients at once. */
export const runClients = async (clients: Clients, history: History): Promise<readonly CallRecord[]> => {
  await createAll(clients);
  const { clock } = clients;
  const start = clock.now();
  const records: CallRecord[] = [];
  let ordinal = 0;
  let values = 0;
  const runOne = async (at: number, client: Client, command: Command): Promise<void> => {
    const step = stepOf({ db: client.db, next: () => ++values }, command);
    const [invoke, from] = [ordinal++, clock.now() - start];
    const made = "read" in step ? await read(step.read) : await write(client, step.writes);
    records.push({ ...made, client: at, text: JSON.stringify(command), invoke, from, respond: ordinal++, until: clock.now() - start });
  };
  const runClient = async (commands: readonly Command[], at: number): Promise<void> => {
    for (const command of commands) await runOne(at, clients.stormy[at] as Client, command);
  };
  await Promise.all(history.clients.map(runClient));
  return records.toSorted((a, b) => a.invoke - b.invoke);
};
