import {
  type AttributeValue,
  type ConnectOptions,
  createLeanTransport,
  type Operation,
  type OperationInputs,
  type OperationOutputs,
  type Transport,
} from "edgetable";
import { startEngine } from "../engine/engine.ts";
import type { DataSet } from "../graph/store/data-set.ts";
import { placeOf } from "../graph/store/place.ts";
import { project, tracker } from "./model.ts";
import { fieldsOf, type GridSize, issueRecords } from "./rows.ts";

type Item = Readonly<Record<string, AttributeValue>>;

const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : "");
const keyOf = (item: Item): string => textOf(item["pk"]);
const isIssue = (item: Item): boolean => keyOf(item).startsWith("ISSUE#");

/**
 * An engine to which issues are not written: they go to `write`, and reads find them. The library writes its own items
 * so, and the engine's import of a file is some twenty times as quick as its writes.
 */
const diverting = (engine: Transport, write: (items: readonly Item[]) => Promise<void>): Transport => {
  const nodes = new Map<string, Item>();
  const take = async (items: readonly Item[]): Promise<void> => {
    for (const item of items) if (textOf(item["sk"]) === "#") nodes.set(keyOf(item), item);
    await write(items);
  };
  return {
    async send<O extends Operation>(operation: O, input: OperationInputs[O], ...rest: readonly never[]): Promise<OperationOutputs[O]> {
      const given = input as unknown as {
        readonly Item?: Item;
        readonly TransactItems?: readonly { readonly Put?: { readonly Item: Item } }[];
        readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
      };
      if (operation === "PutItem" && given.Item && isIssue(given.Item)) {
        await take([given.Item]);
        return {} as OperationOutputs[O];
      }
      const items = given.TransactItems?.flatMap(({ Put }) => (Put ? [Put.Item] : [])) ?? [];
      if (operation === "TransactWriteItems" && items.length > 0 && items.every(isIssue)) {
        await take(items);
        return {} as OperationOutputs[O];
      }
      const [asked] = Object.entries(given.RequestItems ?? {});
      if (operation === "BatchGetItem" && asked?.[1].Keys.every(isIssue)) {
        const [table, { Keys }] = asked;
        const found = Keys.map((key) => nodes.get(keyOf(key))).filter((item) => item !== undefined);
        return { Responses: { [table]: found }, UnprocessedKeys: {} } as unknown as OperationOutputs[O];
      }
      return engine.send(operation, input, ...rest);
    },
    close: () => engine.close(),
  };
};

/** Issues with sparse values of many fields, imported from CSV. */
export const gridSet = (size: GridSize): DataSet => ({
  name: `grid-${size.rows}-${size.fields}-${size.seed}`,
  table: "Tracker",
  create: async (options: ConnectOptions) => {
    const db = tracker.connect(options);
    await db.table.create();
    await db.close();
  },
  load: async ({ transport }, most = Infinity) => {
    if (!transport) throw new Error("grids: a load needs a transport");
    const write = async (items: readonly Item[]): Promise<void> => {
      const RequestItems = { Tracker: items.map((Item) => ({ PutRequest: { Item } })) };
      await transport.send("BatchWriteItem", { RequestItems } as unknown as OperationInputs["BatchWriteItem"]);
    };
    const engine = await startEngine();
    const direct = createLeanTransport(placeOf(engine.endpoint));
    const db = tracker.connect({ transport: diverting(direct, write) });
    try {
      await db.table.create();
      await db.project.create({ ...project, name: "Forth Rail Bridge" }).orThrow();
      const columns = Object.fromEntries(fieldsOf(size.fields).map((field) => [field.fieldId, field]));
      const rows = Math.min(size.rows, most);
      const { created } = await db.issue.grid(project).importCsv(() => issueRecords({ ...size, rows }), { columns });
      if (created !== rows) throw new Error(`grids: ${created} of ${rows} rows were imported`);
      const { Items = [] } = await direct.send("Scan", { TableName: "Tracker" });
      await write(Items.filter((item) => keyOf(item).startsWith("PROJECT#")));
    } finally {
      await db.close();
      await engine.stop();
    }
  },
});
