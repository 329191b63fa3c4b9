import { useEffect, useRef, type ReactNode } from "react";
import type { WireCell, WireRow, WireType } from "../wire.ts";
import { showText } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { showPlain } from "./pattern-answer.tsx";
import { withBreaksOf } from "./row-edits.ts";
import "./rows.css";

/** A dialog with one action. Escape and the cross close it. */
export const Confirm = ({
  title,
  action,
  disabled = false,
  dangerous = false,
  confirm,
  close,
  children,
}: {
  readonly title: string;
  /** The button's text; undefined if there is nothing left to do. */
  readonly action: string | undefined;
  readonly disabled?: boolean;
  readonly dangerous?: boolean;
  readonly confirm: () => void;
  readonly close: () => void;
  readonly children: ReactNode;
}): ReactNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="dialog" aria-label={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (action === undefined) close();
          else confirm();
        }}
      >
        <h2>{title}</h2>
        {children}
        <footer>
          <button type="button" onClick={close}>
            {action === undefined ? "Close" : "Cancel"}
          </button>
          {action === undefined ? null : (
            <button type="submit" className={dangerous ? "primary danger" : "primary"} disabled={disabled}>
              {action}
            </button>
          )}
        </footer>
      </form>
    </dialog>
  );
};

/** Why something was not done; nothing if it was. */
export const Problem = ({ text }: { readonly text: string | undefined }): ReactNode =>
  text === undefined ? null : (
    <p role="alert" className="problem">
      {text}
    </p>
  );

/** What became of a write. */
export interface Said {
  readonly ok: boolean;
  readonly text: string;
}

export const Message = ({ said }: { readonly said: Said | undefined }): ReactNode =>
  said ? (
    <p role="status" className={said.ok ? "good" : "problem"}>
      {said.text}
    </p>
  ) : null;

/** The input of one attribute: of several lines if its text has some, which another input would join. */
const AttributeInput = ({
  name,
  value,
  required,
  change,
}: {
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
  readonly change: (text: string) => void;
}): ReactNode => {
  // It stays what it is while it is typed in.
  const hasLines = useRef(false);
  hasLines.current ||= /[\r\n]/.test(value);
  // A label with a text area in it would be called by the text, too.
  const shared = { "aria-label": name, value, required, spellCheck: false, autoComplete: "off" };
  if (hasLines.current)
    return <textarea {...shared} rows={Math.min(8, value.split("\n").length)} onChange={({ target }) => change(target.value)} />;
  return <input {...shared} onChange={({ target }) => change(target.value)} />;
};

/** Inputs for attributes; those that are left empty are not written. */
export const AttributeInputs = ({
  names,
  required,
  values,
  changed = [],
  change,
}: {
  readonly names: readonly string[];
  readonly required: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  /** Those whose values wait to be written. */
  readonly changed?: readonly string[];
  readonly change: (values: Readonly<Record<string, string>>) => void;
}): ReactNode =>
  names.map((name) => (
    <label key={name} className={changed.includes(name) ? "field-input waiting" : "field-input"}>
      <span>{name}</span>
      <AttributeInput
        name={name}
        value={values[name] ?? ""}
        required={required.includes(name)}
        change={(text) => change({ ...values, [name]: withBreaksOf(values[name] ?? "", text) })}
      />
    </label>
  ));

/** What was typed, as cells: an empty input has no value. */
export const cellsOf = (values: Readonly<Record<string, string>>): Readonly<Record<string, WireCell>> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, text]) => (text === "" ? [] : [[name, { text }]])));

/** Where a write goes, if the table is not on this machine. */
export const Place = (): ReactNode => {
  const { local, place, table } = useModel();
  return local ? null : (
    <p className="warning">
      This writes to {table} in {place}, which is not on this machine.
    </p>
  );
};

/** What a node is called in a list: its id, and the first of its attributes. */
export const labelOf = ({ idFields, endFields = idFields, attributes }: WireType, row: WireRow): string => {
  const first = attributes.find((name) => !endFields.includes(name) && typeof row[name] === "string");
  return [...endFields, ...(first === undefined ? [] : [first])].map((name) => showText(showPlain(row[name]), 160)).join(" · ");
};

/** The id by which edges name a row. */
export const endIdIn = ({ idFields, endFields = idFields }: WireType, row: WireRow): WireRow =>
  Object.fromEntries(endFields.map((field) => [field, row[field]]));

/** The id of a row, as its type names it. */
export const idIn = ({ idFields }: WireType, row: WireRow): WireRow => Object.fromEntries(idFields.map((field) => [field, row[field]]));
