import { lazy, Suspense, useMemo, useRef, useState, type ReactNode } from "react";
import type { ImportAnswer, RowsAnswer, WireRow, WireType } from "../wire.ts";
import { get, messageOf, post } from "./api.ts";
import { counted, Notice, showUnits } from "./item-parts.tsx";
import { gridTypes, useModel } from "./model.ts";
import { PAGE, Pages, usePages } from "./pages.ts";
import type { Query } from "./route.ts";
import { csvOf } from "./row-edits.ts";
import { Confirm, Problem } from "./form-parts.tsx";
import { RowForm } from "./row-forms.tsx";
import { columnsOf, type Column, writtenColumns, written } from "./row-cells.tsx";
import { ColumnMenu, RowPanel } from "./row-tools.tsx";
import { RowsFrame, useFirstRows } from "./rows-frame.tsx";
import "./rows.css";

const FieldsView = lazy(() => import("./fields-view.tsx").then(({ FieldsView }) => ({ default: FieldsView })));

const openRows = (type: WireType, { sort, reverse, filters }: Query): Pages<WireRow> =>
  new Pages(async (cursor, _, signal) => {
    const query = { type: type.name, sort, reverse, filters, cursor, limit: String(PAGE) };
    const { rows, next, scanned, cost } = await get<RowsAnswer>("rows", query, signal);
    return { rows, next, scanned, cost, mark: undefined };
  });

const saveFile = (name: string, text: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** Reads every row, page after page, and saves them as CSV. */
const ExportButton = ({
  type,
  query,
  columns,
}: {
  readonly type: WireType;
  readonly query: Query;
  readonly columns: readonly Column[];
}): ReactNode => {
  const [state, setState] = useState<string>();
  const run = async (): Promise<void> => {
    const rows: WireRow[] = [];
    let cursor: string | undefined;
    setState("Reading…");
    try {
      do {
        const { sort, reverse, filters } = query;
        const answer = await get<RowsAnswer>("rows", { type: type.name, sort, reverse, filters, cursor, limit: "1000" });
        rows.push(...answer.rows);
        cursor = answer.next;
        setState(`${counted(rows.length, "row")}…`);
      } while (cursor !== undefined);
      const names = columns.map(({ name }) => name);
      saveFile(`${type.name}.csv`, csvOf(names, rows));
      setState(undefined);
    } catch (error) {
      setState(messageOf(error));
    }
  };
  return (
    <button type="button" onClick={() => void run()} title="Reads all rows, and saves the shown columns">
      <span aria-live="polite">{state ?? "Export CSV"}</span>
    </button>
  );
};

/** The text of a file. @throws {Error} if it is not UTF-8: letters would be lost */
const textOf = async (file: File): Promise<string> => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not UTF-8. Save it as UTF-8, and choose it again.`);
  }
};

/** Chooses a CSV file and writes its rows. */
const ImportButton = ({ type, done }: { readonly type: WireType; readonly done: () => void }): ReactNode => {
  const input = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File>();
  const [answer, setAnswer] = useState<ImportAnswer>();
  const [problem, setProblem] = useState<string>();
  const [writing, setWriting] = useState<AbortController>();
  const run = async (chosen: File): Promise<void> => {
    const own = new AbortController();
    setWriting(own);
    setProblem(undefined);
    try {
      const answered = await post<ImportAnswer>("rows/import", { type: type.name, csv: await textOf(chosen) }, own.signal);
      if (!own.signal.aborted) setAnswer(answered);
    } catch (error) {
      if (!own.signal.aborted) setProblem(messageOf(error));
    }
    setWriting((last) => (last === own ? undefined : last));
    done();
  };
  const close = (): void => {
    writing?.abort();
    setWriting(undefined);
    setFile(undefined);
    setAnswer(undefined);
    setProblem(undefined);
    if (input.current) input.current.value = "";
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".csv,text/csv"
        hidden
        aria-label="CSV file"
        onChange={(event) => setFile(event.target.files?.[0])}
      />
      <button type="button" onClick={() => input.current?.click()}>
        Import CSV
      </button>
      {file ? (
        <Confirm
          title={answer ? `${counted(answer.rows - answer.failed, "row")} written` : `Import ${file.name}?`}
          action={answer ? undefined : writing ? "Writing…" : "Import"}
          disabled={writing !== undefined}
          confirm={() => void run(file)}
          close={close}
        >
          {answer ? (
            <>
              <p>
                {answer.failed === 0 ? "Every row was written." : `${counted(answer.failed, "row")} did not fit.`} It took{" "}
                {answer.cost.writeUnits.toLocaleString("en-US")} write units.
              </p>
              <ul className="failures">
                {answer.failures.map(({ line, problem: why }) => (
                  <li key={line}>
                    Line {line}: {why}
                  </li>
                ))}
              </ul>
            </>
          ) : (
            <p>
              Its first line names attributes of {type.name}. Rows are written whole: a row that exists loses attributes that the file
              lacks. Cancel ends the import; rows that were written stay.
            </p>
          )}
          <Problem text={problem} />
        </Confirm>
      ) : null}
    </>
  );
};

/** What can be done with all rows of a type. */
const Tools = ({
  type,
  query,
  all,
  shown,
  to,
  again,
}: {
  readonly type: WireType;
  readonly query: Query;
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly to: (query: Query) => void;
  readonly again: () => void;
}): ReactNode => {
  const { writes } = useModel();
  const [adding, setAdding] = useState(false);
  const created = (): void => {
    setAdding(false);
    again();
  };
  return (
    <>
      <ColumnMenu all={all} shown={shown} change={(columns) => to({ columns: written(columns) })} />
      <ExportButton type={type} query={query} columns={shown} />
      {writes ? (
        <>
          <ImportButton type={type} done={again} />
          <button type="button" onClick={() => setAdding(true)}>
            Add {type.name}
          </button>
        </>
      ) : null}
      {adding ? <RowForm type={type} close={() => setAdding(false)} created={created} /> : null}
    </>
  );
};

/** The columns of a type, and those that the address shows. */
const useColumns = (type: WireType, pages: Pages<WireRow>, text: string | undefined): readonly [readonly Column[], readonly Column[]] => {
  const rows = useFirstRows(pages);
  const all = useMemo(() => columnsOf(type, rows), [type, rows]);
  return [all, writtenColumns(text, all)];
};

const TypeRows = ({ type, query }: { readonly type: WireType; readonly query: Query }): ReactNode => {
  const { sort: index, reverse, filters } = query;
  const [pages, again] = usePages(JSON.stringify([type.name, index, reverse, filters]), () => openRows(type, query));
  const [all, shown] = useColumns(type, pages, query["columns"]);
  const sort = type.sorts.find((one) => one.index === index);
  const order = sort === undefined ? "in the order of the table" : `by ${sort.by.join(", ")}, with the index ${sort.index}`;
  return (
    <RowsFrame
      {...{ type, query, pages }}
      columns={shown}
      facts={`${showUnits(pages.readUnits)} · ${order}`}
      tools={(to) => <Tools {...{ type, query, all, shown, to, again }} />}
      panel={(row, { close, drop }) => <RowPanel type={type} row={row} columns={all} close={close} gone={drop} again={again} />}
    />
  );
};

/** All nodes of a type as a grid: columns moved, hidden and resized, sorted where an index can, filtered, edited in place. */
export const RowsView = ({ query }: { readonly query: Query }): ReactNode => {
  const types = gridTypes(useModel().types);
  const { type: name = types[0]?.name } = query;
  const type = types.find((one) => one.name === name);
  if (types.length === 0) return <Notice title="The model has no node with an item of its own." />;
  if (!type) return <Notice title={`There is no node type “${name ?? ""}” with rows.`} role="alert" />;
  const { grid } = type;
  const parent = grid && types.find((one) => one.name === grid.of);
  if (grid && parent && query["parent"] !== undefined)
    return (
      <Suspense fallback={<Notice title="Reading the grid…" />}>
        <FieldsView key={`${type.name} ${query["parent"]}`} type={{ ...type, grid }} parent={parent} query={query} />
      </Suspense>
    );
  return <TypeRows key={type.name} type={type} query={query} />;
};
