import type { ReadRequest } from "../executor/run-read.ts";
import { holds, pathsOf, readWhere } from "../ir/condition.ts";
import { checkOnCopy } from "../planner/projected-attributes.ts";
import { lookupForm, lookupPlan } from "../query/reads.ts";
import type { Catalog, EdgeEntry } from "../schema/catalog.ts";
import { checkEnd } from "../schema/check-values.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import { checkEdgeFilter, type KeyOption, ownKey } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";

/**
 * One end of an edge's row: the node's id, with its type where several may stand there.
 *
 * @param types the node types that may stand at this end
 */
export const endRow = (catalog: Catalog, types: readonly string[], given: Row): Row => {
  const { type, id } = checkEnd(catalog, types, given);
  return types.length > 1 ? { type, ...id } : id;
};

/** The valid values of a point read's option. */
export const consistentOption = { consistent: "boolean" } as const;

/** A point read of edges by their ends. */
export const edgeLookup = (
  driver: Driver,
  name: string,
  lookup: { readonly rows: readonly Row[]; readonly many: boolean; readonly consistent: boolean },
): ReadRequest => {
  const { rows, many, consistent } = lookup;
  const state = { of: "edge", name, many, given: [], consistent } as const;
  const plan = driver.plan(lookupForm(state), () => lookupPlan(state));
  return { plan, binding: { row: rows[0] ?? {}, values: [] }, rows, findNode: findNode(driver) };
};

interface GetOptions extends KeyOption {
  readonly consistent?: boolean | undefined;
}
interface GetManyOptions extends GetOptions {
  readonly where?: Row;
}

/** The valid values of the options by which one edge is read. */
export const edgeOptions: OptionChecks<GetOptions> = { ...consistentOption, key: namesIn };
const getManyOptions: OptionChecks<GetManyOptions> = { ...edgeOptions, where: namesIn };

/** The reading side of `db.<edge>`. */
export const edgeReads = (driver: Driver, entry: EdgeEntry): Record<string, unknown> => {
  const ends = (from: Row, to: Row): Row => ({
    from: endRow(driver.catalog, entry.from, from),
    to: endRow(driver.catalog, entry.to, to),
  });
  const get = (from: Row, to: Row, options: GetOptions = {}): Read<Row | undefined> => {
    const rows = [Object.assign({}, ownKey(entry, options), ends(from, to))];
    const { consistent = false } = checkOptions(options, edgeOptions);
    return readCall(driver, edgeLookup(driver, entry.name, { rows, many: false, consistent }), ([one]) => one?.row);
  };
  const getMany = (from: Row, to: readonly Row[], options: GetManyOptions = {}): Read<readonly Row[]> => {
    const key = ownKey(entry, options);
    checkOptions(options, getManyOptions);
    if (options.where) checkEdgeFilter(driver, entry.name, options.where);
    const rows = listOf(to).map((one) => Object.assign({}, key, ends(from, one)));
    const { conditions, values } = readWhere(options.where ?? {}, ["from", "to"]);
    for (const shape of entry.shapes) checkOnCopy(shape, pathsOf(conditions));
    const request = edgeLookup(driver, entry.name, { rows, many: true, consistent: options.consistent ?? false });
    return readCall(driver, request, (found) =>
      found.map((one) => one.row).filter((row) => conditions.every((condition) => holds(condition, row, values))),
    );
  };
  return { get, getMany };
};
