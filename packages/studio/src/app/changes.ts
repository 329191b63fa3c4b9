import { useEffect, useMemo, useRef, useState } from "react";
import type { LiveAnswer, WireChange } from "../wire.ts";
import { get } from "./api.ts";
import { useModel } from "./model.ts";
import { addressOf, go, useRoute } from "./route.ts";

/** Changes that the page keeps. */
const KEPT = 500;
/** Milliseconds before a connection that failed is tried again. */
const AGAIN = 3000;

interface Feed {
  /** The newest first. */
  readonly changes: readonly WireChange[];
  readonly problem: { readonly code?: string; readonly message: string } | undefined;
  readonly isWatching: boolean;
}

/** Asks for changes until it is paused: each question waits at the server until there is one. */
export const useChanges = (paused: boolean): readonly [Feed, () => void] => {
  const [feed, setFeed] = useState<Feed>({ changes: [], problem: undefined, isWatching: false });
  const [tries, setTries] = useState(0);
  const after = useRef<number>(undefined);
  useEffect(() => {
    if (paused) return undefined;
    const ended = new AbortController();
    const ask = async (): Promise<void> => {
      while (!ended.signal.aborted)
        try {
          const { changes, last, problem } = await get<LiveAnswer>("live", { after: String(after.current ?? 0) }, ended.signal);
          after.current = last;
          setFeed((before) => ({ changes: [...changes.toReversed(), ...before.changes].slice(0, KEPT), problem, isWatching: !problem }));
          if (problem) return;
        } catch (error) {
          if (ended.signal.aborted) return;
          setFeed((before) => ({ ...before, problem: error as Error, isWatching: false }));
          await new Promise((resolve) => setTimeout(resolve, AGAIN));
        }
    };
    void ask();
    return () => ended.abort();
  }, [paused, tries]);
  return [feed, () => setTries((count) => count + 1)];
};

const useVisible = (): boolean => {
  const [isVisible, setVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const look = (): void => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return isVisible;
};

/** The changes since a view was opened, the newest first, and the switch of the watch. */
export interface Marks {
  readonly changes: readonly WireChange[];
  readonly isOn: boolean;
  /** Why nothing is watched. */
  readonly problem: { readonly code?: string; readonly message: string } | undefined;
  readonly toggle: () => void;
}

/**
 * What changes while a view is open. The stream is read only while the page is in view, and of a table that is not on this machine
 * only when asked: its requests cost money.
 */
export const useMarks = (): Marks => {
  const { local } = useModel();
  const { view, query } = useRoute();
  const isOn = query["live"] === undefined ? local : query["live"] === "1";
  const isVisible = useVisible();
  const [{ changes, problem }] = useChanges(!isOn || !isVisible);
  const [since] = useState(() => Date.now());
  // DynamoDB tells whole seconds.
  const shown = useMemo(() => changes.filter(({ time }) => time >= since - 1000), [changes, since]);
  return {
    changes: shown,
    isOn,
    problem: isOn ? problem : undefined,
    toggle: () => go(addressOf(view, { ...query, live: isOn ? "0" : "1" }), { replace: true }),
  };
};
