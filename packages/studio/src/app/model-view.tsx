import type { ReactNode } from "react";
import type { AdviceAnswer, MigrationAnswer, WireAdvice, WireIndex } from "../wire.ts";
import { get, useAnswer } from "./api.ts";
import { Failure, KeyTemplate, Notice, TypeMark, useColour } from "./item-parts.tsx";
import { Diagram } from "./model-diagram.tsx";
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
        <div className="scroll" tabIndex={0} role="region" aria-label="Diagram">
          <Diagram />
        </div>
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
