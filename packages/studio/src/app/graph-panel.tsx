import { useEffect, useMemo, useState, type ReactNode } from "react";
import type { WireNode, WireRow } from "../wire.ts";
import { messageOf } from "./api.ts";
import { idIn } from "./form-parts.tsx";
import { PathSearch } from "./graph-path.ts";
import { type FoundPath, type GraphStore, keyOf, type Way } from "./graph-store.ts";
import { counted, showText, showUnits, TypeMark } from "./item-parts.tsx";
import { gridTypes, useModel } from "./model.ts";
import { showPlain } from "./pattern-answer.tsx";
import { addressOf, go, linkTo, type Query } from "./route.ts";
import { NodeSearch } from "./row-forms.tsx";

/** Nodes that the list shows at once. */
const LISTED = 100;
/** Requests of one reading of a neighbourhood, and of one part of a search for a path. */
const BUDGET = 60;

/** A way from the selected node, with what was read of it, and the next page. */
const WayButton = ({ store, node, way }: { readonly store: GraphStore; readonly node: string; readonly way: Way }): ReactNode => {
  const followed = store.followed(node, way);
  const isDone = followed !== undefined && followed.next === undefined;
  const count = followed ? `${followed.count}${isDone ? "" : "+"}` : "";
  return (
    <li>
      <button type="button" disabled={isDone || store.busy > 0} onClick={() => void store.expand(node, way)}>
        <TypeMark type={way.edge} kind="edge">
          {`${way.edge} ${way.symmetric ? "↔" : way.direction === "out" ? "→" : "←"} ${way.to.join(", ")}`}
        </TypeMark>
        <span className="count">
          {count} {followed ? (isDone ? "all read" : "read more") : "read"}
        </span>
      </button>
    </li>
  );
};

/** What is known of the selected node, and where one can go from it. */
export const NodePanel = ({
  store,
  selected,
  query,
}: {
  readonly store: GraphStore;
  readonly selected: string;
  readonly query: Query;
}): ReactNode => {
  const { node, label } = store.graph.getNodeAttributes(selected);
  const first = store.graph.nodes()[0];
  const row = node.row ?? node.id;
  const { attributes = [], derived = [] } = store.typeOf(node.type) ?? {};
  // DynamoDB returns the attributes of an item in any order.
  const names = new Set([...Object.keys(node.id), ...attributes, ...derived].filter((name) => name in row));
  return (
    <section aria-label="Selected node">
      <h2>
        <TypeMark type={node.type}>{label}</TypeMark>
      </h2>
      <dl>
        {[...names, ...Object.keys(row).filter((name) => !names.has(name))].map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span className="value">{showText(showPlain(row[name]))}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="facts">
        <a {...linkTo(addressOf("table", { partition: node.partition }))}>Its partition</a>
        <a {...linkTo(addressOf("graph", { type: node.type, id: JSON.stringify(node.id) }))}>Start here</a>
        {selected === first || query["whole"] ? null : (
          <a {...linkTo(addressOf("graph", { ...query, toType: node.type, toId: JSON.stringify(node.id) }))}>Find a path to it</a>
        )}
      </p>
      <h3>Edges</h3>
      <ul className="ways">
        {store.waysFrom(node.type).map((way) => (
          <WayButton key={`${way.edge} ${way.direction}`} store={store} node={selected} way={way} />
        ))}
      </ul>
    </section>
  );
};

/** The nodes as a list: what the drawing shows, for the keyboard and for screen readers; types are switches. */
export const NodeList = ({
  store,
  selected,
  hidden,
  marked,
  toggle,
  select,
}: {
  readonly store: GraphStore;
  readonly selected: string | undefined;
  readonly hidden: ReadonlySet<string>;
  /** Nodes that changed while the view is open. */
  readonly marked: ReadonlySet<string>;
  readonly toggle: (type: string) => void;
  readonly select: (key: string) => void;
}): ReactNode => {
  const [text, setText] = useState("");
  const nodes = store.graph.mapNodes((key, { node, label }) => ({ key, type: node.type, label }));
  const found = nodes.filter(({ type, label }) => !hidden.has(type) && label.toLowerCase().includes(text.toLowerCase()));
  const types = [...new Set(nodes.map(({ type }) => type))];
  return (
    <section>
      <h3>Nodes</h3>
      <ul className="choices" aria-label="Shown types">
        {types.map((type) => (
          <li key={type}>
            <button type="button" aria-pressed={!hidden.has(type)} onClick={() => toggle(type)}>
              <TypeMark type={type}>
                {type} {nodes.filter((one) => one.type === type).length}
              </TypeMark>
            </button>
          </li>
        ))}
      </ul>
      <input
        className="find"
        aria-label="Find a node in the drawing"
        placeholder="Find in the drawing…"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ul className="node-list" aria-label="Nodes">
        {found.slice(0, LISTED).map(({ key, type, label }) => (
          <li key={key}>
            <button type="button" aria-pressed={key === selected} onClick={() => select(key)}>
              <TypeMark type={type}>{label}</TypeMark>
              {marked.has(key) ? <small className="change-word">changed</small> : null}
            </button>
          </li>
        ))}
      </ul>
      {found.length > LISTED ? <p className="left-out">and {(found.length - LISTED).toLocaleString("en-US")} more</p> : null}
    </section>
  );
};

/** Reads everything within some hops of the selected node, as far as a budget goes. */
export const Hops = ({ store, selected }: { readonly store: GraphStore; readonly selected: string }): ReactNode => {
  const [hops, setHops] = useState(2);
  return (
    <section aria-label="Neighbourhood" className="graph-tool">
      <h3>Neighbourhood</h3>
      <p className="buttons">
        <select aria-label="Hops" value={hops} onChange={({ target }) => setHops(Number(target.value))}>
          {[1, 2, 3].map((one) => (
            <option key={one} value={one}>
              {counted(one, "hop")}
            </option>
          ))}
        </select>
        <button type="button" disabled={store.busy > 0} onClick={() => void store.expandHops(selected, hops, BUDGET)}>
          {store.left > 0 ? "Continue" : "Read"}
        </button>
      </p>
      {store.left > 0 ? (
        <p role="status" className="left-out">
          {counted(store.left, "list")} of edges not read: the budget of {BUDGET} requests was spent.
        </p>
      ) : null}
    </section>
  );
};

interface PathState {
  readonly search: PathSearch | undefined;
  readonly busy: boolean;
  readonly error: string | undefined;
  readonly again: () => void;
}

/** Searches a path as soon as there are two ends; a further call goes on where the budget ended. */
const usePathSearch = (from: WireNode | undefined, to: Pick<WireNode, "type" | "id"> | undefined, store: GraphStore): PathState => {
  const key = from && to ? `${keyOf(from)} ${keyOf(to)}` : undefined;
  const search = useMemo(() => (from && to ? new PathSearch(from, to, (type) => store.waysFrom(type)) : undefined), [key, store]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [parts, setParts] = useState(0);
  useEffect(() => {
    if (!search || search.path) return undefined;
    const ended = new AbortController();
    setBusy(true);
    setError(undefined);
    search
      .run(BUDGET, ended.signal)
      .catch((cause: unknown) => ended.signal.aborted || setError(messageOf(cause)))
      .finally(() => ended.signal.aborted || setBusy(false));
    return () => ended.abort();
  }, [search, parts]);
  return { search, busy, error, again: () => setParts((count) => count + 1) };
};

/** The nodes of a path and the edges between them, as a list. */
const PathList = ({
  path: { nodes, links },
  store,
  select,
}: {
  readonly path: FoundPath;
  readonly store: GraphStore;
  readonly select: (key: string) => void;
}): ReactNode => (
  <ol className="path" aria-label="Path">
    {nodes.map((node, at) => {
      const key = keyOf(node);
      const link = links[at - 1];
      const isForward = link !== undefined && keyOf(link.to) === key;
      return (
        <li key={key}>
          {link ? (
            <TypeMark type={link.edge} kind="edge">
              {isForward ? `${link.edge} ↓` : `${link.edge} ↑`}
            </TypeMark>
          ) : null}
          <button type="button" className="quiet" onClick={() => select(key)}>
            <TypeMark type={node.type}>
              {store.graph.hasNode(key)
                ? store.graph.getNodeAttribute(key, "label")
                : showText(Object.values(node.id).map(showPlain).join(" "))}
            </TypeMark>
          </button>
        </li>
      );
    })}
  </ol>
);

/** Finds a path from the first node to another one, and lights it up. */
export const PathPanel = ({
  store,
  first,
  query,
  light,
  select,
}: {
  readonly store: GraphStore;
  readonly first: WireNode;
  readonly query: Query;
  readonly light: (keys: readonly string[]) => void;
  readonly select: (key: string) => void;
}): ReactNode => {
  const types = gridTypes(useModel().types);
  const [name, setName] = useState(first.type);
  const type = types.find((one) => one.name === name) ?? types[0];
  const { toType, toId } = query;
  const to = useMemo(
    () => (toType === undefined || toId === undefined ? undefined : { type: toType, id: JSON.parse(toId) as WireRow }),
    [toType, toId],
  );
  const { search, busy, error, again } = usePathSearch(first, to, store);
  const path = busy ? undefined : search?.path;
  useEffect(() => {
    if (!path) return light([]);
    void store.addPath(path).then(light);
    // `light` sets a state.
  }, [path, store]);
  const choose = (row: WireRow): void => {
    if (type) go(addressOf("graph", { ...query, toType: type.name, toId: JSON.stringify(idIn(type, row)) }), { replace: true });
  };
  return (
    <section aria-label="Path" className="graph-tool">
      <h3>
        Path
        {to ? (
          <button
            type="button"
            className="quiet"
            onClick={() => go(addressOf("graph", { ...query, toType: undefined, toId: undefined }), { replace: true })}
          >
            Clear
          </button>
        ) : null}
      </h3>
      {to || !type ? null : (
        <>
          <select aria-label="Path to a" value={type.name} onChange={({ target }) => setName(target.value)}>
            {types.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
          <NodeSearch key={type.name} type={type} choose={choose} />
        </>
      )}
      {search ? (
        <p role="status" className="left-out">
          {busy
            ? "Searching…"
            : path
              ? `${counted(path.links.length, "edge")} long, found with ${counted(search.requests, "request")}, ${showUnits(search.readUnits)}.`
              : search.isExhausted
                ? "There is no path."
                : `${counted(search.requests, "request")} reached ${counted(search.reached, "node")}; ${counted(search.open, "list")} of edges left to read.`}
        </p>
      ) : null}
      {error === undefined ? null : <p className="problem">{error}</p>}
      {search && !busy && !path && !search.isExhausted ? (
        <button type="button" onClick={again}>
          Continue
        </button>
      ) : null}
      {path ? <PathList path={path} store={store} select={select} /> : null}
    </section>
  );
};
