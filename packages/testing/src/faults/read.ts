import type { BatchGetItemInput, BatchGetItemOutput, GetItemInput, GetItemOutput, QueryInput, QueryOutput, ScanInput } from "edgetable";
import { type Look, unseenBy } from "../past/past.ts";
import { pastBatchGet, pastGet } from "../past/past-get.ts";
import { type PastAnswer, pastQuery } from "../past/past-query.ts";
import { boundOf } from "./amount.ts";
import { partialKeys } from "./batches.ts";
import type { Liar, Turn } from "./liar.ts";
import { emptyPage } from "./pages.ts";

/** Looks back when the request's fate says so, else asks for the present. */
const lookOr = async <T>(
  liar: Liar,
  turn: Turn,
  ways: { back: (look: Look) => Promise<PastAnswer<T>>; present: () => Promise<T> },
): Promise<T> => {
  const { lag } = turn.decision;
  if (lag === undefined) return ways.present();
  const unseen = unseenBy(lag, boundOf(lag.fault, liar.options), liar.effects.now());
  const answer = await ways.back({ unseen, options: turn.options });
  if (answer.lagged) liar.note(lag);
  return answer.output;
};

/** Answers a GetItem, from the past when its fate says so. */
export const readItem = (liar: Liar, input: GetItemInput, turn: Turn): Promise<GetItemOutput> =>
  lookOr(liar, turn, { back: (look) => pastGet(liar.past, input, look), present: () => liar.inner.send("GetItem", input, turn.options) });

/** Answers a BatchGetItem, from the past or in part when its fate says so. */
export const readBatch = async (liar: Liar, input: BatchGetItemInput, turn: Turn): Promise<BatchGetItemOutput> => {
  const ask = (part: BatchGetItemInput): Promise<BatchGetItemOutput> =>
    lookOr(liar, turn, {
      back: (look) => pastBatchGet(liar.past, part, look),
      present: () => liar.inner.send("BatchGetItem", part, turn.options),
    });
  const { fault } = turn.decision;
  if (fault?.fault !== "unprocessed") return ask(input);
  liar.note(fault);
  return partialKeys(input, fault, ask);
};

const noLonger = (limit: number | undefined, amount: number): number => Math.max(1, Math.min(limit ?? amount, amount));

/** Answers a Query, from the past or with a short or empty page when its fate says so. */
export const readQuery = async (liar: Liar, input: QueryInput, turn: Turn): Promise<QueryOutput> => {
  const ask = (page: QueryInput): Promise<QueryOutput> =>
    lookOr(liar, turn, { back: (look) => pastQuery(liar.past, page, look), present: () => liar.inner.send("Query", page, turn.options) });
  const { fault } = turn.decision;
  if (fault?.fault === "shortPage") {
    liar.note(fault);
    return ask({ ...input, Limit: noLonger(input.Limit, fault.amount ?? 1) });
  }
  const empty = fault?.fault === "emptyPage" ? await emptyPage(ask, input, await liar.past.shapes.of(input.TableName)) : undefined;
  if (fault && empty) liar.note(fault);
  return empty ?? ask(input);
};

/** Answers a Scan, with a short page when its fate says so. */
export const readScan = (liar: Liar, input: ScanInput, turn: Turn): Promise<QueryOutput> => {
  const { fault } = turn.decision;
  if (fault?.fault !== "shortPage") return liar.inner.send("Scan", input, turn.options);
  liar.note(fault);
  return liar.inner.send("Scan", { ...input, Limit: noLonger(input.Limit, fault.amount ?? 1) }, turn.options);
};
