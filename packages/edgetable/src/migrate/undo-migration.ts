import { EdgetableError } from "../errors/edgetable-error.ts";
import { bookkeeping, type Job, takeLease } from "../executor/jobs/job-store.ts";
import { REQUEST_DEADLINE, runJob, step } from "../executor/jobs/run-job.ts";
import { type ModelRecord, readRecord } from "../executor/model-record.ts";
import type { Session } from "../executor/session.ts";
import { writeRecord } from "../executor/write-record.ts";
import { underNamesOf, withEitherForm, withEitherKeys, withMixedCopies, withShards, withUnkept } from "../schema/between-models.ts";
import type { Catalog } from "../schema/catalog.ts";
import { changedFacts, mixedText } from "../schema/compare-models.ts";
import { descriptionHash, type ModelDescription } from "../schema/describe-model.ts";
import { deleteIndex, theTable } from "./change-indexes.ts";
import type { MigrationPlan } from "./plan-migration.ts";
import { jobOf, MIGRATION_JOB, type MigrationSettings, openRun, planOf } from "./run-migration.ts";

/** The result of undoing a migration. */
export interface UndoReport {
  /** False if no migration was in progress. */
  readonly undone: boolean;
  /** Indexes that the migration had created and that were deleted again. */
  readonly deleted: readonly string[];
  /** Notes on what stays, as sentences. */
  readonly notes: readonly string[];
}

/** The state of a table between two models. */
export interface MigrationStatus {
  readonly state: "current" | "outdated" | "migrating" | "otherModel";
  /** What the state means and what to do, as a sentence. */
  readonly says: string;
  readonly plan: MigrationPlan;
  /** When the migration in progress began, in milliseconds since 1970. */
  readonly begunAt: number | undefined;
  /** The indexes of the table, and whether they are complete. */
  readonly indexes: readonly { readonly name: string; readonly state: "complete" | "building" | "missing" | "incomplete" }[];
  /** The job, if a process is running it or left it behind. */
  readonly job: Job | undefined;
  /** What undoing would do, as a sentence; undefined if nothing can be undone. */
  readonly undo: string | undefined;
}

const sentences = {
  current: "The table follows the model.",
  incomplete:
    "The record says that the table follows the model, but the table lacks something that the model needs, such as an index. Look at the plan, then run the migration.",
  outdated: "The table follows another model. Look at the plan, then run the migration.",
  migrating: "The migration to this model has begun. Run it again to resume it; pass finish once no program with an older model runs.",
  otherModel: "A migration to another model has begun: finish it with that model, or undo it.",
} as const;

const namesText = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

/** What the values of attributes are that only the model in use calls unique, as a sentence. */
const unreservedText = (attributes: readonly string[]): string =>
  `Values of ${namesText(attributes)} may not be reserved: a migration to the model in use, with finish, reserves them.`;

/** What derived attributes, copies and counted degrees are that only the model in use keeps so, as a sentence. */
const unkeptText = (names: readonly string[]): string =>
  `${namesText(names)} may be wrong, because programs with the other model do not maintain them in this way: a migration to the model in use, with finish, recomputes them.`;

/** The attributes that only the model of the migration calls unique. */
const newlyUnique = (current: ModelDescription, { unique = [] }: ModelDescription): readonly string[] =>
  unique.filter((name) => !current.unique?.includes(name));

const markersText = (attributes: readonly string[]): string =>
  `Markers of values of ${namesText(attributes)} stay, and nothing maintains them: edgetable verify --repair with the model in use deletes them, and so does the next migration that reserves the values.`;

/** What one of the two models keeps and the other does not, or otherwise, as sentences. */
const keptTexts = (catalog: Catalog, current: ModelDescription | undefined, undone: ModelDescription | undefined): readonly string[] => {
  if (!current || !undone) return [];
  const { attributes, facts } = withUnkept(current, undone, changedFacts(current, undone, catalog));
  const marked = newlyUnique(current, undone);
  return [
    ...(facts.length > 0 ? [unkeptText(facts)] : []),
    ...(attributes.length > 0 ? [unreservedText(attributes)] : []),
    ...(marked.length > 0 ? [markersText(marked)] : []),
  ];
};

/** The model of a migration that has begun, under the names of the model in use. */
const undoneModel = ({ current, migration }: ModelRecord): ModelDescription | undefined =>
  current && migration ? underNamesOf(migration.model, current.model) : undefined;

/** What becomes of second copies that the model of the migration does not write, as sentences. */
const copiesTexts = (edges: readonly string[]): readonly string[] =>
  edges.length === 0
    ? []
    : [`${mixedText(edges)}, and reads of them are refused: the plan of a migration to the model in use says how to repair them.`];

/** What undoing a migration would do, as sentences. */
const undoText = (catalog: Catalog, record: ModelRecord, created: readonly string[]): string => {
  const { current } = record;
  const undone = undoneModel(record);
  const mixed = current && undone ? withEitherKeys(current.model, undone, catalog.escapes).indexes : [];
  const keys =
    mixed.length === 0
      ? ""
      : ` Items may have either model's keys in ${namesText(mixed)}: a migration to the model in use, with finish, corrects them.`;
  const copies = current && undone ? withMixedCopies(current.model, undone).edges : [];
  const left = [...copiesTexts(copies), ...keptTexts(catalog, current?.model, undone)].map((sentence) => ` ${sentence}`);
  return created.length === 0
    ? `Undo forgets the migration. No index was created; attributes that were written stay.${keys}${left.join("")}`
    : `Undo deletes ${namesText(created)} and forgets the migration. Attributes that were written stay.${keys}${left.join("")}`;
};

/** Returns the state of a connection's table. */
export const migrationStatus = async (
  session: Session,
  limits: Pick<MigrationSettings, "signal" | "deadline">,
): Promise<MigrationStatus> => {
  const run = openRun(session, limits);
  const { plan, record, table } = await planOf(run, { inPlace: true, again: false });
  const { migration } = record;
  let state: MigrationStatus["state"] = plan.steps.length === 0 ? "current" : "outdated";
  if (migration) state = migration.hash === plan.model ? "migrating" : "otherModel";
  const incomplete = new Set(plan.steps.flatMap((one) => (one.kind === "backfill" ? one.entries.map(({ index }) => index) : [])));
  // A local index is as old as the table, and has no state.
  const local = (table.LocalSecondaryIndexes ?? []).map(({ IndexName = "" }) => [IndexName, "ACTIVE"] as const);
  const described = new Map([
    ...local,
    ...(table.GlobalSecondaryIndexes ?? []).map((one) => [one.IndexName ?? "", one.IndexStatus] as const),
  ]);
  const stateOf = (name: string): "complete" | "building" | "missing" | "incomplete" => {
    const status = described.get(name);
    if (status === undefined) return "missing";
    if (status !== "ACTIVE") return "building";
    return incomplete.has(name) ? "incomplete" : "complete";
  };
  const created = migration?.creates.filter((name) => described.has(name)) ?? [];
  return {
    state,
    says: sentences[state === "outdated" && plan.recorded === plan.model ? "incomplete" : state],
    plan,
    begunAt: migration?.since,
    indexes: session.catalog.indexes.map(({ name = "" }) => ({ name, state: stateOf(name) })),
    job: await jobOf(session),
    undo: migration && undoText(session.catalog, record, created),
  };
};

/**
 * Undoes the migration in progress, to any model: deletes the indexes that it created, and removes it from the record. Attributes
 * that it wrote into items stay. If the two models compute different keys for an index that both have, or store attributes in
 * different forms, the record says that items may have either. Facts that the other model does not keep in the same way (unique
 * values, derived attributes, copies, counted degrees) are removed from the record.
 *
 * @throws {job.busy} while a process is running it
 */
export const undoMigration = async (
  session: Session,
  settings: Pick<MigrationSettings, "signal" | "deadline" | "lease">,
): Promise<UndoReport> => {
  const run = openRun(session, settings);
  const undo = async (): Promise<UndoReport> => {
    const first = await step(run, async (context) => readRecord(session, context));
    if (!first.migration)
      return { undone: false, deleted: [], notes: ["No migration is in progress. A migration that has ended cannot be undone."] };
    const facts = { model: "" };
    const request = { id: MIGRATION_JOB, kind: "migrate", duration: settings.lease, facts, resumes: false } as const;
    const lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal: run.signal });
    run.lease = lease;
    const work = async (): Promise<UndoReport> => {
      const record = await step(run, async (context) => readRecord(session, context));
      const table = await theTable(run);
      const there = new Set(table.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
      const deleted = record.migration?.creates.filter((name) => there.has(name)) ?? [];
      for (const name of deleted) await deleteIndex(run, name);
      const { current } = record;
      const other = undoneModel(record);
      const left = current && other ? withEitherForm(current.model, other) : undefined;
      const keyed = left && other ? withEitherKeys(left.model, other, session.catalog.escapes) : undefined;
      const copies = keyed && other ? withMixedCopies(keyed.model, other) : undefined;
      const changed = current && other ? changedFacts(current.model, other, session.catalog) : [];
      const after = copies && other ? withUnkept(copies.model, other, changed) : undefined;
      const spread = after && other ? withShards(after.model, other) : undefined;
      const isMixed = [left?.attributes, keyed?.indexes, keyed?.left, copies?.edges, after?.attributes, after?.facts, spread?.kinds].some(
        (all) => all && all.length > 0,
      );
      const now = spread && isMixed ? { ...current, hash: descriptionHash(spread.model), model: spread.model } : current;
      const isDone = await step(run, async (context) => writeRecord(session, record, { current: now, migration: undefined }, context));
      if (!isDone)
        throw new EdgetableError("job.busy", "The record of the migration was changed by another process. Try again.", { retryable: true });
      const notes = ["Index keys, derived attributes and copies that were written into items stay."];
      if (keyed && keyed.indexes.length > 0)
        notes.push(
          `Items may have either model's keys in ${namesText(keyed.indexes)}, and searches of it are refused. Run the migration to the model in use, with finish: it writes the keys of that model.`,
        );
      if (keyed && keyed.left.length > 0)
        notes.push(
          `Items of kinds that the model in use does not have in ${namesText(keyed.left)} may still have keys there. Run the migration to the model in use, with finish: it removes them.`,
        );
      if (left && left.attributes.length > 0)
        notes.push(
          `Items may hold ${left.attributes.map((name) => `"${name}"`).join(", ")} in either form. Run the migration to a model that reads both, with finish: it stores the form that the model says. Until then a model without \`renamed\` and \`retyped\` is refused.`,
        );
      if (spread && spread.kinds.length > 0)
        notes.push(
          `Items of ${namesText(spread.kinds)} may be in the shards of either model. Programs have to list both counts, until the migration to one of the models has ended.`,
        );
      notes.push(...copiesTexts(copies?.edges ?? []));
      notes.push(...keptTexts(session.catalog, current?.model, other));
      return { undone: true, deleted, notes };
    };
    return runJob(session, lease, { facts: () => facts, run: work });
  };
  return run.track(undo());
};
