import { useSyncExternalStore, type ReactNode } from "react";
import type { WireRow, WireType } from "../wire.ts";
import { idIn, labelOf } from "./form-parts.tsx";
import { counted, showText, TypeMark, useColour } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { addressOf, go, linkTo } from "./route.ts";
import { type Column, shownIn, titleOf } from "./row-cells.tsx";
import { editsOf, type RowEdits } from "./row-edits.ts";
import { AddParts, DeleteNode } from "./item-tools.tsx";
import { LinkForm, useFound } from "./row-forms.tsx";

/** The filters that an address has; none if it has no valid ones. */
export const parsedFilters = (filters: string | undefined): Readonly<Record<string, string>> => {
  try {
    const given: unknown = JSON.parse(filters ?? "{}");
    return typeof given === "object" && given !== null ? (given as Readonly<Record<string, string>>) : {};
  } catch {
    return {};
  }
};

/** What waits to be written to rows of a type. */
export const useEdits = (type: string): RowEdits => {
  const edits = editsOf(type);
  useSyncExternalStore(edits.subscribe, edits.version);
  return edits;
};

/** Which columns are shown, in which order. */
export const ColumnMenu = ({
  all,
  shown,
  change,
}: {
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly change: (columns: readonly Column[]) => void;
}): ReactNode => (
  <details className="menu">
    <summary className="button">Columns</summary>
    <ul>
      {all.map((column) => {
        const isShown = shown.some(({ name }) => name === column.name);
        return (
          <li key={column.name}>
            <label>
              <input
                type="checkbox"
                checked={isShown}
                disabled={isShown && shown.length === 1}
                onChange={() => change(isShown ? shown.filter(({ name }) => name !== column.name) : [...shown, column])}
              />
              {titleOf(column)}
            </label>
          </li>
        );
      })}
    </ul>
  </details>
);

/** What is chosen to read more nodes: no JSON, as ids are. */
const MORE = "more";

/** Chooses the node whose rows are shown with its users' fields. */
export const ParentSelect = ({ type, current }: { readonly type: WireType; readonly current: string | undefined }): ReactNode => {
  const parent = useModel().types.find(({ kind, name }) => kind === "node" && name === type.grid?.of);
  const pages = useFound({ type: parent?.name ?? "", sort: parent?.sorts[0]?.index, limit: "500" });
  if (!parent) return null;
  const rows = Array.from({ length: pages.count }, (_, at) => pages.row(at)).filter((row) => row !== undefined);
  const ids = rows.map((row) => ({ id: JSON.stringify(idIn(parent, row)), label: labelOf(parent, row) }));
  const known = current === undefined || ids.some(({ id }) => id === current) ? ids : [{ id: current, label: current }, ...ids];
  return (
    <select
      className="parent"
      aria-label={`Grid of a ${parent.name}`}
      value={current ?? ""}
      onChange={({ target }) =>
        target.value === MORE ? void pages.findMore() : go(addressOf("rows", { type: type.name, parent: target.value }))
      }
    >
      <option value="">Rows of every {parent.name}, without its fields</option>
      {known.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
      {pages.scanned === 0 || pages.isComplete ? null : (
        <option value={MORE}>
          {pages.count === 0 ? `No ${parent.name}` : "Not all"} in the first {counted(pages.scanned, "item")}: read on
        </option>
      )}
    </select>
  );
};

/** What waits to be written, with the ways to do it or to take it back. */
export const PendingBar = ({ edits, save }: { readonly edits: RowEdits; readonly save: () => void }): ReactNode =>
  edits.count === 0 ? null : (
    <div className="pending" role="status">
      <span>
        {counted(edits.count, "change")} in {counted(edits.rows, "row")}
        {edits.firstProblem === undefined ? null : <b className="problem"> {edits.firstProblem}</b>}
      </span>
      <button type="button" onClick={() => edits.undo()}>
        Undo <kbd>Ctrl Z</kbd>
      </button>
      <button type="button" onClick={() => edits.discard()}>
        Discard
      </button>
      <button type="button" className="primary" disabled={edits.isSaving} onClick={save}>
        {edits.isSaving ? "Saving…" : "Save"} <kbd>Ctrl S</kbd>
      </button>
    </div>
  );

/** One row in full, with the ways on from it. */
export const RowPanel = ({
  type,
  row,
  columns,
  close,
  gone,
  again,
}: {
  readonly type: WireType;
  readonly row: WireRow;
  /** Its values in the order in which they are shown. */
  readonly columns: readonly Column[];
  readonly close: () => void;
  /** Called when the row was deleted. */
  readonly gone: () => void;
  /** Called when the rows should be read again. */
  readonly again: () => void;
}): ReactNode => {
  const { writes } = useModel();
  const colour = useColour();
  return (
    <aside className="panel" aria-label="Row">
      <header className={colour(type.name)}>
        <TypeMark type={type.name} kind="node">
          {labelOf(type, row)}
        </TypeMark>
        <button type="button" className="quiet icon" aria-label="Close the row" onClick={close}>
          ✕
        </button>
      </header>
      <div className="panel-body">
        <section>
          <dl>
            {columns
              .filter(({ name }) => row[name] !== undefined)
              .map((column) => (
                <div key={column.name}>
                  <dt>{titleOf(column)}</dt>
                  <dd>
                    <span className="value">{showText(shownIn(column, row[column.name]), 20_000)}</span>
                  </dd>
                </div>
              ))}
          </dl>
          <p className="facts">
            <a {...linkTo(addressOf("graph", { type: type.name, id: JSON.stringify(idIn(type, row)) }))}>Open in the graph</a>
          </p>
        </section>
        {writes ? (
          <>
            <LinkForm type={type} row={row} done={again} />
            <AddParts type={type} row={row} added={again} />
            <DeleteNode type={type} row={row} gone={gone} />
          </>
        ) : null}
      </div>
    </aside>
  );
};
