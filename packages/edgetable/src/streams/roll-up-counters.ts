import { type Driver, driverOf } from "../client/driver.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { type CountedNode, readCounters as readTotals, rollUpNode } from "../executor/facts/roll-up-counters.ts";
import { batchGet } from "../executor/batch.ts";
import { checkRun, type RunOptions } from "../executor/call.ts";
import { keyOf } from "../requests/encode-item.ts";
import { counterSetsOf } from "../schema/counter-sets.ts";
import { checkNodeId } from "../schema/check-values.ts";

/** The sharded attributes of a node. An average of nothing is left out. */
export type CountedValues = Readonly<Record<string, number | bigint>>;

const countedNode = ({ catalog }: Driver, node: string, id: unknown): CountedNode => {
  const entry = catalog.nodes[node];
  if (entry && counterSetsOf(catalog, entry).length > 0) return { entry, id: checkNodeId(catalog, entry, id) };
  const names = Object.values(catalog.nodes).flatMap((one) => (counterSetsOf(catalog, one).length > 0 ? [`"${one.name}"`] : []));
  throw new EdgetableError(
    "plan.invalidOption",
    `"${node}" has no sharded attributes. ${names.length > 0 ? `These nodes have some: ${names.join(", ")}.` : "No node of this model has any: declare shards."}`,
    { details: { option: "node", value: node } },
  );
};

/**
 * The sharded counts, sums and averages of a node as they are now, strongly consistent. One read unit for the node and half a
 * unit to one for each of its counters, in one BatchGetItem.
 *
 * @param db the connection of the model
 * @param node the node's type
 * @param id the node's id
 * @returns undefined if there is no such node
 * @throws {plan.invalidOption} when nodes of the type have no sharded attributes
 */
export const readCounters = async (
  db: object,
  node: string,
  id: Readonly<Record<string, unknown>>,
  options?: RunOptions,
): Promise<CountedValues | undefined> => {
  const driver = driverOf(db);
  const { session, catalog } = driver;
  const counted = countedNode(driver, node, id);
  const context = driver.context(checkRun(options));
  const [item] = await batchGet(session, { keys: [keyOf(catalog, counted.entry.shape, counted.id)], consistent: true }, context);
  return item && (await readTotals(session, counted, item, context)).set;
};

/**
 * Sums the counters of a node into its row, with the index keys that hold them: what the stream processor does after each
 * batch of changes. For tables without one. Reads as {@link readCounters} does, and writes the node's item once; concurrent
 * links do not wait for it.
 *
 * @returns the sums that were written; undefined if there is no such node
 * @throws {plan.invalidOption} when nodes of the type have no sharded attributes
 * @throws {execute.conflict} when other writers changed the node every time
 */
export const rollUpCounters = async (
  db: object,
  node: string,
  id: Readonly<Record<string, unknown>>,
  options?: RunOptions,
): Promise<CountedValues | undefined> => {
  const driver = driverOf(db);
  return (await rollUpNode(driver.session, countedNode(driver, node, id), driver.context(checkRun(options))))?.set;
};
