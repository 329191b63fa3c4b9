import type { Catalog, KeyNames } from "../schema/catalog.ts";
import { definitionOf, describedEntry, type ModelDescription } from "../schema/describe-model.ts";
import type { BackfilledEntry, MigrationStep } from "./migration-steps.ts";

/** Steps of a plan, by what they do. */
interface UnorderedSteps {
  /** What follows from rows, as derived attributes do. */
  readonly computed: readonly MigrationStep[];
  readonly backfill: Extract<MigrationStep, { readonly kind: "backfill" }> | undefined;
  /** The indexes that are created. */
  readonly created: readonly Extract<MigrationStep, { readonly kind: "createIndex" }>[];
  /** What is done between these and the creation of indexes. */
  readonly others: readonly MigrationStep[];
}

/** What a step that gives items their index keys does. */
export const backfillText = (entries: readonly BackfilledEntry[]): string =>
  `give items their index keys: ${entries.map(({ index, shapes }) => `${shapes.map((id) => `"${id}"`).join(", ")} in "${index}"`).join("; ")}`;

/** True if edges are found at their targets by an entry of an index. */
const findsInEdges = ({ escapes, shapesById }: Catalog, index: string | undefined, id: string): boolean =>
  shapesById[id]?.kind === "edge" && (!escapes || index === "reverse");

/**
 * True if the entries are of in-edges that have other keys in an index than before, or none there.
 *
 * @param changed the entries that the recorded model has otherwise, as `index shape`
 */
const movesInEdges = (catalog: Catalog, entries: readonly BackfilledEntry[], changed: ReadonlySet<string>): boolean =>
  entries.some(({ index, shapes }) => shapes.some((id) => changed.has(`${index} ${id}`) && findsInEdges(catalog, index, id)));

/** True if keys hold an attribute that the steps compute, and that rows lack before: a count or sum begins with zero. */
const needsComputed = (
  { indexes, facts: { aggregates } }: Catalog,
  model: ModelDescription,
  entries: readonly BackfilledEntry[],
  computed: readonly MigrationStep[],
): boolean => {
  const zero = new Set(
    aggregates.filter(({ operation }) => operation === "count" || operation === "sum").map(({ node, attribute }) => `${node}.${attribute}`),
  );
  const lacking = new Set(computed.flatMap((one) => (one.kind === "derive" ? one.facts.filter((name) => !zero.has(name)) : [])));
  const holds = (index: KeyNames, id: string): boolean =>
    (describedEntry(model, index, id) ?? []).some((template) =>
      [...template.matchAll(/\{([^{}:?]+)/g)].some(([, field = ""]) => lacking.has(`${definitionOf(id)}.${field}`)),
    );
  return entries.some((entry) => {
    const index = indexes.find(({ name }) => name === entry.index);
    return index !== undefined && entry.shapes.some((id) => holds(index, id));
  });
};

/**
 * The order in which items get index keys and what follows from rows is computed. Keys may hold what is computed: it comes first.
 * But what is computed of in-edges is found by their keys: where these change, it comes after them, and after the index if that is new;
 * where keys hold it as well, they are written, or it is computed, once more.
 */
export const orderSteps = (
  catalog: Catalog,
  model: ModelDescription,
  { computed, backfill, created, others }: UnorderedSteps,
  changed: ReadonlySet<string>,
): readonly MigrationStep[] => {
  const keys = backfill ? [backfill] : [];
  const entries = backfill?.entries ?? [];
  const derived = computed.filter(({ kind }) => kind === "derive");
  if (derived.length === 0 || !movesInEdges(catalog, entries, changed)) return [...computed, ...keys, ...others, ...created];
  const isSought = ({ index, shapes }: BackfilledEntry): boolean => shapes.some((id) => findsInEdges(catalog, index, id));
  const sought = created.filter(({ index }) => entries.some((entry) => entry.index === index && isSought(entry)));
  const isOfSought = ({ index }: BackfilledEntry): boolean => sought.some((one) => one.index === index);
  const rest = created.filter((one) => !sought.includes(one));
  if (!needsComputed(catalog, model, entries, derived)) return [...keys, ...sought, ...computed, ...others, ...rest];
  // Keys of other items that hold what is found by the new index come after it.
  const first = entries.filter(isOfSought);
  if (backfill && first.length > 0 && !needsComputed(catalog, model, first, derived))
    return [{ ...backfill, entries: first, says: backfillText(first) }, ...sought, ...computed, ...keys, ...others, ...rest];
  return [...computed, ...keys, ...derived, ...others, ...created];
};
