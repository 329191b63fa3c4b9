import { isPath, stepsOf } from "../schema/attribute-path.ts";
import type { Catalog } from "../schema/catalog.ts";
import { comparedAttributes } from "../schema/check-model/check-facts.ts";
import type { Finding } from "./finding.ts";
import type { Seen } from "./see-item.ts";

/** A derived attribute, and the attributes that it follows from. */
interface Link {
  readonly owner: string;
  readonly attribute: string;
  readonly sources: readonly (readonly [owner: string, attribute: string])[];
}

const linksOf = ({ facts: { copies, aggregates, summaries }, edges, parts }: Catalog): readonly Link[] => {
  const root = (name: string): string => (isPath(name) ? stepsOf(name)[0] : name);
  const folds = [...aggregates.map((fact) => ({ ...fact, owner: fact.node })), ...summaries.map((fact) => ({ ...fact, owner: fact.edge }))];
  return [
    ...folds.map(({ owner, attribute, over, of, where }): Link => {
      const names = [...(of === undefined ? [] : [root(of)]), ...comparedAttributes({ where })];
      return { owner, attribute, sources: names.map((name) => [over.name, name]) };
    }),
    ...copies.map(({ onto, attribute, end, of }): Link => {
      const types = onto.kind === "part" ? [parts[onto.name]?.definition.of ?? ""] : (edges[onto.name]?.[end] ?? []);
      return { owner: onto.name, attribute, sources: types.map((type) => [type, root(of)]) };
    }),
  ];
};

/** By how many steps each attribute follows from attributes of schemas. A model has no circle of attributes, so this ends. */
const levelsOf = (catalog: Catalog): ReadonlyMap<string, number> => {
  const links = linksOf(catalog);
  const levelOf = (owner: string, attribute: string): number =>
    Math.max(
      0,
      ...links.flatMap((link) =>
        link.owner === owner && link.attribute === attribute ? [1 + Math.max(0, ...link.sources.map((one) => levelOf(...one)))] : [],
      ),
    );
  const levels = new Map<string, number>();
  for (const { owner, attribute } of links) levels.set(owner, Math.max(levels.get(owner) ?? 0, levelOf(owner, attribute)));
  return levels;
};

/** Findings whose repair adds or removes a whole edge or part. */
const WHOLE: ReadonlySet<Finding["kind"]> = new Set(["oneSided", "dangling", "leftEdge", "orphanedPart"]);

/**
 * True if others follow from what was mended: from a derived attribute, from an edge or part that the stream counts, or from a copy
 * of an edge that was written for the other copy, perhaps at a node that is not there.
 */
export const leadsOn = (
  catalog: Catalog,
  { kind, definition = "", attribute }: Pick<Finding, "kind" | "definition" | "attribute">,
): boolean => {
  if (linksOf(catalog).some(({ sources }) => sources.some(([owner, name]) => owner === definition && name === attribute))) return true;
  if (!WHOLE.has(kind)) return false;
  const { aggregates, summaries } = catalog.facts;
  const isStreamed = [...aggregates, ...summaries].some(({ over, freshness }) => over.name === definition && freshness === "stream");
  return isStreamed || (kind === "oneSided" && catalog.edges[definition]?.definition.symmetric === true);
};

/** True if others may follow from what a repair mends. */
export const mayLeadOn = (catalog: Catalog): boolean =>
  linksOf(catalog).some(({ owner, attribute }) => leadsOn(catalog, { kind: "staleFact", definition: owner, attribute })) ||
  [...catalog.facts.aggregates, ...catalog.facts.summaries].some(({ freshness }) => freshness === "stream") ||
  Object.values(catalog.edges).some(({ definition }) => definition.symmetric === true);

const known = new WeakMap<Catalog, ReadonlyMap<string, number>>();

/**
 * How many repairs an item has to wait for, one after the other, before it is judged: a sum of a copy of a count waits for two. An
 * item that holds attributes of several steps waits for the last one.
 */
export const repairsBefore = (catalog: Catalog, seen: Seen): number => {
  if (seen.kind !== "row") return 0;
  let levels = known.get(catalog);
  if (!levels) known.set(catalog, (levels = levelsOf(catalog)));
  return Math.max(0, (levels.get(seen.shape.definition) ?? 0) - 1);
};
