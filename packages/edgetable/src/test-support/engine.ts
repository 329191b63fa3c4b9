import { openEngine } from "../../../../conformance/engines/open-engine.ts";
import type { Transport } from "../transport/transport.ts";

/** A real engine for one test file: its own, or its share of the second engine. */
export interface TestEngine {
  readonly transport: Transport;
  freshTableName(label?: string): string;
  stop(): Promise<void>;
}

/** Opens the engine that the suite runs on. */
export const startEngine = async (): Promise<TestEngine> => {
  const engine = await openEngine();
  return { transport: engine.transport, freshTableName: engine.freshTableName, stop: () => engine.close() };
};
