import { EdgetableError } from "../../../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../../../ir/capacity.ts";
import type { EndId } from "../../../ir/logical-write.ts";
import { type Failure, keyId, type ListedItems, listedItems, sameKey, type Term, type WriteItem } from "../../../ir/write-plan.ts";
import { exactText, renderTemplate } from "../../../keys/template.ts";
import { decodeValue } from "../../../requests/attribute-value.ts";
import { decodeItem, mayExpire, shapeOf } from "../../../requests/decode-item.ts";
import { digitsIn, keyIfComplete, keyOf } from "../../../requests/encode-item.ts";
import type { Catalog, EdgeEntry, NodeEntry, PartEntry } from "../../../schema/catalog.ts";
import { type End, endTypes } from "../../../schema/definition.ts";
import { type CopyFact, COPY_REVISION, isKeptInNode, NODE_REVISION } from "../../../schema/facts.ts";
import { idIn, jobIdFrom, liesApart, placeText } from "../../../schema/stored-id.ts";
import { COUNT, HOLDER, JOB_FACTS, JOB_TYPE, KIND, RUNS, UNTIL } from "../../../schema/system-items.ts";
import { systemKeyItem, systemType } from "../../../schema/system-key-item.ts";
import { degreeGuard, jobState, ownerText } from "../../../schema/system-keys.ts";
import type { AttributeValue, Item, Key } from "../../../transport/operations.ts";
import { defined } from "../../../util/invariant.ts";
import { own, type Row } from "../../../util/row.ts";
import { readableValue } from "../../../util/time.ts";
import { changedRow, isChanged } from "../changed-row.ts";
import {
  contribute,
  type Contribution,
  type CopyRefresh,
  type Digits,
  type EdgeBetween,
  imageOf,
  isGone,
  type ItemRule,
  type Look,
  type OtherRules,
  readOrNeed,
  type RowChange,
  stage,
  STALE,
  type Subject,
  subjectOf,
  unitedTerms,
  type WorkingSet,
} from "../working-set.ts";
import * as joins from "../join-changes.ts";
import { aggregatesOver, counts } from "./aggregates.ts";
import { changeItem } from "./computed-attributes.ts";
import { edgeCopies } from "./edge-copies.ts";
import { changedExactly, type ExactRow, exactRows, sameField, withDigits } from "./stored-digits.ts";
import { unchangedFields } from "../unchanged-terms.ts";

/** A node of a row (an end, or a part's owner), and its attributes that are copied onto the row. */
interface CopySource {
  /** The failure if the node does not exist. */
  readonly missing: Failure;
  readonly node: NodeEntry;
  readonly key: Key;
  readonly copies: readonly CopyFact[];
}

const known = new WeakMap<EdgeEntry | PartEntry, readonly CopyFact[]>();

/** The copies onto the edges of a type, or the parts of a kind. */
export const copiesOnto = (
  catalog: Catalog,
  { kind, entry }: Pick<Exclude<Subject, { readonly kind: "node" }>, "kind" | "entry">,
): readonly CopyFact[] => {
  let found = known.get(entry);
  if (!found) known.set(entry, (found = catalog.facts.copies.filter(({ onto }) => onto.kind === kind && onto.name === entry.name)));
  return found;
};

/** The copies of an edge take up to two items each. */
const MOST_PLACES = 2;
const there: Term = { kind: "present", failure: STALE };

/** True if the stream or a job brings copies up to date, item by item. */
export const isRefreshed = ({ freshness, beyond }: CopyFact): boolean => freshness === "stream" || beyond === "job";

const endOf = (catalog: Catalog, subject: Exclude<Subject, { readonly kind: "node" }>, end: End, row: Row): EndId => {
  if (subject.kind === "edge") return subject[end];
  const type = subject.entry.definition.of;
  const { idFields } = defined(catalog.nodes[type], "the owner of a part");
  return { type, id: Object.fromEntries(idFields.map((field) => [field, row[field]])) };
};

/** The nodes that a row copies from. */
export const copySources = (catalog: Catalog, subject: Exclude<Subject, { readonly kind: "node" }>, row: Row): readonly CopySource[] => {
  const all = copiesOnto(catalog, subject);
  if (all.length === 0) return [];
  return (["from", "to"] as const).flatMap((end): CopySource[] => {
    const copies = all.filter((copy) => copy.end === end);
    if (copies.length === 0) return [];
    const id = endOf(catalog, subject, end, row);
    const node = catalog.nodes[id.type];
    const key = node && keyIfComplete(catalog, node.shape, id.id);
    const missing: Failure = { reason: "endMissing", end: subject.kind === "part" ? "owner" : end, id: id.id };
    return node && key ? [{ node, key, copies, missing }] : [];
  });
};

/** The row of a node after the same call; undefined while its item has to be read, null if the call does not change it. */
const siblingRow = (working: WorkingSet, { node, key }: CopySource): ExactRow | null | undefined => {
  const { catalog, writes } = working;
  if (writes.length < 2) return null;
  const { name, shape } = node;
  for (const write of writes) {
    if (!("of" in write) || write.of !== "node" || write.name !== name) continue;
    const [whole, update] =
      write.kind === "upsert"
        ? [write.create, write.update]
        : write.kind === "create" || write.kind === "put"
          ? [write, undefined]
          : [undefined, write.kind === "update" ? write : undefined];
    const written = keyIfComplete(catalog, shape, whole?.row ?? update?.id ?? {});
    if (!written || !sameKey(written, key)) continue;
    const created = whole ? { row: whole.row, digits: undefined } : null;
    if (!update) return created;
    const image = imageOf(working, { shape, key }, "its attributes are copied, and change in the same call");
    if (image === undefined) return undefined;
    if (!image) return created;
    const { changes } = update;
    return changedExactly(changedRow(decodeItem(catalog, shape, image), changes), { shape, image, changes });
  }
  return null;
};

/** True if a write of the same call writes an edge or part whole, and fills in its copies itself. */
const isWrittenWhole = ({ catalog, writes }: WorkingSet, { subject, places }: Copying): boolean => {
  const [first] = places;
  const key = first && keyOf(catalog, first.shape, first.row);
  return writes.some((write) => {
    if (subject.kind === "part") {
      if ((write.kind !== "create" && write.kind !== "put") || write.of !== "part" || write.name !== subject.entry.name) return false;
      const other = keyIfComplete(catalog, subject.entry.shape, write.row);
      return key !== undefined && other !== undefined && sameKey(key, other);
    }
    if ((write.kind !== "link" && write.kind !== "putEdge") || write.edge !== subject.entry.name) return false;
    const [other] = edgeCopies(subjectOf(catalog, write) as EdgeBetween, write.row);
    const otherKey = other && keyIfComplete(catalog, other.shape, other.row);
    return key !== undefined && otherKey !== undefined && sameKey(key, otherKey);
  });
};

const isChecked = (subject: Subject): boolean =>
  subject.kind === "edge"
    ? subject.entry.definition.ends !== "unchecked"
    : subject.kind === "part" && subject.entry.definition.owner === "checked";

/** True if a node counts the part in the part's own transaction, and so has to be there. */
const isCounted = (catalog: Catalog, subject: Exclude<Subject, { readonly kind: "node" }>, row: Row): boolean =>
  subject.kind === "part" && aggregatesOver(catalog, subject).some((one) => isKeptInNode(one.fact) && counts(one, row));

/**
 * True if nothing changes such a copy once its node comes. The creation of a node lists its parts, and no transaction of a part
 * that comes behind the list would be refused; edges have a counter that refuses it.
 */
const isFilledOnce = (subject: Subject, { freshness }: CopyFact): boolean =>
  freshness === "immutable" || (freshness === "transaction" && subject.kind === "part");

const fillCopies: NonNullable<ItemRule["fill"]> = (working, subject, { row }, image) => {
  const { catalog, given } = working;
  if (subject.kind === "node") {
    const { shape } = subject.entry;
    const before = image && decodeItem(catalog, shape, image);
    const kept = before ? immutableSources(catalog, subject.entry) : [];
    const attribute = kept.find((field) => !sameField(shape, { row: before }, { row }, field));
    if (attribute) return { kind: "failure", failure: { reason: "immutable", attribute } };
    const revision = spreadPlaces(catalog, subject.entry.name).some(({ onto }) => onto.kind === "part")
      ? image?.[NODE_REVISION]
      : undefined;
    // Attributes that others copy only once keep all their digits.
    return {
      kind: "row",
      row: revision ? { ...row, [NODE_REVISION]: decodeValue(revision) } : row,
      digits:
        image && kept.length > 0 ? (field) => (kept.includes(field) ? digitsIn(subject.entry.shape, image)(field) : undefined) : undefined,
    };
  }
  const filled: Record<string, unknown> = { ...row };
  // A refresh by the stream or a job changes what it has read, or nothing.
  if (copiesOnto(catalog, subject).some(isRefreshed)) filled[COPY_REVISION] = given.now ?? 0;
  const digits = new Map<string, AttributeValue | undefined>();
  let isPending = false;
  for (const source of copySources(catalog, subject, row)) {
    const { node, key } = source;
    const { shape } = node;
    let from = siblingRow(working, source);
    if (from === null) {
      const image = imageOf(working, { shape, key }, `its attributes are copied onto "${subject.entry.name}"`);
      const isNeeded =
        isChecked(subject) || source.copies.some((copy) => isFilledOnce(subject, copy)) || isCounted(catalog, subject, filled);
      if (isNeeded && isGone(working, image)) return { kind: "failure", failure: source.missing };
      if (image === null) continue;
      from = image && { row: decodeItem(catalog, shape, image), digits: digitsIn(shape, image) };
    }
    if (!from) isPending = true;
    else
      for (const { attribute, of } of source.copies) {
        const value = readableValue(own(from.row ?? {}, of));
        if (value === undefined) continue;
        filled[attribute] = value;
        digits.set(attribute, from.digits?.(of));
      }
  }
  return isPending ? undefined : { kind: "row", row: filled, digits: (field) => digits.get(field) };
};

/** The attributes of a node, other than its id's, whose copies nothing brings up to date. */
const immutableSources = (catalog: Catalog, { name, idFields }: NodeEntry): readonly string[] => {
  const fields = catalog.facts.copies
    .filter((copy) => copy.freshness === "immutable" && !idFields.includes(copy.of) && sourceTypes(catalog, copy).includes(name))
    .map(({ of }) => of);
  return [...new Set(fields)];
};

const sourceTypes = (catalog: Catalog, { onto, end }: CopyFact): readonly string[] => {
  if (onto.kind === "part") return [defined(catalog.parts[onto.name], "part").definition.of];
  return endTypes(defined(catalog.edges[onto.name], "edge").definition[end]);
};

/** The conditions of a row's copies on a node, or on the number of its edges. */
interface Requirement extends Contribution {
  readonly node: NodeEntry;
  /** The attributes that must still be as they were read. */
  readonly fields: readonly string[];
  /** For a part: raises the node's revision, so that a concurrent change of copied attributes notices the new part. */
  readonly notes: boolean;
  /** Of a counter: the number that must still be there. */
  readonly count?: number | undefined;
}

const NONE: readonly Requirement[] = [];

const requirementsOf = (catalog: Catalog, { subject, after, changes }: RowChange): readonly Requirement[] => {
  if (subject.kind === "node" || !after || changes) return NONE;
  return copySources(catalog, subject, after).flatMap(({ key, node, copies, missing: failure }): Requirement[] => {
    const mustHold = copies.filter(({ freshness }) => freshness === "transaction" || (freshness === "stream" && isChecked(subject)));
    if (mustHold.length === 0) return [];
    const notes = subject.kind === "part" && mustHold.some(({ freshness }) => freshness === "transaction");
    return [{ rule: copiedAttributes, key, node, fields: mustHold.map(({ of }) => of), notes, failure }];
  });
};

const settleRequirements = (working: WorkingSet, required: readonly [Requirement, ...Requirement[]]): WriteItem | null | undefined => {
  const { catalog, images } = working;
  const [{ key, node, count }] = required;
  if (required.some((one) => "count" in one)) {
    const value = count === undefined ? undefined : { N: String(count) };
    return { kind: "check", key, terms: [{ kind: "equals", attribute: COUNT, value, failure: STALE }], shape: undefined };
  }
  const image = images[keyId(key)];
  if (image === undefined) return null;
  if (image === null) return { kind: "check", key, terms: [{ kind: "absent", failure: STALE }], shape: node.shape };
  let terms: readonly Term[] = [];
  for (const { fields } of required) terms = unitedTerms(terms, unchangedFields(catalog, { shape: node.shape, image }, fields));
  if (!required.some(({ notes }) => notes)) return { kind: "check", key, terms: terms.length > 0 ? terms : [there], shape: node.shape };
  const changes = { set: {}, remove: [], add: { [NODE_REVISION]: { N: "1" } }, append: {} };
  return { kind: "update", key, terms: [there, ...terms], shape: node.shape, changes };
};

/** Changed attributes of a node, and how their copies follow. */
interface CopySpread {
  readonly node: EndId;
  readonly entry: NodeEntry;
  /** New values, by the names of the copies. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly end: End;
  /** A job changes the copies, if a transaction does not hold them. */
  readonly byJob: boolean;
  /** True if jobs change these copies now and then: a slow one must see that a transaction came before it. */
  readonly isRefreshed: boolean;
  /** The numbers in `values`, as the node holds them. */
  readonly digits: ReadonlyMap<string, AttributeValue | undefined>;
}

const tooMany = (name: string, node: string, items: number): never => {
  throw new EdgetableError(
    "request.transactionTooLarge",
    `This attribute of "${node}" is copied onto ${items} items of "${name}", and a transaction holds ${TRANSACTION_ITEMS}. Let a job change them (beyond: "job"), or the stream (freshness: "stream").`,
    { details: { items, limit: TRANSACTION_ITEMS } },
  );
};

/** Stages the item of a job that changes the copies after the source: nothing is lost if its process dies. */
const stageJob = (working: WorkingSet, onto: CopyFact["onto"], { node, entry, end }: CopySpread): void => {
  const { catalog, given, jobs } = working;
  const now = given.now ?? 0;
  const id = jobIdFrom(`copy ${node.type} ${ownerText(entry, node.id)} onto ${onto.name} ${end} ${now}`);
  const place = placeText({ node: node.type, over: JSON.stringify([onto.kind, onto.name, end]), id: node.id });
  const key = systemKeyItem(catalog, jobState(id));
  const facts = { place: { S: place }, items: { N: "0" }, pass: { N: "1" } };
  const state = { [KIND]: { S: "copy" }, [HOLDER]: { S: "" }, [UNTIL]: { N: "0" }, [RUNS]: { N: "0" }, [JOB_FACTS]: { M: facts } };
  const item = { ...key, ...systemType(catalog, JOB_TYPE), ...state };
  stage(working, { kind: "put", key, item, terms: [{ kind: "absent", failure: STALE }], shape: undefined });
  jobs.push(id);
};

/** A row with copies, as it was found, and all places where it is stored. */
type Copying = Pick<CopyRefresh, "subject" | "shape" | "item" | "row" | "places">;

/**
 * Notes the change of copies on an edge or part. An edge is listed at both of its nodes, which may be one node, or change in the
 * same call: it changes once, with the copies from either.
 */
const noteRefresh = (working: WorkingSet, copying: Copying, { values, digits, isRefreshed }: CopySpread): void => {
  if (isWrittenWhole(working, copying)) return;
  const { catalog, refreshes, write } = working;
  const [{ shape, row }] = copying.places;
  const id = keyId(keyOf(catalog, shape, row));
  const noted = refreshes.get(id) ?? { ...copying, write, values: {}, digits: new Map(), isRefreshed };
  refreshes.set(id, { ...noted, values: { ...noted.values, ...values }, digits: new Map([...noted.digits, ...digits]) });
};

/** Stages the change of copies in all places where an edge or part is stored, and what other nodes count of it. */
const stageRefresh = (working: WorkingSet, refresh: CopyRefresh, others: OtherRules): void => {
  const { subject, shape: found, item: image, row: before, places, values, isRefreshed: rises } = refresh;
  const { catalog, given } = working;
  const digits: Digits = (field) => refresh.digits.get(field);
  const changes = { set: {} as Record<string, unknown>, remove: [] as string[], add: {}, append: {} };
  for (const name in values) {
    if (values[name] === undefined) changes.remove.push(name);
    else changes.set[name] = values[name];
  }
  const read = image[COPY_REVISION];
  if (rises) changes.set[COPY_REVISION] = Math.max(given.now ?? 0, read && "N" in read ? Math.abs(Number(read.N)) + 1 : 0);
  const look = others.looksAt(catalog, { subject, before, after: undefined, changes });
  for (const { shape, row } of places) {
    const key = keyOf(catalog, shape, row);
    const terms = look && shape === found ? unchangedFields(catalog, { shape, image }, look.fields) : [];
    // Other attributes of the row may be older than the item, so index keys that need them are computed from the item.
    const known = idIn(catalog, shape, row);
    const changed = changeItem(working, { shape, key, known, changes, guards: {}, there, terms, keepsVersion: true });
    // An item found by an index may have moved since, so it is searched again.
    if (changed === null && shape === found) stage(working, { kind: "check", key, terms: [there], shape });
    for (const item of changed?.items ?? []) stage(working, withDigits(item, shape, digits, Object.keys(values)));
  }
  others.stageDerived(working, { subject, before, after: { ...before, ...values }, changes, image, shape: found, digits });
};

const spreadOverEdges = (working: WorkingSet, entry: EdgeEntry, what: CopySpread): void => {
  const { catalog } = working;
  const { node, entry: source, end } = what;
  const direction = end === "from" ? "out" : "in";
  const template = source.shape.keys[catalog.index.partitionKey];
  const partition = defined(template && renderTemplate(template, node.id), "the partition of a node");
  const guardKey = systemKeyItem(catalog, degreeGuard(partition, entry.name, direction));
  const guard = imageOf(working, { shape: source.shape, key: guardKey }, `the number of its edges of "${entry.name}" must not change`);
  if (guard === undefined) return;
  const stored = guard?.[COUNT];
  const count = stored && "N" in stored ? Number(stored.N) : undefined;
  const onto = { kind: "edge", name: entry.name } as const;
  if (count !== undefined && count >= TRANSACTION_ITEMS) {
    if (what.byJob) return stageJob(working, onto, what);
    tooMany(entry.name, node.type, count);
  }
  const found = listOf(working, {
    of: { kind: "edge", name: entry.name, direction },
    what,
    counter: count === undefined ? undefined : guardKey,
  });
  if (!found) return;
  if (isTooMuch(working, found, what)) return stageJob(working, onto, what);
  contribute(working, { rule: copiedAttributes, key: guardKey, node: source, fields: [], notes: false, count } as Requirement);
  for (const item of found) {
    const shape = shapeOf(catalog, [...entry.shapes, ...entry.mirrors], item);
    if (!shape) continue;
    const row = decodeItem(catalog, shape, item);
    const endIn = (at: End): EndId => {
      const { type: _type, ...id } = row[at] as Row;
      return { type: shape[at] ?? "", id };
    };
    const between: EdgeBetween = { kind: "edge", entry, from: endIn("from"), to: endIn("to") };
    noteRefresh(working, { subject: between, shape, item, row, places: edgeCopies(between, row) }, what);
  }
};

const spreadOverParts = (working: WorkingSet, entry: PartEntry, what: CopySpread): void => {
  const [{ catalog }, { name, shape }] = [working, entry];
  const onto = { kind: "part", name } as const;
  if (what.byJob && liesApart(catalog, entry)) return stageJob(working, onto, what);
  const found = listOf(working, { of: onto, what, counter: undefined }) ?? [];
  if (isTooMuch(working, found, what)) return stageJob(working, onto, what);
  for (const item of found) {
    const row = { ...decodeItem(catalog, shape, item), ...what.node.id };
    noteRefresh(working, { subject: { kind: "part", entry }, shape, item, row, places: [{ shape, row }] }, what);
  }
};

/** True if a job is to change what was found: it would be too much for the transaction with the rest, and the check of a counter. */
const isTooMuch = ({ staged, refreshes }: WorkingSet, found: readonly Item[], { byJob }: CopySpread): boolean =>
  byJob && staged.length + (refreshes.size + found.length) * MOST_PLACES >= TRANSACTION_ITEMS;

const listOf = (
  working: WorkingSet,
  { of, what, counter }: { readonly of: ListedItems; readonly what: CopySpread; readonly counter: Key | undefined },
): readonly Item[] | undefined => {
  const { node, entry, byJob } = what;
  const id = `list ${exactText([of, node])}`;
  const reason = `what was copied onto each "${of.name}" changes with it`;
  const found = readOrNeed(working, { kind: "list", id, of, node, shape: entry.shape, counter, reason });
  const items = found ? listedItems(found) : undefined;
  if (items && items.length >= TRANSACTION_ITEMS && !byJob) tooMany(of.name, node.type, items.length);
  return items;
};

const spread = (working: WorkingSet, change: RowChange): void => {
  const { subject, before, after, changes } = change;
  if (subject.kind !== "node" || !after) return;
  const { catalog } = working;
  const { entry } = subject;
  const isNew = before === null;
  const id = Object.fromEntries(entry.idFields.map((field) => [field, after[field]]));
  const exact = exactRows(change);
  const changed = spreadPlaces(catalog, entry.name).flatMap(({ onto, copies, end }): (readonly [Onto, CopySpread])[] => {
    const concerned = copies.filter(({ of }) =>
      changes ? isChanged(changes, of) : isNew ? own(after, of) !== undefined : !sameField(entry.shape, exact.before, exact.after, of),
    );
    if (concerned.length === 0) return [];
    const values = Object.fromEntries(concerned.map(({ attribute, of }) => [attribute, own(exact.after.row ?? after, of)]));
    const digits = new Map(concerned.map(({ attribute, of }) => [attribute, exact.after.digits?.(of)]));
    const byJob = concerned.every(({ beyond }) => beyond === "job");
    const rises = copiesOnto(catalog, onto).some(isRefreshed);
    return [[onto, { node: { type: entry.name, id }, entry, values, digits, end, byJob, isRefreshed: rises }]];
  });
  const mayBeLeft = !isNew || mayExpire(catalog, entry.shape);
  for (const [onto, what] of changed) {
    if (onto.kind === "edge") {
      // A node that is created may have edges already: where nothing checks their ends, and where it has expired without them.
      const { ends, onDelete } = onto.entry.definition;
      const mayHaveEdges = mayBeLeft || ends === "unchecked" || (onDelete?.[what.end] ?? "leave") === "leave";
      if (mayHaveEdges) spreadOverEdges(working, onto.entry, what);
    }
    // A part that comes after the list raises the node's revision, which must have been read before the list.
    else if (before !== undefined && (mayBeLeft || onto.entry.definition.owner !== "checked")) spreadOverParts(working, onto.entry, what);
  }
};

const finish: NonNullable<ItemRule["finish"]> = (working, others) => {
  for (const refresh of working.refreshes.values()) {
    working.write = refresh.write;
    stageRefresh(working, refresh, others);
  }
};

type Onto = { readonly kind: "edge"; readonly entry: EdgeEntry } | { readonly kind: "part"; readonly entry: PartEntry };

/** Copies of one node type's attributes onto the edges of one type at one end, or the parts of one kind. */
interface SpreadPlace {
  readonly onto: Onto;
  readonly end: End;
  readonly copies: readonly CopyFact[];
}

const spreadPlaces = (catalog: Catalog, node: string): readonly SpreadPlace[] => {
  const places = new Map<string, SpreadPlace & { readonly copies: CopyFact[] }>();
  for (const copy of catalog.facts.copies) {
    if (copy.freshness !== "transaction" || !sourceTypes(catalog, copy).includes(node)) continue;
    const { kind, name } = copy.onto;
    const id = `${kind} ${name} ${copy.end}`;
    const onto: Onto =
      kind === "edge" ? { kind, entry: defined(catalog.edges[name], "edge") } : { kind, entry: defined(catalog.parts[name], "part") };
    const place = places.get(id) ?? { onto, end: copy.end, copies: [] };
    place.copies.push(copy);
    places.set(id, place);
  }
  return [...places.values()];
};

const lookOfNode = (catalog: Catalog, { subject, before, after, changes }: RowChange): Look | undefined => {
  if (subject.kind !== "node") return undefined;
  const { name } = subject.entry;
  const all = catalog.facts.copies.filter((copy) => copy.freshness === "transaction" && sourceTypes(catalog, copy).includes(name));
  const sources = [...new Set(all.map(({ of }) => of))];
  const isPut = before === undefined && after;
  const putSources = () => [...new Set([...sources, ...immutableSources(catalog, subject.entry)])];
  const concerned = changes ? sources.filter((field) => isChanged(changes, field)) : isPut ? putSources() : [];
  if (concerned.length === 0) return undefined;
  const hasParts = all.some(({ onto }) => onto.kind === "part");
  const reason = "its attributes are copied onto other items";
  const byJob = all.some(({ of, beyond }) => concerned.includes(of) && beyond === "job");
  return {
    fields: hasParts ? [...concerned, NODE_REVISION] : concerned,
    reason: byJob ? `${reason}; ${TRANSACTION_ITEMS} or more are changed by a job, at 1 read unit and the write units of each` : reason,
  };
};

/**
 * Attributes of a node that are copied onto its edges and parts. A new edge takes them from its ends, on condition that they
 * are as they were read. A change of the node changes the copies in its own transaction, on condition that the number of
 * edges is as it was: so neither a concurrent link nor an index that lags is missed.
 */
export const copiedAttributes: ItemRule<Requirement> = {
  name: "copied attributes",
  shared: false,
  looksAt: lookOfNode,
  fill: fillCopies,
  contributions: requirementsOf,
  joins,
  settle: settleRequirements,
  spread,
  finish,
};
