import { overText } from "../executor/facts/contributions.ts";
import { copyShape, streamedCopies } from "../executor/facts/refresh-copies.ts";
import type { Triggered } from "../executor/facts/triggers.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { CopyFact, DerivedFact } from "../schema/facts.ts";
import type { Item } from "../transport/operations.ts";

/** A derived attribute or copy that followed a change later than the model's `within` says. */
export interface StaleFact {
  /** The node, edge or part that has it. */
  readonly definition: string;
  readonly attribute: string;
  /** The bound, in seconds. */
  readonly within: number;
  /** Milliseconds from the change until it had followed. DynamoDB tells a change's time in whole seconds, rounded down. */
  readonly staleness: number;
}

/** What was refreshed because of a change. */
export interface RefreshedChange extends Triggered {
  readonly cause: { readonly after: Item | undefined; readonly time: number };
}

type Bounded<Fact> = Fact & { readonly within: number };
const bounded = <Fact extends DerivedFact | CopyFact>(facts: readonly Fact[]): readonly Bounded<Fact>[] =>
  facts.filter((fact): fact is Bounded<Fact> => fact.freshness === "stream" && fact.within !== undefined);

const ownerOf = (fact: DerivedFact): string => ("node" in fact ? fact.node : fact.edge);

/**
 * The facts that followed a change too late. Of each, the one that took longest.
 *
 * @param now milliseconds since 1970 at which all of them had followed
 */
export const staleFacts = (catalog: Catalog, refreshed: readonly RefreshedChange[], now: number): readonly StaleFact[] => {
  const { aggregates: ofNodes, summaries, copies: all } = catalog.facts;
  const [aggregates, copies] = [bounded<DerivedFact>([...ofNodes, ...summaries]), bounded(all)];
  if (aggregates.length + copies.length === 0) return [];
  const stale = new Map<string, StaleFact>();
  const judge = (definition: string, { attribute, within }: Bounded<DerivedFact | CopyFact>, staleness: number): void => {
    const name = `${definition}.${attribute}`;
    if (staleness > within * 1000 && staleness > (stale.get(name)?.staleness ?? 0))
      stale.set(name, { definition, attribute, within, staleness });
  };
  for (const { cause, places, holders, copies: copied, fanOuts } of refreshed) {
    const staleness = now - cause.time;
    for (const fact of aggregates)
      if (
        places.some(({ holder, over }) => holder.entry.name === ownerOf(fact) && overText(fact) === over) ||
        holders.some(({ entry }) => entry.name === ownerOf(fact))
      )
        judge(ownerOf(fact), fact, staleness);
    const shape = copied.length > 0 ? copyShape(catalog, cause.after) : undefined;
    const own: readonly CopyFact[] = shape ? streamedCopies(catalog, shape) : [];
    for (const fact of copies) {
      const { kind, name } = fact.onto;
      const isOnto = fanOuts.some(({ onto, end }) => onto.kind === kind && onto.name === name && end === fact.end);
      if (own.includes(fact) || isOnto) judge(name, fact, staleness);
    }
  }
  return [...stale.values()];
};
