import { pathsOf } from "../../ir/condition.ts";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes, EndId, Guards, LogicalWrite } from "../../ir/logical-write.ts";
import {
  type ExpiryBound,
  type Failure,
  type Images,
  keyId,
  keyShown,
  type PlannedItem,
  type ReadNeed,
  type RowNeed,
  sameKey,
  type Term,
  type ValidRows,
  type WriteFailure,
  type WriteItem,
} from "../../ir/write-plan.ts";
import { exactText, renderPrefix, renderTemplate } from "../../keys/template.ts";
import { isExpired, mayExpire } from "../../requests/decode-item.ts";
import { keyIfComplete, keyOf, keyOfItem, typeAttributeValue, VERSION } from "../../requests/encode-item.ts";
import { type Catalog, type EdgeEntry, kindMarks, type NodeEntry, ownerFields, type PartEntry, type Shape } from "../../schema/catalog.ts";
import { derivedNames } from "../../schema/facts.ts";
import { timeNames } from "../../schema/timestamps.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import type * as Joining from "./join-changes.ts";
import { checkOnCopy } from "../projected-attributes.ts";
import { checkOwnPartition } from "../choose-path.ts";

/** The node, part or edge that a write changes. */
export type Subject =
  | { readonly kind: "node"; readonly entry: NodeEntry }
  | { readonly kind: "part"; readonly entry: PartEntry }
  | EdgeBetween;

/** An edge between two given nodes. */
export interface EdgeBetween {
  readonly kind: "edge";
  readonly entry: EdgeEntry;
  readonly from: EndId;
  readonly to: EndId;
}

/** One row before and after a write, from which rules derive facts. */
export interface RowChange {
  readonly subject: Subject;
  /** The row before, or the part of it that the call gives; null if there was no row, undefined if it is not known yet. */
  readonly before: Row | null | undefined;
  /** The row after; null if it is deleted, undefined for an update whose result is not known. */
  readonly after: Row | null | undefined;
  /** For an update: the changed fields. The rest of the row stays. */
  readonly changes?: Changes | undefined;
  /** The item that contained the row before, if it was read. */
  readonly image?: Item | null | undefined;
  /** The shape of that item, if it is not the row's own one. */
  readonly shape?: Shape | undefined;
  /** Numbers of the row after. Those of an update's result follow from the ones before. */
  readonly digits?: Digits | undefined;
  /** True if the caller raises the version itself, so that nothing needs to be read for it. */
  readonly versioned?: boolean | undefined;
  /** "unchecked": the row is written or deleted without conditions on other items. */
  readonly related?: "checked" | "unchecked" | undefined;
}

/** The stored form of numbers that a row has from a read: a double may not hold all their digits. */
export type Digits = (field: string) => AttributeValue | undefined;

/** The fields of the row before a change that a rule needs. */
export interface Look {
  /** Fields whose values must still be the same when the write arrives. */
  readonly fields: readonly string[];
  /** Why the item must be read; shown by `explain()`. */
  readonly reason: string;
}

/** The effect of one row's change on an item other than the row's own. */
export interface Contribution {
  readonly rule: ItemRule;
  readonly key: Key;
  /** The failure that this contribution can cause. */
  readonly failure?: Failure | undefined;
}

/**
 * The result of a rule for one item: a step, null for no step, the contribution that is certain to fail, or undefined while
 * something has to be read.
 */
export type Settled<C extends Contribution = Contribution> = WriteItem | { readonly kind: "failure"; readonly of: C } | null | undefined;

/** A row with what follows from other rows, and the numbers of that as they are stored there. */
export interface FilledRow {
  readonly kind: "row";
  readonly row: Row;
  readonly digits?: Digits | undefined;
}

/** A row with derived attributes, or why it cannot be written; undefined while something has to be read. */
export type Filled = FilledRow | { readonly kind: "failure"; readonly failure: Failure } | undefined;

/** Stages the facts that follow, by all rules, from a change of another row that a rule stages. */
export interface OtherRules {
  readonly looksAt: (catalog: Catalog, change: RowChange) => Look | undefined;
  readonly stageDerived: (working: WorkingSet, change: RowChange) => void;
}

/** An edge or part, as it was found, whose copies change with the nodes that it copies from. */
export interface CopyRefresh {
  /** The first write of the call that changes one of these nodes. */
  readonly write: number;
  readonly subject: Exclude<Subject, { readonly kind: "node" }>;
  readonly shape: Shape;
  readonly item: Item;
  readonly row: Row;
  /** All places where it is stored, its own one first. */
  readonly places: readonly [Place, ...Place[]];
  /** New values, by the names of the copies. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Their numbers, as the nodes hold them. */
  readonly digits: ReadonlyMap<string, AttributeValue | undefined>;
  readonly isRefreshed: boolean;
}

/** A place where a row is stored. */
interface Place {
  readonly shape: Shape;
  readonly row: Row;
}

/** A rule for a derived fact that is stored in items other than the row's own. */
export interface ItemRule<C extends Contribution = Contribution> {
  readonly name: string;
  /** True if several rows contribute to the same item, so that a load writes them one after the other. */
  readonly shared: boolean;
  /** The fields of the row before that the rule needs; undefined if the change itself is sufficient. */
  looksAt?(catalog: Catalog, change: RowChange): Look | undefined;
  /** Adds attributes that follow from other rows to a row that is written whole; `image` is the item before. */
  fill?(working: WorkingSet, subject: Subject, filled: FilledRow, image: Item | null | undefined): Filled;
  /** Notes the changes of other rows that follow from a change, and what it has to read for them. */
  spread?(working: WorkingSet, change: RowChange): void;
  /** Stages the changes that {@link spread} has noted, once all writes of the call are planned. */
  finish?(working: WorkingSet, others: OtherRules): void;
  /** Pure and complete, so that streams, verifications and repairs can also derive facts from a row. */
  contributions(catalog: Catalog, change: RowChange): readonly C[];
  /** Of a rule that makes updates: joins them with what else the call does to the item. */
  readonly joins?: typeof Joining;
  /** One step for one item, from what all writes of the call contribute to it. */
  settle(working: WorkingSet, contributions: readonly [C, ...C[]]): Settled<C>;
}

/** A step of a row's own item, or a contribution to another, with the write (by position in the call) that it is of. */
interface Staged {
  readonly write: number;
  readonly key: Key;
  readonly item: WriteItem | undefined;
  readonly contribution: Contribution | undefined;
}

/** The input of a plan in addition to the images. */
export interface Given {
  /** Seconds since 1970: items that expire earlier count as absent. */
  readonly livingAt?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: number | undefined;
  readonly rows?: ValidRows | undefined;
}

/** The state of planning the writes of one call: the images read so far, the missing reads, and the steps so far. */
export interface WorkingSet {
  readonly catalog: Catalog;
  readonly images: Images;
  readonly needs: ReadNeed[];
  readonly staged: Staged[];
  /** Changes of edges and parts that follow from writes of nodes, by the row's own item. */
  readonly refreshes: Map<string, CopyRefresh>;
  /** Rows that a schema must accept before they are written. */
  readonly unvalidated: RowNeed[];
  readonly given: Given;
  /** All writes of the call. */
  readonly writes: readonly LogicalWrite[];
  /** The ids of jobs that write what exceeds a transaction. */
  readonly jobs: string[];
  /** The position of the write that is being planned. */
  write: number;
}

/** The result of planning one write; undefined while something has to be read first. */
export type Planned =
  | {
      readonly kind: "staged";
      readonly row?: Row | undefined;
      /** Of an upsert: whether it creates the row. */
      readonly created?: boolean;
    }
  | { readonly kind: "failure"; readonly failure: Failure }
  | undefined;

export const NOT_FOUND: Failure = { reason: "notFound" };
export const STALE: Failure = { reason: "staleRead" };
export const EXISTS: Failure = { reason: "exists" };
export const notFound: Planned = { kind: "failure", failure: NOT_FOUND };
export const present: Term = { kind: "present", failure: NOT_FOUND };

export const openWorkingSet = (catalog: Catalog, images: Images, given: Given = {}, writes: readonly LogicalWrite[] = []): WorkingSet => ({
  catalog,
  images,
  needs: [],
  staged: [],
  refreshes: new Map(),
  unvalidated: [],
  given,
  writes,
  jobs: [],
  write: 0,
});

/** The time before which items of a shape count as absent; undefined if they never do. */
const expiryOf = ({ catalog, given: { livingAt } }: WorkingSet, shape: Shape): ExpiryBound | undefined =>
  livingAt !== undefined && mayExpire(catalog, shape) ? { attribute: catalog.ttl!, before: livingAt } : undefined;

/** True if an item does not exist or has expired. `undefined` means that it was not read. */
export const isGone = ({ catalog, given: { livingAt } }: WorkingSet, image: Item | null | undefined): boolean =>
  image === null || (image !== undefined && isExpired(catalog, image, livingAt));

/** The term of a created row: its item does not exist or has expired. */
export const absentOrExpired = (working: WorkingSet, shape: Shape, failure: Failure = EXISTS): Term => {
  const expired = expiryOf(working, shape);
  return expired ? { kind: "absent", expired, failure } : { kind: "absent", failure };
};

/** The term of a changed row, or of a node that a row needs: the item exists and has not expired. */
export const presentUnexpired = (working: WorkingSet, shape: Shape, failure: Failure = NOT_FOUND): Term => {
  const expired = expiryOf(working, shape);
  return expired ? { kind: "present", expired, failure } : { kind: "present", failure };
};

/** The caller's terms: the item's version, and conditions. */
export const guardTerms = (shape: Shape, guards: Guards): readonly Term[] => {
  const terms: Term[] = [];
  if (guards.version !== undefined) {
    if (!shape.version) {
      throw new EdgetableError("plan.invalidOption", `"${shape.definition}" keeps no version: declare version: true, or use \`if\`.`, {
        details: { option: "ifVersion" },
      });
    }
    terms.push({ kind: "equals", attribute: VERSION, value: { N: String(guards.version) }, failure: { reason: "versionConflict" } });
  }
  if (guards.where && guards.where.conditions.length > 0) {
    checkOnCopy(shape, pathsOf(guards.where.conditions));
    terms.push({ kind: "where", shape, conditions: guards.where, failure: { reason: "conditionFailed" } });
  }
  return terms;
};

/** The image for a need; if it was not read yet, records the need and returns undefined. */
export const readOrNeed = (working: WorkingSet, need: ReadNeed): Item | null | undefined => {
  const found = working.images[need.id];
  if (found === undefined && !working.needs.some(({ id }) => id === need.id)) working.needs.push(need);
  return found;
};

/** The item as it was read; null if it does not exist. If it was not read yet, records the need and returns undefined. */
export const imageOf = (working: WorkingSet, at: { readonly shape: Shape; readonly key: Key }, reason: string): Item | null | undefined =>
  readOrNeed(working, { kind: "get", id: keyId(at.key), key: at.key, shape: at.shape, reason });

/** The item if it is already known from a read or a failed write; null if it does not exist. */
export const knownImage = ({ images }: WorkingSet, key: Key): Item | null | undefined => {
  for (const _ in images) return images[keyId(key)];
  return undefined;
};

/** The search for a row's item in its partition, if its fields do not determine its sort key. */
export const findNeed = ({ catalog }: Pick<WorkingSet, "catalog">, shape: Shape, row: Row): ReadNeed & { readonly kind: "find" } => {
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = renderTemplate(shape.keys[partitionKey]!, row);
  if (partition === undefined) {
    if (shape.kind === "node") checkOwnPartition(catalog, shape, catalog.nodes[shape.definition]?.idFields ?? []);
    keyOf(catalog, shape, row);
  }
  const { text: prefix } = renderPrefix(shape.keys[sortKey]!, row);
  const reason = `the sort key of "${shape.definition}" is not known from its id`;
  return { kind: "find", id: exactText([shape.id, partition, row]), shape, partition: partition!, prefix, row, reason };
};

/** The table key of a row: from its fields, else by finding the item in its partition. */
export const locate = (working: WorkingSet, shape: Shape, row: Row): Key | null | undefined => {
  const key = keyIfComplete(working.catalog, shape, row);
  if (key) return key;
  const found = readOrNeed(working, findNeed(working, shape, row));
  return found && keyOfItem(working.catalog, found);
};

/** The term of a row that was found by its known fields. If it no longer exists, it may have moved, so it is searched again. */
export const stillThere = (working: WorkingSet, [shape, key, known]: readonly [Shape, Key, Row], term: Term): Term =>
  keyIfComplete(working.catalog, shape, known) || isGone(working, knownImage(working, key)) ? term : { ...term, failure: STALE };

/** A row as returned by the schema of its edge type. Until the schema has accepted it, records the need and returns undefined. */
export const validRow = ({ unvalidated, given }: WorkingSet, { name, definition }: EdgeEntry, row: Row): Row | undefined => {
  if (!definition.schema) return {};
  const id = exactText([name, row]);
  const valid = given.rows?.[id];
  if (!valid) unvalidated.push({ id, of: "edge", name, row });
  return valid;
};

/** True if the schema of a kind accepts the whole row. Until it has, records the need and returns false. */
export const passesSchema = ({ catalog, unvalidated, given }: WorkingSet, { kind, entry }: Subject, changed: Row = {}): boolean => {
  const { name, definition } = entry;
  if (!definition.schema) return true;
  // The schema does not get the fields that Edgetable keeps in a row, nor its ends or its owner.
  const others = kind === "part" ? ownerFields(catalog, name) : kind === "edge" ? ["from", "to"] : [];
  const row: Record<string, unknown> = { ...changed };
  const kept = [...derivedNames(definition), ...timeNames(definition), ...(definition.version ? [VERSION] : [])];
  for (const field of [...others, ...kept]) delete row[field];
  const id = exactText([kind, name, row]);
  if (given.rows?.[id]) return true;
  unvalidated.push({ id, of: kind, name, row });
  return false;
};

/** The terms that require an item of the shape's kind; empty unless another kind may have its key. */
export const kindTerms = (catalog: Catalog, shape: Shape, failure: Failure): readonly Term[] =>
  kindMarks(catalog, shape).map((mark): Term => {
    if (mark.kind === "match") return { kind: "match", shape, failure };
    const { attribute } = mark;
    return mark.kind === "type"
      ? { kind: "equals", attribute, value: typeAttributeValue(catalog, mark.value), orAbsent: true, failure }
      : { kind: "begins", attribute, text: mark.text, failure };
  });

const ofItsKind = (catalog: Catalog, item: WriteItem): WriteItem => {
  if (!item.shape || item.terms.some(({ kind }) => kind === "absent")) return item;
  const failure = item.kind === "put" ? EXISTS : (item.terms.find(({ kind }) => kind === "present")?.failure ?? NOT_FOUND);
  const terms = kindTerms(catalog, item.shape, failure);
  return terms.length > 0 ? { ...item, terms: [...item.terms, ...terms] } : item;
};

/** The row that a write changes. */
export const subjectOf = (catalog: Catalog, write: LogicalWrite): Subject => {
  if ("edge" in write) {
    const { edge, from, to } = write;
    return { kind: "edge", entry: defined(catalog.edges[edge], `the edge "${edge}"`), from, to };
  }
  const { of, name } = write;
  if (of === "node") return { kind: "node", entry: defined(catalog.nodes[name], `the node "${name}"`) };
  return { kind: "part", entry: defined(catalog.parts[name], `the part "${name}"`) };
};

/** Stages the step of one of the row's own items. */
export const stage = ({ staged, write }: WorkingSet, item: WriteItem): void => {
  staged.push({ write, key: item.key, item, contribution: undefined });
};

/** Stages what follows from a row's change for another item. */
export const contribute = ({ staged, write }: WorkingSet, contribution: Contribution): void => {
  staged.push({ write, key: contribution.key, item: undefined, contribution });
};

const termText = (term: Term): string =>
  exactText(term.kind === "where" || term.kind === "match" ? { ...term, shape: term.shape.id } : term);

/** The terms of both lists, each once. */
export const unitedTerms = (terms: readonly Term[], more: readonly Term[]): readonly Term[] => {
  const all = [...terms];
  for (const term of more) if (!all.some((one) => one === term || termText(one) === termText(term))) all.push(term);
  return all;
};

/** Everything that the writes of a call do to one item. */
interface Group {
  readonly key: Key;
  readonly members: Staged[];
  /** True if one of the writes is of this item itself. */
  isOwn: boolean;
}

// Above this number, a set of keys is cheaper than comparing all pairs.
const FEW = 8;

const groupByKey = (staged: readonly Staged[]): readonly Group[] => {
  const groups: Group[] = [];
  const byId = staged.length > FEW ? new Map<string, Group>() : undefined;
  for (const one of staged) {
    const id = byId && keyId(one.key);
    const known = byId ? byId.get(id!) : groups.find(({ key }) => sameKey(key, one.key));
    if (known) {
      known.members.push(one);
      known.isOwn ||= one.item !== undefined;
      continue;
    }
    const group = { key: one.key, members: [one], isOwn: one.item !== undefined };
    groups.push(group);
    byId?.set(id!, group);
  }
  return groups;
};

/** @throws {plan.unsupported} always, with the positions of the writes that write the same item */
export const failWrittenTwice = (key: Key, of: readonly number[]): never => {
  const writes = [...new Set(of)].toSorted((a, b) => a - b);
  const calls = writes.map((at) => at + 1);
  const problem =
    calls.length > 1
      ? `calls ${calls.join(" and ")} both write ${keyShown(key)}. Join them into one call, or make them one after the other.`
      : `call ${calls.join()} writes ${keyShown(key)} twice. Split the call, or give one of its derived facts the freshness "stream".`;
  throw new EdgetableError("plan.unsupported", `A transaction writes an item once: ${problem}`, { details: { key, writes } });
};

const failTwice = ({ key, members }: Group): never =>
  failWrittenTwice(
    key,
    members.map(({ write }) => write),
  );

// What a rule checks of an item that the same transaction writes becomes a condition of that write. An item that is
// there afterwards satisfies a check that it is there.
const joinSteps = (
  { catalog }: WorkingSet,
  group: Group,
  step: WriteItem,
  { derived, rule: { joins } }: { readonly derived: WriteItem; readonly rule: ItemRule },
): WriteItem => {
  if (step.kind === "check") return { ...derived, terms: unitedTerms(step.terms, derived.terms) };
  if (derived.kind === "check") {
    if (step.kind === "delete") return failTwice(group);
    const { isOwn } = group;
    return { ...step, terms: unitedTerms(step.terms, isOwn ? derived.terms.filter(({ kind }) => kind !== "present") : derived.terms) };
  }
  if (derived.kind !== "update" || !joins) return failTwice(group);
  // What is added to a node that goes with the same call is not kept anywhere.
  if (step.kind === "delete") return step;
  if (step.kind === "put") return joins.addToPut(catalog, step, derived.changes);
  const changes = joins.joinUpdates(step.changes, derived.changes);
  return changes ? { ...step, terms: unitedTerms(step.terms, derived.terms), changes, leaves: undefined } : failTwice(group);
};

const settleGroup = (working: WorkingSet, group: Group): Settled => {
  const { catalog } = working;
  let own: WriteItem | undefined;
  const byRule: (readonly [ItemRule, [Contribution, ...Contribution[]]])[] = [];
  for (const { item, contribution } of group.members) {
    if (contribution) {
      const same = byRule.find(([{ name }]) => name === contribution.rule.name);
      if (same) same[1].push(contribution);
      else byRule.push([contribution.rule, [contribution]]);
    } else if (own) return failTwice(group);
    else own = item && ofItsKind(catalog, item);
  }
  let isPending = false;
  for (const [rule, contributions] of byRule) {
    const derived = rule.settle(working, contributions);
    if (derived === undefined) isPending = true;
    else if (derived?.kind === "failure") return derived;
    else if (derived) own = own ? joinSteps(working, group, own, { derived, rule }) : derived;
  }
  return isPending ? undefined : (own ?? null);
};

/** What the staged steps come to: the items of one request, or the failure of one of the writes. */
export type SettledItems = readonly PlannedItem[] | WriteFailure;

/**
 * Makes one step of all that the writes of a call want of one item: a transaction takes each item once. May note
 * further needs, and is of no account while there are any.
 */
export const settle = (working: WorkingSet): SettledItems => {
  const { catalog, staged } = working;
  const [only] = staged;
  if (only?.item && staged.length === 1) return [{ item: ofItsKind(catalog, only.item), writes: [only.write] }];
  const items: PlannedItem[] = [];
  let failed: WriteFailure | undefined;
  for (const group of groupByKey(staged)) {
    const item = settleGroup(working, group);
    if (!item) continue;
    const { members } = group;
    if (item.kind === "failure") {
      const { of } = item;
      const write = members.find(({ contribution }) => contribution === of)?.write ?? 0;
      if (of.failure) failed ??= { write, failure: of.failure };
      continue;
    }
    if (members.length === 1) items.push({ item, writes: [members[0]!.write] });
    else {
      const asked = members.map(({ write, item: own, contribution }) => {
        const failed = contribution?.failure ? [contribution.failure] : [];
        return { write, failures: own ? own.terms.map(({ failure }) => failure) : failed };
      });
      items.push({ item, writes: [...new Set(asked.map(({ write }) => write))], asked });
    }
  }
  return failed ?? items;
};
