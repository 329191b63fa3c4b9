import { expect, test } from "vitest";
import { randomFrom } from "../../measure/random.ts";
import { degreeOf, targetsOf } from "../graphs/graph.ts";
import { linkBench } from "../graphs/linkbench.ts";
import { links } from "../store/model.ts";
import { exporting } from "../store/export.ts";
import { choiceOf } from "./choice.ts";
import { linkBenchMix } from "./linkbench.ts";
import { drawFrom } from "./mix.ts";
import { taoMix } from "./tao.ts";

const graph = linkBench({ nodes: 2000, seed: 3 });
const random = randomFrom(11);
const db = links.connect({ transport: exporting(() => undefined) });

test.each([linkBenchMix, taoMix])("a mix's shares come to a hundred, and calls are drawn by them", (mix) => {
  const calls = mix({ db, graph, random });
  expect(calls.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(100, 6);
  const draw = drawFrom(calls, random);
  const drawn = Array.from({ length: 20_000 }, () => draw().name);
  for (const { name, share } of calls) expect((100 * drawn.filter((one) => one === name).length) / drawn.length).toBeCloseTo(share, -0.5);
});

test("a multiget asks for links that are there, each once", () => {
  const choice = choiceOf({ graph, random });
  for (let node = 0; node < graph.nodes; node++) {
    if (degreeOf(graph, node) === 0) continue;
    const ids = choice.targets(node, 4).map(({ id }) => Number(id));
    expect(ids.length).toBe(Math.min(4, degreeOf(graph, node)));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => targetsOf(graph, node).includes(id))).toBe(true);
  }
});

test("how many at once has the published mean, and few nodes are read often", () => {
  const choice = choiceOf({ graph, random });
  const counts = Array.from({ length: 20_000 }, () => choice.several(2.6));
  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeCloseTo(2.6, 1);
  expect(Math.min(...counts)).toBe(1);
  const reads = new Map<number, number>();
  for (let index = 0; index < 20_000; index++) {
    const node = choice.reader();
    reads.set(node, (reads.get(node) ?? 0) + 1);
  }
  expect(Math.max(...reads.values())).toBeGreaterThan(500);
});
