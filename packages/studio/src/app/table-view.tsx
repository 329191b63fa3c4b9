import {
  lazy,
  memo,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from "react";
import type { WireChange, WireItem } from "../wire.ts";
import { get, useAnswer, useLast } from "./api.ts";
import { useMarks } from "./changes.ts";
import { ItemPanel } from "./item-panel.tsx";
import { type ItemPages, openItemPages, type TableRow } from "./item-pages.ts";
import {
  changeWords,
  counted,
  EndLink,
  Failure,
  KeyTexts,
  nameOf,
  Notice,
  showBytes,
  showDistance,
  showText,
  showUnits,
  showValue,
  TypeMark,
  useColour,
} from "./item-parts.tsx";
import { MarkSwitch } from "./mark-switch.tsx";
import { useModel } from "./model.ts";
import { usePages } from "./pages.ts";
import { addressOf, go, linkTo, type Query } from "./route.ts";
import { useRowWindow } from "./row-window.ts";
import "./table.css";

const Shards = lazy(() => import("./shards.tsx").then(({ Shards }) => ({ default: Shards })));

/** Pixels of a row: a label and a value. */
const ROW = 46;
/** Pixels of a character of a key. */
const CHARACTER = 7.6;

const keyTextOf = (item: WireItem, attribute: string | undefined): string =>
  (item.keys[attribute ?? ""] ?? []).map(({ text }) => text).join("");

/** The text by which an address names an item: its table keys. */
const idOf = (item: WireItem, keys: readonly string[]): string => JSON.stringify(keys.map((key) => keyTextOf(item, key)));

/** Pixels of the two key columns: what the keys of the first page need, within limits. */
const useWidths = (
  pages: ItemPages,
  count: number,
  [partitionKeys, sortKeys]: GridProps["keys"],
): { readonly partition: number; readonly sort: number } => {
  const seen = Math.min(count, 200);
  return useMemo(() => {
    const [first, second] = [partitionKeys, sortKeys].map((attributes) => {
      let longest = 0;
      for (let at = 0; at < seen; at++) {
        const row = pages.row(at);
        if (row) longest = Math.max(longest, attributes.map((one) => keyTextOf(row.item, one)).join(" · ").length);
      }
      return longest * CHARACTER;
    });
    return { partition: Math.min(260, Math.max(172, (first ?? 0) + 36)), sort: Math.min(430, Math.max(230, (second ?? 0) + 58)) };
  }, [pages, seen, partitionKeys, sortKeys]);
};

interface RowProps {
  readonly row: TableRow;
  /** True if the partition key is shown: in the first row of a partition, and in the topmost one. */
  readonly showsPartition: boolean;
  readonly partitionKeys: readonly string[];
  readonly sortKeys: readonly string[];
  readonly active: boolean;
  /** What became of the item since the view was opened. */
  readonly mark: WireChange["kind"] | undefined;
  readonly at: number;
  /** The same function in every rendering, so that rows that only move are not rendered again. */
  readonly onSelect: (at: number) => void;
}

const Row = memo(({ row, showsPartition, partitionKeys, sortKeys, active, mark, at, onSelect }: RowProps): ReactNode => {
  const { item } = row;
  const colour = useColour();
  return (
    <div
      className={`cells ${row.first ? "first" : ""} ${row.shaded ? "shaded" : ""} ${active ? "active" : ""} ${mark === undefined ? "" : `marked ${mark}`} ${colour(item.kind === "system" ? "~" : item.name)}`}
      onClick={() => onSelect(at)}
    >
      <div role="gridcell" className="cell partition">
        {showsPartition ? (
          <>
            <KeyTexts item={item} attributes={partitionKeys} />
            {row.first ? (
              <small>
                {row.group.isWhole ? counted(row.group.items, "item") : `${row.group.items}+ items`} · {showBytes(row.group.bytes)}
                {row.group.isWhole ? "" : "+"}
              </small>
            ) : null}
          </>
        ) : (
          <span className="hidden">{showText(row.partition)}</span>
        )}
      </div>
      <div role="gridcell" className="cell sort">
        <small>
          <TypeMark type={item.kind === "system" ? "~" : item.name} kind={item.kind}>
            {nameOf(item)}
          </TypeMark>
          {mark === undefined ? null : <span className="change-word">{changeWords[mark]}</span>}
        </small>
        <span className="line">
          {sortKeys.length === 0 ? <span className="literal">no sort key</span> : <KeyTexts item={item} attributes={sortKeys} />}
          {item.ends.map((end) => (
            <EndLink key={end.role} end={end} tabbable={active} />
          ))}
        </span>
      </div>
      <div role="gridcell" className="cell size">
        {showBytes(item.bytes)}
        {item.expires === undefined ? null : (
          <small className={item.expires < Date.now() ? "expired" : "expires"} title={new Date(item.expires).toISOString()}>
            {item.expires < Date.now() ? "expired " : "expires "}
            {showDistance(item.expires)}
          </small>
        )}
      </div>
      {item.fields.map(({ name, attribute }) => {
        const text = showText(showValue(item.item[attribute]));
        return (
          <div role="gridcell" className="cell field" key={attribute} title={text}>
            <small>{showText(name)}</small>
            <span className="value">{text}</span>
          </div>
        );
      })}
    </div>
  );
});
Row.displayName = "Row";

/** The title of the table, an index, or one partition, with the way back. */
const Heading = ({ query, pages, live }: { readonly query: Query; readonly pages: ItemPages; readonly live: ReactNode }): ReactNode => {
  const { table } = useModel();
  const { index, partition } = query;
  return (
    <div className="heading">
      <h1>
        {partition === undefined ? (
          (index ?? table)
        ) : (
          <>
            <a {...linkTo(addressOf("table", { index }))}>{index ?? table}</a>
            <span className="slash">/</span>
            <code>{showText(partition)}</code>
          </>
        )}
      </h1>
      <p>
        {partition !== undefined
          ? "one partition"
          : index === undefined
            ? "the table as it is stored"
            : "the index, with the attributes that it projects"}
        <span aria-live="polite">
          {" · "}
          {pages.size("item")}
          {pages.requests === 0 ? null : ` · ${showUnits(pages.readUnits)}`}
        </span>
      </p>
      {live}
      <p className="hints" aria-label="Keys">
        <kbd>↑</kbd>
        <kbd>↓</kbd> move <kbd>Enter</kbd> open <kbd>Alt →</kbd> jump
      </p>
    </div>
  );
};

const Empty = ({ query, pages }: { readonly query: Query; readonly pages: ItemPages }): ReactNode => {
  if (query["types"])
    return <Notice title="No item of these types.">{pages.isComplete ? null : <p>Not all of the table was read.</p>}</Notice>;
  return (
    <Notice title={query["partition"] === undefined ? "There are no items yet." : "This partition has no items."}>
      <p>
        Load some with <code>edgetable load rows.json</code>, or write them from your program, and reload this page.
      </p>
    </Notice>
  );
};

/** What follows the last row: reading, an end, a pause, or a failure in the middle. */
const Foot = ({ pages }: { readonly pages: ItemPages }): ReactNode => {
  if (pages.error) return <Failure error={pages.error} again={() => pages.retry()} />;
  if (pages.isPaused && !pages.isComplete)
    return (
      <Notice title={`${pages.scanned.toLocaleString("en-US")} items were read, ${pages.count.toLocaleString("en-US")} match.`}>
        <button type="button" onClick={() => pages.retry()}>
          Keep reading
        </button>
      </Notice>
    );
  return <span className="reading">{pages.isComplete ? "" : "Reading…"}</span>;
};

interface GridKeys {
  readonly count: number;
  readonly active: number;
  readonly page: number;
}

/** Where a key moves the active row; undefined for keys that do not move it. */
const moved = (key: string, { count, active, page }: GridKeys): number | undefined => {
  const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
};

interface GridProps {
  readonly query: Query;
  readonly pages: ItemPages;
  readonly keys: readonly [partition: readonly string[], sort: readonly string[]];
  readonly select: (item: WireItem | undefined) => void;
  /** What became of an item since the view was opened; undefined if nothing has changed. */
  readonly marked: ((item: WireItem) => WireChange["kind"] | undefined) | undefined;
}

const GridHead = ({ keys: [partitionKeys, sortKeys] }: Pick<GridProps, "keys">): ReactNode => (
  <div className="grid-head" role="row" aria-rowindex={1}>
    <div role="columnheader" className="cell partition">
      Partition key <code>{partitionKeys.join(", ")}</code>
    </div>
    <div role="columnheader" className="cell sort">
      {sortKeys.length === 0 ? "Type" : "Sort key"} <code>{sortKeys.join(", ")}</code>
    </div>
    <div role="columnheader" className="cell size">
      Size
    </div>
    <div role="columnheader" className="cell field">
      Attributes
    </div>
  </div>
);

/** The rows in view, of however many there are. */
const ItemGrid = ({ query, pages, keys, select, marked }: GridProps): ReactNode => {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const { count } = pages;
  const { visible, height, holder, top, show } = useRowWindow({ count: count + 1, row: ROW, scroller, overscan: 6 });
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - 40) void pages.more();
  });
  const choose = (at: number): void => {
    setActive(at);
    select(pages.row(at)?.item);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return;
    const end = pages.row(active)?.item.ends[0];
    const to = moved(event.key, { count, active, page: 10 });
    if (event.key === "ArrowRight" && event.altKey && end) go(addressOf("table", { partition: end.partition }));
    else if (to !== undefined && !event.altKey) {
      setActive(to);
      show(to);
    } else if (event.key === "Enter") choose(active);
    else if (event.key === "Escape") select(undefined);
    else return;
    event.preventDefault();
  };
  const chosen = useRef(choose);
  chosen.current = choose;
  const onSelect = useCallback((at: number) => chosen.current(at), []);
  const widths = useWidths(pages, count, keys);
  const contents = (at: number): ReactNode => {
    const row = at < count ? pages.row(at) : undefined;
    const [partitionKeys, sortKeys] = keys;
    const showsPartition = row?.first === true || at === top;
    if (row)
      return <Row {...{ row, showsPartition, partitionKeys, sortKeys, at, onSelect }} active={at === active} mark={marked?.(row.item)} />;
    return (
      <div role="gridcell" className="foot">
        {at < count ? <span className="reading">Reading…</span> : <Foot pages={pages} />}
      </div>
    );
  };
  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      tabIndex={0}
      aria-label={`Items of ${query["index"] ?? "the table"}`}
      aria-rowcount={pages.isComplete ? count + 1 : -1}
      aria-activedescendant={count > 0 ? `row-${active}` : undefined}
      aria-busy={count === 0}
      onKeyDown={onKey}
      style={{ "--partition": `${widths.partition}px`, "--sort": `${widths.sort}px` } as CSSProperties}
    >
      <GridHead keys={keys} />
      <div className="grid-body" role="rowgroup" style={{ height }}>
        <div ref={holder} className="grid-holder" role="presentation">
          {visible.map(({ index: at, start }) => (
            <div
              key={at}
              id={`row-${at}`}
              className="grid-row"
              role="row"
              aria-rowindex={at + 2}
              aria-selected={at === active}
              style={{ transform: `translateY(${start}px)` }}
            >
              {contents(at)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
};

/** The item that the address names: one that is shown, or else read by its key. */
const SelectedItem = ({
  id,
  shown,
  close,
  changed,
}: {
  readonly id: string;
  readonly shown: WireItem | undefined;
  readonly close: () => void;
  readonly changed: () => void;
}): ReactNode => {
  const { value, error, again } = useAnswer(shown ? "shown" : id, async (signal) =>
    shown ? undefined : get<{ readonly item?: WireItem }>("item", { key: id }, signal),
  );
  const item = useLast(id, shown ?? value?.item);
  if (item && (shown || !value || value.item)) return <ItemPanel item={item} close={close} changed={changed} />;
  return (
    <aside className="panel" aria-label="Item">
      {error ? <Failure error={error} again={again} /> : <Notice title={value ? "There is no such item." : "Reading the item…"} />}
    </aside>
  );
};

const NO_KEYS: readonly string[] = [];

/** The table or an index, drawn as the single-table pattern draws it: partition by partition, each item in its type's colour. */
export const TableView = ({ query }: { readonly query: Query }): ReactNode => {
  const { indexes } = useModel();
  const [table] = indexes;
  const index = indexes.find(({ name }) => name === query["index"]) ?? table;
  const [partitionKeys, sortKeys] = [index?.partitionKeys ?? NO_KEYS, index?.sortKeys ?? NO_KEYS];
  const tableKeys = useMemo(() => [table?.partitionKey ?? "pk", ...(table?.sortKey === undefined ? [] : [table.sortKey])], [table]);
  const marks = useMarks();
  const { item: id, index: name, partition, types } = query;
  const [newest] = marks.changes;
  /** The newest change that is in each list: items that are read later are as they are stored then. */
  const shown = useRef(new WeakMap<ItemPages, WireChange>());
  const [pages, again] = usePages(JSON.stringify([name, partition, types, partitionKeys]), () => {
    const opened = openItemPages({ index: name, partition, types }, partitionKeys);
    if (newest) shown.current.set(opened, newest);
    return opened;
  });
  // The newest change of each item; a row of the table itself shows what is stored now.
  const marked = useMemo(
    () => new Map(marks.changes.toReversed().map((change) => [idOf(change.item, tableKeys), change.kind])),
    [marks.changes, tableKeys],
  );
  useEffect(() => {
    if (index?.name !== undefined) return;
    // By its place, because a studio that is started again counts its changes from 1.
    const last = marks.changes.findIndex((change) => change === shown.current.get(pages));
    if (newest) shown.current.set(pages, newest);
    for (const { kind, item } of marks.changes.slice(0, last < 0 ? undefined : last).toReversed()) {
      const isIt = (row: TableRow): boolean => idOf(row.item, tableKeys) === idOf(item, tableKeys);
      const row = kind === "modify" ? pages.held(isIt) : undefined;
      if (row) pages.replace(isIt, { ...row, item });
    }
    // The newest change says that there are others.
  }, [newest, pages]);
  const select = (item: WireItem | undefined): void =>
    go(addressOf("table", { ...query, item: item && idOf(item, tableKeys) }), { replace: true });
  return (
    <div className="table-view">
      <div className="table-main">
        <Heading query={query} pages={pages} live={<MarkSwitch marks={marks} again={again} />} />
        {index?.sharded ? (
          <Suspense>
            <Shards index={name} partition={partition} />
          </Suspense>
        ) : null}
        {pages.error && pages.count === 0 ? (
          <Failure error={pages.error} again={() => pages.retry()} />
        ) : pages.count === 0 && pages.isComplete ? (
          <Empty query={query} pages={pages} />
        ) : (
          <ItemGrid
            key={JSON.stringify([query["index"], query["partition"], query["types"]])}
            query={query}
            pages={pages}
            keys={[partitionKeys, sortKeys]}
            select={select}
            marked={marked.size === 0 ? undefined : (item) => marked.get(idOf(item, tableKeys))}
          />
        )}
      </div>
      {id === undefined ? null : (
        <SelectedItem
          id={id}
          shown={pages.held(({ item }) => idOf(item, tableKeys) === id)?.item}
          close={() => select(undefined)}
          changed={again}
        />
      )}
    </div>
  );
};
