/** A place in the queue before a gate. */
export interface Turn {
  /** Resolves when it is this one's turn; it has then entered. */
  readonly comes: Promise<void>;
  /** Leaves the queue, or, where its turn has come meanwhile, the gate. */
  giveUp(): void;
}

/** Lets at most so many in at a time, in the order in which they asked. */
export interface Gate {
  /** A turn to wait for, or nothing where there is room: most requests need not wait. */
  enter(): Turn | undefined;
  leave(): void;
}

interface Waiting {
  readonly let: () => void;
  state: "waiting" | "in" | "gone";
}

/** A gate for at most `limit` at a time. */
export const limitConcurrency = (limit: number): Gate => {
  let running = 0;
  const queue: Waiting[] = [];
  const nextInQueue = (): Waiting | undefined => {
    let next = queue.shift();
    while (next?.state === "gone") next = queue.shift();
    return next;
  };
  const leave = (): void => {
    const next = nextInQueue();
    if (!next) {
      running--;
      return;
    }
    next.state = "in";
    next.let();
  };
  const queueUp = (): Turn => {
    let waiting: Waiting | undefined;
    const comes = new Promise<void>((resolve) => queue.push((waiting = { let: resolve, state: "waiting" })));
    const giveUp = (): void => {
      if (waiting?.state === "in") leave();
      if (waiting) waiting.state = "gone";
    };
    return { comes, giveUp };
  };
  return {
    enter: () => {
      if (running >= limit) return queueUp();
      running++;
      return undefined;
    },
    leave,
  };
};
