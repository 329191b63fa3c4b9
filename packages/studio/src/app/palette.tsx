import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { useModel } from "./model.ts";
import { addressOf, go, views, type Route } from "./route.ts";
import { applyTheme, themes } from "./theme.ts";
import "./palette.css";

interface Command {
  readonly title: string;
  readonly group: string;
  readonly run: () => void;
}

const useCommands = (route: Route, text: string): readonly Command[] => {
  const { indexes, types, patterns, table } = useModel();
  return useMemo(() => {
    const to = (group: string, title: string, address: string): Command => ({ group, title, run: () => go(address) });
    const typed = text.trim();
    const all: Command[] = [
      ...views.map((view) => to("View", view.charAt(0).toUpperCase() + view.slice(1), addressOf(view))),
      ...indexes.map(({ name }) => to(name === undefined ? "Table" : "Index", name ?? table, addressOf("table", { index: name }))),
      ...patterns.map(({ name }) => to("Pattern", name, addressOf("patterns", { name }))),
      ...types
        .filter(({ kind, endFields }) => kind === "node" || endFields)
        .map(({ name }) => to("Graph from a", name, addressOf("graph", { type: name }))),
      ...types.flatMap(({ name, kind, stored }) =>
        kind === "node" && stored !== "keys only" ? [to("Rows of", name, addressOf("rows", { type: name }))] : [],
      ),
      ...types.map(({ name, kind }) => to(`Show only ${kind}s`, name, addressOf("table", { types: name }))),
      ...themes.map((theme) => ({ group: "Theme", title: theme, run: () => applyTheme(theme) })),
    ];
    const words = typed.toLowerCase().split(/\s+/);
    const found = all.filter(({ title, group }) => words.every((word) => `${group} ${title}`.toLowerCase().includes(word)));
    if (typed === "") return found;
    const index = route.view === "table" ? route.query["index"] : undefined;
    return [...found, to("Partition", typed, addressOf("table", { index, partition: typed }))];
  }, [route, text, indexes, types, patterns, table]);
};

/** The command palette: every view, index and type by name, and any partition by its key. */
export const Palette = ({ route, close }: { readonly route: Route; readonly close: () => void }): ReactNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = useCommands(route, text);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    // Scroll methods return a promise in some browsers, which an effect must not.
    document.querySelector(`#command-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    close();
    command.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt((at + 1) % Math.max(1, commands.length));
    else if (event.key === "ArrowUp") setAt((at + commands.length - 1) % Math.max(1, commands.length));
    else if (event.key === "Enter") run(commands[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Commands"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        role="combobox"
        aria-label="Search views, types and partitions"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands[at] ? `command-${at}` : undefined}
        aria-autocomplete="list"
        placeholder="A view, an index, a type, or a partition key…"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, number) => (
          <li
            key={`${command.group} ${command.title}`}
            id={`command-${number}`}
            role="option"
            aria-selected={number === at}
            onMouseMove={() => setAt(number)}
            onClick={() => run(command)}
          >
            <small>{command.group}</small>
            <span>{command.title}</span>
          </li>
        ))}
      </ul>
      <footer>
        <kbd>↑</kbd> <kbd>↓</kbd> choose · <kbd>Enter</kbd> go · <kbd>Esc</kbd> close
      </footer>
    </dialog>
  );
};
