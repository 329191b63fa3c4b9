import { lazy, Suspense, useState, type ReactNode } from "react";
import type { WireItem } from "../wire.ts";
import {
  KeyText,
  KeyTexts,
  nameOf,
  partitionOf,
  showBytes,
  showDistance,
  showText,
  showValue,
  TypeMark,
  typeOfValue,
  useColour,
} from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { addressOf, linkTo } from "./route.ts";

const NodeTools = lazy(() => import("./item-tools.tsx").then(({ NodeTools }) => ({ default: NodeTools })));
const MemberTools = lazy(() => import("./item-tools.tsx").then(({ MemberTools }) => ({ default: MemberTools })));

/** Characters of a value that the panel shows. */
const LONG = 20_000;

const joined = (pieces: WireItem["keys"][string] | undefined): string => (pieces ?? []).map(({ text }) => text).join("");

/** Copies a text, and says so. */
export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }): ReactNode => {
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
    void navigator.clipboard.writeText(text);
  };
  return (
    <button type="button" className="quiet" onClick={copy}>
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  );
};

/** The nodes that an item names. */
const Ends = ({ item }: { readonly item: WireItem }): ReactNode =>
  item.ends.length === 0 ? null : (
    <section>
      <h2>Nodes</h2>
      <ul className="ends">
        {item.ends.map(({ role, type, partition }) => (
          <li key={role}>
            <span className="role">{role}</span>
            <a {...linkTo(addressOf("table", { partition }))}>
              <TypeMark type={type}>{showText(partition)}</TypeMark>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );

/** The entries of an item in the indexes. */
const Entries = ({ item }: { readonly item: WireItem }): ReactNode => {
  const [, ...indexes] = useModel().indexes;
  const within = indexes.filter(({ partitionKeys, sortKeys }) => [...partitionKeys, ...sortKeys].every((name) => name in item.keys));
  return within.length === 0 ? null : (
    <section>
      <h2>Indexes</h2>
      {within.map(({ name = "", partitionKeys, sortKeys }) => (
        <dl key={name} className="index">
          <div>
            <dt>
              <a {...linkTo(addressOf("table", { index: name, partition: partitionOf(item, partitionKeys) }))}>{name}</a>
            </dt>
            <dd>
              <KeyTexts item={item} attributes={partitionKeys} />
              <br />
              <KeyTexts item={item} attributes={sortKeys} />
            </dd>
          </div>
        </dl>
      ))}
    </section>
  );
};

/** The attributes of an item as they are stored. */
const Attributes = ({ item }: { readonly item: WireItem }): ReactNode => (
  <section>
    <h2>Attributes</h2>
    {item.fields.length === 0 ? <p className="facts">None besides the key.</p> : null}
    <dl>
      {item.fields.map(({ name, attribute }) => (
        <div key={attribute}>
          <dt>
            {showText(name)}
            {name === attribute ? null : <small> stored as {showText(attribute)}</small>}
          </dt>
          <dd>
            <span className="value">{showText(showValue(item.item[attribute]), LONG)}</span>
            <abbr title="type in DynamoDB">{typeOfValue(item.item[attribute])}</abbr>
          </dd>
        </div>
      ))}
    </dl>
  </section>
);

/** One item in full: its keys, the indexes that it is in, its attributes, and the nodes that it names. */
export const ItemPanel = ({
  item,
  close,
  changed,
}: {
  readonly item: WireItem;
  readonly close: () => void;
  /** Called when the item was changed, linked or deleted; without it, the panel only shows. */
  readonly changed?: () => void;
}): ReactNode => {
  const { indexes, writes } = useModel();
  const colour = useColour();
  const [table] = indexes;
  const tableKeys = [table?.partitionKey, table?.sortKey].filter((name) => name !== undefined);
  const itemKey = JSON.stringify(tableKeys.map((name) => joined(item.keys[name])));
  return (
    <aside className="panel" aria-label="Item">
      <header className={colour(item.kind === "system" ? "~" : item.name)}>
        <TypeMark type={item.kind === "system" ? "~" : item.name} kind={item.kind}>
          {nameOf(item)}
        </TypeMark>
        <button type="button" className="quiet icon" aria-label="Close the item" onClick={close}>
          ✕
        </button>
      </header>
      <div className="panel-body">
        <section>
          <h2>Key</h2>
          <dl>
            {tableKeys.map((attribute) => (
              <div key={attribute}>
                <dt>{attribute}</dt>
                <dd>
                  <KeyText pieces={item.keys[attribute]} />
                </dd>
              </div>
            ))}
          </dl>
          <p className="facts">
            <span>{showBytes(item.bytes)}</span>
            {item.expires === undefined ? null : (
              <span title={new Date(item.expires).toISOString()}>
                {item.expires < Date.now() ? "expired" : "expires"} {showDistance(item.expires)}
              </span>
            )}
            {item.id ? <a {...linkTo(addressOf("graph", { type: item.name, id: JSON.stringify(item.id) }))}>Open in the graph</a> : null}
          </p>
        </section>
        <Ends item={item} />
        <Attributes item={item} />
        {writes && changed ? (
          <Suspense>
            {item.kind === "node" && item.id ? (
              <NodeTools key={JSON.stringify([item.name, item.id])} type={item.name} id={item.id} changed={changed} />
            ) : item.kind === "edge" || item.kind === "part" ? (
              <MemberTools key={itemKey} kind={item.kind} type={item.name} itemKey={itemKey} changed={changed} />
            ) : null}
          </Suspense>
        ) : null}
        <Entries item={item} />
        <details>
          <summary>As DynamoDB&rsquo;s JSON</summary>
          <CopyButton text={JSON.stringify(item.item, null, 2)} label="Copy" />
          <pre tabIndex={0}>{showText(JSON.stringify(item.item, null, 2), LONG)}</pre>
        </details>
      </div>
    </aside>
  );
};
