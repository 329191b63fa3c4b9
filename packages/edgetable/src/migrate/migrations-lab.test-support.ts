import { afterAll, beforeAll, beforeEach } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import type { ShardCounts, ValueIndex } from "../schema/layout.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Operation, OperationInputs } from "../transport/operations.ts";

/** The engine of a test file, and the table of the test that runs. */
export const lab: { engine: TestEngine; table: string } = { engine: undefined as never, table: "" };

/** Starts an engine for the tests of a file, with a fresh table for each. */
export const openMigrationsLab = (): void => {
  beforeAll(async () => {
    lab.engine = await startEngine({ alone: true });
  });
  afterAll(() => lab.engine.stop());
  beforeEach(() => {
    lab.table = lab.engine.freshTableName("migrate");
  });
};

export const person = node({
  key: "PERSON#{id}",
  schema: z.object({ id: z.string(), name: z.string(), age: z.int().optional(), city: z.string().optional() }),
});
export const likes = edge({ from: "person", to: "person" });
export const club = node({ key: "CLUB#{id}", schema: z.object({ id: z.string(), name: z.string() }) });

export const fast = { share: 100, indexLag: 0 } as const;
export const byAge = { entries: { person: { by: "age:number", sparse: true } } } as const;
export const byName = (shards: ShardCounts = 1) => ({ entries: { person: "name" }, shards }) as const;

export const connectTo = (indexes: Readonly<Record<string, ValueIndex>>, options: ConnectOptions = {}) =>
  defineGraph({
    table: lab.table,
    nodes: { person, club },
    edges: { likes },
    // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- without it the compiler refuses names of indexes that it does not know
    indexes: indexes as { byName: { entries: { person: "name"; club: "name" } } },
  }).connect({
    transport: lab.engine.transport,
    ...options,
  });

export const old = () => connectTo({});

export const fill = async (count: number): Promise<void> => {
  const db = old();
  await db.table.create();
  await db.load(
    Array.from({ length: count }, (_, at) => ({
      node: "person" as const,
      row: { id: `P${at}`, name: `N${at % 7}`, ...(at % 3 ? { age: at % 50 } : {}) },
    })),
  );
};

/** The requests of a table, by name. */
export const watched = (): { readonly sent: Operation[]; readonly options: ConnectOptions } => {
  const sent: Operation[] = [];
  const transport = {
    send: async <O extends Operation>(operation: O, input: OperationInputs[O], options?: object) => {
      sent.push(operation);
      return lab.engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  return { sent, options: { transport } };
};
