import type { ReactNode } from "react";
import type { PatternAnswer, SentAttempt, WireCost } from "../wire.ts";
import { counted, Notice, showText, showUnits } from "./item-parts.tsx";

export type Row = Readonly<Record<string, unknown>>;

/** True for an object of JSON: not a list. */
export const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** What JSON lacks comes as `{"$date": …}`, `{"$bigint": …}`, `{"$set": …}` or `{"$bytes": …}`; an object that looks like it, as `{"$object": …}`. */
const unmarked = (value: unknown): unknown => {
  if (!isRow(value)) return value;
  const [[name, inner] = ["", undefined], more] = Object.entries(value);
  if (more !== undefined) return value;
  switch (name) {
    case "$set":
      return Array.isArray(inner) ? `{${inner.map(showPlain).join(", ")}}` : inner;
    case "$object":
      return Object.fromEntries(inner as readonly (readonly [string, unknown])[]);
    case "$date":
    case "$bigint":
    case "$bytes":
      return inner;
    default:
      return value;
  }
};

/** A value of an answer as text on one line. */
export const showPlain = (given: unknown): string => {
  const value = unmarked(given);
  if (value === undefined) return "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
};

/** Nested rows, such as an entry's `edge` and `node`, become columns `edge.at`, `node.name`. */
const flattened = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, given]): readonly (readonly [string, unknown])[] => {
      const value = unmarked(given);
      if (!isRow(value) || Object.keys(value).length === 0) return [[name, value]];
      return Object.entries(flattened(value)).map(([inner, one]) => [`${name}.${inner}`, one] as const);
    }),
  );

const rowsOf = (answer: unknown): readonly Row[] | undefined => {
  const list = isRow(answer) && Array.isArray(answer["items"]) ? (answer["items"] as readonly unknown[]) : answer;
  return Array.isArray(list) && list.every(isRow) ? list.map(flattened) : undefined;
};

/** The rows of an answer as a table; another answer as JSON. */
export const AnswerTable = ({ answer }: { readonly answer: unknown }): ReactNode => {
  const rows = rowsOf(answer);
  if (answer === null) return <Notice title="Nothing was found." />;
  if (!rows)
    return (
      <pre tabIndex={0} className="answer-json">
        {showText(JSON.stringify(answer, null, 2), Number.POSITIVE_INFINITY)}
      </pre>
    );
  const isEnded = isRow(answer) && answer["complete"] === false;
  if (rows.length === 0) return <Notice title={isEnded ? "None found so far." : "No rows."} />;
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return (
    <div className="answer-table" tabIndex={0} role="region" aria-label="Answer">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((name) => (
                <td key={name} className={typeof row[name] === "number" ? "number" : ""}>
                  {showText(showPlain(row[name]))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

/** A predicted figure beside the measured one. */
const Figure = ({
  title,
  predicted,
  measured,
}: {
  readonly title: string;
  readonly predicted: string;
  readonly measured: string | undefined;
}): ReactNode => (
  <div className="figure">
    <dt>{title}</dt>
    <dd>
      <b>{measured ?? "–"}</b>
      <small>predicted {predicted}</small>
    </dd>
  </div>
);

const showCapacity = ({ readUnits, writeUnits = 0 }: WireCost): string => {
  const writes = `${Number(writeUnits.toFixed(2)).toLocaleString("en-US")} WCU`;
  return writeUnits === 0 ? showUnits(readUnits) : readUnits === 0 ? writes : `${showUnits(readUnits)}, ${writes}`;
};

/** What the plan predicts, and what a run took. */
export const Figures = ({ plan, run }: PatternAnswer): ReactNode => (
  <dl className="figures">
    <Figure title="Requests" predicted={String(plan.cost.requests)} measured={run && String(run.cost.requests)} />
    <Figure title="Capacity" predicted={showCapacity(plan.cost)} measured={run && showCapacity(run.cost)} />
    <div className="figure">
      <dt>Time</dt>
      <dd>
        <b>{run ? `${run.duration.toFixed(1)} ms` : "–"}</b>
        <small>{plan.kind === "write" ? "a write" : plan.consistency === "strong" ? "strongly consistent" : "eventually consistent"}</small>
      </dd>
    </div>
  </dl>
);

/** Each attempt as a bar on the time of the call. */
export const Waterfall = ({ attempts, duration }: { readonly attempts: readonly SentAttempt[]; readonly duration: number }): ReactNode => (
  <ol className="waterfall" aria-label="Requests over time">
    {attempts
      .toSorted((one, other) => one.start - other.start)
      .map(({ operation, index, start, duration: own, readUnits, items, error }, at) => (
        <li key={at}>
          <span className="waterfall-name">
            {operation}
            {index === undefined ? null : <small> {index}</small>}
          </span>
          <span className="waterfall-track">
            <span
              className={error === undefined ? "bar" : "bar failed"}
              style={{ left: `${(start / duration) * 100}%`, width: `${Math.max(0.8, (own / duration) * 100)}%` }}
            />
          </span>
          <span className="waterfall-facts">{error ?? `${own.toFixed(1)} ms · ${counted(items, "item")} · ${showUnits(readUnits)}`}</span>
        </li>
      ))}
  </ol>
);
