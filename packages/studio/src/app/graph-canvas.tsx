import { useEffect, useRef, type ReactNode } from "react";
import { Sigma } from "sigma";
import { drawDiscNodeLabel } from "sigma/rendering";
import type { Settings } from "sigma/settings";
import type { DrawnNode, GraphStore } from "./graph-store.ts";
import { useColour } from "./item-parts.tsx";

type Edge = Readonly<Record<string, unknown>>;
type Canvas = Sigma<DrawnNode, Edge>;

interface Props {
  readonly store: GraphStore;
  readonly selected: string | undefined;
  /** Types of nodes that are not drawn. */
  readonly hidden: ReadonlySet<string>;
  readonly select: (key: string) => void;
}

/** A token of the theme, as WebGL needs it. */
const token = (name: string, of: Element = document.documentElement): string => getComputedStyle(of).getPropertyValue(name).trim();

/** The colour of a type's class. */
const typeColour = (name: string): string => {
  const probe = document.createElement("span");
  probe.className = name;
  document.body.append(probe);
  const colour = token("--type", probe);
  probe.remove();
  return colour;
};

const settingsOf = (): Partial<Settings<DrawnNode, Edge>> => ({
  defaultEdgeType: "arrow",
  defaultEdgeColor: token("--line-strong"),
  labelColor: { color: token("--text") },
  labelFont: "Inter, system-ui, sans-serif",
  labelSize: 12,
  labelWeight: "500",
  labelDensity: 0.9,
  labelGridCellSize: 90,
  labelRenderedSizeThreshold: 5,
  minEdgeThickness: 1.4,
  stagePadding: 64,
  zIndex: true,
  hideEdgesOnMove: true,
  hideLabelsOnMove: true,
  // Sigma's own box is white in every theme.
  defaultDrawNodeHover: (context, data, settings) => {
    context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
    const width = context.measureText(data.label ?? "").width + data.size + 12;
    context.fillStyle = token("--surface");
    context.strokeStyle = token("--line-strong");
    context.beginPath();
    context.roundRect(data.x - data.size - 4, data.y - data.size - 4, data.size + width + 8, data.size * 2 + 8, data.size + 4);
    context.fill();
    context.stroke();
    drawDiscNodeLabel(context, data, settings);
  },
});

/** Lets a person drag a node. */
const makeDraggable = (canvas: Canvas): void => {
  let dragged: string | undefined;
  canvas.on("downNode", ({ node }) => {
    dragged = node;
    if (!canvas.getCustomBBox()) canvas.setCustomBBox(canvas.getBBox());
  });
  canvas.on("moveBody", ({ event }) => {
    if (dragged === undefined) return;
    const { x, y } = canvas.viewportToGraph(event);
    canvas.getGraph().mergeNodeAttributes(dragged, { x, y });
    event.preventSigmaDefault();
    event.original.preventDefault();
  });
  const release = (): void => {
    dragged = undefined;
  };
  canvas.on("upNode", release);
  canvas.on("upStage", release);
};

const Zoom = ({ camera }: { readonly camera: () => ReturnType<Canvas["getCamera"]> | undefined }): ReactNode => (
  <div className="graph-zoom" role="group" aria-label="Zoom">
    <button type="button" className="icon" aria-label="Zoom in" onClick={() => void camera()?.animatedZoom()}>
      +
    </button>
    <button type="button" className="icon" aria-label="Zoom out" onClick={() => void camera()?.animatedUnzoom()}>
      −
    </button>
    <button type="button" className="icon" aria-label="Show everything" onClick={() => void camera()?.animatedReset()}>
      ⤢
    </button>
  </div>
);

/** The drawing: WebGL, with the colours of the theme. The list beside it says the same to those who do not see it. */
export const GraphCanvas = ({ store, selected, hidden, select }: Props): ReactNode => {
  const container = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas>(undefined);
  const colour = useColour();
  const state = useRef({ selected, hidden, select });
  state.current = { selected, hidden, select };
  useEffect(() => {
    if (!container.current) return undefined;
    const colours = new Map<string, string>();
    const colourOf = (type: string): string => {
      let found = colours.get(type);
      if (found === undefined) colours.set(type, (found = typeColour(colour(type))));
      return found;
    };
    const sigma: Canvas = new Sigma<DrawnNode, Edge>(store.graph, container.current, {
      ...settingsOf(),
      allowInvalidContainer: true,
      nodeReducer: (key, { node, label, x, y, size }) => ({
        x,
        y,
        size,
        label,
        color: colourOf(node.type),
        highlighted: key === state.current.selected,
        zIndex: key === state.current.selected ? 1 : 0,
        hidden: state.current.hidden.has(node.type),
      }),
      edgeReducer: (key, { edge }) => {
        const near = store.graph.extremities(key).includes(state.current.selected ?? "");
        const colour = colourOf(String(edge));
        // Two digits of opacity: edges elsewhere recede.
        return near ? { color: colour, size: 2.2, zIndex: 1 } : { color: `${colour}60`, size: 1.5 };
      },
    });
    canvas.current = sigma;
    makeDraggable(sigma);
    sigma.on("clickNode", ({ node }) => state.current.select(node));
    sigma.on("doubleClickNode", (event) => {
      event.preventSigmaDefault();
      void store.expandAll(event.node);
    });
    const recolour = (): void => {
      colours.clear();
      sigma.setSettings(settingsOf());
      sigma.refresh();
    };
    const observer = new MutationObserver(recolour);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", recolour);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", recolour);
      sigma.kill();
      canvas.current = undefined;
    };
    // `colour` depends on the model alone, which stays.
  }, [store]);
  useEffect(() => {
    canvas.current?.refresh();
  }, [selected, hidden]);
  const label = `Drawing of ${store.graph.order} nodes and ${store.graph.size} edges`;
  return (
    <div className="graph-drawing" data-state={store.isMoving || store.busy > 0 ? "moving" : "settled"}>
      <div ref={container} className="graph-canvas" role="img" aria-label={label} />
      <Zoom camera={() => canvas.current?.getCamera()} />
    </div>
  );
};
