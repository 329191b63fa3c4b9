import { EdgetableError } from "../../errors/edgetable-error.ts";
import { encodeQuery } from "../../requests/encode-read.ts";
import { inPartition, partitionsOf } from "../../requests/partitions.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { nodeNames } from "./node-names.ts";
import type { WalkRequest } from "./walk-run.ts";
import { jsonText } from "../../util/json-text.ts";

const makeKeys = (catalog: Catalog, { plan, start, values }: WalkRequest): void => {
  const [first] = plan.steps;
  const sources = first?.kind === "hop" ? (first.reading[start.type]?.sources ?? []) : [];
  nodeNames(catalog).pack(start.type, start.id);
  for (const source of sources) {
    if (source.kind !== "query") continue;
    const binding = { row: { from: start.id, to: start.id }, values };
    const partitions = source.scatter ? partitionsOf(catalog, source, binding) : [];
    const step = partitions[0] ? inPartition(source, partitions[0].text) : source;
    encodeQuery(catalog, step, { binding, limit: undefined, start: undefined, backward: false });
  }
};

/**
 * Makes the keys of where a walk starts once beforehand: what is wrong with them is wrong with the walk, and not with a hop of it.
 *
 * @throws {traverse.start}
 */
export const checkStart = (catalog: Catalog, request: WalkRequest): void => {
  const { type, id } = request.start;
  try {
    makeKeys(catalog, request);
  } catch (cause) {
    throw new EdgetableError("traverse.start", `A walk cannot start at ${type} ${jsonText(id)}: ${(cause as Error).message}`, {
      details: { node: { type, id } },
      cause,
    });
  }
};
