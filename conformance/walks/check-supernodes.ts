import { expect } from "vitest";
import type { Walked } from "./asked-of-walks.ts";
import { names, onePart, type Ask } from "./ask.ts";
import { nameOfId } from "./node-ids.ts";
import { nameOf } from "../naive/graph.ts";
import { endOf } from "../naive/walk.ts";

// With conditions in keys fewer edges are read than there are, and edges to known nodes are not listed at all.
const isExact = ({ plain }: Walked): boolean =>
  plain.first === undefined && !plain.steps.some((step) => step.kind === "among" || (step.kind === "hop" && step.atLeast !== undefined));

/** A node with too many edges is sampled or refused, as the caller chose. */
export const checkSupernodes = async (walked: Walked, breadth: number): Promise<void> => {
  const { naive, walk } = walked;
  const ask: Ask = (options) => walk.ids(options);
  const supernodes = [...naive.left].filter(([, edges]) => edges > breadth).map(([name]) => name);
  const whole = [...new Set(naive.paths.map((path) => nameOf(endOf(path))))].toSorted();
  // A sample leaves out nodes, so that none need be passed any more: the walk may stand where the whole one does not.
  const isPart = !walked.plain.steps.some((step) => step.kind === "except" && step.which === "passed");

  const { part } = await onePart(ask, { budget: { breadth }, supernode: "sample" });
  expect(part.next).toBeUndefined();
  expect(part.complete).toBe(part.stopped === undefined);
  if (isExact(walked)) expect(part.complete, `sampled at ${breadth}`).toBe(supernodes.length === 0);
  if (part.complete) expect(names(part.items)).toEqual(whole);
  else if (isPart) expect(whole).toEqual(expect.arrayContaining([...names(part.items)]));
  if (part.stopped) {
    expect(part.stopped.by).toBe("breadth");
    if (isPart) for (const { id } of part.stopped.left.sample) expect(supernodes).toContain(nameOfId(id));
  }

  const refused = await ask({ budget: { breadth }, supernode: "refuse" })
    .report()
    .then(
      ({ value }) => {
        expect(names(value.items)).toEqual(whole);
        return false;
      },
      (error: { readonly code: string }) => {
        expect(error.code).toBe("traverse.supernode");
        return true;
      },
    );
  if (isExact(walked)) expect(refused, `refused at ${breadth}`).toBe(supernodes.length > 0);
  else if (refused) expect(supernodes).not.toEqual([]);
};
