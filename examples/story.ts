/** Something that one program does to a table. */
export interface Deed<Stage> {
  readonly by: string;
  /** The calls, as they are written in a program. */
  readonly calls: readonly string[];
  readonly act: (stage: Stage) => Promise<unknown>;
  /** What `act` gives, if that is worth showing. */
  readonly expected?: unknown;
}

/** A change, and what is read afterwards. */
export interface Chapter<Stage> {
  readonly name: string;
  readonly title: string;
  readonly deeds: readonly Deed<Stage>[];
  /** The call that reads the answer. */
  readonly call: string;
  readonly ask: (stage: Stage) => Promise<unknown>;
  readonly expected: unknown;
}
