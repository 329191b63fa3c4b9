import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sameAnswer } from "../demo/run-system.ts";
import type { ExampleTable } from "../system.ts";
import { type ExampleLab, inOneOrder, openExampleLab, type PlainItem, seedFile, withoutSeedFile } from "./example-lab.ts";

/** What an example's table is held against. */
export interface Promised {
  /** The seed's rows, in a file beside the checkout. */
  readonly seed?: string;
  /** The seed's rows, where they stand in the test. */
  readonly items?: readonly PlainItem[];
  /** Further tests, on the same table. */
  readonly further?: (lab: () => ExampleLab) => void;
}

// Queries of the shards of one index are sent side by side, and answered in any order.
const sideBySide = (lines: readonly string[]): readonly string[] => {
  const isQuery = (line: string): boolean => line.startsWith("Query ");
  return [...lines.filter(isQuery).toSorted(), ...lines.filter((line) => !isQuery(line))];
};

// Keys of a batch follow the rows that they were read from, and an index without a sort key has no order.
const inAnyOrder = (lines: readonly string[]): readonly string[] =>
  lines.map((line) =>
    line.replace(/^(BatchGetItem )\((.*)\)$/, (_, lead: string, keys: string) => `${lead}(${keys.split("), (").toSorted().join("), (")})`),
  );

/** The suite that every example passes: its items, its requests, its answers, its predictions. */
export const describeExample = (name: string, example: ExampleTable, { seed, items, further }: Promised): void => {
  describe(name, () => {
    let lab: ExampleLab;
    beforeAll(async () => {
      lab = await openExampleLab(example);
    });
    afterAll(() => lab.stop());

    if (items) {
      test("holds exactly the published items", async () => {
        expect(inOneOrder(await lab.items())).toEqual(inOneOrder(items));
      });
    }
    if (seed !== undefined) {
      test(`holds exactly the items of ${seed}`, async (context) => {
        const rows = seedFile(seed) ?? context.skip(withoutSeedFile(seed));
        expect(inOneOrder(await lab.items())).toEqual(inOneOrder(JSON.parse(rows) as PlainItem[]));
      });
    }

    test("a table loaded from its scan holds the same items", async () => {
      const scan = lab.table.scan();
      const copy = await openExampleLab(example, scan);
      try {
        expect(inOneOrder(await copy.items())).toEqual(inOneOrder(await lab.items()));
        expect(scan.report()).toMatchObject({ items: (await lab.items()).length, stray: 0, uneven: 0 });
      } finally {
        await copy.stop();
      }
    });

    test("answers every pattern by the expected requests, at the predicted price", async () => {
      for (const pattern of lab.table.patterns) {
        const { answer, requests, predictedUnits, consumedUnits } = await lab.ask(pattern);
        const keys = pattern.expected.anyOrder ? inAnyOrder : (lines: readonly string[]): readonly string[] => lines;
        const shown = (lines: readonly string[]): readonly string[] => keys(sideBySide(lines));
        expect.soft(shown(requests), `requests of ${pattern.name}`).toEqual(shown(pattern.expected.requests));
        if (!sameAnswer(answer, pattern.expected)) expect.soft(answer, `answer of ${pattern.name}`).toEqual(pattern.expected.answer);
        expect.soft(predictedUnits, `price of ${pattern.name}`).toBe(consumedUnits);
      }
    });

    further?.(() => lab);
  });
};
