import { useCallback, useEffect, useRef, useState } from "react";
import type { ErrorAnswer } from "../wire.ts";

/** An error that the server answered, or that the connection to it had. */
export class ApiError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What an error says. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const answerOf = async <T>(sent: Promise<Response>): Promise<T> => {
  let response: Response;
  try {
    response = await sent;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("studio.gone", "The studio does not answer. Start edgetable studio again and open the link that it prints.");
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const otherwise = response.ok ? "The studio's answer broke off. Try again." : `The studio answered ${response.status}.`;
  const { code = "studio.gone", message = otherwise } = (body as ErrorAnswer | undefined)?.error ?? {};
  throw new ApiError(code, message);
};

/** Reads from the API. Parameters that are undefined are left out. @throws {ApiError} */
export const get = async <T>(path: string, query: Readonly<Record<string, string | undefined>> = {}, signal?: AbortSignal): Promise<T> => {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return answerOf(fetch(`/api/${path}${search === "" ? "" : `?${search}`}`, signal ? { signal } : {}));
};

/** Sends JSON to the API. @throws {ApiError} */
export const post = async <T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  answerOf(
    fetch(`/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    }),
  );

/** An answer that is awaited, came, or failed. */
export interface Awaited<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly again: () => void;
}

/** Loads an answer when the component appears and when `key` changes; an answer for an earlier key is discarded. */
export const useAnswer = <T>(key: string, load: (signal: AbortSignal) => Promise<T>): Awaited<T> => {
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<{ readonly key: string; readonly value?: T; readonly error?: ApiError }>({ key });
  useEffect(() => {
    const ended = new AbortController();
    load(ended.signal).then(
      (value) => !ended.signal.aborted && setState({ key, value }),
      (error: unknown) => !ended.signal.aborted && setState({ key, error: error as ApiError }),
    );
    return () => ended.abort();
    // `key` says what `load` loads.
  }, [key, tries]);
  const again = useCallback(() => {
    setState({ key });
    setTries((count) => count + 1);
  }, [key]);
  const isCurrent = state.key === key;
  return { value: isCurrent ? state.value : undefined, error: isCurrent ? state.error : undefined, again };
};

/** Milliseconds after the last letter before what is typed is asked for. */
const QUIET = 350;

/** A text once it has not changed for a moment. */
export const useQuiet = (text: string): string => {
  const [quiet, setQuiet] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), QUIET);
    return () => clearTimeout(timer);
  }, [text]);
  return quiet;
};

/** Begins a question; what it gives says whether none was begun since. Answers to earlier ones come too late to be shown. */
export const useNewest = (): (() => () => boolean) => {
  const count = useRef(0);
  return useCallback(() => {
    const own = ++count.current;
    return () => own === count.current;
  }, []);
};

/** The last value that was there for a key, while the next one is read. */
export const useLast = <T>(key: string, value: T | undefined): T | undefined => {
  const last = useRef<{ readonly key: string; readonly value: T }>(undefined);
  if (value !== undefined) last.current = { key, value };
  return last.current?.key === key ? last.current.value : undefined;
};
