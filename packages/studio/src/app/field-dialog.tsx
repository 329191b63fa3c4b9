import { useState, type ReactNode } from "react";
import type { RetypeAnswer, WireField, WireFieldType } from "../wire.ts";
import { messageOf } from "./api.ts";
import { Confirm, Place, Problem } from "./form-parts.tsx";
import { counted } from "./item-parts.tsx";
import { gridTypes, useModel } from "./model.ts";

const typeNames: Readonly<Record<WireField["type"], string>> = {
  text: "Text",
  number: "Number",
  date: "Date",
  boolean: "Yes or no",
  choice: "One choice",
  choices: "Several choices",
  reference: "Reference",
};

/** What is to be done with the fields of a parent. */
export type FieldChange =
  | { readonly change: "define"; readonly name: string; readonly to: WireFieldType }
  | { readonly change: "rename"; readonly fieldId: string; readonly name: string }
  | { readonly change: "move"; readonly fieldId: string; readonly place: number }
  | { readonly change: "retype"; readonly fieldId: string; readonly to: WireFieldType; readonly losing: boolean }
  | { readonly change: "delete"; readonly fieldId: string };

export type Send = (change: FieldChange) => Promise<RetypeAnswer>;

const isSameType = (one: WireFieldType, other: WireFieldType): boolean =>
  one.type === other.type && one.node === other.node && (one.choices ?? []).join("\n") === (other.choices ?? []).join("\n");

/** What a person has typed of a field. */
interface Given {
  readonly name: string;
  readonly type: WireField["type"];
  /** One a line. */
  readonly choices: string;
  readonly node: string;
}

const typeOf = ({ type, choices, node }: Given): WireFieldType => ({
  type,
  ...(type === "choice" || type === "choices"
    ? {
        choices: choices
          .split("\n")
          .map((one) => one.trim())
          .filter((one) => one !== ""),
      }
    : {}),
  ...(type === "reference" ? { node } : {}),
});

const FieldInputs = ({ given, change }: { readonly given: Given; readonly change: (given: Given) => void }): ReactNode => {
  const nodes = gridTypes(useModel().types);
  const { name, type, choices, node } = given;
  return (
    <>
      <label className="field-input">
        <span>Name</span>
        <input value={name} required maxLength={200} autoFocus onChange={(event) => change({ ...given, name: event.target.value })} />
      </label>
      <label className="field-input">
        <span>Type</span>
        <select value={type} onChange={(event) => change({ ...given, type: event.target.value as WireField["type"] })}>
          {Object.entries(typeNames).map(([one, title]) => (
            <option key={one} value={one}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {type === "choice" || type === "choices" ? (
        <label className="field-input">
          <span>Choices, one a line</span>
          <textarea rows={4} required value={choices} onChange={(event) => change({ ...given, choices: event.target.value })} />
        </label>
      ) : null}
      {type === "reference" ? (
        <label className="field-input">
          <span>To a</span>
          <select value={node} onChange={(event) => change({ ...given, node: event.target.value })}>
            {nodes.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        </label>
      ) : null}
    </>
  );
};

/** What a change of type would lose. */
const Losses = ({
  losing: { lost = 0, values = 0, losses = [] },
  type,
}: {
  readonly losing: RetypeAnswer;
  readonly type: WireField["type"];
}): ReactNode => (
  <div role="alert" className="warning">
    {lost} of {counted(values, "value")} {lost === 1 ? "does" : "do"} not convert to “{typeNames[type]}”:{" "}
    {losses.map(({ value }) => value).join(", ")}
    {lost > losses.length ? ", …" : ""}
  </div>
);

/** What the places of a column are called, of the one at `place`. */
const placesOf = (fields: readonly WireField[], place: number): readonly string[] => {
  const others = fields.filter((_, at) => at !== place);
  return fields.map((_, at) => (at === place ? `${at + 1}, as it is` : at === 0 ? "1, first" : `${at + 1}, after ${others[at - 1]?.name}`));
};

/** Where the column of a field stands, for everybody. */
const PlaceSelect = ({
  fields,
  place,
  wanted,
  choose,
}: {
  readonly fields: readonly WireField[];
  /** Where it stands now, and where it is to stand. */
  readonly place: number;
  readonly wanted: number;
  readonly choose: (place: number) => void;
}): ReactNode => (
  <label className="field-input">
    <span>Place</span>
    <select value={wanted} onChange={(event) => choose(Number(event.target.value))}>
      {placesOf(fields, place).map((title, at) => (
        <option key={at} value={at}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

/** Deletes a field, after a question. */
const DeleteField = ({
  field: { fieldId, name },
  busy,
  problem,
  remove,
  close,
}: {
  readonly field: WireField;
  readonly busy: boolean;
  readonly problem: string | undefined;
  readonly remove: (fieldId: string) => void;
  readonly close: () => void;
}): ReactNode => (
  <Confirm
    title={`Delete the field ${name}?`}
    action={busy ? "Working…" : "Delete"}
    disabled={busy}
    dangerous
    confirm={() => remove(fieldId)}
    close={close}
  >
    <Place />
    <p>This also deletes its value in every row. It cannot be undone.</p>
    <Problem text={problem} />
  </Confirm>
);

/** The name and the type of a new field, or of one that is changed. What a change of type would lose is said before it is made. */
export const FieldDialog = ({
  field,
  fields,
  send,
  close,
  done,
}: {
  readonly field: WireField | undefined;
  /** All fields in their order. */
  readonly fields: readonly WireField[];
  readonly send: Send;
  readonly close: () => void;
  readonly done: () => void;
}): ReactNode => {
  const nodes = gridTypes(useModel().types);
  const [given, setGiven] = useState<Given>({
    name: field?.name ?? "",
    type: field?.type ?? "text",
    choices: (field?.choices ?? []).join("\n"),
    node: field?.node ?? nodes[0]?.name ?? "",
  });
  const { name, type } = given;
  const place = fields.findIndex(({ fieldId }) => fieldId === field?.fieldId);
  const [wanted, setPlace] = useState(place);
  const [problem, setProblem] = useState<string>();
  const [losing, setLosing] = useState<RetypeAnswer>();
  const [busy, setBusy] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const to = typeOf(given);
  const attempt = async (work: () => Promise<RetypeAnswer>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await work();
      if (answer.ok) return done();
      setLosing(answer);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  const save = async (): Promise<RetypeAnswer> => {
    if (!field) return send({ change: "define", name, to });
    const { fieldId } = field;
    if (name !== field.name) await send({ change: "rename", fieldId, name });
    if (wanted !== place) await send({ change: "move", fieldId, place: wanted });
    return isSameType(field, to) ? { ok: true } : send({ change: "retype", fieldId, to, losing: losing !== undefined });
  };
  const change = (next: Given): void => {
    setGiven(next);
    setLosing(undefined);
  };
  const remove = (fieldId: string): void => void attempt(() => send({ change: "delete", fieldId }));
  if (field && deleting) return <DeleteField {...{ field, busy, problem, remove, close }} />;
  const action = losing ? "Change and remove them" : field ? "Save" : "Add field";
  return (
    <Confirm
      title={field ? `Field ${field.name}` : "Add a field"}
      action={busy ? "Working…" : action}
      disabled={busy}
      dangerous={losing !== undefined}
      confirm={() => void attempt(save)}
      close={close}
    >
      <Place />
      <FieldInputs given={given} change={change} />
      {field && fields.length > 1 ? <PlaceSelect {...{ fields, place, wanted }} choose={setPlace} /> : null}
      {losing ? <Losses losing={losing} type={type} /> : null}
      <Problem text={problem} />
      {field ? (
        <p>
          <button type="button" className="quiet danger" disabled={busy} onClick={() => setDeleting(true)}>
            Delete the field and its values
          </button>
        </p>
      ) : null}
    </Confirm>
  );
};
