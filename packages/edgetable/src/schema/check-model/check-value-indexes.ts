import { MAX_SHARDS } from "../../keys/template.ts";
import { attributeNames } from "../standard-schema.ts";
import { fieldNames } from "../build-catalog.ts";
import { endTypes, type GraphDefinition } from "../definition.ts";
import { countList, type ShardCounts, fullEntry, type FullEntry, type ShardSettings, type ValueIndex } from "../layout.ts";
import { each, finding, unknownNames, when, type ModelFinding } from "./finding.ts";

/** Names of the indexes that Edgetable's own layout has anyway. */
const ownIndexes = ["reverse", "ordered"];

const checkCounts = (place: string, counts: ShardCounts): readonly ModelFinding[] => {
  const list = countList(counts);
  const wrong = list.find((count) => !(Number.isInteger(count) && count >= 1 && count <= MAX_SHARDS));
  if (list.length === 0 || wrong !== undefined) {
    return [finding("setting", place, `${wrong ?? "an empty list"} is no number of shards: give 1 to ${MAX_SHARDS}.`)];
  }
  // Then an item's new shard is never below its old one, and a reader that looks in ascending order cannot miss it on its way.
  const [small = 1, large = 1] = list
    .toSorted((a, b) => a - b)
    .flatMap((count, at, all) => (at > 0 && count % (all[at - 1] ?? 1) !== 0 ? [all[at - 1] ?? 1, count] : []));
  const next = Math.ceil(large / small) * small;
  return when(
    large % small !== 0,
    "setting",
    place,
    `${large} is no multiple of ${small}, so items would change places all over while the shards grow. Take ${next}.`,
  );
};

const checkShards = (place: string, { count, hot }: Pick<ShardSettings, "count" | "hot">): readonly ModelFinding[] => [
  ...checkCounts(place, count),
  ...each(hot, (value, counts) => checkCounts(`${place}.hot.${value}`, counts)),
];

interface Subject {
  /** Its attributes; undefined where its schema does not tell them. */
  readonly names: readonly string[] | undefined;
  /** Fields that a shard may be taken from: they never change. */
  readonly ids: readonly string[];
  readonly stored: boolean;
}

const subjectOf = (definition: GraphDefinition, name: string): Subject | undefined => {
  const keyOf = (type: string): readonly string[] => fieldNames(definition.nodes[type]?.key ?? "");
  const node = Object.hasOwn(definition.nodes, name) ? definition.nodes[name] : undefined;
  if (node) return { names: attributeNames(node.schema), ids: keyOf(name), stored: node.stored !== false };
  const part = definition.parts?.[name];
  if (part) {
    const owner = keyOf(part.of);
    const own = attributeNames(part.schema);
    return { names: own && [...own, ...owner], ids: [...owner, ...fieldNames(part.key)], stored: true };
  }
  const edge = definition.edges?.[name];
  if (!edge) return undefined;
  const ends = (["from", "to"] as const).flatMap((end) =>
    endTypes(edge[end]).flatMap((type) => keyOf(type).map((field) => `${end}.${field}`)),
  );
  const source = definition.nodes[endTypes(edge.from)[0] ?? ""];
  if (edge.stored === "reference")
    return { names: source && attributeNames(source.schema), ids: keyOf(endTypes(edge.from)[0] ?? ""), stored: true };
  return { names: edge.schema ? attributeNames(edge.schema) : [], ids: [...ends, ...(edge.key ?? [])], stored: true };
};

const attribute = (level: string): string => level.split(":")[0] ?? level;

const checkEntry = (place: string, entry: FullEntry, subject: Subject): readonly ModelFinding[] => {
  const { levels, split, shards } = entry;
  const known = { rule: "attribute", what: "attribute here", known: subject.names } as const;
  return [
    ...unknownNames(`${place}.by`, levels.map(attribute), known),
    ...when(levels.length === 0, "setting", `${place}.by`, "the list is empty. Name at least one attribute."),
    ...when(
      !Number.isInteger(split) || split < 0 || split > levels.length,
      "setting",
      `${place}.split`,
      `${split} is not a number of its ${levels.length} levels. Give 0 to ${levels.length}.`,
    ),
    ...when(!subject.stored, "setting", place, "it has no item of its own (stored: false) that could be in an index. Leave it out."),
    ...checkShards(`${place}.shards`, shards),
    ...unknownNames(`${place}.shards.per`, shards.per === undefined ? [] : [shards.per], known),
    ...unknownNames(`${place}.shards.by`, shards.by === undefined ? [] : [shards.by], {
      rule: "attribute",
      what: "field of its id, and a shard has to be taken from what never changes",
      known: subject.ids,
    }),
    ...when(
      shards.per === undefined && shards.hot !== undefined,
      "setting",
      `${place}.shards.hot`,
      "counts by value need the attribute whose values they are. Name it by per.",
    ),
  ];
};

const checkIndex = (definition: GraphDefinition, name: string, index: ValueIndex): readonly ModelFinding[] => {
  const place = `indexes.${name}`;
  const names = [definition.nodes, definition.edges, definition.parts].flatMap((group) => Object.keys(group ?? {}));
  return [
    ...when(ownIndexes.includes(name), "reservedName", place, `Edgetable has an index "${name}" of its own. Choose another name.`),
    ...unknownNames(`${place}.entries`, Object.keys(index.entries), { rule: "setting", what: "node, edge or part", known: names }),
    ...each(index.entries, (entry, given) => {
      const subject = subjectOf(definition, entry);
      return subject ? checkEntry(`${place}.entries.${entry}`, fullEntry(index, given), subject) : [];
    }),
  ];
};

/** The indexes that a model declares, and the shardings that a layout names. */
export const checkValueIndexes = (definition: GraphDefinition): readonly ModelFinding[] => [
  ...when(
    definition.layout !== undefined && definition.indexes !== undefined,
    "layout",
    "indexes",
    "they belong to Edgetable's own layout. In a layout of your own, say the same by indexes and keys.",
  ),
  ...each(definition.indexes, (name, index) => checkIndex(definition, name, index)),
  ...each(definition.layout?.shards, (name, sharding) => checkShards(`layout.shards.${name}`, sharding)),
];
