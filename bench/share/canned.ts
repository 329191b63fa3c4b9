import type { Tap } from "../calls/calls.ts";

/** Records what the engine answers, then gives the same answers without asking it. */
export interface Canned {
  readonly tap: Tap;
  /** Forgets what was recorded; from now on requests go out. */
  record(): void;
  /** From now on the recorded answers come back, in order, over and over. */
  replay(): void;
}

export const createCanned = (): Canned => {
  let answers: unknown[] = [];
  let position = 0;
  let replaying = false;
  const tap: Tap = <Request, Answer>(send: (request: Request) => Promise<Answer>) => async (request: Request): Promise<Answer> => {
    if (replaying) return answers[position++ % answers.length] as Answer;
    const answer = await send(request);
    answers.push(answer);
    return answer;
  };
  const record = (): void => {
    answers = [];
    replaying = false;
  };
  const replay = (): void => {
    position = 0;
    replaying = true;
  };
  return { tap, record, replay };
};
