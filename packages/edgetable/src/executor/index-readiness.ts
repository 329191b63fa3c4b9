import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep, QueryStep } from "../ir/physical-plan.ts";
import { type Catalog, keyAttributes, type Shape } from "../schema/catalog.ts";
import {
  changedEdges,
  describedEntry,
  describeModel,
  lackingCopy,
  type ModelDescription,
  sameEntry,
  withNewKinds,
} from "../schema/describe-model.ts";
import { defined } from "../util/invariant.ts";
import { Meter } from "./call.ts";
import { checkForms, readRecord } from "./model-record.ts";
import type { CallContext, Session } from "./session.ts";
import { SharedAnswer } from "./shared-answer.ts";

/** What the table's record has otherwise than the model. */
interface Gaps {
  /** Entries of indexes, as `index shape`: the record has the kind in the index by other keys, or not at all. */
  readonly entries: ReadonlyMap<string, "otherwise" | "absent">;
  /** Edges that are stored otherwise, by their shape's id: the end of a message. */
  readonly edges: ReadonlyMap<string, string>;
}

/** What a session knows of the table's record: nothing once the record has all of the model. */
interface Knowledge {
  readonly model: ModelDescription;
  readonly gaps: SharedAnswer<Gaps>;
}

// By the list of jobs, which the connections of tenants share with the one that they were made from.
const sessions = new WeakMap<Session["jobs"], Knowledge>();

const NONE: Gaps = { entries: new Map(), edges: new Map() };

const changedEntries = ({ catalog }: Session, ours: ModelDescription, recorded: ModelDescription): Gaps["entries"] => {
  const known = withNewKinds(recorded, ours, catalog);
  const keyOf = ({ items }: ModelDescription, id: string): string =>
    keyAttributes(catalog.index)
      .map((name) => items[id]?.keys[name])
      .join();
  const changed = new Map<string, "otherwise" | "absent">();
  for (const index of catalog.indexes) {
    for (const { id, keys } of catalog.shapes) {
      if (!keyAttributes(index).every((attribute) => attribute in keys) || sameEntry(known, ours, [index, id])) continue;
      // An edge type with more or fewer types at its ends goes by another name.
      const names = [id, ...Object.keys(known.items).filter((other) => keyOf(known, other) === keyOf(ours, id))];
      changed.set(`${index.name} ${id}`, names.some((name) => describedEntry(known, index, name)) ? "otherwise" : "absent");
    }
  }
  return changed;
};

const changedStorage = ({ catalog }: Session, ours: ModelDescription, recorded: ModelDescription): Gaps["edges"] => {
  const changed = new Map<string, string>();
  for (const entry of Object.values(catalog.edges)) {
    const change = changedEdges(recorded, ours, entry);
    // Sources hold their edges alike whether there are second copies or not. Without them, in-edges have entries in an index.
    const isAtSource = change !== undefined && [change.was, change.is].every((storage) => storage === "once" || storage === "twice");
    for (const shape of [...entry.shapes, ...entry.mirrors]) {
      const says = (isAtSource && shape.role === "own" ? undefined : change?.says) ?? lackingCopy(recorded, shape);
      if (says !== undefined) changed.set(shape.id, says);
    }
  }
  return changed;
};

const readGaps = async (session: Session, { model }: Knowledge, context: CallContext): Promise<Gaps> => {
  // The call's own report names what the call asks for: the record is read once for all calls.
  const record = await readRecord(session, { meter: new Meter(0), deadline: context.deadline, signal: context.signal });
  checkForms(session, record);
  const { current } = record;
  if (!current) return NONE;
  return { entries: changedEntries(session, model, current.model), edges: changedStorage(session, model, current.model) };
};

/** True if an index is read that the model declares by value. */
export const readsDeclaredIndex = ({ catalog }: Session, steps: readonly AccessStep[]): boolean =>
  catalog.escapes &&
  steps.some((step) => step.kind === "query" && step.index !== undefined && Object.hasOwn(catalog.definition.indexes ?? {}, step.index));

/**
 * True if rows are found, or ordered, by more of their keys than the node at their end. A plain list of in-edges is not, except
 * in its order: those edges have been in `reverse` since they were linked.
 */
const needsKeys = ({ edges, escapes }: Catalog, { index, sort }: QueryStep, { definition, kind }: Shape, anyOrder: boolean): boolean =>
  !escapes ||
  index !== "reverse" ||
  sort?.kind === "range" ||
  sort?.template.parts.some((part) => part.kind === "field") === true ||
  kind === "node" ||
  (!anyOrder && edges[definition]?.orderBy !== undefined);

/**
 * Refuses steps that rely on what the record lacks.
 *
 * @throws {plan.indexIncomplete} when old items may lack the keys of an index
 * @throws {plan.otherStorage} when the table stores edges otherwise than the model
 */
export const refuseGaps = (
  { catalog }: Session,
  gaps: Gaps,
  { steps, anyOrder }: { readonly steps: readonly AccessStep[]; readonly anyOrder: boolean },
): void => {
  for (const step of steps)
    for (const id of step.kind === "query" ? step.shapes : []) {
      const shape = defined(catalog.shapesById[id], "shape");
      const says = gaps.edges.get(id);
      if (says !== undefined)
        throw new EdgetableError(
          "plan.otherStorage",
          `${says}: reads would miss edges. Declare the type as the table stores it, or under another name and copy the edges with db.scan and db.load.`,
          { details: { edge: shape.definition, shape: id } },
        );
      const { index } = step as QueryStep;
      // The keys of a reference are in its source's item.
      const kind = shape.role === "reference" ? shape.from : id;
      const gap = index === undefined ? undefined : gaps.entries.get(`${index} ${kind}`);
      if (gap === undefined || (gap === "otherwise" && !needsKeys(catalog, step as QueryStep, shape, anyOrder))) continue;
      throw new EdgetableError(
        "plan.indexIncomplete",
        `The index "${index}" does not find every "${id}" yet: the table has not been migrated to this model. Finish the migration: db.migrations.run({ finish: true }) or edgetable migrate run --finish.`,
        { details: { index, shape: id } },
      );
    }
};

/**
 * What the record has otherwise than the model; undefined if nothing. One GetItem for each session, and for each call while there
 * are gaps.
 *
 * @throws {plan.unreadForm} when the model is older than a renaming
 */
export const findGaps = async (session: Session, steps: readonly AccessStep[], context: CallContext): Promise<Gaps | undefined> => {
  let known = sessions.get(session.jobs);
  if (!known) sessions.set(session.jobs, (known = { model: describeModel(session.catalog), gaps: new SharedAnswer() }));
  const knowledge = known;
  const gaps = await knowledge.gaps
    .get(() => readGaps(session, knowledge, context), context)
    .catch((error: unknown) => {
      // A policy may allow a program to read one index and nothing else, which says nothing of the index.
      if (isEdgetableError(error, "execute.accessDenied") && !readsDeclaredIndex(session, steps)) return NONE;
      throw error;
    });
  if (gaps.entries.size === 0 && gaps.edges.size === 0) return undefined;
  knowledge.gaps.forget();
  return gaps;
};
