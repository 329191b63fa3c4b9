import type { DrawnNode } from "./graph-store.ts";

/** A node as it is drawn: its place is the store's own, which the layout changes. */
export interface SceneNode {
  readonly key: string;
  readonly at: DrawnNode;
  readonly colour: string;
}

export interface SceneEdge {
  readonly from: SceneNode;
  readonly to: SceneNode;
  readonly colour: string;
  /** The colour of an edge that recedes. */
  readonly faded: string;
  /** False for an edge without direction, which has no head. */
  readonly isDirected: boolean;
}

/** What to draw, the nodes of most edges first. */
export interface Scene {
  readonly nodes: readonly SceneNode[];
  readonly edges: readonly SceneEdge[];
}

/** Where the view is: the point in the middle, and pixels for each unit of the layout. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** What stands out. */
export interface Emphasis {
  readonly selected: string | undefined;
  readonly hovered: string | undefined;
  /** The keys of the nodes of a path, in its order; empty for none. */
  readonly path: readonly string[];
  /** The keys of nodes that changed while the view is open. */
  readonly marked: ReadonlySet<string>;
  /** True while the view or a node is moved by hand, or by the layout. */
  readonly isMoving: boolean;
}

/** Colours of the theme. */
export interface Ink {
  readonly warn: string;
  readonly surface: string;
  readonly text: string;
  readonly accent: string;
  readonly line: string;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Edges beyond which those that recede are left out while something moves. */
const MANY_EDGES = 3000;
/** Lines in one stroke: the cost of a stroke grows faster than its lines. */
const CHUNK = 400;
/** Labels in a still picture, and in a moving one. */
const [LABELS, MOVING_LABELS] = [140, 24];
/** Nodes that labels avoid at most. */
const DISCS = 500;
/** Pixels of the radius from which a node is a circle, and from which it has a label. */
const [CIRCLE, LABELLED] = [1.6, 4];

/** Pixels of a node's radius: nodes grow slower than the distances between them. */
const radiusOf = ({ size }: DrawnNode, scale: number): number => size * Math.min(1.6, Math.max(0.16, scale ** 0.6));

/** Where a point of the layout is on the screen. */
export const project = ({ x, y, scale }: Camera, { width, height }: Size, point: { readonly x: number; readonly y: number }) => ({
  x: (point.x - x) * scale + width / 2,
  y: (point.y - y) * scale + height / 2,
});

/** The camera that shows all nodes. */
export const fitting = (nodes: readonly SceneNode[], { width, height }: Size): Camera => {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { at } of nodes) {
    left = Math.min(left, at.x);
    right = Math.max(right, at.x);
    top = Math.min(top, at.y);
    bottom = Math.max(bottom, at.y);
  }
  if (left > right) return { x: 0, y: 0, scale: 1 };
  const scale = Math.min(2, (width - 190) / Math.max(1, right - left), (height - 110) / Math.max(1, bottom - top));
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.max(0.02, scale) };
};

/** Lines with one style. */
const strokeEdges = (context: CanvasRenderingContext2D, edges: readonly SceneEdge[], camera: Camera, size: Size): void => {
  let count = 0;
  context.beginPath();
  for (const { from, to } of edges) {
    const [start, end] = [project(camera, size, from.at), project(camera, size, to.at)];
    const isOutside =
      Math.max(start.x, end.x) < 0 ||
      Math.min(start.x, end.x) > size.width ||
      Math.max(start.y, end.y) < 0 ||
      Math.min(start.y, end.y) > size.height;
    if (isOutside) continue;
    context.moveTo(start.x, start.y);
    context.lineTo(end.x, end.y);
    if (++count % CHUNK > 0) continue;
    context.stroke();
    context.beginPath();
  }
  context.stroke();
};

/** The head of an arrow at the rim of each edge's target; none for edges without direction. */
const fillHeads = (context: CanvasRenderingContext2D, edges: readonly SceneEdge[], camera: Camera, size: Size): void => {
  context.beginPath();
  for (const { from, to, isDirected } of edges) {
    if (!isDirected) continue;
    const [start, end] = [project(camera, size, from.at), project(camera, size, to.at)];
    const length = Math.hypot(end.x - start.x, end.y - start.y);
    const rim = radiusOf(to.at, camera.scale) + 1.5;
    if (length < rim + 14) continue;
    const [dx, dy] = [(end.x - start.x) / length, (end.y - start.y) / length];
    const [x, y] = [end.x - dx * rim, end.y - dy * rim];
    context.moveTo(x, y);
    context.lineTo(x - dx * 8 - dy * 3.2, y - dy * 8 + dx * 3.2);
    context.lineTo(x - dx * 8 + dy * 3.2, y - dy * 8 - dx * 3.2);
    context.closePath();
  }
  context.fill();
};

const grouped = <T>(all: readonly T[], by: (one: T) => string): ReadonlyMap<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(by(one));
    if (group) group.push(one);
    else groups.set(by(one), [one]);
  }
  return groups;
};

const drawEdges = (context: CanvasRenderingContext2D, scene: Scene, view: View): void => {
  const { camera, size, emphasis, ink } = view;
  const { path, isMoving, selected, hovered } = emphasis;
  const steps = new Set(path.slice(1).flatMap((key, at) => [`${path[at]} ${key}`, `${key} ${path[at]}`]));
  const [lit, near, far] = [[], [], []] as [SceneEdge[], SceneEdge[], SceneEdge[]];
  for (const edge of scene.edges) {
    const { from, to } = edge;
    const isNear = [selected, hovered].some((key) => key !== undefined && (from.key === key || to.key === key));
    if (steps.has(`${from.key} ${to.key}`)) lit.push(edge);
    else if (isNear && path.length === 0) near.push(edge);
    else far.push(edge);
  }
  const hidesFar = isMoving && far.length > MANY_EDGES;
  context.lineWidth = far.length > 2000 ? 0.7 : 1.1;
  if (!hidesFar)
    for (const [colour, edges] of grouped(far, ({ faded }) => faded)) {
      context.strokeStyle = context.fillStyle = colour;
      strokeEdges(context, edges, camera, size);
      if (!isMoving && far.length < 600) fillHeads(context, edges, camera, size);
    }
  context.lineWidth = 1.7;
  for (const [colour, edges] of grouped(near, (one) => one.colour)) {
    context.strokeStyle = context.fillStyle = colour;
    strokeEdges(context, edges, camera, size);
    fillHeads(context, edges, camera, size);
  }
  context.lineWidth = 4;
  context.strokeStyle = context.fillStyle = ink.accent;
  strokeEdges(context, lit, camera, size);
  fillHeads(context, lit, camera, size);
};

const drawNodes = (context: CanvasRenderingContext2D, scene: Scene, { camera, size, ink, emphasis }: View): void => {
  const rings = new Set([emphasis.selected, emphasis.hovered, ...emphasis.path]);
  for (const [colour, nodes] of grouped(scene.nodes, (one) => one.colour)) {
    context.fillStyle = colour;
    context.strokeStyle = ink.surface;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const { at } of nodes) {
      const { x, y } = project(camera, size, at);
      const radius = radiusOf(at, camera.scale);
      if (x < -radius || y < -radius || x > size.width + radius || y > size.height + radius) continue;
      if (radius < CIRCLE) context.rect(x - radius, y - radius, radius * 2, radius * 2);
      else {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
    }
    context.fill();
    if (nodes.length < 600) context.stroke();
  }
  for (const { key, at, colour } of scene.nodes) {
    const isMarked = emphasis.marked.has(key);
    if (!isMarked && !rings.has(key)) continue;
    const { x, y } = project(camera, size, at);
    const radius = radiusOf(at, camera.scale);
    if (isMarked) {
      context.beginPath();
      context.arc(x, y, radius + 8.5, 0, 2 * Math.PI);
      context.lineWidth = 3;
      context.strokeStyle = ink.warn;
      context.stroke();
    }
    if (!rings.has(key)) continue;
    context.beginPath();
    context.arc(x, y, radius + 4.5, 0, 2 * Math.PI);
    context.lineWidth = 2.5;
    context.strokeStyle = emphasis.path.includes(key) ? ink.accent : colour;
    context.stroke();
  }
};

const widths = new Map<string, number>();

interface Point {
  readonly x: number;
  readonly y: number;
}

type Box = readonly [left: number, top: number, right: number, bottom: number];

/** Where a node's label can begin, and its middle: right of the node, left of it, below it and above it. */
const placesOf = ({ x, y }: Point, width: number, away: number): readonly Point[] => [
  { x: x + away, y },
  { x: x - away - width, y },
  { x: x - width / 2, y: y + away + 7 },
  { x: x - width / 2, y: y - away - 7 },
];

const boxOf = ({ x, y }: Point, width: number): Box => [x - 2, y - 8, x + width + 2, y + 8];

const isWithin = ([left, top, right, bottom]: Box, { width, height }: Size): boolean =>
  left >= 0 && top >= 0 && right <= width && bottom <= height;

/** Labels of the nodes with most edges first; one that would lie over another, or over the border, is left out. */
const drawLabels = (context: CanvasRenderingContext2D, scene: Scene, { camera, size, ink, emphasis }: View): void => {
  const first = new Set([emphasis.hovered, emphasis.selected, ...emphasis.path]);
  const order = [...scene.nodes.filter(({ key }) => first.has(key)), ...scene.nodes.filter(({ key }) => !first.has(key))];
  const taken: Box[] = [];
  const most = emphasis.isMoving ? MOVING_LABELS : LABELS;
  // A still picture has the time to keep labels off other nodes.
  if (!emphasis.isMoving && scene.nodes.length < DISCS)
    for (const { at } of scene.nodes) {
      const { x, y } = project(camera, size, at);
      const radius = radiusOf(at, camera.scale);
      taken.push([x - radius, y - radius, x + radius, y + radius]);
    }
  const discs = taken.length;
  const isOver = (box: Box): boolean => taken.some((one) => box[0] < one[2] && box[2] > one[0] && box[1] < one[3] && box[3] > one[1]);
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { key, at } of order) {
    if (taken.length - discs >= most) break;
    const isFirst = first.has(key);
    const radius = radiusOf(at, camera.scale);
    if (!isFirst && radius < LABELLED) break;
    const { x, y } = project(camera, size, at);
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
    const isLarge = at.size > 11;
    context.font = `${isLarge || isFirst ? 600 : 450} ${isLarge ? 12.5 : 11.5}px Inter, system-ui, sans-serif`;
    const known = `${context.font} ${at.label}`;
    const width = widths.get(known) ?? context.measureText(at.label).width;
    widths.set(known, width);
    // Those that come first have a ring around them.
    const places = placesOf({ x, y }, width, radius + (isFirst ? 11 : 5));
    // In a moving picture labels would jump from side to side.
    const tried = emphasis.isMoving ? places.slice(0, 1) : places;
    const within = tried.filter((one) => isWithin(boxOf(one, width), size));
    const place = within.find((one) => !isOver(boxOf(one, width))) ?? (isFirst ? (within[0] ?? places[0]) : undefined);
    if (!place) continue;
    taken.push(boxOf(place, width));
    context.strokeStyle = ink.surface;
    context.lineWidth = 3.5;
    context.strokeText(at.label, place.x, place.y + 0.5);
    context.fillStyle = ink.text;
    context.fillText(at.label, place.x, place.y + 0.5);
  }
};

/** What a picture is drawn with. */
export interface View {
  readonly camera: Camera;
  readonly size: Size;
  readonly emphasis: Emphasis;
  readonly ink: Ink;
}

/**
 * Draws a graph. Without a GPU a 2D canvas draws lines some ten times as fast as WebGL does; detail follows what there is time and
 * room for: many edges are left out while something moves, and labels go to the nodes with most edges.
 */
export const drawGraph = (context: CanvasRenderingContext2D, scene: Scene, view: View): void => {
  context.fillStyle = view.ink.surface;
  context.fillRect(0, 0, view.size.width, view.size.height);
  drawEdges(context, scene, view);
  drawNodes(context, scene, view);
  drawLabels(context, scene, view);
};

/** The topmost node at a point of the screen, with some room around it. */
export const nodeAt = (scene: Scene, { camera, size }: Pick<View, "camera" | "size">, point: { readonly x: number; readonly y: number }) =>
  scene.nodes.find(({ at }) => {
    const { x, y } = project(camera, size, at);
    return Math.hypot(point.x - x, point.y - y) <= Math.max(6, radiusOf(at, camera.scale) + 2);
  });
