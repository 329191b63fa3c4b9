import { openWeather, type Client, type Clients, type Place } from "../clients.ts";
import { recordText } from "../record.ts";
import { FIRST } from "../run-clients.ts";
import { checkBulk, type BulkRecord } from "./check-bulk.ts";
import { bulkCounts, type BulkCommand, type BulkHistory } from "./commands.ts";
import { connect, connectBefore, type BulkDb } from "./model.ts";
import { idRow, idText } from "./names.ts";
import { perform } from "./perform.ts";

const kinds = [
  "throttleTable",
  "throttleIndex",
  "throttleRequest",
  "internalErrorBefore",
  "internalErrorAfter",
  "unavailable",
  "resetBefore",
  "resetAfter",
  "timeoutBefore",
  "timeoutAfter",
  "transactionConflict",
  "transactionThrottled",
  "transactionInProgressBefore",
  "transactionInProgressAfter",
  "writeConflict",
  "shortPage",
  "emptyPage",
] as const;

/** What stays unprocessed is the commonest fault here; each of the others is a sixteenth as common. */
const rates = (rate: number): Readonly<Record<string, number>> => ({
  ...Object.fromEntries(kinds.map((kind) => [kind, rate / 16])),
  unprocessed: rate,
});

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Every node is there, items where they lay before the shards grew, and notes of no register. */
const prepare = async (clients: Clients<BulkDb>, notes: number): Promise<void> => {
  const { calm, table, transport } = clients;
  await calm.table.create();
  const rows = (["item", "user", "group"] as const).flatMap((type) =>
    range(bulkCounts[type]).map((at) => ({ node: type, row: { ...idRow(type, at), value: FIRST } })),
  );
  await connectBefore(table, { transport }).load(rows as never);
  for (const group of range(bulkCounts.group)) {
    const owner = { groupId: idText("group", group) };
    const lines = range(notes).map((at) => ({ line: at + bulkCounts.line, value: FIRST }));
    for (const line of lines) await calm.note.put(owner, line);
  }
};

/** Loads the code that is loaded when it is first needed: loading takes real time, and virtual time would pass meanwhile. */
const warmUp = async ({ calm, table, transport }: Clients<BulkDb>): Promise<void> => {
  const extra = { groupId: "extra" };
  await calm.batch([calm.group.put({ ...extra, value: FIRST })]);
  await calm.group.delete(extra, { indexLag: 0 });
  await calm.jobs.resumeAll();
  await connectBefore(table, { transport }).reshard();
};

const runAll = async (clients: Clients<BulkDb>, history: BulkHistory): Promise<readonly BulkRecord[]> => {
  const { clock } = clients;
  const start = clock.now();
  const records: BulkRecord[] = [];
  let ordinal = 0;
  let values = 0;
  const runOne = async (at: number, client: Client<BulkDb>, command: BulkCommand): Promise<void> => {
    const [invoke, from] = [ordinal++, clock.now() - start];
    const made = await perform({ client, clock, next: () => ++values }, command);
    const times = { invoke, from, respond: ordinal++, until: clock.now() - start };
    records.push({ ...made, ...times, command, client: at, text: JSON.stringify(command) });
  };
  const runClient = async (commands: readonly BulkCommand[], at: number): Promise<void> => {
    for (const command of commands) await runOne(at, clients.stormy[at] as Client<BulkDb>, command);
  };
  await Promise.all(history.clients.map(runClient));
  return records.toSorted((a, b) => a.invoke - b.invoke);
};

export interface BulkReport {
  readonly calls: readonly BulkRecord[];
  readonly complaints: readonly string[];
}

/** Runs a history on a fresh table, waits for quiet, and checks everything; no complaint is success. */
export const runBulk = async (place: Place, history: BulkHistory): Promise<BulkReport> => {
  const clients = openWeather<BulkDb>(place, {
    weather: history.weather,
    count: history.clients.length,
    connect: (options) => connect(place.table, options),
    rates,
  });
  await prepare(clients, history.notes);
  await warmUp(clients);
  const calls = await runAll(clients, history);
  clients.settle();
  const complaints = await checkBulk(clients, calls);
  await clients.transport.send("DeleteTable", { TableName: place.table });
  return { calls, complaints };
};

/** @throws with the complaints, and the history in an order that can be replayed */
export const demandBulk = async (place: Place, history: BulkHistory): Promise<BulkReport> => {
  const report = await runBulk(place, history);
  if (report.complaints.length === 0) return report;
  throw new Error(
    `${report.complaints.slice(0, 3).join("\n\n")}\n\nReplay (bulk/regressions.ts): ${JSON.stringify(history)}\n${recordText(report.calls)}`,
  );
};
