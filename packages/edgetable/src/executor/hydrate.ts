import type { HydrateStep, ReadPlan } from "../ir/physical-plan.ts";
import { decodeOwn, isOfShape } from "../requests/decode-item.ts";
import { keyOf } from "../requests/encode-item.ts";
import { isExpired } from "../requests/encode-read.ts";
import type { Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { batchGet } from "./batch.ts";
import { type Found, type Reader, readRow } from "./read-rows.ts";
import { byIdentity, identity } from "./item-identity.ts";
import type { CallContext } from "./session.ts";
import type { Row } from "../util/row.ts";

/** Finds a node whose table key does not follow from its id. */
export type FindNode = (node: string, id: Row, context: CallContext) => Promise<Record<string, unknown> | undefined>;

const endOf = ({ ends }: HydrateStep, { source }: Found): "from" | "to" => defined(ends[source], "the end of a source");

const hydrateByBatch = async (reader: Reader, step: HydrateStep, found: readonly Found[]): Promise<void> => {
  const { session, binding, context } = reader;
  const { catalog } = session;
  const keys = new Map<string, Key>();
  const places = found.map((one) => {
    const end = endOf(step, one);
    const node = catalog.nodes[one.shape[end] ?? ""];
    if (!node || node.definition.stored === false) return undefined;
    const key = keyOf(catalog, node.shape, Object.assign({}, binding.row, one.row[end]));
    const id = identity(catalog, key);
    keys.set(id, key);
    return { id, node };
  });
  const byKey = byIdentity(catalog, await batchGet(session, { keys: [...keys.values()], consistent: step.consistent }, context));
  for (const [at, one] of found.entries()) {
    const place = places[at];
    const item = place && byKey.get(place.id);
    const shape = place?.node.shape;
    // In an adopted table another kind of item, or one of nobody's, may lie under the node's key.
    const isNode = item && shape && !isExpired(catalog, item, context.livingAt) && (catalog.escapes || isOfShape(catalog, shape, item));
    one.node = isNode ? readRow(reader, [shape, item], decodeOwn) : undefined;
  }
};

/** Adds to each edge the node at its far end. */
export const hydrate = async (reader: Reader, found: readonly Found[], findNode: FindNode): Promise<void> => {
  const step = defined(reader.plan.hydrate, "hydrate step");
  if (step.by === "none") {
    for (const one of found) {
      const isGone = isExpired(reader.session.catalog, one.item, reader.context.livingAt);
      one.node = isGone ? undefined : readRow(reader, [one.shape, one.item], decodeOwn);
    }
    return;
  }
  if (step.by === "batchGet") return hydrateByBatch(reader, step, found);
  await Promise.all(
    found.map(async (one) => {
      const end = endOf(step, one);
      one.node = await findNode(defined(one.shape[end], "node type"), one.row[end] as Row, reader.context);
    }),
  );
};

/** Ids of the nodes that edges lead to and that have no item. */
export const missingOf = ({ hydrate: step }: ReadPlan, found: readonly Found[]): readonly unknown[] =>
  step ? found.filter(({ node }) => node === undefined).map((one) => one.row[endOf(step, one)]) : [];
