import { type CallRecord, recordText } from "./record.ts";

interface View {
  readonly tokens: readonly string[];
  readonly total: number;
}

const viewOf = (value: string): View => {
  const [list = "", total] = value.split("=");
  return { tokens: list === "" ? [] : list.split(" "), total: Number(total) };
};

/** What one call saw of one account. */
interface Sight {
  readonly read: CallRecord;
  readonly object: string;
  readonly view: View;
}

const amountOf = (token: string): number => Number(token.split(":")[1]);

/** What any view of an account shows: each token once, the sum that of its tokens, none that was refused or not yet written. */
const viewComplaints = (calls: readonly CallRecord[], { read, object, view: { tokens, total } }: Sight): readonly string[] => {
  const sum = tokens.reduce((all, token) => all + amountOf(token), 0);
  const writes = calls.flatMap((call) => call.writes.filter(({ effect }) => effect.object === object).map((write) => ({ call, write })));
  const possible = writes
    .filter(({ call, write }) => (write.ending === "ok" || write.ending === "ambiguous") && call.invoke < read.respond)
    .map(({ write }) => write.effect.value);
  return [
    ...(new Set(tokens).size === tokens.length ? [] : [`applied twice: ${tokens.join(" ")}`]),
    ...(sum === total ? [] : [`the sum is ${total}, its parts make ${sum}`]),
    ...tokens.filter((token) => !possible.includes(token)).map((token) => `token ${token} was refused or not written yet`),
  ];
};

const lost = (calls: readonly CallRecord[], { read, object, view: { tokens } }: Sight): readonly string[] =>
  calls.flatMap((call) =>
    call.respond > read.invoke
      ? []
      : call.writes
          .filter(({ effect, ending }) => effect.object === object && ending === "ok" && !tokens.includes(effect.value))
          .map(({ effect }) => `acknowledged token ${effect.value} is lost`),
  );

/** Sums and lists: exactly once, whatever was repeated on the way. */
export const checkTokens = (calls: readonly CallRecord[]): readonly string[] =>
  calls.flatMap((read) =>
    read.observations
      .filter(({ object }) => object.startsWith("tokens:"))
      .flatMap(({ object, value, strong }) => {
        const sight: Sight = { read, object, view: viewOf(value) };
        const complaints = [...viewComplaints(calls, sight), ...(strong ? lost(calls, sight) : [])];
        return complaints.map(
          (complaint) => `${object}: ${complaint}, as seen by [${read.invoke}] ${read.text}\n${recordText(calls, object)}`,
        );
      }),
  );

/** A transfer is in both accounts or in neither. */
export const checkTransfers = (calls: readonly CallRecord[], final: ReadonlyMap<string, string>): readonly string[] =>
  calls.flatMap(({ text, writes }) => {
    const halves = writes.filter(({ effect }) => effect.kind === "append");
    if (halves.length < 2) return [];
    const present = halves.filter(({ effect }) => viewOf(final.get(effect.object) ?? "=0").tokens.includes(effect.value));
    return present.length === 0 || present.length === halves.length
      ? []
      : [`${text} happened by half: ${present.map(({ effect }) => effect.object).join(", ")}`];
  });
