import { readFileSync } from "node:fs";
import { startEngine } from "@edgetable/local";
import { createLeanTransport, type AttributeValue, type Transport } from "edgetable";
import { requestLine } from "../demo/request-line.ts";
import type { BoundPattern, ExampleTable, OpenTable } from "../system.ts";

export type PlainItem = Readonly<Record<string, string | number>>;

/** What a pattern gave, beside what it should. */
export interface Asked {
  readonly pattern: BoundPattern;
  readonly answer: unknown;
  readonly requests: readonly string[];
  readonly predictedUnits: number;
  readonly consumedUnits: number;
}

/** An example's table on an engine of its own, loaded by the library's write calls. */
export interface ExampleLab {
  readonly transport: Transport;
  readonly table: OpenTable;
  ask(pattern: BoundPattern): Promise<Asked>;
  /** Every raw item, or what an index holds of them. */
  items(index?: string): Promise<readonly PlainItem[]>;
  stop(): Promise<void>;
}

const plainValue = (value: AttributeValue): string | number => {
  if ("S" in value) return value.S;
  if ("N" in value) return Number(value.N);
  // No seed stores anything else: as text, whatever the order of a map's names.
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
};

const ask = async (pattern: BoundPattern): Promise<Asked> => {
  const { cost } = await pattern.call.explain();
  const report = await pattern.call.report();
  return {
    pattern,
    answer: report.value,
    requests: report.requests.map(requestLine),
    predictedUnits: cost.readUnits,
    consumedUnits: report.cost.readUnits,
  };
};

/** Starts an engine, creates the example's table and writes its rows, or those that a scan gave. */
export const openExampleLab = async (example: ExampleTable, rows?: AsyncIterable<unknown>): Promise<ExampleLab> => {
  const engine = await startEngine();
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const table = example.open({ transport, cursorSecret: "test".padEnd(43, "-") });
  await table.admin.create();
  if (rows) await table.restore(rows);
  else await table.load();
  return {
    transport,
    table,
    ask,
    items: async (index) => {
      const items: PlainItem[] = [];
      let start: Readonly<Record<string, AttributeValue>> | undefined;
      do {
        const page = await transport.send("Scan", {
          TableName: example.table,
          ...(index === undefined ? {} : { IndexName: index }),
          ...(start ? { ExclusiveStartKey: start } : {}),
        });
        items.push(
          ...(page.Items ?? []).map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]))),
        );
        start = page.LastEvaluatedKey;
      } while (start);
      return items;
    },
    stop: async () => {
      await transport.close();
      await engine.stop();
    },
  };
};

const text = (item: PlainItem): string => JSON.stringify(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Items in one order, so that two lists of them can be compared. */
export const inOneOrder = (items: readonly PlainItem[]): readonly PlainItem[] => items.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));

const dataFolder = new URL("../../../shared/data/", import.meta.url);

/** A file beside the checkout that holds a seed's own rows; undefined where it is not there. */
export const seedFile = (name: string): string | undefined => {
  try {
    return readFileSync(new URL(name, dataFolder), "utf8");
  } catch {
    return undefined;
  }
};

/** Why a test of a seed's own rows is skipped. */
export const withoutSeedFile = (name: string): string => `../shared/data/${name} is not there`;
