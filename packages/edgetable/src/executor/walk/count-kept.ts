import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { keyIfComplete } from "../../requests/encode-item.ts";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { jsonText } from "../../util/json-text.ts";
import type { Key } from "../../transport/operations.ts";
import type { Amount } from "../amount.ts";
import { batchGet } from "../batch.ts";
import { keptIn } from "../kept-counts.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { edgeReader, type Expanded } from "./read-edges.ts";
import { isBudgetEnd, runInFlight, type WalkRun } from "./walk-run.ts";
import { isBegun, type Expansion } from "./walk-state.ts";

/** What becomes of the nodes of a frontier. */
interface Counting {
  /** The next node; undefined if there is none, or none may begin. */
  readonly next: () => Expansion | undefined;
  /** Takes a node whose number of edges is kept, and the sum over them that the walk gathers. */
  readonly counted: (node: Expansion, edges: Amount, sum: Amount | undefined) => void;
  /** Takes a node whose edges were listed, or that the budget left. */
  readonly done: (expanded: Expanded) => void;
}

const unreadRest = (node: Expansion): Expanded => ({ node, read: 0, requests: 0, keys: [], values: undefined, rest: node, why: "stopped" });

/** Takes the number of edges from the nodes that keep it, 100 a request, and lists the edges of the others. */
export const countKept = async (run: WalkRun, hop: PlannedHop, { next, counted, done }: Counting): Promise<void> => {
  const { session, context, names } = run;
  const { catalog } = session;
  const listed: Expansion[] = [];
  const list = (node: Expansion): void => {
    const { type, id } = names.unpack(node.key);
    const kept = hop.kept?.[type];
    if (kept && !hop.reading[type])
      throw new EdgetableError(
        "plan.noIndex",
        `"${type}" ${jsonText(id)} holds no "${kept.attributes.join('", "')}", and no key or index finds its edges "${hop.edges.join('", "')}" to count them. Run the migration that computes it, or add an index to the layout.`,
        { details: { node: type, id, edges: hop.edges } },
      );
    listed.push(node);
  };

  const keyOfNode = (node: Expansion): Key | undefined => {
    const { type, id } = names.unpack(node.key);
    const kept = hop.kept?.[type];
    return kept && !isBegun(node) ? keyIfComplete(catalog, catalog.nodes[type]!.shape, id) : undefined;
  };

  const read = async (nodes: ReadonlyMap<Expansion, Key>): Promise<() => void> => {
    try {
      const found = byIdentity(catalog, await batchGet(session, { keys: [...nodes.values()], consistent: hop.consistent }, context));
      run.width.answered();
      return () => {
        for (const [node, key] of nodes) {
          const kept = hop.kept?.[names.typeOf(node.key)];
          const item = found.get(identity(catalog, key));
          const edges = kept && keptIn(session, kept, item, context);
          const sum = kept?.sums && keptIn(session, { ...kept, attributes: kept.sums }, item, context);
          // A sum of 0 does not tell whether any edge has the attribute.
          const isTold = !kept?.sums || edges === 0 || kept.sums.length === 0 || (sum !== undefined && sum !== 0);
          if (edges === undefined || !isTold) list(node);
          else counted(node, edges, kept?.sums?.length ? sum : undefined);
        }
      };
    } catch (error) {
      if (!isBudgetEnd(run, error)) throw error;
      return () => {
        for (const node of nodes.keys()) done(unreadRest(node));
      };
    }
  };

  const nextBatch = (): ReadonlyMap<Expansion, Key> | undefined => {
    const nodes = new Map<Expansion, Key>();
    while (nodes.size < BATCH_GET_KEYS) {
      const node = next();
      if (!node) break;
      const key = keyOfNode(node);
      if (key) nodes.set(node, key);
      else list(node);
    }
    return nodes.size > 0 ? nodes : undefined;
  };

  await runInFlight({ width: run.width, next: nextBatch, run: read, done: (take: () => void) => take() });
  const left = listed.values();
  await runInFlight({
    width: run.width,
    next: () => (run.spend.isOpen() ? left.next().value : undefined),
    run: edgeReader(run, hop),
    done,
  });
  for (const node of left) done(unreadRest(node));
};
