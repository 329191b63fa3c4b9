import { checkErrors } from "./check-errors.ts";
import { checkRegisters, checkWeakReads } from "./check-registers.ts";
import { checkTable } from "./check-table.ts";
import { checkTokens, checkTransfers } from "./check-tokens.ts";
import { openClients, type Clients, type Place } from "./clients.ts";
import { counts, type EdgeName, type History, type ReadCommand } from "./commands.ts";
import { edgeTypes } from "./names.ts";
import { stepOf } from "./perform.ts";
import { finalValues, readRawTable, type RawTable } from "./raw-table.ts";
import { ABSENT, recordText, type CallRecord, type Observation } from "./record.ts";
import { runClients } from "./run-clients.ts";

const listAt = (edge: EdgeName, direction: "out" | "in", at: number): ReadCommand => ({
  kind: "list",
  strong: false,
  direction,
  edge,
  from: at,
  to: at,
});

const everyList: readonly ReadCommand[] = (Object.keys(edgeTypes) as EdgeName[]).flatMap((edge) =>
  (["out", "in"] as const).flatMap((direction) => {
    const type = edgeTypes[edge][direction === "out" ? "from" : "to"];
    return Array.from({ length: counts[type] }, (_, at) => listAt(edge, direction, at));
  }),
);

/** Every list of neighbours, both ways, read by the library, is what the table holds. */
const checkLists = async ({ calm }: Clients, final: ReadonlyMap<string, string>): Promise<readonly string[]> => {
  const complaints: string[] = [];
  for (const command of everyList) {
    const step = stepOf({ db: calm, next: () => 0 }, command);
    const seen = "read" in step ? await step.read() : [];
    complaints.push(
      ...seen
        .filter(({ object, value }) => (final.get(object) ?? ABSENT) !== value)
        .map(({ object, value }) => `${JSON.stringify(command)} shows ${object}=${value}; the table has ${final.get(object) ?? ABSENT}`),
    );
  }
  return complaints;
};

const lastLook = (calls: readonly CallRecord[], final: ReadonlyMap<string, string>): CallRecord => {
  const objects = new Set(
    calls.flatMap((call) => [...call.writes.map(({ effect }) => effect.object), ...call.observations.map(({ object }) => object)]),
  );
  const nothing = (object: string): string => (object.startsWith("swing:") ? "0" : object.startsWith("tokens:") ? "=0" : ABSENT);
  const observations = [...objects].map((object): Observation => ({
    object,
    value: final.get(object) ?? nothing(object),
    strong: true,
    moving: false,
  }));
  const end = calls.length * 2;
  const until = Math.max(0, ...calls.map((call) => call.until));
  return {
    client: -1,
    text: "the table in the end",
    invoke: end,
    respond: end + 1,
    from: until,
    until,
    writes: [],
    observations,
    error: undefined,
  };
};

const check = async (clients: Clients, table: RawTable, calls: readonly CallRecord[]): Promise<readonly string[]> => {
  const final = finalValues(table);
  const all = [...calls, lastLook(calls, final)];
  return [
    ...checkErrors(calls),
    ...checkTokens(all),
    ...checkTransfers(calls, final),
    ...checkRegisters(all),
    ...checkWeakReads(calls),
    ...(await checkTable(table, clients.transport)),
    ...(await checkLists(clients, final)),
  ];
};

/** What became of a history. */
export interface Report {
  readonly calls: readonly CallRecord[];
  readonly complaints: readonly string[];
}

/** Runs a history on a fresh table, waits for quiet, and checks everything; no complaint is success. */
export const runHistory = async (place: Place, history: History): Promise<Report> => {
  const clients = openClients(place, history.weather, history.clients.length);
  await clients.calm.table.create();
  const calls = await runClients(clients, history);
  clients.settle();
  const table = await readRawTable(clients.transport, clients.calm.catalog);
  const complaints = await check(clients, table, calls);
  await clients.transport.send("DeleteTable", { TableName: place.table });
  return { calls, complaints };
};

/** @throws with the complaints, and the history in an order that can be replayed */
export const demandTruth = async (place: Place, history: History): Promise<Report> => {
  const report = await runHistory(place, history);
  if (report.complaints.length === 0) return report;
  throw new Error(
    `${report.complaints.slice(0, 3).join("\n\n")}\n\nReplay (regressions.ts): ${JSON.stringify(history)}\n${recordText(report.calls)}`,
  );
};
