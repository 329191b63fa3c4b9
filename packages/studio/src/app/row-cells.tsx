import { useEffect, useRef, useState, type FocusEvent, type FormEvent, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import type { WireField, WireRow, WireType } from "../wire.ts";
import { showText } from "./item-parts.tsx";
import { isRow, showPlain } from "./pattern-answer.tsx";
import { editText } from "./row-edits.ts";
import type { Query } from "./route.ts";

/** A column of the grid. */
export interface Column {
  readonly name: string;
  /** Pixels. */
  readonly width: number;
  readonly kind: "id" | "attribute" | "derived";
  /** The field of users that it shows. */
  readonly field?: WireField;
}

/** What a column is called. */
export const titleOf = ({ name, field }: Column): string => field?.name ?? name;

/** The text of a cell, by which it is shown and edited. */
export const textIn = ({ field }: Column, value: unknown): string => {
  if (!field || value === undefined) return editText(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join("; ");
  const id = field.type === "reference" && isRow(value) ? Object.values(value) : [];
  // An id of several fields is written as JSON.
  return id.length === 1 ? showPlain(id[0]) : editText(value);
};

/** The text of a cell as it is shown where it is not edited. */
export const shownIn = (column: Column, value: unknown): string => (column.field ? textIn(column, value) : showPlain(value));

/** The values among which a person chooses; undefined if any text may be written. */
const optionsOf = ({ field }: Column): readonly string[] | undefined =>
  field?.type === "choice" ? field.choices : field?.type === "boolean" ? ["yes", "no"] : undefined;

/** A sign for each type of field. */
const signOf: Readonly<Record<WireField["type"], string>> = {
  text: "T",
  number: "#",
  date: "◷",
  boolean: "✓",
  choice: "◉",
  choices: "≡",
  reference: "↗",
};

/** Pixels of a character. */
const CHARACTER = 7.6;
/** Pixels of a column whose width nobody has chosen. */
const [NARROW, WIDEST] = [96, 340];
const NARROWEST = 60;
const STEP = 20;

/** Pixels that the values of a column need, within limits. */
const widthOf = (name: string, seen: readonly WireRow[]): number => {
  const longest = seen.reduce((most, row) => Math.max(most, showPlain(row[name]).length), name.length + 2);
  return Math.min(WIDEST, Math.max(NARROW, Math.ceil(longest * CHARACTER) + 28));
};

/** The columns of a type: its id, its attributes, those that Edgetable keeps, and what the first rows have besides. */
export const columnsOf = ({ idFields, attributes, derived }: WireType, seen: readonly WireRow[]): readonly Column[] => {
  const names = new Set([...idFields, ...attributes, ...derived, ...seen.flatMap((row) => Object.keys(row))]);
  return Array.from(names, (name) => ({
    name,
    width: widthOf(name, seen),
    kind: idFields.includes(name) ? "id" : derived.includes(name) ? "derived" : "attribute",
  }));
};

/** The columns that an address names, such as `name:200,year:80`; all if it names none. */
export const writtenColumns = (text: string | undefined, all: readonly Column[]): readonly Column[] => {
  const named = (text ?? "").split(",").flatMap((one) => {
    const [name = "", width] = one.split(":");
    const found = all.find((column) => encodeURIComponent(column.name) === name);
    return found ? [{ ...found, width: Math.max(NARROWEST, Number(width) || found.width) }] : [];
  });
  return named.length > 0 ? named : all;
};

/** The columns as an address names them. */
export const written = (columns: readonly Column[]): string =>
  columns.map(({ name, width }) => `${encodeURIComponent(name)}:${Math.round(width)}`).join(",");

/** What the headers know of the grid. */
export interface HeadProps {
  readonly type: WireType;
  readonly query: Query;
  readonly columns: readonly Column[];
  readonly filters: Readonly<Record<string, string>>;
  readonly change: (query: Query) => void;
  /** What can be done with a column, beside its name. */
  readonly menu?: (column: Column) => ReactNode;
}

/** Resizes a column by its edge. */
const useResize = (
  width: number,
  resize: (to: number) => void,
): { readonly dragged: number | undefined; readonly drag: (event: PointerEvent<HTMLElement>) => void } => {
  const [dragged, setDragged] = useState<number>();
  const drag = (event: PointerEvent<HTMLElement>): void => {
    const start = event.clientX;
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const onMove = (moved: globalThis.PointerEvent): void => setDragged(Math.max(NARROWEST, width + moved.clientX - start));
    handle.addEventListener("pointermove", onMove);
    handle.addEventListener(
      "pointerup",
      (ended: globalThis.PointerEvent) => {
        handle.removeEventListener("pointermove", onMove);
        setDragged(undefined);
        resize(width + ended.clientX - start);
      },
      { once: true },
    );
  };
  return { dragged, drag };
};

/** A header: sorts where an index can, is dragged to another place, and resized at its edge. */
export const ColumnHead = ({
  column,
  at,
  columns,
  type,
  query,
  change,
  menu,
}: Omit<HeadProps, "filters"> & { readonly column: Column; readonly at: number }): ReactNode => {
  const { name, width } = column;
  const sort = type.sorts.find(({ by }) => by[0] === name);
  const isSorted = sort !== undefined && query["sort"] === sort.index;
  const order = !isSorted ? undefined : query["reverse"] === "1" ? "descending" : "ascending";
  const resize = (to: number): void =>
    change({ columns: written(columns.map((one, place) => (place === at ? { ...one, width: Math.max(NARROWEST, to) } : one))) });
  const move = (from: number, to: number): void => {
    const moved = columns[from];
    if (!moved || to < 0 || to >= columns.length) return;
    change({ columns: written(columns.toSpliced(from, 1).toSpliced(to, 0, moved)) });
  };
  const { dragged, drag } = useResize(width, resize);
  const toggle = (): void => {
    if (!sort) return;
    // Upwards, downwards, and back to the order of the table.
    if (!isSorted) change({ sort: sort.index, reverse: undefined });
    else if (order === "ascending") change({ reverse: "1" });
    else change({ sort: undefined, reverse: undefined });
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || (!event.altKey && !event.shiftKey)) return;
    event.preventDefault();
    if (event.altKey) move(at, at + step);
    else resize(width + step * STEP);
  };
  const by =
    type.grid && sort?.index === name ? `Sort by ${titleOf(column)}` : `Sort by ${sort?.by.join(", ")}, with the index ${sort?.index}`;
  const hint = sort ? by : "No index sorts by it";
  return (
    <div
      role="columnheader"
      aria-sort={order ?? (sort ? "none" : undefined)}
      className={`row-head ${column.kind}`}
      style={{ width: dragged ?? width }}
      draggable={dragged === undefined}
      onDragStart={(event) => event.dataTransfer.setData("text/column", String(at))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => move(Number(event.dataTransfer.getData("text/column") || -1), at)}
    >
      <button
        type="button"
        className="quiet"
        title={`${hint}. Alt and an arrow move the column, Shift and an arrow resize it.`}
        onClick={toggle}
        onKeyDown={onKey}
      >
        {column.field ? (
          <i className="field-sign" title={column.field.type}>
            {signOf[column.field.type]}
          </i>
        ) : null}
        <b>{titleOf(column)}</b>
        {sort ? <span aria-hidden="true">{order === undefined ? "↕" : order === "ascending" ? "↑" : "↓"}</span> : null}
      </button>
      {menu?.(column)}
      <span className="resize" aria-hidden="true" draggable={false} onPointerDown={drag} onDragStart={(event) => event.preventDefault()} />
    </div>
  );
};

/** A filter of a column. It is applied a moment after the last letter. */
export const FilterCell = ({ column, filters, change }: Pick<HeadProps, "filters" | "change"> & { readonly column: Column }): ReactNode => {
  const { name, width } = column;
  const given = filters[name] ?? "";
  const [text, setText] = useState(given);
  const latest = useRef({ filters, change });
  latest.current = { filters, change };
  useEffect(() => setText(given), [given]);
  useEffect(() => {
    if (text === given) return;
    const timer = setTimeout(() => {
      const { [name]: _, ...others } = latest.current.filters;
      const next = text === "" ? others : { ...others, [name]: text };
      latest.current.change({ filters: Object.keys(next).length === 0 ? undefined : JSON.stringify(next) });
    }, 300);
    return () => clearTimeout(timer);
  }, [text, given, name]);
  return (
    <div role="gridcell" className="filter-cell" style={{ width }}>
      <input
        aria-label={`Filter ${titleOf(column)}`}
        placeholder="Filter"
        title="A text that the cell contains, or = != < <= > >= and a value"
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
};

/** True for Ctrl S and ⌘ S. */
export const isSave = ({ ctrlKey, metaKey, key }: KeyboardEvent): boolean => (ctrlKey || metaKey) && key.toLowerCase() === "s";

/** The choice that a cell holds, or the first one that begins with the letters that were typed; empty for none. */
export const chosenBy = (options: readonly string[], text: string): string => {
  const begins = (one: string): boolean => text !== "" && one.toLowerCase().startsWith(text.toLowerCase());
  return options.find((one) => one === text) ?? options.find(begins) ?? "";
};

/** The input of a cell that is edited. */
const CellEditor = ({ label, options, start, typed, commit, cancel }: Editing & EditorProps): ReactNode => {
  const input = useRef<HTMLTextAreaElement & HTMLSelectElement>(null);
  const ended = useRef(false);
  useEffect(() => {
    input.current?.focus();
    if (!options) input.current?.setSelectionRange(start.length, start.length);
    // While it is typed in, it keeps its caret.
  }, []);
  const end = (text: string, move: "down" | "right" | undefined): void => {
    if (ended.current) return;
    ended.current = true;
    commit(text, move);
  };
  const shared = {
    ref: input,
    className: "cell-editor",
    "aria-label": label,
    onInput: (event: FormEvent<HTMLTextAreaElement | HTMLSelectElement>) => typed(event.currentTarget.value),
    onBlur: (event: FocusEvent<HTMLTextAreaElement | HTMLSelectElement>) => end(event.target.value, undefined),
    onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement | HTMLSelectElement>) => {
      // What is being composed takes its keys itself.
      if (event.nativeEvent.isComposing) return event.stopPropagation();
      if (isSave(event)) return end(event.currentTarget.value, undefined);
      event.stopPropagation();
      if (event.key === "Escape") {
        ended.current = true;
        cancel();
      } else if (event.key === "Enter" && !event.shiftKey) end(event.currentTarget.value, "down");
      else if (event.key === "Tab") end(event.currentTarget.value, "right");
      else return;
      event.preventDefault();
    },
  };
  if (!options) return <textarea {...shared} rows={1} spellCheck={false} defaultValue={start} />;
  return (
    <select {...shared} defaultValue={chosenBy(options, start)}>
      <option value="">–</option>
      {options.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
};

interface EditorProps {
  readonly label: string;
  readonly options: readonly string[] | undefined;
}

/** What a cell shows: choices as tags, a yes as a tick. */
const Shown = ({ column: { field }, text }: { readonly column: Column; readonly text: string }): ReactNode => {
  if (field?.type === "boolean") return text === "yes" ? <span className="tick">✓ yes</span> : <span className="no">no</span>;
  if (field?.type !== "choice" && field?.type !== "choices") return text;
  return text.split("; ").map((one) => (
    <span key={one} className={`tag type-${Math.max(0, field.choices?.indexOf(one) ?? 0) % 12}`}>
      {one}
    </span>
  ));
};

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "object" && value !== null && "$bigint" in value);

/** What is edited, and how it ends. */
export interface Editing {
  /** The text with which it began. */
  readonly start: string;
  /** Told of the text as it is typed. */
  readonly typed: (text: string) => void;
  readonly commit: (text: string, move: "down" | "right" | undefined) => void;
  readonly cancel: () => void;
}

/** A cell: its value, or what waits in its place, or the input by which it is edited. */
export const DataCell = ({
  column: shown,
  value,
  waiting,
  place: { row, column },
  isActive,
  isRefused,
  isReadOnly,
  editing,
  choose,
  open,
}: {
  readonly column: Column;
  readonly value: unknown;
  /** The text that waits to be written; undefined if nothing waits. */
  readonly waiting: string | undefined;
  readonly place: Place;
  readonly isActive: boolean;
  readonly isRefused: boolean;
  readonly isReadOnly: boolean;
  readonly editing: Editing | undefined;
  readonly choose: () => void;
  readonly open: () => void;
}): ReactNode => {
  const { width, kind } = shown;
  const text = waiting ?? shownIn(shown, value);
  const state = [
    isNumber(value) ? "number" : "",
    isActive ? "active" : "",
    waiting === undefined ? "" : isRefused ? "refused" : "waiting",
  ].join(" ");
  return (
    <div
      id={`cell-${row}-${column}`}
      role="gridcell"
      aria-colindex={column + 1}
      aria-selected={isActive}
      aria-readonly={isReadOnly}
      className={`row-cell ${kind} ${state}`}
      style={{ width }}
      title={waiting === undefined ? showText(text) : `${showText(text)} (was ${showText(textIn(shown, value))})`}
      onClick={choose}
      onDoubleClick={open}
    >
      {editing ? (
        <CellEditor label={`${titleOf(shown)} of row ${row + 1}`} options={optionsOf(shown)} {...editing} />
      ) : value === undefined && waiting === undefined ? (
        <span className="absent" aria-label="no value" role="img" />
      ) : (
        <Shown column={shown} text={showText(text)} />
      )}
    </div>
  );
};

/** A cell's place in the grid. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Where a key moves the active cell; undefined for other keys. */
export const moved = ({ key, ctrlKey, metaKey }: KeyboardEvent, { row, column }: Place, most: Place): Place | undefined => {
  const whole = ctrlKey || metaKey;
  const to: Place | undefined = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    PageDown: { row: row + 15, column },
    PageUp: { row: row - 15, column },
    Home: { row: whole ? 0 : row, column: 0 },
    End: { row: whole ? most.row : row, column: most.column },
  }[key];
  return to && { row: Math.max(0, Math.min(most.row, to.row)), column: Math.max(0, Math.min(most.column, to.column)) };
};
