import { Graph, layout } from "@dagrejs/dagre";
import { type ReactNode, useMemo } from "react";
import type { WireType } from "../wire.ts";
import { useColour } from "./item-parts.tsx";
import { useModel } from "./model.ts";

const BOX = { width: 132, height: 44 };
/** How much a diagram is made smaller at most, so that its names can be read: beyond that, it scrolls. */
const SMALLEST = 0.65;
/** Room above a box for each edge type from it to itself. */
const LOOP = 36;
const MARGIN = 8;
/** Pixels that a character of an edge's name takes, roughly, one of a type's name, and one of the line with the id. */
const CHARACTER = 7;
const NAME_CHARACTER = 8;
const ID_CHARACTER = 6.4;
/** Characters of a name, or of an id's fields, beyond which they are cut. */
const LONGEST = 34;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** A place with the width of the box that has it as its middle. */
interface Middle extends Place {
  readonly width: number;
}

/** A box of a node type or part. */
interface Box extends Middle {
  readonly type: WireType;
}

/** An edge type between two boxes, and where its name stands. */
interface Arrow {
  readonly name: string;
  readonly start: string;
  readonly end: string;
  readonly points: readonly Place[];
  readonly label: Place;
  /** True for an edge type without direction. */
  readonly symmetric?: true;
}

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** The fields of a type's id, and the number of its other attributes. */
const idLine = ({ idFields, attributes }: WireType): string => {
  const more = attributes.filter((one) => !idFields.includes(one)).length;
  return `${cut(idFields.join(", "))}${more > 0 ? ` + ${more}` : ""}`;
};

const widthOf = (type: WireType): number =>
  Math.max(BOX.width, idLine(type).length * ID_CHARACTER + 18, cut(type.name).length * NAME_CHARACTER + 18);

/** Places node types and the parts that edges lead to in layers, so that neither boxes nor names cover each other. */
const placeTypes = (types: readonly WireType[]) => {
  const edges = types.filter(({ kind }) => kind === "edge");
  const pairs = edges.flatMap(({ name, from, to, symmetric }) =>
    from.flatMap((start) => to.map((end) => ({ name, start, end, ...(symmetric ? { symmetric } : {}) }))),
  );
  const ends = new Set(pairs.flatMap(({ start, end }) => [start, end]));
  const boxes = types.filter(({ kind, name }) => kind === "node" || (kind === "part" && ends.has(name)));
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 26, edgesep: 18, ranksep: 46, marginx: MARGIN, marginy: MARGIN });
  const loops = new Map(boxes.map(({ name }) => [name, pairs.filter(({ start, end }) => start === name && end === name)]));
  for (const type of boxes)
    graph.setNode(type.name, { width: widthOf(type), height: BOX.height + (loops.get(type.name)?.length ?? 0) * LOOP });
  for (const { name, start, end } of pairs)
    if (start !== end) graph.setEdge(start, end, { width: name.length * CHARACTER + 8, height: 18, labelpos: "c" }, name);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const boxOf = (name: string): Middle => {
    const { width: own = BOX.width, ...place } = graph.node(name);
    const { x, y } = placeIn(place);
    return { x, width: own, y: y + ((loops.get(name)?.length ?? 0) * LOOP) / 2 };
  };
  return {
    size: { width, height },
    boxes: boxes.map((type): Box => ({ type, ...boxOf(type.name) })),
    arrows: pairs.map((pair): Arrow => {
      if (pair.start === pair.end) return { ...pair, ...loopOn(boxOf(pair.start), (loops.get(pair.start) ?? []).indexOf(pair)) };
      const { points = [], ...label } = graph.edge({ v: pair.start, w: pair.end, name: pair.name });
      const way = points.map(placeIn);
      // The layout ends edges at the room above a box, too.
      const [second, last] = [way[1], way.at(-2)];
      const between = way.slice(1, -1);
      const ends = second && last ? [borderOf(boxOf(pair.start), second), ...between, borderOf(boxOf(pair.end), last)] : way;
      return { ...pair, points: ends, label: placeIn(label) };
    }),
  };
};

/** Where the line from a box's middle to a place leaves the box. */
const borderOf = (box: Middle, { x, y }: Place): Place => {
  const [dx, dy] = [x - box.x, y - box.y];
  const part = Math.min(box.width / 2 / Math.max(1, Math.abs(dx)), BOX.height / 2 / Math.max(1, Math.abs(dy)));
  return { x: box.x + dx * part, y: box.y + dy * part };
};

/** The nth edge type from a box to itself. */
const loopOn = ({ x, y }: Place, nth: number): Pick<Arrow, "points" | "label"> => {
  const [top, half, rise] = [y - BOX.height / 2, 26 + nth * 14, (nth + 1) * LOOP - 10];
  const sides = [-half, -half - 8, half + 8, half].map((dx) => x + dx);
  const points = sides.map((at, side) => ({ x: at, y: side === 0 || side === 3 ? top : top - rise }));
  return { points, label: { x, y: top - rise } };
};

const placeIn = ({ x = 0, y = 0 }: { readonly x?: number; readonly y?: number }): Place => ({ x, y });

/** A curve that passes near the points, from the first to the last. */
const curve = (points: readonly Place[]): string => {
  const [first, ...rest] = points;
  let path = `M ${first?.x} ${first?.y}`;
  for (const [at, point] of rest.entries()) {
    const next = rest[at + 1];
    if (at === rest.length - 1 || !next) path += ` L ${point.x} ${point.y}`;
    else path += ` Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  }
  return path;
};

const EdgeArrow = ({ arrow: { name, points, label, symmetric } }: { readonly arrow: Arrow }): ReactNode => {
  const colour = useColour();
  const [before, tip] = points.slice(-2);
  const turn = before && tip ? (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI : 0;
  return (
    <g className={colour(name)}>
      <path d={curve(points)} className="arrow" />
      {symmetric ? null : (
        <path d="M 0 0 L -10 -5 L -10 5 Z" className="tip" transform={`translate(${tip?.x} ${tip?.y}) rotate(${turn})`} />
      )}
      <text x={label.x} y={label.y + 4} className="edge-name">
        {name}
      </text>
    </g>
  );
};

const TypeBox = ({ box: { type, x, y, width } }: { readonly box: Box }): ReactNode => {
  const colour = useColour();
  const { name, kind } = type;
  return (
    <g transform={`translate(${x - width / 2} ${y - BOX.height / 2})`} className={colour(name)}>
      <rect width={width} height={BOX.height} rx={kind === "part" ? 2 : 9} className="box" />
      <text x={width / 2} y="19" className="node-name">
        {cut(name)}
        {cut(name) === name ? null : <title>{name}</title>}
      </text>
      <text x={width / 2} y="34" className="node-id">
        {idLine(type)}
      </text>
    </g>
  );
};

/** Node types, and the edge types between them and parts. */
export const Diagram = (): ReactNode => {
  const { types } = useModel();
  const { size, boxes, arrows } = useMemo(() => placeTypes(types), [types]);
  const text = arrows.map(({ name, start, end }) => `${start} ${name} ${end}`).join("; ");
  return (
    <svg
      className="diagram"
      width={size.width}
      style={{ minWidth: size.width * SMALLEST }}
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label={`Diagram of the model. ${text}`}
    >
      {arrows.map((arrow) => (
        <EdgeArrow key={`${arrow.name} ${arrow.start} ${arrow.end}`} arrow={arrow} />
      ))}
      {boxes.map((box) => (
        <TypeBox key={box.type.name} box={box} />
      ))}
    </svg>
  );
};
