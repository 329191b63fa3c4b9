import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { ModelAnswer, ScratchAnswer } from "../wire.ts";
import { post, useAnswer, useNewest, useQuiet } from "./api.ts";
import { asCommands, CallResult, continued, programOf, type Run } from "./call-result.tsx";
import { Confirm, Place } from "./form-parts.tsx";
import { CopyButton } from "./item-panel.tsx";
import { useModel } from "./model.ts";
import { isRow } from "./pattern-answer.tsx";
import { addressOf, go, type Query } from "./route.ts";
import { type Completion, completionsAt } from "./scratch-completion.ts";

/** Completions that are shown at once. */
const SHOWN = 9;

/** What of a text is wrong, marked in its line. */
const Problem = ({
  text,
  problem: { message, start, end },
}: {
  readonly text: string;
  readonly problem: NonNullable<ScratchAnswer["problem"]>;
}): ReactNode => {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", start);
  const line = text.slice(from, lineEnd < 0 ? undefined : lineEnd);
  const number = text.slice(0, start).split("\n").length;
  const [before, wrong] = [line.slice(0, start - from), line.slice(start - from, Math.max(end, start + 1) - from)];
  return (
    <div role="alert" className="scratch-problem">
      <p className="problem">{message}</p>
      <p className="place">
        <small>
          line {number}, column {start - from + 1}
        </small>
        <code>
          {before}
          <mark>{wrong === "" ? "␣" : wrong}</mark>
          {line.slice(before.length + wrong.length)}
        </code>
      </p>
    </div>
  );
};

const CompletionList = ({
  id,
  items,
  at,
  take,
}: {
  readonly id: string;
  readonly items: readonly Completion[];
  /** The place of the chosen one; -1 if none is. */
  readonly at: number;
  readonly take: (item: Completion) => void;
}): ReactNode => {
  const shown = items.slice(0, Math.max(SHOWN, at + 1));
  return (
    <ul role="listbox" id={id} aria-label="Completions" className="completions" hidden={shown.length === 0}>
      {shown.map((item, place) => (
        <li
          key={item.text}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === at}
          onPointerDown={(event) => {
            // The editor keeps the focus.
            event.preventDefault();
            take(item);
          }}
        >
          <code>{item.isCall ? `${item.text}()` : item.text}</code>
          <small>{item.says}</small>
        </li>
      ))}
      {items.length > shown.length ? <li aria-hidden="true">{items.length - shown.length} more</li> : null}
    </ul>
  );
};

/** The call's text, completed from the model. */
const Editor = ({
  text,
  isHeld,
  change,
  run,
}: {
  readonly text: string;
  /** True while a call that writes is under way: what became of it is shown for this text. */
  readonly isHeld: boolean;
  readonly change: (text: string) => void;
  readonly run: () => void;
}): ReactNode => {
  const model = useModel();
  const area = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState<number>();
  const [at, setAt] = useState(-1);
  const id = useId();
  const { prefix, items } = caret === undefined ? { prefix: "", items: [] } : completionsAt(model, text, caret);
  const isOpen = items.length > 0;
  const look = (): void => {
    const { selectionStart, selectionEnd } = area.current ?? { selectionStart: 0, selectionEnd: 0 };
    setCaret(selectionStart === selectionEnd ? selectionStart : undefined);
    setAt(-1);
  };
  const take = (item: Completion | undefined): void => {
    if (!item || caret === undefined || isHeld) return;
    const written = item.isCall ? `${item.text}()` : item.text;
    const next = `${text.slice(0, caret - prefix.length)}${written}${text.slice(caret)}`;
    const place = caret - prefix.length + written.length - (item.isCall ? 1 : 0);
    change(next);
    setAt(-1);
    setCaret(place);
    // The caret is placed after the text is rendered.
    requestAnimationFrame(() => area.current?.setSelectionRange(place, place));
  };
  const press = (event: KeyboardEvent): boolean => {
    const { key, ctrlKey, metaKey } = event;
    if (key === "Enter" && (ctrlKey || metaKey)) run();
    else if (key === " " && ctrlKey) look();
    else if (!isOpen) return false;
    else if (key === "ArrowDown") setAt(Math.min(items.length - 1, at + 1));
    else if (key === "ArrowUp" && at >= 0) setAt(at - 1);
    else if (key === "Escape") setCaret(undefined);
    else if (key === "Enter" && at >= 0) take(items[at]);
    // Tab leaves the editor where nothing is being written.
    else if (key === "Tab" && !event.shiftKey && (at >= 0 || prefix !== "")) take(items[Math.max(0, at)]);
    else return false;
    return true;
  };
  return (
    <div className="scratch-editor">
      <textarea
        ref={area}
        role="combobox"
        aria-label="Call"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        rows={Math.min(12, Math.max(3, text.split("\n").length + 1))}
        value={text}
        readOnly={isHeld}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        placeholder="db."
        onChange={(event) => {
          change(event.target.value);
          look();
        }}
        onClick={look}
        onKeyUp={({ key }) => (key === "ArrowLeft" || key === "ArrowRight" || key === "Home" || key === "End" ? look() : undefined)}
        onBlur={() => setCaret(undefined)}
        onKeyDown={(event) => {
          if (press(event)) event.preventDefault();
        }}
      />
      <CompletionList id={id} items={items} at={at} take={take} />
    </div>
  );
};

/** A call to begin with: neighbours of the first node type along the first edge that leaves it. */
const exampleOf = ({ types, patterns }: ModelAnswer): string => {
  const known = Object.assign({}, ...patterns.map(({ example }) => (isRow(example) ? example : {}))) as Readonly<Record<string, unknown>>;
  const edge = types.find(({ kind }) => kind === "edge");
  const node = types.find(({ kind, name }) => kind === "node" && (!edge || edge.from.includes(name)));
  if (!node) return "db.";
  const id = node.idFields.map((field) => `${field}: ${JSON.stringify(known[field] ?? "1")}`).join(", ");
  return `db.${node.name}({ ${id} })${edge ? `.out("${edge.name}").entries()` : ".get()"}`;
};

const asProgram = (call: string, model: ModelAnswer): string =>
  programOf(model, [`const { value, cost } = await ${call.replace(/;\s*$/, "").trim()}.report();`]);

/** Any call of the model: planned as it is typed, run on demand. */
export const ScratchPad = ({ query }: { readonly query: Query }): ReactNode => {
  const model = useModel();
  const [call, setText] = useState(() => (query["call"]?.trim() ? (query["call"] ?? "") : exampleOf(model)));
  const quiet = useQuiet(call);
  const { value, error, again } = useAnswer(quiet, (signal) => post<ScratchAnswer>("scratch/plan", { call: quiet }, signal));
  const [run, setRun] = useState<Run>();
  const [asking, setAsking] = useState(false);
  const begin = useNewest();
  const change = (next: string): void => {
    begin();
    setRun(undefined);
    setText(next);
    go(addressOf("patterns", { call: next || " " }), { replace: true });
  };
  const isCurrent = quiet === call;
  const writes = value?.writes === true;
  const send = async (cursor?: string): Promise<void> => {
    const before = run?.state === "done" ? run.answer : undefined;
    const isNewest = begin();
    const show = (one: Run): void => (isNewest() ? setRun(one) : undefined);
    setAsking(false);
    setRun({ state: "running", before: cursor === undefined ? undefined : before });
    try {
      const {
        plan,
        run: ran,
        problem: why,
      } = await post<ScratchAnswer>("scratch/run", { call, ...(cursor === undefined ? {} : { cursor }) });
      if (plan && ran) show({ state: "done", answer: continued(cursor === undefined ? undefined : before, { plan, run: ran }) });
      else show({ state: "failed", error: { message: why?.message ?? "It was not run." } });
    } catch (failure) {
      show({ state: "failed", error: failure as Error });
    }
  };
  const start = (): void => (writes && !model.local ? setAsking(true) : void send());
  const done = run?.state === "done" ? run.answer : undefined;
  const shown = done ?? (value?.plan ? { plan: value.plan } : undefined);
  const problem = isCurrent ? value?.problem : undefined;
  const mayRun = isCurrent && value?.plan !== undefined && run?.state !== "running" && (!writes || model.writes);
  return (
    <div className="pattern">
      <header className="pattern-head">
        <h1>Scratch pad</h1>
        <div className="copies">
          <CopyButton label="Copy as TypeScript" text={asProgram(call, model)} />
          {shown ? (
            <CopyButton label="Copy as AWS CLI" text={asCommands(shown.plan, shown.run, model.local ? model.place : undefined)} />
          ) : null}
        </div>
      </header>
      <div className="scratch">
        <Editor text={call} isHeld={writes && run?.state === "running"} change={change} run={() => (mayRun ? start() : undefined)} />
        <div className="scratch-run">
          <button type="button" className={writes ? "primary danger" : "primary"} disabled={!mayRun} onClick={start}>
            {writes ? "Run the write" : "Run"} <kbd>Ctrl ↵</kbd>
          </button>
          <small>
            {writes && !model.writes
              ? "This call writes: start the studio with --write to run it. Its plan is below."
              : "Nothing is sent before Run. Tab completes, Ctrl Space shows what fits, Escape closes the list."}
          </small>
        </div>
        {problem ? <Problem text={call} problem={problem} /> : null}
      </div>
      {shown || error ? (
        <CallResult shown={shown} run={run} error={error} again={again} start={start} proceed={(cursor) => void send(cursor)} />
      ) : null}
      {asking ? (
        <Confirm title={`Write to ${model.place}?`} action="Write" dangerous confirm={() => void send()} close={() => setAsking(false)}>
          <Place />
          <pre>{call}</pre>
        </Confirm>
      ) : null}
    </div>
  );
};
