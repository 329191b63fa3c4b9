import type { ReactNode } from "react";
import { isRow, type Row } from "./pattern-answer.tsx";

/** What a part of a plan is called: its kind, and what it is about. */
const titleOf = (part: Row, otherwise: string): string => (typeof part["kind"] === "string" ? part["kind"] : otherwise);

/** A template, a condition or another small thing in a line; undefined if it has parts of its own. */
const inLine = (value: unknown): string | undefined => {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) {
    const all = value.map(inLine);
    return all.every((one) => one !== undefined) ? all.join(", ") : undefined;
  }
  if (!isRow(value)) return undefined;
  if (typeof value["source"] === "string") return value["source"];
  if ("kind" in value && typeof value["input"] === "object") return undefined;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  const all = entries.map(([name, one]) => ({ name, text: inLine(one) }));
  const text = all.map(({ name, text: one }) => `${name} ${one}`).join(", ");
  return all.every((one) => one.text !== undefined) && text.length < 60 && !("kind" in value) ? text : undefined;
};

/** What says nothing: absent, empty, or no. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRow(value) && Object.keys(value).length === 0);

/** A plan as a tree: each part with its kind, its settings, and the parts that it takes its rows from. */
export const PlanTree = ({ part, name = "" }: { readonly part: unknown; readonly name?: string }): ReactNode => {
  if (Array.isArray(part)) return part.map((one, at) => <PlanTree key={at} part={one} name={name} />);
  if (!isRow(part)) return null;
  const entries = Object.entries(part).filter(([key, value]) => key !== "kind" && !isNothing(value));
  const facts = entries.flatMap(([key, value]) => {
    const text = inLine(value);
    return text === undefined ? [] : [{ key, text }];
  });
  const inner = entries.filter(([, value]) => inLine(value) === undefined);
  return (
    <div className="plan-part">
      <p>
        <b>{titleOf(part, name)}</b>
        {"kind" in part && name !== "" && name !== "input" ? <small> {name}</small> : null}
      </p>
      {facts.length === 0 ? null : (
        <dl>
          {facts.map(({ key, text }) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {inner.map(([key, value]) => (
        <PlanTree key={key} part={value} name={key} />
      ))}
    </div>
  );
};
