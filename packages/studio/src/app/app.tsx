import { Component, lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import type { ModelAnswer, WireType } from "../wire.ts";
import { get, useAnswer } from "./api.ts";
import icon from "./icon.svg";
import { Failure, Notice, TypeMark } from "./item-parts.tsx";
import { gridTypes, ModelContext, useModel } from "./model.ts";
import { Palette } from "./palette.tsx";
import { addressOf, go, linkTo, useRoute, type Query, type Route, type View } from "./route.ts";
import { TableView } from "./table-view.tsx";
import { applyTheme, currentTheme, themes } from "./theme.ts";

const titles: Readonly<Record<View, string>> = {
  table: "Table",
  rows: "Rows",
  graph: "Graph",
  patterns: "Patterns",
  model: "Model",
  live: "Live",
};
const GraphView = lazy(() => import("./graph-view.tsx").then(({ GraphView }) => ({ default: GraphView })));
const RowsView = lazy(() => import("./rows-view.tsx").then(({ RowsView }) => ({ default: RowsView })));
const PatternsView = lazy(() => import("./patterns-view.tsx").then(({ PatternsView }) => ({ default: PatternsView })));
const LiveView = lazy(() => import("./live-view.tsx").then(({ LiveView }) => ({ default: LiveView })));
const ModelView = lazy(() => import("./model-view.tsx").then(({ ModelView }) => ({ default: ModelView })));

/** A drawing for each view, of lines on a square of 16. */
const icons: Readonly<Record<View, string>> = {
  table: "M2 3.5h12v9H2zM2 6.5h12M6 6.5v6",
  rows: "M2 4h12M2 8h12M2 12h12",
  graph:
    "M4.5 4.5 11 6M5 5.5l3 5.5M11 8l-2 3M4 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12.5 8.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8.5 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4",
  patterns: "M6 3 2.5 8 6 13M10 3l3.5 5-3.5 5",
  model: "M2 2.5h5v4H2zM9 9.5h5v4H9zM4.5 6.5v5H9",
  live: "M1.5 8.5h3l2-5.5 3 10 2-4.5h3",
};

const Tabs = ({ route }: { readonly route: Route }): ReactNode => (
  <nav aria-label="Views">
    <ul className="tabs">
      {(Object.entries(titles) as [View, string][]).map(([view, title]) => (
        <li key={view}>
          <a {...linkTo(addressOf(view))} aria-current={route.view === view ? "page" : undefined}>
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d={icons[view]} />
            </svg>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** The table and its indexes, as the sources of the table view. */
const Sources = ({ route }: { readonly route: Route }): ReactNode => {
  const { indexes, table } = useModel();
  const current = route.view === "table" ? (route.query["index"] ?? "") : undefined;
  return (
    <section>
      <h2>Table and indexes</h2>
      <ul className="sources">
        {indexes.map(({ name }) => (
          <li key={name ?? ""}>
            <a {...linkTo(addressOf("table", { index: name }))} aria-current={current === (name ?? "") ? "true" : undefined}>
              <span className={`source ${name === undefined ? "whole" : ""}`} aria-hidden="true" />
              {name ?? table}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};

const kinds = [
  ["node", "Nodes"],
  ["edge", "Edges"],
  ["part", "Parts"],
] as const;

/** The types as switches: of those that are on, items are shown; if none is on, all. */
const TypeFilter = ({ route }: { readonly route: Route }): ReactNode => {
  const { types } = useModel();
  const on = (route.query["types"] ?? "").split(",").filter(Boolean);
  const toggle = (name: string): void => {
    const next = on.includes(name) ? on.filter((one) => one !== name) : [...on, name];
    go(addressOf("table", { ...route.query, item: undefined, types: next.join(",") }));
  };
  const filterable = ({ kind, stored }: WireType): boolean => (kind === "edge" ? stored !== "reference" : stored !== "keys only");
  const row = (name: string, kind: string, title: string): ReactNode => (
    <li key={name}>
      <button type="button" aria-pressed={on.includes(name)} onClick={() => toggle(name)}>
        <TypeMark type={name} kind={kind}>
          {title}
        </TypeMark>
      </button>
    </li>
  );
  return (
    <section className="filter">
      <h2>
        Types
        {on.length > 0 ? (
          <button type="button" className="quiet" onClick={() => go(addressOf("table", { ...route.query, types: undefined }))}>
            Show all
          </button>
        ) : null}
      </h2>
      {kinds.map(([kind, title]) => {
        const own = types.filter((type) => type.kind === kind && filterable(type));
        return own.length === 0 ? null : (
          <div key={kind}>
            <h3>{title}</h3>
            <ul>{own.map(({ name }) => row(name, kind, name))}</ul>
          </div>
        );
      })}
      <h3>Other</h3>
      <ul>
        {row("~system", "system", "Edgetable’s own")}
        {row("~stray", "stray", "not in the model")}
      </ul>
    </section>
  );
};

/** The node types, each with its rows. */
const RowTypes = ({ query }: { readonly query: Query }): ReactNode => {
  const types = gridTypes(useModel().types);
  const current = query["type"] ?? types[0]?.name;
  return (
    <section>
      <h2>Node types</h2>
      <ul>
        {types.map(({ name }) => (
          <li key={name}>
            <a {...linkTo(addressOf("rows", { type: name }))} aria-current={name === current ? "true" : undefined}>
              <TypeMark type={name} kind="node" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};

const ThemeSwitch = (): ReactNode => {
  const [theme, setTheme] = useState(currentTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  const choose = (): void => {
    applyTheme(next);
    setTheme(next);
  };
  const sign = { system: "◐", light: "☀", dark: "☾" }[theme];
  return (
    <button
      type="button"
      className="quiet icon"
      onClick={choose}
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
};

const Header = ({ model, openPalette }: { readonly model: ModelAnswer; readonly openPalette: () => void }): ReactNode => (
  <header className="top">
    <a className="brand" {...linkTo(addressOf("table"))}>
      <img src={icon} alt="" width="22" height="22" />
      Edgetable
    </a>
    <span className="place">
      <b>{model.table}</b>
      <span className={model.local ? "badge local" : "badge remote"}>{model.place}</span>
      {model.writes ? <span className="badge writes">writes</span> : <span className="badge">read-only</span>}
    </span>
    <button type="button" className="search" onClick={openPalette}>
      Search or go to…
      <kbd>Ctrl K</kbd>
    </button>
    <ThemeSwitch />
  </header>
);

/** Shows a failure of a view in its place, so that the other views stay usable. */
class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? <Failure error={error} again={() => this.setState({ error: undefined })} /> : this.props.children;
  }
}

const CurrentView = ({ route: { view, query } }: { readonly route: Route }): ReactNode => {
  switch (view) {
    case "rows":
      return <RowsView query={query} />;
    case "graph":
      return <GraphView query={query} />;
    case "patterns":
      return <PatternsView query={query} />;
    case "live":
      return <LiveView query={query} />;
    case "model":
      return <ModelView />;
    default:
      return <TableView query={query} />;
  }
};

/** The studio: header, sidebar and the view that the address names. */
export const App = (): ReactNode => {
  const route = useRoute();
  const [isOpen, setOpen] = useState(false);
  const { value: model, error, again } = useAnswer("model", (signal) => get<ModelAnswer>("model", {}, signal));
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    document.title = model ? `${titles[route.view]} · ${model.table} · Edgetable Studio` : "Edgetable Studio";
  }, [route.view, model]);
  if (error) return <Failure error={error} again={again} />;
  if (!model) return <Notice title="Reading the model…" />;
  return (
    <ModelContext value={model}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Header model={model} openPalette={() => setOpen(true)} />
      <div className="body">
        <aside className="sidebar" aria-label="Navigation">
          <Tabs route={route} />
          <Sources route={route} />
          {route.view === "table" ? <TypeFilter route={route} /> : null}
          {route.view === "rows" ? <RowTypes query={route.query} /> : null}
        </aside>
        <main id="main" tabIndex={-1}>
          <Suspense fallback={<Notice title="Loading the view…" />}>
            <Boundary key={route.view}>
              <CurrentView route={route} />
            </Boundary>
          </Suspense>
        </main>
      </div>
      {isOpen ? <Palette route={route} close={() => setOpen(false)} /> : null}
    </ModelContext>
  );
};
