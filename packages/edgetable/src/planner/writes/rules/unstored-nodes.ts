import { EdgetableError } from "../../../errors/edgetable-error.ts";
import type { NodeEntry } from "../../../schema/catalog.ts";

/**
 * Refuses to write or delete a node without an item of its own: no read would find what is written.
 *
 * @throws {plan.unsupported} if the node has none
 */
export const refuseUnstored = ({ name, definition }: Pick<NodeEntry, "name" | "definition">): void => {
  if (definition.stored !== false) return;
  throw new EdgetableError(
    "plan.unsupported",
    `"${name}" has no item of its own (stored: false), so there is nothing to write or delete. Write its edges and parts, or leave out stored: false.`,
    { details: { node: name } },
  );
};
