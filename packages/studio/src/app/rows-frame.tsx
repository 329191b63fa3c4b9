import { useMemo, useState, type ReactNode } from "react";
import type { WireNode, WireRow, WireType } from "../wire.ts";
import { get, useAnswer, useLast } from "./api.ts";
import { Confirm, idIn } from "./form-parts.tsx";
import { counted, Failure, Notice, TypeMark } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import type { Pages } from "./pages.ts";
import { addressOf, go, type Query } from "./route.ts";
import type { Column } from "./row-cells.tsx";
import { type RowEdits, withFields } from "./row-edits.ts";
import { RowGrid } from "./row-grid.tsx";
import { ParentSelect, parsedFilters, PendingBar, useEdits } from "./row-tools.tsx";

/** Rows by which the widths of columns are chosen. */
const SEEN = 100;

/** The first rows of some pages, the same list until there are more. */
export const useFirstRows = (pages: Pages<WireRow>): readonly WireRow[] => {
  const first = Math.min(pages.count, SEEN);
  return useMemo(() => Array.from({ length: first }, (_, at) => pages.row(at)).filter((row) => row !== undefined), [pages, first]);
};

/** What the panel of a row can do with the view. */
export interface PanelWays {
  readonly close: () => void;
  /** Takes the row out of the view: it was deleted. */
  readonly drop: () => void;
}

interface FrameProps {
  readonly type: WireType;
  readonly query: Query;
  readonly pages: Pages<WireRow>;
  readonly columns: readonly Column[];
  /** The orders in which the rows can be read. */
  readonly sorts?: WireType["sorts"];
  /** What the heading says behind the number of rows. */
  readonly facts: string;
  readonly tools: (to: (query: Query) => void) => ReactNode;
  readonly above?: ReactNode;
  /** False while what the columns are is being read. */
  readonly isReady?: boolean;
  readonly menu?: (column: Column) => ReactNode;
  readonly panel: (row: WireRow, ways: PanelWays) => ReactNode;
  /** Called when changes were written. */
  readonly written?: () => void;
}

const Heading = ({
  type,
  query,
  pages,
  facts,
  tools,
}: Pick<FrameProps, "type" | "query" | "pages" | "facts"> & { readonly tools: ReactNode }): ReactNode => {
  return (
    <div className="heading">
      <h1>
        <TypeMark type={type.name} kind="node" />
      </h1>
      {type.grid ? <ParentSelect type={type} current={query["parent"]} /> : null}
      <p aria-live="polite">
        {pages.size("row")} · {facts}
      </p>
      <div className="tools">{tools}</div>
    </div>
  );
};

/** Asks before changes are written to a table that is not on this machine. */
const AskToWrite = ({
  edits,
  write,
  close,
}: {
  readonly edits: RowEdits;
  readonly write: () => void;
  readonly close: () => void;
}): ReactNode => (
  <Confirm title={`Write to ${useModel().place}?`} action="Write" confirm={write} close={close}>
    <p>
      This table is not on this machine: {counted(edits.count, "change")} in {counted(edits.rows, "row")}.
    </p>
  </Confirm>
);

/** Rows as a grid under a heading: edited in place, with the row that the address names beside it. */
export const RowsFrame = (props: FrameProps): ReactNode => {
  const { type, query, pages, columns, sorts = type.sorts, facts, tools, above, isReady = true, menu, panel, written } = props;
  const { local, writes } = useModel();
  const edits = useEdits(type.name);
  const [asking, setAsking] = useState(false);
  const keyOf = (row: WireRow): string => JSON.stringify(idIn(type, row));
  const to = (more: Query): void => go(addressOf("rows", { ...query, ...more }), { replace: true });
  const write = async (): Promise<void> => {
    setAsking(false);
    await edits.save((key, row, sent) => {
      const isIt = (one: WireRow): boolean => keyOf(one) === key;
      if (row) pages.replace(isIt, withFields(pages.held(isIt), row, sent));
    });
    written?.();
  };
  const save = (): void => (local ? void write() : setAsking(true));
  const id = query["row"];
  const isSelected = (row: WireRow): boolean => keyOf(row) === id;
  const held = id === undefined ? undefined : pages.held(isSelected);
  // The address may name a row that is not among those that were read.
  const { value: named } = useAnswer(JSON.stringify([type.name, held ? undefined : id]), async (signal) =>
    held || id === undefined ? undefined : get<WireNode>("node", { type: type.name, id }, signal),
  );
  const selected = useLast(id ?? "", held ?? named?.row);
  const close = (): void => to({ row: undefined });
  const drop = (): void => {
    pages.replace(isSelected, undefined);
    if (id !== undefined) edits.forget(id);
    close();
  };
  return (
    <div className="table-view">
      <div className="table-main">
        <Heading {...{ type, query, pages, facts }} tools={tools(to)} />
        <PendingBar edits={edits} save={save} />
        {above}
        {pages.error && pages.count === 0 ? (
          <Failure error={pages.error} again={() => pages.retry()} />
        ) : isReady ? (
          <RowGrid
            {...{ pages, edits, query, save, keyOf, columns, ...(menu ? { menu } : {}) }}
            type={{ ...type, sorts }}
            filters={parsedFilters(query["filters"])}
            editable={writes}
            change={to}
            select={(row) => to({ row: row && keyOf(row) })}
          />
        ) : (
          <Notice title="Reading the grid…" />
        )}
      </div>
      {selected ? panel(selected, { close, drop }) : null}
      {asking ? <AskToWrite edits={edits} write={() => void write()} close={() => setAsking(false)} /> : null}
    </div>
  );
};
