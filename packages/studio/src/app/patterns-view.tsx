import { lazy, Suspense, useState, type KeyboardEvent, type ReactNode } from "react";
import type { ModelAnswer, PatternAnswer, WirePattern } from "../wire.ts";
import { post, useAnswer, useNewest, type ApiError } from "./api.ts";
import { asCommands, CallResult, continued, programOf, type Run, sourceOf } from "./call-result.tsx";
import { CopyButton } from "./item-panel.tsx";
import { Notice } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { isRow, showPlain } from "./pattern-answer.tsx";
import { addressOf, go, linkTo, type Query } from "./route.ts";
import "./patterns.css";

const ScratchPad = lazy(() => import("./scratch-view.tsx").then(({ ScratchPad }) => ({ default: ScratchPad })));

type Parameters = Readonly<Record<string, unknown>>;

/** An ISO date of a day that exists. A time without its zone is none: it would be one of the browser's. */
const readDate = (text: string): unknown => {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:T.*(?:Z|[+-]\d{2}:?\d{2}))?$/.exec(text) ?? [];
  const isDay = day !== undefined && new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  return isDay && !Number.isNaN(Date.parse(text)) ? { $date: new Date(text).toISOString() } : undefined;
};

/** What a person typed, as a value like the example's; undefined if it is not of that type. */
export const readAs = (text: string, example: unknown): unknown => {
  if (typeof example === "string") return text;
  if (isRow(example) && "$date" in example) return readDate(text);
  if (isRow(example) && "$bigint" in example) return /^-?\d+$/.test(text) ? { $bigint: text } : undefined;
  // A number would round it.
  if (typeof example === "number" && /^-?\d+$/.test(text.trim()) && !Number.isSafeInteger(Number(text))) return { $bigint: text.trim() };
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

const asTypeScript = (pattern: WirePattern, parameters: unknown, model: ModelAnswer): string =>
  programOf(model, [`const ask = ${pattern.source};`, `const { value, cost } = await ask(db, ${sourceOf(parameters)}).report();`]);

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

/** One pattern: its question, its form, and the answer beside the plan. */
const PatternPage = ({ pattern, query }: { readonly pattern: WirePattern; readonly query: Query }): ReactNode => {
  const model = useModel();
  const parameters = parametersOf(pattern, query["parameters"]);
  const sent = isRow(pattern.example) ? parameters : parameters["value"];
  const body = { name: pattern.name, parameters: sent };
  const { value, error, again } = useAnswer(JSON.stringify(body), (signal) => post<PatternAnswer>("patterns/plan", body, signal));
  const [run, setRun] = useState<Run>();
  const begin = useNewest();
  const send = (values: Parameters, cursor?: string): void => {
    const isNewest = begin();
    const before = cursor !== undefined && run?.state === "done" ? run.answer : undefined;
    setRun({ state: "running", before });
    const given = isRow(pattern.example) ? values : values["value"];
    post<PatternAnswer>("patterns/run", { name: pattern.name, parameters: given, ...(cursor === undefined ? {} : { cursor }) }).then(
      (answer) => isNewest() && setRun({ state: "done", answer: continued(before, answer) }),
      (failure: unknown) => isNewest() && setRun({ state: "failed", error: failure as ApiError }),
    );
  };
  const start = (values: Parameters): void => {
    go(addressOf("patterns", { name: pattern.name, parameters: JSON.stringify(values) }), { replace: true });
    send(values);
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
      <CallResult
        {...{ shown, run, error, again }}
        start={() => send(parameters)}
        proceed={(cursor) => send(parameters, cursor)}
        source={pattern.source}
      />
    </div>
  );
};

/** Every named pattern of the model and the scratch pad: a list of questions, and one of them with its form. */
export const PatternsView = ({ query }: { readonly query: Query }): ReactNode => {
  const { patterns, file } = useModel();
  const pattern = query["call"] === undefined ? (patterns.find(({ name }) => name === query["name"]) ?? patterns[0]) : undefined;
  return (
    <div className="patterns-view">
      <nav aria-label="Patterns" className="pattern-list">
        <ul>
          <li>
            <a {...linkTo(addressOf("patterns", { call: " " }))} aria-current={pattern ? undefined : "page"}>
              <b>Scratch pad</b>
              <span>Any call of the model: its plan, its price, its answer.</span>
            </a>
          </li>
          {patterns.map(({ name, question }) => (
            <li key={name}>
              <a {...linkTo(addressOf("patterns", { name }))} aria-current={name === pattern?.name ? "page" : undefined}>
                <b>{name}</b>
                <span>{question}</span>
              </a>
            </li>
          ))}
          {patterns.length === 0 ? (
            <li className="facts">
              The model names no patterns: export the result of <code>definePatterns</code> from {file}, and start the studio again.
            </li>
          ) : null}
        </ul>
      </nav>
      {pattern ? (
        <PatternPage key={pattern.name} pattern={pattern} query={query} />
      ) : (
        <Suspense fallback={<Notice title="Loading the scratch pad…" />}>
          <ScratchPad query={query} />
        </Suspense>
      )}
    </div>
  );
};
