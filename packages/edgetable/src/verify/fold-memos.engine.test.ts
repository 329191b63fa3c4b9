import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, distinct, edge, max, min, node, sum, summarize } from "../index.ts";
import { sampled } from "../../../../conformance/engines/property-runs.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import type { AttributeValue, Item, OperationInputs } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { verify, type VerifyOptions } from "./index.ts";

// Attributes that do not add up are verified by one pass over the table: nodes are read only where something differs.

const id = z.string();
const along = { along: "uses" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      room: node({
        key: "ROOM#{id}",
        schema: z.object({ id }),
        derived: {
          best: max({ in: "uses", of: "seats" }),
          least: min({ in: "uses", of: "seats" }),
          kinds: distinct({ in: "uses", of: "label" }),
          latest: max({ in: "uses", of: "at" }),
          users: count({ in: "uses", freshness: "stream" }),
          seats: sum({ in: "uses", of: "seats", freshness: "stream" }),
        },
      }),
    },
    edges: {
      uses: edge({
        from: "student",
        to: "room",
        key: ["n"],
        schema: z.object({ n: z.int(), seats: z.number(), label: z.string(), at: z.date() }),
        dates: ["at"],
      }),
      likes: summarize(edge({ from: "student", to: "room", stored: "twice" }), {
        most: max({ ...along, of: "seats" }),
        labels: distinct({ ...along, of: "label" }),
        times: count(along),
        mean: average({ ...along, of: "seats" }),
      }),
    },
  });

const ROOMS = 4;
const EACH = 12;

/** Rooms with a dozen uses each; the last room has none. Pages are of three items, so that they end within partitions. */
const filled = async () => {
  const opened = await openFactsLab(modelIn);
  const { db, lab, session } = opened;
  await db.load([
    ...Array.from({ length: 4 }, (_, at) => ({ node: "student" as const, row: { id: `s${at}` } })),
    ...Array.from({ length: ROOMS + 1 }, (_, at) => ({ node: "room" as const, row: { id: `r${at}` } })),
  ]);
  for (let room = 0; room < ROOMS; room++) {
    for (let n = 0; n < EACH; n++) {
      const seats = ((n * 7 + room) % 11) / (room === 1 ? 7 : 1) - 3;
      await db.uses.put(
        { id: `s${n % 4}` },
        { id: `r${room}` },
        { n, seats, label: `l${n % (room + 1)}`, at: new Date(n * 86_400_000 + room) },
      );
    }
    await db.likes.put({ id: `s${room % 4}` }, { id: `r${room}` });
  }
  await lab.drain(session);
  const sent: string[] = [];
  const send: Transport["send"] = async (operation, input, options) => {
    sent.push(operation);
    const paged = operation === "Scan" ? { ...(input as OperationInputs["Scan"]), Limit: 3 } : input;
    return lab.engine.transport.send(operation, paged as typeof input, options);
  };
  const paged = modelIn(lab.table).connect({ transport: { send, close: () => undefined } });
  return { ...opened, paged, sent };
};

const options: VerifyOptions = { settle: 1, staleAfter: 1, segments: 3, concurrency: 2, examples: 1000 };

type Opened = Awaited<ReturnType<typeof filled>>;
const put = (lab: Opened["lab"], item: Item): Promise<unknown> =>
  lab.engine.transport.send("PutItem", { TableName: lab.table, Item: item });

const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : "");
const contents = (items: readonly Item[]): readonly string[] =>
  items
    .filter((item) => !textOf(item["pk"]).startsWith("~job"))
    // Computing a node anew writes its memos and revisions again.
    .map(({ "~revision": _revision, "~streamed": _streamed, ...item }) => JSON.stringify(Object.entries(item).toSorted()))
    .toSorted();

const attributes = ["best", "least", "kinds", "latest", "most", "labels"];

/** Damages of a room, an edge with summaries, or their memos: each changes one item, and gives it. */
const damagesOf = (
  items: readonly Item[],
): readonly (readonly [what: string, of: string, item: Item | undefined, damaged: Item | undefined])[] => {
  const rows = items.filter((item) => attributes.some((name) => name in item) && !textOf(item["sk"]).startsWith("~"));
  // Summaries are kept for edges that are not there as well: nothing shows these.
  const memos = items.filter((item) => "~source" in item && textOf(item["pk"]).startsWith("~facts#room#"));
  return [
    ...rows.flatMap((item) =>
      attributes
        .filter((name) => name in item)
        .flatMap((name) => {
          const { [name]: value, ...rest } = item;
          const other: AttributeValue = value && "N" in value ? { N: String(Number(value.N) + 1) } : { S: "2031-01-01T00:00:00.000Z" };
          const of = `${textOf(item["pk"])} ${textOf(item["sk"])}`;
          return [
            [`another ${name}`, of, item, { ...rest, [name]: other }],
            [`no ${name}`, of, item, rest],
          ] as const;
        }),
    ),
    ...memos.filter((_, at) => at % 5 === 0).map((item) => ["a memo lost", textOf(item["pk"]), item, undefined] as const),
  ];
};

test("in a right table nothing is judged, though the stream keeps summaries of edges that are not there", async () => {
  const { lab, paged, sent } = await filled();
  try {
    expect(await paged.room.get({ id: `r${ROOMS}` })).toMatchObject({ kinds: 0, users: 0 });
    const passes = new Set<number>();
    const watched: VerifyOptions = { ...options, progressEvery: 1, onProgress: ({ pass }) => void passes.add(pass) };
    sent.length = 0;
    expect(await verify(paged, watched)).toMatchObject({ clean: true, kinds: [] });
    expect([...passes]).toEqual([1, 2]);
    expect(sent.filter((operation) => operation !== "Scan")).toEqual(["DescribeTable"]);
  } finally {
    await lab.stop();
  }
});

test("each wrong extreme, number of values and memo is found, wherever pages end, and is computed anew", async () => {
  const { lab, paged, sent } = await filled();
  try {
    const before = await lab.items();
    const damages = damagesOf(before).filter((_, at) => at % 3 === 0);
    for (const [what, of, item, damaged] of sampled(damages, 12)) {
      if (damaged) await put(lab, damaged);
      else await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: item!["pk"]!, sk: item!["sk"]! } });
      sent.length = 0;
      const { kinds } = await verify(paged, { ...options, repair: "dryRun" });
      expect(
        kinds.map(({ kind, count: all }) => [kind, all > 0]),
        `${what} of ${of}`,
      ).toEqual([["staleFact", true]]);
      // One of the many nodes and edges is read.
      expect(sent.filter((operation) => operation === "Query").length, what).toBeLessThan(20);
      await put(lab, item!);
    }
    expect((await verify(paged, options)).clean).toBe(true);
  } finally {
    await lab.stop();
  }
});

test("many at once are found and repaired, also by a run that is cut off and resumed within a node's memos", async () => {
  const { lab, paged } = await filled();
  const folder = mkdtempSync(join(tmpdir(), "edgetable-folds-"));
  try {
    const before = contents(await lab.items());
    const rows = (await lab.items()).filter((item) => "best" in item || "most" in item);
    for (const [at, item] of rows.entries())
      if (at % 2 === 0) await put(lab, { ...item, [attributes.find((name) => name in item)!]: { N: "77" } });
    const wrong = Math.ceil(rows.length / 2);
    const whole = await verify(paged, options);
    expect(whole.kinds.map(({ kind, count: all }) => [kind, all])).toEqual([["staleFact", wrong]]);

    const job: VerifyOptions = { ...options, job: "v", state: join(folder, "v.state"), saveEvery: 0, progressEvery: 1 };
    let report: Awaited<ReturnType<typeof verify>> | undefined;
    for (let runs = 0; !report; runs++) {
      const stopping = new AbortController();
      let pages = 0;
      const onProgress = (): void => void (++pages === 8 && runs < 12 && stopping.abort());
      report = await verify(paged, { ...job, repair: true, signal: stopping.signal, onProgress }).catch(() => undefined);
    }
    expect(report).toMatchObject({ clean: true, resumed: true });
    expect(report.kinds.map(({ kind, count: all, repaired }) => [kind, all, repaired])).toEqual([["staleFact", wrong, wrong]]);
    expect(contents(await lab.items())).toEqual(before);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await lab.stop();
  }
});
