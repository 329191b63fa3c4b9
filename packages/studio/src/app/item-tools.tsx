import { useState, type ReactNode } from "react";
import type { EdgeChange, ItemAnswer, PartChange, WireCell, WireNode, WireRow, WireType, WriteAnswer } from "../wire.ts";
import { get, messageOf, post, useAnswer, useLast } from "./api.ts";
import { AttributeInputs, Confirm, idIn, labelOf, Message, Place, Problem, type Said } from "./form-parts.tsx";
import { showPlain } from "./pattern-answer.tsx";
import { useModel } from "./model.ts";
import { editText } from "./row-edits.ts";
import { LinkForm, RowForm } from "./row-forms.tsx";

/** What was typed over the stored values, and the states before, so that each change can be taken back. */
interface Typed {
  readonly values: Readonly<Record<string, string>>;
  /** What was stored when the change of a value began: the row may be read anew while it waits. */
  readonly was: WireRow;
  readonly before: readonly { readonly name: string; readonly values: Readonly<Record<string, string>> }[];
}

const untyped: Typed = { values: {}, was: {}, before: [] };

/** What was typed and not saved, by what it changes: another item or view does not lose it. */
const kept = new Map<string, Typed>();
let asks = false;

/** Drops what was typed over something that is gone. */
const leave = (of: string, changed: () => void): void => {
  kept.delete(of);
  changed();
};

/** What was typed over something stored. The browser asks before it leaves a page with such changes. */
const useTyped = (of: string): readonly [Typed, (change: (before: Typed) => Typed) => void] => {
  const [typed, setTyped] = useState(() => kept.get(of) ?? untyped);
  const change = (next: (before: Typed) => Typed): void => {
    if (!asks) addEventListener("beforeunload", (event) => (kept.size > 0 ? event.preventDefault() : undefined));
    asks = true;
    const now = next(kept.get(of) ?? untyped);
    if (Object.keys(now.values).length > 0) kept.set(of, now);
    else kept.delete(of);
    setTyped(now);
  };
  return [typed, change];
};

/** The attributes of something stored as inputs. Only what was changed is written, if it still holds what was read. */
const ChangeForm = ({
  of,
  names,
  row: read,
  send,
  changed,
}: {
  /** Names what is changed. */
  readonly of: string;
  readonly names: readonly string[];
  readonly row: WireRow;
  readonly send: (change: { readonly set: Readonly<Record<string, WireCell>>; readonly was: WireRow }) => Promise<WriteAnswer>;
  /** Called after a write, also after one that was refused. */
  readonly changed: () => void;
}): ReactNode => {
  const [{ values, was, before }, setTyped] = useTyped(of);
  const [message, setMessage] = useState<Said>();
  // What an answer told, until the row was read anew.
  const [told, setTold] = useState<{ readonly since: WireRow; readonly row: WireRow }>();
  const row = told?.since === read ? told.row : read;
  const stored = Object.fromEntries(names.map((name) => [name, editText(row[name])]));
  const own = names.filter((name) => values[name] !== undefined && values[name] !== stored[name]);
  const type = (all: Readonly<Record<string, string>>): void => {
    const next = Object.fromEntries(Object.entries(all).filter(([name, text]) => text !== stored[name]));
    const name = names.find((one) => all[one] !== (values[one] ?? stored[one])) ?? "";
    // Letters of one input are one change.
    const seen = values[name] === undefined ? { ...was, [name]: row[name] } : was;
    setTyped(() => ({ values: next, was: seen, before: before.at(-1)?.name === name ? before : [...before, { name, values }] }));
    setMessage(undefined);
  };
  const undo = (): void => setTyped(() => ({ values: before.at(-1)?.values ?? {}, was, before: before.slice(0, -1) }));
  const save = async (): Promise<void> => {
    // A text that is emptied becomes the empty text; another value is removed.
    const cellIn = (name: string): WireCell => (values[name] === "" && typeof row[name] !== "string" ? null : { text: values[name] ?? "" });
    const set = Object.fromEntries(own.map((name) => [name, cellIn(name)]));
    const seen = Object.fromEntries(own.filter((name) => was[name] !== undefined).map((name) => [name, was[name]]));
    try {
      const { ok, problem, row: now } = await send({ set, was: seen });
      setMessage({ ok, text: ok ? "Saved." : (problem ?? "It was not saved.") });
      if (now) setTold({ since: read, row: now });
      // What was typed while it was written still waits; what is stored now is shown, or said.
      setTyped((typed) => ({
        values: ok ? Object.fromEntries(Object.entries(typed.values).filter(([name, text]) => text !== values[name])) : typed.values,
        was: { ...typed.was, ...(now && Object.fromEntries(own.map((name) => [name, now[name]]))) },
        before: ok ? [] : typed.before,
      }));
      changed();
    } catch (error) {
      setMessage({ ok: false, text: messageOf(error) });
    }
  };
  if (names.length === 0) return null;
  return (
    <section aria-label="Change">
      <h2>Change</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <AttributeInputs names={names} required={[]} values={{ ...stored, ...values }} changed={own} change={type} />
        <Place />
        <p className="buttons">
          <button type="submit" className="primary" disabled={own.length === 0}>
            Save
          </button>
          {own.length === 0 ? null : (
            <>
              <button type="button" onClick={undo}>
                Undo
              </button>
              {own.length > 1 ? (
                <button type="button" onClick={() => setTyped(() => untyped)}>
                  Discard
                </button>
              ) : null}
            </>
          )}
        </p>
        <Message said={message} />
      </form>
    </section>
  );
};

/** Removes something stored, after a question. */
const RemoveButton = ({
  heading,
  action,
  title,
  warning,
  send,
  gone,
}: {
  readonly heading: string;
  /** What the button says. */
  readonly action: string;
  /** The question. */
  readonly title: string;
  readonly warning: string;
  readonly send: () => Promise<WriteAnswer>;
  readonly gone: () => void;
}): ReactNode => {
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      const { ok, problem: why } = await send();
      if (ok) return gone();
      setProblem(why);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <section>
      <h2>{heading}</h2>
      <button type="button" onClick={() => setAsking(true)}>
        {action}
      </button>
      {asking ? (
        <Confirm
          title={title}
          action={heading}
          dangerous
          confirm={() => void remove()}
          close={() => {
            setAsking(false);
            setProblem(undefined);
          }}
        >
          <Place />
          <p>{warning}</p>
          <Problem text={problem} />
        </Confirm>
      ) : null}
    </section>
  );
};

/** Deletes a node, after a question. */
export const DeleteNode = ({
  type,
  row,
  gone,
}: {
  readonly type: WireType;
  readonly row: WireRow;
  readonly gone: () => void;
}): ReactNode => (
  <RemoveButton
    heading="Delete"
    action={`Delete this ${type.name}`}
    title={`Delete ${labelOf(type, row)}?`}
    warning="This also deletes its parts, and its edges where the model says so. It cannot be undone."
    send={() => post<WriteAnswer>("rows/delete", { type: type.name, id: idIn(type, row) })}
    gone={gone}
  />
);

/** Adds a part to a node: a button for each kind of parts that it may have. */
export const AddParts = ({
  type,
  row,
  added,
}: {
  readonly type: WireType;
  readonly row: WireRow;
  readonly added: () => void;
}): ReactNode => {
  const [part, setPart] = useState<WireType>();
  const parts = useModel().types.filter(({ kind, from, own }) => kind === "part" && !own && from[0] === type.name);
  if (parts.length === 0) return null;
  return (
    <section aria-label="Parts">
      <h2>Parts</h2>
      <p className="buttons">
        {parts.map((one) => (
          <button key={one.name} type="button" onClick={() => setPart(one)}>
            Add {one.name}
          </button>
        ))}
      </p>
      {part ? (
        <RowForm
          type={part}
          owner={idIn(type, row)}
          close={() => setPart(undefined)}
          created={() => {
            setPart(undefined);
            added();
          }}
        />
      ) : null}
    </section>
  );
};

interface ToolsProps {
  /** The name of the type. */
  readonly type: string;
  /** Called when something was written. */
  readonly changed: () => void;
}

/** The attributes that may be changed: those of the schema, and what the row has besides. */
const changeable = (type: WireType, row: WireRow, fixed: readonly string[]): readonly string[] =>
  [...new Set([...type.attributes, ...Object.keys(row)])].filter(
    (name) => !type.idFields.includes(name) && !type.derived.includes(name) && !fixed.includes(name),
  );

/** What can be done with a stored node, beside a view that shows it: change, link and delete it, and add parts. */
export const NodeTools = ({ type: name, id, changed }: ToolsProps & { readonly id: WireRow }): ReactNode => {
  const type = useModel().types.find((one) => one.kind === "node" && one.name === name);
  const key = JSON.stringify(id);
  const { value, error, again } = useAnswer(`${name} ${key}`, (signal) => get<WireNode>("node", { type: name, id: key }, signal));
  const row = useLast(key, value?.row);
  if (error) return <p className="problem">{error.message}</p>;
  if (!type || !row || (value && !value.row)) return null;
  const reread = (): void => {
    again();
    changed();
  };
  const of = `${type.name} ${key}`;
  const send = (change: object): Promise<WriteAnswer> => post("rows/change", { type: type.name, id: idIn(type, row), ...change });
  return (
    <>
      <ChangeForm of={of} names={changeable(type, row, [])} row={row} send={send} changed={reread} />
      <LinkForm type={type} row={row} done={reread} />
      <AddParts type={type} row={row} added={reread} />
      <DeleteNode type={type} row={row} gone={() => leave(of, changed)} />
    </>
  );
};

/** What an end of an edge is called. */
const endText = (end: WireRow): string => Object.values(end).map(showPlain).join(" ");

/** The edge that a row is, as the server is told. */
const edgeOf = (type: WireType, row: WireRow): EdgeChange => ({
  edge: type.name,
  from: row["from"] as WireRow,
  to: row["to"] as WireRow,
  ...(type.idFields.length > 0 ? { key: idIn(type, row) } : {}),
});

const EdgeForms = ({ type, row, reread, changed }: FormsProps): ReactNode => {
  const edge = edgeOf(type, row);
  return (
    <>
      <ChangeForm
        of={JSON.stringify(edge)}
        names={changeable(type, row, ["from", "to"])}
        row={row}
        send={(change) => post("edges/change", { ...edge, ...change })}
        changed={reread}
      />
      <RemoveButton
        heading="Unlink"
        action="Unlink the two nodes"
        title={`Remove ${type.name} from ${endText(edge.from)} to ${endText(edge.to)}?`}
        warning="This deletes the edge with its attributes; the two nodes stay. It cannot be undone."
        send={() => post("edges/unlink", edge)}
        gone={() => leave(JSON.stringify(edge), changed)}
      />
    </>
  );
};

const PartForms = ({ type, row, reread, changed }: FormsProps): ReactNode => {
  const owner = useModel().types.find(({ kind, name }) => kind === "node" && name === type.from[0]);
  if (!owner) return null;
  const part: PartChange = { part: type.name, owner: idIn(owner, row), id: idIn(type, row) };
  return (
    <>
      <ChangeForm
        of={JSON.stringify(part)}
        names={changeable(type, row, owner.idFields)}
        row={row}
        send={(change) => post("parts/change", { ...part, ...change })}
        changed={reread}
      />
      {type.endFields ? <LinkForm type={type} row={row} done={reread} /> : null}
      <RemoveButton
        heading="Delete"
        action={`Delete this ${type.name}`}
        title={`Delete ${type.name} ${endText(idIn(type, row))} of ${endText(part.owner)}?`}
        warning="This cannot be undone."
        send={() => post("parts/delete", part)}
        gone={() => leave(JSON.stringify(part), changed)}
      />
    </>
  );
};

interface FormsProps {
  readonly type: WireType;
  readonly row: WireRow;
  readonly reread: () => void;
  readonly changed: () => void;
}

/** What can be done with a stored edge or part: change it, and remove it. */
export const MemberTools = ({
  kind,
  type: name,
  itemKey,
  changed,
}: ToolsProps & {
  readonly kind: "edge" | "part";
  /** The texts of its table keys, as JSON. */
  readonly itemKey: string;
}): ReactNode => {
  const type = useModel().types.find((one) => one.kind === kind && one.name === name);
  const { value, error, again } = useAnswer(itemKey, (signal) => get<ItemAnswer>("item", { key: itemKey }, signal));
  const row = useLast(itemKey, value?.row);
  if (error) return <p className="problem">{error.message}</p>;
  if (!type || type.own || !row || (value && !value.row)) return null;
  const Forms = kind === "edge" ? EdgeForms : PartForms;
  const reread = (): void => {
    again();
    changed();
  };
  return <Forms type={type} row={row} reread={reread} changed={changed} />;
};
