import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from "react";
import type { ItemsAnswer, WireChange } from "../wire.ts";
import { get, useAnswer } from "./api.ts";
import { useMarks } from "./changes.ts";
import { GraphCanvas } from "./graph-canvas.tsx";
import { Hops, NodeList, NodePanel, PathPanel } from "./graph-panel.tsx";
import { GraphStore, MOST_NODES } from "./graph-store.ts";
import { counted, Failure, Notice, showText, showUnits, TypeMark } from "./item-parts.tsx";
import { MarkSwitch } from "./mark-switch.tsx";
import { useModel } from "./model.ts";
import { showPlain } from "./pattern-answer.tsx";
import { endIdIn } from "./form-parts.tsx";
import { addressOf, go, linkTo, type Query } from "./route.ts";
import { NodeSearch } from "./row-forms.tsx";
import "./graph.css";

/** Where to begin: a type, and one of its first nodes. */
const Start = ({ type }: { readonly type: string | undefined }): ReactNode => {
  const { types } = useModel();
  const nodes = types.filter(({ kind, stored, endFields }) => (kind === "node" || endFields !== undefined) && stored === "item");
  const chosen = nodes.find(({ name }) => name === type)?.name ?? nodes[0]?.name ?? "";
  const chosenType = nodes.find(({ name }) => name === chosen);
  const { value, error, again } = useAnswer(chosen, (signal) => get<ItemsAnswer>("items", { types: chosen, limit: "200" }, signal));
  return (
    <div className="graph-start">
      <header>
        <h1>Choose a node to start from</h1>
        <a
          className="button"
          {...linkTo(addressOf("graph", { whole: "1" }))}
          title={`Reads up to ${MOST_NODES.toLocaleString("en-US")} nodes and their edges by a Scan`}
        >
          Draw the whole graph
        </a>
      </header>
      <ul className="choices" aria-label="Type">
        {nodes.map(({ name }) => (
          <li key={name}>
            <a {...linkTo(addressOf("graph", { type: name }))} aria-current={name === chosen ? "true" : undefined}>
              <TypeMark type={name} />
            </a>
          </li>
        ))}
      </ul>
      {chosenType ? (
        <NodeSearch
          key={chosen}
          type={chosenType}
          choose={(row) => go(addressOf("graph", { type: chosen, id: JSON.stringify(endIdIn(chosenType, row)) }))}
          most={value?.items.length === 0 ? 8 : 0}
        />
      ) : null}
      {error ? (
        <Failure error={error} again={again} />
      ) : value ? (
        <>
          <ul className="starts">
            {value.items.slice(0, 60).map(({ id = {}, item, fields }) => {
              const named = fields.find(({ attribute }) => item[attribute] && "S" in item[attribute]);
              const text = named && item[named.attribute];
              return (
                <li key={JSON.stringify(id)}>
                  <a {...linkTo(addressOf("graph", { type: chosen, id: JSON.stringify(id) }))}>
                    <code>{showText(Object.values(id).map(showPlain).join(" "))}</code>
                    <span>{text && "S" in text ? showText(text.S) : ""}</span>
                  </a>
                </li>
              );
            })}
          </ul>
        </>
      ) : (
        <Notice title="Reading nodes…" />
      )}
    </div>
  );
};

/** The drawn nodes that changed: an edge or a part is a change of the node whose partition it is in, and of the one that it names. */
const useMarked = (store: GraphStore, changes: readonly WireChange[]): ReadonlySet<string> => {
  const [table] = useModel().indexes;
  const { order } = store.graph;
  return useMemo(() => {
    const partitions = new Set(
      changes.flatMap(({ item: { keys, ends } }) => [
        (keys[table?.partitionKey ?? ""] ?? []).map(({ text }) => text).join(""),
        ...ends.map(({ partition }) => partition),
      ]),
    );
    return new Set(store.graph.filterNodes((_, { node }) => partitions.has(node.partition)));
  }, [store, order, changes, table]);
};

/** The nodes that were read, as a drawing and as a list. */
const Drawing = ({ query, open }: { readonly query: Query; readonly open: (store: GraphStore) => Promise<void> }): ReactNode => {
  const { types } = useModel();
  const { type, id, whole } = query;
  const [tries, setTries] = useState(0);
  const [store, setStore] = useState<GraphStore>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string>();
  const [path, setPath] = useState<readonly string[]>([]);
  useEffect(() => {
    const fresh = new GraphStore(types);
    setStore(fresh);
    setChosen(undefined);
    setPath([]);
    void open(fresh);
    return () => fresh.close();
    // The address says what `open` reads.
  }, [types, type, id, whole, tries]);
  const marks = useMarks();
  const empty = useMemo(() => new GraphStore([]), []);
  const shown = store ?? empty;
  useSyncExternalStore(shown.subscribe, shown.version);
  const { graph, error, busy } = shown;
  const changedNodes = useMarked(shown, marks.changes);
  const first = graph.nodes()[0];
  const selected = chosen !== undefined && graph.hasNode(chosen) ? chosen : whole ? undefined : first;
  const toggle = (one: string): void => {
    const next = new Set(hidden);
    if (!next.delete(one)) next.add(one);
    setHidden(next);
  };
  if (first === undefined) {
    if (error) return <Failure error={error} again={() => void open(shown)} />;
    return <Notice title={busy > 0 || !store ? "Reading nodes and edges…" : "There are no nodes yet."} />;
  }
  return (
    <div className="graph-view">
      <div className="graph-main">
        <div className="heading">
          <h1>
            <a {...linkTo(addressOf("graph", { type }))}>{type ?? "Graph"}</a>
            <span className="slash">/</span>
            {whole ? "the whole graph" : graph.getNodeAttribute(first, "label")}
          </h1>
          <p aria-live="polite">
            {counted(graph.order, "node")} · {counted(graph.size, "edge")} · {counted(shown.requests, "request")},{" "}
            {showUnits(shown.readUnits)}
            {shown.isCut ? " · the table has more" : ""}
            {busy > 0 ? " · reading…" : ""}
          </p>
          <MarkSwitch marks={marks} again={() => setTries((count) => count + 1)} />
        </div>
        <GraphCanvas marked={changedNodes} store={shown} selected={selected} hidden={hidden} path={path} select={setChosen} />
      </div>
      <aside className="panel graph-panel" aria-label="Graph">
        <div className="panel-body">
          {error ? (
            <p className="graph-error" role="alert">
              {error.message}
            </p>
          ) : null}
          {selected === undefined ? null : <NodePanel store={shown} selected={selected} query={query} />}
          {selected === undefined ? null : <Hops store={shown} selected={selected} />}
          {whole ? null : (
            <PathPanel store={shown} first={graph.getNodeAttribute(first, "node")} query={query} light={setPath} select={setChosen} />
          )}
          <NodeList marked={changedNodes} store={shown} selected={selected} hidden={hidden} toggle={toggle} select={setChosen} />
        </div>
      </aside>
    </div>
  );
};

/** The graph around a node, expanded edge type by edge type, or the whole of it. */
export const GraphView = ({ query }: { readonly query: Query }): ReactNode => {
  const { type, id, whole } = query;
  if (whole) return <Drawing query={query} open={(store) => store.startWhole()} />;
  if (type === undefined || id === undefined) return <Start type={type} />;
  return <Drawing query={query} open={(store) => store.start(type, id)} />;
};
