import { type AnyGraph, defineGraph, edge, isEdgetableError, node, part, type StandardSchema } from "edgetable";
import { rewriteItem } from "edgetable/check";
import { type Draft, draftOf, type DraftSchema, type Keyed } from "./draft.ts";
import { inferKeys, type KindKeys } from "./infer-keys.ts";
import { type RawItem, type SampledTable, textOf } from "./sample.ts";
import { type Kinds, splitKinds } from "./split-kinds.ts";

/** An item that the drafted model does not describe as it is. */
export interface Misfit {
  readonly item: RawItem;
  readonly name: string | undefined;
  /** Attributes that would be written differently. */
  readonly differing: readonly string[];
  readonly problem: string | undefined;
}

/** A drafted model, and how well it describes the sample. */
export interface DraftReport {
  readonly draft: Draft;
  /** Undefined if `defineGraph` refuses the draft. */
  readonly graph: AnyGraph | undefined;
  /** What `defineGraph` says against the draft; empty if it accepts it. */
  readonly findings: readonly string[];
  readonly items: number;
  /** Items that Edgetable keeps for itself, which the draft leaves out: a model writes the table already. */
  readonly own: number;
  /** Items that read as rows. */
  readonly read: number;
  /** Items that a rewrite would leave as they are. */
  readonly rewritten: number;
  readonly misfits: readonly Misfit[];
  /** What the sample does not decide about the table as a whole. */
  readonly doubts: readonly string[];
}

const accepts = { "~standard": { version: 1 as const, vendor: "edgetable", validate: (value: unknown) => ({ value }) } };

const schemaOf = (schema: DraftSchema): StandardSchema<object> =>
  ({ ...accepts, entries: Object.fromEntries(Object.keys(schema).map((name) => [name, accepts])) }) as never;

const mapped = <From, To>(record: Readonly<Record<string, From>>, make: (one: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, one]) => [name, make(one)]));

/** The graph of a draft. @throws {schema.invalidModel} */
const graphOf = ({ table, nodes, parts, edges, layout, settings }: Draft): AnyGraph => {
  const given = <T extends { readonly schema: DraftSchema; readonly doubts: readonly string[]; readonly count: number }>(one: T) => {
    const { doubts: _doubts, count: _count, schema, ...rest } = one;
    return { ...rest, schema: schemaOf(schema) };
  };
  return defineGraph({
    table,
    nodes: mapped(nodes, (one) => node(given(one) as never)),
    parts: mapped(parts, (one) => part(given(one) as never)),
    edges: mapped(edges, (one) => edge(given(one) as never)),
    layout,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  });
};

type Plain = ReadonlyMap<string, ReadonlySet<string>>;

/** How a draft tells items apart. */
interface Way {
  /** By the type attribute too, if there is one. */
  readonly typed: boolean;
  readonly sharedIds: boolean;
  /** By attributes that only items under a fixed sort key have. */
  readonly told: boolean;
}

interface Attempt {
  readonly draft: Draft;
  readonly graph: AnyGraph | undefined;
  readonly findings: readonly { readonly rule: string; readonly place: string; readonly message: string }[];
  readonly misfits: readonly (Misfit & { readonly kind: number })[];
}

const attempt = (
  table: SampledTable,
  { kinds, delimiter, typeAttribute, typeIsSet }: Kinds,
  { plain, sharedIds }: { readonly plain: Plain; readonly sharedIds: boolean },
): Attempt => {
  const inferred = (folds: boolean): readonly KindKeys[] =>
    kinds.map((kind, at) => inferKeys(kind, table, { delimiter, typeAttribute, plain: plain.get(String(at)) ?? new Set(), folds }));
  const asFound = inferred(false);
  const folds = asFound.some(({ templates }) =>
    templates.some(({ parts }) => parts.flat().some((piece) => "format" in piece && piece.format === "lower")),
  );
  const all = folds ? inferred(true) : asFound;
  const keyed = kinds.flatMap((kind, at): Keyed[] => {
    const keys = all[at]!;
    const partition = keys.templates.find(({ attribute }) => attribute === table.partitionKey);
    const sort = keys.templates.find(({ attribute }) => attribute === table.sortKey);
    return partition === undefined ? [] : [{ kind, ...keys, partition, sort }];
  });
  const draft = draftOf(table, keyed, { delimiter, typeAttribute, typeIsSet, sharedIds });
  try {
    const graph = graphOf(draft);
    const misfits = kinds.flatMap(({ items }, kind) =>
      items.flatMap((item) => {
        const { name, differing, problem } = rewriteItem(graph, item);
        return differing.length === 0 && problem === undefined ? [] : [{ item, name, differing, problem, kind }];
      }),
    );
    return { draft, graph, findings: [], misfits };
  } catch (error) {
    if (!isEdgetableError(error, "schema.invalidModel")) throw error;
    return { draft, graph: undefined, findings: error.details["findings"] as Attempt["findings"], misfits: [] };
  }
};

const MOST_ATTEMPTS = 8;

const better = (a: Attempt, b: Attempt | undefined): boolean => {
  if (!b) return true;
  if ((a.graph === undefined) !== (b.graph === undefined)) return a.graph !== undefined;
  return a.graph === undefined ? a.findings.length < b.findings.length : a.misfits.length < b.misfits.length;
};

/**
 * Attempts a draft; what a comparison with the sample shows to be wrong becomes a plain value in the next one: first attributes that
 * repeat a key, then the keys themselves.
 */
const attempts = (table: SampledTable, kinds: Kinds, sharedIds: boolean): Attempt => {
  let best: Attempt | undefined;
  const plain = new Map<string, Set<string>>();
  for (let number = 0; number < MOST_ATTEMPTS; number++) {
    const next = attempt(table, kinds, { plain, sharedIds });
    if (better(next, best)) best = next;
    if (next.graph && next.misfits.length === 0) return next;
    const before = [...plain.values()].reduce((sum, one) => sum + one.size, 0);
    for (const { kind, differing } of next.misfits) {
      const known = plain.get(String(kind)) ?? new Set();
      plain.set(String(kind), known);
      for (const name of differing) known.add(known.has(name) ? `=${name}` : name);
    }
    if (before === [...plain.values()].reduce((sum, one) => sum + one.size, 0)) break;
  }
  return best!;
};

// What the partition keys of Edgetable's own items begin with, and the sort keys of a node's counters.
const OWN_PARTITION = /^~(?:unique|degree|job|facts|counter|deadLetter|secret|model|cursor)(?:#|$)/;
const OWN_SORT = /^~degree#/;

/** Drafts a model for a table by its items: kinds, templates, roles; then compares what the model would write with the items. */
export const draftModel = (sampled: SampledTable): DraftReport => {
  // Edgetable's own items, such as its record of the model and a node's counters, are no part of the model.
  const isOwn = (item: RawItem): boolean =>
    OWN_PARTITION.test(textOf(item[sampled.partitionKey]) ?? "") || OWN_SORT.test(textOf(item[sampled.sortKey ?? ""]) ?? "");
  // DynamoDB returns the attributes of an item in any order; the draft does not depend on it.
  const sorted = (item: RawItem): RawItem => Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const table = { ...sampled, items: sampled.items.filter((item) => !isOwn(item)).map(sorted) };
  const ways: readonly Way[] = [
    { typed: true, sharedIds: false, told: false },
    { typed: true, sharedIds: true, told: false },
    { typed: false, sharedIds: false, told: false },
    { typed: false, sharedIds: true, told: false },
    { typed: true, sharedIds: false, told: true },
  ];
  let best: (Attempt & { readonly way: Way }) | undefined;
  for (const way of ways) {
    const next = attempts(table, splitKinds(table, way), way.sharedIds);
    if (better(next, best)) best = { ...next, way };
    if (best?.graph && best.misfits.length === 0) break;
    if (!best?.findings.some(({ rule }) => rule === "collision")) break;
  }
  const found = best!;
  const doubts = [
    ...(found.way.sharedIds
      ? ["sharedIds: items of two types have keys of one form; the draft takes ids to be unique across the types."]
      : []),
    ...(found.way.typed ? [] : ["Items of different types have keys of the same form, so the type attribute is treated like any other."]),
  ];
  const items = table.items.length;
  const unread = found.graph === undefined ? items : found.misfits.filter(({ problem }) => problem !== undefined).length;
  return {
    draft: found.draft,
    graph: found.graph,
    findings: found.findings.map(({ place, message }) => `${place}: ${message}`),
    items,
    own: sampled.items.length - items,
    read: items - unread,
    rewritten: found.graph === undefined ? 0 : items - found.misfits.length,
    misfits: found.misfits,
    doubts,
  };
};
