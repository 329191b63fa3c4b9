import type { SendOptions, Transport } from "edgetable";
import type { Past } from "../past/past.ts";
import type { Decision } from "./decide.ts";
import type { FaultEffects, FaultOptions, Injection } from "./options.ts";

/** What it takes to answer one request after another with faults. */
export interface Liar {
  /** The transport underneath; its time is held. */
  readonly inner: Transport;
  readonly past: Past;
  /** Whether writes are recorded, so that reads can look back. */
  readonly records: boolean;
  readonly options: FaultOptions;
  readonly effects: FaultEffects;
  /** Logs what was injected; once, however often it is told. */
  note(injection: Injection): void;
}

/** One request's fate and the caller's conditions. */
export interface Turn {
  readonly decision: Decision;
  readonly options: SendOptions;
}
