import { EdgetableError } from "../../../errors/edgetable-error.ts";
import type { AnyNode } from "../../../schema/definition.ts";
import type { Contribution, ItemRule } from "../working-set.ts";

const NONE: readonly Contribution[] = [];

/** @throws {plan.unsupported} if the node has no item of its own */
export const refuseUnstored = (name: string, { stored }: Pick<AnyNode, "stored">): void => {
  if (stored !== false) return;
  throw new EdgetableError(
    "plan.unsupported",
    `"${name}" has no item of its own (stored: false), so there is nothing to write or delete. Write its edges and parts, or leave out stored: false.`,
    { details: { node: name } },
  );
};

/** Refuses writes of nodes that are not stored: no read would find their items. */
export const unstoredNodes: ItemRule = {
  name: "unstored nodes",
  shared: false,
  contributions: () => NONE,
  spread: (_, { subject }) => {
    if (subject.kind === "node") refuseUnstored(subject.entry.name, subject.entry.definition);
  },
  settle: () => undefined,
};
