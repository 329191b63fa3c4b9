import { ASSUMED_BYTES, writeUnits } from "../ir/capacity.ts";
import type { Changes, DeleteWrite, EndId, LogicalWrite } from "../ir/logical-write.ts";
import { stepUnits } from "../ir/write-price.ts";
import { assumedEdges, assumedParts } from "../planner/assumed-rows.ts";
import { isChanged } from "../planner/writes/changed-row.ts";
import { type Aggregate, aggregatesOver, counts, summariesOver, type Summary } from "../planner/writes/rules/aggregates.ts";
import { cascadeEnds } from "../planner/writes/rules/required-nodes.ts";
import { type Subject, subjectOf } from "../planner/writes/working-set.ts";
import { type Catalog, hasFacts, type Shape } from "../schema/catalog.ts";
import { type CopyFact, derivedNames, isSpread } from "../schema/facts.ts";
import type { Item } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";

type Tied = Exclude<Subject, { readonly kind: "node" }>;

const listText = (names: readonly string[]): string => {
  const quoted = names.map((name) => `"${name}"`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
};

export const unitsText = (units: number, kind: "read" | "write" = "write"): string => `${units} ${kind} ${units === 1 ? "unit" : "units"}`;

/** The predicted units of changing some attributes of an item, including the index keys that contain them. */
const changedUnits = (catalog: Catalog, shape: Shape, names: readonly string[], transaction: boolean): number => {
  const set: Record<string, Item[string]> = {};
  for (const [attribute, template] of Object.entries(shape.keys))
    if (template.within.some((field) => names.includes(field))) set[attribute] = { S: "" };
  for (const name of names) set[shape.stored[name] ?? name] = { S: "" };
  const changes = { set, remove: [], add: {}, append: {} };
  return stepUnits(catalog, { kind: "update", shape, key: {}, terms: [], changes }, transaction);
};

// Its memo and the node's sums, and the node's item, which is read and written: docs/guide.md, "Derived attributes".
const REFRESH = { reads: 3, writes: 4 };

/** Aggregates of one node type that a write changes together. */
interface Touched {
  readonly node: string;
  /** Where the node is, such as `its end "to"`. */
  readonly place: string;
  readonly facts: Aggregate["fact"][];
}

const EACH_END = "at each of its ends";

const touchedBy = (subject: Tied, aggregates: readonly Aggregate[]): readonly Touched[] => {
  const all: Touched[] = [];
  for (const aggregate of aggregates) {
    const { fact } = aggregate;
    let place = fact.over.kind === "edge" && fact.over.direction === "in" ? "that it leads to" : "that it comes from";
    if (subject.kind === "part") place = "it belongs to";
    else if (subject.entry.definition.symmetric) place = EACH_END;
    const known = all.find((one) => one.node === fact.node && one.place === place);
    if (known) known.facts.push(fact);
    else all.push({ node: fact.node, place, facts: [fact] });
  }
  return all;
};

const aggregateNotes = (catalog: Catalog, { node, place, facts }: Touched, each = ""): readonly string[] => {
  const { shape } = defined(catalog.nodes[node], node);
  const notes: string[] = [];
  const of = (freshness: string): readonly string[] =>
    facts.filter((fact) => fact.freshness === freshness && !isSpread(fact)).map(({ attribute }) => attribute);
  const [kept, streamed, batched] = [of("transaction"), of("stream"), of("batch")];
  const where = `of the "${node}" ${place}`;
  if (kept.length > 0)
    notes.push(
      `${each}changes ${listText(kept)} ${where}, in the same transaction: 1 item, ${unitsText(changedUnits(catalog, shape, kept, true))}${place === EACH_END ? " each" : ""}`,
    );
  const spread = facts.filter(isSpread);
  if (spread.length > 0) {
    const counters = `one of the ${spread[0]?.shards} counters of ${listText(spread.map(({ attribute }) => attribute))}`;
    const units = writeUnits(ASSUMED_BYTES, true);
    notes.push(`${each}changes ${counters} ${where}, in the same transaction: 1 item, ${unitsText(units)}; they are added up afterwards`);
  }
  if (streamed.length > 0) {
    const writes = REFRESH.writes + changedUnits(catalog, shape, streamed, false);
    notes.push(
      `${each}the stream brings ${listText(streamed)} ${where} up to date afterwards: about ${unitsText(REFRESH.reads, "read")} and ${unitsText(writes)}`,
    );
  }
  if (batched.length > 0) notes.push(`${each}${listText(batched)} ${where} stays as the last batch job computed it`);
  return notes;
};

/** The edges that summarize the written edge: they join the same two nodes. */
const summaryNotes = (catalog: Catalog, summaries: readonly Summary[]): readonly string[] => {
  const edges = new Set(summaries.map(({ fact }) => fact.edge));
  return [...edges].flatMap((name) => {
    const of = (freshness: string): readonly string[] =>
      summaries.filter(({ fact }) => fact.edge === name && fact.freshness === freshness).map(({ fact }) => fact.attribute);
    const [names, batched] = [of("stream"), of("batch")];
    const stay =
      batched.length > 0 ? [`${listText(batched)} of the "${name}" between its ends stays as the last batch job computed it`] : [];
    if (names.length === 0) return stay;
    const { shapes, mirrors } = defined(catalog.edges[name], name);
    const places = [shapes[0], mirrors[0]].filter((shape) => shape !== undefined);
    const writes = REFRESH.writes + places.reduce((units, shape) => units + changedUnits(catalog, shape, names, false), 0);
    return [
      `the stream brings ${listText(names)} of the "${name}" between its ends up to date afterwards, if there is one: about ${unitsText(REFRESH.reads, "read")} and ${unitsText(writes)}`,
      ...stay,
    ];
  });
};

/** The attributes that an edge or part copies from the nodes at its ends, or from its node. */
const copyNotes = (catalog: Catalog, subject: Tied): readonly string[] => {
  const notes: string[] = [];
  for (const end of ["from", "to"] as const) {
    const copies = catalog.facts.copies.filter(
      ({ onto, end: at }) => at === end && onto.kind === subject.kind && onto.name === subject.entry.name,
    );
    if (copies.length === 0) continue;
    const type = subject.kind === "edge" ? subject[end].type : subject.entry.definition.of;
    notes.push(`takes ${listText(copies.map(({ of }) => of))} from the "${type}"`);
  }
  return notes;
};

/** The edges and parts that copy an attribute which a write of their node changes. */
const spreadNotes = (catalog: Catalog, node: string, changes: Changes | undefined): readonly string[] => {
  const places = new Map<string, { readonly onto: CopyFact["onto"]; readonly end: "from" | "to"; readonly copies: CopyFact[] }>();
  for (const copy of catalog.facts.copies) {
    const { onto, end, of, freshness } = copy;
    const isAt =
      onto.kind === "part" ? catalog.parts[onto.name]?.definition.of === node : catalog.edges[onto.name]?.[end].includes(node) === true;
    if (!isAt || freshness === "immutable" || (changes && !isChanged(changes, of))) continue;
    const id = `${onto.kind} ${onto.name} ${end} ${freshness}`;
    const place = places.get(id) ?? { onto, end, copies: [] };
    place.copies.push(copy);
    places.set(id, place);
  }
  return [...places.values()].map(({ onto, end, copies }) => {
    const part = onto.kind === "part" ? defined(catalog.parts[onto.name], "part") : undefined;
    const edge = onto.kind === "edge" ? defined(catalog.edges[onto.name], "edge") : undefined;
    const names = copies.map(({ attribute }) => attribute);
    const shapes = part ? [part.shape] : [edge?.shapes[0], edge?.mirrors[0]].filter((shape) => shape !== undefined);
    const inTransaction = copies[0]?.freshness === "transaction";
    const units = shapes.reduce((sum, shape) => sum + changedUnits(catalog, shape, names, inTransaction), 0);
    const expected = part ? assumedParts(part) : edge ? assumedEdges(edge.definition, end).rows : 0;
    const what = `${listText(names)} of each "${onto.name}" at it`;
    return inTransaction
      ? `changes ${what}, in the same transaction: ${expected} expected, fewer than 100, ${unitsText(units)} each`
      : `the stream changes ${what} afterwards: ${expected} expected, ${unitsText(shapes.length, "read")} and ${unitsText(units)} each`;
  });
};

const notesOfTied = (catalog: Catalog, subject: Tied, write: LogicalWrite): readonly string[] => {
  const changes = write.kind === "relink" || write.kind === "update" ? write.changes : undefined;
  const isTouched = (fields: readonly string[]): boolean => !changes || fields.some((field) => isChanged(changes, field));
  // The row as far as the write gives it: this may show that it does not count.
  let row: Row | undefined;
  if (write.kind === "create") ({ row } = write);
  else if (write.kind === "link") row = { ...write.row, from: write.from.id, to: write.to.id };
  const copied = derivedNames(subject.entry.definition);
  const touched = aggregatesOver(catalog, subject).filter((aggregate) => {
    const { fact, fields } = aggregate;
    if (!isTouched(fields)) return false;
    if (subject.kind === "edge" && !subject.entry.definition.symmetric) {
      const end = fact.over.kind === "edge" && fact.over.direction === "in" ? subject.to : subject.from;
      if (end.type !== fact.node) return false;
    }
    return row === undefined || counts(aggregate, row) || fields.some((field) => copied.includes(field));
  });
  const summaries = summariesOver(catalog, subject).filter(({ fields }) => isTouched(fields));
  const isWhole = write.kind === "link" || write.kind === "putEdge" || write.kind === "create" || write.kind === "put";
  return [
    ...(isWhole ? copyNotes(catalog, subject) : []),
    ...touchedBy(subject, touched).flatMap((one) => aggregateNotes(catalog, one)),
    ...summaryNotes(catalog, summaries),
  ];
};

/** Notes on how writes change derived attributes of other rows, with the predicted units. */
export const derivedNotes = (catalog: Catalog, writes: readonly LogicalWrite[]): readonly string[] => {
  if (!hasFacts(catalog)) return [];
  return writes.flatMap((given) => {
    const write = given.kind === "upsert" || given.kind === "upsertEdge" ? given[given.expect === "new" ? "create" : "update"] : given;
    const subject = subjectOf(catalog, write);
    if (subject.kind !== "node") return notesOfTied(catalog, subject, write);
    // A new node has no edges that copy from it.
    if (write.kind !== "update" && write.kind !== "put") return [];
    return spreadNotes(catalog, subject.entry.name, write.kind === "update" ? write.changes : undefined);
  });
};

/**
 * The derived attributes that change when edges are deleted with a node. Only those at the other ends count, because the node's own
 * are deleted with it.
 */
export const cascadeNotes = (catalog: Catalog, { name }: DeleteWrite): readonly string[] => {
  const typed = (types: readonly string[]): EndId => ({ type: types[0] ?? "", id: {} });
  const notes = cascadeEnds(catalog, name).flatMap(({ entry, direction }) => {
    const subject = { kind: "edge", entry, from: typed(entry.from), to: typed(entry.to) } as const;
    const others = aggregatesOver(catalog, subject).filter(
      ({ fact: { over } }) => entry.definition.symmetric === true || (over.kind === "edge" && over.direction !== direction),
    );
    return touchedBy(subject, others).flatMap((one) => aggregateNotes(catalog, one, `each "${entry.name}" that goes: `));
  });
  return [...new Set(notes)];
};
