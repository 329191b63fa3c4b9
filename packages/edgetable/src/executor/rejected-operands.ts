import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { keyShown, type PlannedItem } from "../ir/write-plan.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import { pathText } from "../schema/attribute-path.ts";
import type { CancellationReason } from "../transport/operations.ts";

const isTooLong = (message: string | undefined): boolean => message !== undefined && /38 |magnitude|overflow/i.test(message);
// Behind an average: the attributes with its sum and number.
const ownName = (attribute: string): string => attribute.replace(/^~(?:sum|count)#/, "");

/** The counts among the attributes of a shape's items: no number of rows has so many digits. */
const countsOf = ({ facts }: Catalog, shape: Shape | undefined): ReadonlySet<string> =>
  new Set(
    [...facts.aggregates, ...facts.summaries].flatMap((fact) => {
      const isIts = ("node" in fact ? fact.node : fact.edge) === shape?.definition;
      return isIts && fact.operation === "count" ? [fact.attribute] : [];
    }),
  );

const isWrongType = (message: string | undefined): boolean =>
  message !== undefined && /incorrect data type|requires two list/i.test(message);

/** What an update adds, appends or deletes, by attribute and path. */
const operandsOf = ({ item }: PlannedItem): readonly string[] => {
  if (item.kind !== "update") return [];
  const { add, append, paths = [] } = item.changes;
  const within = paths.filter(({ verb }) => verb !== "set" && verb !== "remove").map((one) => pathText([one.attribute, ...one.within]));
  return [...Object.keys(add), ...Object.keys(append), ...within].filter((name) => !name.startsWith("~"));
};

/**
 * DynamoDB refuses a number with more than 38 digits, and an operand of another type than the attribute, without saying which:
 * the error with the attributes that it may be.
 */
export const withAttributes = (catalog: Catalog, error: unknown, items: readonly PlannedItem[]): unknown => {
  if (!isEdgetableError(error, "execute.rejected")) return error;
  const reasons = error.details["reasons"] as readonly CancellationReason[] | undefined;
  if (isWrongType(error.message) || reasons?.some(({ Message }) => isWrongType(Message))) {
    const operands = items.flatMap((one, at) => (reasons && !isWrongType(reasons[at]?.Message) ? [] : operandsOf(one)));
    const { details, cause, request } = error;
    const named = operands.map((name) => `"${name}"`).join(" or ");
    if (operands.length > 0)
      return new EdgetableError(
        "execute.rejected",
        `${named} holds a value of another type; overwrite it instead of using add, append or delete.`,
        {
          details: { ...details, ...(operands.length === 1 ? { attribute: operands[0] } : { attributes: operands }) },
          cause: cause ?? error,
          ...(request && { request }),
        },
      );
  }
  if (!isTooLong(error.message) && !reasons?.some(({ Message }) => isTooLong(Message))) return error;
  const sums = items.flatMap(({ item }, at) => {
    if (item.kind !== "update" || (reasons && !isTooLong(reasons[at]?.Message))) return [];
    const counted = countsOf(catalog, item.shape);
    const names = new Set(Object.keys(item.changes.add).map(ownName));
    const attributes = [...names].filter((name) => !name.startsWith("~") && !counted.has(name));
    return attributes.map((attribute) => `"${attribute}" of ${keyShown(item.key)}`);
  });
  if (sums.length === 0) return error;
  const { details, cause, request } = error;
  const text = `DynamoDB keeps 38 digits of a number, and ${sums.join(" or ")} would have more: nothing was written.`;
  return new EdgetableError("execute.rejected", text, {
    details: { ...details, sums },
    cause: cause ?? error,
    ...(request && { request }),
  });
};
