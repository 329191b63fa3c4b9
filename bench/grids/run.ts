import { databaseOf, startOn } from "../graph/store/database.ts";
import { randomFrom, shuffled } from "../measure/random.ts";
import { percentilesOf } from "../measure/statistics.ts";
import type { Ask, Page, Reader } from "./ask.ts";
import { gridSet } from "./data-set.ts";
import { edgetable } from "./edgetable.ts";
import { handWritten } from "./hand-written.ts";
import { choices } from "./rows.ts";

// `grids/run [rows] [fields] [rounds] [requests]`: pages of a grid with sparse fields, sorted by columns of each type and filtered by
// two, in a table of a thousand rows and in one of `rows`; and the same pages far down the grid. Beside a hand-written client
// of the published design on the same items. Ends with 1 if a target is missed; with `requests`, times are not judged.
const [most = "2000", fields = "100", rounds = "20", judged = "all"] = process.argv.slice(2);
const sizes = [...new Set([1000, Number(most)])];
const LIMIT = 50;
const seed = 20_261_123;

const sides = { edgetable, handWritten } as const;
type Side = keyof typeof sides;

const filters = { state: ["open"], f1: choices.slice(0, 5) };
const shown = ["f0", "f1", "f2", "f3"];
/** A dense field of each type, sparse ones, and the rows' own order. */
const sorts: readonly string[] = ["num", "f0", "f1", "f2", "f3", "f40", "f42"];

interface Lane {
  readonly rows: number;
  readonly side: Side;
  readonly reader: Reader;
  /** Which page it reads, from 1. */
  readonly number: number;
}

interface Measured {
  readonly rows: number;
  readonly side: Side;
  readonly number: number;
  readonly what: string;
  readonly page: Page;
  /** Requests that its rows need. */
  readonly needed: number;
  /** Milliseconds: the lower quartile of the rounds. */
  readonly wall: number;
}

/** The cursor of page `number`. */
const cursorAt = async ({ reader, number }: Lane, ask: Ask): Promise<string | undefined> => {
  let cursor: string | undefined;
  for (let at = 1; at < number; at++) {
    cursor = (await reader.page({ ...ask, cursor })).next;
    if (cursor === undefined) throw new Error(`grids: there is no page ${number} by ${ask.sort}`);
  }
  return cursor;
};

/** Reads the page of each lane, in turns. */
const measure = async (lanes: readonly Lane[], what: string, ask: Ask): Promise<readonly Measured[]> => {
  const random = randomFrom(seed);
  const cursors = new Map<Lane, string | undefined>();
  for (const lane of lanes) cursors.set(lane, await cursorAt(lane, ask));
  const walls = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]));
  const pages = new Map<Lane, Page>();
  for (let round = -5; round < Number(rounds); round++)
    for (const lane of shuffled(lanes, random)) {
      const began = performance.now();
      pages.set(lane, await lane.reader.page({ ...ask, cursor: cursors.get(lane) }));
      if (round >= 0) walls.get(lane)?.push(performance.now() - began);
    }
  return lanes.map((lane) => {
    const page = pages.get(lane);
    if (!page) throw new Error("grids: no page");
    const other = lanes.find(({ rows, number, side }) => rows === lane.rows && number === lane.number && side !== lane.side);
    const otherRows = other && pages.get(other)?.rows;
    if (otherRows?.join() !== page.rows.join()) throw new Error(`grids: the two sides differ on ${what} of ${lane.rows} rows`);
    const examined = Math.max(page.examined, (other && pages.get(other)?.examined) ?? 0);
    return {
      rows: lane.rows,
      side: lane.side,
      number: lane.number,
      what,
      page,
      needed: needed(page, examined, ask),
      wall: percentilesOf(walls.get(lane) ?? []).p25,
    };
  });
};

const isField = (name: string): boolean => /^f\d/.test(name);

/** Requests that rows need, however they are found: BatchGetItems of those up to the end of the page with what is compared, and of what is shown. */
const needed = ({ rows }: Page, examined: number, ask: Ask): number => {
  const compared = [ask.sort, ...Object.keys(ask.filters)].filter(isField);
  const others = ask.shown.filter((name) => !compared.includes(name));
  // Where every row passes, what is shown is read with it.
  if (Object.keys(ask.filters).length === 0) return Math.ceil((rows.length * (1 + compared.length + others.length)) / 100);
  return Math.ceil((examined * (1 + new Set(compared).size)) / 100) + Math.ceil((rows.length * others.length) / 100);
};

const failures: string[] = [];
const hold = (what: string, measured: number, limit: number): void => {
  if (measured > limit) failures.push(`${what}: ${measured.toFixed(2)}, target ${limit}`);
};

const show = (all: readonly Measured[]): void => {
  for (const { side, rows, number, what, page, needed: least, wall } of all)
    console.log(
      [
        `${what}, page ${number}`.padEnd(34),
        String(rows).padStart(7),
        side.padEnd(12),
        `${page.rows.length} rows`,
        `${page.requests} requests (${least} needed)`,
        `${page.readUnits} RCU`,
        `${wall.toFixed(1)} ms`,
      ].join("  "),
    );
};

const log = (line: string): void => console.error(line);
const engines = [];
const lanes: Lane[] = [];
try {
  for (const rows of sizes) {
    const engine = await startOn(await databaseOf(gridSet({ rows, fields: Number(fields), seed }), log));
    engines.push(engine);
    for (const [side, open] of Object.entries(sides)) lanes.push({ rows, side: side as Side, number: 1, reader: open(engine.endpoint) });
  }
  const ours = (all: readonly Measured[]): readonly Measured[] => all.filter(({ side }) => side === "edgetable");
  const wallOf = (all: readonly Measured[], at: number): number =>
    all.find(({ rows, side }) => rows === sizes[at] && side === "edgetable")?.wall ?? Number.NaN;
  for (const sort of sorts) {
    const ask: Ask = { sort, filters, shown, limit: LIMIT };
    const what = `by ${sort}, filtered by two`;
    const all = await measure(lanes, what, ask);
    show(all);
    for (const { page, rows, needed: least } of ours(all))
      hold(`${what}, ${rows} rows: requests beyond those needed`, page.requests - least, 4);
    const full = ours(all).every(({ page }) => page.rows.length === LIMIT);
    if (full && judged === "all")
      hold(`${what}: time of ${sizes.at(-1)} rows to ${sizes[0]}`, wallOf(all, sizes.length - 1) / wallOf(all, 0), 1.3);
  }
  const largest = lanes.filter(({ rows }) => rows === sizes.at(-1));
  for (const sort of ["num", "f0"]) {
    const ask: Ask = { sort, filters: {}, shown, limit: LIMIT };
    const last = Math.min(1000, Math.floor((Number(most) * 0.85) / LIMIT));
    const both = largest.flatMap((lane) => [lane, { ...lane, number: last }]);
    const all = await measure(both, `by ${sort}`, ask);
    show(all);
    const [one, other] = [1, last].map((page) => ours(all).find(({ number }) => number === page));
    if (!one || !other) throw new Error("grids: not measured");
    hold(`by ${sort}: requests of page ${last} beyond those of page 1`, other.page.requests - one.page.requests, 0);
    if (judged === "all") hold(`by ${sort}: time of page ${last} to page 1`, other.wall / one.wall, 1.3);
  }
} finally {
  for (const { reader } of lanes) await reader.close();
  for (const engine of engines) await engine.stop();
}
console.log(failures.length === 0 ? "all targets are held" : failures.map((line) => `MISS ${line}`).join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
