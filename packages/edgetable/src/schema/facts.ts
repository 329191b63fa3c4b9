import { type AnyEdge, type AnyNode, type AnyPart, endTypes, type GraphDefinition } from "./definition.ts";
import {
  type AggregateOperation,
  type AggregateSource,
  type CopyFreshness,
  type CopyList,
  type CopySettings,
  type Freshness,
  summarized,
  type SummaryDirection,
} from "./derived.ts";
import { attributeNames } from "./standard-schema.ts";
import { timeNames, timesOf } from "./timestamps.ts";
import { own } from "../util/row.ts";

/** An attribute of a node that is copied onto its edges or parts. */
export interface CopyFact {
  /** The copy's name: an attribute of the edge or part. */
  readonly attribute: string;
  readonly onto: { readonly kind: "edge" | "part"; readonly name: string };
  /** The end of the edge at which the node is; of a part `from`, its owner. */
  readonly end: "from" | "to";
  /** The node's attribute. */
  readonly of: string;
  readonly freshness: CopyFreshness;
  /** Seconds after which the stream is late. */
  readonly within?: number | undefined;
  /** Of freshness `transaction`: a job changes more copies than a transaction holds. */
  readonly beyond?: "job" | undefined;
}

/** An attribute of a node that is computed from its edges or parts. */
export interface AggregateFact {
  readonly node: string;
  readonly attribute: string;
  readonly operation: AggregateOperation;
  readonly over:
    | { readonly kind: "edge"; readonly name: string; readonly direction: "in" | "out" }
    | { readonly kind: "part"; readonly name: string };
  /** The attribute of the edge or part whose values are aggregated. */
  readonly of: string | undefined;
  readonly where: Readonly<Record<string, unknown>> | undefined;
  readonly freshness: Freshness;
  /** Counters over which its edges are spread; undefined: the node's own item counts. */
  readonly shards: number | undefined;
  /** Seconds after which the stream is late. */
  readonly within?: number | undefined;
}

/** An attribute of an edge that is computed from the edges of another type between the same two nodes. */
export interface SummaryFact extends Pick<AggregateFact, "attribute" | "operation" | "of" | "where" | "freshness" | "within"> {
  /** The edge type that has the attribute. */
  readonly edge: string;
  readonly over: { readonly kind: "edge"; readonly name: string; readonly direction: SummaryDirection };
}

/** An attribute that is computed from other rows: of a node, or of an edge. */
export type DerivedFact = AggregateFact | SummaryFact;

/** Everything that a model declares to follow from other rows. */
export interface Facts {
  readonly copies: readonly CopyFact[];
  readonly aggregates: readonly AggregateFact[];
  readonly summaries: readonly SummaryFact[];
}

const overOf = ({ in: into, out, parts }: AggregateSource): AggregateFact["over"] =>
  parts !== undefined
    ? { kind: "part", name: parts }
    : { kind: "edge", name: into ?? out ?? "", direction: into === undefined ? "out" : "in" };

/** The copies of a list, by the copy's name. */
export const copiesIn = (list: CopyList | undefined): readonly (readonly [name: string, copy: CopySettings])[] =>
  Array.isArray(list)
    ? (list as readonly string[]).map((of) => [of, { of }] as const)
    : Object.entries(list ?? {}).map(([name, copy]) => [name, typeof copy === "string" ? { of: copy } : copy] as const);

/** The facts that a model declares. Expects a model without findings of `checkModel`. */
export const factsOf = ({ nodes, edges = {}, parts = {} }: GraphDefinition): Facts => {
  const copies: CopyFact[] = [];
  const add = (onto: CopyFact["onto"], end: "from" | "to", list: CopyList | undefined): void => {
    for (const [attribute, { of, freshness = "transaction", within, beyond }] of copiesIn(list))
      copies.push({ attribute, onto, end, of, freshness, within, ...(beyond === "job" ? { beyond } : {}) });
  };
  for (const [name, edge] of Object.entries(edges)) {
    add({ kind: "edge", name }, "from", edge.copies?.from);
    add({ kind: "edge", name }, "to", edge.copies?.to);
  }
  for (const [name, part] of Object.entries(parts)) add({ kind: "part", name }, "from", part.copies);
  const aggregates: AggregateFact[] = [];
  for (const [node, definition] of Object.entries(nodes))
    for (const [attribute, { operation, source, of, where, freshness, shards, within }] of Object.entries(definition.derived ?? {}))
      aggregates.push({ node, attribute, operation, over: overOf(source), of, where, freshness, shards, within });
  const summaries: SummaryFact[] = [];
  for (const [edge, { derived = {} }] of Object.entries(edges))
    for (const [attribute, { operation, source, of, where, freshness, within }] of Object.entries(derived)) {
      const [direction, name] = summarized(source) ?? ["along", ""];
      summaries.push({ edge, attribute, operation, over: { kind: "edge", name, direction }, of, where, freshness, within });
    }
  return { copies, aggregates, summaries };
};

/** True if an attribute is a Date: listed as one, or taken from one. A model has no circle of attributes, so this ends. */
const isDate = (graph: GraphDefinition, definition: AnyNode | AnyEdge | AnyPart | undefined, attribute: string | undefined): boolean => {
  if (!definition || attribute === undefined) return false;
  if (definition.dates?.includes(attribute)) return true;
  if (timesOf(definition)?.as === "date" && timeNames(definition).includes(attribute)) return true;
  const derived = definition.kind === "part" ? undefined : own(definition.derived ?? {}, attribute);
  if (derived) {
    if (derived.operation !== "min" && derived.operation !== "max") return false;
    const { kind, name } = overOf(derived.source);
    return isDate(graph, (kind === "part" ? graph.parts : graph.edges)?.[summarized(derived.source)?.[1] ?? name], derived.of);
  }
  if (definition.kind === "node") return false;
  const isCopied = (list: CopyList | undefined, node: string | undefined): boolean =>
    copiesIn(list).some(([name, { of }]) => name === attribute && isDate(graph, graph.nodes[node ?? ""], of));
  if (definition.kind === "part") return isCopied(definition.copies, definition.of);
  const { from, to } = definition.copies ?? {};
  return isCopied(from, endTypes(definition.from)[0]) || isCopied(to, endTypes(definition.to)[0]);
};

/** The attributes of a definition that are Dates: those it lists, its times if they are, and derived ones that take their values from Dates. */
export const datesOf = (graph: GraphDefinition, definition: AnyNode | AnyEdge | AnyPart): readonly string[] => {
  const { dates = [] } = definition;
  const derived = derivedNames(definition).filter((name) => !dates.includes(name) && isDate(graph, definition, name));
  const more = timesOf(definition)?.as === "date" ? [...derived, ...timeNames(definition)] : derived;
  return more.length > 0 ? [...dates, ...more] : dates;
};

/** The attributes of a definition's rows that Edgetable computes from other rows: aggregates and copies. */
export const derivedNames = (definition: AnyNode | AnyEdge | AnyPart): readonly string[] => {
  if (definition.kind === "node") return Object.keys(definition.derived ?? {});
  if (definition.kind === "part") return copiesIn(definition.copies).map(([name]) => name);
  const { from, to } = definition.copies ?? {};
  return [...[...copiesIn(from), ...copiesIn(to)].map(([name]) => name), ...Object.keys(definition.derived ?? {})];
};

const known = new WeakMap<object, readonly string[] | null>();

/** The names of all attributes that a definition's rows may have, derived ones and times included; undefined where the schema does not tell them. */
export const attributesOf = (definition: AnyNode | AnyEdge | AnyPart): readonly string[] | undefined => {
  let names = known.get(definition);
  if (names === undefined) {
    const declared = definition.schema ? attributeNames(definition.schema) : [];
    const more = [...derivedNames(definition), ...timeNames(definition)];
    names = declared ? (more.length > 0 ? [...declared, ...more] : declared) : null;
    known.set(definition, names);
  }
  return names ?? undefined;
};

/** The attribute of a node's item that counts the changes of its derived attributes by transactions. */
export const NODE_REVISION = "~derived";

/** The attributes of a node's item with the sum and the number behind an average. */
export const sumHidden = (attribute: string): string => `~sum#${attribute}`;
export const countHidden = (attribute: string): string => `~count#${attribute}`;

/** The attribute of a node's or edge's item with the revision of the facts that the stream has written into it. */
export const STREAMED = "~streamed";

/** The attribute of a node's item with the revision of the last sum of its counters. */
export const ROLLED = "~rolled";

/** The attribute of a node's item with the set of counters that holds all of a sharded attribute. */
export const spreadHidden = (attribute: string): string => `~spread#${attribute}`;

/** True if transactions keep an aggregate in the node's own item. */
export const isKeptInNode = ({ freshness, shards }: Pick<AggregateFact, "freshness" | "shards">): boolean =>
  freshness === "transaction" && shards === undefined;

/** True if transactions keep an aggregate in counters of its own. */
export const isSpread = ({ shards }: Pick<AggregateFact, "shards">): boolean => shards !== undefined;

/** The attributes beside its row that the item of a node or edge needs for its derived attributes. */
export const hiddenNames = ({ derived = {} }: Pick<AnyNode, "derived">): readonly string[] => {
  const names = Object.entries(derived).flatMap(([name, fact]) => {
    if (isSpread(fact)) return [spreadHidden(name)];
    return fact.operation === "average" && isKeptInNode(fact) ? [sumHidden(name), countHidden(name)] : [];
  });
  if (Object.values(derived).some(isSpread)) names.push(ROLLED);
  return Object.values(derived).some(({ freshness }) => freshness === "stream") ? [...names, STREAMED] : names;
};

/**
 * The attribute of an edge's or part's item that changes with each refresh of its copies by the stream: the time of the
 * last write of the whole item, in milliseconds since 1970; once the stream has refreshed it, one more each time, and negative.
 */
export const COPY_REVISION = "~copies";
/** Attributes that rows never show, of any item; those of a model's derived attributes are {@link hiddenNames}. */
export const HIDDEN: readonly string[] = [NODE_REVISION, COPY_REVISION];
