import { JOB_FACTS as FACTS, jobState, KIND, RUNS, systemKeyItem, UNTIL } from "../../schema/system-items.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import type { Session } from "../session.ts";

/** What kind of work a job is. */
export type JobKind = "load" | "delete" | "reshard";

/** A job's state, as plain values. */
export type JobFacts = Readonly<Record<string, string | number>>;

/** A job that is in the table: under way, or left by a process that ended. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** Whether a process is at it, as far as its lease says. */
  readonly running: boolean;
  /** Milliseconds since 1970 until which the lease holds. */
  readonly leasedUntil: number;
  /** How often it was begun or resumed. */
  readonly runs: number;
  readonly facts: JobFacts;
}

/** Type value of job items, where the table has a type attribute. */
export const JOB_TYPE = "~job";
export const factsValue = (facts: JobFacts): AttributeValue => ({
  M: Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === "number" ? { N: String(value) } : { S: value }]),
  ),
});

export const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : "");
const numberOf = (value: AttributeValue | undefined): number => (value && "N" in value ? Number(value.N) : 0);

const readFacts = (value: AttributeValue | undefined): JobFacts =>
  Object.fromEntries(
    Object.entries(value && "M" in value ? value.M : {}).map(([name, fact]) => [name, "N" in fact ? Number(fact.N) : textOf(fact)]),
  );

export const jobKey = (session: Session, id: string): Key => systemKeyItem(session.catalog, jobState(id));

/** A job as its item has it. */
export const readJob = (session: Session, item: Item, id: string): Job => {
  const leasedUntil = numberOf(item[UNTIL]);
  return {
    id,
    kind: textOf(item[KIND]) as JobKind,
    running: leasedUntil > session.effects.now(),
    leasedUntil,
    runs: numberOf(item[RUNS]),
    facts: readFacts(item[FACTS]),
  };
};
