import { useState, type ReactNode } from "react";
import type { RowsAnswer, WireRow, WireType, WriteAnswer } from "../wire.ts";
import { get, messageOf, post, useQuiet } from "./api.ts";
import { counted } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { Pages, usePages } from "./pages.ts";
import { AttributeInputs, cellsOf, Confirm, endIdIn, labelOf, Message, Place, Problem, type Said } from "./form-parts.tsx";

/** A form for a new node, or for a new part of one. */
export const RowForm = ({
  type,
  owner,
  given = {},
  close,
  created,
}: {
  readonly type: WireType;
  /** The id of the node that gets a part. */
  readonly owner?: WireRow;
  /** Values that the form begins with. */
  readonly given?: Readonly<Record<string, string>>;
  readonly close: () => void;
  readonly created: () => void;
}): ReactNode => {
  const [values, setValues] = useState<Readonly<Record<string, string>>>(given);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const names = [...new Set([...type.idFields, ...type.attributes])].filter((name) => !type.derived.includes(name));
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const set = cellsOf(values);
      const { ok, problem: why } = await (owner
        ? post<WriteAnswer>("parts/create", { part: type.name, owner, set })
        : post<WriteAnswer>("rows/create", { type: type.name, set }));
      if (ok) return created();
      setProblem(why);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <Confirm title={`Add ${type.name}`} action={busy ? "Adding…" : "Add"} disabled={busy} confirm={() => void create()} close={close}>
      <Place />
      <AttributeInputs names={names} required={type.idFields} values={values} change={setValues} />
      <p className="facts">A set or a list: values with commas between them. An object: JSON. Empty: no value.</p>
      <Problem text={problem} />
    </Confirm>
  );
};

/** Rows of a type, as far as they were read: what reads on costs money, and is asked for. */
export const useFound = (query: Readonly<Record<string, string | undefined>>): Pages<WireRow> => {
  const [pages] = usePages(
    JSON.stringify(query),
    () =>
      new Pages<WireRow>(async (cursor, _, signal) => ({
        ...(await get<RowsAnswer>("rows", { ...query, cursor }, signal)),
        mark: undefined,
      })),
  );
  return pages;
};

/** Says that nothing was found so far, and reads on. */
const NoneYet = ({ pages }: { readonly pages: Pages<WireRow> }): ReactNode =>
  pages.isComplete ? (
    <li className="reading">None found.</li>
  ) : (
    <li className="reading">
      None in the first {counted(pages.scanned, "item")}.{" "}
      <button type="button" onClick={() => void pages.findMore()}>
        Read on
      </button>
    </li>
  );

/** Finds nodes of a type by a part of an attribute, and gives the chosen one. */
export const NodeSearch = ({
  type,
  choose,
  most = 8,
}: {
  readonly type: WireType;
  readonly choose: (row: WireRow) => void;
  /** Rows that are shown before anything is searched. */
  readonly most?: number;
}): ReactNode => {
  const by = [...new Set([...type.attributes.filter((name) => !type.idFields.includes(name)), ...type.idFields])];
  const [attribute, setAttribute] = useState(by[0] ?? "");
  const [text, setText] = useState("");
  const sort = type.sorts[0]?.index;
  // Each question reads items.
  const wanted = useQuiet(text);
  const query = { type: type.name, sort, limit: "50", ...(wanted === "" ? {} : { filters: JSON.stringify({ [attribute]: wanted }) }) };
  const pages = useFound(query);
  const shown = Math.min(pages.count, wanted === "" ? most : 8);
  const rows = Array.from({ length: shown }, (_, at) => pages.row(at)).filter((row) => row !== undefined);
  return (
    <div className="node-search">
      <div className="search-line">
        <select aria-label={`Search ${type.name} by`} value={attribute} onChange={(event) => setAttribute(event.target.value)}>
          {by.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          aria-label={`Search ${type.name}`}
          placeholder={`Search ${type.name}…`}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {pages.error ? <p className="problem">{pages.error.message}</p> : null}
      <ul aria-label={`Nodes of ${type.name}`}>
        {rows.map((row) => (
          <li key={JSON.stringify(endIdIn(type, row))}>
            <button type="button" className="quiet" onClick={() => choose(row)}>
              {labelOf(type, row)}
            </button>
          </li>
        ))}
        {pages.count === 0 && (pages.isComplete || pages.scanned > 0) ? <NoneYet pages={pages} /> : null}
      </ul>
    </div>
  );
};

interface Way {
  readonly edge: WireType;
  readonly direction: "out" | "in";
  readonly other: string;
}

/** The edges by which a node of a type may be linked. */
const waysOf = (types: readonly WireType[], { name }: WireType): readonly Way[] =>
  types
    .filter(({ kind, stored }) => kind === "edge" && stored !== "reference")
    .flatMap((edge): readonly Way[] => [
      ...(edge.from.includes(name) ? edge.to.map((other) => ({ edge, direction: "out" as const, other })) : []),
      ...(edge.to.includes(name) && !edge.symmetric ? edge.from.map((other) => ({ edge, direction: "in" as const, other })) : []),
    ]);

/** A node or a part as an end of an edge, which names its type if there are several. */
const endOf = (type: WireType, row: WireRow, types: readonly string[]): WireRow => ({
  ...(types.length > 1 ? { type: type.name } : {}),
  ...endIdIn(type, row),
});

/** The attributes of a new edge to a chosen node. */
const EdgeForm = ({
  ends: { way, type, row, other, node },
  another,
  said,
}: {
  readonly ends: {
    readonly way: Way;
    readonly type: WireType;
    readonly row: WireRow;
    readonly other: WireType;
    readonly node: WireRow;
  };
  readonly another: () => void;
  readonly said: (said: Said) => void;
}): ReactNode => {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const link = async (): Promise<void> => {
    const { edge, direction } = way;
    const isOut = direction === "out";
    const here = endOf(type, row, isOut ? edge.from : edge.to);
    const there = endOf(other, node, isOut ? edge.to : edge.from);
    const [from, to] = isOut ? [here, there] : [there, here];
    try {
      const { ok, problem } = await post<WriteAnswer>("edges/link", { edge: edge.name, from, to, set: cellsOf(values) });
      said({ ok, text: ok ? `Linked to ${labelOf(other, node)}.` : (problem ?? "It was not linked.") });
    } catch (error) {
      said({ ok: false, text: messageOf(error) });
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void link();
      }}
    >
      <p className="chosen">
        <b>{labelOf(other, node)}</b>
        <button type="button" className="quiet" onClick={another}>
          Another
        </button>
      </p>
      <AttributeInputs
        names={way.edge.attributes.filter((name) => !way.edge.derived.includes(name))}
        required={[]}
        values={values}
        change={setValues}
      />
      <Place />
      <button type="submit" className="primary">
        Link
      </button>
    </form>
  );
};

/** Links the node to another one, found by search. */
export const LinkForm = ({ type, row, done }: { readonly type: WireType; readonly row: WireRow; readonly done: () => void }): ReactNode => {
  const { types } = useModel();
  const ways = waysOf(types, type);
  const [at, setAt] = useState(0);
  const [node, setNode] = useState<WireRow>();
  const [message, setMessage] = useState<Said>();
  const way = ways[at];
  const other = types.find(({ kind, name }) => kind !== "edge" && name === way?.other);
  if (!way || !other) return null;
  const choose = (place: number): void => {
    setAt(place);
    setNode(undefined);
  };
  const said = (one: Said): void => {
    setMessage(one);
    if (!one.ok) return;
    setNode(undefined);
    done();
  };
  return (
    <section aria-label="Link">
      <h2>Link</h2>
      <select aria-label="Edge" value={at} onChange={(event) => choose(Number(event.target.value))}>
        {ways.map(({ edge, direction, other: end }, place) => (
          <option key={`${edge.name} ${direction} ${end}`} value={place}>
            {edge.name} {edge.symmetric ? "↔" : direction === "out" ? "→" : "←"} {end}
          </option>
        ))}
      </select>
      {node ? (
        <EdgeForm ends={{ way, type, row, other, node }} another={() => setNode(undefined)} said={said} />
      ) : (
        <NodeSearch key={at} type={other} choose={setNode} />
      )}
      <Message said={message} />
    </section>
  );
};
