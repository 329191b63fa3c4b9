import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactNode } from "react";
import { drawGraph, fitting, nodeAt, project, type Camera, type Ink, type Scene, type SceneNode } from "./graph-drawing.ts";
import type { GraphStore } from "./graph-store.ts";
import { useColour } from "./item-parts.tsx";

interface Props {
  readonly store: GraphStore;
  readonly selected: string | undefined;
  /** Nodes that changed while the view is open. */
  readonly marked: ReadonlySet<string>;
  /** Types of nodes that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  /** The nodes of a path that is lit up. */
  readonly path: readonly string[];
  readonly select: (key: string) => void;
}

/** A token of the theme. */
const token = (name: string, of: Element = document.documentElement): string => getComputedStyle(of).getPropertyValue(name).trim();

/** A colour between two: edges recede into the surface without being transparent, which would be slow to draw. */
const mixed = (one: string, other: string, share: number): string => {
  const parts = (colour: string): readonly number[] => {
    const long = colour.length === 4 ? colour.slice(1).replaceAll(/./g, "$&$&") : colour.slice(1);
    return [0, 2, 4].map((at) => Number.parseInt(long.slice(at, at + 2), 16));
  };
  const [first, second] = [parts(one), parts(other)];
  return `rgb(${first.map((part, at) => Math.round(part * share + (second[at] ?? 0) * (1 - share))).join(" ")})`;
};

/** Colours of the theme and of each type, read again when the theme changes. */
const useInk = (): { readonly ink: Ink; readonly colourOf: (type: string) => string } => {
  const colour = useColour();
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const change = (): void => setVersion((count) => count + 1);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", change);
    void document.fonts.ready.then(change);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", change);
    };
  }, []);
  return useMemo(() => {
    const known = new Map<string, string>();
    const colourOf = (type: string): string => {
      let found = known.get(type);
      if (found === undefined) {
        const probe = document.createElement("span");
        probe.className = colour(type);
        document.body.append(probe);
        known.set(type, (found = token("--type", probe)));
        probe.remove();
      }
      return found;
    };
    return {
      ink: {
        surface: token("--surface"),
        text: token("--text"),
        accent: token("--accent"),
        warn: token("--warn"),
        line: token("--line-strong"),
      },
      colourOf,
    };
    // `colour` depends on the model alone, which stays.
  }, [version]);
};

const useScene = (store: GraphStore, hidden: ReadonlySet<string>, { ink, colourOf }: ReturnType<typeof useInk>): Scene => {
  const { order, size } = store.graph;
  return useMemo(() => {
    const nodes = new Map<string, SceneNode>();
    store.graph.forEachNode((key, at) => {
      if (!hidden.has(at.node.type)) nodes.set(key, { key, at, colour: colourOf(at.node.type) });
    });
    const edges = store.graph.mapEdges((_, { edge }, source, target) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      const colour = colourOf(edge);
      const isDirected = store.typeOf(edge)?.symmetric !== true;
      return from && to ? [{ from, to, colour, faded: mixed(colour, ink.surface, 0.38), isDirected }] : [];
    });
    return { nodes: [...nodes.values()].sort((one, other) => other.at.size - one.at.size), edges: edges.flat() };
    // Positions are the store's own objects, so that only other nodes, edges or colours make another scene.
  }, [store, order, size, hidden, ink, colourOf]);
};

/** Pixels that a pointer may move within a click. */
const CLICK = 4;
/** Milliseconds without a movement until the picture is drawn in full. */
const STILL = 160;

/** What a pointer holds: a node, or the whole view. */
interface Grip {
  readonly node: SceneNode | undefined;
  readonly x: number;
  readonly y: number;
  readonly camera: Camera;
  moved: boolean;
}

/**
 * The camera, the pointer and the picture. Pictures are drawn at most once a frame, and only when something changed. Its `camera` is
 * undefined as long as it shows everything.
 */
class Picture {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D | null;
  #frame = 0;
  #still: ReturnType<typeof setTimeout> | undefined;
  #isMoving = false;
  #hovered: SceneNode | undefined;
  camera: Camera | undefined;
  grip: Grip | undefined;
  scene: Scene = { nodes: [], edges: [] };
  ink: Ink | undefined;
  selected: string | undefined;
  path: readonly string[] = [];
  marked: ReadonlySet<string> = new Set();

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
  }

  get size(): { readonly width: number; readonly height: number } {
    return { width: this.#canvas.clientWidth, height: this.#canvas.clientHeight };
  }

  get view(): { readonly camera: Camera; readonly size: { readonly width: number; readonly height: number } } {
    return { camera: this.camera ?? fitting(this.scene.nodes, this.size), size: this.size };
  }

  hover(node: SceneNode | undefined): void {
    if (this.#hovered === node) return;
    this.#hovered = node;
    this.#canvas.style.cursor = node ? "pointer" : "grab";
    this.draw();
  }

  /** Draws with less detail now, and in full once nothing moves. */
  move(): void {
    this.#isMoving = true;
    clearTimeout(this.#still);
    this.#still = setTimeout(() => {
      this.#isMoving = false;
      this.draw();
    }, STILL);
    this.draw();
  }

  draw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const { size, camera } = this.view;
      const { ink, scene, selected, path, marked } = this;
      if (!ink || !this.#context || size.width === 0) return;
      const ratio = devicePixelRatio;
      const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
      if (this.#canvas.width !== width || this.#canvas.height !== height) {
        this.#canvas.width = width;
        this.#canvas.height = height;
      }
      this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const emphasis = { selected, hovered: this.#hovered?.key, path, marked, isMoving: this.#isMoving };
      drawGraph(this.#context, scene, { size, camera, ink, emphasis });
    });
  }

  zoom(factor: number, at: { readonly x: number; readonly y: number } = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    const { camera, size } = this.view;
    const scale = Math.min(6, Math.max(0.01, camera.scale * factor));
    // The point under the pointer stays there.
    const [x, y] = [(at.x - size.width / 2) / camera.scale, (at.y - size.height / 2) / camera.scale];
    const share = 1 - camera.scale / scale;
    this.camera = { x: camera.x + x * share, y: camera.y + y * share, scale };
    this.move();
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#still);
  }
}

const Zoom = ({ picture }: { readonly picture: () => Picture | undefined }): ReactNode => {
  const everything = (): void => {
    const one = picture();
    if (!one) return;
    one.camera = undefined;
    one.draw();
  };
  return (
    <div className="graph-zoom" role="group" aria-label="Zoom">
      <button type="button" className="icon" aria-label="Zoom in" onClick={() => picture()?.zoom(1.4)}>
        +
      </button>
      <button type="button" className="icon" aria-label="Zoom out" onClick={() => picture()?.zoom(1 / 1.4)}>
        −
      </button>
      <button type="button" className="icon" aria-label="Show everything" onClick={everything}>
        ⤢
      </button>
    </div>
  );
};

const pointIn = ({
  currentTarget,
  clientX,
  clientY,
}: PointerEvent<HTMLElement> | MouseEvent): { readonly x: number; readonly y: number } => {
  const { left, top } = (currentTarget as HTMLElement).getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
};

/** The drawing, in the colours of the theme. The list beside it says the same to those who do not see it. */
export const GraphCanvas = ({ store, selected, hidden, path, marked, select }: Props): ReactNode => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture>(undefined);
  const colours = useInk();
  const scene = useScene(store, hidden, colours);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const own = (picture.current = new Picture(element));
    const observer = new ResizeObserver(() => own.draw());
    observer.observe(element);
    const offMoved = store.onMoved(() => own.move());
    // Not as a property: React's listener for wheels may not prevent scrolling.
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      own.zoom(Math.exp(-event.deltaY * 0.0016), pointIn(event));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("wheel", onWheel);
      observer.disconnect();
      offMoved();
      own.close();
    };
  }, [store]);
  useEffect(() => {
    if (!picture.current) return;
    Object.assign(picture.current, { scene, ink: colours.ink, selected, path, marked });
    picture.current.draw();
  }, [scene, colours, selected, path, marked]);
  const press = (event: PointerEvent<HTMLCanvasElement>): void => {
    const own = picture.current;
    if (!own || event.button !== 0) return;
    const point = pointIn(event);
    own.grip = { node: nodeAt(own.scene, own.view, point), ...point, camera: own.view.camera, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent<HTMLCanvasElement>): void => {
    const own = picture.current;
    const point = pointIn(event);
    if (!own) return;
    if (!own.grip) return own.hover(nodeAt(own.scene, own.view, point));
    const { node, x, y, camera } = own.grip;
    if (!own.grip.moved && Math.hypot(point.x - x, point.y - y) < CLICK) return;
    own.grip.moved = true;
    own.camera = camera;
    if (node) {
      const middle = project(camera, own.size, { x: 0, y: 0 });
      node.at.x = (point.x - middle.x) / camera.scale;
      node.at.y = (point.y - middle.y) / camera.scale;
    } else own.camera = { ...camera, x: camera.x - (point.x - x) / camera.scale, y: camera.y - (point.y - y) / camera.scale };
    own.move();
  };
  const release = (): void => {
    const own = picture.current;
    if (own?.grip?.node && !own.grip.moved) select(own.grip.node.key);
    if (own) own.grip = undefined;
  };
  const label = `Drawing of ${store.graph.order} nodes and ${store.graph.size} edges`;
  return (
    <div className="graph-drawing" data-state={store.isMoving || store.busy > 0 ? "moving" : "settled"}>
      <canvas
        ref={canvas}
        className="graph-canvas"
        role="img"
        aria-label={label}
        onPointerDown={press}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerLeave={() => picture.current?.hover(undefined)}
        onDoubleClick={(event) => {
          const own = picture.current;
          const node = own && nodeAt(own.scene, own.view, pointIn(event.nativeEvent));
          if (node) void store.expandAll(node.key);
          else own?.zoom(1.6, pointIn(event.nativeEvent));
        }}
      />
      <Zoom picture={() => picture.current} />
    </div>
  );
};
