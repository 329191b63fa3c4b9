/** A neighbourhood to read: every node within `depth` hops, along edges out of a node or in both directions. */
export interface Neighbourhood {
  readonly start: string;
  readonly direction: "out" | "both";
  readonly depth: number;
}

/** What a walk found, and what it took. */
export interface Walked {
  /** Each node once, without the start, in any order. */
  readonly ids: readonly string[];
  readonly requests: number;
}

export interface WalkPlace {
  readonly endpoint: string;
  readonly table: string;
  readonly edge: string;
}

export interface Walker {
  walk(neighbourhood: Neighbourhood): Promise<Walked>;
  close(): void | Promise<void>;
}

/** Requests that every side may have under way. */
export const inFlight = 32;
