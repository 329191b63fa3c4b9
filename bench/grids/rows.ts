import type { NewField } from "edgetable";
import { randomFrom } from "../measure/random.ts";

/** The choices of every choice field. */
export const choices: readonly string[] = Array.from({ length: 10 }, (_, at) => `choice ${at}`);

/** A hundred fields of each of four types, in turns. */
export const fieldsOf = (count: number): readonly (NewField & { readonly fieldId: string })[] =>
  Array.from({ length: count }, (_, at) => {
    const field = { fieldId: `f${at}`, name: `Field ${at}` };
    switch (at % 4) {
      case 0:
        return { ...field, type: "number" };
      case 1:
        return { ...field, type: "choice", choices };
      case 2:
        return { ...field, type: "date" };
      default:
        return { ...field, type: "text" };
    }
  });

/** The share of rows that have a value of a field: nearly all of the first ones, one in 400 of the last. */
const shareOf = (at: number): number => Math.min(0.9, 1.2 / (at + 1) + (at < 8 ? 0.6 : 0));

/** Small values are frequent: a tenth of the rows shares the most frequent one. */
const skewed = (random: () => number, below: number): number => Math.floor(below * random() ** 3);

const valueOf = (at: number, random: () => number): string => {
  switch (at % 4) {
    case 0:
      return String(skewed(random, 10_000));
    case 1:
      return choices[skewed(random, choices.length)] ?? "";
    case 2:
      return new Date(Date.UTC(2023, 0, 1 + skewed(random, 1000))).toISOString().slice(0, 10);
    default:
      return `Text ${skewed(random, 100_000)} of a field`;
  }
};

export interface GridSize {
  readonly rows: number;
  readonly fields: number;
  readonly seed: number;
}

/** The issues as records of a CSV file, the header first. */
export function* issueRecords({ rows, fields, seed }: GridSize): Generator<readonly string[]> {
  yield ["issueId", "num", "name", "state", ...fieldsOf(fields).map(({ fieldId }) => fieldId)];
  const random = randomFrom(seed);
  for (let num = 1; num <= rows; num++) {
    const values = Array.from({ length: fields }, (_, at) => (random() < shareOf(at) ? valueOf(at, random) : ""));
    // Names and numbers are in different orders.
    const name = `Issue ${(num * 7919) % 100_003}`;
    yield [`i${num}`, String(num), name, random() < 0.7 ? "open" : "closed", ...values];
  }
}
