import { Fragment, type ReactNode } from "react";
import type { WireEnd, WireItem, WireType, WireValue } from "../wire.ts";
import { useModel } from "./model.ts";
import { addressOf, linkTo } from "./route.ts";

/** `1,234 B`, `12.3 KB`. */
export const showBytes = (bytes: number): string =>
  bytes < 10_000 ? `${bytes.toLocaleString("en-US")} B` : `${(bytes / 1024).toFixed(1)} KB`;

/** What became of an item, in a word. */
export const changeWords = { insert: "created", modify: "changed", remove: "deleted", expired: "expired" } as const;

/** `0.5 RCU`. */
export const showUnits = (units: number): string => `${Number(units.toFixed(2)).toLocaleString("en-US")} RCU`;

/** `1 item`, `2 items`. */
export const counted = (count: number, noun: string): string => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

/** A value in DynamoDB's JSON as text on one line. */
export const showValue = (value: WireValue | undefined): string => {
  if (value === undefined) return "";
  if ("S" in value) return value.S;
  if ("N" in value) return value.N;
  if ("BOOL" in value) return String(value.BOOL);
  if ("NULL" in value) return "null";
  if ("B" in value) return `${value.B} (base64)`;
  if ("L" in value) return `[${value.L.map(showValue).join(", ")}]`;
  if ("M" in value)
    return `{ ${Object.entries(value.M)
      .map(([name, one]) => `${name}: ${showValue(one)}`)
      .join(", ")} }`;
  return `{${("SS" in value ? value.SS : "NS" in value ? value.NS : value.BS).join(", ")}}`;
};

/** Characters of a text that a cell shows. */
const SHORT = 400;
/** Characters that have no shape of their own, or that turn the direction of what surrounds them; joiners shape letters and pictures. */
const HIDDEN = /(?![\n\r\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * A stored text as it is shown: its beginning, with characters that nobody could see written as in `\u202e`. What is edited, copied
 * and exported is the text itself.
 *
 * @param most how many characters are shown
 */
export const showText = (text: string, most: number = SHORT): string => {
  const shown = text.length > most ? `${text.slice(0, most)}…` : text;
  return shown.replaceAll(HIDDEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
};

/** The type letters of a value, as DynamoDB writes them. */
export const typeOfValue = (value: WireValue | undefined): string => Object.keys(value ?? {})[0] ?? "";

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** `2 hours`: a span of milliseconds. */
export const showSpan = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000);
  const [size, name] = UNITS.find(([one]) => seconds >= one) ?? [1, "second"];
  return counted(Math.round(seconds / size), name);
};

/** `in 2 hours`, `3 days ago`: how far a time is from now. */
export const showDistance = (time: number, now: number = Date.now()): string => {
  const text = showSpan(Math.abs(time - now));
  return time >= now ? `in ${text}` : `${text} ago`;
};

const classesOf = new WeakMap<readonly WireType[], ReadonlyMap<string, string>>();

/** The class that gives a type its colour: the same in every view. */
export const useColour = (): ((type: string) => string) => {
  const { types } = useModel();
  let classes = classesOf.get(types);
  if (!classes) {
    // Parts in which Edgetable keeps users' fields are told by their shape alone.
    const names = new Set(types.filter(({ own }) => !own).map(({ name }) => name));
    classesOf.set(types, (classes = new Map([...names].map((name, at) => [name, `type-${at % 12}`]))));
  }
  return (type) => classes.get(type) ?? "type-other";
};

/** What a type is called: a system item by its purpose, a stray one as such. */
export const nameOf = ({ kind, name, mirror }: Pick<WireItem, "kind" | "name" | "mirror">): string => {
  if (kind === "stray") return "not in the model";
  if (kind === "system") return `system: ${name}`;
  return mirror ? `${name} (copy)` : name;
};

/** The mark of a type: a shape for its kind, so that colour is not the only sign, and its name. */
export const TypeMark = ({
  type,
  kind,
  children,
}: {
  readonly type: string;
  /** @default that of the model's type of this name */
  readonly kind?: string;
  readonly children?: ReactNode;
}): ReactNode => {
  const colour = useColour();
  const { types } = useModel();
  return (
    <span className={`mark ${colour(type)}`}>
      <span className={`shape ${kind ?? types.find(({ name }) => name === type)?.kind ?? "node"}`} aria-hidden="true" />
      {children ?? type}
    </span>
  );
};

/** A key in the pieces of its template: literals recede, values stand out. */
export const KeyText = ({ pieces }: { readonly pieces: WireItem["keys"][string] | undefined }): ReactNode => (
  <span className="key">
    {(pieces ?? []).map(({ text, path }, at) =>
      path === undefined ? (
        <span key={at} className="literal">
          {showText(text)}
        </span>
      ) : (
        <b key={at} title={path}>
          {showText(text)}
        </b>
      ),
    )}
  </span>
);

/** The texts of a key's attributes in an item. */
export const KeyTexts = ({ item, attributes }: { readonly item: WireItem; readonly attributes: readonly string[] }): ReactNode =>
  attributes.map((attribute, at) => (
    <Fragment key={attribute}>
      {at === 0 ? "" : " · "}
      <KeyText pieces={item.keys[attribute]} />
    </Fragment>
  ));

/** The text by which an address names the partition of an item: of several attributes a JSON list. */
export const partitionOf = ({ keys }: WireItem, attributes: readonly string[]): string => {
  const texts = attributes.map((attribute) => (keys[attribute] ?? []).map(({ text }) => text).join(""));
  return texts.length === 1 ? (texts[0] ?? "") : JSON.stringify(texts);
};

/** A key's template with its fields set off: `STUDENT#{studentId}`. */
export const KeyTemplate = ({ source }: { readonly source: string }): ReactNode => (
  <span className="key">
    {source.split(/(\{[^}]*\})/).map((piece, at) =>
      piece.startsWith("{") ? (
        <b key={at}>{piece.slice(1, -1)}</b>
      ) : (
        <span key={at} className="literal">
          {piece}
        </span>
      ),
    )}
  </span>
);

/** A link to the partition of a node that an item names. */
export const EndLink = ({ end, tabbable = true }: { readonly end: WireEnd; readonly tabbable?: boolean }): ReactNode => {
  const colour = useColour();
  const label = `Go to the partition of ${end.role}: ${showText(end.partition)}`;
  const { href, onClick } = linkTo(addressOf("table", { partition: end.partition }));
  return (
    <a
      className={`end ${colour(end.type)}`}
      title={label}
      aria-label={label}
      tabIndex={tabbable ? 0 : -1}
      href={href}
      onClick={(event) => {
        // A click on the row around the link selects the row.
        event.stopPropagation();
        onClick(event);
      }}
    >
      <span aria-hidden="true">↗</span>
    </a>
  );
};

/** What a view shows while it waits, has nothing, or failed. */
export const Notice = ({
  title,
  children,
  role = "status",
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly role?: "status" | "alert";
}): ReactNode => (
  <div className={`notice ${role}`} role={role}>
    <strong>{title}</strong>
    {children}
  </div>
);

/** A failure, with its code and a way to try again. */
export const Failure = ({
  error,
  again,
}: {
  readonly error: { readonly code?: string; readonly message: string };
  readonly again: () => void;
}): ReactNode => (
  <Notice title="This could not be read." role="alert">
    <p>{error.message}</p>
    {error.code === undefined ? null : <code>{error.code}</code>}
    <button type="button" onClick={again}>
      Try again
    </button>
  </Notice>
);
