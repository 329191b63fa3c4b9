export { createLeanStreamTransport } from "../transport/lean/lean-stream-transport.ts";
export { refreshFacts, type RefreshOptions, type RefreshProgress, type RefreshReport } from "./refresh-facts.ts";
export {
  createStreamHandler,
  type BatchResponse,
  type StreamContext,
  type StreamEvent,
  type StreamHandlerOptions,
} from "./stream-handler.ts";
export {
  discardDeadLetters,
  listDeadLetters,
  replayDeadLetters,
  type ListDeadLettersOptions,
  type ReplayOptions,
  type ReplayReport,
} from "./replay-dead-letters.ts";
export { readCounters, rollUpCounters, type CountedValues } from "./roll-up-counters.ts";
export type { DeadLetter } from "./dead-letters.ts";
export type { RefreshedBatch } from "./maintain-facts.ts";
export type { StaleFact } from "./stale-facts.ts";
export type { HandlersOf, StreamHandlers } from "./handlers.ts";
export type { StreamRecord } from "./record.ts";
export { createStreamConsumer, type ConsumeOptions, type ConsumerOptions, type StreamConsumer } from "./consumer.ts";
export { listConsumers, type ConsumerGroup, type ListConsumersOptions } from "./list-consumers.ts";
export { tailStream, type TailOptions } from "./tail-stream.ts";
export type { StartPosition, StreamGap } from "./read-shard.ts";
export type { StreamProgress } from "./run-consumer.ts";
