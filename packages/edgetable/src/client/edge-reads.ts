import type { ReadRequest } from "../executor/run-read.ts";
import { pathsOf, readWhere } from "../ir/condition.ts";
import { checkOnCopy } from "../planner/projected-attributes.ts";
import { lookupForm, lookupPlan } from "../query/reads.ts";
import type { Catalog, EdgeEntry } from "../schema/catalog.ts";
import { checkEnd } from "../schema/check-values.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { checkEdgeFilter, type KeyOption, onlySelected, ownKey, selectedFields } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { filteredCall, findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";

/**
 * One end of an edge's row: the node's id, with its type if the end may have several types.
 *
 * @param types the node types that this end may have
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
  lookup: {
    readonly rows: readonly Row[];
    readonly many: boolean;
    readonly consistent: boolean;
    readonly select?: readonly string[] | undefined;
  },
): ReadRequest => {
  const { rows, many, consistent, select } = lookup;
  const state = { of: "edge", name, many, given: [], consistent, select } as const;
  const plan = driver.plan(lookupForm(state), () => lookupPlan(state));
  return { plan, binding: { row: rows[0] ?? {}, values: [] }, rows, findNode: findNode(driver) };
};

interface HasOptions extends KeyOption {
  readonly consistent?: boolean | undefined;
}
interface GetOptions extends HasOptions {
  readonly select?: readonly string[] | undefined;
}
interface GetManyOptions extends GetOptions {
  readonly where?: Row;
}

/** The valid values of the options of a read of one edge. */
export const edgeOptions: OptionChecks<HasOptions> = { ...consistentOption, key: namesIn };
const getOptions: OptionChecks<GetOptions> = { ...edgeOptions, select: undefined };
const getManyOptions: OptionChecks<GetManyOptions> = { ...getOptions, where: namesIn };

/** The reading side of `db.<edge>`. */
export const edgeReads = (driver: Driver, entry: EdgeEntry): Record<string, unknown> => {
  const ends = (from: Row, to: Row): Row => ({
    from: endRow(driver.catalog, entry.from, from),
    to: endRow(driver.catalog, entry.to, to),
  });
  const fieldsOf = (select: readonly string[] | undefined): readonly string[] | undefined => {
    const fields = selectedFields({ kind: "edge", shape: defined(entry.shapes[0], entry.name), ...entry }, select);
    const attributes = fields?.filter((field) => field !== "from" && field !== "to");
    for (const shape of entry.shapes) if (attributes) checkOnCopy(shape, attributes);
    return attributes;
  };
  // A row of an edge always contains its ends, whatever is selected.
  const only = (fields: readonly string[] | undefined, row: Row): Row => (fields ? onlySelected(["from", "to", ...fields], row) : row);
  const get = (from: Row, to: Row, options: GetOptions = {}): Read<Row | undefined> => {
    const rows = [Object.assign({}, ownKey(entry, options), ends(from, to))];
    const { consistent = false, select } = checkOptions(options, getOptions);
    const fields = fieldsOf(select);
    const request = edgeLookup(driver, entry.name, { rows, many: false, consistent, select: fields });
    return readCall(driver, request, ([one]) => one && only(fields, one.row));
  };
  const getMany = (from: Row, to: readonly Row[], options: GetManyOptions = {}): Read<readonly Row[]> => {
    const key = ownKey(entry, options);
    checkOptions(options, getManyOptions);
    if (options.where) checkEdgeFilter(driver, entry.name, options.where);
    const rows = listOf(to).map((one) => Object.assign({}, key, ends(from, one)));
    const { conditions, values } = readWhere(options.where ?? {}, ["from", "to"], 0, entry.shapes);
    for (const shape of entry.shapes) checkOnCopy(shape, pathsOf(conditions));
    const fields = fieldsOf(options.select);
    const compared = pathsOf(conditions).filter((path) => !path.includes("."));
    const select = fields && [...new Set([...fields, ...compared])];
    const request = edgeLookup(driver, entry.name, { rows, many: true, consistent: options.consistent ?? false, select });
    return filteredCall(conditions, (filtering) => {
      const passes = (row: Row): boolean => conditions.every((condition) => filtering?.holds(condition, row, values));
      return readCall(driver, request, (found) => found.flatMap(({ row }) => (passes(row) ? [only(fields, row)] : [])));
    });
  };
  return { get, getMany };
};
