import { deferCall } from "../executor/call.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import type { GridAsk } from "./grid-types.ts";

const calls = {
  views: ["list", "save", "change", "delete"],
  fields: ["list", "define", "rename", "update", "move", "retype", "delete"],
  values: ["get", "set"],
  grid: ["page", "count", "groups", "importCsv"],
} as const satisfies Record<GridAsk["of"], readonly string[]>;

const steps = ["columns", "where", "sort", "empties", "view"];

const load = loadOnce(async () => import("../grids/grid-calls.ts"));

async function* pieces(driver: Driver, ask: GridAsk): AsyncGenerator<string> {
  yield* (await load()).exportGrid(driver, ask);
}

const surface = (driver: Driver, said: Pick<GridAsk, "node" | "of" | "id" | "steps">): object => {
  const api: Record<string, unknown> = {};
  for (const call of calls[said.of])
    api[call] = (...args: readonly unknown[]) => deferCall(load, ({ gridCall }) => gridCall(driver, { ...said, call, args }));
  if (said.of === "grid") {
    api["exportCsv"] = (options: unknown) => pieces(driver, { ...said, call: "exportCsv", args: [options] });
    for (const step of steps)
      api[step] = (...args: readonly unknown[]) => surface(driver, { ...said, steps: [...said.steps, [step, args]] });
  }
  return api;
};

/** `fields`, `values` and `grid` of `db.<node>`. They only record the calls; the code that makes them is loaded by the first one. */
export const gridsOf = (driver: Driver, node: string): object =>
  Object.fromEntries(Object.keys(calls).map((of) => [of, (id: Row) => surface(driver, { node, of: of as GridAsk["of"], id, steps: [] })]));
