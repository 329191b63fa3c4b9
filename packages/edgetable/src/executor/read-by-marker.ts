import type { MarkerStep } from "../ir/physical-plan.ts";
import { sameKey } from "../ir/write-plan.ts";
import { markerKey } from "../planner/writes/rules/unique-markers.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { OWNER } from "../schema/system-items.ts";
import { ownerId } from "../schema/system-keys.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { checkedItem, type Rows } from "./read-rows.ts";
import type { CallContext, Session } from "./session.ts";

/** A node to read by the value of a unique attribute. */
export interface MarkerRead {
  readonly session: Session;
  readonly marker: MarkerStep;
  readonly value: unknown;
  readonly context: CallContext;
}

const NONE: Rows = { found: [], next: undefined };

/**
 * Reads the marker of a unique value, then the node that it names, and returns the node only if it has the value. Between the two
 * reads the value may move to another node, or the first read may be stale: then both are repeated, strongly consistent. If the
 * marker names a node without the value twice in a row, it is an orphan and no node has the value.
 *
 * @param read reads the node with an id
 * @throws {execute.timeout} if the value kept moving between the reads until the deadline
 */
export const readByMarker = async (
  { session, marker, value, context }: MarkerRead,
  read: (id: Row, strong: boolean) => Promise<Rows>,
): Promise<Rows> => {
  const { catalog } = session;
  const { node, attribute: field } = marker;
  const entry = defined(catalog.nodes[node], node);
  const key = defined(markerKey(catalog, { node, field }, { [field]: value }), "the key of a marker");
  let strong = marker.consistent;
  let named: string | undefined;
  for (;;) {
    const output = await session.send("GetItem", encodeGet(catalog, key, { consistent: strong }), context);
    const owner = checkedItem(catalog, key, output.Item)?.[OWNER];
    const text = owner && "S" in owner ? owner.S : undefined;
    const id = text === undefined ? undefined : ownerId(entry, text);
    if (!id) return NONE;
    const rows = await read(id, strong);
    const [one] = rows.found;
    const ownMarker = one && markerKey(catalog, { node, field }, one.row);
    if (ownMarker && sameKey(ownMarker, key)) return rows;
    if (strong && named === text) return NONE;
    if (strong) named = text;
    strong = true;
  }
};
