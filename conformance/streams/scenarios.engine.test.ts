import { createStreamSource, deliverToLambda } from "@edgetable/testing";
import { count, defineGraph, distinct, edge, max, min, node, sum, type Transport } from "edgetable";
import { createLeanStreamTransport, createStreamHandler, listDeadLetters, refreshFacts, replayDeadLetters } from "edgetable/streams";
import { verify } from "edgetable/verify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openFactsLab, sessionOn } from "../../packages/edgetable/src/streams/facts-lab.test-support.ts";
import { maintainFacts, type TimedRecord } from "../../packages/edgetable/src/streams/maintain-facts.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id }),
        derived: {
          students: count({ in: "takes", freshness: "stream" }),
          points: sum({ in: "takes", of: "grade", freshness: "stream" }),
          worst: min({ in: "takes", of: "grade" }),
          best: max({ in: "takes", of: "grade" }),
          grades: distinct({ in: "takes", of: "grade" }),
        },
      }),
    },
    edges: { takes: edge({ from: "student", to: "course", schema: z.object({ grade: z.number() }) }) },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

const open = () => openFactsLab(modelIn);
let opened: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  opened = await open();
});
afterAll(() => opened.lab.stop());

type Send = Transport["send"];
/** A transport whose answers are made by a function, which may send the request or another one. */
const answering =
  (answer: (operation: string, input: Record<string, unknown>, send: (input: object) => Promise<unknown>) => Promise<unknown>) =>
  (transport: Transport): Transport => ({
    ...transport,
    send: (async (operation, input, options) =>
      answer(operation, input as never, (changed) => transport.send(operation, changed as never, options))) as Send,
  });
type Change = ReturnType<typeof answering>;
const unchanged: Change = (transport) => transport;

/** Sabotage: the conditions of transactions hold whatever is stored. */
const unconditional = answering((operation, input, send) => {
  if (operation !== "TransactWriteItems") return send(input);
  const TransactItems = (input["TransactItems"] as readonly { readonly Update?: Record<string, unknown> }[]).map(({ Update, ...rest }) => {
    const condition = Update?.["ConditionExpression"] as string | undefined;
    return {
      ...rest,
      Update: condition === undefined ? Update : { ...Update, ConditionExpression: `attribute_not_exists(x) OR ${condition}` },
    };
  });
  return send({ ...input, TransactItems });
});

/** Holds the first transaction of a course's facts until it is let go: what it was computed from has grown old then. */
const holding = ({ id: course }: { readonly id: string }): { readonly through: Change; readonly held: Promise<void>; letGo(): void } => {
  let [tell, letGo] = [(): void => undefined, (): void => undefined];
  const held = new Promise<void>((resolve) => (tell = resolve));
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  let isFirst = true;
  const through = answering(async (operation, input, send) => {
    if (isFirst && operation === "TransactWriteItems" && JSON.stringify(input).includes(`#${course}"`)) {
      isFirst = false;
      tell();
      await gate;
    }
    return send(input);
  });
  return { through, held, letGo: () => letGo() };
};

let scenes = 0;
/** A course and its students, whose earlier records are read. */
const scene = async () => {
  scenes++;
  const { db, lab } = opened;
  const course = { id: `c${String(scenes)}` };
  const student = (name: string) => ({ id: `${name}${String(scenes)}` });
  const [ann, bob, cat] = [student("ann"), student("bob"), student("cat")];
  for (const one of [ann, bob, cat]) await db.student.create(one).orThrow();
  await db.course.create(course).orThrow();
  await lab.take();
  const process = async (records: readonly TimedRecord[], through: Change = unchanged) => {
    const failed = await maintainFacts(sessionOn(db.catalog, through(lab.engine.transport)), { indexLag: 0 })?.(records);
    expect(failed).toEqual([]);
  };
  const facts = async () => (await db.course.get(course, { consistent: true })) as Record<string, unknown>;
  return { db, lab, course, ann, bob, cat, process, facts };
};

/** A scenario, and a rule whose breach it must show. */
interface Scenario {
  readonly name: string;
  /** Plays the scenario, with what is broken on purpose, if anything is. */
  readonly tell: (sabotage: Change | undefined) => Promise<void>;
  /** The processor's requests as they are broken; `unchanged` where the scenario breaks something else. */
  readonly broken: Change;
}

const zombie: Scenario = {
  name: "a processor that wakes up 20 batches later changes nothing",
  broken: unconditional,
  tell: async (sabotage = unchanged) => {
    const { db, lab, course, ann, bob, process, facts } = await scene();
    await db.takes.link(ann, course, { grade: 6 }).orThrow();
    const { through, held, letGo } = holding(course);
    const late = process(await lab.take(), (transport) => through(sabotage(transport)));
    await held;
    for (let batch = 0; batch < 20; batch++) {
      if (batch % 4 === 3) await db.takes.unlink(ann, course).orThrow();
      else await db.takes.put(ann, course, { grade: batch }).orThrow();
      await process(await lab.take());
    }
    await db.takes.put(bob, course, { grade: 2 }).orThrow();
    await process(await lab.take());
    letGo();
    await late;
    expect(await facts()).toMatchObject({ students: 1, points: 2, worst: 2, best: 2, grades: 1 });
  },
};

const replicated: Scenario = {
  name: "an expiry that was replicated looks like a deletion, and counts",
  broken: unchanged,
  tell: async (sabotage) => {
    const table = opened.lab.engine.freshTableName("replicated");
    const { endpoint, transport } = opened.lab.engine;
    const db = modelIn(table).connect({ transport });
    await db.table.create({ stream: true });
    const source = createStreamSource(createLeanStreamTransport({ endpoint }), table, { rates: 0, replicated: true });
    const [course, ann, bob] = [{ id: "c" }, { id: "ann" }, { id: "bob" }];
    for (const one of [ann, bob]) await db.student.create(one).orThrow();
    await db.course.create(course).orThrow();
    for (const one of [ann, bob]) await db.takes.link(one, course, { grade: 1 }).orThrow();
    await source.records();
    source.expire({ pk: { S: "STUDENT#ann" }, sk: { S: "takes#COURSE$#c" } });
    await db.takes.unlink(ann, course).orThrow();
    const kinds: string[] = [];
    const tell = ({ kind }: { readonly kind: string }): void => void kinds.push(kind);
    const handle = createStreamHandler(db, { all: { on: "takes", linked: tell, unlinked: tell, expired: tell } }, { indexLag: 0 });
    // Sabotage: only removals that bear DynamoDB's name are taken for expiry, and the others for repetitions.
    const records = (await source.records()).filter(({ eventName, userIdentity }) => !sabotage || eventName !== "REMOVE" || userIdentity);
    await deliverToLambda(records, handle, { table, repeats: 0, lanes: 1 });
    await source.close();
    expect(await db.course.get(course, { consistent: true })).toMatchObject({ students: 1, points: 1 });
    expect(kinds).toEqual(["linked", "linked", "unlinked"]);
  },
};

/** Sabotage: the rows are taken from the records' images, as they were then, instead of being read. */
const rowsOf = (records: readonly TimedRecord[]): Change =>
  answering(async (operation, input, send) => {
    const output = (await send(input)) as { readonly Responses?: Readonly<Record<string, readonly object[]>> };
    if (operation !== "BatchGetItem") return output;
    const keys = JSON.stringify(input);
    const rows = records.flatMap(({ key, after }) =>
      after && keys.includes(JSON.stringify(key["sk"])) && "grade" in after ? [after] : [],
    );
    const Responses = Object.fromEntries(
      Object.entries(output.Responses ?? {}).map(([name, items]) => [name, rows.length > 0 ? rows.slice(0, 1) : items]),
    );
    return { ...output, Responses };
  });

const recreated: Scenario = {
  name: "a record from before an item was created again changes nothing",
  broken: unchanged,
  tell: async (sabotage) => {
    const { db, lab, course, ann, process, facts } = await scene();
    await db.takes.link(ann, course, { grade: 6 }).orThrow();
    await db.takes.unlink(ann, course).orThrow();
    await db.course.delete(course).orThrow();
    const old = await lab.take();
    await db.course.create(course).orThrow();
    await db.takes.link(ann, course, { grade: 3 }).orThrow();
    await process(await lab.take());
    await process([...old].reverse(), sabotage && rowsOf(old));
    expect(await facts()).toMatchObject({ students: 1, points: 3, worst: 3, best: 3, grades: 1 });
  },
};

const lateLetter: Scenario = {
  name: "a dead letter that is replayed after later changes ends with their facts",
  broken: unchanged,
  tell: async (sabotage) => {
    const { db, lab, course, ann, process, facts } = await scene();
    const refusing = answering((operation, input, send) =>
      operation === "TransactWriteItems" ? Promise.reject(new Error("not today")) : send(input),
    );
    const handler = createStreamHandler(
      modelIn(lab.table).connect({ transport: refusing(lab.engine.transport) }),
      {},
      { indexLag: 0, attempts: 1 },
    );
    await db.takes.link(ann, course, { grade: 6 }).orThrow();
    const old = await lab.take();
    const Records = old.map(({ key, after }, at) => ({
      eventID: String(at),
      eventName: "INSERT",
      dynamodb: {
        Keys: key,
        NewImage: after,
        SequenceNumber: String(at),
        ApproximateCreationDateTime: 1,
        StreamViewType: "NEW_AND_OLD_IMAGES",
      },
    }));
    expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
    expect(await listDeadLetters(db)).toMatchObject([{ handler: "facts" }]);
    await db.takes.relink(ann, course, { grade: 3 }).orThrow();
    await process(await lab.take());
    const replaying = modelIn(lab.table).connect({ transport: (sabotage ? rowsOf(old) : unchanged)(lab.engine.transport) });
    expect(await replayDeadLetters(replaying, {})).toEqual({ replayed: 1, failed: [] });
    expect(await facts()).toMatchObject({ students: 1, points: 3, worst: 3 });
  },
};

/** An index, and any read that is not consistent, stays as it was when it was first asked. */
const neverCatchingUp = (consistent: boolean): Change => {
  const first = new Map<string, unknown>();
  return answering(async (operation, { ConsistentRead, ...input }, send) => {
    if (operation !== "Query") return send({ ...input, ...(ConsistentRead !== undefined && { ConsistentRead }) });
    const text = JSON.stringify(input);
    const isKnown = first.has(text);
    const output = await send({ ...input, ...(ConsistentRead !== undefined && { ConsistentRead }) });
    if (!isKnown) first.set(text, output);
    return ConsistentRead === true && consistent ? output : first.get(text);
  });
};

const staleHolder: Scenario = {
  name: "the deleted holder of a minimum is not read from an index that still shows it",
  // The memos, too, are read as an index would show them.
  broken: neverCatchingUp(false),
  tell: async (sabotage = neverCatchingUp(true)) => {
    const { db, lab, course, ann, bob, cat, process, facts } = await scene();
    for (const [one, grade] of [
      [ann, 1],
      [bob, 4],
      [cat, 9],
    ] as const)
      await db.takes.link(one, course, { grade }).orThrow();
    await process(await lab.take(), sabotage);
    expect(await facts()).toMatchObject({ worst: 1, best: 9, grades: 3 });
    await db.takes.unlink(ann, course).orThrow();
    await db.takes.unlink(cat, course).orThrow();
    await process(await lab.take(), sabotage);
    expect(await facts()).toMatchObject({ worst: 4, best: 4, grades: 1, students: 1 });
  },
};

const equalMinima: Scenario = {
  name: "of equal minima one stays while the other is deleted",
  // Values are forgotten with the first row that held them.
  broken: answering(async (operation, input, send) => {
    const output = (await send(input)) as { readonly Items?: readonly object[] };
    if (operation !== "Query") return output;
    const isGone = JSON.stringify(output.Items).includes('"M":{}');
    return isGone ? { ...output, Items: output.Items?.filter((item) => !JSON.stringify(item).includes('{"N":"3"}')) } : output;
  }),
  tell: async (sabotage) => {
    const { db, lab, course, ann, bob, cat, process, facts } = await scene();
    for (const [one, grade] of [
      [ann, 3],
      [bob, 3],
      [cat, 5],
    ] as const)
      await db.takes.link(one, course, { grade }).orThrow();
    const linked = await lab.take();
    await process(linked, sabotage);
    expect(await facts()).toMatchObject({ worst: 3, grades: 2, students: 3 });
    await db.takes.unlink(ann, course).orThrow();
    const unlinked = await lab.take();
    await process([...unlinked, ...linked, ...unlinked], sabotage);
    expect(await facts()).toMatchObject({ worst: 3, best: 5, grades: 2, students: 2 });
    await db.takes.unlink(bob, course).orThrow();
    await process(await lab.take(), sabotage);
    expect(await facts()).toMatchObject({ worst: 5, best: 5, grades: 1, students: 1 });
  },
};

const wrongType: Scenario = {
  name: "a count of the wrong type that an older writer left is mended, with the index key that holds it",
  broken: unchanged,
  tell: async (sabotage) => {
    const { db, lab, course, ann, process, facts } = await scene();
    await db.takes.link(ann, course, { grade: 2 }).orThrow();
    await process(await lab.take());
    await lab.take();
    const Key = { pk: { S: `COURSE#${course.id}` }, sk: { S: "#" } };
    await lab.engine.transport.send("UpdateItem", {
      TableName: lab.table,
      Key,
      UpdateExpression: "SET students = :wrong REMOVE byStudentsPk, byStudentsSk",
      ExpressionAttributeValues: { ":wrong": { S: "many" } },
    });
    const found = () => db.find("course").where({ students: 1 }).rows();
    // Sabotage: the older writer's change does not reach the processor.
    await process((await lab.take()).filter(() => !sabotage));
    expect(await facts()).toMatchObject({ students: 1, points: 2 });
    expect((await found()).map((row) => row.id)).toContain(course.id);
    // Sabotaged scenarios leave wrong facts at other nodes.
    const { kinds } = await verify(db, { settle: 1, staleAfter: 1, examples: 1000 });
    expect(kinds.flatMap(({ examples }) => examples).filter(({ key }) => JSON.stringify(key) === JSON.stringify(Key))).toEqual([]);
  },
};

const repairAba: Scenario = {
  name: "a repair that has read a row before it went and came back counts it once",
  broken: unconditional,
  tell: async (sabotage = unchanged) => {
    const { db, lab, course, ann, process, facts } = await scene();
    await db.takes.link(ann, course, { grade: 6 }).orThrow();
    await lab.take();
    const { through, held, letGo } = holding(course);
    const repairing = modelIn(lab.table).connect({ transport: through(sabotage(lab.engine.transport)) });
    const repair = refreshFacts(repairing, { segments: 1 });
    await held;
    // A → B → A, each of which the processor sees.
    for (const change of [() => db.takes.unlink(ann, course), () => db.takes.link(ann, course, { grade: 6 })]) {
      await change().orThrow();
      await process(await lab.take());
    }
    letGo();
    expect((await repair).failed).toEqual([]);
    expect(await facts()).toMatchObject({ students: 1, points: 6, worst: 6, best: 6, grades: 1 });
  },
};

const scenarios = [zombie, replicated, recreated, lateLetter, staleHolder, equalMinima, wrongType, repairAba];
for (const { name, tell, broken } of scenarios) {
  test(name, () => tell(undefined));
  test(`broken on purpose, it shows: ${name}`, async () => {
    await expect(tell(broken)).rejects.toThrow(/^expected /);
  });
}
