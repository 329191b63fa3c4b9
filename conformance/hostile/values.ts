/** What an id field of several formats may hold. */
export type Value = string | number | bigint | boolean | Date;

/** Values that must never be taken for each other; the members of one list are one value, and answers have the first. */
export const valueClasses: readonly (readonly Value[])[] = [
  [new Date(0)],
  [new Date(1)],
  [new Date(2)],
  [new Date(3)],
  [new Date(1).toISOString()],
  [String(new Date(1))],
  [5, 5n],
  ["5"],
  ["5n"],
  [0, -0, 0n],
  ["0"],
  ["-0"],
  [-5, -5n],
  [0.5],
  [1e21, 10n ** 21n],
  ["1e21"],
  ["1e+21"],
  [1e37, 10n ** 37n],
  [10n ** 37n + 1n],
  [String(10n ** 37n)],
  [2 ** 53, 2n ** 53n],
  [2n ** 53n + 1n],
  [true],
  ["true"],
  [false],
  ["__proto__"],
  ["constructor"],
  ["toString"],
  ["null"],
  ["undefined"],
  ["a"],
  ["b"],
  ["a b"],
  ["ab"],
  ["a#b"],
  ["é#"],
  ["#"],
  ["a\0b"],
  ["\0"],
  ["a\0\u0001b"],
  ["\u0001a"],
  ["😀"],
  ["\uffff"],
  ["\u00e9"],
  ["e\u0301"],
  ["~"],
  ["~~"],
  ["~secret"],
  ["~unique#x"],
  ["~degree#e#out"],
  ["o"],
  ["p50152"],
  ["$"],
  ["$-"],
  ["o$-"],
  ['["a"]'],
  ['{"d":1}'],
  ['{"~d":1}'],
  ['{"n":"5"}'],
];

/** Texts that a key, an expression or an object might take for something of its own; those with a delimiter come last. */
export const hostileTexts = ["$", "~", "~secret", "\0", "a\0b", "__proto__", "constructor", "#", "~unique#x", "~degree#e#out"] as const;

/** The same without the delimiter, for layouts whose keys leave no room to escape it. */
export const undelimitedTexts: readonly string[] = hostileTexts.filter((text) => !text.includes("#"));

/** A value as a text that no other value has. */
export const valueText = (value: unknown): string => {
  if (value instanceof Date) return `date ${value.toISOString()}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join()}]`;
  if (typeof value !== "object" || value === null) return `${typeof value} ${String(value)}`;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${valueText(one)}`).join()}}`;
};

/** The same with a number for each bigint that a number can stand for: attributes give the one, ids that are read from keys the other. */
export const inNumbers = (value: unknown): unknown => {
  if (typeof value === "bigint") return BigInt(Number(value)) === value ? Number(value) : value;
  if (Array.isArray(value)) return value.map(inNumbers);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inNumbers(one)]));
};
