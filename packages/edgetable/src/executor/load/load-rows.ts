import { withDetails } from "../../errors/edgetable-error.ts";
import { hasPassed } from "../../util/time.ts";
import type { Session } from "../session.ts";
import { findCollisions } from "./collisions.ts";
import { noFaults, tell } from "./faults.ts";
import type { LoadSettings, LoadSource } from "./load-settings.ts";
import { readRows, type Reading } from "./read-rows.ts";
import { startTally, type LoadProgress, type LoadReport, type Tally } from "./tally.ts";
import { openWriter } from "./write-rows.ts";

/** A load under way. */
export interface Loading {
  readonly done: Promise<LoadReport>;
  progress(): LoadProgress;
}

const placeOf = ({ rows, writer }: Reading): { readonly rows: number; readonly position: number } => ({
  rows,
  position: writer.position(rows),
});

const reportOf = (reading: Reading, tally: Tally): LoadReport =>
  tally.report({ ...placeOf(reading), skipped: Math.min(reading.settings.from, reading.rows) }, reading.collisions.report());

const run = async (reading: Reading, tally: Tally): Promise<LoadReport> => {
  let failure: { readonly error: unknown } | undefined;
  try {
    await readRows(reading);
  } catch (error) {
    failure = { error };
  }
  // Rows before the one that ended the reading are still written.
  await reading.writer.finish();
  failure ??= reading.faults.thrown ?? reading.faults.reason;
  const report = reportOf(reading, tally);
  if (failure) throw withDetails(failure.error, { report });
  reading.settings.onProgress?.(report);
  return report;
};

/** Begins to load. */
export const loadRows = (session: Session, source: LoadSource, settings: LoadSettings): Loading => {
  const now = (): number => session.effects.now();
  const tally = startTally({ now, named: settings.named });
  const faults = noFaults(tally, settings);
  let reported = now();
  const tellProgress = (): void => {
    const { onProgress, progressEvery } = settings;
    const time = now();
    if (!onProgress || !hasPassed(progressEvery, reported, time)) return;
    reported = time;
    tell(faults, () => onProgress(tally.progress(placeOf(reading))));
  };
  const reading: Reading = {
    session,
    source,
    settings,
    faults,
    collisions: findCollisions(settings),
    writer: openWriter({ session, settings, tally, faults, written: tellProgress }),
    rows: 0,
    breathed: now(),
  };
  return { done: run(reading, tally).finally(() => reading.collisions.close()), progress: () => tally.progress(placeOf(reading)) };
};
