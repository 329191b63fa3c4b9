import { openEngine } from "../../../../conformance/engines/open-engine.ts";
import { edgeWrites, nodeWrites, partWrites } from "../client/writes.ts";
import { transactOf, type WriteDriver } from "../client/write-call.ts";
import { createSession, type Effects, systemEffects } from "../executor/session.ts";
import { Meter } from "../executor/call.ts";
import { buildCatalog } from "../schema/build-catalog.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { GraphDefinition } from "../schema/definition.ts";
import { createTableInput } from "../requests/table.ts";
import type { Item, Operation } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";

/** A request as it went out, with the transaction token blanked. */
export interface Sent {
  readonly operation: Operation;
  // oxlint-disable-next-line typescript/no-explicit-any -- read by assertions only
  readonly input: any;
}

/** A table of a model on an engine of its own, with everything that was sent to it. */
export interface WriteLab {
  readonly catalog: Catalog;
  readonly driver: WriteDriver;
  readonly sent: Sent[];
  /** A request with the table's name as the model gives it. */
  shown(input: unknown): unknown;
  /** Called before each request goes out and after it was answered; may throw. */
  hooks: {
    before?: (sent: Sent) => Promise<void> | void;
    after?: (sent: Sent) => Promise<void> | void;
    /** Replaces an answer. */
    answer?: (sent: Sent, output: object) => object;
  };
  node(name: string): ReturnType<typeof nodeWrites>;
  edge(name: string): ReturnType<typeof edgeWrites>;
  part(name: string): ReturnType<typeof partWrites>;
  readonly transact: ReturnType<typeof transactOf>;
  /** Every item of the table, by `partition / sort`. */
  items(): Promise<Record<string, Item>>;
  put(item: Item): Promise<void>;
  stop(): Promise<void>;
}

/** How a lab is opened. */
export interface WriteLabOptions {
  /** @default true */
  readonly validates?: boolean;
  /** Time, chance and pauses. @default the system's */
  readonly effects?: Effects;
}

/** Starts an engine, creates the model's table and opens the writing side of a connection. */
export const openWriteLab = async (definition: GraphDefinition, options: WriteLabOptions = {}): Promise<WriteLab> => {
  const engine = await openEngine();
  const { transport } = engine;
  // The engine may be shared: the table has a name of its own, which the recorded requests do not show.
  const table = engine.freshTableName(definition.table);
  const catalog = buildCatalog({ ...definition, table });
  const shown = (input: unknown): unknown => JSON.parse(JSON.stringify(input).replaceAll(table, definition.table));
  await transport.send("CreateTable", createTableInput(catalog));
  const sent: Sent[] = [];
  const lab: { hooks: WriteLab["hooks"] } = { hooks: {} };
  const recording: Transport = {
    send: async (operation, input, sendOptions) => {
      const one: Sent = { operation, input: shown(input) };
      sent.push(one);
      await lab.hooks.before?.(one);
      const output = await transport.send(operation, input, sendOptions);
      await lab.hooks.after?.(one);
      return lab.hooks.answer
        ? (JSON.parse(JSON.stringify(lab.hooks.answer(one, output)).replaceAll(`"${definition.table}":`, `"${table}":`)) as typeof output)
        : output;
    },
    close: () => transport.close(),
  };
  const effects = options.effects ?? systemEffects;
  const session = createSession({ catalog, transport: recording, effects });
  const driver: WriteDriver = {
    session,
    catalog,
    validates: options.validates ?? true,
    context: ({ signal, deadline }) => ({
      meter: new Meter(),
      signal,
      deadline: effects.now() + (deadline ?? 30_000),
      livingAt: catalog.ttl === undefined ? undefined : Math.floor(effects.now() / 1000),
    }),
  };
  const text = (item: Item, attribute: string | undefined): string => {
    const value = item[attribute ?? ""];
    return value && "S" in value ? value.S : "";
  };
  return Object.assign(lab, {
    catalog,
    driver,
    sent,
    shown,
    node: (name: string) => nodeWrites(driver, catalog.nodes[name]!),
    edge: (name: string) => edgeWrites(driver, catalog.edges[name]!),
    part: (name: string) => partWrites(driver, catalog.parts[name]!),
    transact: transactOf(driver),
    items: async () => {
      const output = await transport.send("Scan", { TableName: catalog.table, Limit: 1000 });
      const byKey = (output.Items ?? []).map(
        (item) => [`${text(item, catalog.index.partitionKey)} / ${text(item, catalog.index.sortKey)}`, item] as const,
      );
      // A scan's order is the engine's own.
      return Object.fromEntries(byKey.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
    put: async (item: Item) => {
      await transport.send("PutItem", { TableName: catalog.table, Item: item });
    },
    stop: () => engine.close(),
  });
};
