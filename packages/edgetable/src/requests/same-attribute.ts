import type { AttributeValue, Item } from "../transport/operations.ts";

// DynamoDB gives numbers back in its own notation: 1e21 comes back as 1000000000000000000000.
const whole = /^-?\d+$/;
const sameNumber = (a: string, b: string): boolean => (whole.test(a) && whole.test(b) ? BigInt(a) === BigInt(b) : Number(a) === Number(b));

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((member) => b.includes(member));

/** Whether two stored values are the same to DynamoDB. */
export const sameAttribute = (a: AttributeValue | undefined, b: AttributeValue | undefined): boolean => {
  if (a === undefined || b === undefined) return a === b;
  if ("N" in a && "N" in b) return sameNumber(a.N, b.N);
  if ("M" in a && "M" in b) return sameItem(a.M, b.M);
  if ("L" in a && "L" in b) {
    const other = b.L;
    return a.L.length === other.length && a.L.every((member, at) => sameAttribute(member, other[at]));
  }
  if ("SS" in a && "SS" in b) return sameMembers(a.SS, b.SS);
  if ("NS" in a && "NS" in b) return sameMembers(a.NS, b.NS);
  if ("BS" in a && "BS" in b) return sameMembers(a.BS, b.BS);
  return JSON.stringify(a) === JSON.stringify(b);
};

/** Whether two items hold the same attributes with the same values. */
export const sameItem = (a: Item, b: Item): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => sameAttribute(value, b[name]));
