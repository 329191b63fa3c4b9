import { bounds } from "./clients.ts";
import { isLinearizable, type Operation } from "./linearizable.ts";
import { ABSENT, type CallRecord, type Effect, type Ending, type Observation, recordText, type WriteRecord } from "./record.ts";
import { FIRST } from "./run-clients.ts";

type Apply = Operation["apply"];

const isPresent = (state: string): boolean => state !== ABSENT;

const happened = ({ kind, value }: Effect): Apply => {
  switch (kind) {
    case "create":
    case "claim":
      return (state) => (isPresent(state) ? undefined : value);
    case "update":
    case "delete":
      return (state) => (isPresent(state) ? value : undefined);
    case "add":
      return (state) => String(Number(state) + Number(value));
    default:
      return () => value;
  }
};

/** What a reason says of the register itself; undefined where it says nothing. */
const refused = ({ kind }: Effect, ending: Ending): Apply | undefined => {
  if (ending === "notFound") return (state) => (isPresent(state) ? undefined : state);
  if (ending === "exists" && kind === "create") return (state) => (isPresent(state) ? state : undefined);
  if (ending === "notUnique" && kind === "claim") return (state) => (isPresent(state) ? state : undefined);
  return undefined;
};

const writeOperations = ({ invoke, respond }: CallRecord, { effect, ending, repeated }: WriteRecord): readonly Operation[] => {
  const apply = happened(effect);
  // Without a token, a request whose answer was lost is sent again as it was, and others may have come between.
  const again: readonly Operation[] = repeated ? [{ invoke, respond, certain: false, apply }] : [];
  if (ending === "ambiguous") return [{ invoke, respond: Infinity, certain: false, apply }, ...again];
  if (ending !== "ok") {
    const says = refused(effect, ending);
    return says ? [{ invoke, respond, certain: true, apply: says }] : [];
  }
  const own: Operation = { invoke, respond, certain: true, apply };
  return [own, ...again];
};

const touching = (call: CallRecord, object: string): readonly Operation[] => [
  ...call.writes.filter(({ effect }) => effect.object === object).flatMap((write) => writeOperations(call, write)),
  ...call.observations
    .filter((one) => one.object === object && one.strong)
    .map(({ value }): Operation => ({
      invoke: call.invoke,
      respond: call.respond,
      certain: true,
      apply: (state) => (state === value ? state : undefined),
    })),
];

const initialOf = (object: string): string => {
  if (object.startsWith("swing:")) return "0";
  return /^(person:p|post:q|tag:t)/.test(object) ? FIRST : ABSENT;
};

const objectsOf = (calls: readonly CallRecord[]): readonly string[] =>
  [
    ...new Set(
      calls.flatMap((call) => [...call.writes.map(({ effect }) => effect.object), ...call.observations.map(({ object }) => object)]),
    ),
  ].filter((object) => !object.startsWith("tokens:"));

/** Every register: what strongly consistent reads and the end of it show has come about call by call. */
export const checkRegisters = (calls: readonly CallRecord[], initial = initialOf): readonly string[] =>
  objectsOf(calls).flatMap((object) => {
    const operations = calls.flatMap((call) => touching(call, object));
    if (isLinearizable(operations, initial(object))) return [];
    return [`${object}: no order of these calls explains what they saw\n${recordText(calls, object)}`];
  });

const produces = (write: WriteRecord, value: string): boolean =>
  (write.ending === "ok" || write.ending === "ambiguous") && write.effect.value === value;

const overlaps = (call: CallRecord, read: CallRecord, bound: number): boolean =>
  call.from <= read.until && (call.until >= read.from - bound || call.writes.some(({ ending }) => ending === "ambiguous"));

/** Whether a weak read may show the value: something wrote it, and nothing wrote after it, all longer ago than the bound. */
const couldSee = (calls: readonly CallRecord[], read: CallRecord, { object, value, moving }: Observation): boolean => {
  const bound = bounds.index + 1;
  const writes = calls.flatMap((call) =>
    call.writes
      .filter(({ effect, ending }) => effect.object === object && (ending === "ok" || ending === "ambiguous"))
      .map((write) => ({ call, write })),
  );
  if (moving && value === ABSENT && writes.some(({ call }) => overlaps(call, read, bound))) return true;
  const settled = writes.filter(({ call, write }) => write.ending === "ok" && call.until < read.from - bound);
  const first = value === initialOf(object) ? [-1] : [];
  const sources = [
    ...first,
    ...writes
      .filter(({ call, write }) => produces(write, value) && call.from <= read.until)
      .map(({ call, write }) => (write.ending === "ok" ? call.respond : Infinity)),
  ];
  return sources.some((respond) => !settled.some(({ call }) => call.invoke > respond));
};

/** Weak reads show what was there, at most the bound ago. */
export const checkWeakReads = (calls: readonly CallRecord[]): readonly string[] =>
  calls.flatMap((read) =>
    read.observations
      .filter(({ object, strong }) => !strong && !/^(swing|tokens):/.test(object))
      .flatMap((seen) =>
        couldSee(calls, read, seen)
          ? []
          : [`${read.text} saw ${seen.object}=${seen.value}, which was not so within the bound\n${recordText(calls, seen.object)}`],
      ),
  );
