export {
  type FaultEffects,
  type FaultKind,
  faultKinds,
  type FaultOptions,
  type Injection,
  type LagBound,
  type LagKind,
  type ScriptedFault,
} from "./fault-options.ts";
export { createFaultTransport, type FaultTransport } from "./fault-transport.ts";
export { type Random, seededRandom } from "./random.ts";
export { virtualClock, type VirtualClock, type VirtualClockOptions } from "./virtual-clock.ts";
export { createWriteHistory, type WriteHistory } from "./write-history.ts";
