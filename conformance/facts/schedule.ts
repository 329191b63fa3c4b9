import type { Effects, Transport } from "edgetable";

/** One user or processor, whose requests wait for their turn. */
interface Task {
  readonly name: string;
  /** Turns for which it is left alone: a process that the system has suspended. */
  asleep: number;
  isKilled: boolean;
  done: boolean;
}

interface Waiting {
  readonly task: Task;
  readonly go: () => Promise<void>;
}

/** Runs tasks in a random order, one request at a time. */
export interface Schedule {
  /** Begins a task, which gets a transport and effects of its own. */
  begin(name: string, run: (transport: Transport, effects: Effects) => Promise<void>): void;
  /** Lets one request of one task through, or nothing if all tasks have ended. Gives false in this case. */
  turn(): Promise<boolean>;
  /** What was sent, in its order. */
  readonly log: string[];
}

/** How tasks are treated. */
export interface Hazards {
  /** The chance that a request is its task's last: the process ends, before the request is sent or after it. */
  readonly kills: number;
  /** The chance that a request waits for many turns. */
  readonly stalls: number;
}

const KILLED = "killed by the test";

const settled = async (): Promise<void> => {
  for (let at = 0; at < 4; at++) await new Promise((resolve) => setImmediate(resolve));
};

/** Opens a schedule over an engine. */
export const openSchedule = (engine: Transport, random: () => number, { kills, stalls }: Hazards): Schedule => {
  const tasks: Task[] = [];
  const waiting: Waiting[] = [];
  const log: string[] = [];
  let clock = Date.now();

  const gate = <T>(task: Task, what: string, act: () => Promise<T>, mayDie: boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      if (task.isKilled) return reject(new Error(KILLED));
      const isStalled = mayDie && random() < stalls;
      if (isStalled) task.asleep = Math.floor(random() * 60);
      waiting.push({
        task,
        go: async () => {
          const dies = mayDie && random() < kills;
          if (dies) task.isKilled = true;
          if (dies && random() < 0.5) {
            log.push(`${task.name} ends before ${what}`);
            return reject(new Error(KILLED));
          }
          log.push(`${task.name} ${what}${dies ? " and ends" : ""}`);
          try {
            const result = await act();
            if (dies) reject(new Error(KILLED));
            else resolve(result);
          } catch (error) {
            reject(error);
          }
        },
      });
    });

  const begin: Schedule["begin"] = (name, run) => {
    const task: Task = { name, asleep: 0, isKilled: false, done: false };
    tasks.push(task);
    const isProcessor = name.startsWith("processor");
    const transport: Transport = {
      send: (operation, input, options) =>
        gate(task, describe(operation, input), () => engine.send(operation, input, options), isProcessor),
      close: () => undefined,
    };
    const effects: Effects = { now: () => clock, random, sleep: () => gate(task, "waits", () => Promise.resolve(), false) };
    run(transport, effects).then(
      () => (task.done = true),
      () => (task.done = true),
    );
  };

  const turn = async (): Promise<boolean> => {
    clock += 1 + Math.floor(random() * 20);
    await settled();
    if (waiting.length === 0) return false;
    for (const { task } of waiting) if (task.asleep > 0) task.asleep--;
    const awake = waiting.filter(({ task }) => task.asleep === 0);
    const all = awake.length > 0 ? awake : waiting;
    const next = all[Math.floor(random() * all.length)] as Waiting;
    waiting.splice(waiting.indexOf(next), 1);
    await next.go();
    return true;
  };
  return { begin, turn, log };
};

const describe = (operation: string, input: unknown): string => `${operation} ${JSON.stringify(input).slice(0, 400)}`;
