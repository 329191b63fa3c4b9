import type { Tap } from "../calls/calls.ts";

/** Records what the engine answers to each kind of call, then gives the same answers without asking it. */
export interface Canned {
  readonly tap: Tap;
  /** From now on requests go out, and what they answer is kept under the name. */
  record(name: string): void;
  /** From now on the answers kept under the name come back, in order, over and over. */
  replay(name: string): void;
}

export const createCanned = (): Canned => {
  const kept = new Map<string, unknown[]>();
  let answers: unknown[] = [];
  let position = 0;
  // Loading the system goes past the recorder.
  let state: "passing" | "recording" | "replaying" = "passing";
  const tap: Tap =
    <Request, Answer>(send: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      if (state === "replaying") return answers[position++ % answers.length] as Answer;
      const answer = await send(request);
      if (state === "recording") answers.push(answer);
      return answer;
    };
  const record = (name: string): void => {
    answers = [];
    kept.set(name, answers);
    state = "recording";
  };
  const replay = (name: string): void => {
    answers = kept.get(name) ?? [];
    position = 0;
    state = "replaying";
  };
  return { tap, record, replay };
};
