import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";

/** A graph to lay out: where its nodes are now, and by their places, which are linked. */
export interface LayoutRequest {
  /** x, y and radius of each node. */
  readonly nodes: Float64Array;
  /** The places of each edge's ends. */
  readonly edges: Uint32Array;
}

/** x and y of each node, as they are now; `isDone` with the last ones. */
export interface LayoutAnswer {
  readonly positions: Float32Array<ArrayBuffer>;
  readonly isDone: boolean;
}

interface Body extends SimulationNodeDatum {
  x: number;
  y: number;
  readonly radius: number;
}

/** Milliseconds between two answers, and of a whole layout: a large graph gets fewer, stronger steps. */
const [PAUSE, MOST] = [60, 3000];
/** Nodes beyond which a layout is coarse. */
const LARGE = 1000;

const post = (bodies: readonly Body[], isDone: boolean): void => {
  const positions = new Float32Array(bodies.length * 2);
  for (const [at, { x, y }] of bodies.entries()) {
    positions[at * 2] = x;
    positions[at * 2 + 1] = y;
  }
  postMessage({ positions, isDone } satisfies LayoutAnswer, { transfer: [positions.buffer] });
};

onmessage = ({ data: { nodes, edges } }: MessageEvent<LayoutRequest>) => {
  const bodies: Body[] = [];
  for (let at = 0; at < nodes.length; at += 3) bodies.push({ x: nodes[at] ?? 0, y: nodes[at + 1] ?? 0, radius: nodes[at + 2] ?? 6 });
  const links = Array.from({ length: edges.length / 2 }, (_, at) => ({ source: edges[at * 2] ?? 0, target: edges[at * 2 + 1] ?? 0 }));
  const linked = new Set(edges);
  // What has no edge would drift to the rim and make everything else small.
  const pull = (_: Body, at: number): number => (linked.has(at) ? 0.07 : 0.22);
  const isLarge = bodies.length > LARGE;
  const simulation = forceSimulation(bodies)
    .force("link", forceLink<Body, (typeof links)[number]>(links).distance(isLarge ? 40 : 70))
    .force(
      "charge",
      forceManyBody()
        .strength(isLarge ? -60 : -190)
        .theta(isLarge ? 1.2 : 0.9)
        .distanceMax(isLarge ? 800 : 1400),
    )
    .force("x", forceX<Body>().strength(pull))
    .force("y", forceY<Body>().strength(pull))
    .alphaDecay(isLarge ? 0.06 : 0.022)
    .stop();
  if (!isLarge) simulation.force("collide", forceCollide<Body>(({ radius }) => radius + 7).iterations(2));
  const began = performance.now();
  let told = began;
  while (simulation.alpha() > simulation.alphaMin() && performance.now() - began < MOST) {
    simulation.tick();
    if (performance.now() - told < PAUSE) continue;
    post(bodies, false);
    told = performance.now();
  }
  post(bodies, true);
};
