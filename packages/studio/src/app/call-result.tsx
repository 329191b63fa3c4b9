import type { ReactNode } from "react";
import type { ModelAnswer, PatternAnswer, WirePlan } from "../wire.ts";
import { counted, Failure, Notice } from "./item-parts.tsx";
import { AnswerTable, Figures, isRow, Waterfall } from "./pattern-answer.tsx";
import { PlanTree } from "./plan-tree.tsx";

/** How the run of a call stands. */
export type Run =
  | { readonly state: "running"; readonly before?: PatternAnswer | undefined }
  | { readonly state: "done"; readonly answer: PatternAnswer }
  | { readonly state: "failed"; readonly error: { readonly code?: string; readonly message: string } };

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const kebab = (operation: string): string => operation.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();

/** The requests as commands of the AWS CLI; requests that depend on an earlier answer only after a run. */
export const asCommands = (plan: WirePlan, run: PatternAnswer["run"], endpoint: string | undefined): string => {
  const sent = (run?.attempts ?? plan.requests).filter(({ input }) => isRow(input));
  const place = endpoint === undefined ? "" : ` --endpoint-url http://${endpoint}`;
  return sent
    .map(({ operation, input }) => `aws dynamodb ${kebab(operation)}${place} --cli-input-json ${quoted(JSON.stringify(input))}`)
    .join("\n");
};

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : `[${JSON.stringify(name)}]`);

/** A value of JSON as the source of the value that it stands for. */
export const sourceOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(sourceOf).join(", ")}]`;
  if (!isRow(value)) return JSON.stringify(value) ?? "undefined";
  const [[name, inner] = ["", undefined], more] = Object.entries(value);
  const forms: Readonly<Record<string, () => string>> = {
    $date: () => `new Date(${JSON.stringify(inner)})`,
    $bigint: () => `${String(inner)}n`,
    $set: () => `new Set(${sourceOf(inner)})`,
    $bytes: () => `new Uint8Array(Buffer.from(${JSON.stringify(inner)}, "base64"))`,
    $object: () => `Object.fromEntries(${sourceOf(inner)})`,
  };
  const form = more === undefined && Object.hasOwn(forms, name) ? forms[name] : undefined;
  if (form) return form();
  const members = Object.entries(value).map(([key, one]) => `${nameOf(key)}: ${sourceOf(one)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
};

/** A program that connects, runs some lines, and prints what they call `value` and `cost`. */
export const programOf = ({ graph, file }: Pick<ModelAnswer, "graph" | "file">, lines: readonly string[]): string => {
  const name = graph === "default" ? "graph" : graph;
  return [
    `import ${graph === "default" ? name : `{ ${name} }`} from "./${file.replace(/^\.\//, "")}";`,
    "",
    `const db = ${name}.connect();`,
    ...lines,
    "console.log(value, cost);",
  ].join("\n");
};

const itemsOf = (answer: unknown): readonly unknown[] => (isRow(answer) && Array.isArray(answer["items"]) ? answer["items"] : []);

/** Results of which a walk's continuation gives only new ones. Counts and whatever is folded it gives anew, as a whole. */
const givesNewItems = ({ logical }: WirePlan): boolean => {
  const { collect } = (isRow(logical) ? logical : {}) as { readonly collect?: { readonly kind: string } };
  return collect !== undefined && ["ids", "nodes", "paths"].includes(collect.kind);
};

/** The answer of a walk with what its earlier parts found, and what they all took. */
export const continued = (before: PatternAnswer | undefined, now: PatternAnswer): PatternAnswer => {
  const [first, last] = [before?.run, now.run];
  if (!first || !last) return now;
  const attempts = [...first.attempts, ...last.attempts.map((one) => ({ ...one, start: one.start + first.duration }))];
  return {
    plan: now.plan,
    run: {
      ...last,
      answer:
        isRow(last.answer) && givesNewItems(now.plan)
          ? { ...last.answer, items: [...itemsOf(first.answer), ...itemsOf(last.answer)] }
          : last.answer,
      cost: { requests: first.cost.requests + last.cost.requests, readUnits: first.cost.readUnits + last.cost.readUnits },
      attempts,
      duration: first.duration + last.duration,
      cut: first.cut || last.cut,
    },
  };
};

/** The requests of a plan, as `edgetable explain` prints them. */
const Plan = ({ plan }: { readonly plan: WirePlan }): ReactNode => (
  <>
    <ol className="plan">
      {plan.lines.requests.map(({ title, after, units, parameters }, at) => (
        <li key={at}>
          <header>
            <b>{title}</b>
            <span>{units}</span>
          </header>
          {after === "" ? null : <p className="after">after {after}</p>}
          <dl>
            {parameters.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ol>
    {[...(plan.assumptions ?? []), ...plan.notes].map((text) => (
      <p key={text} className="plan-note">
        {text}
      </p>
    ))}
  </>
);

/** Why a walk ended early, and the way on. */
const LeftOut = ({ answer, proceed }: { readonly answer: unknown; readonly proceed: (cursor: string) => void }): ReactNode => {
  const { complete, stopped, next } = (isRow(answer) ? answer : {}) as {
    readonly complete?: boolean;
    readonly stopped?: { readonly by: string; readonly hop: number; readonly left: { readonly nodes: number } };
    readonly next?: string;
  };
  if (complete !== false || !stopped) return null;
  const { by, hop, left } = stopped;
  return (
    <div className="walk-left" role="status">
      <span>
        {by === "limit" ? "There is more" : `The walk spent its budget of ${by}`} at hop {hop}
        {left.nodes > 0 ? `: ${counted(left.nodes, "node")} left to read` : ""}.
      </span>
      {next === undefined ? null : (
        <button type="button" onClick={() => proceed(next)}>
          Continue
        </button>
      )}
    </div>
  );
};

const Answer = ({
  run,
  again,
  proceed,
}: {
  readonly run: Run | undefined;
  readonly again: () => void;
  readonly proceed: (cursor: string) => void;
}): ReactNode => {
  if (!run) return <Notice title="Not run yet.">The plan shows what a run would send.</Notice>;
  if (run.state === "failed") return <Failure error={run.error} again={again} />;
  const ran = run.state === "done" ? run.answer.run : run.before?.run;
  if (!ran) return <Notice title="Running…" />;
  return (
    <>
      {ran.cut ? <p className="plan-note">The answer is large: its lists are cut after 100 entries.</p> : null}
      {run.state === "done" ? <LeftOut answer={ran.answer} proceed={proceed} /> : <p className="plan-note">Continuing…</p>}
      <AnswerTable answer={ran.answer} />
    </>
  );
};

/** The answer of a call beside its plan, with what was predicted, and what it took. */
export const CallResult = ({
  shown,
  run,
  error,
  again,
  start,
  proceed,
  source,
}: {
  readonly shown: PatternAnswer | undefined;
  readonly run: Run | undefined;
  /** Why it could not be planned. */
  readonly error: { readonly code?: string; readonly message: string } | undefined;
  readonly again: () => void;
  readonly start: () => void;
  /** Continues a walk that its budget ended. */
  readonly proceed: (cursor: string) => void;
  readonly source?: string;
}): ReactNode => (
  <>
    {shown ? <Figures {...shown} /> : null}
    {shown?.run ? <Waterfall attempts={shown.run.attempts} duration={shown.run.duration} /> : null}
    <div className="halves">
      <section aria-label="Answer">
        <h2>Answer</h2>
        <Answer run={run} again={start} proceed={proceed} />
      </section>
      <div className="plans">
        <section aria-label="Requests">
          <h2>Requests{shown ? <small> {counted(shown.plan.cost.requests, "request")} predicted</small> : null}</h2>
          {error ? <Failure error={error} again={again} /> : shown ? <Plan plan={shown.plan} /> : <Notice title="Planning…" />}
        </section>
        <section aria-label="Logical plan">
          <h2>
            Logical plan<small> what is asked, in graph words</small>
          </h2>
          {shown ? <PlanTree part={shown.plan.logical} /> : null}
          {source === undefined ? null : (
            <details>
              <summary>The pattern&rsquo;s code</summary>
              <pre tabIndex={0}>{source}</pre>
            </details>
          )}
        </section>
        <section aria-label="Physical plan">
          <h2>
            Physical plan<small> what runs, in table words</small>
          </h2>
          {shown ? <PlanTree part={shown.plan.plan} /> : null}
        </section>
      </div>
    </div>
  </>
);
