import type { AttributeValue } from "edgetable";

/** A value's type tag and content, for code that treats all types alike. */
export const taggedValue = (value: AttributeValue): readonly [string, unknown] => Object.entries(value)[0] ?? ["", undefined];

interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** Position of the decimal point, counted from the first significant digit. */
  readonly scale: number;
  /** Significant digits without zeros at either end. */
  readonly digits: string;
}

const decimal = (text: string): Decimal => {
  const [, minus, whole = "", fraction = "", exponent = "0"] = /^([-])?[+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text.trim()) ?? [];
  const all = whole + fraction;
  const leading = /^0*/.exec(all)?.[0].length ?? 0;
  const digits = all.slice(leading).replace(/0+$/, "");
  if (digits === "") return { sign: 0, scale: 0, digits };
  return { sign: minus ? -1 : 1, scale: whole.length - leading + Number(exponent), digits };
};

const order = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of two numbers written as text, exact at any number of digits. */
const compareNumbers = (a: string, b: string): number => {
  const [left, right] = [decimal(a), decimal(b)];
  if (left.sign !== right.sign) return order(left.sign, right.sign);
  return (order(left.scale, right.scale) || order(left.digits, right.digits)) * left.sign;
};

/** Order of two texts as DynamoDB has it: by UTF-8 bytes. */
export const compareText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const compareBinary = (a: string, b: string): number => Buffer.compare(Buffer.from(a, "base64"), Buffer.from(b, "base64"));

/** Order of two values, or `undefined` when they are of two types or of one without an order. */
export const compareValues = (a: AttributeValue, b: AttributeValue): number | undefined => {
  if ("S" in a && "S" in b) return compareText(a.S, b.S);
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  if ("B" in a && "B" in b) return compareBinary(a.B, b.B);
  return undefined;
};

const canonicalNumber = (text: string): string => {
  const { sign, scale, digits } = decimal(text);
  return `${String(sign)}:${String(scale)}:${digits}`;
};

/** A text that two values share exactly when DynamoDB calls them equal. */
export const canonicalValue = (value: AttributeValue): string => {
  if ("N" in value) return `N${canonicalNumber(value.N)}`;
  if ("NS" in value) return `NS${JSON.stringify(value.NS.map(canonicalNumber).toSorted())}`;
  if ("SS" in value) return `SS${JSON.stringify([...value.SS].toSorted())}`;
  if ("BS" in value) return `BS${JSON.stringify([...value.BS].toSorted())}`;
  if ("L" in value) return `L${JSON.stringify(value.L.map(canonicalValue))}`;
  if (!("M" in value)) return JSON.stringify(value);
  const entries = Object.entries(value.M).map(([name, inner]) => [name, canonicalValue(inner)] as const);
  return `M${JSON.stringify(entries.toSorted(([a], [b]) => compareText(a, b)))}`;
};

/** Whether DynamoDB's `=` holds: same type, same content, sets without regard to order. */
export const equalValues = (a: AttributeValue, b: AttributeValue): boolean => canonicalValue(a) === canonicalValue(b);
