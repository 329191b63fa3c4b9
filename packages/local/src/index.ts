export { startEngine, type LocalEngine } from "./engine.ts";
export type { EngineOptions } from "./engine-options.ts";
export { createLocalTransport } from "./local-transport.ts";
export { sweepExpired, type Expiry } from "./expired-items.ts";
