import { useMemo, useState, type ReactNode } from "react";
import type { FieldsAnswer, GroupsAnswer, RetypeAnswer, WireField, WireGrid, WireRow, WireType } from "../wire.ts";
import { get, post, useAnswer, useLast } from "./api.ts";
import { FieldDialog, type Send } from "./field-dialog.tsx";
import { counted, showUnits } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { Pages, usePages } from "./pages.ts";
import { showPlain } from "./pattern-answer.tsx";
import { addressOf, go, type Query } from "./route.ts";
import { type Column, columnsOf, textIn, titleOf, written as columnsText, writtenColumns } from "./row-cells.tsx";
import { RowForm } from "./row-forms.tsx";
import { ColumnMenu, parsedFilters, RowPanel } from "./row-tools.tsx";
import { RowsFrame, useFirstRows } from "./rows-frame.tsx";
import "./fields.css";

/** Rows of one request: each takes its values besides. */
const PAGE = 100;
const PREFIX = "field:";

type GridType = WireType & { readonly grid: WireGrid };
/** The pages of a grid; `tell` gets the fields that come with each. */
const openGrid = (
  type: WireType,
  { parent, sort, reverse, filters }: Query,
  tell: (fields: readonly WireField[]) => void,
): Pages<WireRow> =>
  new Pages(async (cursor, _, signal) => {
    const query = { type: type.name, parent, sort, reverse, filters, cursor, limit: String(PAGE) };
    const answer = await get<FieldsAnswer>("grid", query, signal);
    tell(answer.fields);
    return { ...answer, mark: undefined };
  });

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
  { pages, fields = [] }: { readonly pages: Pages<WireRow>; readonly fields: readonly WireField[] | undefined },
  text: string | undefined,
  parentId: readonly string[],
): readonly [all: readonly Column[], shown: readonly Column[]] => {
  const rows = useFirstRows(pages);
  const all = useMemo(() => {
    const own = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith(PREFIX))));
    const columns = fields.map((field): Column => {
      const column: Column = { name: `${PREFIX}${field.fieldId}`, width: 0, kind: "attribute", field };
      const longest = Math.max(...rows.map((row) => textIn(column, row[column.name]).length));
      // A header has its sign, its arrow and its menu beside the name.
      return { ...column, width: Math.min(300, Math.max(field.name.length * 7.6 + 100, longest * 7 + (field.choices ? 60 : 34))) };
    });
    return [...columnsOf(type, own), ...columns];
  }, [type, rows, fields]);
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
    <>
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
    </>
  );
};

/** Sends a change of a field; the view no longer sorts, filters or groups by a field that is gone. */
const sendFor =
  (type: GridType, { parent, sort, filters, group }: Query, to: (query: Query) => void): Send =>
  async (change) => {
    const parentId = JSON.parse(parent ?? "{}") as WireRow;
    const answer = await post<RetypeAnswer>("fields", { type: type.name, parent: parentId, ...change });
    if (change.change !== "delete") return answer;
    const gone = `${PREFIX}${change.fieldId}`;
    const { [gone]: _, ...left } = parsedFilters(filters);
    to({
      filters: Object.keys(left).length === 0 ? undefined : JSON.stringify(left),
      ...(sort === gone ? { sort: undefined, reverse: undefined } : {}),
      ...(group === gone ? { group: undefined } : {}),
    });
    return answer;
  };

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
  const { writes } = useModel();
  const { parent: parentText, sort, reverse, filters, group: grouped } = query;
  const [dialog, setDialog] = useState<{ readonly field: WireField | undefined }>();
  const [fields, setFields] = useState<readonly WireField[]>();
  const [pages, again] = usePages(JSON.stringify([type.name, parentText, sort, reverse, filters]), () => openGrid(type, query, setFields));
  const [written, setWritten] = useState(0);
  const [all, columns] = useColumns(type, { pages, fields }, query["columns"], parent.idFields);
  const sorts = [...type.grid.sortable, ...(fields ?? []).map(({ fieldId }) => `${PREFIX}${fieldId}`)].map((name) => ({
    index: name,
    by: [name],
  }));
  const refresh = (): void => {
    setWritten((count) => count + 1);
    again();
  };
  const to = (more: Query): void => go(addressOf("rows", { ...query, ...more }), { replace: true });
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
  const group = columns.find(({ name }) => name === grouped);
  return (
    <>
      <RowsFrame
        {...{ type, query, pages, columns, sorts, menu }}
        facts={`${counted(fields?.length ?? 0, "field")} · ${showUnits(pages.readUnits)}`}
        tools={() => (
          <Tools
            {...{ type, query, all, to }}
            shown={columns}
            parent={parent}
            again={refresh}
            addField={() => setDialog({ field: undefined })}
          />
        )}
        above={group ? <Groups type={type} query={query} column={group} change={to} version={written} /> : null}
        isReady={fields !== undefined}
        panel={(row, { close, drop }) => (
          <RowPanel
            {...{ type, row, close }}
            columns={all}
            gone={() => {
              drop();
              refresh();
            }}
            again={refresh}
          />
        )}
        written={() => setWritten((count) => count + 1)}
      />
      {dialog ? (
        <FieldDialog field={dialog.field} fields={fields ?? []} send={sendFor(type, query, to)} close={closeDialog} done={closeDialog} />
      ) : null}
    </>
  );
};
