import { useState, type KeyboardEvent, type ReactNode } from "react";
import type { ModelAnswer, PatternAnswer, WirePattern, WirePlan } from "../wire.ts";
import { post, useAnswer, type ApiError } from "./api.ts";
import { CopyButton } from "./item-panel.tsx";
import { counted, Failure, Notice } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { PlanTree } from "./plan-tree.tsx";
import { AnswerTable, Figures, showPlain, Waterfall } from "./pattern-answer.tsx";
import { addressOf, go, linkTo, type Query } from "./route.ts";
import "./patterns.css";

type Parameters = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Parameters => typeof value === "object" && value !== null && !Array.isArray(value);

/** What a person typed, as a value like the example's; undefined if it is not of that type. */
const readAs = (text: string, example: unknown): unknown => {
  if (typeof example === "string") return text;
  if (isRow(example) && "$date" in example) return Number.isNaN(Date.parse(text)) ? undefined : { $date: new Date(text).toISOString() };
  if (isRow(example) && "$bigint" in example) return /^-?\d+$/.test(text) ? { $bigint: text } : undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === typeof example ? value : undefined;
  } catch {
    return undefined;
  }
};

const typeName = (example: unknown): string => {
  if (isRow(example)) return Object.keys(example)[0]?.replace("$", "") ?? "JSON";
  return Array.isArray(example) ? "list" : typeof example;
};

/** The parameters of the address, where they have the example's names and types; else the example's. */
const parametersOf = ({ example }: WirePattern, text: string | undefined): Parameters => {
  const own = isRow(example) ? example : { value: example };
  try {
    const given: unknown = JSON.parse(text ?? "");
    if (isRow(given)) return Object.fromEntries(Object.entries(own).map(([name, value]) => [name, given[name] ?? value]));
  } catch {
    // The address names none.
  }
  return own;
};

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const kebab = (operation: string): string => operation.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();

/** The requests as commands of the AWS CLI; requests that depend on an earlier answer only after a run. */
const asCommands = (plan: WirePlan, run: PatternAnswer["run"], endpoint: string | undefined): string => {
  const sent = (run?.attempts ?? plan.requests).filter(({ input }) => isRow(input));
  const place = endpoint === undefined ? "" : ` --endpoint-url http://${endpoint}`;
  return sent
    .map(({ operation, input }) => `aws dynamodb ${kebab(operation)}${place} --cli-input-json ${quoted(JSON.stringify(input))}`)
    .join("\n");
};

const asTypeScript = (pattern: WirePattern, parameters: unknown, { file }: ModelAnswer): string =>
  [
    `import { ${pattern.graph} } from "./${file.replace(/^\.\//, "")}";`,
    "",
    `const db = ${pattern.graph}.connect();`,
    `const ask = ${pattern.source};`,
    `const { value, cost } = await ask(db, ${JSON.stringify(parameters)}).report();`,
    "console.log(value, cost);",
  ].join("\n");

/** One field for each parameter, typed as the example's value is. */
const Form = ({
  pattern,
  parameters,
  run,
}: {
  readonly pattern: WirePattern;
  readonly parameters: Parameters;
  readonly run: (parameters: Parameters) => void;
}): ReactNode => {
  const example = isRow(pattern.example) ? pattern.example : { value: pattern.example };
  const [texts, setTexts] = useState(() => Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, showPlain(value)])));
  const values = Object.fromEntries(Object.entries(example).map(([name, one]) => [name, readAs(texts[name] ?? "", one)]));
  const isValid = Object.values(values).every((value) => value !== undefined);
  const submit = (): void => {
    if (isValid) run(values);
  };
  return (
    <form
      className="parameters"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
      }}
    >
      {Object.entries(example).map(([name, one]) => (
        <label key={name}>
          <span>
            {name} <small>{typeName(one)}</small>
          </span>
          <input
            value={texts[name] ?? ""}
            spellCheck={false}
            autoComplete="off"
            aria-invalid={values[name] === undefined}
            onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
          />
        </label>
      ))}
      <button type="submit" className="primary" disabled={!isValid}>
        Run
      </button>
      {isValid ? null : <small role="alert">A value does not have the type of the example.</small>}
    </form>
  );
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

type Run =
  | { readonly state: "running" }
  | { readonly state: "done"; readonly answer: PatternAnswer }
  | { readonly state: "failed"; readonly error: ApiError };

const Answer = ({ run, again }: { readonly run: Run | undefined; readonly again: () => void }): ReactNode => {
  if (!run) return <Notice title="Not run yet.">The plan beside shows what a run would send.</Notice>;
  if (run.state === "running") return <Notice title="Running…" />;
  if (run.state === "failed") return <Failure error={run.error} again={again} />;
  const { run: ran } = run.answer;
  if (!ran) return null;
  return (
    <>
      {ran.cut ? <p className="plan-note">The answer is large: its lists are cut after 100 entries.</p> : null}
      <AnswerTable answer={ran.answer} />
    </>
  );
};

/** One pattern: its question, its form, and the answer beside the plan. */
const PatternPage = ({ pattern, query }: { readonly pattern: WirePattern; readonly query: Query }): ReactNode => {
  const model = useModel();
  const parameters = parametersOf(pattern, query["parameters"]);
  const sent = isRow(pattern.example) ? parameters : parameters["value"];
  const body = { name: pattern.name, parameters: sent };
  const { value, error, again } = useAnswer(JSON.stringify(body), (signal) => post<PatternAnswer>("patterns/plan", body, signal));
  const [run, setRun] = useState<Run>();
  const start = (values: Parameters): void => {
    go(addressOf("patterns", { name: pattern.name, parameters: JSON.stringify(values) }), { replace: true });
    setRun({ state: "running" });
    const given = isRow(pattern.example) ? values : values["value"];
    post<PatternAnswer>("patterns/run", { name: pattern.name, parameters: given }).then(
      (answer) => setRun({ state: "done", answer }),
      (failure: unknown) => setRun({ state: "failed", error: failure as ApiError }),
    );
  };
  const done = run?.state === "done" ? run.answer : undefined;
  const shown = done ?? value;
  return (
    <div className="pattern">
      <header className="pattern-head">
        <h1>{pattern.question}</h1>
        <div className="copies">
          <CopyButton label="Copy as TypeScript" text={asTypeScript(pattern, sent, model)} />
          {shown ? (
            <CopyButton label="Copy as AWS CLI" text={asCommands(shown.plan, shown.run, model.local ? model.place : undefined)} />
          ) : null}
        </div>
      </header>
      <Form pattern={pattern} parameters={parameters} run={start} />
      {shown ? <Figures {...shown} /> : null}
      {done?.run ? <Waterfall attempts={done.run.attempts} duration={done.run.duration} /> : null}
      <div className="halves">
        <section aria-label="Answer">
          <h2>Answer</h2>
          <Answer run={run} again={() => start(parameters)} />
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
            <details>
              <summary>The pattern&rsquo;s code</summary>
              <pre tabIndex={0}>{pattern.source}</pre>
            </details>
          </section>
          <section aria-label="Physical plan">
            <h2>
              Physical plan<small> what runs, in table words</small>
            </h2>
            {shown ? <PlanTree part={shown.plan.plan} /> : null}
          </section>
        </div>
      </div>
    </div>
  );
};

/** Every named pattern of the model: a list of questions, and one of them with its form. */
export const PatternsView = ({ query }: { readonly query: Query }): ReactNode => {
  const { patterns, file } = useModel();
  const pattern = patterns.find(({ name }) => name === query["name"]) ?? patterns[0];
  if (!pattern)
    return (
      <Notice title="The model names no patterns.">
        <p>
          Export the result of <code>definePatterns</code> from {file}, and start the studio again.
        </p>
      </Notice>
    );
  return (
    <div className="patterns-view">
      <nav aria-label="Patterns" className="pattern-list">
        <ul>
          {patterns.map(({ name, question }) => (
            <li key={name}>
              <a {...linkTo(addressOf("patterns", { name }))} aria-current={name === pattern.name ? "page" : undefined}>
                <b>{name}</b>
                <span>{question}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <PatternPage key={pattern.name} pattern={pattern} query={query} />
    </div>
  );
};
