import { EdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep, MarkerStep, QueryStep } from "../ir/physical-plan.ts";
import type { Template } from "../keys/template.ts";
import { type Catalog, keyAttributes, type KeyNames, type Shape } from "../schema/catalog.ts";
import { isEither, ofEither, withNewKinds } from "../schema/between-models.ts";
import { changedCounts, changedEdges, lackingCopy, sameEntry, underOurNames, unreadForm } from "../schema/compare-models.ts";
import {
  definitionOf,
  describedEntry,
  describedShards,
  type DescribedStorage,
  describeModel,
  type ModelDescription,
} from "../schema/describe-model.ts";
import { defined } from "../util/invariant.ts";
import type { ModelRecord, RecordedModel } from "./model-record.ts";
import type { Session } from "./session.ts";

/** A read, as far as the table's record tells whether all of it is there. */
export interface RecordedReading {
  readonly steps: readonly AccessStep[];
  /** The marker that names the row: nodes of an older model may lack it. */
  readonly marker?: MarkerStep | undefined;
  /** True if the rows are wanted in any order, such as to count or delete them. */
  readonly anyOrder?: boolean | undefined;
}

/** How an entry of an index differs from the model's, with the templates of the other model where it has others. */
type EntryGap = { readonly kind: "absent" | "leaving" } | { readonly kind: "otherwise" | "rekeyed"; readonly templates: readonly string[] };

/** The differences between the table's record and the model. */
export interface Gaps {
  /**
   * Entries of indexes, as `index shape`: the record has the kind in the index by other keys, or not at all, or a migration to a
   * model without the entry has begun, whose programs do not write its keys, or to one that gives it other keys.
   */
  readonly entries: ReadonlyMap<string, EntryGap>;
  /** Index entries for which the model does not read all shards; each with the end of a message. */
  readonly shards: ReadonlyMap<string, string>;
  /** Edges that are stored in another way, by their shape's id; each with a message. */
  readonly edges: ReadonlyMap<string, string>;
  /** Unique attributes, as `person.email`, of which nodes may lack their markers. */
  readonly unique: ReadonlyMap<string, "absent" | "leaving">;
}

/** @throws {plan.unreadForm} if items contain an attribute under a name, or with a type, that the model does not read */
export const checkForms = ({ catalog }: Session, { current, migration }: ModelRecord): void => {
  const ours = describeModel(catalog);
  for (const recorded of [current, migration]) {
    const unread = recorded && unreadForm(catalog, ours, recorded);
    if (!unread) continue;
    const { says, definition, attribute } = unread;
    throw new EdgetableError(
      "plan.unreadForm",
      `${says}, and this model does not read that. Deploy a model that names it in renamed or retyped, or the model that the table follows.`,
      { details: { table: catalog.table, definition, attribute } },
    );
  }
};

/** The names of a kind in a model. An edge type with more or fewer types at its ends has other shape ids. */
const namesIn = ({ catalog }: Session, { items }: ModelDescription, ours: ModelDescription, id: string): readonly string[] => {
  const keyOf = (item: ModelDescription["items"][string] | undefined): string =>
    keyAttributes(catalog.index)
      .map((name) => item?.keys[name])
      .join();
  const key = keyOf(ours.items[id]);
  return Object.keys(items).filter((other) => other === id || keyOf(items[other]) === key);
};

const changedEntries = (session: Session, ours: ModelDescription, { current, migration }: ModelRecord): Gaps["entries"] => {
  const { catalog } = session;
  const changed = new Map<string, EntryGap>();
  const known = current && withNewKinds(current.model, ours, catalog);
  for (const index of catalog.indexes) {
    for (const { id, keys } of catalog.shapes) {
      if (!keyAttributes(index).every((attribute) => attribute in keys)) continue;
      const isIn = (model: ModelDescription, names: readonly string[]): boolean =>
        names.some((name) => describedEntry(model, index, name) !== undefined);
      if (known && !sameEntry(known, ours, [index, id])) {
        const [was] = [id, ...namesIn(session, known, ours, id)].flatMap((name) => {
          const entry = describedEntry(known, index, name);
          return entry ? [entry] : [];
        });
        changed.set(`${index.name} ${id}`, was ? { kind: "otherwise", templates: was } : { kind: "absent" });
      } else if (migration) {
        // Programs of the other model do not write a kind that it lacks.
        const names = namesIn(session, migration.model, ours, id);
        if (names.length > 0 && !isIn(migration.model, names)) changed.set(`${index.name} ${id}`, { kind: "leaving" });
        const becoming = describedEntry(migration.model, index, id);
        if (!becoming || sameEntry(migration.model, ours, [index, id])) continue;
        changed.set(`${index.name} ${id}`, { kind: "rekeyed", templates: becoming });
      }
    }
  }
  return changed;
};

/** What the shards of a recorded model, and of the one that a migration leads to, are beside those that the model looks in. */
const unreadShards = ({ catalog }: Session, ours: ModelDescription, { current, migration }: ModelRecord): Gaps["shards"] => {
  const unread = new Map<string, string>();
  for (const index of catalog.indexes)
    for (const { id } of catalog.shapes)
      for (const recorded of [current, migration]) {
        const now = describedShards(ours, index, id);
        const old = recorded && describedShards(recorded.model, index, id);
        const missed = now && old && changedCounts(old, now).find(({ written, counts }) => !counts.includes(written));
        if (missed)
          unread.set(
            `${index.name} ${id}`,
            `: its items are spread over ${missed.written} shards, and this model looks in ${missed.counts.join(", ")}. List both counts, [${[...missed.counts, missed.written].join(", ")}], or deploy the model that the table follows.`,
          );
      }
  return unread;
};

const changedUnique = (session: Session, ours: ModelDescription, { current, migration }: ModelRecord): Gaps["unique"] => {
  const changed = new Map<string, "absent" | "leaving">();
  const known = current && withNewKinds(current.model, ours, session.catalog);
  for (const name of ours.unique ?? []) {
    const isIn = (model: ModelDescription): boolean => model.unique?.includes(name) === true;
    if (known && !isIn(known)) changed.set(name, "absent");
    // Programs of a model without the node type do not write its rows.
    else if (migration && !isIn(migration.model) && namesIn(session, migration.model, ours, definitionOf(name)).length > 0)
      changed.set(name, "leaving");
  }
  return changed;
};

// Sources hold their edges alike in these.
const AT_SOURCE: readonly DescribedStorage[] = ["once", "twice", "mixed"];

const REDECLARE =
  "reads would miss edges. Declare the type as the table stores it, or under another name and copy the edges with db.scan and db.load.";

const COPY_AGAIN =
  "Run the migration to that model, with finish. Or run edgetable verify --repair --differing mend, and then the migration to this model with finish and inPlace.";

const changedStorage = ({ catalog }: Session, ours: ModelDescription, recorded: ModelDescription): Gaps["edges"] => {
  const changed = new Map<string, string>();
  for (const entry of Object.values(catalog.edges)) {
    const change = changedEdges(recorded, ours, entry);
    // Sources hold their edges alike whether there are second copies or not. Without them, in-edges have entries in an index.
    const isAtSource = change !== undefined && [change.was, change.is].every((storage) => AT_SOURCE.includes(storage));
    for (const shape of [...entry.shapes, ...entry.mirrors]) {
      const stored = isAtSource && shape.role === "own" ? undefined : change?.says;
      const says = stored ?? lackingCopy(recorded, shape);
      if (says === undefined) continue;
      const isMixed = stored !== undefined && change?.was === "mixed";
      changed.set(shape.id, isMixed ? `${says}. ${COPY_AGAIN}` : `${says}: ${REDECLARE}`);
    }
  }
  return changed;
};

/**
 * The differences between a record and the model; undefined if there are none.
 *
 * @throws {plan.unreadForm} if the model is older than a renaming
 */
export const gapsOf = (session: Session, found: ModelRecord): Gaps | undefined => {
  checkForms(session, found);
  const ours = describeModel(session.catalog);
  const named = <Recorded extends RecordedModel>(recorded: Recorded | undefined): Recorded | undefined =>
    recorded && { ...recorded, model: underOurNames(recorded.model, ours, session.catalog) };
  const current = named(found.current);
  const record: ModelRecord = { ...found, current, migration: named(found.migration) };
  const gaps: Gaps = {
    entries: changedEntries(session, ours, record),
    edges: current ? changedStorage(session, ours, current.model) : new Map(),
    unique: changedUnique(session, ours, record),
    shards: unreadShards(session, ours, record),
  };
  return gaps.entries.size + gaps.edges.size + gaps.unique.size + gaps.shards.size === 0 ? undefined : gaps;
};

/** Of Edgetable's own layout. */
const DELIMITER = "#";

const literalOf = ({ parts }: Template): string => parts.map((part) => (part.kind === "literal" ? part.text : "")).join("");

/** True if keys of the recorded templates are among those that a Query in `reverse` reads. */
const isReached = ({ keys }: Shape, { sort }: QueryStep, was: readonly string[], index: KeyNames): boolean => {
  const [partition, sorted = ""] = ofEither(was);
  if (partition !== keys[keyAttributes(index)[0] ?? ""]?.source) return false;
  if (sort === undefined) return true;
  const [beginning = ""] = sorted.split("{");
  const first = literalOf(sort.template);
  // The other model's keys of the kind, which the record does not name, begin with its name too.
  if (isEither(was) && first.indexOf(DELIMITER) < first.length - 1) return false;
  if (sort.kind !== "span") return beginning.startsWith(first);
  const last = literalOf(sort.last);
  return beginning >= first && (beginning < last || beginning.startsWith(last));
};

/**
 * True if rows are found, or ordered, by more of their keys than the node at their end. A plain list of in-edges is not, except
 * in its order, where their keys begin as those of the model do: those edges have been in `reverse` since they were linked.
 */
const needsKeys = (
  catalog: Catalog,
  step: QueryStep,
  shape: Shape,
  { was, anyOrder }: { was: readonly string[]; anyOrder: boolean },
): boolean => {
  const { edges, escapes, indexes } = catalog;
  const { index, sort } = step;
  const reverse = indexes.find(({ name }) => name === "reverse");
  return (
    !escapes ||
    index !== "reverse" ||
    reverse === undefined ||
    sort?.kind === "range" ||
    sort?.template.parts.some((part) => part.kind === "field") === true ||
    shape.kind === "node" ||
    (!anyOrder && edges[shape.definition]?.orderBy !== undefined) ||
    !isReached(shape, step, was, reverse)
  );
};

/** What the target model of a running migration does with an entry. */
const BEGUN = { leaving: "does not have it there, and whose programs do not write its keys", rekeyed: "gives it other keys there" };

const FINISH = "Finish the migration: db.migrations.run({ finish: true }) or edgetable migrate run --finish.";

const UNDO = "Deploy that model; or undo the migration (edgetable migrate undo), and run one to this model with finish.";

/**
 * Refuses reads that rely on what the record lacks.
 *
 * @throws {plan.indexIncomplete} if old items may lack the keys of an index
 * @throws {plan.otherStorage} if the table stores edges in another way than the model
 * @throws {plan.uniqueIncomplete} if old nodes may lack the markers of a unique attribute
 */
export const refuseGaps = ({ catalog }: Session, gaps: Gaps, { steps, marker, anyOrder = false }: RecordedReading): void => {
  const reserved = marker && gaps.unique.get(`${marker.node}.${marker.attribute}`);
  if (reserved) {
    const { node, attribute } = marker;
    const why =
      reserved === "leaving"
        ? `any more: a migration has begun to a model in which the attribute is not unique, and whose programs do not reserve its values. ${UNDO}`
        : `yet: the table has not been migrated to this model, which makes the attribute unique. ${FINISH}`;
    throw new EdgetableError("plan.uniqueIncomplete", `by() does not find every "${node}" by its "${attribute}" ${why}`, {
      details: { node, attribute },
    });
  }
  for (const step of steps)
    for (const id of step.kind === "query" ? step.shapes : []) {
      const shape = defined(catalog.shapesById[id], "shape");
      const says = gaps.edges.get(id);
      if (says !== undefined) throw new EdgetableError("plan.otherStorage", says, { details: { edge: shape.definition, shape: id } });
      const { index } = step as QueryStep;
      // The keys of a reference are in its source's item.
      const kind = shape.role === "reference" ? shape.from : id;
      const shards = gaps.shards.get(`${index} ${kind}`);
      if (shards !== undefined)
        throw new EdgetableError("plan.indexIncomplete", `The index "${index}" does not find every "${id}"${shards}`, {
          details: { index, shape: id },
        });
      const gap = index === undefined ? undefined : gaps.entries.get(`${index} ${kind}`);
      if (!gap) continue;
      if ("templates" in gap && !needsKeys(catalog, step as QueryStep, shape, { was: gap.templates, anyOrder })) continue;
      const why =
        gap.kind === "leaving" || gap.kind === "rekeyed"
          ? `any more: a migration has begun to a model that ${BEGUN[gap.kind]}. ${UNDO}`
          : `yet: the table has not been migrated to this model. ${FINISH}`;
      throw new EdgetableError("plan.indexIncomplete", `The index "${index}" does not find every "${id}" ${why}`, {
        details: { index, shape: id },
      });
    }
};
