import { holds } from "../../ir/evaluate-condition.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { defined } from "../../util/invariant.ts";
import type { NodeKey } from "./node-names.ts";
import { readNodes } from "./read-nodes.ts";
import type { WalkRun } from "./walk-run.ts";

/** The one hop of a plan that goes along one edge. */
export const onlyHop = (run: WalkRun): PlannedHop => {
  const [hop] = run.request.plan.steps;
  return defined(hop?.kind === "hop" ? hop : undefined, "hop");
};

/** What a search asks of the nodes that it comes to, wherever it comes from. */
export interface NodeFilter {
  /** Reads nodes that are not known yet; what the budget leaves stays unknown. */
  readonly read: (keys: Iterable<NodeKey>) => Promise<void>;
  /** Whether a node holds it; undefined where it was not read. */
  readonly passes: (key: NodeKey) => boolean | undefined;
}

/** Of which nodes it is known whether they pass. */
export type Verdicts = Map<NodeKey, boolean>;

const everything: NodeFilter = { read: () => Promise.resolve(), passes: () => true };

/**
 * The filter of a search's hop, each node read once.
 *
 * @param forward the run along the hop, which says how nodes are read
 * @param known what is known already: of where paths begin nothing is asked
 */
export const nodeFilter = (forward: WalkRun, known: Verdicts): NodeFilter => {
  const { nodeConditions, passing } = onlyHop(forward);
  if (nodeConditions.length === 0) return everything;
  const read: NodeFilter["read"] = async (keys) => {
    const asked = new Set([...keys].filter((key) => !known.has(key)));
    for (const key of asked) {
      if (passing.includes(forward.names.typeOf(key))) continue;
      asked.delete(key);
      known.set(key, false);
    }
    const unknown = asked.values();
    await readNodes(
      forward,
      () => unknown.next().value,
      (key, row) => known.set(key, row !== undefined && nodeConditions.every((condition) => holds(condition, row, forward.request.values))),
    );
  };
  return { read, passes: (key) => known.get(key) };
};
