const bytes = new TextEncoder();

/** Compares texts by their UTF-8 bytes, numbers by size and dates by time. */
export const compareValues = (a: unknown, b: unknown): number => {
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(bytes.encode(String(a)), bytes.encode(String(b)));
};

/** Compares lists by their first different member. */
export const compareLists = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (const [at, value] of a.entries()) {
    const order = compareValues(value, b[at]);
    if (order !== 0) return order;
  }
  return 0;
};

export type Operator = "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "between" | "beginsWith" | "in" | "exists";

/** True if a value, undefined when it is absent, fulfils a comparison. */
export const fulfils = (value: unknown, operator: Operator, operand: unknown): boolean => {
  if (operator === "exists") return (value !== undefined) === operand;
  if (value === undefined) return operator === "ne";
  const list = Array.isArray(operand) ? (operand as readonly unknown[]) : [];
  const order = compareValues(value, operand);
  switch (operator) {
    case "eq":
      return order === 0;
    case "ne":
      return order !== 0;
    case "lt":
      return order < 0;
    case "lte":
      return order <= 0;
    case "gt":
      return order > 0;
    case "gte":
      return order >= 0;
    case "between":
      return compareValues(value, list[0]) >= 0 && compareValues(value, list[1]) <= 0;
    case "in":
      return list.some((one) => compareValues(value, one) === 0);
    case "beginsWith":
      return typeof value === "string" && value.startsWith(String(operand));
  }
};

type Filter = Readonly<Record<string, unknown>>;

/** True if a row fulfils a filter as the library takes it: attributes with a value, or with one comparison each, `or` and `not`. */
export const fulfilsAll = (row: Filter, where: Filter): boolean =>
  Object.entries(where).every(([name, wanted]) => {
    if (name === "or") return (wanted as readonly Filter[]).some((one) => fulfilsAll(row, one));
    if (name === "not") return !fulfilsAll(row, wanted as Filter);
    if (typeof wanted !== "object" || wanted === null || wanted instanceof Date) return fulfils(row[name], "eq", wanted);
    const [[operator, operand] = ["exists", true]] = Object.entries(wanted);
    return fulfils(row[name], operator as Operator, operand);
  });
