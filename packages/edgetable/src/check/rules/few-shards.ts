import { mostShards, type Template } from "../../keys/template.ts";
import { type IndexExpectation, fullEntry } from "../../schema/layout.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";
import { recommendShards } from "../recommend-shards.ts";

/** How many times the needed shards are too many: each of them is asked by every search. */
const TOO_MANY = 4;

interface Expected {
  readonly index: string;
  readonly attribute: string;
  readonly definition: string;
  readonly expect: IndexExpectation;
  readonly shapes: readonly Shape[];
}

const declared = (catalog: Catalog): readonly Expected[] =>
  Object.entries(catalog.definition.indexes ?? {}).flatMap(([index, value]) =>
    Object.entries(value.entries).flatMap(([definition, entry]) => {
      const { expect } = fullEntry(value, entry);
      const attribute = catalog.indexes.find(({ name }) => name === index)?.partitionKey ?? "";
      const shapes = catalog.shapes.filter((shape) => shape.definition === definition && attribute in shape.keys);
      return expect ? [{ index, attribute, definition, expect, shapes }] : [];
    }),
  );

const adopted = (catalog: Catalog): readonly Expected[] =>
  Object.entries(catalog.layout.indexes ?? {}).flatMap(([index, { partitionKey, expect }]) => {
    const shapes = catalog.shapes.filter((shape) => partitionKey in shape.keys);
    return expect ? [{ index, attribute: partitionKey, definition: index, expect, shapes }] : [];
  });

const shardsOf = (template: Template | undefined): number =>
  Math.max(
    1,
    ...(template?.parts ?? []).map((part) =>
      part.kind === "field" && part.format.kind === "shard" ? mostShards(part.format.sharding) : 1,
    ),
  );

const rates = ({ writesPerSecond, readsPerSecond }: IndexExpectation): string =>
  [
    ...(writesPerSecond === undefined ? [] : [`${writesPerSecond.toLocaleString("en-US")} writes`]),
    ...(readsPerSecond === undefined ? [] : [`${readsPerSecond.toLocaleString("en-US")} rows read`]),
  ].join(" and ");

const searchAdvice = ({ index, definition }: Expected, asked: number, most: number): Advice => ({
  rule: "fewShards",
  concern: CONCERNS.budgets,
  definition,
  severity: "warning",
  message: `${Math.round(asked).toLocaleString("en-US")} searches a second of the index "${index}" each ask every shard, which answers ${most.toLocaleString("en-US")} at most, however many there are.`,
  mend: "Let a value that the search knows name the partition (split), or ask for larger pages.",
});

const adviceOn = (expected: Expected): readonly Advice[] => {
  const { index, attribute, definition, expect, shapes } = expected;
  const itemBytes = Math.max(...shapes.map(({ bytes }) => bytes), 1);
  const { shards, searches } = recommendShards({ itemBytes, ...expect });
  const declaredShards = Math.max(1, ...shapes.map((shape) => shardsOf(shape.keys[attribute])));
  const about = { rule: "fewShards", concern: CONCERNS.batch, definition } as const;
  const unanswerable = searches && searches.asked > searches.most ? [searchAdvice(expected, searches.asked, searches.most)] : [];
  const said = `the index "${index}" is expected to take ${rates(expect)} a second`;
  if (declaredShards < shards) {
    const multiple = Math.ceil(shards / declaredShards) * declaredShards;
    const message = `${said}, more than its ${declaredShards === 1 ? "one shard takes" : `${declaredShards} shards take`}: a partition takes 1,000 writes or 3,000 reads, and a throttled index throttles the table's writes.`;
    const mend = `Raise the shards to ${multiple}: [${multiple}, ${declaredShards}] first, then edgetable reshard, then ${multiple}.`;
    return [{ ...about, severity: "warning", message, mend }, ...unanswerable];
  }
  if (declaredShards < shards * TOO_MANY) return unanswerable;
  const message = `${said}, for which ${shards} would do; each search asks all ${declaredShards} shards, at half a unit or more each.`;
  return [
    {
      ...about,
      severity: "note",
      message,
      mend: `Declare ${shards} in the next table; shards that hold items cannot become fewer without moving them.`,
    },
    ...unanswerable,
  ];
};

/** Shards that are too few, or far too many, for the rates that the model expects. */
export const fewShards: AdviceRule = (catalog) => [...declared(catalog), ...adopted(catalog)].flatMap(adviceOn);
