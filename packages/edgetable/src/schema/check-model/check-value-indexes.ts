import { MAX_SHARDS } from "../../keys/template.ts";
import { endKey, fieldNames } from "../build-catalog.ts";
import { endTypes, type GraphDefinition } from "../definition.ts";
import { countList, fullEntry, type ShardCounts, type ShardSettings } from "../layout.ts";
import { attributesOf } from "../facts.ts";
import { VERSION } from "../system-items.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

/** Names of the indexes of Edgetable's own layout. */
const OWN_INDEXES: readonly string[] = ["reverse", "ordered"];

const checkCounts = (place: string, counts: ShardCounts, report: Report): void => {
  const ascending = countList(counts).toSorted((a, b) => a - b);
  const wrong = countList(counts).find((count) => !(Number.isInteger(count) && count >= 1 && count <= MAX_SHARDS));
  if (ascending.length === 0 || wrong !== undefined) {
    report("setting", place, `${wrong ?? "an empty list"} is not a number of shards: give 1 to ${MAX_SHARDS}.`);
    return;
  }
  // With multiples, an item's new shard is never below its old one: a reader in ascending order cannot miss it while it moves.
  for (const [at, large] of ascending.entries()) {
    const small = ascending[at - 1] ?? 1;
    if (large % small === 0) continue;
    report(
      "setting",
      place,
      `${large} is not a multiple of ${small}: items would move between all shards while the count grows. Take ${Math.ceil(large / small) * small}.`,
    );
    return;
  }
};

const checkShards = (place: string, { count, hot }: Pick<ShardSettings, "count" | "hot">, report: Report): void => {
  checkCounts(place, count, report);
  each(hot, (value, counts) => checkCounts(`${place}.hot.${value}`, counts, report));
};

/** The facts about a definition that entries of indexes are checked against. */
interface Indexed {
  /** Its attributes; undefined if its schema does not list them. */
  readonly names: readonly string[] | undefined;
  /** Fields that a shard may be taken from: they never change. */
  readonly ids: readonly string[];
  readonly stored: boolean;
}

const findIndexed = (definition: GraphDefinition, name: string): Indexed | undefined => {
  const keyOf = (type: string): readonly string[] => fieldNames(endKey(definition, type));
  const node = Object.hasOwn(definition.nodes, name) ? definition.nodes[name] : undefined;
  if (node) return { names: attributesOf(node), ids: keyOf(name), stored: node.stored !== false };
  const part = definition.parts?.[name];
  if (part) {
    const owner = keyOf(part.of);
    const own = attributesOf(part);
    return { names: own && [...own, ...owner], ids: [...owner, ...fieldNames(part.key)], stored: true };
  }
  const edge = definition.edges?.[name];
  if (!edge) return undefined;
  const [sourceType = ""] = endTypes(edge.from);
  if (edge.stored === "reference") {
    const source = definition.nodes[sourceType];
    return { names: source && attributesOf(source), ids: keyOf(sourceType), stored: true };
  }
  const ids: string[] = [];
  for (const end of ["from", "to"] as const)
    for (const type of endTypes(edge[end])) for (const field of keyOf(type)) ids.push(`${end}.${field}`);
  ids.push(...(edge.key ?? []));
  return { names: attributesOf(edge), ids, stored: true };
};

/** The indexes that a model declares, and the shardings that a layout names. */
export const checkValueIndexes = (definition: GraphDefinition, report: Report): void => {
  if (definition.layout !== undefined && definition.indexes !== undefined)
    report("layout", "indexes", "they belong to Edgetable's own layout. With your own layout, declare indexes and keys in it.");
  const names = [definition.nodes, definition.edges, definition.parts].flatMap((group) => Object.keys(group ?? {}));
  each(definition.indexes, (name, index) => {
    const place = `indexes.${name}`;
    if (OWN_INDEXES.includes(name)) report("reservedName", place, `Edgetable's own layout has an index "${name}". Choose another name.`);
    reportUnknown(report, `${place}.entries`, Object.keys(index.entries), { rule: "setting", what: "a node, edge or part", known: names });
    const projected = Object.keys(index.entries).map((entry) => findIndexed(definition, entry)?.names);
    if (Array.isArray(index.projection) && projected.every((one) => one !== undefined))
      reportUnknown(report, `${place}.projection`, index.projection, {
        rule: "attribute",
        what: "an attribute of what the index holds",
        known: [...projected.flat(), VERSION],
      });
    each(index.entries, (entry, given) => {
      const indexed = findIndexed(definition, entry);
      if (!indexed) return;
      const at = `${place}.entries.${entry}`;
      const { levels, split, shards } = fullEntry(index, given);
      const known = { rule: "attribute", what: "an attribute here", known: indexed.names } as const;
      const attributes = levels.map((level) => level.split(":")[0] ?? level);
      reportUnknown(report, `${at}.by`, attributes, known);
      if (levels.length === 0) report("setting", `${at}.by`, "the list is empty. Name at least one attribute.");
      if (!Number.isInteger(split) || split < 0 || split > levels.length)
        report("setting", `${at}.split`, `${split} is not a number of its ${levels.length} levels. Give 0 to ${levels.length}.`);
      if (!indexed.stored) report("setting", at, "it has no item (stored: false), and an index contains items. Leave it out.");
      checkShards(`${at}.shards`, shards, report);
      if (shards.per !== undefined) reportUnknown(report, `${at}.shards.per`, [shards.per], known);
      if (shards.by !== undefined)
        reportUnknown(report, `${at}.shards.by`, [shards.by], {
          rule: "attribute",
          what: "a field of its id, and a shard must be taken from a value that never changes",
          known: indexed.ids,
        });
      if (shards.per === undefined && shards.hot !== undefined)
        report("setting", `${at}.shards.hot`, "counts by value need an attribute to take the value from. Name it in per.");
    });
  });
  each(definition.layout?.shards, (name, sharding) => checkShards(`layout.shards.${name}`, sharding, report));
};
