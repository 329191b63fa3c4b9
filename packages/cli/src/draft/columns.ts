import { distinct, type RawItem, textOf } from "./sample.ts";

/** One text for each item; undefined where it lacks the attribute. */
export type Texts = readonly (string | undefined)[];

/** The values of one attribute, as texts, in all items of a kind. */
export interface Column {
  readonly attribute: string;
  readonly type: "S" | "N";
  readonly texts: Texts;
}

export const columnOf = (items: readonly RawItem[], attribute: string): Column | undefined => {
  const values = items.map((item) => item[attribute]);
  const present = values.filter((value) => value !== undefined);
  const type = present.every((value) => "S" in value) ? "S" : present.every((value) => "N" in value) ? "N" : undefined;
  return present.length === 0 || type === undefined ? undefined : { attribute, type, texts: values.map(textOf) };
};

/** The texts and numbers within attributes that are maps: `address.city`. */
export const columnsWithin = (items: readonly RawItem[], attribute: string): readonly Column[] => {
  const maps = items.map((item) => (item[attribute] && "M" in item[attribute] ? item[attribute].M : {}));
  const isName = (name: string): boolean => /^[A-Za-z_$][\w$-]*$/.test(name) && !(name in Object.prototype);
  return distinct(maps.flatMap((map) => Object.keys(map)).filter(isName)).flatMap((member) => {
    const path = `${attribute}.${member}`;
    const column = columnOf(maps, member);
    return column
      ? [{ ...column, attribute: path }]
      : columnsWithin(maps, member).map((one) => ({ ...one, attribute: `${attribute}.${one.attribute}` }));
  });
};

/** The format in which a key contains a number; undefined if it does not. */
const numberFormat = (texts: Texts, numbers: Texts): string | undefined => {
  const pairs = texts.flatMap((text, at) => (text === undefined ? [] : [[text, numbers[at]] as const]));
  if (!pairs.every(([text, number]) => /^-?\d+$/.test(text) && number !== undefined && Number(text) === Number(number))) return undefined;
  if (pairs.every(([text, number]) => text === String(Number(number)))) return "plain";
  const widths = distinct(pairs.map(([text]) => text.length));
  return widths.length === 1 && (widths[0] ?? 17) <= 16 ? String(widths[0]) : undefined;
};

/** The attribute that a part of a key repeats in every item that has the key, and how. */
export interface Match {
  readonly column: Column;
  readonly format: string | undefined;
  /** Other attributes that it repeats as well. */
  readonly others: readonly string[];
}

export const matchOf = (
  texts: Texts,
  {
    columns,
    used,
    folds,
    wanted = [],
  }: {
    readonly columns: readonly Column[];
    /** Attributes that other keys repeat. */
    readonly used: ReadonlySet<string>;
    /** True in a table whose keys hold values in lower case: then those that look the same are so too. */
    readonly folds: boolean;
    /** Words with which the attribute's name may begin, the most telling first: of several attributes, one that does is taken. */
    readonly wanted?: readonly string[] | undefined;
  },
): Match | undefined => {
  const found: Omit<Match, "others">[] = [];
  for (const column of columns) {
    const repeats = (inKey: (text: string) => string): boolean =>
      texts.every((text, at) => text === undefined || (column.texts[at] !== undefined && text === inKey(column.texts[at])));
    if (column.type === "N") {
      const format = numberFormat(texts, column.texts) ?? (repeats((text) => String(Number(text))) ? "written" : undefined);
      if (format !== undefined) found.push({ column, format });
    } else if (folds && repeats((text) => text.toLowerCase())) found.push({ column, format: "lower" });
    else if (repeats((text) => text)) found.push({ column, format: undefined });
    else if (repeats((text) => text.toLowerCase())) found.push({ column, format: "lower" });
    else if (repeats((text) => text.toUpperCase())) found.push({ column, format: "upper" });
  }
  const exact = found.filter(({ format }) => format === undefined || folds);
  const begins = (word: string): Omit<Match, "others"> | undefined =>
    exact.find(({ column: { attribute } }) => attribute.toLowerCase().startsWith(word.toLowerCase()));
  const fitting = wanted.map(begins).find((one) => one !== undefined);
  const best = fitting ?? found.find(({ column }) => used.has(column.attribute)) ?? exact[0] ?? found[0];
  return best && { ...best, others: exact.filter((one) => one !== best).map(({ column }) => column.attribute) };
};
