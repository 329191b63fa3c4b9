import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { count, defineGraph, edge, isEdgetableError, node } from "edgetable";
import { verify } from "edgetable/verify";
import { z } from "zod";
import { startEngine } from "@edgetable/local";
import { engineBinary } from "../engine/engine.ts";

// `migrate.js <items> [kills] [share]`: an index, a count, a renamed and a retyped attribute come to a table while four
// programs write, two of them with the model before until the migration is to finish. The process that migrates is killed.
// Afterwards, `verify` finds nothing and every search equals what a scan says. Items: those of the table, roughly.
const [items = "12000", kills = "4", share = "25", endpoint, stage] = process.argv.slice(2);

const id = { id: z.string() };
const oldPerson = z.object({ ...id, name: z.string(), age: z.string().optional() });
const person = z.object({ ...id, fullName: z.string(), age: z.int().optional() });
const club = z.object({ ...id, title: z.string() });
const memberOf = edge({ from: "person", to: "club", onDelete: { from: "cascade", to: "cascade" } });
const renamed = { fullName: "name" };
const retyped = { age: { from: z.string().regex(/^\d+$/), with: Number, back: String } };
const key = "PERSON#{id}";

const before = defineGraph({
  table: "Members",
  nodes: { person: node({ key, schema: oldPerson }), club: node({ key: "CLUB#{id}", schema: club }) },
  edges: { memberOf },
});
const after = defineGraph({
  table: "Members",
  nodes: {
    person: node({ key, schema: person, renamed, retyped }),
    club: node({ key: "CLUB#{id}", schema: club, derived: { members: count({ in: "memberOf" }) } }),
  },
  edges: { memberOf },
  indexes: { byAge: { entries: { person: { by: "age:number", sparse: true } }, shards: 4 } },
});

const CLUBS = 200;
const persons = Math.ceil(Number(items) / 2);
const options = (url: string) => ({ endpoint: url, requestTimeout: 60_000, retry: { attempts: 60, maxDelay: 500 } });
const draw = (most: number): number => Math.floor(Math.random() * most);
const idOf = (at: number) => ({ id: `P${at}` });
const clubOf = (at: number) => ({ id: `C${at % CLUBS}` });

/** What the migrating process tells, as JSON on a line of its own. */
interface Told {
  readonly seconds: number;
  readonly passes: number;
  readonly changed: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly megabytes: number;
}

const LEASE = 2000;

const migrate = async (url: string): Promise<void> => {
  const db = after.connect(options(url));
  const began = performance.now();
  for (;;) {
    try {
      const { passes, changed, cost } = await db.migrations.run({
        share: Number(share),
        finish: stage === "finish",
        lease: LEASE,
        indexLag: 0,
      });
      const told: Told = {
        seconds: (performance.now() - began) / 1000,
        passes,
        changed,
        readUnits: cost.readUnits,
        writeUnits: cost.writeUnits,
        megabytes: process.resourceUsage().maxRSS / 1024,
      };
      process.stdout.write(`${JSON.stringify(told)}\n`);
      break;
    } catch (error) {
      if (!isEdgetableError(error, "job.busy")) throw error;
      await pause(100);
    }
  }
  await db.close();
};

/** Runs the migration in a process of its own; with `after`, kills it so many milliseconds after it began. */
const inProcess = (url: string, what: "begin" | "finish", killAfter?: number): Promise<Told | undefined> =>
  new Promise((resolve, reject) => {
    const arguments_ = [...process.execArgv, process.argv[1] ?? "", items, kills, share, url, what];
    const child = spawn(process.execPath, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += String(chunk)));
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve(undefined);
      else if (code === 0) resolve(JSON.parse(text) as Told);
      else reject(new Error(`the migration ended with ${code}`));
    });
  });

const withOld = (url: string) => {
  const db = before.connect(options(url));
  return {
    put: (at: number) => db.person.put({ ...idOf(at), name: `Name ${draw(99)}`, age: String(draw(90)) }),
    update: (at: number) => db.person.update(idOf(at), { age: String(draw(90)) }),
    remove: (at: number) => db.person.delete(idOf(at)),
    join: (at: number) => db.memberOf.put(idOf(at), clubOf(draw(CLUBS))),
    leave: (at: number) => db.memberOf.unlink(idOf(at), clubOf(at)),
    close: () => db.close(),
  };
};

const withNew = (url: string): ReturnType<typeof withOld> => {
  const db = after.connect(options(url));
  return {
    put: (at) => db.person.put({ ...idOf(at), fullName: `Name ${draw(99)}`, age: draw(90) }) as never,
    update: (at) => db.person.update(idOf(at), { age: draw(90) }) as never,
    remove: (at) => db.person.delete(idOf(at)) as never,
    join: (at) => db.memberOf.put(idOf(at), clubOf(draw(CLUBS))) as never,
    leave: (at) => db.memberOf.unlink(idOf(at), clubOf(at)) as never,
    close: () => db.close(),
  };
};

/** Writes until it is stopped, and gives the number of changes. */
const startWriter = (program: ReturnType<typeof withOld>) => {
  const stopping = new AbortController();
  const write = async (): Promise<number> => {
    let made = 0;
    for (; !stopping.signal.aborted; made++) {
      const at = draw(persons * 1.1);
      const kind = (["put", "update", "update", "update", "remove", "join", "join", "leave"] as const)[draw(8)] ?? "update";
      // A call that other writers stand in the way of may be made again.
      await Promise.resolve(program[kind](at)).catch((error: unknown) => {
        if (!isEdgetableError(error) || !error.retryable) throw error;
        process.stderr.write(`${kind}: ${error.code}\n`);
      });
    }
    await program.close();
    return made;
  };
  const writing = write();
  return {
    stop: (): Promise<number> => {
      stopping.abort();
      return writing;
    },
  };
};

function* rows() {
  for (let at = 0; at < CLUBS; at++) yield { node: "club", row: { ...clubOf(at), title: `Club ${at}` } } as const;
  for (let at = 0; at < persons; at++) {
    yield { node: "person", row: { ...idOf(at), name: `Name ${at % 99}`, age: String(at % 90) } } as const;
    yield { edge: "memberOf", from: idOf(at), to: clubOf(at) } as const;
  }
}

/** Every search by the index and every count, compared with the rows of the table. */
const compare = async (url: string): Promise<string> => {
  const db = after.connect(options(url));
  const byAge = new Map<number, number>();
  const members = new Map<string, number>();
  const kept = new Map<string, number>();
  for await (const row of db.scan({ segments: 4 })) {
    if ("edge" in row) members.set(row.to.id, (members.get(row.to.id) ?? 0) + 1);
    else if (row.node === "club") kept.set(row.row.id, row.row.members);
    else if (row.row.age !== undefined) byAge.set(row.row.age, (byAge.get(row.row.age) ?? 0) + 1);
  }
  let wrong = 0;
  for (let age = 0; age < 90; age++) if ((await db.find("person").where({ age }).count()) !== (byAge.get(age) ?? 0)) wrong++;
  for (const [name, counted] of kept) if (counted !== (members.get(name) ?? 0)) wrong++;
  const { clean, kinds } = await verify(db, { settle: 0 });
  await db.close();
  return `${wrong} of ${90 + kept.size} searches and counts differ from a scan; verify ${clean ? "finds nothing" : `finds ${kinds.map(({ kind, count: of }) => `${of} ${kind}`).join(", ")}`}`;
};

// A table on demand that was never busier (run-migration.ts).
const CAPACITY = { read: 12_000, write: 4000 };

const report = (what: string, { seconds, passes, changed, readUnits, writeUnits, megabytes }: Told): void => {
  const share_ = Math.max(readUnits / seconds / CAPACITY.read, writeUnits / seconds / CAPACITY.write) * 100;
  process.stdout.write(
    `${what}: ${seconds.toFixed(1)} s, pass ${passes}, ${changed} items changed by all runs; ${(readUnits / seconds).toFixed(0)} read and ${(writeUnits / seconds).toFixed(0)} write units/s, ${share_.toFixed(1)} % of the capacity (share ${share}); peak ${megabytes.toFixed(0)} MB\n`,
  );
};

const measure = async (): Promise<void> => {
  const engine = await startEngine({ binary: engineBinary });
  const url = engine.bareEndpoint;
  const db = before.connect(options(url));
  await db.table.create();
  const { items: loaded } = await db.load(rows(), { collisions: "ignore" });
  await db.close();
  process.stdout.write(`${loaded} items loaded\n`);
  const old = [startWriter(withOld(url)), startWriter(withOld(url))];
  const current = [startWriter(withNew(url)), startWriter(withNew(url))];
  const began = performance.now();
  let died = 0;
  for (const what of ["begin", "finish"] as const) {
    if (what === "finish") {
      for (const writer of old) process.stdout.write(`an old writer made ${await writer.stop()} changes\n`);
      current.push(startWriter(withNew(url)), startWriter(withNew(url)));
    }
    for (let turn = 0; turn < Number(kills) / 2; turn++)
      if (!(await inProcess(url, what, 500 + Math.random() * (Number(items) / 10)))) died++;
    const told = await inProcess(url, what);
    if (told) report(what, told);
  }
  const made = await Promise.all(current.map((writer) => writer.stop()));
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${died} processes killed; new writers made ${made.join(", ")} changes; in all ${seconds.toFixed(0)} s\n${await compare(url)}\n`,
  );
  await engine.stop();
};

if (endpoint === undefined) await measure();
else await migrate(endpoint);
process.exit(0);
