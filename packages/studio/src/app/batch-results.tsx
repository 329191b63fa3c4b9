import { useState, type ReactNode } from "react";
import type { ResultAnswer, ResultsAnswer, WireResult, WireResultRow } from "../wire-results.ts";
import { get, useAnswer, useLast } from "./api.ts";
import { counted, EndLink, Failure, Notice, showDistance, showSpan, showText, TypeMark } from "./item-parts.tsx";
import { showPlain } from "./pattern-answer.tsx";
import { addressOf, linkTo, type Query } from "./route.ts";
import "./patterns.css";
import "./batch-results.css";

/** Rows that are drawn at first, and with each press of the button below them. */
const STEP = 200;

const nouns = { rows: "row", file: "row", written: "item", validation: "difference" } as const;

/** How much there is of a result, in words. */
const sizeOf = ({ kind, count }: WireResult): string => {
  if (count === undefined) return "a file";
  return `${counted(count, nouns[kind])}${kind === "written" ? " written" : ""}`;
};

const showCell = (value: unknown): string => {
  // PageRanks and the like have more digits than anyone compares.
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(6)));
  return value === null ? "" : showText(showPlain(value));
};

/** A node that a result names: a way to the graph, and one to its partition. */
const NodeCell = ({ node }: { readonly node: WireResultRow["nodes"][string] }): ReactNode => {
  const { type, id, partition } = node;
  return (
    <span className="node-cell">
      <a {...linkTo(addressOf("graph", { type, id: JSON.stringify(id) }))} title={`Open ${type} in the graph`}>
        <TypeMark type={type}>{showText(Object.values(id).map(showPlain).join(" / "))}</TypeMark>
      </a>
      <EndLink end={{ role: type, type, id, partition }} />
    </span>
  );
};

const ResultTable = ({
  columns,
  rows,
  count,
}: Pick<ResultAnswer, "columns" | "rows"> & { readonly count: number | undefined }): ReactNode => {
  const [most, setMost] = useState(STEP);
  if (rows.length === 0) return null;
  return (
    <div className="answer-table result-table" tabIndex={0} role="region" aria-label="Rows">
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" className={typeof rows[0]?.cells[name] === "number" ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map(({ cells, nodes }, at) => (
            <tr key={at}>
              {columns.map((name) => {
                const node = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
                const text = showCell(cells[name]);
                return (
                  <td
                    key={name}
                    className={typeof cells[name] === "number" ? "number" : ""}
                    title={node ? undefined : showText(showPlain(cells[name]))}
                  >
                    {node ? <NodeCell node={node} /> : text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="foot">
        {rows.length > most ? (
          <button type="button" onClick={() => setMost(most + STEP)}>
            Show {Math.min(STEP, rows.length - most)} more
          </button>
        ) : null}{" "}
        {count !== undefined && count > rows.length ? `The first ${rows.length.toLocaleString("en-US")} of ${counted(count, "row")}.` : ""}
      </p>
    </div>
  );
};

/** One result: what it says, when it was made, and its rows. */
const Result = ({ file }: { readonly file: string }): ReactNode => {
  const { value, error, again } = useAnswer(file, (signal) => get<ResultAnswer>("results/file", { file }, signal));
  const shown = useLast(file, value);
  if (error) return <Failure error={error} again={again} />;
  if (!shown) return <Notice title="Reading the result…" />;
  const { job, kind, what, options, engine, at, milliseconds, extractedAt, count, columns, rows, differences, written } = shown;
  const isClean = differences !== undefined && count === 0;
  return (
    <article className="result" aria-label={job}>
      <header>
        <h2>
          {job} {options ? <code>{options}</code> : null}
        </h2>
        {what === undefined ? null : <p>{what}</p>}
        <p className="result-facts">
          <span title={new Date(at).toLocaleString("en-GB")}>{showDistance(at)}</span>
          {milliseconds === undefined ? null : <span>took {milliseconds < 1000 ? `${milliseconds} ms` : showSpan(milliseconds)}</span>}
          {engine === undefined ? null : <span>{engine === "spark" ? "Spark" : "DuckDB"}</span>}
          {extractedAt === undefined ? null : (
            <span title={new Date(extractedAt).toLocaleString("en-GB")}>extracted {showDistance(extractedAt)}</span>
          )}
          {count === undefined || differences ? null : <span>{sizeOf(shown)}</span>}
        </p>
      </header>
      {differences ? (
        <>
          <p className={isClean ? "good" : "problem"}>
            {isClean ? "All derived attributes are as the other rows say." : `${counted(count ?? 0, "difference")}.`}
          </p>
          <ul className="jobs">
            {differences.map(({ what: says, count: own, isHarmless }) => (
              <li key={says}>
                <span>
                  <b>{own.toLocaleString("en-US")}</b> {says}
                  {isHarmless ? " (harmless)" : ""}
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {written ? (
        <p>
          {counted(written.written, "item")} written with {written.writeUnits.toLocaleString("en-US")} WCU,{" "}
          {written.already.toLocaleString("en-US")} already up to date, {written.skipped.toLocaleString("en-US")} skipped.
        </p>
      ) : null}
      {kind === "rows" && rows.length === 0 ? <Notice title="The result has no rows." /> : null}
      <ResultTable key={file} columns={columns} rows={rows} count={differences || written ? undefined : count} />
    </article>
  );
};

/** The results of batch jobs: the last run of each job, and files that jobs wrote. */
export const BatchResults = ({ query }: { readonly query: Query }): ReactNode => {
  const { value, error, again } = useAnswer("results", (signal) => get<ResultsAnswer>("results", {}, signal));
  if (error) return <Failure error={error} again={again} />;
  if (!value) return <Notice title="Looking for results…" />;
  const { folder, results } = value;
  if (results.length === 0)
    return (
      <Notice title={folder === undefined ? "No batch job has been run here." : `There are no results in ${folder}.`}>
        <p>
          <code>edgetable batch run</code>, <code>derive</code> and <code>validate</code> record their last runs beside the lake, in{" "}
          <code>lake.results</code>. Start the studio there, or name a folder or file with <code>--results</code>.
        </p>
      </Notice>
    );
  const current = query["result"] ?? results.find(({ problem }) => problem === undefined)?.file;
  return (
    <div className="results">
      <nav aria-label="Results">
        <ul>
          {results.map((result) => {
            const { file, job, at, problem } = result;
            return (
              <li key={file}>
                <a {...linkTo(addressOf("live", { ...query, result: file }))} aria-current={file === current ? "true" : undefined}>
                  <b>{job}</b>
                  <small className={problem === undefined ? "" : "problem"}>
                    {problem === undefined ? sizeOf(result) : "cannot be shown"}
                  </small>
                  <small>{showDistance(at)}</small>
                </a>
              </li>
            );
          })}
        </ul>
        <button type="button" className="quiet" onClick={again}>
          Look again
        </button>
      </nav>
      {current === undefined ? <Notice title="None of the files can be shown." /> : <Result key={current} file={current} />}
    </div>
  );
};
