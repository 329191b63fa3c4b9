import { EdgetableError } from "../../errors/edgetable-error.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { keyId } from "../../ir/write-plan.ts";
import { batchWrite, requestKey } from "../batch.ts";
import { Meter } from "../call.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { type Batch, type Batches, openBatches, type Pause } from "./batches.ts";
import { failRow, failWrite, type Faults, guarded } from "./faults.ts";
import { openFlights, type Flights } from "./flights.ts";
import type { LoadSettings } from "./load-settings.ts";
import type { PlannedRow } from "./plan-row.ts";
import type { Tally } from "./tally.ts";

/** Writes rows, many at a time. */
export interface RowWriter {
  /** Gives what to wait for before the next row, where there is anything. */
  write(row: number, planned: PlannedRow): Pause;
  /** Writes what is still in a batch, unless the load was halted; resolves when everything under way has ended. */
  finish(): Promise<void>;
  /** The first row that is not written, of those before `end`. */
  position(end: number): number;
}

interface WriteSettings {
  readonly session: Session;
  readonly settings: LoadSettings;
  readonly tally: Tally;
  readonly faults: Faults;
  /** Called after each write. */
  readonly written: () => void;
}

interface Writing extends WriteSettings {
  readonly flights: Flights;
  readonly batches: Batches;
}

type RowAlone = PlannedRow & { readonly kind: "alone" };

const contextOf = ({ session, settings }: WriteSettings): CallContext => ({
  meter: new Meter(),
  signal: settings.signal,
  deadline: session.effects.now() + settings.deadline,
  guard: settings.check,
});

const writeBatch = async (writing: WriteSettings, { requests }: Batch): Promise<void> => {
  const { session, tally, faults } = writing;
  const context = contextOf(writing);
  const left = await batchWrite(
    session,
    [...requests.values()].map(({ request }) => request),
    context,
  );
  tally.wrote(requests.size - left.length, context.meter.cost);
  for (const { request, error } of left) failWrite(faults, requests.get(keyId(requestKey(session.catalog, request)))?.rows ?? [], error);
  writing.written();
};

const writeAlone = async (writing: WriteSettings, row: number, { write, items }: RowAlone): Promise<void> => {
  const context = contextOf(writing);
  const result = await runWrites(writing.session, [write], context);
  writing.tally.wrote(result.ok ? items.length : 0, context.meter.cost);
  if (!result.ok) {
    const { failure } = result.failed[0] ?? {};
    const why = showReason(failure ?? { reason: "rolledBack" });
    failRow(writing.faults, row, new EdgetableError("execute.notWritten", `It was not written: ${why}.`, { details: { ...failure } }));
  }
  writing.written();
};

const startAlone = async (writing: Writing, row: number, planned: RowAlone): Promise<void> => {
  const { batches, flights, faults, settings } = writing;
  // What the open batch writes to one of its keys comes first.
  if (settings.order === "kept" && batches.writes(planned.holds)) await batches.flush();
  await flights.start({
    firstRow: row,
    holds: planned.holds,
    run: () => guarded(faults, [row], () => writeAlone(writing, row, planned)),
  });
};

/** Opens what writes rows: most of them in batches, some alone. */
export const openWriter = (given: WriteSettings): RowWriter => {
  const { settings, faults } = given;
  const flights = openFlights(settings.concurrency);
  const batches = openBatches((batch) => {
    const rows = [...batch.requests.values()].flatMap((one) => one.rows).toSorted((a, b) => a - b);
    const holds = settings.order === "kept" ? [...batch.requests.keys()] : [];
    return flights.start({ firstRow: batch.firstRow, holds, run: () => guarded(faults, rows, () => writeBatch(given, batch)) });
  });
  const writing: Writing = { ...given, flights, batches };
  return {
    write: (row, planned) => (planned.kind === "batch" ? batches.add(row, planned.items) : startAlone(writing, row, planned)),
    finish: async () => {
      if (!faults.halted) await batches.flush();
      await flights.landed();
    },
    position: (end) => Math.min(flights.position(end), batches.firstRow(end), faults.stuck),
  };
};
