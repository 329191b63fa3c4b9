import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from "react";
import type { ItemsAnswer } from "../wire.ts";
import { get, useAnswer } from "./api.ts";
import { GraphCanvas } from "./graph-canvas.tsx";
import { GraphStore, MOST_NODES, type Way } from "./graph-store.ts";
import { counted, Failure, Notice, showUnits, TypeMark } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { showPlain } from "./pattern-answer.tsx";
import { addressOf, linkTo, type Query } from "./route.ts";
import "./graph.css";

/** Where to begin: a type, and one of its first nodes. */
const Start = ({ type }: { readonly type: string | undefined }): ReactNode => {
  const { types } = useModel();
  const nodes = types.filter(({ kind, stored }) => kind === "node" && stored === "item");
  const chosen = nodes.find(({ name }) => name === type)?.name ?? nodes[0]?.name ?? "";
  const { value, error, again } = useAnswer(chosen, (signal) => get<ItemsAnswer>("items", { types: chosen, limit: "200" }, signal));
  return (
    <div className="graph-start">
      <h1>Where does the graph begin?</h1>
      <ul className="choices" aria-label="Type">
        {nodes.map(({ name }) => (
          <li key={name}>
            <a {...linkTo(addressOf("graph", { type: name }))} aria-current={name === chosen ? "true" : undefined}>
              <TypeMark type={name} kind="node" />
            </a>
          </li>
        ))}
      </ul>
      {error ? (
        <Failure error={error} again={again} />
      ) : value ? (
        <>
          {value.items.length === 0 ? <Notice title={`No ${chosen} among the first items.`} /> : null}
          <ul className="starts">
            {value.items.slice(0, 60).map(({ id = {}, item, fields }) => {
              const named = fields.find(({ attribute }) => item[attribute] && "S" in item[attribute]);
              const text = named && item[named.attribute];
              return (
                <li key={JSON.stringify(id)}>
                  <a {...linkTo(addressOf("graph", { type: chosen, id: JSON.stringify(id) }))}>
                    <code>{Object.values(id).map(showPlain).join(" ")}</code>
                    <span>{text && "S" in text ? text.S : ""}</span>
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

/** A way from the selected node, with what was read of it, and the next page. */
const WayButton = ({ store, node, way }: { readonly store: GraphStore; readonly node: string; readonly way: Way }): ReactNode => {
  const followed = store.followed(node, way);
  const isDone = followed !== undefined && followed.next === undefined;
  const count = followed ? `${followed.count}${isDone ? "" : "+"}` : "";
  return (
    <li>
      <button type="button" disabled={isDone || store.busy > 0} onClick={() => void store.expand(node, way)}>
        <TypeMark type={way.edge} kind="edge">
          {way.direction === "out" ? `${way.edge} → ${way.to.join(", ")}` : `${way.edge} ← ${way.to.join(", ")}`}
        </TypeMark>
        <span className="count">
          {count} {followed ? (isDone ? "all read" : "read more") : "read"}
        </span>
      </button>
    </li>
  );
};

/** What is known of the selected node, and where one can go from it. */
const NodePanel = ({ store, selected }: { readonly store: GraphStore; readonly selected: string }): ReactNode => {
  const { node, label } = store.graph.getNodeAttributes(selected);
  return (
    <section aria-label="Selected node">
      <h2>
        <TypeMark type={node.type} kind="node">
          {label}
        </TypeMark>
      </h2>
      <dl>
        {Object.entries(node.row ?? node.id).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span className="value">{showPlain(value)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="facts">
        <a {...linkTo(addressOf("table", { partition: node.partition }))}>Its partition</a>
        <a {...linkTo(addressOf("graph", { type: node.type, id: JSON.stringify(node.id) }))}>Begin here</a>
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
const NodeList = ({
  store,
  selected,
  hidden,
  toggle,
  select,
}: {
  readonly store: GraphStore;
  readonly selected: string | undefined;
  readonly hidden: ReadonlySet<string>;
  readonly toggle: (type: string) => void;
  readonly select: (key: string) => void;
}): ReactNode => {
  const nodes = store.graph.mapNodes((key, { node, label }) => ({ key, type: node.type, label }));
  const types = [...new Set(nodes.map(({ type }) => type))];
  return (
    <section>
      <h3>Nodes</h3>
      <ul className="choices" aria-label="Shown types">
        {types.map((type) => (
          <li key={type}>
            <button type="button" aria-pressed={!hidden.has(type)} onClick={() => toggle(type)}>
              <TypeMark type={type} kind="node">
                {type} {nodes.filter((one) => one.type === type).length}
              </TypeMark>
            </button>
          </li>
        ))}
      </ul>
      <ul className="node-list" aria-label="Nodes">
        {nodes
          .filter(({ type }) => !hidden.has(type))
          .map(({ key, type, label }) => (
            <li key={key}>
              <button type="button" aria-pressed={key === selected} onClick={() => select(key)}>
                <TypeMark type={type} kind="node">
                  {label}
                </TypeMark>
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
};

const Neighbourhood = ({ type, id }: { readonly type: string; readonly id: string }): ReactNode => {
  const { types } = useModel();
  const [store, setStore] = useState<GraphStore>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    const fresh = new GraphStore(types);
    setStore(fresh);
    setChosen(undefined);
    void fresh.start(type, id);
    return () => fresh.close();
  }, [types, type, id]);
  const empty = useMemo(() => new GraphStore([]), []);
  const shown = store ?? empty;
  useSyncExternalStore(shown.subscribe, shown.version);
  const { graph, error, busy } = shown;
  const first = graph.nodes()[0];
  const selected = chosen !== undefined && graph.hasNode(chosen) ? chosen : first;
  const toggle = (one: string): void => {
    const next = new Set(hidden);
    if (!next.delete(one)) next.add(one);
    setHidden(next);
  };
  if (graph.order === 0) {
    if (error) return <Failure error={error} again={() => void shown.start(type, id)} />;
    return <Notice title="Reading the node and its neighbours…" />;
  }
  return (
    <div className="graph-view">
      <div className="graph-main">
        <div className="heading">
          <h1>
            <a {...linkTo(addressOf("graph", { type }))}>{type}</a>
            <span className="slash">/</span>
            {first === undefined ? "" : graph.getNodeAttribute(first, "label")}
          </h1>
          <p aria-live="polite">
            {counted(graph.order, "node")} of at most {MOST_NODES} · {counted(graph.size, "edge")} · {counted(shown.requests, "request")},{" "}
            {showUnits(shown.readUnits)}
            {busy > 0 ? " · reading…" : ""}
          </p>
        </div>
        <GraphCanvas store={shown} selected={selected} hidden={hidden} path={[]} select={setChosen} />
      </div>
      <aside className="panel graph-panel" aria-label="Graph">
        <div className="panel-body">
          {error ? (
            <p className="graph-error" role="alert">
              {error.message}
            </p>
          ) : null}
          {selected === undefined ? null : <NodePanel store={shown} selected={selected} />}
          <NodeList store={shown} selected={selected} hidden={hidden} toggle={toggle} select={setChosen} />
        </div>
      </aside>
    </div>
  );
};

/** The graph around a node: expanded edge type by edge type, a page at a time. */
export const GraphView = ({ query }: { readonly query: Query }): ReactNode => {
  const { type, id } = query;
  if (type === undefined || id === undefined) return <Start type={type} />;
  return <Neighbourhood type={type} id={id} />;
};
