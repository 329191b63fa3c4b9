import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";
import type { WireRow } from "../wire.ts";
import { idIn } from "./form-parts.tsx";
import { counted, Failure, Notice } from "./item-parts.tsx";
import type { Pages } from "./pages.ts";
import {
  type Column,
  ColumnHead,
  DataCell,
  type Editing,
  FilterCell,
  type HeadProps,
  isSave,
  moved,
  type Place,
  textIn,
} from "./row-cells.tsx";
import { type RowEdits, withBreaksOf } from "./row-edits.ts";
import { useRowWindow } from "./row-window.ts";

const ROW = 32;

interface RowGridProps extends HeadProps {
  readonly pages: Pages<WireRow>;
  readonly edits: RowEdits;
  readonly editable: boolean;
  readonly keyOf: (row: WireRow) => string;
  readonly save: () => void;
  readonly select: (row: WireRow | undefined) => void;
}

const Foot = ({ pages, filtered }: { readonly pages: Pages<WireRow>; readonly filtered: boolean }): ReactNode => {
  if (pages.error) return <Failure error={pages.error} again={() => pages.retry()} />;
  if (pages.isPaused && !pages.isComplete)
    return (
      <Notice title={`${pages.scanned.toLocaleString("en-US")} items were read, ${counted(pages.count, "row")} found.`}>
        <button type="button" onClick={() => pages.retry()}>
          Keep reading
        </button>
      </Notice>
    );
  if (!pages.isComplete) return <span className="reading">Reading…</span>;
  return pages.count > 0 ? null : <span className="reading">{filtered ? "No row passes the filters." : "There are no rows yet."}</span>;
};

/** The text that waits for a cell; empty if its value is to be removed, undefined if nothing waits. */
const waitingText = (edits: RowEdits, key: string, name: string): string | undefined => {
  const cell = edits.cell(key, name);
  if (cell === undefined) return undefined;
  return cell !== null && "text" in cell ? cell.text : "";
};

/** Scrolls sideways as far as a column needs to be in view. */
const showColumn = (scroller: HTMLElement, columns: readonly Column[], at: number): void => {
  const left = columns.slice(0, at).reduce((sum, { width }) => sum + width, 0);
  const right = left + (columns[at]?.width ?? 0);
  if (right > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = right - scroller.clientWidth;
  if (left < scroller.scrollLeft) scroller.scrollLeft = left;
};

/** A cell that is edited, as it was when its edit began. */
interface Edited {
  readonly row: WireRow;
  readonly column: Column;
}

/** The cell that is edited. What was typed waits for its row, also if the list is read anew or filtered meanwhile. */
const useEditing = ({ type, pages, edits, keyOf }: RowGridProps, row: WireRow | undefined, column: Column | undefined) => {
  const [edited, setEdited] = useState<Edited>();
  const typed = useRef("");
  const isEdited = (of: WireRow | undefined): boolean => edited !== undefined && of !== undefined && keyOf(of) === keyOf(edited.row);
  const isInPlace = isEdited(row) && column?.name === edited?.column.name;
  const put = (of: WireRow, one: Column, cell: { readonly text: string } | null): void => {
    const [key, stored] = [keyOf(of), of[one.name]];
    const before = textIn(one, stored);
    const next = cell && { text: withBreaksOf(before, cell.text) };
    const isSame = next === null ? stored === undefined : next.text === before;
    if (isSame && edits.cell(key, one.name) === undefined) return;
    edits.change(key, { id: idIn(type, of), was: of }, one.name, isSame ? undefined : next);
  };
  const end = (): void => {
    if (edited) put((isInPlace ? row : pages.held(isEdited)) ?? edited.row, edited.column, { text: typed.current });
    setEdited(undefined);
  };
  const latest = useRef(end);
  latest.current = end;
  useEffect(() => (edited && !isInPlace ? latest.current() : undefined), [edited, isInPlace]);
  useEffect(() => () => latest.current(), []);
  return {
    isEditing: edited !== undefined && isInPlace,
    typed,
    put,
    begin: (of: WireRow, one: Column, text: string): void => {
      typed.current = text;
      setEdited({ row: of, column: one });
    },
    end,
    cancel: () => setEdited(undefined),
  };
};

/** The active cell, what is edited in it, and what keys do with it. */
const useActiveCell = (props: RowGridProps, scroller: RefObject<HTMLDivElement | null>, show: (row: number) => void) => {
  const { pages, edits, columns, editable, keyOf, save, select } = props;
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const most = { row: Math.max(0, pages.count - 1), column: columns.length - 1 };
  const row = pages.row(active.row);
  const column = columns[active.column];
  const mayEdit = editable && row !== undefined && column?.kind === "attribute";
  const { isEditing, typed, put, begin, end, cancel } = useEditing(props, row, column);
  const moveTo = (place: Place): void => {
    setActive(place);
    show(place.row);
    if (scroller.current) showColumn(scroller.current, columns, place.column);
    scroller.current?.focus({ preventScroll: true });
  };
  const textOf = (of: WireRow, one: Column): string => waitingText(edits, keyOf(of), one.name) ?? textIn(one, of[one.name]);
  const commit = (text: string, move: "down" | "right" | undefined): void => {
    typed.current = text;
    end();
    const { row: at, column: place } = active;
    if (move === undefined) return;
    moveTo({
      row: Math.min(most.row, at + (move === "down" ? 1 : 0)),
      column: Math.min(most.column, place + (move === "right" ? 1 : 0)),
    });
  };
  const onCommand = (key: string): boolean => {
    if (key === "z") edits.undo();
    else if (key === "c" && row && column) void navigator.clipboard.writeText(textOf(row, column));
    else if (key === "enter") select(row);
    else return false;
    return true;
  };
  /** @returns whether the key did something */
  const press = (event: KeyboardEvent): boolean => {
    const { key, ctrlKey, metaKey } = event;
    // Some keyboards write with it, and say that Ctrl and Alt are pressed.
    const isWriting = event.getModifierState("AltGraph");
    const isCommand = (ctrlKey || metaKey) && !isWriting;
    const altKey = event.altKey && !isWriting;
    if (isCommand && onCommand(key.toLowerCase())) return true;
    const to = moved(event, active, most);
    if (to) moveTo(to);
    else if (key === "Enter" && !mayEdit) select(row);
    else if (key === "Escape") select(undefined);
    else if (!mayEdit) return false;
    else if (key === "Enter" || key === "F2") begin(row, column, textOf(row, column));
    else if (key === "Delete" || key === "Backspace") put(row, column, null);
    else if (key.length === 1 && !isCommand && !altKey) begin(row, column, key);
    else return false;
    return true;
  };
  const onKey = (event: KeyboardEvent): void => {
    if (isSave(event)) {
      scroller.current?.focus({ preventScroll: true });
      save();
    } else if (event.target !== scroller.current || !press(event)) return;
    event.preventDefault();
  };
  const edited: Editing | undefined = isEditing
    ? { start: typed.current, typed: (text) => (typed.current = text), commit, cancel: () => (cancel(), moveTo(active)) }
    : undefined;
  const choose = (place: Place): void => {
    // An editor that was scrolled out of view does not lose the focus.
    end();
    moveTo(place);
  };
  const open = (of: WireRow, one: Column, isReadOnly: boolean): void => (isReadOnly ? select(of) : begin(of, one, textOf(of, one)));
  return { active, edited, choose, open, onKey };
};

const GridHeads = ({ columns, filters, ...head }: HeadProps): ReactNode => (
  <div className="rows-head" role="rowgroup">
    <div role="row" aria-rowindex={1}>
      {columns.map((one, at) => (
        <ColumnHead key={one.name} column={one} {...head} columns={columns} at={at} />
      ))}
    </div>
    <div role="row" aria-rowindex={2}>
      {columns.map((one) => (
        <FilterCell key={one.name} column={one} filters={filters} change={head.change} />
      ))}
    </div>
  </div>
);

/** The rows in view, with a cell that the keyboard moves and edits. */
export const RowGrid = (props: RowGridProps): ReactNode => {
  const { type, query, pages, edits, columns, filters, change, editable, keyOf, menu } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { count } = pages;
  const { visible, height, holder, show } = useRowWindow({ count: count + 1, row: ROW, scroller, overscan: 6 });
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - 40) void pages.more();
  });
  const { active, edited, choose, open, onKey } = useActiveCell(props, scroller, show);
  const cellsOf = (row: WireRow, at: number): ReactNode => {
    const key = keyOf(row);
    return columns.map((column, place) => {
      const isActive = at === active.row && place === active.column;
      const isReadOnly = column.kind !== "attribute" || !editable;
      return (
        <DataCell
          key={column.name}
          {...{ column, isActive, isReadOnly }}
          value={row[column.name]}
          waiting={waitingText(edits, key, column.name)}
          place={{ row: at, column: place }}
          isRefused={edits.problem(key) !== undefined}
          editing={isActive ? edited : undefined}
          choose={() => (isActive && edited ? undefined : choose({ row: at, column: place }))}
          open={() => open(row, column, isReadOnly)}
        />
      );
    });
  };
  const contents = (at: number): ReactNode => {
    const row = at < count ? pages.row(at) : undefined;
    if (row) return cellsOf(row, at);
    return (
      <div role="gridcell" className="foot">
        {at < count ? <span className="reading">Reading…</span> : <Foot pages={pages} filtered={Object.keys(filters).length > 0} />}
      </div>
    );
  };
  return (
    <div
      ref={scroller}
      className="grid rows"
      role="grid"
      tabIndex={0}
      aria-label={`Rows of ${type.name}`}
      aria-rowcount={pages.isComplete ? count + 2 : -1}
      aria-colcount={columns.length}
      aria-activedescendant={count > 0 ? `cell-${active.row}-${active.column}` : undefined}
      aria-busy={count === 0 && !pages.isComplete}
      onKeyDown={onKey}
    >
      <GridHeads {...{ type, query, columns, filters, change, ...(menu ? { menu } : {}) }} />
      <div className="grid-body" role="rowgroup" style={{ height }}>
        <div ref={holder} className="grid-holder" role="presentation">
          {visible.map(({ index: at, start }) => (
            <div key={at} className="data-row" role="row" aria-rowindex={at + 3} style={{ transform: `translateY(${start}px)` }}>
              {contents(at)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
};
