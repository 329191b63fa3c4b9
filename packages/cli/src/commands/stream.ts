import {
  createStreamConsumer,
  type DeadLetter,
  discardDeadLetters,
  listDeadLetters,
  replayDeadLetters,
  type StartPosition,
  type StreamGap,
  type StreamProgress,
} from "edgetable/streams";
import { connectOptions, placeOf, type UntypedDb, withDb, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { type CommandSpec, defineCommand, type Invocation, note, printJson, wholeNumber } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";
import { toJson } from "../output/json.ts";
import { counted, showKey } from "../output/explanation.ts";
import { createProgress, progressEvery } from "../output/terminal.ts";

interface Options {
  readonly from?: StartPosition;
  readonly lease?: number;
  readonly name?: string;
  readonly idle?: number;
}

type Call = Invocation<Options>;

const showLag = (lag: number): string => (lag < 1000 ? "no lag" : `${(lag / 1000).toFixed(1)} s behind`);

const showProgress = ({ records, rate, lag, stale, failures, deadLetters, gaps, shards, error }: StreamProgress): string => {
  const parts = [
    `${records.toLocaleString("en-US")} records`,
    `${rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString("en-US")}/s`,
    showLag(lag),
    counted(shards, "shard"),
  ];
  if (stale > 0) parts.push(`facts too late ${counted(stale, "time")}`);
  if (failures > 0) parts.push(counted(failures, "failure"));
  if (deadLetters > 0) parts.push(counted(deadLetters, "dead letter"));
  if (gaps > 0) parts.push(counted(gaps, "gap"));
  if (error) parts.push(`waiting: ${error.code}`);
  return parts.join(", ");
};

/** What a model gives the consumer to do. */
const workOf = ({ catalog: { facts, nodes } }: UntypedDb, handlers: object): string | undefined => {
  const names = Object.keys(handlers);
  const grids = Object.values(nodes).filter(({ definition }) => definition.fields?.storage === "document");
  const counters = facts.aggregates.filter(({ shards }) => shards !== undefined).length;
  const kept =
    counters + [...facts.aggregates, ...facts.summaries, ...facts.copies].filter(({ freshness }) => freshness === "stream").length;
  const work = [
    ...(kept > 0 ? [`keeps ${counted(kept, "derived attribute")}`] : []),
    ...(grids.length > 0 ? [`keeps the grid of ${grids.map(({ name }) => `"${name}"`).join(", ")}`] : []),
    ...(names.length > 0 ? [`calls ${names.map((name) => `"${name}"`).join(", ")}`] : []),
  ];
  return work.length > 0 ? work.join(" and ") : undefined;
};

const LOSSES: Readonly<Record<StreamGap["kind"], string>> = {
  trimmed: "they were older than 24 hours",
  gone: "the shard is gone",
  replaced: "the stream was switched off and on",
};

const consume = async (call: Call, db: UntypedDb, handlers: object): Promise<ExitCode> => {
  const { io, options } = call;
  const progress = createProgress(io);
  const onGap = ({ shard, kind }: StreamGap): void =>
    note(call, `Changes before or in ${shard} were lost: ${LOSSES[kind]}. Facts may be out of date: run edgetable verify --repair.`);
  const consumer = createStreamConsumer(db as never, handlers as never, {
    stream: placeOf(call),
    onGap,
    ...(options.from && { from: options.from }),
    ...(options.lease !== undefined && { lease: options.lease * 1000 }),
    ...(options.name !== undefined && { name: options.name }),
  });
  // Ended by the signal, and where nobody reads what it prints.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  io.signal.addEventListener("abort", end, { once: true });
  if (io.signal.aborted) end();
  const show = (one: StreamProgress): void => {
    if (options.json) io.out.write(`${toJson({ ...one, rate: Math.round(one.rate * 10) / 10 })}\n`);
    else progress.show(showProgress(one));
    io.out.drained().catch(end);
  };
  try {
    const idle = options.idle === undefined ? {} : { idle: options.idle * 1000 };
    const last = await consumer.run({ signal: ending.signal, onProgress: show, progressEvery: progressEvery(io), ...idle });
    progress.clear();
    if (!options.json)
      io.out.write(`${db.catalog.table}: stopped after ${showProgress({ ...last, shards: 0 }).replace(", 0 shards", "")}\n`);
    return exitCode.ok;
  } finally {
    io.signal.removeEventListener("abort", end);
    progress.clear();
  }
};

interface LetterOptions {
  readonly limit?: number;
  readonly all?: boolean;
}

const printLetter = ({ io, style }: Invocation<LetterOptions>, { id, handler, error, attempts, failedAt, record }: DeadLetter): void => {
  io.out.write(`${style.bold(id)}  ${handler}, ${counted(attempts, "attempt")}, ${failedAt.toISOString()}\n`);
  io.out.write(`  ${record.kind} of ${showKey(record.key)}\n  ${error.code}: ${error.message}\n\n`);
};

const listCommand = defineCommand<LetterOptions>({
  name: "list",
  summary: "List the records that kept failing, with the reason",
  options: [{ flags: "--limit <n>", text: "the most letters to list (default: 100)", parse: wholeNumber(1000) }],
  examples: ["edgetable stream dead-letters list", "edgetable stream dead-letters list --json"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { limit } = call.options;
      const letters = await listDeadLetters(db, { signal: call.io.signal, ...(limit !== undefined && { limit }) });
      if (call.options.json) printJson(call, { table: db.catalog.table, letters });
      else for (const letter of letters) printLetter(call, letter);
      if (!call.options.json) call.io.out.write(`${db.catalog.table}: ${counted(letters.length, "dead letter")}\n`);
      return letters.length > 0 ? exitCode.no : exitCode.ok;
    }),
});

const replayCommand = defineCommand<LetterOptions>({
  name: "replay",
  summary: "Pass dead letters to their handlers again, and delete those that succeed",
  arguments: "[letters...]",
  options: [{ flags: "--all", text: "replay all of them" }],
  examples: ["edgetable stream dead-letters replay --all", "edgetable stream dead-letters replay ID"],
  run: async (call) => {
    const ids = call.rest;
    if (ids.length === 0 && !call.options.all) throw usageError("Give the ids of dead letters, or --all.");
    const model = await loadModel(call.options.model, call.io.cwd);
    return withDb(theGraph(model), connectOptions(call), async (db): Promise<ExitCode> => {
      const handlers = (model.streamHandlers ?? {}) as never;
      const which = call.options.all ? {} : { ids };
      const { replayed, failed } = await replayDeadLetters(db as never, handlers, { ...which, signal: call.io.signal });
      if (call.options.json) printJson(call, { table: db.catalog.table, replayed, failed });
      else {
        for (const { id, error } of failed) call.io.out.write(`${id}  ${error.code}: ${error.message}\n`);
        call.io.out.write(`${db.catalog.table}: ${counted(replayed, "dead letter")} replayed, ${failed.length} failed\n`);
      }
      return failed.length > 0 ? exitCode.no : exitCode.ok;
    });
  },
});

const discardCommand = defineCommand({
  name: "discard",
  summary: "Delete dead letters",
  arguments: "<letters...>",
  examples: ["edgetable stream dead-letters discard ID"],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const discarded = await discardDeadLetters(db, { ids: call.rest });
      if (call.options.json) printJson(call, { table: db.catalog.table, discarded });
      else call.io.out.write(`${db.catalog.table}: ${counted(discarded, "dead letter")} deleted\n`);
      return discarded < call.rest.length ? exitCode.no : exitCode.ok;
    }),
});

const deadLettersCommand: CommandSpec = {
  name: "dead-letters",
  summary: "List, replay or delete the records that kept failing",
  description: "If the handler of a record keeps failing, the record is stored in the table, so that it does not block the others.",
  commands: [listCommand, replayCommand, discardCommand],
};

export const streamCommand: CommandSpec = defineCommand<Options>({
  name: "stream",
  group: "Data:",
  summary: "Read the table's stream: maintain derived attributes and call your handlers",
  description:
    'Maintains the attributes whose freshness is "stream", and calls the handlers that the model file exports as `streamHandlers`. Runs until it is interrupted. Several processes share the work, and take over from a process that died; checkpoints are in the table. The table\'s stream must be on: edgetable table create --stream.',
  options: [
    {
      flags: "--from <where>",
      text: "where to begin if no consumer of this name has read the stream: trim-horizon (up to 24 hours ago) or latest (default: trim-horizon)",
      choices: ["trim-horizon", "latest"],
    },
    {
      flags: "--name <name>",
      text: "share the work with processes of this name; processes of another name read the whole stream (default: default)",
    },
    { flags: "--idle <seconds>", text: "stop after this time without changes (default: never)", parse: wholeNumber(1_000_000) },
    { flags: "--lease <seconds>", text: "take over from a dead process after this time (default: 10)", parse: wholeNumber(600) },
  ],
  examples: [
    "edgetable stream",
    "edgetable stream --from latest --json",
    "edgetable stream --idle 60",
    "edgetable stream --endpoint http://127.0.0.1:8000",
  ],
  commands: [deadLettersCommand],
  run: async (call) => {
    const model = await loadModel(call.options.model, call.io.cwd);
    return withDb(theGraph(model), connectOptions(call), async (db): Promise<ExitCode> => {
      const { streamHandlers = {} } = model;
      const work = workOf(db, streamHandlers);
      if (work === undefined) {
        note(
          call,
          `There is nothing to do: no derived attribute of ${model.file} has freshness "stream", no grid is stored in documents, and it exports no \`streamHandlers\`.`,
        );
        return exitCode.ok;
      }
      if (!call.options.json) note(call, `${db.catalog.table}: ${work}. Stop with Ctrl-C.`);
      return consume(call, db, streamHandlers);
    });
  },
});
