import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { readExpiry } from "../executor/administer-table.ts";
import { addCosts, type Cost } from "../executor/call.ts";
import { bookkeeping, findJob, type Job, type JobFacts, takeLease } from "../executor/jobs/job-store.ts";
import { newRun, type Rate, REQUEST_DEADLINE, type Run, runJob, step } from "../executor/jobs/run-job.ts";
import { type ModelRecord, type MoveState, readRecord, type RecordedMigration } from "../executor/model-record.ts";
import { type ReshardProgress, runReshard } from "../executor/reshard/run-reshard.ts";
import type { Session } from "../executor/session.ts";
import { recordedModel, writeRecord } from "../executor/write-record.ts";
import { endedRenamings } from "../schema/compare-models.ts";
import type { Item, Key, TableDescription } from "../transport/operations.ts";
import { beginPass, beginTask, MOST_PASSES, newPasses, type Pass, type PassState, runPass, wantedKeys } from "./backfill.ts";
import { createIndex, deleteIndex, missingSettings, readRecovery, setExpiry, setRecovery, setTable, theTable } from "./change-indexes.ts";
import { derive, type DeriveSettings, reserve, toldOf } from "./derive.ts";
import type { MigrationStep } from "./migration-steps.ts";
import { type MigrationPlan, planMigration, type PlanSettings } from "./plan-migration.ts";
import { findOldForms } from "./old-forms.ts";
import { type Finding, findStaleKeys, type UnfitItem } from "./stale-keys.ts";

/** The id of the job: a table has one migration at a time. */
export const MIGRATION_JOB = "migrate";

/** Options of running a migration. */
export interface MigrationSettings {
  readonly share: number;
  readonly finish: boolean;
  readonly dryRun: boolean;
  readonly leaveOut: boolean;
  readonly inPlace: boolean;
  readonly again: boolean;
  readonly lease: number;
  readonly indexLag: number;
  readonly signal: AbortSignal | undefined;
  /** Time (as `Effects.now` returns it) after which no step begins. */
  readonly deadline: number;
  readonly onProgress: ((progress: MigrationProgress) => void) | undefined;
  /** Moves the values of users' fields. The client passes the code of grids, which this folder must not import. */
  readonly moveValues: (
    run: Run,
    move: {
      readonly node: string;
      /** Changed with each page. */
      readonly state: MoveState;
      readonly rate: Rate;
      readonly dryRun: boolean;
      readonly onPage: () => void;
    },
  ) => Promise<void>;
}

/** The progress of a migration. */
export interface MigrationProgress {
  /** The current step. */
  readonly step: MigrationStep["kind"];
  /** The description of the step. */
  readonly says: string;
  /** The number of the pass over the table, from 1. */
  readonly pass: number;
  /** Number of items that the pass has read. */
  readonly seen: number;
  /** Number of items that the pass found without the right keys. */
  readonly stale: number;
  /** Number of items changed by all passes. */
  readonly changed: number;
  /** Number of items that cannot have the keys. */
  readonly unfit: number;
  /** Number of items in the table, as DynamoDB counted them within the last six hours. */
  readonly items: number;
}

/** The result of one run of a migration. */
export interface MigrationReport {
  /** True if the table now follows the model. */
  readonly complete: boolean;
  /** What to do next, as a sentence; undefined if nothing is left. */
  readonly next: string | undefined;
  readonly plan: MigrationPlan;
  readonly passes: number;
  /** Number of items changed by all runs of the migration; in a dry run, of items that would be changed. */
  readonly changed: number;
  /** Items that an index leaves out, because they cannot have its keys: their number, and the first 100. */
  readonly leftOut: { readonly items: number; readonly first: readonly UnfitItem[] };
  /** The cost of this run only. */
  readonly cost: Cost;
}

/** One run, and the passes so far. */
interface Migrating extends Run {
  readonly settings: MigrationSettings;
  readonly state: PassState;
  /** The first items that the current pass cannot correct. */
  named: UnfitItem[];
  /** Attributes that the migration will compute. The current pass skips items that lack them. */
  readonly lacking: Set<string>;
  /** Moves of values, by node type. */
  moves: Record<string, MoveState>;
  /** The migration to which the passes belong, and whether it looks again. */
  begun: string;
  plan: MigrationPlan;
  items: number;
}

// Without provisioned capacity, a table that was never busier takes 4,000 writes and 12,000 reads a second (on-demand mode).
const ON_DEMAND: Rate = { read: 12_000, write: 4000 };

/** Plans the migration of a connection's table. */
export const planOf = async (
  run: Run,
  { inPlace, again }: PlanSettings,
): Promise<{ readonly plan: MigrationPlan; readonly record: ModelRecord; readonly table: TableDescription }> => {
  const { session } = run;
  const table = await theTable(run);
  const record = await step(run, async (context) => readRecord(session, context));
  const expiry = await step(run, async (context) => readExpiry(session, context));
  const { settings: wanted = {} } = session.catalog.definition;
  const { pointInTimeRecovery } = wanted;
  let settings = missingSettings(table, wanted);
  if (pointInTimeRecovery !== undefined) {
    const recovers = await readRecovery(run);
    // A service without point-in-time recovery has none to set.
    if (recovers !== undefined && recovers !== pointInTimeRecovery) settings = { ...settings, pointInTimeRecovery };
  }
  const isOurs = record.migration?.hash === recordedModel(session).hash;
  const looksAgain = again || (isOurs && record.migration?.again === true);
  const ground = { catalog: session.catalog, record, table, expiry, settings };
  return { plan: planMigration(ground, { inPlace, again: looksAgain }), record, table };
};

/** @throws {migrate.otherModel} if the migration to another model has begun and not ended */
const refuseOtherModel = ({ catalog }: Session, { migration }: ModelRecord, ours: string): void => {
  if (!migration || migration.hash === ours) return;
  const since = new Date(migration.since).toISOString();
  throw new EdgetableError(
    "migrate.otherModel",
    `"${catalog.table}" is being migrated to another model (${migration.hash}, since ${since}; this one is ${ours}). Finish it with that model, or undo it: db.migrations.undo() or edgetable migrate undo.`,
    { details: { table: catalog.table, underway: migration.hash, model: ours, since: migration.since } },
  );
};

const checkRefusals = ({ table, refusals }: MigrationPlan): void => {
  if (refusals.length === 0) return;
  throw new EdgetableError("migrate.unsupported", `"${table}" cannot follow the model: ${refusals.join(" ")}`, {
    details: { table, refusals },
  });
};

const tell = (run: Migrating, { kind, says }: MigrationStep): void => {
  const { pass, seen, stale, changed, unfit } = run.state;
  run.settings.onProgress?.({ step: kind, says, pass, seen, stale, changed, unfit, items: run.items });
};

const CHECKING = "check that every value converts";

/**
 * First converts every value without writing, so that all values that do not convert are known. Then, with `finish`, stores them in
 * the form that the model writes, in passes until one finds nothing to convert.
 */
const convert = async (run: Migrating, task: MigrationStep, rate: Rate): Promise<void> => {
  const { state, settings, session } = run;
  const { finish, dryRun } = settings;
  const { table } = session.catalog;
  const find = (item: Item): Finding => findOldForms(session.catalog, item);
  const isResumed = state.task === "convert" && state.final && state.unfit === 0 && finish && state.start !== undefined;
  const look = isResumed ? undefined : { ...newPasses(), task: "convert" as const };
  for (let at = look ?? state; ;) {
    run.named = [];
    const isLook = at === look;
    const onPage = (): void => tell({ ...run, state: { ...at, changed: state.changed } }, isLook ? { ...task, says: CHECKING } : task);
    await runPass(run, { find, state: at, rate, dryRun: dryRun || isLook, named: run.named, onPage });
    if (at.unfit > 0)
      throw new EdgetableError(
        "migrate.notConvertible",
        `${at.unfit} of the items in "${table}" hold values that do not convert: ${toldOf(run.named)} Correct these items or the conversion, and run the migration again.`,
        { details: { table, items: at.unfit, first: run.named } },
      );
    if (isLook && dryRun) state.changed += at.stale;
    if (dryRun || !finish || at.stale === 0) return;
    if (isLook) beginTask(state, "convert", finish);
    else beginPass(state, finish);
    at = state;
  }
};

/** The copies and derived attributes that an item's key needs and the item lacks. Only the migration computes them. */
const computedOf = ({ facts }: Session["catalog"], { definition, problem, says }: UnfitItem): readonly string[] =>
  [
    ...facts.copies.map(({ onto, attribute }) => [onto.name, attribute] as const),
    ...facts.aggregates.map((one) => [one.node, one.attribute] as const),
    ...facts.summaries.map((one) => [one.edge, one.attribute] as const),
  ].flatMap(([name, attribute]) => (name === definition && problem === "missing" && says.includes(`"${attribute}"`) ? [attribute] : []));

const quoted = (names: Iterable<string>): string => [...new Set(names)].map((name) => `"${name}"`).join(", ");

const WRITTEN_SINCE = "a program with the older model has written these items since, or the source of the value does not exist.";

/** What to do about items that cannot be in an index. */
const remedyOf = ({ catalog }: Session, named: readonly UnfitItem[]): string => {
  const lacking = quoted(named.flatMap((unfit) => computedOf(catalog, unfit)));
  if (lacking === "")
    return "Correct these items, declare the entry sparse, or pass leaveOut to leave them out; then run the migration again.";
  return `The migration computes ${lacking}: ${WRITTEN_SINCE} Stop the programs with the older model, and run the migration with finish.`;
};

/**
 * Passes over the table until a pass finds every key correct. Without `finish`, it skips items that lack attributes which the
 * migration computes: writers with an older model make such items, and the run with `finish` computes the attributes. With
 * `finish`, the last pass began after the last writer with an older model had ended, so writers keep the keys correct from then on.
 */
const backfill = async (run: Migrating, task: Extract<MigrationStep, { readonly kind: "backfill" }>, rate: Rate): Promise<void> => {
  const { state, settings, session } = run;
  const { finish, leaveOut, dryRun } = settings;
  const { table } = session.catalog;
  const wanted = wantedKeys(session.catalog, task.entries, { leavesOut: leaveOut, final: finish });
  const find = (item: Item): Finding => {
    const finding = findStaleKeys(wanted, item);
    if (finish || finding.kind !== "unfit") return finding;
    const lacking = computedOf(session.catalog, finding.unfit);
    for (const name of lacking) run.lacking.add(name);
    return lacking.length > 0 ? { kind: "right" } : finding;
  };
  beginTask(state, "backfill", finish);
  for (;;) {
    run.named = [];
    run.lacking.clear();
    const pass: Pass = { find, state, rate, dryRun, named: run.named, onPage: () => tell(run, task) };
    await runPass(run, pass);
    // The next pass reads about as many.
    run.items = Math.max(run.items, state.seen);
    if (dryRun) return;
    if (state.unfit > 0 && !leaveOut)
      throw new EdgetableError(
        run.named.some(({ problem }) => problem === "missing") ? "migrate.missingSource" : "migrate.invalidKey",
        `${state.unfit} of the items in "${table}" cannot be in the index: ${toldOf(run.named)} All others have their keys. ${remedyOf(session, run.named)}`,
        { details: { table, items: state.unfit, first: run.named } },
      );
    if (state.stale === 0 || (!finish && state.pass >= MOST_PASSES)) return;
    beginPass(state, finish);
  }
};

/** Number of items changed by all runs of the migration, including moved values. */
const changedBy = ({ state, moves }: Migrating): number => Object.values(moves).reduce((sum, { moved }) => sum + moved, state.changed);

const mendSettings = (run: Migrating, task: MigrationStep, rate: Rate): DeriveSettings => {
  const { finish, dryRun, indexLag: settle } = run.settings;
  const streamed = task.kind === "derive" && task.streamed.length > 0;
  const facts = task.kind === "derive" ? task.facts : [];
  const onPage: DeriveSettings["onPage"] = (pass = run.state.pass) => tell({ ...run, state: { ...run.state, pass } }, task);
  return { state: run.state, finish, dryRun, settle, items: run.items, facts, streamed, rate, onPage };
};

/** Takes one step of the migration that began at `since`. Every step may be repeated. */
const takeStep = async (
  run: Migrating,
  task: MigrationStep,
  { rate, since }: { readonly rate: Rate; readonly since: number },
): Promise<void> => {
  tell(run, task);
  switch (task.kind) {
    case "setExpiry":
      return setExpiry(run, task.attribute);
    case "setTable": {
      const { pointInTimeRecovery, ...others } = task.settings;
      if (Object.keys(others).length > 0) await setTable(run, others);
      if (pointInTimeRecovery !== undefined) await setRecovery(run, pointInTimeRecovery);
      return undefined;
    }
    case "convert":
      return convert(run, task, rate);
    case "derive":
      return derive(run, mendSettings(run, task, rate));
    case "reserve":
      return reserve(run, mendSettings(run, task, rate));
    case "backfill":
      return backfill(run, task, rate);
    case "moveValues": {
      const { settings, moves } = run;
      const { node, to } = task;
      const earlier = moves[node];
      const state =
        earlier?.to === to && earlier.since === since
          ? earlier
          : { to, since, phase: "rows" as const, pass: 1, start: undefined, seen: 0, found: 0, isProof: true, moved: 0 };
      moves[node] = state;
      const onPage = (): void => {
        const { pass, seen, found } = state;
        tell({ ...run, state: { ...run.state, pass, seen, stale: found, changed: changedBy(run) } }, task);
      };
      await settings.moveValues(run, { node, state, rate, dryRun: settings.dryRun, onPage });
      return undefined;
    }
    case "createIndex": {
      await createIndex(run, task.index);
      const keys = run.plan.steps.find((one) => one.kind === "backfill");
      if (!keys) return undefined;
      // DynamoDB silently leaves out items that were written with a wrong type in the meantime, so every item is checked again.
      beginPass(run.state, true);
      return backfill(run, keys, rate);
    }
    case "reshard": {
      const { lease, indexLag, signal, deadline } = run.settings;
      const settings = {
        index: task.index,
        rate: Math.max(1, rate.write / 3),
        job: `${MIGRATION_JOB}:${task.index}`,
        lease,
        indexLag,
        deadline,
        records: false,
        begun: run.begun,
      };
      const before = { pass: 0, seen: 0, moved: 0, last: { seen: 0, moved: 0 } };
      const onProgress = ({ passes: pass, seen, moved }: ReshardProgress): void => {
        if (pass > before.pass) Object.assign(before, { pass, ...before.last });
        before.last = { seen, moved };
        const { state } = run;
        const pages = { pass, seen: seen - before.seen, stale: moved - before.moved, unfit: 0, changed: state.changed + moved };
        tell({ ...run, state: { ...state, ...pages } }, task);
      };
      const { moved, cost } = await runReshard(run.session, { ...settings, signal: signal ?? run.signal, onProgress });
      run.state.changed += moved;
      run.cost = addCosts(run.cost, cost);
      return undefined;
    }
    case "deleteIndex":
      return deleteIndex(run, task.index);
    case "record":
      return undefined;
  }
};

const AGAIN =
  "The record says that the table follows the model, so the table was not read. If a program with an older model has written to it since, stop that program, then run with again and finish.";

const nextOf = ({ plan: { steps }, settings: { inPlace, leaveOut }, lacking }: Migrating): string => {
  const options = ["finish", ...(inPlace ? ["inPlace"] : []), ...(leaveOut ? ["leaveOut"] : [])].join(" and ");
  const but = lacking.size === 0 ? "." : `, except those that lack ${quoted(lacking)}, which the migration computes: ${WRITTEN_SINCE}`;
  const keys = steps.some(({ kind }) => kind === "backfill") ? `Items have their keys${but} ` : "";
  const values = steps.some(({ kind }) => kind === "convert") ? "Every value converts. " : "";
  return `${values}${keys}Once every process that writes uses this model, run it again with ${options}: ${[
    ...(values ? ["values are converted"] : []),
    "the last passes",
    ...(steps.some(({ kind }) => kind === "createIndex") ? ["then the indexes"] : []),
  ].join(", ")}.`;
};

/** The steps that pass over the items of the table. A dry run counts what they would change. */
const PASSES: readonly MigrationStep["kind"][] = ["convert", "derive", "reserve", "backfill", "moveValues"];
/** The steps that wait for `finish`, when no process with an older model is left. */
const WAITING: readonly MigrationStep["kind"][] = ["reshard", "createIndex", "deleteIndex", "record"];
/** The steps that older writers do not undo. A plan of only such steps needs no `finish`. */
const LASTING: readonly MigrationStep["kind"][] = ["setExpiry", "setTable", "moveValues", "record"];

/** Records that the migration has begun, unless that is recorded already. */
const begin = async (run: Migrating, record: ModelRecord): Promise<ModelRecord> => {
  const { session, plan } = run;
  const { again } = run.settings;
  if (record.migration && (!again || record.migration.again)) return record;
  const creates = plan.steps.flatMap((one) => (one.kind === "createIndex" && !one.begun ? [one.index] : []));
  const begun = record.migration ?? { ...recordedModel(session), since: session.effects.now(), creates };
  const migration: RecordedMigration = again ? { ...begun, again } : begun;
  const isOurs = await step(run, async (context) => writeRecord(session, record, { current: record.current, migration }, context));
  const now = await step(run, async (context) => readRecord(session, context));
  if (isOurs) return now;
  refuseOtherModel(session, now, plan.model);
  // A program that created the table has recorded its kinds meanwhile.
  return begin(run, now);
};

/** Discards passes of an earlier migration, and those from before `again` was set: they prove nothing. */
const beginAnew = (run: Migrating, { migration }: ModelRecord): void => {
  const begun = `${migration?.since ?? 0}${migration?.again ? " again" : ""}`;
  if (run.begun !== begun) Object.assign(run.state, newPasses(), { changed: run.state.changed });
  run.begun = begun;
};

/** Takes the steps of the plan. Returns true if the table then follows the model. */
const takeSteps = async (run: Migrating): Promise<boolean> => {
  const { session, settings } = run;
  // Another process may have taken steps before this one had the lease.
  const { plan, record, table } = await planOf(run, settings);
  run.plan = plan;
  run.items = table.ItemCount ?? 0;
  refuseOtherModel(session, record, plan.model);
  checkRefusals(plan);
  if (plan.steps.length === 0) return true;
  const { ReadCapacityUnits, WriteCapacityUnits } = table.ProvisionedThroughput ?? {};
  const rate = {
    read: (ReadCapacityUnits || ON_DEMAND.read) * settings.share,
    write: (WriteCapacityUnits || ON_DEMAND.write) * settings.share,
  };
  const before = settings.dryRun ? record : await begin(run, record);
  beginAnew(run, before);
  const finishes = settings.finish || plan.steps.every(({ kind }) => LASTING.includes(kind));
  for (const task of plan.steps) {
    // Attributes that are computed by means of a new index wait for it.
    const isAfterIndex = task.kind === "derive" && plan.steps.slice(0, plan.steps.indexOf(task)).some(({ kind }) => kind === "createIndex");
    const isWaiting = isAfterIndex || WAITING.includes(task.kind);
    if (settings.dryRun ? !PASSES.includes(task.kind) || isAfterIndex : !finishes && isWaiting) continue;
    await takeStep(run, task, { rate, since: before.migration?.since ?? 0 });
  }
  if (settings.dryRun || !finishes) return false;
  const renamed = before.current && endedRenamings(session.catalog, before.current);
  const after = { current: { ...recordedModel(session), ...(renamed ? { renamed } : {}) }, migration: undefined };
  if (await step(run, async (context) => writeRecord(session, before, after, context))) return true;
  const now = await step(run, async (context) => readRecord(session, context));
  refuseOtherModel(session, now, plan.model);
  // Another process has ended the migration, or undone it.
  return now.current?.hash === plan.model && now.migration === undefined;
};

const factsOf = ({ plan, state, moves, begun }: Migrating): JobFacts => ({
  model: plan.model,
  task: state.task,
  refreshed: state.refreshed ? 1 : 0,
  pass: state.pass,
  final: state.final ? 1 : 0,
  start: state.start ? JSON.stringify(state.start) : "",
  seen: state.seen,
  stale: state.stale,
  unfit: state.unfit,
  changed: state.changed,
  moves: JSON.stringify(moves),
  begun,
});

const resumeFrom = (run: Migrating, facts: JobFacts): void => {
  const { state } = run;
  run.moves = JSON.parse(String(facts["moves"] ?? "{}")) as Migrating["moves"];
  run.begun = String(facts["begun"] ?? "");
  const number = (name: string): number => Number(facts[name] ?? 0);
  Object.assign(state, {
    task: facts["task"] === "convert" || facts["task"] === "refresh" ? facts["task"] : "backfill",
    refreshed: number("refreshed") === 1,
    pass: Math.max(1, number("pass")),
    final: number("final") === 1,
    start: facts["start"] ? (JSON.parse(String(facts["start"])) as Key) : undefined,
    seen: number("seen"),
    stale: number("stale"),
    unfit: number("unfit"),
    changed: number("changed"),
  });
};

/** The job of the table's migration. */
export const jobOf = async (session: Session): Promise<Job | undefined> => {
  try {
    return await findJob(session, MIGRATION_JOB);
  } catch (error) {
    if (isEdgetableError(error, "job.notFound")) return undefined;
    throw error;
  }
};

/** Begins a run of work on a connection's migration. */
export const openRun = (session: Session, { signal, deadline }: Pick<MigrationSettings, "signal" | "deadline">): Run =>
  newRun(session, { what: "The migration", advice: "Completed steps are kept; call again to resume.", signal, deadline });

/**
 * Brings a table in line with the connection's model. It may be interrupted and called again, and runs alongside writers with the
 * former model and with this one.
 *
 * @throws {job.busy} while another process is running it
 * @throws {migrate.otherModel} {migrate.unsupported} {migrate.missingSource} {migrate.invalidKey}
 */
export const runMigration = async (session: Session, settings: MigrationSettings): Promise<MigrationReport> => {
  const opened = openRun(session, settings);
  const migrate = async (): Promise<MigrationReport> => {
    const { plan, record } = await planOf(opened, settings);
    const run: Migrating = { ...opened, settings, state: newPasses(), named: [], lacking: new Set(), moves: {}, begun: "", plan, items: 0 };
    refuseOtherModel(session, record, plan.model);
    checkRefusals(plan);
    const report = (complete: boolean): MigrationReport => ({
      complete,
      next: complete || settings.dryRun ? undefined : nextOf(run),
      plan: run.plan,
      passes: run.state.pass,
      changed: settings.dryRun ? run.state.stale + changedBy(run) : changedBy(run),
      leftOut: { items: run.state.unfit, first: run.named },
      cost: run.cost,
    });
    // A process that died after the last step has left its job behind.
    if (plan.steps.length === 0 && (settings.dryRun || !(await step(opened, async () => jobOf(session)))))
      return { ...report(true), plan: { ...plan, notes: [...plan.notes, AGAIN] } };
    if (settings.dryRun) return report(await takeSteps(run));
    const request = { id: MIGRATION_JOB, kind: "migrate", duration: settings.lease, facts: factsOf(run), resumes: false } as const;
    run.lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal: run.signal });
    const { facts } = run.lease.job;
    // The facts of a run with another model do not apply to this model.
    if (facts["model"] === plan.model) resumeFrom(run, facts);
    return runJob(session, run.lease, { facts: () => factsOf(run), run: async () => report(await takeSteps(run)) });
  };
  return opened.track(migrate());
};
