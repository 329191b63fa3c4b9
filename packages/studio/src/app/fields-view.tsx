import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from "react";
import type { FieldsAnswer, GroupsAnswer, RetypeAnswer, WireField, WireGrid, WireRow, WireType } from "../wire.ts";
import { get, post, useAnswer, useLast } from "./api.ts";
import { FieldDialog, type Send } from "./field-dialog.tsx";
import { Confirm, idIn } from "./form-parts.tsx";
import { counted, Failure, Notice, showUnits, TypeMark } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { Pages } from "./pages.ts";
import { showPlain } from "./pattern-answer.tsx";
import { addressOf, go, type Query } from "./route.ts";
import { type Column, columnsOf, textIn, titleOf, written as columnsText, writtenColumns } from "./row-cells.tsx";
import { withFields } from "./row-edits.ts";
import { RowForm } from "./row-forms.tsx";
import { RowGrid } from "./row-grid.tsx";
import { ColumnMenu, ParentSelect, parsedFilters, PendingBar, RowPanel, useEdits } from "./row-tools.tsx";
import "./fields.css";

/** Rows of one request: each takes its values besides. */
const PAGE = 100;
/** Rows by which the widths of columns are chosen. */
const SEEN = 100;
const PREFIX = "field:";

type GridType = WireType & { readonly grid: WireGrid };
type GridPages = Pages<WireRow>;

interface Read {
  readonly pages: GridPages;
  readonly fields: readonly WireField[] | undefined;
  readonly again: () => void;
}

const useGrid = (type: WireType, { parent, sort, reverse, filters }: Query): Read => {
  const [tries, setTries] = useState(0);
  const [fields, setFields] = useState<readonly WireField[]>();
  const open = (): GridPages =>
    new Pages(async (cursor, _, signal) => {
      const query = { type: type.name, parent, sort, reverse, filters, cursor, limit: String(PAGE) };
      const answer = await get<FieldsAnswer>("grid", query, signal);
      setFields(answer.fields);
      return { ...answer, mark: undefined };
    });
  const [pages, setPages] = useState(open);
  useEffect(() => {
    const fresh = open();
    setPages(fresh);
    void fresh.more();
    return () => fresh.close();
  }, [type.name, parent, sort, reverse, filters, tries]);
  useSyncExternalStore(pages.subscribe, pages.version);
  return { pages, fields, again: () => setTries((count) => count + 1) };
};

/** How many rows have each value of a column; a click shows these alone. */
const Groups = ({
  type,
  query,
  column,
  change,
  version,
}: {
  readonly type: WireType;
  readonly query: Query;
  readonly column: Column;
  readonly change: (query: Query) => void;
  /** Counts the writes: what was counted before one is counted again. */
  readonly version: number;
}): ReactNode => {
  const filters = parsedFilters(query["filters"]);
  const { [column.name]: chosen, ...others } = filters;
  const asked = { type: type.name, parent: query["parent"], column: column.name, filters: JSON.stringify(others) };
  const key = `${version} ${JSON.stringify(asked)}`;
  const { value: now, error } = useAnswer(key, (signal) => get<GroupsAnswer>("grid/groups", asked, signal));
  const value = useLast(JSON.stringify(asked), now);
  if (error) return <p className="groups problem">{error.message}</p>;
  const choose = (text: string): void => {
    const next = text === chosen ? others : { ...others, [column.name]: text };
    change({ filters: Object.keys(next).length === 0 ? undefined : JSON.stringify(next) });
  };
  return (
    <ul className="groups" aria-label={`Groups by ${titleOf(column)}`}>
      <li>
        <b>{titleOf(column)}</b>
      </li>
      {value?.groups.map(({ value: one, rows }) => {
        const shown = textIn(column, one) || showPlain(one);
        const text = one === undefined ? "=" : `=${shown}`;
        return (
          <li key={text}>
            <button type="button" aria-pressed={chosen === text} onClick={() => choose(text)}>
              {one === undefined ? "none" : shown} <small>{rows.toLocaleString("en-US")}</small>
            </button>
          </li>
        );
      })}
      {value?.complete === false ? <li>not all were counted</li> : null}
    </ul>
  );
};

/** The columns: what the type has, and then the fields in their order. */
const useColumns = (
  type: GridType,
  { pages, fields = [] }: Pick<Read, "pages" | "fields">,
  text: string | undefined,
  parentId: readonly string[],
): readonly [all: readonly Column[], shown: readonly Column[]] => {
  const first = Math.min(pages.count, SEEN);
  const all = useMemo(() => {
    const rows = Array.from({ length: first }, (_, at) => pages.row(at)).filter((row) => row !== undefined);
    const own = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith(PREFIX))));
    const columns = fields.map((field): Column => {
      const column: Column = { name: `${PREFIX}${field.fieldId}`, width: 0, kind: "attribute", field };
      const longest = Math.max(...rows.map((row) => textIn(column, row[column.name]).length));
      // A header has its sign, its arrow and its menu beside the name.
      return { ...column, width: Math.min(300, Math.max(field.name.length * 7.6 + 100, longest * 7 + (field.choices ? 60 : 34))) };
    });
    return [...columnsOf(type, own), ...columns];
  }, [type, pages, first, fields]);
  // The parent is the same in every row.
  return [all, text ? writtenColumns(text, all) : all.filter(({ name }) => !parentId.includes(name))];
};

const GroupSelect = ({
  columns,
  current,
  change,
}: {
  readonly columns: readonly Column[];
  readonly current: string | undefined;
  readonly change: (query: Query) => void;
}): ReactNode => (
  <select aria-label="Group by" value={current ?? ""} onChange={(event) => change({ group: event.target.value || undefined })}>
    <option value="">No groups</option>
    {columns
      .filter(({ kind }) => kind === "attribute")
      .map((column) => (
        <option key={column.name} value={column.name}>
          by {titleOf(column)}
        </option>
      ))}
  </select>
);

/** What can be done with the rows and the columns of a grid. */
const Tools = ({
  type,
  parent,
  query,
  all,
  shown,
  to,
  again,
  addField,
}: {
  readonly type: WireType;
  readonly parent: WireType;
  readonly query: Query;
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly to: (query: Query) => void;
  readonly again: () => void;
  readonly addField: () => void;
}): ReactNode => {
  const { writes } = useModel();
  const [adding, setAdding] = useState(false);
  const parentId = JSON.parse(query["parent"] ?? "{}") as WireRow;
  return (
    <div className="tools">
      <ColumnMenu all={all} shown={shown} change={(columns) => to({ columns: columnsText(columns) })} />
      <GroupSelect columns={shown} current={query["group"]} change={to} />
      {writes ? (
        <>
          <button type="button" onClick={() => setAdding(true)}>
            Add {type.name}
          </button>
          <button type="button" className="primary" onClick={addField}>
            Add field
          </button>
        </>
      ) : null}
      {adding ? (
        <RowForm
          type={type}
          given={Object.fromEntries(parent.idFields.map((name) => [name, showPlain(parentId[name])]))}
          close={() => setAdding(false)}
          created={() => {
            setAdding(false);
            again();
          }}
        />
      ) : null}
    </div>
  );
};

/** The grid, what waits to be written, and how the view changes. */
const useFieldsGrid = (type: GridType, parent: WireType, query: Query) => {
  const { local } = useModel();
  const read = useGrid(type, query);
  const { pages, fields, again } = read;
  const edits = useEdits(type.name);
  const [asking, setAsking] = useState(false);
  const [written, setWritten] = useState(0);
  const [all, columns] = useColumns(type, read, query["columns"], parent.idFields);
  const sorted: WireType = useMemo(
    () => ({
      ...type,
      sorts: [...type.grid.sortable, ...(fields ?? []).map(({ fieldId }) => `${PREFIX}${fieldId}`)].map((name) => ({
        index: name,
        by: [name],
      })),
    }),
    [type, fields],
  );
  const keyOf = (row: WireRow): string => JSON.stringify(idIn(type, row));
  const to = (more: Query): void => go(addressOf("rows", { ...query, ...more }), { replace: true });
  const refresh = (): void => {
    setWritten((count) => count + 1);
    again();
  };
  const write = async (): Promise<void> => {
    setAsking(false);
    await edits.save((key, row) => {
      const isIt = (one: WireRow): boolean => keyOf(one) === key;
      if (row) pages.replace(isIt, withFields(pages.held(isIt), row));
    });
    setWritten((count) => count + 1);
  };
  const save = (): void => (local ? void write() : setAsking(true));
  const parentId = JSON.parse(query["parent"] ?? "{}") as WireRow;
  const send: Send = async (change) => {
    const answer = await post<RetypeAnswer>("fields", { type: type.name, parent: parentId, ...change });
    if (change.change !== "delete") return answer;
    // The view no longer sorts, filters or groups by what is gone.
    const gone = `${PREFIX}${change.fieldId}`;
    const { [gone]: _, ...filters } = parsedFilters(query["filters"]);
    to({
      filters: Object.keys(filters).length === 0 ? undefined : JSON.stringify(filters),
      ...(query["sort"] === gone ? { sort: undefined, reverse: undefined } : {}),
      ...(query["group"] === gone ? { group: undefined } : {}),
    });
    return answer;
  };
  return { read, all, columns, sorted, edits, keyOf, to, refresh, write, save, send, asking, written, stopAsking: () => setAsking(false) };
};

/** A row in full, its fields under their names. */
const SelectedRow = ({
  type,
  columns,
  row,
  to,
  refresh,
}: {
  readonly type: WireType;
  readonly columns: readonly Column[];
  readonly row: WireRow;
  readonly to: (query: Query) => void;
  readonly refresh: () => void;
}): ReactNode => (
  <RowPanel
    type={type}
    row={Object.fromEntries(columns.map((column) => [titleOf(column), row[column.name]]))}
    columns={columns.map(titleOf)}
    close={() => to({ row: undefined })}
    gone={() => {
      to({ row: undefined });
      refresh();
    }}
    again={refresh}
  />
);

/** The rows of one node with the fields that its users have defined, as an application would show them. */
export const FieldsView = ({
  type,
  parent,
  query,
}: {
  readonly type: GridType;
  readonly parent: WireType;
  readonly query: Query;
}): ReactNode => {
  const { place, writes } = useModel();
  const [dialog, setDialog] = useState<{ readonly field: WireField | undefined }>();
  const grid = useFieldsGrid(type, parent, query);
  const { all, columns, edits, keyOf, to, refresh } = grid;
  const { pages, fields } = grid.read;
  const id = query["row"];
  const found = id === undefined ? undefined : pages.held((row) => keyOf(row) === id);
  const selected = useLast(id ?? "", found);
  const group = columns.find(({ name }) => name === query["group"]);
  const count = pages.isComplete ? counted(pages.count, "row") : `${pages.count.toLocaleString("en-US")}+ rows`;
  const closeDialog = (): void => {
    setDialog(undefined);
    refresh();
  };
  const menu = ({ field }: Column): ReactNode =>
    field && writes ? (
      <button type="button" className="quiet field-menu" aria-label={`Change the field ${field.name}`} onClick={() => setDialog({ field })}>
        ⋯
      </button>
    ) : null;
  return (
    <div className="table-view">
      <div className="table-main">
        <div className="heading">
          <h1>
            <TypeMark type={type.name} kind="node" />
          </h1>
          <ParentSelect type={type} current={query["parent"]} />
          <p aria-live="polite">
            {count} · {counted(fields?.length ?? 0, "field")} · {showUnits(pages.readUnits)}
          </p>
          <Tools
            {...{ type, query, all, to }}
            shown={columns}
            parent={parent}
            again={refresh}
            addField={() => setDialog({ field: undefined })}
          />
        </div>
        <PendingBar edits={edits} save={grid.save} />
        {group ? <Groups type={type} query={query} column={group} change={to} version={grid.written} /> : null}
        {pages.error && pages.count === 0 ? (
          <Failure error={pages.error} again={() => pages.retry()} />
        ) : fields === undefined ? (
          <Notice title="Reading the grid…" />
        ) : (
          <RowGrid
            {...{ pages, edits, query, keyOf, columns, menu }}
            save={grid.save}
            type={grid.sorted}
            filters={parsedFilters(query["filters"])}
            editable={writes}
            change={to}
            select={(row) => to({ row: row && keyOf(row) })}
          />
        )}
      </div>
      {selected ? <SelectedRow {...{ type, columns, to, refresh }} row={selected} /> : null}
      {dialog ? <FieldDialog field={dialog.field} send={grid.send} close={closeDialog} done={closeDialog} /> : null}
      {grid.asking ? (
        <Confirm title={`Write to ${place}?`} action="Write" confirm={() => void grid.write()} close={grid.stopAsking}>
          <p>
            This table is not on this machine: {counted(edits.count, "change")} in {counted(edits.rows, "row")}.
          </p>
        </Confirm>
      ) : null}
    </div>
  );
};
