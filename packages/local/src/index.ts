export { startEngine, type LocalEngine } from "./engine.ts";
export type { EngineName, EngineOptions } from "./engine-options.ts";
export { sweepExpired, type Expiry } from "./expired-items.ts";
