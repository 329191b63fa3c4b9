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
export { deliverToLambda, type LambdaBatch, type LambdaDelivery, type LambdaReport } from "./deliver-to-lambda.ts";
export { type Random, seededRandom } from "./random.ts";
export { createStreamSource, type StreamLie, type StreamSource, type StreamSourceOptions } from "./stream-source.ts";
export { virtualClock, type VirtualClock, type VirtualClockOptions } from "./virtual-clock.ts";
export { createWriteHistory, type WriteHistory } from "./write-history.ts";
