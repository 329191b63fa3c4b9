import { useEffect, useRef, useState, type ReactNode } from "react";
import type { HealthAnswer, VerifyAnswer, WireChange, WireJob, WireMigration } from "../wire.ts";
import { get, messageOf, post, useAnswer } from "./api.ts";
import {
  changeWords,
  counted,
  EndLink,
  Failure,
  KeyText,
  nameOf,
  Notice,
  showDistance,
  showSpan,
  showText,
  showUnits,
  showValue,
  TypeMark,
  useColour,
} from "./item-parts.tsx";
import { BatchResults } from "./batch-results.tsx";
import { useChanges } from "./changes.ts";
import { useModel } from "./model.ts";
import { addressOf, linkTo, type Query, go } from "./route.ts";
import "./live.css";

/** Milliseconds between two looks at the jobs. */
const LOOK = 5000;
/** What became of an item. */
const Change = ({ change: { kind, time, item, changed, was } }: { readonly change: WireChange }): ReactNode => {
  const { indexes } = useModel();
  const colour = useColour();
  const [table] = indexes;
  const [partitionKey, sortKey] = [table?.partitionKey ?? "pk", table?.sortKey ?? ""];
  const partition = (item.keys[partitionKey] ?? []).map(({ text }) => text).join("");
  // Keys follow from attributes, and say nothing more.
  const fields = item.fields.filter(({ attribute }) => changed.includes(attribute));
  return (
    <li className={`change ${kind} ${colour(item.kind === "system" ? "~" : item.name)}`}>
      <time dateTime={new Date(time).toISOString()}>{new Date(time).toLocaleTimeString("en-GB")}</time>
      <span className="what">{changeWords[kind]}</span>
      <TypeMark type={item.kind === "system" ? "~" : item.name} kind={item.kind}>
        {nameOf(item)}
      </TypeMark>
      <a className="where" {...linkTo(addressOf("table", { partition }))}>
        <KeyText pieces={item.keys[partitionKey]} />
        {sortKey !== "" && item.keys[sortKey] ? (
          <>
            <span className="slash"> / </span>
            <KeyText pieces={item.keys[sortKey]} />
          </>
        ) : null}
      </a>
      {item.ends.map((end) => (
        <EndLink key={end.role} end={end} />
      ))}
      {fields.length === 0 ? null : (
        <dl>
          {fields.map(({ name, attribute }) => (
            <div key={attribute}>
              <dt>{name}</dt>
              <dd>
                <del>{showText(showValue(was[attribute])) || "–"}</del> → <ins>{showText(showValue(item.item[attribute])) || "–"}</ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
};

const isShown = (value: unknown): value is string | number | boolean =>
  (typeof value === "string" && value !== "" && value.length < 80) || typeof value === "number" || typeof value === "boolean";

const Job = ({ job: { id, kind, running, leasedUntil, runs, facts } }: { readonly job: WireJob }): ReactNode => (
  <li>
    <p>
      <b>{kind}</b> <span className={running ? "badge local" : "badge"}>{running ? "running" : "not running"}</span>
    </p>
    <code>{id}</code>
    <small>
      started {counted(runs, "time")}
      {running ? `, leased until ${new Date(leasedUntil).toLocaleTimeString("en-GB")}` : ""}
      {Object.entries(facts)
        .filter(([, value]) => isShown(value))
        .map(([name, value]) => ` · ${name} ${String(value)}`)}
    </small>
  </li>
);

const showLag = (lag: number | undefined): string =>
  lag === undefined ? "lag not known" : lag < 1000 ? "up to date" : `${showSpan(lag)} behind`;

/** The consumers of the stream, and how far each group is behind. */
const Consumers = ({ consumers }: Pick<HealthAnswer, "consumers">): ReactNode => (
  <section aria-label="Consumers">
    <h2>Consumers</h2>
    {consumers.length === 0 ? <p className="facts">No consumer has read the stream.</p> : null}
    <ul className="jobs">
      {consumers.map(({ name, consumers: alive, shards, lag }) => (
        <li key={name}>
          <p>
            <b>{name}</b>{" "}
            <span className={alive > 0 ? "badge local" : "badge"}>{alive > 0 ? counted(alive, "consumer") : "not running"}</span>
          </p>
          <small>
            <span className={lag === 0 || (lag ?? 0) < 60_000 ? "" : "problem"}>{showLag(lag)}</span> · {counted(shards, "shard")}
          </small>
        </li>
      ))}
    </ul>
  </section>
);

/** A migration that has begun and not ended. */
const Migration = ({ migration }: { readonly migration: WireMigration }): ReactNode => {
  const { says, begunAt, running, steps, pass, seen, stale, changed, unfit, indexes } = migration;
  return (
    <section aria-label="Migration">
      <h2>Migration</h2>
      <p>
        <span className={running ? "badge local" : "badge"}>{running ? "running" : "not running"}</span> {says}
      </p>
      <ul className="jobs">
        {steps.map((step) => (
          <li key={step}>
            <small>{step}</small>
          </li>
        ))}
      </ul>
      <small className="facts">
        {begunAt === undefined ? "" : `started ${showDistance(begunAt)}`}
        {pass > 0 ? ` · pass ${pass}: ${counted(seen, "item")} read, ${stale.toLocaleString("en-US")} to change` : ""}
        {changed > 0 ? ` · ${counted(changed, "item")} changed` : ""}
        {unfit > 0 ? ` · ${counted(unfit, "item")} cannot have the keys` : ""}
        {indexes.map(({ name, state }) => ` · ${name} ${state}`)}
      </small>
    </section>
  );
};

/** Jobs and dead letters, looked at again every few seconds. */
const Health = (): ReactNode => {
  const [look, setLook] = useState(0);
  const { value, error, again } = useAnswer(`health ${look}`, (signal) => get<HealthAnswer>("health", {}, signal));
  const last = useRef<HealthAnswer>(undefined);
  if (value) last.current = value;
  useEffect(() => {
    const timer = setInterval(() => setLook((count) => count + 1), LOOK);
    return () => clearInterval(timer);
  }, []);
  const shown = last.current;
  if (error) return <Failure error={error} again={again} />;
  if (!shown) return <p className="reading">Reading…</p>;
  return (
    <>
      {shown.migration ? <Migration migration={shown.migration} /> : null}
      <Consumers consumers={shown.consumers} />
      <section aria-label="Jobs">
        <h2>Jobs</h2>
        {shown.jobs.length === 0 ? <p className="facts">No job is under way, and none was left.</p> : null}
        <ul className="jobs">
          {shown.jobs.map((job) => (
            <Job key={job.id} job={job} />
          ))}
        </ul>
      </section>
      <section aria-label="Dead letters">
        <h2>Dead letters</h2>
        {shown.deadLetters.length === 0 ? <p className="facts">None: every record was processed.</p> : null}
        <ul className="jobs">
          {shown.deadLetters.map(({ id, handler, error: cause, attempts, failedAt }) => (
            <li key={id}>
              <p>
                <b>{handler}</b> <span className="problem">{cause.code}</span>
              </p>
              <small>
                {cause.message} · {counted(attempts, "attempt")}, {showDistance(failedAt)}
              </small>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
};

/** Compares the whole table with its model, when asked: that reads every item. */
const Verification = (): ReactNode => {
  const [state, setState] = useState<{ readonly busy?: boolean; readonly value?: VerifyAnswer; readonly error?: string }>({});
  const run = async (): Promise<void> => {
    setState({ busy: true });
    try {
      setState({ value: await post<VerifyAnswer>("verify", {}) });
    } catch (error) {
      setState({ error: messageOf(error) });
    }
  };
  const { busy, value, error } = state;
  return (
    <section aria-label="Verification">
      <h2>Verification</h2>
      <button type="button" disabled={busy} onClick={() => void run()}>
        {busy ? "Reading the table…" : "Verify"}
      </button>
      <p className="facts">Reads every item, and changes nothing.</p>
      <div role="status">
        {value ? (
          <>
            <p className={value.clean ? "good" : "problem"}>
              {value.clean ? "The table is as the model says." : "Items differ from the model; edgetable verify names them."}{" "}
              {counted(value.items, "item")} read, {showUnits(value.cost.readUnits)}.
            </p>
            <ul className="jobs">
              {value.kinds.map(({ kind, count, what, isHarmless }) => (
                <li key={kind}>
                  <b>{count.toLocaleString("en-US")}</b> {what}
                  {isHarmless ? " (harmless)" : ""}
                </li>
              ))}
            </ul>
          </>
        ) : null}
        {error === undefined ? null : <p className="problem">{error}</p>}
      </div>
    </section>
  );
};

/** Why no changes are shown. A table without a stream is as its owner made it. */
const Unwatched = ({
  problem,
  again,
}: {
  readonly problem: { readonly code?: string; readonly message: string };
  readonly again: () => void;
}): ReactNode =>
  problem.code === "stream.notEnabled" ? (
    <Notice title="The table has no stream.">
      <p>
        A stream records what programs change. Enable it with <code>edgetable table create --stream</code>, or{" "}
        <code>db.table.create({"{ stream: true }"})</code>.
      </p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </Notice>
  ) : (
    <Failure error={problem} again={again} />
  );

/** The table's changes as they happen, and the health of what works on it. */
export const LiveView = ({ query }: { readonly query: Query }): ReactNode => {
  const [paused, setPaused] = useState(false);
  const [{ changes, problem, isWatching }, again] = useChanges(paused);
  const showsOwn = query["own"] === "1";
  const showsResults = query["show"] === "results";
  const segment = (show: string | undefined, text: string): ReactNode => (
    <a {...linkTo(addressOf("live", { ...query, show, result: undefined }))} aria-current={query["show"] === show ? "page" : undefined}>
      {text}
    </a>
  );
  const shown = changes.filter(({ item }) => showsOwn || item.kind !== "system");
  return (
    <div className="live">
      <div className="table-main">
        <div className="heading">
          <h1>Live</h1>
          <nav className="segments" aria-label="Shown">
            {segment(undefined, "Changes")}
            {segment("results", "Batch results")}
          </nav>
          {showsResults ? null : (
            <>
              <p role="status">
                {problem ? "not watching" : paused ? "paused" : isWatching ? "watching the stream" : "starting…"} ·{" "}
                {counted(shown.length, "change")}
              </p>
              <div className="tools">
                <label>
                  <input
                    type="checkbox"
                    checked={showsOwn}
                    onChange={() => go(addressOf("live", { ...query, own: showsOwn ? undefined : "1" }), { replace: true })}
                  />
                  Edgetable’s own items
                </label>
                <button type="button" aria-pressed={paused} disabled={problem !== undefined} onClick={() => setPaused(!paused)}>
                  {paused ? "Resume" : "Pause"}
                </button>
              </div>
            </>
          )}
        </div>
        {showsResults ? (
          <BatchResults query={query} />
        ) : problem ? (
          <Unwatched problem={problem} again={again} />
        ) : shown.length === 0 ? (
          <Notice title="Nothing has changed since you opened this view.">
            <p>What programs write to the table from now on appears here.</p>
          </Notice>
        ) : (
          <ol className="changes" tabIndex={0} aria-label="Changes, the newest first">
            {shown.map((change) => (
              <Change key={`${change.time} ${change.number}`} change={change} />
            ))}
          </ol>
        )}
      </div>
      <aside className="panel" aria-label="Health">
        <div className="panel-body">
          <Health />
          <Verification />
        </div>
      </aside>
    </div>
  );
};
