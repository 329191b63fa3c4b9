import { expect, test } from "vitest";
import { fan } from "./fan.ts";
import { degreeOf, reversed, targetsOf } from "./graph.ts";
import type { Graph } from "./graph.ts";
import { linkBench, linksAt } from "./linkbench.ts";
import { plant, plantedDepth, plantedNodes, plantedStart } from "./plant.ts";
import { layersOf } from "./reach.ts";
import { scaleFree } from "./scale-free.ts";

const seed = 20_261_121;
const degreesOf = (graph: Graph): number[] => Array.from({ length: graph.nodes }, (_, node) => degreeOf(graph, node));
const shareAbove = (degrees: readonly number[], links: number): number =>
  degrees.filter((degree) => degree > links).length / degrees.length;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("a seed gives the same graph every time, another seed another one", () => {
  const graph = scaleFree({ nodes: 500, edges: 3000, seed });
  expect(scaleFree({ nodes: 500, edges: 3000, seed }).targets).toEqual(graph.targets);
  expect(scaleFree({ nodes: 500, edges: 3000, seed: seed + 1 }).targets).not.toEqual(graph.targets);
  expect(linkBench({ nodes: 500, seed }).targets).toEqual(linkBench({ nodes: 500, seed }).targets);
});

test("no edge leads to its own source, and none is there twice", () => {
  for (const graph of [scaleFree({ nodes: 300, edges: 5000, seed }), linkBench({ nodes: 2000, seed })]) {
    for (let node = 0; node < graph.nodes; node++) {
      const targets = [...targetsOf(graph, node)];
      expect(new Set([...targets, node]).size).toBe(targets.length + 1);
    }
  }
});

test("a scale-free graph has the tail of preferential attachment, out and in", () => {
  const graph = scaleFree({ nodes: 20_000, edges: 200_000, seed });
  expect(graph.edges).toBe(200_000);
  for (const degrees of [degreesOf(graph), degreesOf(reversed(graph))]) {
    // P(degree > k) ~ k^-2: a quarter of the nodes at twice the degree.
    expect(shareAbove(degrees, 30) / shareAbove(degrees, 60)).toBeGreaterThan(3.4);
    expect(shareAbove(degrees, 30) / shareAbove(degrees, 60)).toBeLessThan(4.6);
    expect(Math.max(...degrees)).toBeGreaterThan(500);
  }
});

test("who follows many is followed by many", () => {
  const graph = scaleFree({ nodes: 5000, edges: 50_000, seed });
  const [out, into] = [degreesOf(graph), degreesOf(reversed(graph))];
  const hubs = out.flatMap((degree, node) => (degree > 50 ? [into[node] as number] : []));
  expect(mean(hubs)).toBeGreaterThan(40);
});

test("LinkBench's published quantiles come back", () => {
  const degrees = degreesOf(linkBench({ nodes: 100_000, seed }));
  const published = { 0: 45.3, 1: 77.5, 2: 87, 3: 92, 5: 95.8, 10: 98.3, 15: 99, 18: 99.2, 264: 99.9, 6051: 99.99 };
  for (const [links, percent] of Object.entries(published)) expect(100 * (1 - shareAbove(degrees, Number(links)))).toBeCloseTo(percent, 2);
  expect(mean(degrees)).toBeGreaterThan(3.7);
  expect(mean(degrees)).toBeLessThan(4.5);
});

test("no degree is above the published maximum, nor above the number of other nodes", () => {
  expect(linksAt(1e-12)).toBe(961_963);
  expect(Math.max(...degreesOf(linkBench({ nodes: 1000, seed })))).toBeLessThan(1000);
});

test("layers hold every node once, at its smallest distance", () => {
  const graph = scaleFree({ nodes: 200, edges: 800, seed });
  const layers = layersOf([graph, reversed(graph)], 0, 3);
  const all = layers.flat();
  expect(new Set([0, ...all]).size).toBe(all.length + 1);
  expect(layers[0]?.toSorted()).toEqual([...new Set([...targetsOf(graph, 0), ...targetsOf(reversed(graph), 0)])].toSorted());
});

test("a fan has its ids two hops from the start", () => {
  expect(layersOf([fan({ ids: 60, width: 4 })], 0, 3).map((layer) => layer.length)).toEqual([4, 60, 0]);
});

test("the planted neighbourhood is the same in graphs of any size", () => {
  const [small, large] = [1000, 3000].map((nodes) =>
    layersOf([plant(scaleFree({ nodes, edges: 10 * nodes, seed }))], plantedStart, plantedDepth),
  );
  expect(small?.flat()).toHaveLength(plantedNodes - 1);
  expect(large).toEqual(small);
});
