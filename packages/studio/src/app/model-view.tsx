import type { ReactNode } from "react";
import type { AdviceAnswer, MigrationAnswer, WireAdvice, WireIndex, WireType } from "../wire.ts";
import { get, useAnswer } from "./api.ts";
import { Failure, KeyTemplate, Notice, TypeMark, useColour } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { addressOf, linkTo } from "./route.ts";
import "./model.css";

const nameOfIndex = ({ name }: WireIndex, table: string): string => name ?? table;

const projectionOf = ({ projection }: WireIndex): string =>
  projection === "ALL" ? "all attributes" : projection === "KEYS_ONLY" ? "keys only" : projection.join(", ");

/** Which key each type has in the table and in each index: rows are types, columns are places. */
const KeyLayout = (): ReactNode => {
  const { types, indexes, table } = useModel();
  const colour = useColour();
  const stored = types.filter(({ stored }) => stored !== "reference" && stored !== "keys only");
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Key layout">
      <table className="layout">
        <thead>
          <tr>
            <th scope="col">Type</th>
            {indexes.map((index) => (
              <th scope="col" key={index.name ?? ""}>
                <a {...linkTo(addressOf("table", { index: index.name }))}>{nameOfIndex(index, table)}</a>
                <small>
                  {[...index.partitionKeys, ...index.sortKeys].join(", ")} · {projectionOf(index)}
                </small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stored.map(({ name, kind, keys }) => (
            <tr key={name} className={colour(name)}>
              <th scope="row">
                <TypeMark type={name} kind={kind} />
              </th>
              {indexes.map(({ name: index, partitionKeys, sortKeys }) => {
                const attributes = [...partitionKeys, ...sortKeys];
                const isIn = attributes.every((attribute) => keys[attribute] !== undefined);
                return (
                  <td key={index ?? ""} className={isIn ? "in" : ""}>
                    {isIn ? (
                      attributes.map((attribute) => <KeyTemplate key={attribute} source={keys[attribute] ?? ""} />)
                    ) : (
                      <span className="none">–</span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const WIDTH = 920;
const HEIGHT = 350;
/** Room above, for an edge from a node to itself. */
const TOP = 62;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Node types on an ellipse, so that edges cross little; the same for the same model. */
const placesOf = (nodes: readonly WireType[]): ReadonlyMap<string, Place> =>
  new Map(
    nodes.map(({ name }, at) => {
      const angle = Math.PI + (at / nodes.length) * Math.PI * 2;
      const alone = nodes.length === 1;
      return [
        name,
        { x: WIDTH / 2 + (alone ? 0 : Math.cos(angle) * 330), y: TOP + (HEIGHT - TOP) / 2 + (alone ? 0 : Math.sin(angle) * 104) },
      ];
    }),
  );

/** An edge type as an arrow from node type to node type, with its name on the way. */
const EdgeArrow = ({
  name,
  from,
  to,
  bend,
}: {
  readonly name: string;
  readonly from: Place;
  readonly to: Place;
  readonly bend: number;
}): ReactNode => {
  const colour = useColour();
  const self = from === to;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const path = self
    ? `M ${from.x - 26} ${from.y - 18} C ${from.x - 60} ${from.y - 86}, ${from.x + 60} ${from.y - 86}, ${from.x + 26} ${from.y - 20}`
    : `M ${from.x} ${from.y} Q ${middle.x} ${middle.y} ${to.x} ${to.y}`;
  const label = self ? { x: from.x, y: from.y - 66 } : { x: (from.x + to.x) / 4 + middle.x / 2, y: (from.y + to.y) / 4 + middle.y / 2 };
  // The point of the arrow, outside of the box of the target.
  const angle = self ? Math.PI * 0.62 : Math.atan2(to.y - middle.y, to.x - middle.x);
  const reach = self ? 0 : Math.min(66 / Math.max(0.01, Math.abs(Math.cos(angle))), 22 / Math.max(0.01, Math.abs(Math.sin(angle))));
  const tip = self ? { x: from.x + 26, y: from.y - 20 } : { x: to.x - Math.cos(angle) * reach, y: to.y - Math.sin(angle) * reach };
  const turn = (angle * 180) / Math.PI;
  return (
    <g className={colour(name)}>
      <path d={path} className="arrow" />
      <path d="M 0 0 L -10 -5 L -10 5 Z" className="tip" transform={`translate(${tip.x} ${tip.y}) rotate(${turn})`} />
      <text x={label.x} y={label.y} className="edge-name">
        {name}
      </text>
    </g>
  );
};

/** Node types and the edge types between them. */
const Diagram = (): ReactNode => {
  const { types } = useModel();
  const colour = useColour();
  const nodes = types.filter(({ kind }) => kind === "node");
  const edges = types.filter(({ kind }) => kind === "edge");
  const places = placesOf(nodes);
  const pairs = edges.flatMap(({ name, from, to }) => from.flatMap((start) => to.map((end) => ({ name, start, end }))));
  const text = pairs.map(({ name, start, end }) => `${start} ${name} ${end}`).join("; ");
  const seen = new Map<string, number>();
  return (
    <svg className="diagram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Diagram of the model. ${text}`}>
      {pairs.map(({ name, start, end }) => {
        const pair = [start, end].sort().join(" ");
        const nth = seen.get(pair) ?? 0;
        seen.set(pair, nth + 1);
        const [from, to] = [places.get(start), places.get(end)];
        return from && to ? <EdgeArrow key={`${name} ${start} ${end}`} name={name} from={from} to={to} bend={26 + nth * 44} /> : null;
      })}
      {nodes.map(({ name, idFields, attributes }) => {
        const { x, y } = places.get(name) ?? { x: 0, y: 0 };
        const more = attributes.filter((one) => !idFields.includes(one)).length;
        return (
          <g key={name} transform={`translate(${x - 64} ${y - 22})`} className={colour(name)}>
            <rect width="128" height="44" rx="9" className="box" />
            <text x="64" y="19" className="node-name">
              {name}
            </text>
            <text x="64" y="34" className="node-id">
              {idFields.join(", ")}
              {more > 0 ? ` + ${more}` : ""}
            </text>
          </g>
        );
      })}
    </svg>
  );
};

const Advice = ({ advice }: { readonly advice: readonly WireAdvice[] }): ReactNode => {
  if (advice.length === 0) return <Notice title="No advice: the checks found nothing to improve." />;
  return (
    <ul className="advice">
      {advice.map(({ rule, definition, severity, message, mend, concern }) => (
        <li key={`${rule} ${definition} ${message}`} className={severity}>
          <header>
            <span className="severity">{severity}</span>
            <b>{definition}</b>
            <small>
              {rule}
              {concern === undefined ? "" : ` · ${concern}`}
            </small>
          </header>
          <p>{message}</p>
          <p className="mend">{mend}</p>
        </li>
      ))}
    </ul>
  );
};

/** What a migration of the table to this model would do. */
const Migration = (): ReactNode => {
  const { value, error, again } = useAnswer("migration", (signal) => get<MigrationAnswer>("migration", {}, signal));
  if (error) return <Failure error={error} again={again} />;
  if (!value) return <Notice title="Comparing the table with the model…" />;
  const { steps, refusals, notes, cost, underway } = value;
  if (steps.length === 0 && refusals.length === 0)
    return <p className="migration">The table follows this model: there is nothing to migrate.</p>;
  return (
    <div className="migration">
      {underway ? <p className="badge remote">A migration has begun and not ended.</p> : null}
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {steps.length === 0 ? null : (
        <p>
          At most {cost.readUnits.toLocaleString("en-US")} read and {cost.writeUnits.toLocaleString("en-US")} write units.{" "}
          <code>edgetable migrate run</code> takes these steps.
        </p>
      )}
      <ul className="refusals">
        {refusals.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {notes.map((note) => (
        <p key={note} className="mend">
          {note}
        </p>
      ))}
    </div>
  );
};

/** The model: its types as a diagram, where each type's keys put it, and the advice of `edgetable check`. */
export const ModelView = (): ReactNode => {
  const { table, file } = useModel();
  const { value, error, again } = useAnswer("advice", (signal) => get<AdviceAnswer>("advice", {}, signal));
  return (
    <div className="model-view">
      <div className="heading">
        <h1>Model</h1>
        <p>
          {table} · <code>{file}</code>
        </p>
      </div>
      <section className="card">
        <Diagram />
      </section>
      <section className="card">
        <h2>Keys</h2>
        <KeyLayout />
      </section>
      <section className="card">
        <h2>Migration</h2>
        <Migration />
      </section>
      <section className="card">
        <h2>Advice{value ? <small> {value.advice.length}</small> : null}</h2>
        {error ? (
          <Failure error={error} again={again} />
        ) : value ? (
          <Advice advice={value.advice} />
        ) : (
          <Notice title="Checking the model…" />
        )}
      </section>
    </div>
  );
};
