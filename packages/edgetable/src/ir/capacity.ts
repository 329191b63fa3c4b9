import { keyBytes } from "../keys/template.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";

/** The most bytes that one item may take (ServiceQuotas). */
export const ITEM_BYTES = 409_600;
/** The most items and bytes of one transaction (ServiceQuotas). */
export const TRANSACTION_ITEMS = 100;
export const TRANSACTION_BYTES: number = 4 * 1024 * 1024;

const READ_UNIT = 4096;
const WRITE_UNIT = 1024;

// "One byte per two significant digits, and one byte", CapacityUnitCalculations; zeros at either end do not count.
const numberBytes = (text: string): number => {
  const mantissa = text.split(/e/i)[0] ?? "";
  const digits = mantissa.replace(/[-+.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith("-") ? 1 : 0);
};

/** The sum of numbers. */
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const base64Bytes = (text: string): number => Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);

/** Bytes of one value: "3 bytes for a list or map, and 1 for each of its elements" (CapacityUnitCalculations). */
export const valueBytes = (value: AttributeValue): number => {
  if ("S" in value) return keyBytes(value.S);
  if ("N" in value) return numberBytes(value.N);
  if ("BOOL" in value || "NULL" in value) return 1;
  if ("M" in value) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  if ("L" in value) return 3 + value.L.length + sum(value.L.map(valueBytes));
  if ("B" in value) return base64Bytes(value.B);
  if ("SS" in value) return sum(value.SS.map(keyBytes));
  if ("NS" in value) return sum(value.NS.map(numberBytes));
  return sum(value.BS.map(base64Bytes));
};

/** Bytes of an item, names included, as DynamoDB counts them for capacity and for the limit of 400 KB. */
export const itemBytes = (item: Item): number => {
  let bytes = 0;
  for (const attribute in item) bytes += keyBytes(attribute) + valueBytes(item[attribute] as AttributeValue);
  return bytes;
};

/** No less than {@link itemBytes}, and much cheaper. */
export const itemBytesAtMost = (item: Item): number => {
  let bytes = 0;
  for (const attribute in item) {
    const value = item[attribute] as AttributeValue;
    // UTF-8 takes at most three bytes for a UTF-16 unit; a number of 38 digits 21.
    bytes += attribute.length * 3 + ("S" in value ? value.S.length * 3 : "N" in value ? 22 : valueBytes(value));
  }
  return bytes;
};

/** "BatchGetItem: 100 items, 16 MB", ServiceQuotas. */
export const BATCH_GET_KEYS = 100;

/** How a read is charged. */
export interface ReadCharge {
  readonly consistent?: boolean;
  readonly transaction?: boolean;
}

/** Units of reading so many bytes in one request: of a Query the sum of its items, of a Get one item. */
export const readUnits = (bytes: number, charge: ReadCharge = {}): number => {
  const blocks = Math.max(1, Math.ceil(bytes / READ_UNIT));
  return charge.transaction ? blocks * 2 : charge.consistent ? blocks : blocks / 2;
};

/** The most bytes that one Query reads (API_Query). */
export const PAGE_BYTES = 1_048_576;

/** What a read is predicted to take. */
export interface Price {
  readonly requests: number;
  readonly readUnits: number;
}

/** The price of reading so many bytes by Queries, spread evenly over so many partitions. */
export const queryPrice = (bytes: number, partitions = 1, charge: ReadCharge = {}): Price => ({
  requests: partitions * Math.max(1, Math.ceil(bytes / partitions / PAGE_BYTES)),
  readUnits: partitions * readUnits(bytes / partitions, charge),
});

/** Bytes of an item of which the model says nothing. */
export const ASSUMED_BYTES = 100;

/** Units of writing one item of so many bytes: the larger of before and after. */
export const writeUnits = (bytes: number, transaction = false): number =>
  Math.max(1, Math.ceil(bytes / WRITE_UNIT)) * (transaction ? 2 : 1);
