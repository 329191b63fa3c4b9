import type { Random } from "@edgetable/testing";

/**
 * Something that runs between others. It yields the name of each request as soon as the request has taken effect, and others
 * may run before it continues.
 */
export type Task = Generator<string, void, void>;

/** What runs at once: users who change a table, and processors that are given a record of each change. */
export interface Scene<R> {
  readonly users: readonly Task[];
  /** Takes the records of the changes since the last call. */
  takeRecords(): readonly R[];
  process(record: R): Task;
  /** Everything that a repair has to look at once records were lost, as records. */
  repair(): readonly R[];
  /** Turns from the loss to the repair. */
  readonly repairDelay: number;
  /** Lets time pass: the service deletes expired items, indexes catch up. */
  tick(now: number): void;
}

/** How much goes wrong. */
export interface Trouble {
  readonly processors: number;
  /** Tasks that end between two requests. Their record is processed again. */
  readonly kills: number;
  /** Tasks that stop between two requests and continue when others have long taken over. */
  readonly zombies: number;
  /** Records that are processed again although they have been processed. */
  readonly duplicates: number;
  /** Whether once all records that wait are lost, as at a gap in a stream. */
  readonly gap: boolean;
}

/** One history: what was wrong in the end, and what ran, one request a line. */
export interface History {
  readonly complaints: readonly string[];
  readonly lines: readonly string[];
}

/** A task gives up, and its record waits again, if it has not ended after so many turns. Nothing is forgotten sooner. */
export const longestTask = 60;

/** Far more than any history needs. */
const mostTurns = 50_000;

interface Running<R> {
  readonly name: string;
  readonly task: Task;
  readonly record: R;
  readonly started: number;
  wakes: number;
}

/** Runs a scene to its end in a random order, with random trouble. Returns what ran, one request a line. */
export const interleave = <R>(random: Random, scene: Scene<R>, trouble: Trouble): readonly string[] => {
  const below = (end: number): number => Math.floor(random() * end);
  const lines: string[] = [];
  const waiting: R[] = [];
  const done: R[] = [];
  const users = [...scene.users];
  let running: Running<R>[] = [];
  let { kills, zombies, duplicates, gap } = trouble;
  let [turn, tasks, repairAt] = [0, 0, Infinity];

  const step = (name: string, task: Task): boolean => {
    const { done: ended, value } = task.next();
    if (!ended) lines.push(`${name}: ${value}`);
    return ended === true;
  };
  const end = (one: Running<R>, how?: string): void => {
    running = running.filter((other) => other !== one);
    (how === undefined ? done : waiting).push(one.record);
    if (how !== undefined) lines.push(`${one.name} ${how}`);
  };

  for (;;) {
    if (++turn > mostTurns) throw new Error(`The history does not end:\n${lines.slice(-50).join("\n")}`);
    scene.tick(turn);
    waiting.push(...scene.takeRecords());
    if (turn >= repairAt) {
      repairAt = Infinity;
      waiting.push(...scene.repair());
    }
    if (users.length + waiting.length + running.length === 0 && repairAt === Infinity) return lines;
    const awake = running.filter(({ wakes }) => wakes <= turn);
    const one = awake[below(awake.length)];
    const dice = below(100);
    if (gap && users.length === 0 && dice < 20) {
      gap = false;
      lines.push(`${String(waiting.length)} records are lost`);
      if (waiting.length > 0) repairAt = turn + scene.repairDelay;
      waiting.length = 0;
    } else if (one && kills > 0 && dice < 4) {
      kills--;
      end(one, "is killed");
    } else if (one && zombies > 0 && dice < 10) {
      zombies--;
      one.wakes = turn + below(longestTask - 10);
      waiting.push(one.record);
      lines.push(`${one.name} falls asleep`);
    } else if (duplicates > 0 && done.length > 0 && dice < 14) {
      duplicates--;
      waiting.push(...done.splice(below(done.length), 1));
    } else if (users.length > 0 && dice < 40) {
      const at = below(users.length);
      const user = users[at];
      if (user && step(`user ${String(scene.users.indexOf(user) + 1)}`, user)) users.splice(at, 1);
    } else if (waiting.length > 0 && awake.length < trouble.processors && dice < 70) {
      for (const record of waiting.splice(below(waiting.length), 1))
        running.push({ name: `task ${String(++tasks)}`, task: scene.process(record), record, started: turn, wakes: turn });
    } else if (one) {
      if (turn - one.started > longestTask) end(one, "gives up");
      else if (step(one.name, one.task)) end(one);
    }
  }
};
