import { member, type Reported } from "../perform.ts";
import { ABSENT, type Effect, type Ending, type Observation, type WriteRecord } from "../record.ts";
import { jobOptions, persist, settled, type Actor, type Made } from "./actor.ts";
import { isAmbiguous } from "../run-clients.ts";
import type { BatchCommand, BulkCommand, DeleteCommand, LinkCommand, NoteCommand, WriteCommand } from "./commands.ts";
import { performLoad } from "./load.ts";
import type { BulkDb } from "./model.ts";
import { alongWith, edgeObject, endsOf, idRow, nodeObject, noteObject, type BulkType } from "./names.ts";

type Row = Readonly<Record<string, unknown>>;

// The surface is typed by the model; a history picks its members at run time.
const bulkMember = (db: BulkDb, name: string): ReturnType<typeof member> => member(db as never, name);

const batch = async ({ client, next }: Actor, { writes }: BatchCommand): Promise<Made> => {
  const { db } = client;
  const value = `w${next()}`;
  const last = new Map(writes.map(({ item }, at) => [nodeObject("item", item), at]));
  const calls = writes.map(({ removes, item }, at) => {
    const id = idRow("item", item);
    return removes ? db.item.delete(id as never) : db.item.put({ ...id, value: `${value}.${at}` } as never);
  });
  const before = client.lostAnswers();
  const recorded = (endingOf: (at: number) => Ending): readonly WriteRecord[] =>
    writes.flatMap(({ removes, item }, at) => {
      const object = nodeObject("item", item);
      if (last.get(object) !== at) return [];
      const effect: Effect = { object, kind: "put", value: removes ? ABSENT : `${value}.${at}` };
      return [{ effect, ending: endingOf(at), repeated: client.lostAnswers() > before }];
    });
  // What is named as not written was not written, unless an answer was lost.
  const undone = (): Ending => (client.lostAnswers() > before ? "ambiguous" : "failed");
  try {
    const { unwritten } = await db.batch(calls);
    const named = new Map(unwritten.map(({ call, error }) => [call, error]));
    return settled({ writes: recorded((at) => (named.has(at) ? undone() : "ok")), named: [...named.values()] });
  } catch (error) {
    return settled({ writes: recorded(undone), error });
  }
};

interface Outcome {
  readonly ok: boolean;
  readonly reason?: string;
}

const single = async ({ client }: Actor, call: Reported, effect: Effect): Promise<Made> => {
  const before = client.lostAnswers();
  const recorded = (ending: Ending): readonly WriteRecord[] => [{ effect, ending, repeated: client.lostAnswers() > before }];
  try {
    const { ok, reason } = (await call.report()).value as Outcome;
    return settled({ writes: recorded(ok ? "ok" : (reason ?? "no reason")) });
  } catch (error) {
    return settled({ writes: recorded(isAmbiguous(error) ? "ambiguous" : "failed"), error });
  }
};

const write = (actor: Actor, { kind, type, id }: WriteCommand): Promise<Made> => {
  const value = `w${actor.next()}`;
  const call = bulkMember(actor.client.db, type)[kind]?.({ ...idRow(type, id), value }) as Reported;
  return single(actor, call, { object: nodeObject(type, id), kind, value });
};

const link = (actor: Actor, { edge, from, to }: LinkCommand): Promise<Made> => {
  const value = `w${actor.next()}`;
  const [near, far] = endsOf(edge);
  const call = bulkMember(actor.client.db, edge)["link"]?.(idRow(near, from), idRow(far, to), { value }) as Reported;
  return single(actor, call, { object: edgeObject(edge, from, to), kind: "create", value });
};

const note = (actor: Actor, { group, line }: NoteCommand): Promise<Made> => {
  const value = `w${actor.next()}`;
  const call = bulkMember(actor.client.db, "note")["put"]?.(idRow("group", group), { line, value }) as Reported;
  return single(actor, call, { object: noteObject(group, line), kind: "put", value });
};

// A deletion may take what goes along more than once, while it is under way.
const deletion = async (actor: Actor, { type, id }: DeleteCommand): Promise<Made> => {
  const call = bulkMember(actor.client.db, type)["delete"] as (...given: readonly unknown[]) => Reported;
  const { value, errors } = await persist(actor, async () => (await call(idRow(type, id), jobOptions).report()).value as Outcome);
  const tried = errors.length > 0;
  const ending: Ending = !value ? "ambiguous" : value.ok || (tried && value.reason === "notFound") ? "ok" : (value.reason ?? "no reason");
  const effects: readonly Effect[] = [
    // One job deletes a node, whoever asks: all who asked while the node was there are told that it is done.
    { object: nodeObject(type, id), kind: "put", value: ABSENT },
    ...alongWith(type, id).map((object): Effect => ({ object, kind: "put", value: ABSENT })),
  ];
  const writes = effects.map((effect) => ({ effect, ending, repeated: true }));
  return settled(value ? { writes, named: errors } : { writes, named: errors.slice(0, -1), error: errors.at(-1) });
};

const job = async (actor: Actor, kind: "reshard" | "resume"): Promise<Made> => {
  const { db } = actor.client;
  const { value, errors } = await persist(actor, async () => {
    if (kind === "reshard") return db.reshard({ ...jobOptions, rate: 100_000, deadline: 30_000 });
    const { resumed } = await db.jobs.resumeAll(jobOptions);
    await Promise.allSettled(resumed.map(({ done }) => done));
    return Promise.all(resumed.map(({ done }) => done));
  });
  return settled(value ? { named: errors } : { named: errors.slice(0, -1), error: errors.at(-1) });
};

const look = async ({ client }: Actor, { type, id }: { readonly type: BulkType; readonly id: number }): Promise<Made> => {
  try {
    const row = (await bulkMember(client.db, type)["get"]?.(idRow(type, id), { consistent: true })) as Row | undefined;
    const seen: Observation = {
      object: nodeObject(type, id),
      value: row ? String(row["value"]) : ABSENT,
      strong: true,
      moving: false,
    };
    return settled({ observations: [seen] });
  } catch (error) {
    return settled({ error });
  }
};

/** Does what a command says, and tells what became of it. */
export const perform = (actor: Actor, command: BulkCommand): Promise<Made> => {
  switch (command.kind) {
    case "batch":
      return batch(actor, command);
    case "load":
      return performLoad(actor, command);
    case "delete":
      return deletion(actor, command);
    case "create":
    case "put":
      return write(actor, command);
    case "link":
      return link(actor, command);
    case "note":
      return note(actor, command);
    case "look":
      return look(actor, command);
    default:
      return job(actor, command.kind);
  }
};
