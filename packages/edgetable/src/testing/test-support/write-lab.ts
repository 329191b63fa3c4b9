import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { edgeWrites } from "../../client/edge-writes.ts";
import { nodeWrites, partWrites } from "../../client/node-writes.ts";
import { transactOf, type WriteDriver } from "../../client/write-call.ts";
import { Meter } from "../../executor/meter.ts";
import { createSession } from "../../executor/session.ts";
import { systemEffects } from "../../executor/system-effects.ts";
import { buildCatalog } from "../../schema/build-catalog.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { GraphDefinition } from "../../schema/definition.ts";
import { createLeanTransport } from "../../transport/lean/index.ts";
import type { Item, Operation } from "../../transport/operations.ts";
import type { Transport } from "../../transport/transport.ts";

const binary = fileURLToPath(new URL("../../../../../node_modules/@dynoxide/linux-x64/dynoxide", import.meta.url));

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

const start = async (): Promise<{ readonly transport: Transport; readonly child: ChildProcess }> => {
  const port = await freePort();
  const child = spawn(binary, ["serve", "--port", String(port)], { stdio: "ignore" });
  process.once("exit", () => child.kill());
  const transport = createLeanTransport({ endpoint: `http://127.0.0.1:${port}` });
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      await transport.send("ListTables", {});
      return { transport, child };
    } catch {
      await pause(25);
    }
  }
  throw new Error("the engine did not answer");
};

const createTable = async (transport: Transport, catalog: Catalog): Promise<void> => {
  const all = [catalog.index, ...catalog.indexes];
  const attributes = new Set(all.flatMap((index) => [index.partitionKey, index.sortKey]).filter((name) => name !== undefined));
  const schema = (index: Catalog["index"]): { AttributeName: string; KeyType: "HASH" | "RANGE" }[] => [
    { AttributeName: index.partitionKey, KeyType: "HASH" },
    ...(index.sortKey === undefined ? [] : [{ AttributeName: index.sortKey, KeyType: "RANGE" as const }]),
  ];
  await transport.send("CreateTable", {
    TableName: catalog.table,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...attributes].map((name) => ({ AttributeName: name, AttributeType: "S" as const })),
    KeySchema: schema(catalog.index),
    ...(catalog.indexes.length > 0
      ? { GlobalSecondaryIndexes: catalog.indexes.map((index) => ({ IndexName: index.name ?? "", KeySchema: schema(index), Projection: { ProjectionType: "ALL" as const } })) }
      : {}),
  });
};

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

/** Starts an engine, creates the model's table and opens the writing side of a connection. */
export const openWriteLab = async (definition: GraphDefinition, options: { readonly validates?: boolean } = {}): Promise<WriteLab> => {
  const catalog = buildCatalog(definition);
  const { transport, child } = await start();
  await createTable(transport, catalog);
  const sent: Sent[] = [];
  const lab: { hooks: WriteLab["hooks"] } = { hooks: {} };
  const recording: Transport = {
    send: async (operation, input, sendOptions) => {
      const one: Sent = { operation, input };
      sent.push(one);
      await lab.hooks.before?.(one);
      const output = await transport.send(operation, input, sendOptions);
      await lab.hooks.after?.(one);
      return (lab.hooks.answer?.(one, output) ?? output) as typeof output;
    },
    close: () => transport.close(),
  };
  const session = createSession({ catalog, transport: recording, effects: systemEffects });
  const driver: WriteDriver = {
    session,
    catalog,
    validates: options.validates ?? true,
    context: ({ signal, deadline }) => ({ meter: new Meter(), signal, deadline: Date.now() + (deadline ?? 30_000) }),
  };
  const text = (item: Item, attribute: string | undefined): string => {
    const value = item[attribute ?? ""];
    return value && "S" in value ? value.S : "";
  };
  return Object.assign(lab, {
    catalog,
    driver,
    sent,
    node: (name: string) => nodeWrites(driver, catalog.nodes[name]!),
    edge: (name: string) => edgeWrites(driver, catalog.edges[name]!),
    part: (name: string) => partWrites(driver, catalog.parts[name]!),
    transact: transactOf(driver),
    items: async () => {
      const output = await transport.send("Scan", { TableName: catalog.table, Limit: 1000 });
      return Object.fromEntries((output.Items ?? []).map((item) => [`${text(item, catalog.index.partitionKey)} / ${text(item, catalog.index.sortKey)}`, item]));
    },
    put: async (item: Item) => {
      await transport.send("PutItem", { TableName: catalog.table, Item: item });
    },
    stop: async () => {
      await transport.close();
      child.kill();
    },
  });
};
