/** What a write does to one register, sum or list, if it happens. */
export interface Effect {
  /** The register's name, such as `person:p0`, `follows:p0>p1`, `swing:a0`, `tokens:a0`, `claim:h1`. */
  readonly object: string;
  readonly kind: "create" | "put" | "update" | "upsert" | "delete" | "add" | "append" | "claim";
  /** What it leaves (a register), adds (a sum) or appends (a list). */
  readonly value: string;
}

/** How a write ended: it happened, nobody knows, it did not because of an error, or a reason. */
export type Ending = "ok" | "ambiguous" | "failed" | (string & {});

export interface WriteRecord {
  readonly effect: Effect;
  readonly ending: Ending;
  /** Whether a request without a token was sent more than once. */
  readonly repeated: boolean;
}

export interface Observation {
  readonly object: string;
  /** The value; ABSENT for none. */
  readonly value: string;
  readonly strong: boolean;
  /** Seen through an ordered index, in which an item that moves can be met twice or missed. */
  readonly moving: boolean;
}

/** One call of one client. */
export interface CallRecord {
  readonly client: number;
  readonly text: string;
  /** Ordinals of invocation and response in the whole history. */
  readonly invoke: number;
  readonly respond: number;
  /** Virtual milliseconds of the two. */
  readonly from: number;
  readonly until: number;
  readonly writes: readonly WriteRecord[];
  readonly observations: readonly Observation[];
  readonly error: unknown;
}

export const ABSENT = "-";

const ending = ({ writes, error, observations }: CallRecord): string => {
  if (error !== undefined)
    return (
      String((error as { readonly code?: unknown }).code ?? error) +
      (writes.some(({ ending }) => ending === "ambiguous") ? " (ambiguous)" : "")
    );
  if (writes.length > 0)
    return writes
      .map((write) => `${write.effect.object}=${write.effect.value} ${write.ending}${write.repeated ? " (repeated)" : ""}`)
      .join(", ");
  return observations.map(({ object, value }) => `${object}=${value}`).join(" ");
};

/** The record as text, one call a line; with `about`, only the calls that touch the object. */
export const recordText = (calls: readonly CallRecord[], about?: string): string => {
  const touches = (call: CallRecord): boolean =>
    about === undefined ||
    call.writes.some(({ effect }) => effect.object === about) ||
    call.observations.some(({ object }) => object === about);
  const lines = calls
    .filter(touches)
    .map(
      (call) =>
        `[${call.invoke}-${call.respond} ${Math.round(call.from)}-${Math.round(call.until)}ms] client ${call.client}: ${call.text} -> ${ending(call)}`,
    );
  return [...lines.slice(0, 60), ...(lines.length > 60 ? [`... and ${lines.length - 60} more`] : [])].join("\n");
};
