import { type CSSProperties, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { ShardCountAnswer, ShardCountRequest, ShardsAnswer, WireShard, WireShardGroup } from "../wire.ts";
import { get, messageOf, post, useAnswer } from "./api.ts";
import { counted, KeyTemplate, showText, showUnits, TypeMark, useColour } from "./item-parts.tsx";
import { useModel } from "./model.ts";
import { addressOf, linkTo } from "./route.ts";
import "./shards.css";

/** Partitions that one request counts. */
const TOGETHER = 64;
/** Read units of a megabyte, which a Query reads at most. */
const MEGABYTE = 128;
/** Shards beyond which columns have no texts of their own. */
const NAMED = 24;
/** How many times the mean the fullest shard may hold: up to what shards are even, and from where on it is pointed out, if there are some items for each shard. */
const EVEN = 1.1;
const UNEVEN = 1.5;
const ENOUGH = 20;

/** What was counted of one kind in one partition; `next` goes on if there is more. */
interface Counted {
  readonly items: number;
  readonly next?: string | undefined;
}

interface Counts {
  readonly of: ReadonlyMap<string, Counted>;
  readonly requests: number;
  readonly readUnits: number;
  readonly busy?: boolean;
  readonly problem?: string;
}

type Kind = WireShardGroup["kinds"][number];

const keyOf = ({ partition }: WireShard, { sortPrefix }: Kind): string => JSON.stringify([partition, sortPrefix]);

/** Kinds that are counted one by one: those that their sort keys do not tell apart are counted together, as the first. */
const countedKinds = ({ kinds }: WireShardGroup): readonly Kind[] => (kinds[0]?.sortPrefix === "" ? kinds.slice(0, 1) : kinds);

/** Counts of shards: `count` reads a megabyte more of each one that was not counted to its end. */
const useCounts = (index: string | undefined, groups: readonly WireShardGroup[]): readonly [Counts, (anew?: boolean) => Promise<void>] => {
  const [counts, setCounts] = useState<Counts>({ of: new Map(), requests: 0, readUnits: 0 });
  const ended = useRef<AbortController>(undefined);
  useEffect(() => () => ended.current?.abort(), []);
  const all = useMemo(
    () =>
      groups.flatMap((group) =>
        (group.shards ?? []).flatMap((shard) =>
          countedKinds(group).map((kind) => ({ key: keyOf(shard, kind), partition: shard.partition, sortPrefix: kind.sortPrefix })),
        ),
      ),
    [groups],
  );
  const count = async (anew = false): Promise<void> => {
    const own = new AbortController();
    ended.current?.abort();
    ended.current = own;
    const known = new Map(anew ? [] : counts.of);
    let [requests, readUnits] = anew ? [0, 0] : [counts.requests, counts.readUnits];
    const open = all.filter(({ key }) => !known.has(key) || known.get(key)?.next !== undefined);
    try {
      for (let at = 0; at < open.length; at += TOGETHER) {
        setCounts({ of: new Map(known), requests, readUnits, busy: true });
        const part = open.slice(at, at + TOGETHER);
        const of = part.map(({ key, partition, sortPrefix }) => ({ partition, sortPrefix, cursor: known.get(key)?.next }));
        const body: ShardCountRequest = { index, of };
        const { counts: found, cost } = await post<ShardCountAnswer>("shards/count", body, own.signal);
        for (const [place, { key }] of part.entries()) {
          const { items, next } = found[place] ?? { items: 0 };
          known.set(key, { items: (known.get(key)?.items ?? 0) + items, next });
        }
        requests += cost.requests;
        readUnits += cost.readUnits;
      }
      setCounts({ of: known, requests, readUnits });
    } catch (error) {
      if (!own.signal.aborted) setCounts({ of: known, requests, readUnits, problem: messageOf(error) });
    }
  };
  return [counts, count];
};

/** A shard with what it holds of each kind; undefined before it was counted. */
interface Column extends WireShard {
  readonly items: readonly (Counted | undefined)[];
  readonly total: number;
}

const columnsOf = (group: WireShardGroup, { of }: Counts): readonly Column[] =>
  (group.shards ?? []).map((shard) => {
    const items = countedKinds(group).map((kind) => of.get(keyOf(shard, kind)));
    return { ...shard, items, total: items.reduce((sum, one) => sum + (one?.items ?? 0), 0) };
  });

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;

/** What the columns of a group say together. */
const verdictOf = (columns: readonly Column[], total: number): { readonly text: string; readonly uneven: boolean } => {
  const mean = total / columns.length;
  const fullest = columns.reduce((most, one) => (one.total > most.total ? one : most));
  if (total === 0) return { text: "empty", uneven: false };
  if (columns.length === 1) return { text: "one shard", uneven: false };
  const times = fullest.total / mean;
  if (times < EVEN) return { text: "evenly spread", uneven: false };
  if (times < UNEVEN || mean < ENOUGH) return { text: `the fullest holds ${percent(fullest.total / total)}`, uneven: false };
  return { text: `shard ${fullest.shard} holds ${times.toFixed(1)} times the mean`, uneven: true };
};

/** A shard as a column in the colours of its kinds: a link to its partition. */
const ShardColumn = ({
  column: { shard, partition: key, items, total },
  share,
  most,
  kinds,
  href: { index, isShown },
}: {
  readonly column: Column;
  /** Of all shards of the group; undefined before they were counted. */
  readonly share: number | undefined;
  /** Items of the fullest shard. */
  readonly most: number;
  readonly kinds: readonly Kind[];
  readonly href: { readonly index: string | undefined; readonly isShown: boolean };
}): ReactNode => {
  const colour = useColour();
  const isKnown = items.every((one) => one !== undefined);
  const number = `${total.toLocaleString("en-US")}${items.some((one) => one?.next !== undefined) ? "+" : ""}`;
  const shareText = share === undefined ? "" : percent(share);
  const label = `Shard ${shard}, ${showText(key)}${isKnown ? `: ${number} items${shareText === "" ? "" : `, ${shareText}`}` : ""}`;
  return (
    <li>
      <a {...linkTo(addressOf("table", { index, partition: key }))} title={label} aria-current={isShown ? "true" : undefined}>
        <span className="hidden">{label}</span>
        <span className="share" aria-hidden="true">
          {isKnown ? shareText : ""}
        </span>
        <span className="column" aria-hidden="true">
          {kinds.map(({ name }, at) => (
            <span key={name} className={`shard-bar ${colour(name)}`} style={{ height: `${((items[at]?.items ?? 0) / most) * 100}%` }} />
          ))}
        </span>
        <span className="number" aria-hidden="true">
          <b>{shard}</b>
          {isKnown ? <small>{number}</small> : null}
        </span>
      </a>
    </li>
  );
};

/** Columns side by side, as high as the shards are full; the line is the mean. */
const Group = ({
  group,
  index,
  partition,
  counts,
}: {
  readonly group: WireShardGroup;
  readonly index: string | undefined;
  /** The partition that the view shows. */
  readonly partition: string | undefined;
  readonly counts: Counts;
}): ReactNode => {
  const { kinds, template, count, shards } = group;
  const columns = columnsOf(group, counts);
  const total = columns.reduce((sum, one) => sum + one.total, 0);
  const most = Math.max(1, ...columns.map((one) => one.total));
  const isCounted = columns.length > 0 && columns.every(({ items }) => items.every((one) => one !== undefined));
  const isOpen = columns.some(({ items }) => items.some((one) => one?.next !== undefined));
  const verdict = isCounted ? verdictOf(columns, total) : undefined;
  return (
    <div className="shard-group" style={{ flexGrow: Math.min(NAMED, columns.length) }}>
      <p className="shard-title">
        {kinds.map(({ kind, name }) => (
          <TypeMark key={name} type={name} kind={kind} />
        ))}
        <span className="shard-facts">
          {isCounted ? `${total.toLocaleString("en-US")}${isOpen ? "+" : ""} items` : counted(count, "shard")}
          {verdict ? (
            <>
              {" · "}
              <span className={verdict.uneven ? "uneven" : ""}>{verdict.text}</span>
            </>
          ) : null}
        </span>
      </p>
      {shards ? (
        <ol
          className={columns.length > NAMED ? "shard-columns many" : "shard-columns"}
          style={{ "--mean": `${isCounted ? (total / columns.length / most) * 100 : 0}%` } as CSSProperties}
        >
          {columns.map((column) => (
            <ShardColumn
              key={column.partition}
              {...{ column, most }}
              share={total === 0 ? undefined : column.total / total}
              kinds={countedKinds(group)}
              href={{ index, isShown: column.partition === partition }}
            />
          ))}
        </ol>
      ) : (
        <p className="shard-open">
          <KeyTemplate source={template} /> has {counted(count, "shard")} for each value: open a partition to compare them.
        </p>
      )}
      {shards && count > shards.length ? (
        <p className="shard-open">
          The first {shards.length} of {count.toLocaleString("en-US")}.
        </p>
      ) : null}
    </div>
  );
};

/** The shards of an index side by side, with the share that each one holds; in a partition's view, those beside it. */
export const Shards = ({ index, partition }: { readonly index: string | undefined; readonly partition: string | undefined }): ReactNode => {
  const { value, error } = useAnswer(JSON.stringify(["shards", index, partition]), (signal) =>
    get<ShardsAnswer>("shards", { index, partition }, signal),
  );
  if (error) return <p className="shard-open problem">{error.message}</p>;
  if (!value || value.groups.length === 0) return null;
  return <CountedShards key={JSON.stringify([index, partition])} index={index} partition={partition} groups={value.groups} />;
};

const CountedShards = ({
  index,
  partition,
  groups,
}: {
  readonly index: string | undefined;
  readonly partition: string | undefined;
  readonly groups: readonly WireShardGroup[];
}): ReactNode => {
  const { local } = useModel();
  const [counts, count] = useCounts(index, groups);
  const wanted = groups.reduce((sum, group) => sum + (group.shards?.length ?? 0) * countedKinds(group).length, 0);
  const begin = useRef(count);
  useEffect(() => {
    // On this machine, reading costs nothing.
    if (local && wanted > 0) void begin.current();
  }, [local, wanted]);
  const { of, requests, readUnits, busy, problem } = counts;
  const isOpen = [...of.values()].some(({ next }) => next !== undefined);
  const isBegun = of.size > 0;
  return (
    <details className="shards" open>
      <summary>Shards</summary>
      <div className="shard-tools">
        <p role="status">
          {busy ? "Counting…" : isBegun ? `counted by ${counted(requests, "request")}, ${showUnits(readUnits)}` : null}
          {!busy && !isBegun && !problem && wanted > 0
            ? `Counting takes ${counted(wanted, "request")} of at most 1 MB: up to ${(wanted * MEGABYTE).toLocaleString("en-US")} RCU.`
            : null}
        </p>
        {wanted === 0 || busy ? null : (
          <button type="button" className="quiet" onClick={() => void count(isBegun && !isOpen)}>
            {isOpen ? "Continue counting" : isBegun ? "Count again" : problem ? "Try again" : "Count"}
          </button>
        )}
      </div>
      {problem ? (
        <p role="alert" className="shard-open problem">
          {problem}
        </p>
      ) : null}
      <div className="shard-groups">
        {groups.map((group) => (
          <Group key={`${group.template} ${group.kinds.map(({ name }) => name).join(" ")}`} {...{ group, index, partition, counts }} />
        ))}
      </div>
    </details>
  );
};
