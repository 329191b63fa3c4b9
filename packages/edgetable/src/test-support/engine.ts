import { openEngine } from "../../../../conformance/engines/open-engine.ts";
import type { Transport } from "../transport/transport.ts";

/** A real engine for one test file: its own, or its share of the second engine. */
export interface TestEngine {
  readonly transport: Transport;
  freshTableName(label?: string): string;
  stop(): Promise<void>;
}

/** Opens the engine that the suite runs on, on request one that no other suite has. */
export const startEngine = async (options?: { readonly alone?: boolean }): Promise<TestEngine> => {
  const engine = await openEngine(undefined, options);
  return { transport: engine.transport, freshTableName: engine.freshTableName, stop: () => engine.close() };
};
